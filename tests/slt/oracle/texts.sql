-- Texts: bytes decide equality and order; patterns, escapes, unicode.
SELECT w FROM @words ORDER BY w
SELECT w FROM @words ORDER BY w DESC
SELECT id FROM @words ORDER BY w NULLS FIRST, id
SELECT id FROM @words ORDER BY w DESC NULLS LAST, id
SELECT min(w), max(w), count(DISTINCT w) FROM @words
SELECT w, count(*) FROM @words GROUP BY w ORDER BY w
SELECT DISTINCT lower(w) FROM @words WHERE id <> 17 ORDER BY 1
SELECT a.id, b.id FROM @words a JOIN @words b ON a.w = b.p ORDER BY 1, 2
SELECT id FROM @words WHERE w LIKE 'a' ORDER BY id
SELECT id FROM @words WHERE w LIKE 'a%' ORDER BY id
SELECT id FROM @words WHERE w LIKE '%a' ORDER BY id
SELECT id FROM @words WHERE w LIKE '_' ORDER BY id
SELECT id FROM @words WHERE w LIKE '__' ORDER BY id
SELECT id FROM @words WHERE w LIKE '' ORDER BY id
SELECT id FROM @words WHERE w LIKE '%' ORDER BY id
SELECT id FROM @words WHERE w NOT LIKE '%a%' ORDER BY id
SELECT id FROM @words WHERE w ILIKE 'A%' ORDER BY id
SELECT id FROM @words WHERE w ILIKE 'É' ORDER BY id
SELECT id FROM @words WHERE w NOT ILIKE 'z' ORDER BY id
SELECT id FROM @words WHERE w LIKE '50\%' ORDER BY id
SELECT id FROM @words WHERE w LIKE 'a\_b' ORDER BY id
SELECT id FROM @words WHERE w LIKE 'a_b' ORDER BY id
SELECT id FROM @words WHERE w LIKE 'a!_b' ESCAPE '!' ORDER BY id
SELECT id FROM @words WHERE w LIKE '%!!%' ESCAPE '!' ORDER BY id
SELECT id FROM @words WHERE w LIKE '50!%' ESCAPE '!' ORDER BY id
SELECT id FROM @words WHERE w LIKE p ORDER BY id
SELECT id FROM @words WHERE w LIKE p ESCAPE '!' ORDER BY id
SELECT id FROM @words WHERE w ILIKE p AND id <> 17 ORDER BY id
SELECT id FROM @words WHERE w LIKE NULL ORDER BY id
SELECT id FROM @orders WHERE note LIKE '%\\%' ORDER BY id
SELECT id FROM @orders WHERE note LIKE 'back\\slash' ORDER BY id
SELECT id FROM @orders WHERE note = 'back\slash' ORDER BY id
SELECT id FROM @orders WHERE note LIKE '%\%%' ORDER BY id
SELECT id FROM @orders WHERE note LIKE '%''%' OR note LIKE '%ü%' ORDER BY id
SELECT id FROM @words WHERE w ~ '^[a-z]$' ORDER BY id
SELECT id FROM @words WHERE w ~* '^z' ORDER BY id
SELECT id FROM @words WHERE w !~ 'a' ORDER BY id
SELECT id FROM @words WHERE w SIMILAR TO '(a|e)%' ORDER BY id
SELECT id, upper(w), lower(w), initcap(w) FROM @words WHERE id NOT IN (9, 17) ORDER BY id
SELECT id, length(w), char_length(w), octet_length(w), bit_length(w) FROM @words ORDER BY id
SELECT id, w || '|' || p, concat(w, '|', p), concat_ws('|', w, p) FROM @words ORDER BY id
SELECT id, substring(name, 2, 2), substr(name, 2), left(name, 2), right(name, 2) FROM @people ORDER BY id
SELECT id, left(name, -1), right(name, -1), substring(name FROM 0 FOR 2), substr(name, -1, 3) FROM @people ORDER BY id
SELECT id, substring(name FROM 1 FOR 0), substr(name, 50) FROM @people ORDER BY id
SELECT id, trim(note), ltrim(note), rtrim(note), btrim(note, 'x ') FROM @orders ORDER BY id
SELECT id, trim(LEADING 'a' FROM w), trim(TRAILING 'a' FROM w), trim(BOTH 'a' FROM w) FROM @words ORDER BY id
SELECT id, lpad(w, 3, '*'), rpad(w, 3, 'xy'), lpad(w, 1), lpad(w, 0, 'x'), lpad(w, -1, 'x') FROM @words ORDER BY id
SELECT id, reverse(w), repeat(w, 2), repeat(w, 0), repeat(w, -1) FROM @words ORDER BY id
SELECT id, replace(w, 'a', 'bb'), replace(w, '', 'x'), translate(w, 'aeé', 'AE') FROM @words ORDER BY id
SELECT id, position('a' IN w), strpos(w, 'a'), strpos(w, ''), starts_with(w, 'a') FROM @words ORDER BY id
SELECT id, split_part(note, ',', 1), split_part(note, ',', 2), split_part(note, ',', -1), split_part(note, ',', 9) FROM @orders ORDER BY id
SELECT id, ascii(w), chr(64 + id) FROM @words WHERE w <> '' ORDER BY id
SELECT id, md5(w), encode(w::bytea, 'hex'), encode(w::bytea, 'base64') FROM @words WHERE id < 10 ORDER BY id
SELECT id, nullif(w, ''), coalesce(w, p, '-'), greatest(w, p), least(w, p) FROM @words ORDER BY id
SELECT id, regexp_replace(note, '[a-c]', '-'), regexp_replace(note, '[a-c]', '-', 'g') FROM @orders ORDER BY id
SELECT id, regexp_replace(note, '(\w+)', '<\1>'), regexp_like(note, '^a'), regexp_count(note, 'a') FROM @orders ORDER BY id
SELECT id, overlay(w PLACING 'XX' FROM 2 FOR 1) FROM @words ORDER BY id
SELECT id, w = rtrim(w), w < upper(w), w > p FROM @words ORDER BY id
SELECT id, CASE w WHEN 'a' THEN 'exact' WHEN 'A' THEN 'upper' ELSE 'other' END FROM @words ORDER BY id
SELECT string_agg(w, ',' ORDER BY id), string_agg(p, '' ORDER BY id) FROM @words
SELECT string_agg(w, '' ORDER BY w DESC) FROM @words
SELECT string_agg(DISTINCT lower(w), ',' ORDER BY lower(w)) FROM @words WHERE id <> 17
SELECT 'a' < 'B', 'a' = 'a ', '' = ' ', 'é' > 'z', '😀' > 'ß', 'a' || 1, 'x' || 1.50 || true
SELECT to_hex(255), quote_literal('it''s'), format('%s', 1)
SELECT length('é'), length('e' || chr(769)), upper('à'), lower('ÀÉ'), reverse('añ😀')
SELECT id FROM @people WHERE lower(name) = 'ana' ORDER BY id
SELECT id FROM @people WHERE upper(city) = 'BERLIN' AND name LIKE '%a' ORDER BY id
SELECT id FROM @people WHERE email LIKE '%\_6\%@%' ORDER BY id
SELECT id FROM @people WHERE length(city) = 5 ORDER BY id
SELECT id, name || NULL, name || '' FROM @people WHERE id > 4 ORDER BY id
SELECT count(*) FROM @words WHERE w LIKE 'a\\' OR w LIKE '%!!' ESCAPE '!'
-- no oracle: PostgreSQL says so only once a row gets that far
SELECT count(*) FROM @words WHERE w LIKE '%\'
