-- The greatest day of a group without days was none that a timestamp has, and the cast of it stopped the question.
-- in billing
CREATE TABLE `{b}` (`id` int PRIMARY KEY, `k` int, `i4` mediumint, `i7` smallint);
INSERT INTO `{b}` VALUES
    (5, NULL, NULL, -32768);
-- in files
CREATE TABLE "{e}" ("id" INTEGER PRIMARY KEY, "k" INTEGER, "big2" INTEGER, "d5" DATE);
-- in truth
CREATE TABLE "{b}" ("id" int PRIMARY KEY, "k" int, "i4" int, "i7" smallint);
INSERT INTO "{b}" VALUES
    (5, NULL, NULL, '-32768');
CREATE TABLE "{e}" ("id" bigint PRIMARY KEY, "k" bigint, "big2" bigint, "d5" date);
-- in query
WITH w2 AS (SELECT r1.i7 AS c1, max(r2.d5) AS c4 FROM @b AS r1 LEFT JOIN @e AS r2 ON r1.i4 = r2.big2 GROUP BY ROLLUP (r1.i7, r1.id)) SELECT CAST(r4.c4 AS timestamp) AS c3 FROM w2 AS r3 JOIN w2 AS r4 ON r3.c1 = r4.c1
