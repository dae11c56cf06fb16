-- Two subqueries whose statements stood in the plan under one name were taken for one (seed 202, query 323).
-- in app
CREATE TABLE "{e}" ("id" int PRIMARY KEY, "k" int, "i4" int);
INSERT INTO "{e}" VALUES
    (35, '1', '-1');
-- in icu
CREATE TABLE "{c}" ("id" int PRIMARY KEY, "k" int);
INSERT INTO "{c}" VALUES
    (10, NULL);
-- in truth
CREATE TABLE "{c}" ("id" int PRIMARY KEY, "k" int);
INSERT INTO "{c}" VALUES
    (10, NULL);
CREATE TABLE "{e}" ("id" int PRIMARY KEY, "k" int, "i4" int);
INSERT INTO "{e}" VALUES
    (35, '1', '-1');
-- in query
SELECT CAST('a' AS text) AS c1 FROM @e AS r1 WHERE (r1.i4 NOT IN (SELECT r2.k FROM @c AS r2) OR r1.id NOT IN (SELECT r3.id FROM @c AS r3)) GROUP BY 1
