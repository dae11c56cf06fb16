-- The SQLite source `shop` of all cases. Deterministic, small, with NULLs, mixed case and names that need quotes.
CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT, city TEXT, joined DATE, credit DECIMAL(10, 2));
INSERT INTO customers VALUES
    (1, 'Ana', 'Berlin', '2026-01-05', 100.10), (2, 'bo', 'Paris', '2026-02-10', 200.20), (3, 'Çelik', 'Berlin', '2026-03-15', NULL),
    (4, 'dee ', NULL, '2026-04-20', 0.05), (5, NULL, 'Oslo', NULL, -3.33);
CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER, placed_at TIMESTAMP, amount DECIMAL(12, 2), status TEXT);
INSERT INTO orders VALUES
    (10, 1, '2026-11-01 10:00:00', 10.50, 'paid'), (11, 1, '2026-11-02 11:30:00', 20.25, 'failed'), (12, 2, '2026-11-02 23:59:59.999999', 99.99, 'paid'),
    (13, 3, '2026-11-03 00:00:00', 0.01, 'paid'), (14, NULL, '2026-11-04 12:00:00', 5.00, 'open'), (15, 9, NULL, NULL, NULL);
CREATE TABLE "Mixed Case" ("Id" INTEGER, "full name" TEXT, "Select" TEXT);
INSERT INTO "Mixed Case" VALUES (1, 'one', 'x'), (2, 'two', NULL);
CREATE TABLE numbers (n INTEGER);
WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 100) INSERT INTO numbers SELECT n FROM c;
CREATE TABLE extremes (small INTEGER, big BIGINT, real_number REAL, raw BLOB, flag BOOLEAN);
INSERT INTO extremes VALUES (-2147483648, -9223372036854775808, -1.5e300, x'00ff', 0), (2147483647, 9223372036854775807, 1.5e300, x'', 1), (NULL, NULL, NULL, NULL, NULL);
CREATE VIEW paid AS SELECT id, amount FROM orders WHERE status = 'paid';
