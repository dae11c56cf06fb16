-- seed 2001, query 9670: keys that a join makes equal, or a filter constant, are not so above grouping sets
-- in app
CREATE TABLE "{c}" ("id" int PRIMARY KEY, "k" int);
INSERT INTO "{c}" VALUES
    (1, '0'),
    (2, '2'),
    (3, '1'),
    (4, '3');
-- in truth
CREATE TABLE "{c}" ("id" int PRIMARY KEY, "k" int);
INSERT INTO "{c}" VALUES
    (1, '0'),
    (2, '2'),
    (3, '1'),
    (4, '3');
-- in query
SELECT CAST('a' AS text) AS c1, r2.id AS c2, r3.k AS c3 FROM @c AS r2 JOIN @c AS r3 ON r2.id = r3.k GROUP BY GROUPING SETS ((r2.id, r3.k), (r3.k), ()) ORDER BY 2, 3 NULLS FIRST, 1 LIMIT 100
SELECT r2.id AS c1, r2.k AS c2, count(*) AS c3 FROM @c AS r2 WHERE r2.k = 2 GROUP BY ROLLUP (r2.k, r2.id) ORDER BY 2 DESC, 1 DESC LIMIT 100
SELECT r2.k AS c1, count(*) AS c2, row_number() OVER (ORDER BY r2.k NULLS FIRST) AS c3 FROM @c AS r2 WHERE r2.k = 2 GROUP BY ROLLUP (r2.k) ORDER BY 1 LIMIT 100
