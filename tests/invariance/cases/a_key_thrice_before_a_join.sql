-- Groups before a join of three places, by a column that is a key twice, were an error.
-- in billing
CREATE TABLE `{c}` (`id` int PRIMARY KEY, `k` int, `tz1` timestamp(6) NULL);
-- in files
CREATE TABLE "{e}" ("id" INTEGER PRIMARY KEY, "k" INTEGER, "t2" TEXT, "t3" TEXT COLLATE NOCASE);
-- in truth
CREATE TABLE "{c}" ("id" int PRIMARY KEY, "k" int, "tz1" timestamptz);
CREATE TABLE "{e}" ("id" bigint PRIMARY KEY, "k" bigint, "t2" text, "t3" text);
-- in query
SELECT DISTINCT r4.id AS c1, r4.id AS c3, r4.tz1 AS c4 FROM @e AS r1 JOIN @e AS r2 ON r1.t2 = r2.t3 JOIN @c AS r4 ON r1.id = r4.id
