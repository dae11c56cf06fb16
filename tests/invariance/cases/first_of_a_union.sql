-- Arms of a union left out rows that come after what another arm had found, by a key without the columns that are constant in each arm.
-- in app
CREATE TABLE "{a}" ("id" int PRIMARY KEY, "k" int, "t1" text, "n2" numeric, "t3" text COLLATE "C");
CREATE TABLE "{b}" ("id" int PRIMARY KEY, "k" int, "raw1" bytea, "n2" numeric, "i3" int, "f4" double precision, "i5" int, "n6" numeric, "t7" text COLLATE blind);
CREATE TABLE "{c}" ("id" int PRIMARY KEY, "k" int, "yes1" boolean, "big2" bigint, "t3" char(8), "i4" smallint, "n5" numeric(10,2), "w6" numeric(30,10));
CREATE TABLE "{d}" ("id" int PRIMARY KEY, "k" int, "uu1" uuid, "ti2" time, "t3" varchar(20), "i4" smallint);
CREATE TABLE "{e}" ("id" int PRIMARY KEY, "k" int, "t1" char(8), "t2" text, "big3" bigint, "i4" int, "t5" text COLLATE "C");
INSERT INTO "{e}" VALUES
    (21, '-1', 'a ', 'a ', '0', '1', 'a ');
-- in truth
CREATE TABLE "{a}" ("id" int PRIMARY KEY, "k" int, "t1" text, "n2" numeric(38,18), "t3" text);
CREATE TABLE "{b}" ("id" int PRIMARY KEY, "k" int, "raw1" bytea, "n2" numeric(38,18), "i3" int, "f4" double precision, "i5" int, "n6" numeric(38,18), "t7" text);
CREATE TABLE "{c}" ("id" int PRIMARY KEY, "k" int, "yes1" boolean, "big2" bigint, "t3" text, "i4" smallint, "n5" numeric(10,2), "w6" numeric(30,10));
CREATE TABLE "{d}" ("id" int PRIMARY KEY, "k" int, "uu1" uuid, "ti2" time, "t3" varchar(20), "i4" smallint);
CREATE TABLE "{e}" ("id" int PRIMARY KEY, "k" int, "t1" text, "t2" text, "big3" bigint, "i4" int, "t5" text);
INSERT INTO "{e}" VALUES
    (21, '-1', 'a', 'a ', '0', '1', 'a ');
-- in query
(SELECT TIME '00:00:00' AS c1, min(r1.t2) AS c2, 100 AS c3, CAST('a' AS text) AS c4 FROM @e AS r1 GROUP BY 1) UNION ALL (SELECT max(r6.c2) AS c1, min(r11.t1) AS c2, 1 AS c3, max(r11.t1) AS c4 FROM (SELECT 1 AS c1, r5.ti2 AS c2 FROM @d AS r5) AS r6 LEFT JOIN @e AS r11 ON r6.c1 = r11.id) ORDER BY 4, 1, 2 NULLS FIRST, 3 LIMIT 1
