-- Dates, times and intervals: arithmetic, parts, truncation, order.
SELECT id, extract(year FROM born), extract(month FROM born), extract(day FROM born), extract(dow FROM born), extract(doy FROM born), extract(quarter FROM born) FROM @people ORDER BY id
SELECT id, extract(isodow FROM born), extract(week FROM born), extract(isoyear FROM born) FROM @people ORDER BY id
SELECT id, extract(hour FROM joined), extract(minute FROM joined), extract(second FROM joined), extract(microseconds FROM joined), extract(milliseconds FROM joined) FROM @people ORDER BY id
SELECT id, extract(epoch FROM joined), extract(epoch FROM born) FROM @people ORDER BY id
SELECT id, date_part('year', born), date_part('hour', joined), date_part('second', joined) FROM @people ORDER BY id
SELECT id, date_trunc('day', joined), date_trunc('hour', joined), date_trunc('month', joined), date_trunc('year', joined) FROM @people ORDER BY id
SELECT id, date_trunc('week', placed_at), date_trunc('quarter', placed_at), date_trunc('minute', placed_at), date_trunc('second', placed_at) FROM @orders ORDER BY id
SELECT id, date_trunc('week', born)::date FROM @people ORDER BY id
SELECT date_trunc('month', placed_at) AS m, count(*), sum(amount) FROM @orders GROUP BY m ORDER BY m
SELECT day, count(*) FROM @orders GROUP BY day ORDER BY day DESC
SELECT id, day + 1, day - 1, day + 365 FROM @orders ORDER BY id
SELECT id, day - DATE '2026-11-01' FROM @orders ORDER BY id
SELECT a.id, b.id, a.day - b.day FROM @orders a JOIN @orders b ON a.id = b.id + 1 ORDER BY 1
SELECT id, (day + INTERVAL '1 day')::date FROM @orders ORDER BY id
SELECT id, joined + INTERVAL '1 month', joined - INTERVAL '1 month', joined + INTERVAL '1 year' FROM @people WHERE id < 10 ORDER BY id
SELECT id, joined + INTERVAL '36 hours', joined - INTERVAL '90 minutes', joined + INTERVAL '1.5 seconds' FROM @people WHERE id < 10 ORDER BY id
SELECT id, extract(epoch FROM placed_at - TIMESTAMP '2026-11-01 00:00:00') FROM @orders ORDER BY id
SELECT id, placed_at - INTERVAL '1 month 2 days 03:04:05' FROM @orders ORDER BY id
SELECT id FROM @orders WHERE placed_at - INTERVAL '1 day' < TIMESTAMP '2026-11-01 12:00:00' ORDER BY id
SELECT id FROM @orders WHERE placed_at BETWEEN TIMESTAMP '2026-11-01' AND TIMESTAMP '2026-11-03' ORDER BY id
SELECT id FROM @orders WHERE placed_at >= DATE '2026-11-02' AND placed_at < DATE '2026-11-02' + INTERVAL '1 day' ORDER BY id
SELECT id FROM @orders WHERE day BETWEEN '2026-11-01' AND '2026-11-03' ORDER BY id
SELECT id FROM @orders WHERE day = placed_at::date ORDER BY id
SELECT id FROM @orders WHERE day = placed_at ORDER BY id
SELECT id FROM @orders WHERE extract(month FROM day) = 11 AND extract(day FROM placed_at) > 2 ORDER BY id
SELECT id FROM @people WHERE extract(month FROM born) = 2 AND extract(day FROM born) >= 28 ORDER BY id
SELECT id FROM @orders ORDER BY placed_at, id
SELECT id FROM @orders ORDER BY placed_at DESC, id
SELECT id FROM @orders ORDER BY day DESC NULLS LAST, id LIMIT 3
SELECT id, placed_at::date, placed_at::time, placed_at::text, day::text, day::timestamp FROM @orders ORDER BY id
SELECT id, CAST(joined AS date), CAST(CAST(joined AS text) AS timestamp) = joined FROM @people ORDER BY id
SELECT min(born), max(born), min(joined), max(joined), count(DISTINCT born) FROM @people
SELECT extract(epoch FROM max(placed_at) - min(placed_at)) FROM @orders
SELECT DATE '2026-03-01' - DATE '2026-02-01', DATE '2024-02-29' + 365, DATE '2026-01-01' - 1
SELECT TIMESTAMP '2026-01-31' + INTERVAL '1 month', TIMESTAMP '2024-02-29' + INTERVAL '1 year', TIMESTAMP '2026-03-31' - INTERVAL '1 month'
SELECT INTERVAL '1 day' + INTERVAL '2 hours', INTERVAL '1 month' * 2, -INTERVAL '1 day', INTERVAL '1' YEAR, INTERVAL '90' MINUTE
SELECT INTERVAL '1 day' > INTERVAL '23 hours', INTERVAL '1 day' = INTERVAL '24 hours', INTERVAL '1 month' = INTERVAL '30 days'
SELECT INTERVAL '1 day 02:03:04', INTERVAL '-1 day', INTERVAL '1.5 days', INTERVAL '2 weeks'
SELECT TIME '12:34:56' + INTERVAL '1 hour', TIME '23:59:59.999999', TIME '10:00' < TIME '9:00'
SELECT make_date(2026, 2, 28), to_timestamp(0) = TIMESTAMPTZ '1970-01-01 00:00:00+00'
SELECT TIMESTAMP '2026-11-30 12:00', TIMESTAMP '2026-11-30'
SELECT DATE '2026-02-29'
SELECT CAST('2026-11-30 24:00:01' AS timestamp)
SELECT CAST('2026-11-30' AS date) = '2026-11-30', DATE '2026-11-30' < TIMESTAMP '2026-11-30 00:00:01', DATE '2026-11-30' = TIMESTAMP '2026-11-30 00:00:00'
SELECT TIMESTAMPTZ '2026-11-30 12:00:00+02' = TIMESTAMPTZ '2026-11-30 10:00:00Z', TIMESTAMPTZ '2026-11-30 12:00:00+02', TIMESTAMPTZ '2026-11-30 12:00:00'
SELECT TIMESTAMP '2026-11-30 12:00:00' AT TIME ZONE 'UTC', TIMESTAMPTZ '2026-07-01 12:00:00Z' AT TIME ZONE 'America/New_York'
SELECT date_bin(INTERVAL '15 minutes', TIMESTAMP '2026-11-30 12:34:56', TIMESTAMP '2026-01-01'), date_trunc('hour', TIMESTAMP '1969-12-31 23:59:59')
SELECT extract(epoch FROM INTERVAL '1 day 2 hours'), extract(epoch FROM TIMESTAMP '1969-12-31 23:59:59.5'), extract(hour FROM TIME '12:34:56')
SELECT date_trunc('day', TIMESTAMPTZ '2026-11-30 12:34:56+02'), extract(hour FROM TIMESTAMPTZ '2026-11-30 01:00:00+02')
SELECT age(TIMESTAMP '2026-11-30', TIMESTAMP '2025-10-29')
SELECT current_date = now()::date, current_timestamp = now(), localtimestamp IS NULL, current_date - current_date
SELECT generate_series FROM generate_series(TIMESTAMP '2026-11-01', TIMESTAMP '2026-11-03', INTERVAL '1 day') ORDER BY 1
