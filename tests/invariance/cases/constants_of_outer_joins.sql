-- seed 6001, query 2380: a constant of the side of an outer join that may be missing is sorted
-- in app
CREATE TABLE "{a}" ("id" int PRIMARY KEY, "k" int);
INSERT INTO "{a}" VALUES
    (1, '0'),
    (2, '2'),
    (3, '1');
-- in billing
CREATE TABLE `{b}` (`id` int PRIMARY KEY, `k` int);
INSERT INTO `{b}` VALUES
    (2, 5),
    (4, 6);
-- in truth
CREATE TABLE "{a}" ("id" int PRIMARY KEY, "k" int);
INSERT INTO "{a}" VALUES
    (1, '0'),
    (2, '2'),
    (3, '1');
CREATE TABLE "{b}" ("id" int PRIMARY KEY, "k" int);
INSERT INTO "{b}" VALUES
    (2, '5'),
    (4, '6');
-- in query
SELECT r2.c1 AS c1, r1.id AS c2 FROM @a AS r1 FULL JOIN (SELECT r3.id AS c2, 7 AS c1 FROM @b AS r3) AS r2 ON r1.id = r2.c2 ORDER BY 1, 2
SELECT r2.c1 AS c1, r1.id AS c2 FROM @a AS r1 LEFT JOIN (SELECT r3.id AS c2, 7 AS c1 FROM @b AS r3) AS r2 ON r1.id = r2.c2 ORDER BY 1 DESC, 2 LIMIT 2
SELECT r2.k AS c1, r1.id AS c2 FROM @a AS r1 LEFT JOIN (SELECT r3.id, r3.k FROM @b AS r3 WHERE r3.k = 5) AS r2 ON r1.id = r2.id ORDER BY 1 NULLS FIRST, 2
SELECT r2.k AS c1, r1.id AS c2 FROM (SELECT r3.id, r3.k FROM @b AS r3 WHERE r3.k = 5) AS r2 RIGHT JOIN @a AS r1 ON r1.id = r2.id ORDER BY 1 NULLS FIRST, 2
