-- What sources group, join, sort and compute themselves, by collation and type.
SELECT city, count(*) FROM @people GROUP BY city
SELECT count(*) FROM @people GROUP BY name HAVING name > 'a' OR count(*) > 1
SELECT status, count(*), sum(amount), min(amount), max(day) FROM @orders GROUP BY status HAVING status <> 'paid' AND count(*) > 0
SELECT count(*) FROM @orders GROUP BY status HAVING status = 'paid' OR sum(quantity) > 3
SELECT DISTINCT status FROM @orders
SELECT count(DISTINCT status), count(DISTINCT city) FROM @orders, (SELECT max(city) AS city FROM @people) AS p
SELECT count(DISTINCT w), min(w), max(w) FROM @words
SELECT w FROM @words WHERE w = 'a' OR w = 'Z'
SELECT w FROM @words WHERE NOT (w = 'a')
SELECT w FROM @words WHERE NOT (w = 'a' OR w < 'e')
SELECT w FROM @words WHERE w IN ('a', 'A', 'é')
SELECT w FROM @words WHERE w NOT IN ('a', 'A', 'é')
SELECT w FROM @words WHERE w BETWEEN 'A' AND 'a'
SELECT w FROM @words WHERE w LIKE 'a%' OR w LIKE '%''%'
SELECT w FROM @words WHERE w NOT LIKE 'a%'
SELECT w FROM @words WHERE w LIKE 'a!_%' ESCAPE '!'
SELECT w FROM @words ORDER BY w LIMIT 7
SELECT w FROM @words ORDER BY w DESC LIMIT 7
SELECT w FROM @words ORDER BY w DESC NULLS LAST, id LIMIT 19
SELECT w FROM @words ORDER BY w NULLS FIRST, id LIMIT 3
SELECT name, born FROM @people ORDER BY born NULLS FIRST, id LIMIT 4
SELECT name, joined FROM @people ORDER BY joined DESC, id LIMIT 4
SELECT id, score FROM @people ORDER BY score DESC NULLS LAST, id LIMIT 5
SELECT a.id, b.id FROM @people AS a JOIN @people AS b ON a.city = b.city AND a.id < b.id
SELECT a.w, b.p FROM @words AS a JOIN @words AS b ON a.w = b.p
SELECT a.id FROM @words AS a WHERE EXISTS (SELECT 1 FROM @words AS b WHERE b.p = a.w)
SELECT a.id FROM @words AS a WHERE NOT EXISTS (SELECT 1 FROM @words AS b WHERE b.p = a.w)
SELECT p.id, o.id FROM @people AS p LEFT JOIN @orders AS o ON o.person_id = p.id AND o.status = 'paid'
SELECT p.id, count(o.id), sum(o.amount * o.quantity) FROM @people AS p LEFT JOIN @orders AS o ON o.person_id = p.id GROUP BY p.id
SELECT date_trunc('month', placed_at), count(*) FROM @orders GROUP BY 1
SELECT date_trunc('week', placed_at), min(placed_at) FROM @orders GROUP BY 1
SELECT date_trunc('quarter', placed_at), max(placed_at) FROM @orders GROUP BY 1
SELECT extract(year FROM day), extract(month FROM day), count(*) FROM @orders GROUP BY 1, 2
SELECT extract(dow FROM born), extract(doy FROM born), extract(quarter FROM born), count(*) FROM @people GROUP BY 1, 2, 3
SELECT extract(hour FROM placed_at), extract(minute FROM placed_at), count(*) FROM @orders GROUP BY 1, 2
SELECT min(born), max(born), min(joined), max(joined), count(born), count(DISTINCT born) FROM @people
SELECT quantity / 2, quantity % 2, count(*) FROM @orders GROUP BY 1, 2
SELECT n + 1, count(*) FROM @numbers GROUP BY n + 1 HAVING n + 1 > 1
SELECT sum(n * z), sum(b), avg(b), min(b), max(b) FROM @numbers
SELECT sum(n * s), sum(d * 2), min(abs(d)), max(-d), sum(abs(n)) FROM @numbers
SELECT floor(d), ceil(d), count(*) FROM @numbers GROUP BY 1, 2
SELECT round(d), round(d, 2), trunc(d, 1), count(*) FROM @numbers GROUP BY 1, 2, 3
SELECT length(w), count(*) FROM @words GROUP BY 1
SELECT substring(w FROM 1 FOR 1), count(*) FROM @words GROUP BY 1
SELECT left(w, 1), trim(w), ltrim(w), rtrim(w), strpos(w, 'a'), count(*) FROM @words GROUP BY 1, 2, 3, 4, 5
SELECT w || '-' || p, count(*) FROM @words GROUP BY 1
SELECT coalesce(status, 'none'), count(*) FROM @orders GROUP BY 1
SELECT nullif(status, 'paid'), count(*) FROM @orders GROUP BY 1
SELECT greatest(n, z), least(n, z), count(*) FROM @numbers GROUP BY 1, 2
SELECT greatest(w, p), least(w, p), count(*) FROM @words GROUP BY 1, 2
SELECT count(*) FILTER (WHERE status = 'paid'), sum(amount) FILTER (WHERE day > DATE '2026-11-01'), count(DISTINCT person_id) FILTER (WHERE quantity > 1) FROM @orders
SELECT id FROM @people WHERE NOT (born > DATE '1980-01-01' AND joined < TIMESTAMP '2026-06-01 00:00:00')
SELECT id FROM @people WHERE born <> DATE '1990-02-28' OR born IS NULL
SELECT f, count(*) FROM @doubles GROUP BY f
SELECT count(DISTINCT f), min(g), max(g) FROM @doubles
SELECT f + g, count(*) FROM @doubles GROUP BY f + g
SELECT n + z AS n, n AS m FROM @numbers ORDER BY n + z, m LIMIT 4
SELECT day AS status, status AS day FROM @orders ORDER BY id LIMIT 3
SELECT count(*) FROM @numbers WHERE b - 1 < 0
SELECT 0 - b FROM @numbers WHERE n = 0
SELECT max(points), min(points), sum(points) FROM @people WHERE id < 3
SELECT id FROM @people WHERE name = 'dee' OR name = 'DEE '
