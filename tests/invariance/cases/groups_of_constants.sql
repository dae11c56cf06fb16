-- GROUP BY of nothing but constants made a row of no rows; a constant behind GROUP BY or ORDER BY of a source is the place of a column, or an error.
-- in app
CREATE TABLE {a} (id int PRIMARY KEY, k int, t text);
INSERT INTO {a} VALUES (1, 3, 'b'), (2, 1, 'a');
-- in billing
CREATE TABLE {b} (id int PRIMARY KEY, k int, t varchar(9) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci);
INSERT INTO {b} VALUES (1, 3, 'b'), (2, 1, 'a');
-- in truth
CREATE TABLE {a} (id int PRIMARY KEY, k int, t text);
INSERT INTO {a} VALUES (1, 3, 'b'), (2, 1, 'a');
CREATE TABLE {b} (id int PRIMARY KEY, k int, t text);
INSERT INTO {b} VALUES (1, 3, 'b'), (2, 1, 'a');
-- in query
SELECT max(k) AS c1, 0.001 AS c2 FROM @a AS r WHERE k < k GROUP BY 2
SELECT max(k) AS c1, 0.001 AS c2 FROM @b AS r WHERE k < k GROUP BY 2
SELECT CAST('a' AS text) AS c1, min(1) AS c2 FROM @a AS r WHERE k > 5 GROUP BY 1
SELECT DISTINCT true AS c1 FROM @a AS r
SELECT DISTINCT 2 AS c1, k AS c2 FROM @a AS r
SELECT DISTINCT 2 AS c1, k AS c2 FROM @b AS r
SELECT 'a' AS c1, 2 AS c2, k AS c3, true AS c4 FROM @a AS r ORDER BY 2 DESC, 1, 4, 3 LIMIT 1
SELECT 'a' AS c1, 2 AS c2, k AS c3, true AS c4 FROM @b AS r ORDER BY 2 DESC, 1, 4, 3 LIMIT 1
SELECT 7 AS c1, count(*) AS c2 FROM @b AS r GROUP BY 1, k
