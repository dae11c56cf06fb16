-- Joins of every kind, set operations and subqueries.
SELECT p.id, o.id FROM @people p JOIN @orders o ON o.person_id = p.id ORDER BY 1, 2
SELECT p.id, o.id FROM @people p LEFT JOIN @orders o ON o.person_id = p.id ORDER BY 1, 2
SELECT p.id, o.id FROM @people p RIGHT JOIN @orders o ON o.person_id = p.id ORDER BY 1, 2
SELECT p.id, o.id FROM @people p FULL JOIN @orders o ON o.person_id = p.id ORDER BY 1, 2
SELECT count(*), sum(p.id * o.id) FROM @people p CROSS JOIN @orders o
SELECT p.id, o.id FROM @people p, @orders o WHERE o.person_id = p.id AND o.amount > p.credit ORDER BY 1, 2
SELECT p.id, o.id FROM @people p LEFT JOIN @orders o ON o.person_id = p.id AND o.status = 'paid' ORDER BY 1, 2
SELECT p.id, o.id FROM @people p LEFT JOIN @orders o ON o.person_id = p.id WHERE o.status = 'paid' ORDER BY 1, 2
SELECT p.id, o.id FROM @people p LEFT JOIN @orders o ON o.person_id = p.id AND p.city = 'Oslo' ORDER BY 1, 2
SELECT p.id, o.id FROM @people p LEFT JOIN @orders o ON o.person_id = p.id WHERE o.id IS NULL ORDER BY 1
SELECT p.id, o.id FROM @people p LEFT JOIN @orders o ON o.person_id = p.id AND o.amount > 10 WHERE p.id < 4 OR o.id = 109 ORDER BY 1, 2
SELECT p.id, o.id FROM @people p FULL JOIN @orders o ON o.person_id = p.id AND o.amount > 20 WHERE p.id IS NULL OR o.id IS NULL ORDER BY 1, 2
SELECT p.id, o.id FROM @people p FULL JOIN @orders o ON o.person_id = p.id WHERE coalesce(p.city, '-') <> 'Oslo' ORDER BY 1, 2
SELECT a.id, b.id FROM @people a JOIN @people b ON a.city = b.city AND a.id < b.id ORDER BY 1, 2
SELECT a.id, b.id FROM @people a JOIN @people b ON lower(trim(a.city)) = lower(trim(b.city)) AND a.id < b.id ORDER BY 1, 2
SELECT a.id, b.id FROM @people a JOIN @people b ON a.credit = b.credit AND a.id <> b.id ORDER BY 1, 2
SELECT a.id, b.id FROM @people a JOIN @people b ON a.boss = b.id ORDER BY 1, 2
SELECT a.id, b.id FROM @people a LEFT JOIN @people b ON b.boss = a.id AND b.credit IS NOT NULL ORDER BY 1, 2
SELECT a.id, b.id FROM @people a JOIN @people b ON a.boss IS NOT DISTINCT FROM b.boss AND a.id < b.id ORDER BY 1, 2
SELECT a.id, b.id FROM @people a JOIN @people b ON a.id < b.id AND a.score > b.score ORDER BY 1, 2
SELECT a.id, b.n FROM @people a JOIN @numbers b ON a.points = b.b ORDER BY 1, 2
SELECT a.id, b.n FROM @people a JOIN @numbers b ON a.score = b.d ORDER BY 1, 2
SELECT a.id, b.n FROM @people a JOIN @numbers b ON a.id = b.d * 2 ORDER BY 1, 2
SELECT a.id, b.id FROM @people a JOIN @orders b ON a.joined = b.placed_at ORDER BY 1, 2
SELECT a.id, b.id FROM @orders a JOIN @orders b ON a.placed_at = b.placed_at AND a.id < b.id ORDER BY 1, 2
SELECT p.id, o.id, n.d FROM @people p JOIN @orders o ON o.person_id = p.id LEFT JOIN @numbers n ON n.n = o.quantity ORDER BY 1, 2
SELECT p.id, count(o.id), sum(o.amount) FROM @people p LEFT JOIN @orders o ON o.person_id = p.id GROUP BY p.id ORDER BY p.id
SELECT id, n FROM @people JOIN @numbers ON n = id ORDER BY id
SELECT n, a.d FROM @numbers a JOIN @numbers b USING (n) WHERE b.z = 3 ORDER BY n
SELECT * FROM (SELECT id FROM @people WHERE id < 3) AS a NATURAL JOIN (SELECT id, name FROM @people) AS b ORDER BY id
-- refused 0A000: a limit for each row of the other side
SELECT p.id, t.id FROM @people p CROSS JOIN LATERAL (SELECT o.id FROM @orders o WHERE o.person_id = p.id ORDER BY o.amount DESC NULLS LAST, o.id LIMIT 1) AS t ORDER BY 1
SELECT id FROM @people p WHERE EXISTS (SELECT 1 FROM @orders o WHERE o.person_id = p.id AND o.amount > p.credit) ORDER BY id
SELECT id FROM @people p WHERE NOT EXISTS (SELECT 1 FROM @orders o WHERE o.person_id = p.id) ORDER BY id
SELECT id FROM @people p WHERE EXISTS (SELECT 1 FROM @orders WHERE amount IS NULL) AND id < 3 ORDER BY id
SELECT id FROM @people WHERE id IN (SELECT person_id FROM @orders) ORDER BY id
SELECT id FROM @people WHERE id NOT IN (SELECT person_id FROM @orders) ORDER BY id
SELECT id FROM @people WHERE 77 NOT IN (SELECT person_id FROM @orders) ORDER BY id
-- A condition on the key must not leave the NULLs out of the question.
SELECT id FROM @people WHERE id NOT IN (SELECT boss FROM @people) AND id > 3 ORDER BY id
SELECT id FROM @people WHERE id NOT IN (SELECT boss FROM @people) AND NOT (id BETWEEN 100 AND 3) ORDER BY id
SELECT id FROM @words WHERE p NOT IN ('dee ', '', 'Oslo') AND p NOT IN (SELECT email FROM @people) ORDER BY id
SELECT id FROM @people WHERE id NOT IN (SELECT boss FROM @people WHERE boss IS NOT NULL) AND id > 3 ORDER BY id
-- Columns of the same name on both sides, in a filter above the join.
SELECT u.id, v.id FROM @people u RIGHT JOIN @people v ON u.id = v.boss WHERE v.city IS DISTINCT FROM u.city ORDER BY 1, 2
SELECT u.id, v.id FROM @people u LEFT JOIN @people v ON u.id = v.boss WHERE v.city IS DISTINCT FROM u.city AND u.born IS NOT NULL ORDER BY 1, 2
SELECT u.id, v.id FROM @people u RIGHT JOIN @people v ON u.id = v.boss WHERE v.city IS DISTINCT FROM u.city AND v.born IS NULL ORDER BY 1, 2
SELECT u.id, v.id FROM @people u FULL JOIN @people v ON u.id = v.boss WHERE u.credit <> v.credit OR v.id IS NULL ORDER BY 1, 2
SELECT u.name, v.name FROM @people u JOIN @people v ON u.id = v.boss ORDER BY v.name DESC, u.name LIMIT 3
SELECT max(u.credit), min(v.credit) FROM @people u RIGHT JOIN @people v ON u.id = v.boss
SELECT a.id, b.id, c.id FROM @people a JOIN @people b ON a.id = b.boss JOIN @people c ON b.id = c.boss ORDER BY 1, 2, 3
SELECT id FROM @people WHERE 77 NOT IN (SELECT person_id FROM @orders WHERE person_id IS NOT NULL) AND id < 3 ORDER BY id
SELECT id FROM @people p WHERE boss NOT IN (SELECT o.person_id FROM @orders o WHERE o.id > p.id) ORDER BY id
SELECT id FROM @people p WHERE boss NOT IN (SELECT o.person_id FROM @orders o WHERE o.quantity = p.id) ORDER BY id
SELECT id FROM @people WHERE boss NOT IN (SELECT person_id FROM @orders) OR id = 1 ORDER BY id
SELECT id FROM @people WHERE NOT (boss IN (SELECT person_id FROM @orders) AND id > 0) ORDER BY id
SELECT id FROM @people WHERE NOT (boss IN (SELECT person_id FROM @orders) OR id < 0) ORDER BY id
SELECT id FROM @people WHERE id NOT IN (SELECT person_id FROM @orders WHERE id > 0) AND id NOT IN (SELECT n FROM @numbers) ORDER BY id
SELECT id FROM @people WHERE id NOT IN (SELECT person_id FROM @orders WHERE false) AND boss NOT IN (SELECT n FROM @numbers WHERE n > 1000) ORDER BY id
SELECT id FROM @people p WHERE lower(city) NOT IN (SELECT lower(status) FROM @orders WHERE status <> 'x') ORDER BY id
SELECT id, boss IN (SELECT o.person_id FROM @orders o WHERE o.quantity = p.id) FROM @people p ORDER BY id
SELECT id, NOT EXISTS (SELECT 1 FROM @orders WHERE amount < -100) AS e FROM @people ORDER BY id
SELECT id, CASE WHEN id IN (SELECT person_id FROM @orders) THEN 'y' ELSE 'n' END AS x FROM @people ORDER BY x, id
SELECT city, count(*) FROM @people GROUP BY city HAVING count(*) NOT IN (SELECT person_id FROM @orders) ORDER BY 1
SELECT id FROM @people WHERE id NOT IN (SELECT person_id FROM @orders WHERE person_id IS NOT NULL) ORDER BY id
SELECT id FROM @people WHERE boss NOT IN (SELECT person_id FROM @orders WHERE person_id IS NOT NULL) ORDER BY id
SELECT id FROM @people WHERE boss NOT IN (SELECT id FROM @people WHERE false) ORDER BY id
SELECT id FROM @people WHERE (boss IN (SELECT person_id FROM @orders)) IS NULL ORDER BY id
SELECT id, id IN (SELECT person_id FROM @orders) FROM @people ORDER BY id
SELECT id, boss NOT IN (SELECT person_id FROM @orders WHERE person_id IS NOT NULL) FROM @people ORDER BY id
SELECT id, EXISTS (SELECT 1 FROM @orders o WHERE o.person_id = p.id) FROM @people p ORDER BY id
SELECT id FROM @people p WHERE EXISTS (SELECT 1 FROM @orders o WHERE o.person_id = p.id) OR city = 'Oslo' ORDER BY id
SELECT id FROM @people WHERE city IN (SELECT p2.city FROM @people p2 GROUP BY p2.city HAVING count(*) > 1) ORDER BY id
-- refused 0A000: rows of several columns in a question
SELECT id FROM @people WHERE (id, city) IN (SELECT max(id), city FROM @people GROUP BY city) ORDER BY id
-- refused 0A000: an aggregate that is tied to the row by something else than equality
SELECT id FROM @people p WHERE credit > (SELECT avg(p2.credit) FROM @people p2 WHERE p2.city IS NOT DISTINCT FROM p.city) ORDER BY id
SELECT id FROM @people p WHERE credit >= (SELECT max(o.amount) FROM @orders o WHERE o.person_id = p.id) ORDER BY id
SELECT id, (SELECT count(*) FROM @orders o WHERE o.person_id = p.id) FROM @people p ORDER BY id
SELECT id, (SELECT sum(o.amount) FROM @orders o WHERE o.person_id = p.id AND o.quantity > 1) FROM @people p ORDER BY id
SELECT id, (SELECT max(o.status) FROM @orders o WHERE o.person_id = p.id) FROM @people p ORDER BY id
SELECT id, (SELECT b.name FROM @people b WHERE b.id = p.boss) FROM @people p ORDER BY id
SELECT (SELECT id FROM @people WHERE id > 1000)
-- refused 0A000: ALL in the filter of a question
SELECT id FROM @people WHERE credit > ALL (SELECT amount FROM @orders WHERE amount < 100) ORDER BY id
SELECT id FROM @people WHERE credit = ANY (SELECT amount FROM @orders) ORDER BY id
SELECT id FROM @people WHERE credit < (SELECT min(credit) FROM @people) + 10 ORDER BY id
SELECT city FROM @people UNION SELECT status FROM @orders ORDER BY 1
SELECT city FROM @people UNION ALL SELECT city FROM @people WHERE city = 'Oslo' ORDER BY 1
SELECT id FROM @people INTERSECT SELECT person_id FROM @orders ORDER BY 1
SELECT id FROM @people EXCEPT SELECT person_id FROM @orders ORDER BY 1
SELECT boss FROM @people INTERSECT SELECT person_id FROM @orders ORDER BY 1
SELECT person_id FROM @orders EXCEPT SELECT boss FROM @people ORDER BY 1
SELECT quantity FROM @orders INTERSECT ALL SELECT n FROM @numbers ORDER BY 1
SELECT quantity FROM @orders EXCEPT ALL SELECT n FROM @numbers ORDER BY 1
SELECT quantity FROM @orders EXCEPT ALL SELECT b FROM @numbers ORDER BY 1
SELECT city, boss FROM @people INTERSECT ALL SELECT city, boss FROM @people WHERE id > 3 ORDER BY 1, 2
SELECT 1 UNION SELECT 1.0 UNION SELECT 2 ORDER BY 1
SELECT id, credit FROM @people UNION SELECT id, amount FROM @orders ORDER BY 1, 2
SELECT id FROM @people WHERE id < 3 UNION (SELECT n FROM @numbers WHERE n > 3 EXCEPT SELECT 5) ORDER BY 1 DESC
(SELECT id FROM @people ORDER BY id DESC LIMIT 2) UNION ALL (SELECT n FROM @numbers ORDER BY n LIMIT 2) ORDER BY 1
SELECT city FROM @people EXCEPT SELECT 'Oslo' ORDER BY 1
SELECT name FROM @people INTERSECT SELECT w FROM @words ORDER BY 1
WITH rich AS (SELECT * FROM @people WHERE credit > 50), o AS (SELECT person_id, sum(amount) AS total FROM @orders GROUP BY person_id) SELECT rich.id, total FROM rich LEFT JOIN o ON o.person_id = rich.id ORDER BY 1
-- no oracle: a recursion over a source takes a connection per step, which its cap refuses
WITH RECURSIVE chain AS (SELECT id, boss, 0 AS depth FROM @people WHERE boss IS NULL UNION ALL SELECT p.id, p.boss, depth + 1 FROM @people p JOIN chain c ON p.boss = c.id WHERE depth < 5) SELECT id, depth FROM chain ORDER BY 1, 2
WITH RECURSIVE t(n) AS (VALUES (1) UNION ALL SELECT n * 2 FROM t WHERE n < 100) SELECT count(*), max(n) FROM t
WITH a AS (SELECT id FROM @people WHERE id < 4) SELECT x.id, y.id FROM a x JOIN a y ON x.id = y.id + 1 ORDER BY 1
SELECT t.x, count(*) FROM (VALUES (1, 'a'), (2, 'b'), (2, NULL)) AS t(x, y) JOIN @people p ON p.id = t.x GROUP BY t.x ORDER BY 1
SELECT p.id FROM @people p WHERE p.id IN (SELECT o.person_id FROM @orders o WHERE o.day = (SELECT max(o2.day) FROM @orders o2 WHERE o2.person_id = o.person_id) AND o.amount < 34) ORDER BY 1
