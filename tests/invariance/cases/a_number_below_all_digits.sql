-- seed 9402, query 2042: a number below all that 38 digits can hold is out of range, and its value is nobody's business
-- in app
CREATE TABLE "{d}" ("id" int PRIMARY KEY, "k" int, "n5" numeric);
CREATE TABLE "{e}" ("id" int PRIMARY KEY, "k" int, "w4" numeric(30,10));
INSERT INTO "{e}" VALUES
    (27, '7', '-99999999999999999999.9999999999');
-- in truth
CREATE TABLE "{d}" ("id" int PRIMARY KEY, "k" int, "n5" numeric(38,18));
CREATE TABLE "{e}" ("id" int PRIMARY KEY, "k" int, "w4" numeric(30,10));
INSERT INTO "{e}" VALUES
    (27, '7', '-99999999999999999999.9999999999');
-- in query
(SELECT r4.c1, r4.c2, r4.c3 FROM (SELECT (r1.w4 - 1) AS c1, min(1) OVER (ORDER BY r1.id DESC) AS c2, lag(1) OVER (ORDER BY r1.id) AS c3, min(CAST('a' AS text)) OVER (ORDER BY r1.id DESC) AS c4 FROM @e AS r1) AS r4 ORDER BY r4.c4, 1 DESC, 2, 3 DESC NULLS LAST) EXCEPT ALL (SELECT (1 + r8.n5) AS c1, 1 AS c2, 1 AS c3 FROM @d AS r8 GROUP BY 1)
