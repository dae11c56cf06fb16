-- Grafana: the tables that the query editor offers.
SELECT CASE WHEN quote_ident(table_schema) IN (SELECT CASE WHEN trim(s) = '"$user"' THEN user ELSE trim(s) END FROM unnest(string_to_array(current_setting('search_path'), ',')) AS t(s))
  THEN quote_ident(table_name) ELSE quote_ident(table_schema) || '.' || quote_ident(table_name) END AS "table"
FROM information_schema.tables WHERE quote_ident(table_schema) NOT IN ('information_schema', 'pg_catalog', '_timescaledb_cache') ORDER BY 1
