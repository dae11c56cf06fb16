-- A CASE of an `int unsigned` and a NULL came as a decimal (seed 202, query 284).
-- in billing
CREATE TABLE `{b}` (`id` int PRIMARY KEY, `k` int, `big2` int unsigned);
-- in truth
CREATE TABLE "{b}" ("id" int PRIMARY KEY, "k" int, "big2" bigint);
-- in query
SELECT DISTINCT nullif(r4.big2, 1) AS c4 FROM @b AS r4
