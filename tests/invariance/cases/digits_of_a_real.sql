-- seed 291958, query 1273, truth: rows instead of rows
-- in lake
b
-- in truth
CREATE TABLE "{b}" ("id" int PRIMARY KEY, "k" int, "f4" real);
INSERT INTO "{b}" VALUES
    (25, NULL, '16777217');
-- in query
SELECT ((r3.f4 + r3.f4) + r3.f4) AS c3 FROM @b AS r3
