-- min and max over a moving frame went on telling the last value where only NULLs were left (silently wrong).
-- in files
CREATE TABLE "{a}" ("id" INTEGER PRIMARY KEY, "k" INTEGER, "t3" TEXT COLLATE RTRIM);
INSERT INTO "{a}" VALUES
    (15, 2, 'a '),
    (16, 3, 'a'),
    (17, -1, 'a');
CREATE TABLE "{b}" ("id" INTEGER PRIMARY KEY, "k" INTEGER);
INSERT INTO "{b}" VALUES
    (3, -1);
-- in truth
CREATE TABLE "{a}" ("id" bigint PRIMARY KEY, "k" bigint, "t3" text);
INSERT INTO "{a}" VALUES
    (15, '2', 'a '),
    (16, '3', 'a'),
    (17, '-1', 'a');
CREATE TABLE "{b}" ("id" bigint PRIMARY KEY, "k" bigint);
INSERT INTO "{b}" VALUES
    (3, '-1');
-- in query
SELECT min(r4.t3) OVER (ORDER BY r2.id DESC, r3.id DESC, r4.id DESC ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING) AS c1 FROM @a AS r2 LEFT JOIN @b AS r3 ON r2.k = r3.k LEFT JOIN @a AS r4 ON r3.id = r4.k
