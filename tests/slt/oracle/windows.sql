-- Window functions over rows, ranges and groups; ties, NULLs, frames.
SELECT id, row_number() OVER (ORDER BY id DESC) FROM @people ORDER BY id
SELECT id, rank() OVER (ORDER BY credit), dense_rank() OVER (ORDER BY credit) FROM @people ORDER BY id
SELECT id, rank() OVER (PARTITION BY city ORDER BY credit DESC, id) FROM @people ORDER BY id
SELECT id, row_number() OVER (ORDER BY name, id), row_number() OVER (ORDER BY name DESC, id) FROM @people ORDER BY id
SELECT id, percent_rank() OVER (ORDER BY id), cume_dist() OVER (ORDER BY boss) FROM @people ORDER BY id
SELECT id, ntile(3) OVER (ORDER BY id), ntile(4) OVER (ORDER BY id DESC) FROM @people ORDER BY id
SELECT id, lag(id) OVER (ORDER BY id), lag(id, 2, -1) OVER (ORDER BY id), lead(name) OVER (ORDER BY id) FROM @people ORDER BY id
SELECT id, first_value(name) OVER w, last_value(name) OVER w, nth_value(name, 2) OVER w FROM @people WINDOW w AS (PARTITION BY city ORDER BY id) ORDER BY id
SELECT id, last_value(id) OVER (ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) FROM @people ORDER BY id
SELECT id, sum(amount) OVER (ORDER BY id) FROM @orders ORDER BY id
SELECT id, sum(amount) OVER (ORDER BY day), count(*) OVER (ORDER BY day) FROM @orders ORDER BY id
SELECT id, sum(quantity) OVER (ORDER BY id ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING) FROM @orders ORDER BY id
SELECT id, sum(amount) OVER (ORDER BY id ROWS BETWEEN 2 PRECEDING AND 1 PRECEDING) FROM @orders ORDER BY id
SELECT id, min(amount) OVER (ORDER BY id ROWS BETWEEN CURRENT ROW AND 2 FOLLOWING), max(amount) OVER (ORDER BY id ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) FROM @orders ORDER BY id
SELECT id, round(avg(amount) OVER (PARTITION BY status), 3), count(amount) OVER (PARTITION BY status) FROM @orders ORDER BY id
SELECT id, avg(quantity) OVER (ORDER BY id ROWS 2 PRECEDING) FROM @orders ORDER BY id
SELECT n, sum(n) OVER (ORDER BY n RANGE BETWEEN 2 PRECEDING AND 2 FOLLOWING) FROM @numbers ORDER BY n
SELECT n, count(*) OVER (ORDER BY z RANGE BETWEEN 1 PRECEDING AND 1 FOLLOWING) FROM @numbers ORDER BY n
SELECT n, sum(n) OVER (ORDER BY z GROUPS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM @numbers ORDER BY n
SELECT n, count(*) OVER (ORDER BY z), count(*) OVER (ORDER BY z DESC), count(z) OVER () FROM @numbers ORDER BY n
SELECT id, count(*) OVER (ORDER BY placed_at RANGE BETWEEN INTERVAL '1' DAY PRECEDING AND CURRENT ROW) FROM @orders WHERE placed_at IS NOT NULL ORDER BY id
SELECT id, sum(points) OVER (ORDER BY id ROWS BETWEEN CURRENT ROW AND CURRENT ROW) FROM @people WHERE id <> 2 ORDER BY id
SELECT id, amount, sum(amount) OVER (PARTITION BY person_id ORDER BY placed_at NULLS FIRST, id) FROM @orders ORDER BY id
SELECT status, sum(amount), rank() OVER (ORDER BY sum(amount) DESC NULLS LAST) FROM @orders GROUP BY status ORDER BY status
SELECT id FROM (SELECT id, row_number() OVER (PARTITION BY city ORDER BY credit DESC NULLS LAST, id) AS r FROM @people) AS t WHERE r = 1 ORDER BY id
SELECT id, sum(amount) FILTER (WHERE status = 'paid') OVER (ORDER BY id) FROM @orders ORDER BY id
SELECT id, string_agg(name, ',') OVER (ORDER BY id) FROM @people ORDER BY id
SELECT id, amount - lag(amount) OVER (ORDER BY placed_at, id), extract(epoch FROM placed_at - lag(placed_at) OVER (ORDER BY placed_at, id)) FROM @orders WHERE placed_at IS NOT NULL ORDER BY id
SELECT id, array_agg(id) OVER (ORDER BY id ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM @people ORDER BY id
SELECT p.id, o.id, row_number() OVER (PARTITION BY p.id ORDER BY o.amount DESC, o.id) FROM @people p JOIN @orders o ON o.person_id = p.id ORDER BY 1, 2
SELECT DISTINCT first_value(id) OVER (PARTITION BY lower(city) ORDER BY id) FROM @people ORDER BY 1
SELECT id, lag(name, 1, 'none') OVER (PARTITION BY boss ORDER BY id) FROM @people ORDER BY id
SELECT id, bool_or(credit > 100) OVER (ORDER BY id), max(name) OVER (ORDER BY id) FROM @people ORDER BY id
SELECT id, sum(points) OVER (ORDER BY id), sum(points) OVER (ORDER BY id ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING) FROM @people ORDER BY id
SELECT id, avg(points) OVER (ORDER BY id ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM @people WHERE id IN (1, 2) ORDER BY id
SELECT id, sum(points) FILTER (WHERE points > 0) OVER (PARTITION BY boss ORDER BY id) FROM @people ORDER BY id
SELECT x, count(*) FROM (SELECT i % 2 AS x, row_number() OVER (ORDER BY i) AS r FROM generate_series(1, 6) i) v GROUP BY x ORDER BY x
SELECT x, count(*) OVER (ORDER BY x) FROM (SELECT i % 2 AS x, row_number() OVER (ORDER BY i) AS r FROM generate_series(1, 6) i) v ORDER BY x
SELECT x, r, count(*) FROM (SELECT i % 2 AS x, row_number() OVER (ORDER BY i) AS r FROM generate_series(1, 6) i) v GROUP BY x, r ORDER BY r
SELECT DISTINCT x FROM (SELECT i % 2 AS x, row_number() OVER (ORDER BY i) AS r FROM generate_series(1, 6) i) v ORDER BY x
SELECT bucket, count(*) FROM (SELECT rn / 3 AS bucket, rn FROM (SELECT row_number() OVER (ORDER BY id) AS rn FROM @people) a) b GROUP BY bucket HAVING count(*) > 1 ORDER BY bucket
SELECT DISTINCT ON (i) i FROM generate_series(1, 3) i ORDER BY i, i DESC
SELECT DISTINCT ON (city) city, id FROM @people ORDER BY city, city, id DESC, id
SELECT DISTINCT ON (a, b) a, b, c FROM (VALUES (1, 2, 3), (1, 2, 4), (2, 1, 5)) v(a, b, c) ORDER BY b, (a), c DESC
SELECT 1 AS one FROM ((SELECT id AS c1, 1 AS c3 FROM @people) UNION ALL (SELECT DISTINCT ON (c1) * FROM (SELECT person_id AS c1, 1 AS c3 FROM @orders) AS r ORDER BY 1, 2) UNION ALL (SELECT 1, -1 FROM @people)) AS u WHERE u.c3 = 3
SELECT u.c1, u.c3 FROM ((SELECT id AS c1, 1 AS c3 FROM @people) UNION ALL (SELECT DISTINCT ON (c1) * FROM (SELECT person_id AS c1, id AS c3 FROM @orders) AS r ORDER BY 1, 2) UNION ALL (SELECT 1, -1 FROM @people)) AS u WHERE u.c3 > 1 ORDER BY 1, 2
-- refused 42703: DISTINCT ON an expression that is an output too
SELECT DISTINCT ON (c) upper(city) AS c, id FROM @people ORDER BY c, id
-- refused 42703: DISTINCT ON an expression that is an output too
SELECT DISTINCT ON (1) upper(city), id FROM @people ORDER BY 1, id DESC
