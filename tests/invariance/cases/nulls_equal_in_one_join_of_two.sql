-- A join in which NULLs are equal made them equal in the join below it too.
-- in lake
c
-- in truth
CREATE TABLE "{c}" ("id" int PRIMARY KEY, "k" int);
INSERT INTO "{c}" VALUES
    (28, NULL);
-- in query
SELECT 1 AS c3 FROM @c AS r1 JOIN @c AS r3 ON r1.k = r3.k JOIN @c AS r4 ON r1.k IS NOT DISTINCT FROM r4.k
