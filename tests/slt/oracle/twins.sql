-- Columns that differ in a cast alone, and columns of one name.
SELECT sum(n), sum(n::bigint), sum(n::numeric), sum(s), sum(s::int) FROM @numbers
SELECT count(d), count(d::int), count(DISTINCT d), count(DISTINCT d::int) FROM @numbers WHERE abs(d) < 1000
SELECT count(*) FROM @numbers WHERE abs(d) < 1000 GROUP BY d, d::int ORDER BY d
SELECT d::int AS whole, count(*) FROM @numbers WHERE abs(d) < 1000 GROUP BY d::int, d::bigint ORDER BY 1
SELECT max(placed_at), max(placed_at::date), min(placed_at::date), min(placed_at) FROM @orders
SELECT placed_at::date AS d, count(*), max(amount), max(amount::int) FROM @orders WHERE amount < 1000 GROUP BY placed_at::date, placed_at::timestamp(0) HAVING max(amount) > max(amount::int) - 1 ORDER BY 1, 3
SELECT n, sum(n) OVER (ORDER BY n), sum(n::bigint) OVER (ORDER BY n), sum(n::numeric) OVER (ORDER BY n) FROM @numbers ORDER BY n
SELECT * FROM (SELECT n, n, n::bigint FROM @numbers WHERE n = 3) AS x
SELECT x.* FROM (SELECT n AS a, s AS a FROM @numbers WHERE n = 3) AS x
WITH w AS (SELECT n, s AS n, 1 FROM @numbers WHERE n = 2) SELECT * FROM w
SELECT sum(d::int), sum(d) FROM @numbers WHERE abs(d) < 1000 AND n > (SELECT min(s::int) FROM @numbers)
