-- Tableau over ODBC: foreign keys.
SELECT 'weir'::name AS "PKTABLE_CAT", n2.nspname AS "PKTABLE_SCHEM", c2.relname AS "PKTABLE_NAME", a2.attname AS "PKCOLUMN_NAME", cn.conname AS "FK_NAME"
FROM ((((((( (SELECT cn.oid, conrelid, conkey, confrelid, confkey, generate_series(array_lower(conkey, 1), array_upper(conkey, 1)) AS i, conname
  FROM pg_catalog.pg_constraint cn, pg_catalog.pg_class c WHERE contype = 'f' AND conrelid = c.oid) ref
  INNER JOIN pg_catalog.pg_class c1 ON c1.oid = ref.conrelid)
  INNER JOIN pg_catalog.pg_namespace n1 ON n1.oid = c1.relnamespace)
  INNER JOIN pg_catalog.pg_attribute a1 ON a1.attrelid = c1.oid AND a1.attnum = conkey[i])
  INNER JOIN pg_catalog.pg_class c2 ON c2.oid = ref.confrelid)
  INNER JOIN pg_catalog.pg_namespace n2 ON n2.oid = c2.relnamespace)
  INNER JOIN pg_catalog.pg_attribute a2 ON a2.attrelid = c2.oid AND a2.attnum = confkey[i])
  INNER JOIN pg_catalog.pg_constraint cn ON cn.oid = ref.oid)
ORDER BY 2, 3
