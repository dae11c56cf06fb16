-- Zero has no sign, and NaN is one value above all numbers: where rows are compared, joined, grouped, sorted and counted.
SELECT id FROM @doubles WHERE f = 0 ORDER BY id
SELECT id FROM @doubles WHERE f = 0::float8 ORDER BY id
SELECT id FROM @doubles WHERE f = '-0'::float8 ORDER BY id
SELECT id FROM @doubles WHERE f < 0 ORDER BY id
SELECT id FROM @doubles WHERE f >= 0::float8 ORDER BY id
SELECT id FROM @doubles WHERE f <> 0::float8 ORDER BY id
SELECT id FROM @doubles WHERE f IN (0::float8, 1.5) ORDER BY id
SELECT id FROM @doubles WHERE f NOT IN (0::float8, 1.5) ORDER BY id
SELECT id FROM @doubles WHERE f BETWEEN 0 AND 1 ORDER BY id
SELECT id FROM @doubles WHERE f = g ORDER BY id
SELECT id FROM @doubles WHERE f IS NOT DISTINCT FROM g ORDER BY id
SELECT id FROM @doubles WHERE -f = 0::float8 ORDER BY id
SELECT id FROM @doubles WHERE f * -1 = 0::float8 ORDER BY id
SELECT id FROM @doubles WHERE round(f / 10) = 0::float8 ORDER BY id
SELECT id FROM @doubles WHERE nullif(f, 0::float8) IS NULL ORDER BY id
SELECT id, CASE f WHEN 0::float8 THEN 'zero' ELSE 'other' END FROM @doubles ORDER BY id
SELECT f + 0::float8, count(*) FROM @doubles GROUP BY f + 0::float8 ORDER BY 1
SELECT count(*) FROM @doubles GROUP BY f ORDER BY f NULLS LAST
SELECT count(DISTINCT f), count(DISTINCT -f), count(DISTINCT (f, g)) FROM @doubles
SELECT count(*) FROM (SELECT DISTINCT f FROM @doubles) AS d
SELECT count(*) FROM (SELECT f FROM @doubles UNION SELECT g FROM @doubles) AS d
SELECT count(*) FROM (SELECT f FROM @doubles EXCEPT SELECT 0::float8) AS d
SELECT a.id, b.id FROM @doubles a JOIN @doubles b ON a.f = b.g ORDER BY 1, 2
SELECT id FROM @doubles WHERE f IN (SELECT g FROM @doubles) ORDER BY id
SELECT id FROM @doubles ORDER BY f DESC NULLS LAST, id DESC
SELECT id, rank() OVER (ORDER BY f) FROM @doubles WHERE f IS NOT NULL ORDER BY id
SELECT id, count(*) OVER (PARTITION BY f) FROM @doubles ORDER BY id
SELECT greatest(f, g) = least(f, g) FROM @doubles WHERE id = 1
SELECT min(f), max(f) FROM @doubles WHERE f = 0::float8
SELECT 'Infinity'::float8 - 'Infinity'::float8 > 1, 'Infinity'::float8 * 0 = 'NaN'::float8, -('NaN'::float8) = 'NaN'::float8
SELECT id FROM @doubles ORDER BY CASE WHEN id = 4 THEN 'Infinity'::float8 - 'Infinity'::float8 WHEN id = 5 THEN 'Infinity'::float8 ELSE f END, id
