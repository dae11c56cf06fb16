-- seed 5001, queries 41 and 127: a CASE in a UNION has the digits of all its branches
-- in app
CREATE TABLE "{a}" ("id" int PRIMARY KEY, "k" int, "n1" numeric(10,3));
INSERT INTO "{a}" VALUES
    (1, '0', '1.005'),
    (2, '2', NULL);
-- in truth
CREATE TABLE "{a}" ("id" int PRIMARY KEY, "k" int, "n1" numeric(10,3));
INSERT INTO "{a}" VALUES
    (1, '0', '1.005'),
    (2, '2', NULL);
-- in query
(SELECT -3.00 AS c1, 2 AS c2 FROM @a AS r1) UNION ALL (SELECT CASE WHEN 1 = 7 THEN 1 ELSE 0.001 END AS c1, 1 AS c2 FROM @a AS r2 GROUP BY 1)
(SELECT 1 AS c1 FROM @a AS r1) UNION (SELECT CASE WHEN r4.k = 0 THEN 2.5 ELSE 0.05 END AS c1 FROM @a AS r4)
(SELECT 1 AS c1 FROM @a AS r1) UNION ALL (SELECT coalesce(r4.k, r4.n1, 0.0001) AS c1 FROM @a AS r4)
(SELECT 1.5 AS c1 FROM @a AS r1) UNION ALL (SELECT coalesce(r4.n1, 0.00001) AS c1 FROM @a AS r4)
(SELECT 1 AS c1 FROM @a AS r1) UNION (SELECT greatest(r4.k, 0.25) AS c1 FROM @a AS r4)
SELECT r5.c1 AS c1 FROM (SELECT coalesce(r4.k, 0.125) AS c1 FROM @a AS r4) AS r5 WHERE EXISTS (SELECT 1 FROM @a AS r6 WHERE r5.c1 = r6.k)
