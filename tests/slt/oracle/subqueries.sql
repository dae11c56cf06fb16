-- Questions over columns of the query around them: which table a name means, and the one value that each row asks for.
SELECT id FROM @people w WHERE EXISTS (SELECT 1 FROM @words WHERE words.id = w.id) ORDER BY id
SELECT id FROM @people w WHERE EXISTS (SELECT 1 FROM @words x WHERE x.id = w.id AND x.w = 'a') ORDER BY id
SELECT w.* FROM @people w WHERE NOT EXISTS (SELECT 1 FROM @words x WHERE x.id = w.boss) ORDER BY w.id
SELECT w.id, (SELECT count(*) FROM @words x WHERE x.id = w.id) AS n FROM @people w ORDER BY w.id
SELECT w.id FROM @people w WHERE w.id IN (SELECT x.id FROM @words x WHERE x.id = w.id AND x.w <> '') ORDER BY w.id
SELECT status.id FROM @people status WHERE EXISTS (SELECT 1 FROM @orders o JOIN @words x ON x.id = status.id WHERE o.person_id = status.id) ORDER BY status.id
SELECT w.id, l.p FROM @people w, LATERAL (SELECT x.p FROM @words x WHERE x.id = w.id) AS l ORDER BY w.id
SELECT note.id, max(note.amount) FROM @orders note WHERE EXISTS (SELECT 1 FROM @orders o WHERE o.id = note.id AND o.note IS NOT NULL) GROUP BY note.id ORDER BY note.id
SELECT id FROM @people w WHERE EXISTS (SELECT 1 FROM @orders o WHERE o.person_id = w.id AND EXISTS (SELECT 1 FROM @words x WHERE x.id = o.person_id)) ORDER BY w.id
SELECT w.id FROM @people w JOIN @orders o ON o.person_id = w.id AND EXISTS (SELECT 1 FROM @words x WHERE x.id = w.id) ORDER BY w.id, o.id
SELECT p.id FROM @people p WHERE EXISTS (SELECT 1 FROM @orders o JOIN @people c ON c.id = p.id WHERE o.person_id = p.id) ORDER BY p.id
-- refused 0A000: which rows stay alone depends on the row around
SELECT p.id FROM @people p WHERE EXISTS (SELECT 1 FROM @orders o LEFT JOIN @people c ON c.id = p.id WHERE o.person_id = p.id) ORDER BY p.id
SELECT (SELECT max(o.amount) FROM @orders o WHERE o.person_id = p.id) AS m, count(*) FROM @people p GROUP BY 1 ORDER BY 1
SELECT w.w, p.id FROM @words w JOIN @people p ON p.id = w.id ORDER BY w.id
SELECT id, (SELECT name FROM @people p WHERE p.id = o.person_id) AS who FROM @orders o ORDER BY id
SELECT id, (SELECT upper(p.name) || '!' FROM @people p WHERE p.id = o.person_id) FROM @orders o ORDER BY id
SELECT id, (SELECT o.note FROM @orders o WHERE o.person_id = p.id AND o.status = 'failed') FROM @people p ORDER BY id
SELECT id, (SELECT o.id FROM @orders o WHERE o.person_id = p.id) AS o FROM @people p ORDER BY id
SELECT id, (SELECT o.id FROM @orders o WHERE o.person_id = p.id) AS o FROM @people p WHERE id IN (3, 5, 7, 8) ORDER BY id
SELECT id, CASE WHEN id IN (3, 8) THEN (SELECT o.id FROM @orders o WHERE o.person_id = p.id) END FROM @people p ORDER BY id
SELECT id FROM @people p WHERE (SELECT b.city FROM @people b WHERE b.id = p.boss) = 'Berlin' ORDER BY id
SELECT id FROM @people p WHERE (SELECT b.city FROM @people b WHERE b.id = p.boss) IS NULL ORDER BY id
SELECT id FROM @people p WHERE coalesce((SELECT b.points FROM @people b WHERE b.id = p.boss), 0) >= 0 ORDER BY id
-- refused 0A000: only the query just around a value is in reach of it
SELECT id, (SELECT b.name FROM @people b WHERE b.id = (SELECT c.boss FROM @people c WHERE c.id = p.boss)) FROM @people p ORDER BY id
SELECT id, (SELECT (SELECT c.name FROM @people c WHERE c.id = b.boss) FROM @people b WHERE b.id = p.boss) FROM @people p ORDER BY id
SELECT id, (SELECT o.amount FROM @orders o WHERE o.person_id = p.id ORDER BY o.id DESC LIMIT 1) FROM @people p ORDER BY id
SELECT id, (SELECT o.id FROM @orders o WHERE o.person_id = p.id ORDER BY o.amount DESC NULLS LAST, o.id LIMIT 1) AS best FROM @people p ORDER BY id
SELECT id, (SELECT o.id FROM @orders o WHERE o.person_id = p.id ORDER BY o.id LIMIT 1 OFFSET 1) AS second FROM @people p ORDER BY id
SELECT id, (SELECT o.status FROM @orders o WHERE o.person_id = p.id ORDER BY o.status NULLS FIRST, o.id FETCH FIRST 1 ROW ONLY) FROM @people p ORDER BY id
SELECT id FROM @people p WHERE (SELECT o.status FROM @orders o WHERE o.person_id = p.id ORDER BY o.id LIMIT 1) = 'paid' ORDER BY id
SELECT id, (SELECT DISTINCT o.status FROM @orders o WHERE o.person_id = p.id AND o.status = 'paid') FROM @people p ORDER BY id
SELECT id, (SELECT count(*) FROM @orders o WHERE o.person_id = p.id GROUP BY o.person_id) FROM @people p ORDER BY id
SELECT id, (SELECT sum(o.quantity) FROM @orders o WHERE o.person_id = p.id AND o.status = 'paid' GROUP BY o.status) FROM @people p ORDER BY id
SELECT id FROM @people p ORDER BY (SELECT max(o.amount) FROM @orders o WHERE o.person_id = p.id) DESC NULLS LAST, id
SELECT id FROM @people p ORDER BY (SELECT b.name FROM @people b WHERE b.id = p.boss) NULLS FIRST, id LIMIT 6
SELECT p.id, o.id FROM @people p JOIN @orders o ON o.person_id = p.id AND o.amount = (SELECT max(x.amount) FROM @orders x WHERE x.person_id = p.id) ORDER BY 1, 2
SELECT p.id, sum((SELECT o.quantity FROM @orders o WHERE o.id = 100 + p.id)) FROM @people p GROUP BY p.id ORDER BY 1
SELECT id, (SELECT p.id + 1) FROM @people p ORDER BY id
-- refused 0A000: the rows of each person would have to be numbered apart
SELECT id, (SELECT row_number() OVER (ORDER BY o.amount) FROM @orders o WHERE o.person_id = p.id LIMIT 1) FROM @people p ORDER BY id
-- refused 0A000: only equality makes a join of it
SELECT id, (SELECT max(o.id) FROM @orders o WHERE o.person_id < p.id) FROM @people p ORDER BY id
-- refused 0A000: the rows of each person would have to be numbered apart
SELECT id FROM @people p WHERE EXISTS (SELECT 1 FROM (SELECT row_number() OVER (ORDER BY o.id) AS r FROM @orders o WHERE o.person_id = p.id) AS q WHERE r = 2) ORDER BY id
-- refused 0A000: the rows of each person would have to be numbered apart
SELECT id FROM @people p WHERE 2 IN (SELECT row_number() OVER (ORDER BY o.id) FROM @orders o WHERE o.person_id = p.id) ORDER BY id
-- refused 0A000: the rows of each person would have to be numbered apart
SELECT p.id, l.r FROM @people p, LATERAL (SELECT o.id, row_number() OVER (ORDER BY o.id) AS r FROM @orders o WHERE o.person_id = p.id) AS l ORDER BY 1, 2
WITH RECURSIVE chain AS (SELECT id, boss, 1 AS depth FROM @people WHERE boss IS NULL UNION ALL SELECT p.id, p.boss, c.depth + 1 FROM chain c JOIN @people p ON p.boss = c.id AND p.id <> c.id WHERE c.depth < 10) SELECT id, depth FROM chain ORDER BY depth, id
WITH RECURSIVE up AS (SELECT id, boss FROM @people WHERE id = 8 UNION SELECT p.id, p.boss FROM @people p JOIN up ON p.id = up.boss) SELECT id FROM up ORDER BY id
WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r WHERE n < (SELECT count(*) FROM @people)) SELECT sum(n) FROM r
SELECT i FROM generate_series(1, 3) a(i) WHERE EXISTS (SELECT max(j) FROM generate_series(10, 12) b(j) WHERE b.j = a.i) ORDER BY i
SELECT i FROM generate_series(1, 3) a(i) WHERE NOT EXISTS (SELECT max(j) FROM generate_series(2, 12) b(j) WHERE b.j = a.i) ORDER BY i
SELECT i FROM generate_series(1, 3) a(i) WHERE 0 IN (SELECT count(*) FROM generate_series(3, 12) b(j) WHERE b.j = a.i) ORDER BY i
SELECT i FROM generate_series(1, 3) a(i) WHERE 0 NOT IN (SELECT count(*) FROM generate_series(3, 12) b(j) WHERE b.j = a.i) ORDER BY i
SELECT i FROM generate_series(1, 3) a(i) WHERE a.i NOT IN (SELECT max(j) FROM generate_series(1, 2) b(j) WHERE b.j = a.i) ORDER BY i
-- refused 0A000: a subquery with an aggregate that compares with something but =
SELECT i FROM generate_series(1, 3) a(i) WHERE a.i IN (SELECT max(j) FROM generate_series(1, 2) b(j) WHERE b.j <= a.i) ORDER BY i
SELECT i, a.i IN (SELECT max(j) FROM generate_series(1, 2) b(j) WHERE b.j = a.i), a.i NOT IN (SELECT max(j) FROM generate_series(1, 2) b(j) WHERE b.j = a.i) FROM generate_series(1, 3) a(i) ORDER BY i
SELECT i FROM generate_series(1, 3) a(i) WHERE EXISTS (SELECT count(*) FROM generate_series(2, 12) b(j) WHERE b.j = a.i HAVING count(*) = 0) ORDER BY i
SELECT i, EXISTS (SELECT count(*) FROM generate_series(2, 12) b(j) WHERE b.j = a.i HAVING count(*) = 0), NOT EXISTS (SELECT max(j) FROM generate_series(2, 12) b(j) WHERE b.j = a.i HAVING max(j) > 2) FROM generate_series(1, 3) a(i) ORDER BY i
SELECT i, a.i IN (SELECT max(j) FROM generate_series(1, 2) b(j) WHERE b.j = a.i HAVING count(*) > 0), a.i NOT IN (SELECT max(j) FROM generate_series(1, 2) b(j) WHERE b.j = a.i HAVING count(*) > 0) FROM generate_series(1, 3) a(i) ORDER BY i
SELECT a.i, (SELECT sum(j) FROM generate_series(1, 2) b(j) WHERE b.j = a.i HAVING sum(j) IS NULL), (SELECT sum(j) FROM generate_series(1, 2) b(j) WHERE b.j = a.i HAVING sum(j) > 1) FROM generate_series(1, 3) a(i) ORDER BY i
SELECT i FROM generate_series(1, 3) a(i) WHERE (SELECT count(*) FROM generate_series(2, 12) b(j) WHERE b.j = a.i HAVING count(*) < 1) IS NOT NULL ORDER BY i
SELECT i FROM generate_series(1, 3) a(i) WHERE EXISTS (SELECT 1 FROM generate_series(1, 2) b(j) WHERE b.j = a.i OFFSET 1) ORDER BY i
-- refused 0A000: a subquery with an aggregate that compares with something but =
SELECT i FROM generate_series(1, 3) a(i) WHERE EXISTS (SELECT 1 FROM generate_series(1, 2) b(j) WHERE b.j <= a.i OFFSET 1) ORDER BY i
-- refused 0A000: a subquery with an aggregate that compares with something but =
SELECT i FROM generate_series(1, 3) a(i) WHERE NOT EXISTS (SELECT 1 FROM generate_series(1, 2) b(j) WHERE b.j <= a.i LIMIT 1 OFFSET 1) ORDER BY i
SELECT i FROM generate_series(1, 3) a(i) WHERE EXISTS (SELECT 1 FROM generate_series(1, 2) b(j) WHERE b.j <= a.i LIMIT 0) ORDER BY i
-- refused 0A000: a subquery with an aggregate that compares with something but =
SELECT i, EXISTS (SELECT 1 FROM generate_series(1, 2) b(j) WHERE b.j <= a.i ORDER BY j LIMIT 1 OFFSET 1) FROM generate_series(1, 3) a(i) ORDER BY i
SELECT id FROM @people p WHERE EXISTS (SELECT max(o.id) FROM @orders o WHERE o.person_id = p.id) ORDER BY id
SELECT id FROM @people p WHERE 0 IN (SELECT count(*) FROM @orders o WHERE o.person_id = p.id) ORDER BY id
SELECT id FROM @people p WHERE EXISTS (SELECT 1 FROM @orders o WHERE o.person_id = p.id OFFSET 1) ORDER BY id
SELECT id, (SELECT sum(amount) FROM @orders o WHERE o.person_id = p.id HAVING count(*) > 1) FROM @people p ORDER BY id
SELECT i, EXISTS (SELECT 1 FROM generate_series(1, 2) b(j) WHERE b.j = a.i ORDER BY j LIMIT 1 OFFSET 1), EXISTS (SELECT 1 FROM (VALUES (1), (1), (2)) b(j) WHERE b.j = a.i ORDER BY j LIMIT 1 OFFSET 1) FROM generate_series(1, 3) a(i) ORDER BY i
SELECT count(a.id) FROM (SELECT id, name AS c FROM @people UNION ALL SELECT id, status FROM @orders) a WHERE EXISTS (SELECT 1 FROM @people b WHERE b.name = a.c AND b.id < 5)
SELECT count(a.id) FROM (SELECT id, status AS c FROM @orders UNION ALL SELECT id, name FROM @people) a WHERE NOT EXISTS (SELECT 1 FROM @people b WHERE b.name = a.c AND b.id < 5)
SELECT CASE WHEN EXISTS (SELECT 1 FROM @orders o WHERE o.person_id = p.id) THEN 'buys' ELSE 'looks' END AS kind, count(*) FROM @people p GROUP BY 1 ORDER BY 1
SELECT sum(CASE WHEN EXISTS (SELECT 1 FROM @orders o WHERE o.person_id = p.id) THEN 1 ELSE 0 END), count(*) FILTER (WHERE id IN (SELECT person_id FROM @orders)) FROM @people p
SELECT sum(id + (SELECT max(id) FROM @orders)) FROM @people
SELECT (SELECT count(*) FROM @orders) AS n, count(*) FROM @people GROUP BY 1
SELECT id FROM @people p ORDER BY EXISTS (SELECT 1 FROM @orders o WHERE o.person_id = p.id) DESC, id
SELECT id FROM @people p ORDER BY id IN (SELECT person_id FROM @orders), id
SELECT id FROM @people p ORDER BY (SELECT count(*) FROM @orders o WHERE o.person_id = p.id) DESC, id LIMIT 4
SELECT id FROM (SELECT id, (SELECT max(id) FROM @orders) - id AS v FROM @people) q ORDER BY v, id
SELECT id FROM (SELECT id, (SELECT max(id) FROM @orders) - id AS v FROM @people) q WHERE v > (SELECT min(id) FROM @orders) ORDER BY v DESC, id LIMIT 5 OFFSET 1
SELECT id FROM @people ORDER BY (SELECT max(id) FROM @orders) - id
SELECT city, count(*) FROM @people GROUP BY city ORDER BY (SELECT max(id) FROM @orders) - count(*), city
