-- Branches of a CASE over a year and an int are a decimal at MariaDB, and came as another type than was expected.
-- in billing
CREATE TABLE `{d}` (`id` int PRIMARY KEY, `k` int, `i1` year);
-- in truth
CREATE TABLE "{d}" ("id" int PRIMARY KEY, "k" int, "i1" smallint);
-- in query
SELECT DISTINCT coalesce(r1.i1, r1.k) AS c2 FROM @d AS r1
