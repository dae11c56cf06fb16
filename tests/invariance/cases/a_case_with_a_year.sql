-- A CASE of a year and a whole number came as a decimal from MariaDB: an error.
-- in billing
CREATE TABLE `{b}` (`id` int PRIMARY KEY, `k` int, `i4` year);
-- in truth
CREATE TABLE "{b}" ("id" int PRIMARY KEY, "k" int, "i4" smallint);
-- in query
SELECT r2.i4 AS c1, max(coalesce(r2.id, r2.i4)) AS c2 FROM @b AS r2 GROUP BY 1
