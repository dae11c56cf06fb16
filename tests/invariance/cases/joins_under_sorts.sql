-- Sorting in parallel took away what brings the rows of a join's left side together; the planner noticed, and the query failed.
-- in lake
b c
-- in truth
CREATE TABLE {b} (id int PRIMARY KEY, ti time, tz timestamptz);
INSERT INTO {b} VALUES (1, '12:00', '2026-03-29 01:30:00+00'), (2, NULL, NULL), (3, '00:00', '2026-03-29 01:30:00+00');
CREATE TABLE {c} (id int PRIMARY KEY, ti time);
INSERT INTO {c} VALUES (1, '12:00'), (2, NULL);
-- in query
(SELECT r1.ti AS c1, r1.tz AS c2, r1.tz AS c3, 1 AS c4 FROM @b AS r1) EXCEPT ((SELECT TIME '00:00:00' AS c1, CAST('2026-03-29 01:30:00+00' AS timestamptz) AS c2, CAST('2026-03-29 01:30:00+00' AS timestamptz) AS c3, 1 AS c4 FROM @c AS r2) UNION ALL (SELECT TIME '00:00:00' AS c1, CAST('1969-12-31 23:59:59+00' AS timestamptz) AS c2, CAST('2026-03-29 01:30:00+00' AS timestamptz) AS c3, 1 AS c4 FROM @c AS r3 ORDER BY 3 DESC, 4, 1, 2)) ORDER BY 4 NULLS FIRST, 1, 2 NULLS FIRST, 3
