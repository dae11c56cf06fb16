-- Filters that a source may do for us: comparisons, NULLs, lists, ranges, patterns. `@t` is the table t in whichever place is asked.
SELECT id FROM @people WHERE name = 'dee' ORDER BY id
SELECT id FROM @people WHERE name = 'dee ' ORDER BY id
SELECT id FROM @people WHERE name = 'ANA' ORDER BY id
SELECT id FROM @people WHERE name <> 'ana' ORDER BY id
SELECT id FROM @people WHERE NOT (name = 'ana') ORDER BY id
SELECT id FROM @people WHERE city = '' ORDER BY id
SELECT id FROM @people WHERE city IS NULL OR city = 'Paris' ORDER BY id
SELECT id FROM @people WHERE city IN ('berlin', 'Paris ', 'Malmo') ORDER BY id
SELECT id FROM @people WHERE city NOT IN ('berlin', 'Paris') ORDER BY id
SELECT id FROM @people WHERE city NOT IN ('berlin', NULL) ORDER BY id
SELECT id FROM @people WHERE city IN ('Oslo', NULL) ORDER BY id
SELECT id FROM @people WHERE (city IN ('Oslo', NULL)) IS NULL ORDER BY id
SELECT id FROM @people WHERE name > 'Z' ORDER BY id
SELECT id FROM @people WHERE name BETWEEN 'A' AND 'a' ORDER BY id
SELECT id FROM @people WHERE name NOT BETWEEN 'A' AND 'b' ORDER BY id
SELECT id FROM @people WHERE name < 'b' AND city >= 'B' ORDER BY id
SELECT id FROM @people WHERE city IS DISTINCT FROM 'Oslo' ORDER BY id
SELECT id FROM @people WHERE city IS NOT DISTINCT FROM NULL ORDER BY id
SELECT id FROM @people WHERE credit = 0 ORDER BY id
SELECT id FROM @people WHERE credit >= 100.1 ORDER BY id
SELECT id FROM @people WHERE credit > 100.095 ORDER BY id
SELECT id FROM @people WHERE credit = 100.100 ORDER BY id
SELECT id FROM @people WHERE credit = 100.104 ORDER BY id
SELECT id FROM @people WHERE credit < -0.04 AND credit > -3.34 ORDER BY id
SELECT id FROM @people WHERE points = 9007199254740993 ORDER BY id
SELECT id FROM @people WHERE points > 9007199254740992 ORDER BY id
SELECT id FROM @people WHERE points = 9223372036854775807 OR points = -9223372036854775808 ORDER BY id
SELECT id FROM @people WHERE points > 4.5 ORDER BY id
SELECT id FROM @people WHERE points = 5.0 ORDER BY id
SELECT id FROM @people WHERE id = 2.5 ORDER BY id
SELECT id FROM @people WHERE id > 4000000000 ORDER BY id
SELECT id FROM @people WHERE id < 99999999999999999999 AND id > 8 ORDER BY id
SELECT id FROM @people WHERE score = 0.1 ORDER BY id
SELECT id FROM @people WHERE score > -0.25 ORDER BY id
SELECT id FROM @people WHERE score >= 1e300 ORDER BY id
SELECT id FROM @people WHERE score BETWEEN 0 AND 1.5 ORDER BY id
SELECT id FROM @people WHERE born = DATE '1990-02-28' ORDER BY id
SELECT id FROM @people WHERE born = '1984-02-29' ORDER BY id
SELECT id FROM @people WHERE born < DATE '1970-01-01' ORDER BY id
SELECT id FROM @people WHERE born > DATE '2000-12-30' AND born <= DATE '9999-12-31' ORDER BY id
SELECT id FROM @people WHERE born >= TIMESTAMP '1990-02-28 00:00:01' ORDER BY id
SELECT id FROM @people WHERE joined = TIMESTAMP '2026-11-30 06:07:08.000009' ORDER BY id
SELECT id FROM @people WHERE joined < TIMESTAMP '2026-11-30 06:07:08.000009' AND joined > '2026-01-31 23:59:59' ORDER BY id
SELECT id FROM @people WHERE joined >= DATE '2026-02-28' ORDER BY id
SELECT id FROM @people WHERE joined >= TIMESTAMP '2026-03-01 00:00:00' - INTERVAL '1' DAY ORDER BY id
SELECT id FROM @people WHERE joined::date = DATE '2026-11-30' ORDER BY id
SELECT id FROM @people WHERE joined IS NULL ORDER BY id
SELECT id FROM @people WHERE NOT (boss > 1) ORDER BY id
SELECT id FROM @people WHERE NOT (boss > 1 AND city = 'Oslo') ORDER BY id
SELECT id FROM @people WHERE boss > 1 OR credit > 100 ORDER BY id
SELECT id FROM @people WHERE (boss > 1 OR credit > 100) IS NOT TRUE ORDER BY id
SELECT id FROM @people WHERE (boss = 1) IS UNKNOWN ORDER BY id
SELECT id FROM @people WHERE (boss = 1) IS NOT FALSE ORDER BY id
SELECT id FROM @people WHERE boss = boss ORDER BY id
SELECT id FROM @people WHERE boss = id - 1 ORDER BY id
SELECT id FROM @people WHERE boss + 1 > 2 ORDER BY id
SELECT id FROM @people WHERE false ORDER BY id
SELECT id FROM @people WHERE NULL ORDER BY id
SELECT id FROM @people WHERE 1 = 1 AND id < 3 ORDER BY id
SELECT id FROM @people WHERE id IN (3, 3, 1, 1000) ORDER BY id
SELECT id FROM @people WHERE (id, boss) IN ((2, 1), (3, 2)) ORDER BY id
SELECT id FROM @people WHERE (id, boss) = (2, 1) ORDER BY id
SELECT id FROM @people WHERE id = ANY (ARRAY[1, 2]) ORDER BY id
SELECT id FROM @people ORDER BY id LIMIT 0
SELECT id FROM @people WHERE id > 2 ORDER BY id DESC LIMIT 3 OFFSET 2
SELECT count(*) FROM (SELECT id FROM @people WHERE city = 'Oslo' LIMIT 1) AS t
SELECT count(*) FROM (SELECT id FROM @people WHERE name = 'dee' LIMIT 5) AS t
SELECT id FROM @numbers, @people WHERE n = id AND f < d + 0.1 ORDER BY id
SELECT g FROM (VALUES (1), (2), (3)) v(g) WHERE g NOT IN (1, NULL) AND g IN (2, 3)
SELECT g, NOT (g IN (1, 2) AND g IN (5, 6)) FROM (VALUES (NULL), (3), (1)) v(g)
SELECT g, g IN (1, 2) AND g NOT IN (1), g IN (1) AND g NOT IN (1), (g IN (1) AND g NOT IN (1)) IS NULL, g NOT IN (1, 2) OR g NOT IN (5, 6) FROM (VALUES (NULL), (1), (2), (5)) v(g)
SELECT g FROM (VALUES (NULL), (1), (2), (5)) v(g) WHERE g NOT IN (1, 2) OR g NOT IN (5, 6)
SELECT g, g IN (1, NULL), g NOT IN (1, NULL), g IN (1, 2, 3, 4, NULL) AND g IN (2, 3, 4, 5), NOT (g IN (1, NULL) OR g IN (2, NULL)) FROM (VALUES (NULL), (1), (2), (5)) v(g)
SELECT g, h, g IN (h, 1) AND g IN (2, h), g NOT IN (h) OR g NOT IN (1, 2), NOT (g NOT IN (1, 2, 3, 4) OR h > 0) AND g IN (5, 6, 7, 8) FROM (VALUES (1, 1), (2, 1), (5, NULL), (NULL, 2)) v(g, h)
SELECT g, CASE WHEN g IN (1, 2) AND g IN (3, 4, NULL) THEN 'both' WHEN NOT (g IN (1, 2) AND g IN (3, 4, NULL)) THEN 'not both' END FROM (VALUES (NULL), (1), (3), (9)) v(g)
SELECT g FROM (VALUES (0.0), (1.0)) v(g) WHERE g::float8 IN (-0.0::float8, 2) AND g::float8 IN (0.0::float8, 5)
SELECT id FROM @people WHERE id IN (1, 2, 3, 4, 5, NULL) ORDER BY id
SELECT id FROM @people WHERE id IN (1, 2, 3, 4, NULL) AND id NOT IN (2, 5, 6, 7, 8) ORDER BY id
SELECT id FROM @people WHERE NOT (boss IN (1, 2, 3, 4) AND boss IN (5, 6, 7, 8)) ORDER BY id
SELECT id FROM @people WHERE NOT (boss IN (1, 2, 3, 4, NULL)) ORDER BY id
SELECT id FROM @people WHERE city IN ('a', 'b', 'c', 'd') AND city IN ('e', 'f', 'g', 'h') OR (city NOT IN ('a', 'b', 'c', 'd') OR city NOT IN ('e', 'f', 'g', 'h')) ORDER BY id
SELECT n FROM (VALUES (0), (1), (4), (20), (NULL)) v(n) WHERE n = 0 OR 10 / n > 1 ORDER BY n
SELECT a, b FROM (VALUES (6, 0), (6, 2), (1, 3), (NULL, 0)) v(a, b) WHERE NOT (b <> 0 AND a / b > 2) ORDER BY a, b
SELECT id FROM @people WHERE points = 0 OR points IS NULL OR 100 / points > 1 ORDER BY id
SELECT id FROM @people WHERE id > 2 AND (points IS NULL OR points = 0 OR (id < 9 AND 1000 / points > 3)) ORDER BY id
SELECT * FROM (SELECT 1 AS x, max(id) FROM @people HAVING max(id) IS NOT NULL) r WHERE x >= 7
SELECT * FROM (SELECT 1 AS x FROM (VALUES (1)) v(y) WHERE y > 1 HAVING max(y) IS NULL) r WHERE x >= 7
SELECT * FROM (SELECT 1 AS x, count(*) AS n FROM @people WHERE id > 999 HAVING count(*) = 0) r WHERE x < 7 AND n >= 0
