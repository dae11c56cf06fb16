-- seed 6002, query 2089: a side of a join that fails at a number is not read where the other side is empty
-- in icu
CREATE TABLE "{a}" ("id" int PRIMARY KEY, "k" int, "i2" int, "t4" varchar(20));
INSERT INTO "{a}" VALUES
    (16, '-1', '2147483647', '');
CREATE TABLE "{b}" ("id" int PRIMARY KEY, "k" int, "f1" real, "i3" smallint);
CREATE TABLE "{c}" ("id" int PRIMARY KEY, "k" int, "f1" real, "n2" numeric, "n4" numeric(10,2));
INSERT INTO "{c}" VALUES
    (5, '-1', '0', '1', NULL);
-- in lake
e
-- in truth
CREATE TABLE "{a}" ("id" int PRIMARY KEY, "k" int, "i2" int, "t4" varchar(20));
INSERT INTO "{a}" VALUES
    (16, '-1', '2147483647', '');
CREATE TABLE "{b}" ("id" int PRIMARY KEY, "k" int, "f1" real, "i3" smallint);
CREATE TABLE "{c}" ("id" int PRIMARY KEY, "k" int, "f1" real, "n2" numeric(38,18), "n4" numeric(10,2));
INSERT INTO "{c}" VALUES
    (5, '-1', '0', '1', NULL);
CREATE TABLE "{e}" ("id" int PRIMARY KEY, "k" int, "Odd 6" numeric(10,2));
-- in query
SELECT sum(CASE WHEN r14.id NOT BETWEEN 1.5 AND 7 THEN r9.c2 ELSE r9.c3 END) AS c1, CAST('\x5c27' AS bytea) AS c2, min(r9.c1) AS c3 FROM (SELECT DISTINCT 1 AS c1, r8.n4 AS c2, coalesce(r7.c4, r7.c2) AS c3, (7 - abs(r1.id)) AS c4, (r8.n2 * r7.c4) AS c5 FROM @a AS r1 RIGHT JOIN (SELECT max(CASE WHEN r5.f1 <= CAST('0.1' AS double precision) THEN r5.i3 END) AS c1, max(7.1) AS c2, min(r5.i3) AS c3, min(r6."Odd 6") AS c4, CASE WHEN DATE '1969-12-31' < DATE '2100-01-01' THEN DATE '9999-12-31' END AS c5 FROM @b AS r5 JOIN @e AS r6 ON r5.id = r6.id GROUP BY 5 ORDER BY 5 DESC, 1, 2, 3, 4 LIMIT 100 OFFSET 3) AS r7 ON r1.id = r7.c3 JOIN @c AS r8 ON r1.id = r8.id) AS r9 JOIN (SELECT DISTINCT r12.id AS c1, r12.f1 AS c2, CASE WHEN (r10.t4 NOT IN ('back\slash', '"q"', 'É') AND r12.n2 < 2.5) THEN (r11.i2 + r10.i2) END AS c3, r12.f1 AS c4 FROM @a AS r10 JOIN @a AS r11 ON r10.id = r11.id JOIN @c AS r12 ON r10.k = r12.k ORDER BY 3 NULLS FIRST, 4 NULLS FIRST, 1 DESC NULLS LAST, 2 DESC NULLS LAST LIMIT 3) AS r13 ON r9.c4 = r13.c1 JOIN @a AS r14 ON r13.c3 = r14.id WHERE r9.c2 IS NOT DISTINCT FROM r9.c2 GROUP BY 2
