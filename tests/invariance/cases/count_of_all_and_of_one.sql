-- count(*) and count of a constant that was cast had one name, which was an error.
-- in files
CREATE TABLE "{a}" ("id" INTEGER PRIMARY KEY, "k" INTEGER);
-- in truth
CREATE TABLE "{a}" ("id" bigint PRIMARY KEY, "k" bigint);
-- in query
SELECT 1 AS c1, CAST('1.5' AS double precision) AS c2, count(*) AS c3, count(CAST(1 AS bigint)) AS c4 FROM @a AS r1 GROUP BY 2
