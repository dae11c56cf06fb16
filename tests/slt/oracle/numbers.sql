-- Numbers: whole numbers, decimals and floating point; division, rounding, casts, overflow.
SELECT n, n / 2, n % 2, -n / 2, n / -2, n % -2 FROM @numbers ORDER BY n
SELECT n, s / 2, b / 2, b % 10, mod(n, 3) FROM @numbers ORDER BY n
SELECT n, n / 2.0 = n * 0.5, d / 2 = d * 0.5 FROM @numbers WHERE n < 100 ORDER BY n
SELECT n, round(d / 3, 4), round(n / 7.0, 3), round(1.0 / 3, 3) FROM @numbers ORDER BY n
SELECT n, d / 3, 20.00 / 3, 2 / 3.0 FROM @numbers ORDER BY n
SELECT id, amount / quantity FROM @orders WHERE quantity <> 0 ORDER BY id
SELECT id, amount * rate, amount + rate, amount - rate, amount * quantity FROM @orders ORDER BY id
SELECT id, amount % 3, amount % rate FROM @orders WHERE rate <> 0 ORDER BY id
SELECT id, round(amount * rate, 2), round(amount), round(amount, 1), round(amount, -1) FROM @orders ORDER BY id
SELECT n, round(d), round(d, 2), trunc(d), trunc(d, 2), ceil(d), floor(d), abs(d), sign(d) FROM @numbers WHERE n < 100 ORDER BY n
SELECT n, round(f), trunc(f), ceil(f), floor(f), abs(f), sign(f) FROM @numbers ORDER BY n
SELECT n, abs(n), sign(n), -n, +n, abs(b) FROM @numbers ORDER BY n
SELECT n, CAST(d AS int) FROM @numbers WHERE n < 100 ORDER BY n
SELECT n, CAST(f AS int) FROM @numbers WHERE n < 100 ORDER BY n
SELECT n, CAST(d AS bigint), CAST(d AS smallint) FROM @numbers WHERE n < 100 ORDER BY n
SELECT n, CAST(d AS decimal(20,2)), CAST(d AS decimal(20,0)) FROM @numbers ORDER BY n
SELECT n, CAST(n AS text) AS t, CAST(d AS text), CAST(b AS text) FROM @numbers ORDER BY numbers.n
SELECT n, CAST(f AS text) FROM @numbers ORDER BY n
SELECT n, CAST(n AS double precision) AS x, CAST(d AS double precision) FROM @numbers ORDER BY numbers.n
SELECT n, CAST(n AS boolean) AS x FROM @numbers ORDER BY numbers.n
SELECT n, CAST(CAST(n AS text) AS bigint) + 1 FROM @numbers ORDER BY n
SELECT n, CAST(f AS decimal(20,3)) FROM @numbers ORDER BY n
SELECT n, n + s, n + b, n + d, n + f, b + d FROM @numbers ORDER BY n
SELECT n, n * d, d * d FROM @numbers WHERE n < 100 ORDER BY n
SELECT n, b = f, d = f, n = d, n = f FROM @numbers ORDER BY n
SELECT n, b > 9007199254740992, b > 9007199254740992.5 FROM @numbers ORDER BY n
SELECT n, power(n, 2), sqrt(abs(n)), exp(0), ln(1), log(100) FROM @numbers WHERE n < 10 ORDER BY n
SELECT power(2, 3), power(2.0, 3) = 8, sqrt(2), pi(), degrees(pi()), radians(180)
SELECT gcd(12, 18), lcm(4, 6), factorial(5)
SELECT n / z FROM @numbers ORDER BY n
SELECT n % z FROM @numbers ORDER BY n
SELECT d / z FROM @numbers ORDER BY n
SELECT f / z FROM @numbers ORDER BY n
SELECT n, CASE WHEN z <> 0 THEN n / z END FROM @numbers ORDER BY n
SELECT n, n / nullif(z, 0) FROM @numbers ORDER BY n
-- no oracle: the product of two smallints that PostgreSQL refuses fits a wider whole number here
SELECT s * s FROM @numbers WHERE n = 100
SELECT b * b FROM @numbers WHERE n = 100
-- no oracle: whole numbers without a type are 64 bits wide here, and 32 in PostgreSQL
SELECT n * 100000000 FROM @numbers WHERE n = 100
SELECT CAST(b AS int) FROM @numbers WHERE n = 100
SELECT CAST(d AS decimal(5,2)) FROM @numbers WHERE n = 100
SELECT CAST('12x' AS int)
SELECT CAST('' AS int)
SELECT CAST('-0' AS int), CAST('+5' AS int)
-- refused 22P02: blanks around a number
SELECT CAST(' 12 ' AS int)
SELECT CAST('1.50' AS decimal(10,2)), CAST('1.555' AS decimal(10,2)), CAST('-1.555' AS decimal(10,2))
-- refused 22P02: a decimal with an exponent in a text
SELECT CAST('1e2' AS decimal(10,2))
SELECT CAST('1e3' AS double precision), CAST('NaN' AS double precision), CAST('Infinity' AS double precision), CAST('-inf' AS double precision)
SELECT CAST(2.5 AS int), CAST(3.5 AS int), CAST(-2.5 AS int), CAST(0.4999 AS int), CAST(1.9 AS bigint)
SELECT CAST(2.5e0 AS double precision)::int, CAST(3.5 AS double precision)::int, CAST(-2.5 AS double precision)::int
SELECT round(2.5), round(3.5), round(-2.5), round(0.5), round(1.005, 2), round(2.345, 2), round(-2.345, 2), round(1234.5, -2)
SELECT round(CAST(2.5 AS double precision)), round(CAST(3.5 AS double precision)), round(CAST(-0.5 AS double precision))
SELECT 0.1 + 0.2 = 0.3, 0.1 * 3, 1.10 - 1.1, 1.0 = 1, 1.00 * 1.000, 1e2, 1.5e-3, -1.5
SELECT 12345678901234567890.123 + 1, 99999999999999999999.99 * 2, 0.000000000000000001 + 1
SELECT 9223372036854775807, -9223372036854775808, 9223372036854775808, 1234567890123456789012345678
SELECT 9223372036854775807 - 1 + 1, 5 - 8, 2 * 3 + 4 * 5, (2 + 3) * 4, 7 - 2 - 1, 8 / 4 / 2
SELECT 1 + 2.5, 1 - 0.10, 3 * 1.5, 1 / 2.0, 10 / 4, 10 / 4.0, 10.0 / 4
SELECT 5 & 3, 5 | 3, 5 # 3, ~5, 1 << 4, 256 >> 4
SELECT greatest(1, 2.5, NULL), least(3, 1.5), greatest(NULL, NULL)
SELECT n, greatest(n, d), least(n, d, 0) FROM @numbers ORDER BY n
SELECT n FROM @numbers ORDER BY d DESC, n
SELECT n FROM @numbers ORDER BY f, n
SELECT n FROM @numbers ORDER BY d NULLS FIRST
SELECT n FROM @numbers WHERE d = 0.5 OR d = -0.5 OR d = 3.499999 ORDER BY n
SELECT n FROM @numbers WHERE d > 2.4999999 ORDER BY n
SELECT n FROM @numbers WHERE d * 2 = n ORDER BY n
SELECT n FROM @numbers WHERE s > 32766 OR b < -9007199254740992 ORDER BY n
SELECT n FROM @numbers WHERE f = 0 OR f = -0.1 ORDER BY n
SELECT n FROM @numbers WHERE n BETWEEN -3 AND 3 AND n <> 0 ORDER BY n
SELECT n FROM @numbers WHERE n BETWEEN 3 AND -3 ORDER BY n
SELECT n, width_bucket(n, 0, 10, 5) FROM @numbers WHERE n < 10 ORDER BY n
SELECT true AND NULL, false AND NULL, true OR NULL, false OR NULL, NOT NULL, NULL = NULL, NULL IS NULL, 1 <> NULL
