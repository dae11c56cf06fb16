-- nullif of a real and a double was a double.
-- in icu
CREATE TABLE "{b}" ("id" int PRIMARY KEY, "k" int, "f2" double precision, "f6" real);
INSERT INTO "{b}" VALUES
    (28, '0', '-1', '0.1');
-- in truth
CREATE TABLE "{b}" ("id" int PRIMARY KEY, "k" int, "f2" double precision, "f6" real);
INSERT INTO "{b}" VALUES
    (28, '0', '-1', '0.1');
-- in query
SELECT nullif(r2.f6, r2.f2) AS c2 FROM @b AS r2
