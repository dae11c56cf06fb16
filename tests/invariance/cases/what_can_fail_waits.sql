-- Whether a question failed depended on which of its conditions was sent.
-- in icu
CREATE TABLE "{a}" ("id" int PRIMARY KEY, "k" int, "big2" bigint, "i3" int, "t7" text COLLATE blind);
INSERT INTO "{a}" VALUES
    (11, '-1', '9223372036854775807', '2', NULL);
-- in truth
CREATE TABLE "{a}" ("id" int PRIMARY KEY, "k" int, "big2" bigint, "i3" int, "t7" text);
INSERT INTO "{a}" VALUES
    (11, '-1', '9223372036854775807', '2', NULL);
-- in query
SELECT 1 AS c1, CAST('a' AS text) AS c2, 1 AS c3, DATE '2026-12-01' AS c4 FROM @a AS r1 WHERE (r1.t7 <= 'a ' AND (r1.big2 + r1.i3) NOT IN (0)) GROUP BY 4
