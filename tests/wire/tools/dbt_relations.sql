-- dbt: the relations of a schema.
SELECT 'weir' AS database, tablename AS name, schemaname AS schema, 'table' AS type FROM pg_tables WHERE schemaname ILIKE 'lake.web'
UNION ALL SELECT 'weir' AS database, viewname AS name, schemaname AS schema, 'view' AS type FROM pg_views WHERE schemaname ILIKE 'lake.web'
UNION ALL SELECT 'weir' AS database, matviewname AS name, schemaname AS schema, 'materialized_view' AS type FROM pg_matviews WHERE schemaname ILIKE 'lake.web'
