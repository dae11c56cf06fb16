-- seed 9328, query 1445, truth: 42601 instead of rows
-- in app
CREATE TABLE "{d}" ("id" int PRIMARY KEY, "k" int);
-- in lake
a
b
-- in truth
CREATE TABLE "{a}" ("id" int PRIMARY KEY, "k" int);
CREATE TABLE "{b}" ("id" int PRIMARY KEY, "k" int);
INSERT INTO "{b}" VALUES
    (30, '1');
CREATE TABLE "{d}" ("id" int PRIMARY KEY, "k" int);
-- in query
SELECT CAST('a' AS text) AS c1 FROM ((SELECT r1.id AS c1, TIME '12:00:00.000001' AS c2 FROM @d AS r1) UNION ALL (SELECT -7 AS c1, TIME '23:59:59.999999' AS c2 FROM @a AS r2)) AS r3 WHERE EXISTS (SELECT 1 FROM @b AS r4 WHERE r3.c1 = r4.k)
