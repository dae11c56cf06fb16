-- CASE, COALESCE, NULLs, booleans, casts between kinds, order and limits.
SELECT id, CASE WHEN credit > 100 THEN 'high' WHEN credit > 0 THEN 'some' WHEN credit IS NULL THEN 'none' END FROM @people ORDER BY id
SELECT id, CASE boss WHEN 1 THEN 'one' WHEN NULL THEN 'never' ELSE 'else' END FROM @people ORDER BY id
SELECT id, CASE WHEN boss = 1 THEN 1 WHEN boss = 2 THEN 2.5 ELSE NULL END FROM @people ORDER BY id
SELECT id, CASE WHEN id > 5 THEN credit ELSE id END AS a, CASE WHEN id > 5 THEN credit ELSE score END AS b FROM @people ORDER BY people.id
SELECT id, coalesce(name, city, 'nobody'), coalesce(boss, 0), coalesce(credit, 0), coalesce(NULL, boss, id) FROM @people ORDER BY id
SELECT id, coalesce(credit, id), coalesce(score, credit), coalesce(score, 0.0), greatest(score, 1.5) FROM @people ORDER BY id
SELECT id, nullif(city, 'Oslo'), nullif(boss, 1), nullif(credit, 0) FROM @people ORDER BY id
SELECT id, credit IS NULL, credit IS NOT NULL, credit > 0, NOT (credit > 0), (credit > 0) IS TRUE, (credit > 0) IS NOT TRUE FROM @people ORDER BY id
SELECT id, credit > 0 AND score > 0, credit > 0 OR score > 0 FROM @people ORDER BY id
SELECT id, (credit > 0)::int, (credit > 0)::text FROM @people ORDER BY id
SELECT id::text || name, id::decimal(5,1) AS a, id::double precision AS b, name::varchar(2) AS c FROM @people ORDER BY people.id
SELECT id, credit::int, credit::double precision, credit::text FROM @people ORDER BY id
SELECT id, score::text, score::decimal(10,2) FROM @people WHERE id NOT IN (3) ORDER BY id
SELECT name, city FROM @people ORDER BY city, name
SELECT name, city FROM @people ORDER BY city DESC, name DESC
SELECT name, city FROM @people ORDER BY city NULLS FIRST, name DESC NULLS LAST
SELECT id FROM @people ORDER BY credit, id
SELECT id FROM @people ORDER BY credit DESC, id DESC
SELECT id FROM @people ORDER BY score, id
SELECT id FROM @people ORDER BY score DESC NULLS LAST, id LIMIT 4
SELECT id FROM @people ORDER BY boss NULLS FIRST, id DESC OFFSET 3
SELECT id FROM @people ORDER BY length(name), id
SELECT id FROM @people ORDER BY name LIMIT 3
SELECT id FROM @people ORDER BY name DESC LIMIT 3
SELECT id FROM @people ORDER BY city, id LIMIT 4 OFFSET 2
SELECT id FROM @people ORDER BY id % 3, id DESC
SELECT id AS x FROM @people ORDER BY -id LIMIT 2
SELECT id FROM @people ORDER BY CASE WHEN boss IS NULL THEN 0 ELSE 1 END, name, id
SELECT DISTINCT boss FROM @people ORDER BY boss DESC
SELECT DISTINCT credit, boss FROM @people ORDER BY 1, 2
SELECT DISTINCT city FROM @people ORDER BY city LIMIT 3
SELECT count(*) FROM @people WHERE name IS NOT NULL AND NOT (city = 'Oslo' OR credit < 0)
SELECT id, id BETWEEN 2 AND 4, boss BETWEEN 1 AND NULL, boss NOT BETWEEN 2 AND 3 FROM @people ORDER BY id
SELECT id, boss IN (1, NULL), boss NOT IN (1, NULL), boss IN (1, 2) FROM @people ORDER BY id
SELECT id, name LIKE '%e%', name LIKE NULL, city ILIKE 'b%' FROM @people ORDER BY id
SELECT id, credit = 100.1, score = 0.1, points = 5, born = DATE '1990-02-28', joined > TIMESTAMP '2026-06-01' FROM @people ORDER BY id
SELECT * FROM @people ORDER BY id
SELECT * FROM @orders ORDER BY id
SELECT * FROM @words ORDER BY id
SELECT * FROM @numbers ORDER BY n
SELECT p.*, o.amount FROM @people p JOIN @orders o ON o.person_id = p.id WHERE p.id = 1 ORDER BY o.id
SELECT id FROM @people ORDER BY id FETCH FIRST 2 ROWS ONLY
SELECT id, CASE WHEN id = 1 THEN 1 / (id - 1) ELSE 0 END FROM @people WHERE id > 1 ORDER BY id
SELECT id FROM @people WHERE CASE WHEN id = 5 THEN false ELSE 10 / (id - 5) > 2 END ORDER BY id
SELECT NULL, NULL::int + 1, NULL || 'a', coalesce(NULL, NULL), nullif(NULL, 1)
SELECT true::text, 'yes'::boolean, 'off'::boolean, 1::boolean, true::int
SELECT 'maybe'::boolean
SELECT 1 = '1', '2026-11-30'::date::text, 1.50::text, 100::text || '%'
SELECT 1 = 'x'
SELECT id + name FROM @people
SELECT score FROM @people UNION ALL SELECT credit FROM @people WHERE credit < 1 ORDER BY 1
SELECT sum(score * 1.1) > 1e299, sum(score + credit) IS NOT NULL FROM @people
SELECT nothing FROM @people
SELECT max(id), name FROM @people
SELECT id FROM @people WHERE max(id) > 1
SELECT id FROM @people ORDER BY 5
SELECT unnest(ARRAY[3, 1, 2]) ORDER BY 1
SELECT (ARRAY[10, 20, 30])[2], array_length(ARRAY[1, 2, 3], 1), cardinality(ARRAY[1, 2]), 2 = ANY (ARRAY[1, 2])
SELECT "id" AS "Weird ""Name""" FROM @people WHERE "id" = 1
SELECT * FROM (VALUES (1, 'a', 1.5), (2, NULL, NULL), (3, 'c', 2)) AS v(a, b, c) ORDER BY a
SELECT x FROM (VALUES (1), (2.5), (NULL)) AS v(x) ORDER BY x DESC
