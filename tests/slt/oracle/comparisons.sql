-- Rows beside rows, intervals beside intervals, clock times that go round, samples and texts of numbers.
SELECT ROW(1, NULL) = ROW(1, NULL), (1, NULL) = (2, NULL), (1, 2) = (1, 2), (NULL, 1) = (NULL, 2)
SELECT (1, NULL) <> (1, NULL), (1, NULL) <> (2, NULL), (1, 2) <> (1, 2)
SELECT (1, NULL) < (2, 0), (1, NULL) < (1, 0), (1, 2) < (1, 3), (1, 2) < (1, 2), (NULL, 1) < (NULL, 2)
SELECT (1, 2, 3) <= (1, 2, 3), (1, 2, 3) <= (1, 2, 2), (2, NULL) >= (1, 0), (2, 1) > (1, 5), (1, 5) > (1, 5)
SELECT (1, NULL) IN ((1, 2), (3, 4)), (1, NULL) IN ((2, 3)), (1, NULL) NOT IN ((1, 2)), (1, 2) NOT IN ((3, 4), (5, NULL))
SELECT (1, NULL) IS NULL, (NULL, NULL) IS NULL, (1, NULL) IS NOT NULL, (1, 2) IS NOT NULL, ROW(NULL, ROW(NULL, NULL)) IS NULL
SELECT (1, NULL) IS DISTINCT FROM (1, NULL), (1, NULL) IS NOT DISTINCT FROM (1, NULL), (1, 2) IS DISTINCT FROM (1, NULL)
SELECT (1, (2, NULL)) = (1, (3, NULL)), (1, (2, 3)) < (1, (2, 4)), (1, 2) BETWEEN (1, 1) AND (1, 3)
SELECT id FROM @people WHERE (id, boss) = (1, NULL) ORDER BY id
SELECT id FROM @people WHERE (city, boss) NOT IN (('Oslo', 1), ('Paris', 2)) ORDER BY id
SELECT id FROM @people WHERE (boss, id) > (1, 3) ORDER BY id
SELECT id FROM @people WHERE (city, boss) IS NULL ORDER BY id
SELECT a.id, b.id FROM @people a JOIN @people b ON (a.city, a.boss) = (b.city, b.boss) ORDER BY 1, 2
SELECT id, (boss, city) IS NOT DISTINCT FROM (NULL, city) FROM @people ORDER BY id
-- refused 42601: rows of different lengths
SELECT (1, 2) = (1, 2, 3)
-- refused 0A000: rows among the rows of a question
SELECT id FROM @people WHERE (id, boss) NOT IN (SELECT n, n FROM @numbers) ORDER BY id
-- refused 0A000: rows as values
SELECT r = s FROM (SELECT ROW(1, 2) AS r, ROW(1, 2) AS s) t
-- refused 0A000: a sample of rows
SELECT count(*) FROM @people TABLESAMPLE BERNOULLI (10)
SELECT INTERVAL '1 day' IN (INTERVAL '24 hours'), INTERVAL '1 day' NOT IN (INTERVAL '24 hours', NULL), INTERVAL '2 days' IN (INTERVAL '24 hours', NULL)
SELECT INTERVAL '1 month' BETWEEN INTERVAL '29 days' AND INTERVAL '720 hours', INTERVAL '1 day' NOT BETWEEN INTERVAL '1 hour' AND INTERVAL '24 hours'
SELECT INTERVAL '1 day' IS DISTINCT FROM INTERVAL '24 hours', INTERVAL '1 day' IS DISTINCT FROM INTERVAL '25 hours'
SELECT INTERVAL '1 day' IS NOT DISTINCT FROM NULL, i IS DISTINCT FROM NULL FROM (SELECT INTERVAL '1 day' AS i) t
SELECT INTERVAL '1 day' = '24 hours', '1 day 00:00:01' > INTERVAL '1 day', NULL = INTERVAL '1 day'
SELECT INTERVAL '1 day' = 'soon'
SELECT INTERVAL '1 day' IN ('24 hours', '1 hour'), INTERVAL '1 day' BETWEEN '23:00:00' AND '1 day'
SELECT i FROM (SELECT INTERVAL '1 day' AS i UNION ALL SELECT INTERVAL '1 hour') t ORDER BY i
SELECT CASE WHEN i > INTERVAL '2 hours' THEN 'long' ELSE 'short' END, count(*) FROM (SELECT INTERVAL '1 day' AS i UNION ALL SELECT INTERVAL '1 hour') t GROUP BY 1 ORDER BY 1
SELECT id, day - DATE '2026-11-01' AS d FROM @orders WHERE placed_at - TIMESTAMP '2026-11-01' > INTERVAL '1 day' ORDER BY placed_at - TIMESTAMP '2026-11-01', id
SELECT DISTINCT placed_at - placed_at FROM @orders WHERE placed_at IS NOT NULL
SELECT i, row_number() OVER () FROM (SELECT INTERVAL '1 day' AS i) t
SELECT i FROM (VALUES (INTERVAL '2 days'), (INTERVAL '36 hours'), (INTERVAL '1 month'), (NULL)) AS t(i) ORDER BY i
SELECT i FROM (VALUES (INTERVAL '2 days'), (INTERVAL '36 hours'), (INTERVAL '1 month'), (NULL)) AS t(i) ORDER BY i DESC NULLS LAST LIMIT 2
-- refused 0A000: intervals as the operand of CASE
SELECT CASE INTERVAL '1 day' WHEN INTERVAL '24 hours' THEN 1 END
-- refused 0A000: intervals as arguments that are compared
SELECT nullif(INTERVAL '1 day', INTERVAL '24 hours')
-- refused 0A000: intervals as arguments that are compared
SELECT greatest(INTERVAL '1 day', INTERVAL '25 hours')
-- refused 0A000: intervals made distinct
SELECT DISTINCT i FROM (VALUES (INTERVAL '1 day'), (INTERVAL '24 hours')) AS t(i)
-- refused 0A000: intervals grouped by
SELECT i, count(*) FROM (VALUES (INTERVAL '1 day'), (INTERVAL '24 hours')) AS t(i) GROUP BY i
-- refused 0A000: intervals grouped by
SELECT i, count(*) FROM (VALUES (INTERVAL '1 day'), (INTERVAL '24 hours')) AS t(i) GROUP BY ROLLUP (i)
-- refused 0A000: intervals made distinct
SELECT INTERVAL '1 day' UNION SELECT INTERVAL '24 hours'
-- refused 0A000: intervals looked for in the other side
SELECT INTERVAL '1 day' INTERSECT SELECT INTERVAL '24 hours'
-- refused 0A000: intervals looked for in the other side
SELECT INTERVAL '1 day' EXCEPT ALL SELECT INTERVAL '24 hours'
-- refused 0A000: intervals joined on
SELECT count(*) FROM (SELECT INTERVAL '1 day' AS i) a JOIN (SELECT INTERVAL '24 hours' AS i) b USING (i)
SELECT count(*) FROM (SELECT INTERVAL '1 day' AS i) a JOIN (SELECT INTERVAL '24 hours' AS i) b ON a.i = b.i
-- refused 0A000: distinct intervals are counted
SELECT count(DISTINCT i) FROM (VALUES (INTERVAL '1 day'), (INTERVAL '24 hours')) AS t(i)
-- refused 0A000: the greatest interval
SELECT max(i) FROM (VALUES (INTERVAL '1 day'), (INTERVAL '25 hours')) AS t(i)
-- refused 0A000: rows are ranked by intervals
SELECT rank() OVER (ORDER BY i) FROM (VALUES (INTERVAL '1 day'), (INTERVAL '24 hours')) AS t(i)
-- refused 0A000: intervals among the rows of a question
SELECT INTERVAL '1 day' IN (SELECT INTERVAL '24 hours')
SELECT TIME '23:30' + INTERVAL '2 hours', TIME '01:00' - INTERVAL '90 minutes', INTERVAL '1 day 1 hour' + TIME '23:00', TIME '10:00' - INTERVAL '30 hours'
SELECT id, placed_at::time + INTERVAL '20 hours' FROM @orders ORDER BY id
SELECT '1e400'::float8
SELECT CAST('-1e400' AS double precision)
SELECT '1e-400'::float8
SELECT '1e39'::real
SELECT '1e308'::float8 > 1, 'Infinity'::float8 > 1, '0e999'::float8 = 0
SELECT count(*) FROM @people WHERE (id, boss) IN ((1, 0), (2, 1), (3, 1), (4, 2), (5, 2), (6, 3), (7, 3), (8, 4), (9, 4), (10, 5), (11, 5), (12, 6), (13, 6), (14, 7), (15, 7), (16, 8), (17, 8), (18, 9), (19, 9), (20, 10), (21, 10), (22, 11), (23, 11), (24, 12), (25, 12), (26, 13), (27, 13), (28, 14), (29, 14), (30, 15), (31, 15), (32, 16), (33, 16), (34, 17), (35, 17), (36, 18), (37, 18), (38, 19), (39, 19), (40, 20), (41, 20), (42, 21), (43, 21), (44, 22), (45, 22), (46, 23), (47, 23), (48, 24), (49, 24), (50, 25), (51, 25), (52, 26), (53, 26), (54, 27), (55, 27), (56, 28), (57, 28), (58, 29), (59, 29))
SELECT DISTINCT ON (g) g, i FROM (VALUES (1, INTERVAL '36 hours'), (1, INTERVAL '1 day'), (2, INTERVAL '2 days')) AS t(g, i) ORDER BY g, i DESC
-- refused 0A000: intervals made distinct
SELECT DISTINCT ON (i) i FROM (VALUES (INTERVAL '1 day'), (INTERVAL '24 hours')) AS t(i) ORDER BY i
-- refused 0A000: intervals compared in a window
SELECT count(*) OVER (PARTITION BY i) FROM (VALUES (INTERVAL '1 day'), (INTERVAL '24 hours')) AS t(i)
SELECT INTERVAL '1 day' = ANY (ARRAY[INTERVAL '24 hours'])
SELECT count(i) FROM (VALUES (INTERVAL '1 day'), (INTERVAL '24 hours')) AS t(i)
-- refused 0A000: intervals compared as items of a list
SELECT array_position(ARRAY[INTERVAL '1 day'], INTERVAL '24 hours')
SELECT string_agg(g::text, ',' ORDER BY g) FROM (VALUES (1, INTERVAL '36 hours'), (2, INTERVAL '1 day')) AS t(g, i) WHERE i >= '24:00:00'
