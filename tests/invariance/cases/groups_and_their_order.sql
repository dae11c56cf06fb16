-- What groups tell apart was believed of the wrong column when something computed stands in front of a key: sort keys, keys of outer groups
-- and DISTINCT were dropped (silently wrong).
-- in app
CREATE TABLE {a} (id int PRIMARY KEY, k int, n numeric(10,2), t text);
INSERT INTO {a} VALUES (1, 1, 5, 'x'), (2, 2, 4, 'y'), (3, 3, 3, 'x'), (4, 4, 2, NULL), (5, 4, 1, 'x'), (6, NULL, 7, 'z');
-- in lake
b
-- in truth
CREATE TABLE {a} (id int PRIMARY KEY, k int, n numeric(10,2), t text);
INSERT INTO {a} VALUES (1, 1, 5, 'x'), (2, 2, 4, 'y'), (3, 3, 3, 'x'), (4, 4, 2, NULL), (5, 4, 1, 'x'), (6, NULL, 7, 'z');
CREATE TABLE {b} (id int PRIMARY KEY, k int, n numeric(10,2), t text);
INSERT INTO {b} VALUES (1, 1, 5, 'x'), (2, 2, 4, 'y'), (3, 3, 3, 'x'), (4, 4, 2, NULL), (5, 4, 1, 'x'), (6, NULL, 7, 'z');
-- in query
SELECT k % 2 AS odd, k AS k, sum(n) AS s FROM @a AS r GROUP BY k ORDER BY 1, 3 DESC NULLS LAST, 2 LIMIT 2
SELECT k % 2 AS odd, k AS k, sum(n) AS s FROM @b AS r GROUP BY k ORDER BY 1, 3 DESC NULLS LAST, 2 LIMIT 2
SELECT 5 AS c1, t AS c2, max(n) AS c3 FROM @b AS r GROUP BY 1, 2 HAVING min(1) IS NOT NULL ORDER BY 1, 3, 2 LIMIT 2
SELECT q.c1, q.c2, count(*) AS c3 FROM (SELECT k % 2 AS c1, k AS c2, count(*) AS c3 FROM @b AS r GROUP BY k) AS q GROUP BY q.c1, q.c2
SELECT q.c1, q.c2, count(*) AS c3 FROM (SELECT k % 2 AS c1, k AS c2, count(*) AS c3 FROM @a AS r GROUP BY k) AS q GROUP BY q.c1, q.c2
SELECT DISTINCT q.c1, q.c3 FROM (SELECT k % 2 AS c1, k AS c2, count(*) AS c3 FROM @b AS r GROUP BY k) AS q
SELECT q.odd AS c1, count(*) AS c2 FROM (SELECT k % 2 AS odd, k AS k FROM @a AS r GROUP BY k) AS q GROUP BY q.odd
