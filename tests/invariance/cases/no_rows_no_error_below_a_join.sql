-- seed 2001, query 3529: abs of a row that a filter leaves out
-- in icu
CREATE TABLE "{b}" ("id" int PRIMARY KEY, "k" int, "i5" int);
INSERT INTO "{b}" VALUES
    (8, '0', '-2147483648');
CREATE TABLE "{d}" ("id" int PRIMARY KEY, "k" int);
INSERT INTO "{d}" VALUES
    (37, '1');
-- in truth
CREATE TABLE "{b}" ("id" int PRIMARY KEY, "k" int, "i5" int);
INSERT INTO "{b}" VALUES
    (8, '0', '-2147483648');
CREATE TABLE "{d}" ("id" int PRIMARY KEY, "k" int);
INSERT INTO "{d}" VALUES
    (37, '1');
-- in query
SELECT 1 AS c1 FROM (WITH w1 AS (SELECT r1.i5 AS c1 FROM @b AS r1 WHERE r1.i5 IS NOT DISTINCT FROM 3) SELECT abs(r2.c1) AS c1, 1 AS c3 FROM w1 AS r2) AS r4 WHERE (r4.c1 NOT IN (SELECT r5.id FROM @d AS r5) OR r4.c3 = 1)
