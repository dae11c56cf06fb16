-- Superset: the databases to choose from.
SELECT datname FROM pg_database WHERE datistemplate = false
