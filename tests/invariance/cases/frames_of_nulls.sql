-- A frame that moves along kept its last min when nothing but NULLs was left in it.
-- in files
CREATE TABLE "{c}" ("id" INTEGER PRIMARY KEY, "k" INTEGER, "t1" TEXT COLLATE NOCASE);
INSERT INTO "{c}" VALUES
    (3, 0, NULL),
    (4, 1, NULL),
    (5, 2, NULL),
    (6, 0, 'ß');
-- in truth
CREATE TABLE "{c}" ("id" bigint PRIMARY KEY, "k" bigint, "t1" text);
INSERT INTO "{c}" VALUES
    (3, '0', NULL),
    (4, '1', NULL),
    (5, '2', NULL),
    (6, '0', 'ß');
-- in query
SELECT min(r1.t1) OVER (ORDER BY r1.id DESC ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) AS c3 FROM @c AS r1
