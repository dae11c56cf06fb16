-- Aggregates: exact sums and averages, NULLs, DISTINCT, FILTER, HAVING, grouping sets.
SELECT count(*), count(amount), count(DISTINCT status), count(DISTINCT amount) FROM @orders
SELECT sum(amount), sum(quantity), sum(rate), sum(amount * rate), sum(amount * quantity) FROM @orders
SELECT avg(amount), avg(quantity), avg(rate) FROM @orders
SELECT round(avg(amount), 2), round(avg(quantity), 4), round(avg(rate), 6) FROM @orders
SELECT min(amount), max(amount), min(status), max(status), min(day), max(placed_at), min(rate), max(quantity) FROM @orders
SELECT sum(points) FROM @people
SELECT sum(points) FROM @people WHERE id IN (1, 2)
SELECT sum(points), sum(DISTINCT points), round(avg(DISTINCT points), 4), count(*) FROM @people
SELECT boss, sum(points), sum(DISTINCT points), sum(points) FILTER (WHERE points > 0), sum(DISTINCT points) FILTER (WHERE id < 9) FROM @people GROUP BY boss ORDER BY boss
SELECT sum(points) / 2, sum(points) % 10, sum(points) + 1, sum(points) > 0 FROM @people
SELECT sum(id) / 3, sum(id) % 10, sum(id) / count(*) FROM @people
SELECT sum(CASE WHEN status = 'paid' THEN 1 ELSE 0 END) / count(*), sum(1) / 5, sum(quantity * 2) / 5, sum(coalesce(quantity, 0)) / 5 FROM @orders
SELECT sum(b) / count(*), sum(s) / count(*), sum(-s) / 4, sum(n + 1) / 4 FROM @numbers
SELECT avg(DISTINCT amount), avg(DISTINCT quantity), sum(quantity), count(DISTINCT status) FROM @orders
SELECT status, avg(DISTINCT quantity), sum(DISTINCT amount), count(*) FROM @orders GROUP BY status ORDER BY status
SELECT sum(quantity), count(DISTINCT status) FROM @orders
SELECT sum(count(*)) OVER () FROM @orders GROUP BY status
SELECT avg(points) FROM @people WHERE id = 1
SELECT avg(b) FROM @numbers WHERE n IN (2, 3)
SELECT round(avg(b), 3), sum(b) FROM @numbers
SELECT avg(d), sum(d) FROM @numbers WHERE n < 100
SELECT avg(f), sum(f) FROM @numbers WHERE n < 100
SELECT sum(amount) / count(*) FROM @orders
SELECT round(sum(amount) / count(*), 4), round(sum(amount) * 1.0 / sum(quantity), 4) FROM @orders
SELECT sum(amount) * 100 / sum(sum(amount)) OVER () > 0 AS share, status FROM @orders WHERE amount IS NOT NULL GROUP BY status ORDER BY status
SELECT status, count(*), sum(amount), round(avg(amount), 3) FROM @orders GROUP BY status ORDER BY status
SELECT city, count(*), sum(credit) FROM @people GROUP BY city ORDER BY city
SELECT city, count(*) FROM @people GROUP BY city HAVING count(*) > 1 ORDER BY city
SELECT lower(city) AS c, count(*), string_agg(name, '+' ORDER BY id) FROM @people GROUP BY lower(city) ORDER BY c
SELECT count(*) FROM @orders GROUP BY status HAVING sum(amount) > 30 ORDER BY 1
SELECT max(amount) FROM @orders HAVING count(*) > 100
SELECT status FROM @orders GROUP BY status HAVING status IS NULL OR min(quantity) < 1 ORDER BY status
SELECT count(*) FILTER (WHERE status = 'paid'), sum(amount) FILTER (WHERE quantity > 2) FROM @orders
SELECT status, sum(amount) FILTER (WHERE quantity > 2) FROM @orders GROUP BY status ORDER BY status
SELECT sum(DISTINCT amount), sum(DISTINCT quantity), count(DISTINCT quantity) FROM @orders
SELECT avg(DISTINCT quantity) FROM @orders
SELECT count(DISTINCT (status, quantity)) FROM @orders WHERE status IS NOT NULL AND quantity IS NOT NULL
SELECT status, count(DISTINCT person_id), sum(DISTINCT quantity) FROM @orders GROUP BY status ORDER BY status
SELECT sum(amount), avg(amount), min(amount), count(amount), count(*) FROM @orders WHERE false
SELECT status, sum(amount) FROM @orders WHERE false GROUP BY status
SELECT bool_and(quantity > 0), bool_or(quantity > 9), every(amount > -100) FROM @orders
SELECT status, bool_and(quantity > 0), bool_or(amount > 50) FROM @orders GROUP BY status ORDER BY status
SELECT round(stddev(n)::numeric, 6), round(stddev_pop(n)::numeric, 6), round(variance(n)::numeric, 6), round(var_pop(n)::numeric, 6) FROM @numbers
SELECT round(corr(n, z)::numeric, 8), round(covar_pop(n, z)::numeric, 6), round(covar_samp(n, z)::numeric, 6) FROM @numbers
SELECT regr_count(n, z), round(regr_slope(n, z)::numeric, 6), round(regr_intercept(n, z)::numeric, 6) FROM @numbers
SELECT stddev(quantity), var_samp(quantity) FROM @orders WHERE id = 101
SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY f) FROM @numbers
SELECT bit_and(n), bit_or(n), bit_xor(n) FROM @numbers WHERE n > 0
SELECT array_agg(id ORDER BY id DESC) FROM @people WHERE id < 4
SELECT array_agg(city ORDER BY city NULLS FIRST, id) FROM @people
SELECT array_agg(DISTINCT status ORDER BY status) FROM @orders
SELECT status, quantity, sum(amount) FROM @orders GROUP BY GROUPING SETS ((status), (quantity), ()) ORDER BY 1, 2, 3
SELECT status, quantity, count(*), grouping(status), grouping(quantity), grouping(status, quantity) FROM @orders GROUP BY CUBE (status, quantity) ORDER BY 1, 2, 4, 5
SELECT day, status, sum(amount) FROM @orders GROUP BY ROLLUP (day, status) ORDER BY 1, 2, 3
SELECT coalesce(status, 'none') AS s, count(*) FROM @orders GROUP BY ROLLUP (coalesce(status, 'none')) ORDER BY s, 2
SELECT quantity % 2 AS odd, count(*), min(id) FROM @orders GROUP BY quantity % 2 ORDER BY odd
SELECT quantity > 2, count(*) FROM @orders GROUP BY 1 ORDER BY 1
SELECT extract(year FROM day) AS y, count(*), sum(amount) FROM @orders GROUP BY y ORDER BY y
SELECT count(*), sum(n) FROM (SELECT DISTINCT quantity AS n FROM @orders) AS t
SELECT DISTINCT status, quantity > 2 FROM @orders ORDER BY 1, 2
SELECT DISTINCT ON (person_id) person_id, id FROM @orders ORDER BY person_id, amount DESC NULLS LAST, id
SELECT sum(cast(quantity AS bigint) * 4000000000) FROM @orders
SELECT sum(9223372036854775807::bigint) FROM @numbers WHERE n IN (1, 2)
SELECT sum(n::smallint), sum(s), avg(s), max(s) FROM @numbers WHERE n < 10
SELECT max(n) - min(n), max(d) - min(d), count(*) * 1.5, sum(n) % 7 FROM @numbers
SELECT sum(CASE WHEN status = 'paid' THEN amount ELSE 0 END), sum(CASE WHEN status = 'paid' THEN 1 END), count(CASE WHEN status = 'nothing' THEN 1 END) FROM @orders
SELECT min(name), max(name), min(city), max(email) FROM @people
SELECT count(*), count(1), count(NULL), sum(1), sum(NULL::int), max(NULL::text) FROM @people
SELECT avg(x), sum(x) FROM (VALUES (1), (2), (2)) AS v(x)
SELECT avg(x) FROM (VALUES (0.1), (0.2), (0.4)) AS v(x)
SELECT avg(quantity) * 3, avg(quantity) > 3, avg(amount) > 112233.45 FROM @orders
-- refused 42883: there is no such aggregate here
SELECT mode() WITHIN GROUP (ORDER BY status) FROM @orders
SELECT name, points FROM @people WHERE points = (SELECT max(points) FROM @people) ORDER BY 1
SELECT z, sum(100 / n) FILTER (WHERE n <> 0) FROM @numbers GROUP BY z ORDER BY z
SELECT count(*), count(1), count(n), count(1::bigint) FROM @numbers
SELECT z, count(*) FILTER (WHERE n <> 0 AND 100 / n > 1) FROM @numbers GROUP BY z ORDER BY z
