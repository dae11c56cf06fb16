-- Keys of GROUP BY that differ in a cast alone, told by their places, were an error.
-- in app
CREATE TABLE "{e}" ("id" int PRIMARY KEY, "k" int);
-- in truth
CREATE TABLE "{e}" ("id" int PRIMARY KEY, "k" int);
-- in query
SELECT r1.id AS c1, 1 AS c2, 1 AS c3, CAST(r1.id AS text) AS c4 FROM @e AS r1 GROUP BY 1, 4
