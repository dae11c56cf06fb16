-- A condition without columns was moved below a GROUP BY that makes a row of no rows, which then was there all the same.
-- in app
CREATE TABLE {e} (id int PRIMARY KEY, k int);
INSERT INTO {e} VALUES (1, 3), (2, 1);
-- in truth
CREATE TABLE {e} (id int PRIMARY KEY, k int);
INSERT INTO {e} VALUES (1, 3), (2, 1);
-- in query
SELECT count(*) OVER () AS c1 FROM (SELECT 1 AS c1 FROM (SELECT min(1) AS c1 FROM @e AS r2) AS r4) AS r5 WHERE r5.c1 <= 0
