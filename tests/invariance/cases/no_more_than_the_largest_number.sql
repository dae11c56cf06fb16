-- seed 9302, query 1616: a condition of all numbers that moved into a scan, where the planner cannot count them
-- in billing
CREATE TABLE `{a}` (`id` int PRIMARY KEY, `k` int, `w3` bigint unsigned, `Odd 5` bigint unsigned);
CREATE TABLE `{d}` (`id` int PRIMARY KEY, `k` int);
-- in truth
CREATE TABLE "{a}" ("id" int PRIMARY KEY, "k" int, "w3" numeric(20,0), "Odd 5" numeric(20,0));
CREATE TABLE "{d}" ("id" int PRIMARY KEY, "k" int);
-- in query
SELECT 1 AS c2 FROM @a AS r2 JOIN (SELECT 1 AS c1, 1 AS c2, CAST('1.5' AS double precision) AS c3 FROM @d AS r3 GROUP BY 3) AS r4 ON r2."Odd 5" = r4.c2 AND NOT (r2.w3 > 18446744073709551615)
