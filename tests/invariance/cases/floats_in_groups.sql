-- min and max in groups lost NaN and the infinities (silently wrong); the top of groups by a float panicked.
-- in app
CREATE TABLE {a} (id int PRIMARY KEY, k int, f double precision, r real);
INSERT INTO {a} VALUES (1, 1, 'NaN', 'NaN'), (2, 1, 1.5, 1.5), (3, 2, '-Infinity', '-Infinity'), (4, 3, 'Infinity', 'Infinity'), (5, 4, NULL, NULL), (6, 5, 2, 2), (7, 5, 'NaN', 'NaN'), (8, 6, '-0', '-0');
-- in lake
b
-- in truth
CREATE TABLE {a} (id int PRIMARY KEY, k int, f double precision, r real);
INSERT INTO {a} VALUES (1, 1, 'NaN', 'NaN'), (2, 1, 1.5, 1.5), (3, 2, '-Infinity', '-Infinity'), (4, 3, 'Infinity', 'Infinity'), (5, 4, NULL, NULL), (6, 5, 2, 2), (7, 5, 'NaN', 'NaN'), (8, 6, 0, 0);
CREATE TABLE {b} (id int PRIMARY KEY, k int, f double precision, r real);
INSERT INTO {b} VALUES (1, 1, 'NaN', 'NaN'), (2, 1, 1.5, 1.5), (3, 2, '-Infinity', '-Infinity'), (4, 3, 'Infinity', 'Infinity'), (5, 4, NULL, NULL), (6, 5, 2, 2), (7, 5, 'NaN', 'NaN'), (8, 6, 0, 0);
-- in query
SELECT k AS c1, max(f) AS c2, min(f) AS c3, max(r) AS c4, min(r) AS c5 FROM @a AS r GROUP BY k
SELECT k AS c1, max(f) AS c2, min(f) AS c3, max(r) AS c4, min(r) AS c5 FROM @b AS r GROUP BY k
SELECT max(f) AS c1, min(f) AS c2, max(r) FILTER (WHERE k > 4) AS c3 FROM @b AS r
SELECT f AS c1 FROM @b AS r GROUP BY 1 ORDER BY 1 NULLS FIRST LIMIT 3
SELECT f AS c1, max(r) AS c2 FROM @b AS r GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 3
SELECT k AS c1, max(f) FILTER (WHERE f IS DISTINCT FROM 1.5) AS c2 FROM @a AS r GROUP BY k
