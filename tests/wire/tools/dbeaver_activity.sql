-- DBeaver: what runs.
SELECT sa.* FROM pg_catalog.pg_stat_activity sa
