-- Texts of the planner's other form were not taken from a source; INTERSECT and EXCEPT took the types of their left side; round() had one type
-- while it was planned and another when it ran.
-- in app
CREATE TABLE {a} (id int PRIMARY KEY, k int, n numeric(10,2), r real, f double precision, t text);
INSERT INTO {a} VALUES (1, 1, 1.25, 0.1, 0.1, 'Straße'), (2, 2, 1, 1.5, 1.5, NULL), (3, NULL, NULL, NULL, NULL, 'x');
-- in truth
CREATE TABLE {a} (id int PRIMARY KEY, k int, n numeric(10,2), r real, f double precision, t text);
INSERT INTO {a} VALUES (1, 1, 1.25, 0.1, 0.1, 'Straße'), (2, 2, 1, 1.5, 1.5, NULL), (3, NULL, NULL, NULL, NULL, 'x');
-- in query
SELECT k AS c1, max(substring(t FROM 3 FOR 2)) AS c2 FROM @a AS r GROUP BY 1
SELECT DISTINCT k AS c1, right(CAST('abcd' AS text), 3) AS c2 FROM @a AS r
(SELECT k AS c1 FROM @a AS r) INTERSECT (SELECT n AS c1 FROM @a AS q)
(SELECT k AS c1 FROM @a AS r) EXCEPT ALL (SELECT round(avg(n), 4) AS c1 FROM @a AS q GROUP BY id)
(SELECT r AS c1 FROM @a AS x) EXCEPT (SELECT f AS c1 FROM @a AS y WHERE id > 5)
(SELECT r AS c1 FROM @a AS x) INTERSECT ALL (SELECT f AS c1 FROM @a AS y)
((SELECT f AS c1 FROM @a AS x WHERE false) INTERSECT ALL (SELECT r AS c1 FROM @a AS y)) UNION (SELECT r AS c1 FROM @a AS z)
SELECT nullif(round(n, 1), n) AS c1 FROM @a AS r
SELECT n AS c1 FROM @a AS r UNION ALL SELECT round(avg(n), 4) AS c1 FROM @a AS q
SELECT DISTINCT CASE WHEN 1 <> id THEN id ELSE 1 END AS c1 FROM @a AS r
