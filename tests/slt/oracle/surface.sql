-- What analysts type: clauses, operators and functions of PostgreSQL, as they come in everyday statements.
SELECT 3 * INTERVAL '1 day'
SELECT INTERVAL '1 day' * 3
SELECT INTERVAL '1 day' * 1.5
SELECT INTERVAL '1 hour' / 2
SELECT INTERVAL '1 day 02:03:04'
SELECT INTERVAL '1' DAY
SELECT INTERVAL '1 year 2 months 3 days'
SELECT INTERVAL '1-2' YEAR TO MONTH
SELECT INTERVAL '2' HOUR
SELECT INTERVAL '90' MINUTE
SELECT INTERVAL '1.5 hours'
SELECT INTERVAL '-1 day'
SELECT -INTERVAL '1 day'
SELECT INTERVAL '1 week'
SELECT INTERVAL '1 mon 2 hours'
SELECT INTERVAL '02:03:04'
SELECT INTERVAL 'P1DT2H'
SELECT INTERVAL '1 day ago'
SELECT INTERVAL '1 day' + INTERVAL '2 hours'
SELECT INTERVAL '1 month' - INTERVAL '1 day'
SELECT '1 day'::interval
SELECT CAST('2 hours' AS interval)
SELECT INTERVAL '36 hours'
SELECT INTERVAL '1 day' = INTERVAL '24 hours'
SELECT INTERVAL '1 month' > INTERVAL '29 days'
SELECT DATE '2026-01-31' + INTERVAL '1 month'
SELECT TIMESTAMP '2026-01-31 10:00:00' + INTERVAL '1 month'
SELECT DATE '2026-01-31' + 1
SELECT 1 + DATE '2026-01-31'
SELECT DATE '2026-01-31' - 1
SELECT DATE '2026-01-31' - DATE '2026-01-01'
SELECT TIMESTAMP '2026-01-31 10:00:00' - TIMESTAMP '2026-01-01 00:00:00'
SELECT DATE '2026-01-31' - TIMESTAMP '2026-01-01 00:00:00'
SELECT age(TIMESTAMP '2026-03-01', TIMESTAMP '2025-01-31')
SELECT age(DATE '2026-03-01', DATE '2025-01-31')
SELECT date_part('day', age(TIMESTAMP '2026-03-01', TIMESTAMP '2025-01-31'))
SELECT justify_days(INTERVAL '40 days')
SELECT justify_hours(INTERVAL '40 hours')
SELECT justify_interval(INTERVAL '1 mon -1 hour')
SELECT make_interval(days => 3)
SELECT make_date(2026, 2, 28)
WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n+1 FROM c WHERE n < 5) SELECT * FROM c
WITH RECURSIVE c(n) AS (SELECT 1 UNION SELECT (n+1) % 3 FROM c) SELECT * FROM c ORDER BY n
WITH RECURSIVE c AS (SELECT 1 AS n UNION ALL SELECT n+1 FROM c WHERE n < 5) SELECT sum(n) FROM c
WITH x(a, b) AS (SELECT 1, 2) SELECT b, a FROM x
WITH x AS MATERIALIZED (SELECT 1 AS a) SELECT a FROM x
WITH x AS NOT MATERIALIZED (SELECT 1 AS a) SELECT a FROM x
VALUES (1, 'a'), (2, 'b')
SELECT * FROM (VALUES (1, 'a'), (2, 'b')) AS v(n, s)
SELECT v.n FROM (VALUES (1), (2)) v(n) WHERE n > 1
SELECT NULL IS DISTINCT FROM NULL, 1 IS DISTINCT FROM NULL, 1 IS NOT DISTINCT FROM 1
SELECT 'abc' SIMILAR TO '(a|b)%', 'abc' NOT SIMILAR TO 'a_c', 'abc' SIMILAR TO 'ab'
SELECT 'abc' ~ '^a', 'Abc' ~* '^a', 'abc' !~ 'b', 'ABC' !~* 'b'
SELECT 'abc' ILIKE 'AB%', 'abc' NOT ILIKE 'x%', 'a_c' LIKE 'a\_c', 'abc' LIKE 'a\_c'
SELECT '50%' LIKE '50!%' ESCAPE '!'
SELECT 'abc' LIKE 'a%' ESCAPE ''
SELECT EXTRACT(epoch FROM TIMESTAMP '2026-01-01 00:00:00')
SELECT EXTRACT(epoch FROM INTERVAL '1 day 2 hours')
SELECT EXTRACT(hour FROM TIME '10:20:30')
SELECT EXTRACT(day FROM INTERVAL '3 days 4 hours'), EXTRACT(hour FROM INTERVAL '3 days 4 hours')
SELECT * FROM generate_series(1, 5, 2)
SELECT * FROM generate_series(5, 1, -2)
SELECT * FROM generate_series(TIMESTAMP '2026-01-01', TIMESTAMP '2026-01-02', INTERVAL '12 hours')
SELECT generate_series(1, 3)
SELECT g::date FROM generate_series('2026-01-01'::date, '2026-01-03'::date, '1 day'::interval) g
SELECT g FROM generate_series('2026-01-31'::timestamp, '2026-04-30'::timestamp, '1 month') g
SELECT (DATE '2026-01-01', DATE '2026-02-01') OVERLAPS (DATE '2026-01-15', DATE '2026-03-01')
SELECT 'a' || 1
SELECT 1 || 'a'
SELECT 'a' || NULL
SELECT 'a' || true
SELECT 'a' || 1.50
SELECT 'd=' || DATE '2026-01-01'
SELECT substring('foobar' from 2 for 3), substring('foobar', 2), substring('foobar' for 2), substr('foobar', 3, 2)
SELECT substring('foobar' from 'o.b')
SELECT substring('foobar' from 'o(.)b')
SELECT substring('foobar' from 'zz')
SELECT substring('foobar', 0, 3), substring('foobar', -1, 3)
SELECT position('ob' in 'foobar'), strpos('foobar', 'x'), position('' in 'abc')
SELECT split_part('a,b,c', ',', 2), split_part('a,b,c', ',', 5), split_part('a,b,c', ',', -1)
SELECT regexp_replace('foobar', 'o', 'x'), regexp_replace('foobar', 'o', 'x', 'g'), regexp_replace('fOobar', 'o', 'x', 'gi')
SELECT regexp_replace('foobar', '(o)(b)', '\2\1')
SELECT regexp_match('foobar', 'o(.)b')
SELECT format('%s-%s', 'a', 1), format('%I', 'A b'), format('%L', 'it''s'), format('%%'), format('%5s|%-5s|', 'a', 'b'), format('%2$s %1$s', 'a', 'b')
SELECT concat('a', NULL, 1, true), concat_ws(',', 'a', NULL, 'b', 2)
SELECT lpad('a', 3), lpad('a', 3, 'xy'), rpad('a', 3, 'xy'), lpad('abcdef', 3)
SELECT width_bucket(5.35, 0.024, 10.06, 5), width_bucket(35, 0, 10, 5)
SELECT round(2.5), round(-2.5), round(1.234, 2), round(1.235, 2), round(1234.5, -2)
SELECT round(2.5::float8), round(3.5::float8), round(-2.5::float8), round(0.5::float8)
SELECT trunc(1.789, 1), trunc(-1.789), trunc(1.5::float8)
SELECT mod(7, 3), mod(-7, 3), mod(7.5, 2), div(7, 2), div(-7.5, 2)
SELECT 7 / 2, -7 / 2, 7 % -3, -7 % 3, 7.0 / 2, 7 / 2.0
SELECT 1 / 0
SELECT 1.0 / 0
SELECT 1::float8 / 0
SELECT 1 % 0
SELECT mod(1, 0)
SELECT 2147483647::int + 1::int
SELECT 9223372036854775807 + 1
SELECT abs(-9223372036854775808)
SELECT 32767::smallint + 1::smallint
SELECT 300::smallint * 300::smallint
SELECT -9223372036854775808 / -1
SELECT greatest(1, NULL, 3), least(1, NULL, 3), greatest(NULL, NULL)
SELECT greatest(1, 2.5), least('b', 'a')
SELECT nullif(1, 1), nullif(1, 2), nullif('a', 'b')
SELECT coalesce(NULL, 1, 2), coalesce(NULL, NULL)
SELECT json_build_object('a', 1, 'b', 'x')
SELECT 'a' < 'B', 'a' = 'a ', 'ä' > 'z'
SELECT 'abc'::varchar(2)
SELECT cast(2.5 as int), cast(3.5 as int), cast(-2.5 as int)
SELECT cast(2.5::float8 as int), cast(3.5::float8 as int), cast(-2.5::float8 as int), cast(1.5::float8 as bigint)
SELECT '12.5'::int
SELECT 'abc'::int
SELECT ''::int
SELECT '2026-02-30'::date
SELECT 'true'::boolean, 'yes'::boolean, 'off'::boolean, '1'::boolean, 't'::bool
SELECT 1::boolean, 0::boolean, true::int
SELECT true::text, 1.50::text, 1::float8::text, 0.1::float8::text, 1e20::float8::text, 1e-7::float8::text
SELECT 1e300::float8 * 1e10::float8
SELECT 'NaN'::float8, 'Infinity'::float8, '-Infinity'::float8
SELECT 'NaN'::float8 = 'NaN'::float8, 'NaN'::float8 > 1
SELECT sin(1), cos(1), tan(1), asin(0.5), acos(0.5), atan(1), atan2(1, 2)
SELECT ceil(1.2), floor(-1.2), ceiling(1.2::float8)
SELECT gcd(12, 18), lcm(4, 6), factorial(5)
SELECT 5 & 3, 5 | 3, 5 # 3, ~5, 1 << 3, 16 >> 2
SELECT (1, 2) = (1, 2), (1, 2) < (1, 3)
SELECT char_length('gämma'), octet_length('gämma'), bit_length('a'), character_length('ab')
SELECT left('abc', 2), left('abc', -1), right('abc', 2), right('abc', -1)
SELECT repeat('ab', 3), replace('abcabc', 'b', 'x'), translate('abc', 'ab', 'xy'), overlay('abcdef' placing 'XX' from 2 for 3)
SELECT encode('abc'::bytea, 'hex'), decode('616263', 'hex'), encode('abc'::bytea, 'base64'), sha256('abc'::bytea)
SELECT starts_with('abc', 'ab'), 'abc' ^@ 'ab'
SELECT string_to_array('a,b,c', ','), array_to_string(ARRAY[1,2,3], ','), array_length(ARRAY[1,2,3], 1), cardinality(ARRAY[1,2])
SELECT unnest(ARRAY[1,2,3])
SELECT * FROM unnest(ARRAY[1,2,3]) AS x
SELECT ARRAY[1,2] || 3, ARRAY[1,2] || ARRAY[3], ARRAY[1,2,3] @> ARRAY[2], 2 = ANY(ARRAY[1,2]), (ARRAY[1,2,3])[2], (ARRAY[1,2,3])[1:2]
SELECT array_position(ARRAY['a','b'], 'b'), array_append(ARRAY[1], 2), array_remove(ARRAY[1,2,1], 1)
SELECT DATE '2026-01-31' > '2026-01-01', TIMESTAMP '2026-01-01' = '2026-01-01 00:00:00'
SELECT TIMESTAMPTZ '2026-01-01 00:00:00+02', TIMESTAMP WITH TIME ZONE '2026-01-01 00:00:00Z'
SELECT TIME '10:20' + INTERVAL '1 hour', TIME '10:20' - TIME '09:00', DATE '2026-01-01' + TIME '10:00'
SELECT 1 WHERE 1 = 1.0 AND '1' = 1
SELECT true AND NULL, false AND NULL, true OR NULL, NOT NULL
SELECT NULL = NULL, NULL IS NULL, 1 <> NULL, NULL IN (1), 1 IN (1, NULL), 2 IN (1, NULL), 2 NOT IN (1, NULL)
SELECT 0.1 + 0.2, 1e2, 1.5e-3, .5, 5.
SELECT 10 / 4, 10 / 4.0, 10 % 4, -10 / 4, 10.5 % 3
SELECT 12345678901234567890 + 1
SELECT 99999999999999999999.99 * 2
SELECT 123456789.123 * 987654321.987
SELECT round(123.456, -1), round(123.456, 0), round(-0.5), round(1e10 + 0.5)
SELECT 5::bigint / 2::smallint, 5::int * 2.5, 5::numeric(5,2)
SELECT 123.456::numeric(5,1), 1234.5::numeric(4,1)
SELECT 12345.6::numeric(4,1)
SELECT 300::smallint + 1, 40000::smallint
SELECT 3000000000::int
SELECT '1,5'::numeric
SELECT upper(1, 2)
SELECT 1 UNION SELECT 1, 2
SELECT substring('abc' from 2 for 0), substring('abc', 10)
SELECT concat_ws('-', 1, NULL, true), concat(1.5, 2::float8, DATE '2026-01-01')
SELECT 'abc' || 1.5::float8 || TIMESTAMP '2026-01-01'
SELECT extract(century from TIMESTAMP '2001-01-01')
SELECT INTERVAL '1 month' + DATE '2026-01-31'
SELECT DATE '2026-03-31' - INTERVAL '1 month'
SELECT TIMESTAMP '2026-01-01' - INTERVAL '1 year 2 months'
SELECT 'abc'::bytea, '\x6162'::bytea
SELECT exp(1000)
SELECT power(10, 400)
SELECT asin(2)
SELECT gcd(0, 0), lcm(0, 5)
SELECT regexp_replace('Hello World', '(\w+) (\w+)', '\2 \1')
SELECT 'aXb' ~ '[A-Z]', 'foo' ~ 'o{2}', 'a.b' ~ 'a\.b', 'tel 123' ~ '\d+'
SELECT regexp_match('abc', 'x')
SELECT split_part('a--b--c', '--', 2), split_part('', ',', 1)
SELECT strpos('abc', ''), position('c' in 'abc')
SELECT format('Hello %s, %1$s', 'x')
SELECT format('%s')
SELECT rpad('abc', 2), lpad('', 3, 'x'), lpad('a', 3, '')
SELECT sum(x) FROM (VALUES (1.5), (2)) v(x)
SELECT x FROM (VALUES ('a'), (NULL), ('B')) v(x) ORDER BY x DESC
SELECT * FROM (VALUES (1, 'a'), (2, NULL)) v
SELECT column1, column2 FROM (VALUES (1, 'a')) v
SELECT * FROM generate_series(3, 1)
SELECT -INTERVAL '1 day', - INTERVAL '1 month 2 hours'
SELECT INTERVAL '1 day' - INTERVAL '1 hour', -(INTERVAL '1 day')
-- refused 0A000: a cast to char(n) would have to keep its blanks
SELECT 'a'::char(3) = 'a'
-- refused 0A000: ties are not looked for
SELECT n FROM @numbers ORDER BY n FETCH FIRST 1 ROWS WITH TIES
-- refused 0A000: the column of both sides would be taken from the left
SELECT id FROM @people FULL JOIN @orders USING (id) ORDER BY id
SELECT id FROM @people ORDER BY id FETCH FIRST 2 ROWS ONLY
SELECT id FROM @people ORDER BY id OFFSET 1 ROWS FETCH NEXT 2 ROWS ONLY
SELECT DATE '2026-01-01' + id * INTERVAL '1 day' FROM @people ORDER BY id
SELECT max(placed_at) - min(placed_at), EXTRACT(epoch FROM max(placed_at) - min(placed_at)) FROM @orders
SELECT EXTRACT(second FROM placed_at), EXTRACT(isoyear FROM placed_at), date_part('century', placed_at) FROM @orders ORDER BY placed_at
SELECT count FROM (SELECT count(*) FROM @people) x
SELECT count(*) FILTER (WHERE NULL), count(*) FROM @people
SELECT to_date('2026-01-02', 'YYYY-MM-DD'), to_date('02 Jan 2026', 'DD Mon YYYY'), to_date('2026032', 'YYYYDDD')
SELECT to_timestamp('2026-01-02 10:11:12.250000', 'YYYY-MM-DD HH24:MI:SS.US'), to_timestamp('20260102T0311 pm', 'YYYYMMDD"T"HH12MI am')
SELECT to_char(placed_at, 'YYYY-MM-DD HH24:MI:SS'), to_char(placed_at, 'Day, FMDDth Mon YYYY') FROM @orders ORDER BY placed_at
-- refused 0A000: a year of two digits is read by another rule
SELECT to_date('26-01-02', 'YY-MM-DD')
SELECT (SELECT 1 WHERE false), (SELECT count(*) WHERE false), coalesce((SELECT 5 FROM @people WHERE id = -1), 0)
SELECT count(*) FROM @people WHERE id > coalesce((SELECT 3 FROM @people WHERE id = -1), 0)
SELECT (SELECT 'x' FROM @people WHERE id = -1), (SELECT 1 LIMIT 0), (SELECT 2 WHERE true)
SELECT 5>-1, 2>=-1, 3<>-3
SELECT '\xDEAD'::bytea = '\xdead', decode('616263', 'hex')::text, '\x616263'::bytea IN ('abc', 'x'), 'a\\b'::bytea::text
SELECT 1 AS a, 2 AS a
SELECT id AS x, id + 1 AS x FROM @people ORDER BY id
SELECT DATE '9999-12-31' > now(), DATE '9999-12-31' > current_timestamp, now() > DATE '2000-01-01', now() = current_timestamp
