-- seed 2001, query 2425: what is computed of rows that a filter leaves out
-- in icu
CREATE TABLE "{a}" ("id" int PRIMARY KEY, "k" int, "big1" bigint, "i2" int, "n4" numeric(10,2));
INSERT INTO "{a}" VALUES
    (2, '-1', '9223372036854775807', '-2147483648', '1');
-- in truth
CREATE TABLE "{a}" ("id" int PRIMARY KEY, "k" int, "big1" bigint, "i2" int, "n4" numeric(10,2));
INSERT INTO "{a}" VALUES
    (2, '-1', '9223372036854775807', '-2147483648', '1');
-- in query
SELECT (r2.n4 - r2.i2) AS c1, r2.big1 AS c2, (r2.big1 - r2.k) AS c4 FROM @a AS r2 WHERE r2.big1 <> r2.big1
SELECT (r2.n4 - r2.i2) AS c1, r2.big1 AS c2, (r2.big1 - r2.k) AS c4 FROM @a AS r2 WHERE r2.big1 < 5
