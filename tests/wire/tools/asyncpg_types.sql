-- asyncpg: one type with what it is made of.
SELECT t.oid, ns.nspname AS ns, t.typname AS name, t.typtype AS kind, (CASE WHEN t.typtype = 'd' THEN t.typbasetype ELSE NULL END) AS basetype, t.typelem AS elemtype, elem_t.typdelim AS elemdelim
FROM pg_catalog.pg_type AS t
INNER JOIN pg_catalog.pg_namespace ns ON (ns.oid = t.typnamespace)
LEFT JOIN pg_type elem_t ON (t.typlen = -1 AND t.typelem != 0 AND t.typelem = elem_t.oid)
WHERE t.oid = any('{1700, 1009}'::oid[])
