-- IS [NOT] DISTINCT FROM, also under NOT, is sent in other words.
-- in app
CREATE TABLE {a} (id int PRIMARY KEY, k int, i int, t text COLLATE "en-x-icu", b boolean);
INSERT INTO {a} VALUES (1, 1, 1, 'a', true), (2, 2, NULL, 'A', false), (3, NULL, NULL, NULL, NULL), (4, NULL, 7, 'a ', true);
-- in billing
CREATE TABLE {b} (id int PRIMARY KEY, k int, i int, t varchar(9) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci, b bigint);
INSERT INTO {b} VALUES (1, 1, 1, 'a', 1), (2, 2, NULL, 'A', 0), (3, NULL, NULL, NULL, NULL), (4, NULL, 7, 'a ', 1);
-- in truth
CREATE TABLE {a} (id int PRIMARY KEY, k int, i int, t text, b boolean);
INSERT INTO {a} VALUES (1, 1, 1, 'a', true), (2, 2, NULL, 'A', false), (3, NULL, NULL, NULL, NULL), (4, NULL, 7, 'a ', true);
CREATE TABLE {b} (id int PRIMARY KEY, k int, i int, t text, b bigint);
INSERT INTO {b} VALUES (1, 1, 1, 'a', 1), (2, 2, NULL, 'A', 0), (3, NULL, NULL, NULL, NULL), (4, NULL, 7, 'a ', 1);
-- in query
SELECT id AS c1 FROM @a AS r WHERE k IS DISTINCT FROM i
SELECT id AS c1 FROM @a AS r WHERE NOT (k IS DISTINCT FROM i)
SELECT id AS c1 FROM @a AS r WHERE k IS NOT DISTINCT FROM 1 OR t IS NOT DISTINCT FROM 'a'
SELECT id AS c1 FROM @a AS r WHERE NOT (t IS DISTINCT FROM 'a')
SELECT id AS c1 FROM @a AS r WHERE b IS DISTINCT FROM true
SELECT id AS c1 FROM @b AS r WHERE k IS DISTINCT FROM i
SELECT id AS c1 FROM @b AS r WHERE NOT (t IS DISTINCT FROM 'a')
SELECT id AS c1 FROM @b AS r WHERE t IS DISTINCT FROM 'A'
SELECT count(*) FILTER (WHERE k IS NOT DISTINCT FROM i) AS c1, count(*) FILTER (WHERE true) AS c2, count(*) FILTER (WHERE NULL) AS c3 FROM @a AS r
SELECT r.id AS c1, q.id AS c2 FROM @a AS r JOIN @a AS q ON r.id = q.id AND r.k IS NOT DISTINCT FROM q.i
