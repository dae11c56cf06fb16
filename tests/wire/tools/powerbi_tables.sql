-- Power BI (Npgsql): tables and views.
SELECT table_schema AS "TABLE_SCHEMA", table_name AS "TABLE_NAME", table_type AS "TABLE_TYPE" FROM information_schema.tables
WHERE table_schema NOT IN ('information_schema', 'pg_catalog') ORDER BY table_schema, table_name
