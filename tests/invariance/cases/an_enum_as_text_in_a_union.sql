-- A union of an enum that was cast to text and other texts was sorted as the enum.
-- in app
CREATE TABLE "{b}" ("id" int PRIMARY KEY, "k" int);
INSERT INTO "{b}" VALUES
    (14, '1');
CREATE TABLE "{c}" ("id" int PRIMARY KEY, "k" int, "m2" mood);
CREATE TABLE "{e}" ("id" int PRIMARY KEY, "k" int, "uu1" uuid, "big2" bigint);
-- in truth
CREATE TABLE "{b}" ("id" int PRIMARY KEY, "k" int);
INSERT INTO "{b}" VALUES
    (14, '1');
CREATE TABLE "{c}" ("id" int PRIMARY KEY, "k" int, "m2" mood);
CREATE TABLE "{e}" ("id" int PRIMARY KEY, "k" int, "uu1" uuid, "big2" bigint);
-- in query
(SELECT 1 AS c1, CAST('ffffffff-0000-4000-8000-000000000000' AS uuid) AS c2, CAST('a' AS text) AS c3 FROM @b AS r2) UNION ALL (SELECT 1 AS c1, r4.uu1 AS c2, CAST(r5.m2 AS text) AS c3 FROM @e AS r4 JOIN @c AS r5 ON r4.big2 = r5.k GROUP BY 2, 3) ORDER BY 1 DESC, 2, 3
