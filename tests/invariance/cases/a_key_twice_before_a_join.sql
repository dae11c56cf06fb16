-- Groups before a join, by a column that is a key twice, were an error.
-- in icu
CREATE TABLE "{c}" ("id" int PRIMARY KEY, "k" int, "f2" real);
-- in files
CREATE TABLE "{a}" ("id" INTEGER PRIMARY KEY, "k" INTEGER, "t5" TEXT COLLATE RTRIM);
-- in truth
CREATE TABLE "{a}" ("id" bigint PRIMARY KEY, "k" bigint, "t5" text);
CREATE TABLE "{c}" ("id" int PRIMARY KEY, "k" int, "f2" real);
-- in query
SELECT DISTINCT r2.t5 AS c2, r2.t5 AS c3, CASE WHEN r1.f2 < 1.5 THEN CAST('a' AS text) ELSE CAST('a' AS text) END AS c4 FROM @c AS r1 JOIN @a AS r2 ON r1.id = r2.id
