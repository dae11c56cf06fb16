-- The rows of the oracle, the same in each system: written so that PostgreSQL and MariaDB both take them (`datetime(6)` and collations are put in by the test).
CREATE TABLE people (id int PRIMARY KEY, name varchar(40), city varchar(20), email varchar(60), born date, joined timestamp, credit decimal(10,2), score double precision, boss int, points bigint);
INSERT INTO people VALUES
    (1, 'Ana', 'Berlin', 'ana@x.example', '1990-02-28', '2026-01-05 08:00:00', 100.10, 1.5, NULL, 9007199254740993),
    (2, 'bo', 'Paris', 'BO@x.example', '1984-02-29', '2026-01-31 23:59:59.999999', 200.20, -0.25, 1, 9223372036854775807),
    (3, 'Çelik', 'berlin', 'celik@y.example', '2000-12-31', '2026-02-28 00:00:00', NULL, 1e300, 1, -9223372036854775808),
    (4, 'dee ', NULL, 'dee@y.example', '1969-12-31', '2025-12-31 12:30:15.5', 0.05, 0, 2, 0),
    (5, 'dee', 'Oslo', NULL, NULL, NULL, -3.33, NULL, 2, NULL),
    (6, NULL, 'Oslo', 'six_6%@y.example', '1970-01-01', '2026-03-29 01:30:00', 0.00, 2.5, NULL, 5),
    (7, 'ÅSA', 'Malmö', 'asa@å.example', '2001-03-01', '2026-11-30 06:07:08.000009', -0.05, 0.1, 3, -1),
    (8, 'ana', 'BERLIN', '', '1990-02-28', '2026-11-30 06:07:08.000008', 100.10, 3.5, 7, 7),
    (9, 'O''Neil', '', 'o\neil@x.example', '0004-05-06', '1999-12-31 23:59:59', 99999999.99, -1.5, NULL, -7),
    (10, '😀 smile', 'Paris ', 'smile@x.example', '9999-12-31', '9999-12-31 23:59:59', 12345.67, 1e-7, 10, 2147483648);
CREATE TABLE orders (id bigint PRIMARY KEY, person_id int, placed_at timestamp, day date, amount decimal(12,2), quantity int, rate decimal(9,6), status varchar(12), note text);
INSERT INTO orders VALUES
    (101, 1, '2026-11-01 10:00:00', '2026-11-01', 10.50, 3, 0.075000, 'paid', 'first'), (102, 1, '2026-11-02 11:30:00', '2026-11-02', 20.25, 1, 0.333333, 'failed', NULL),
    (103, 2, '2026-11-02 23:59:59.999999', '2026-11-02', 99.99, -2, NULL, 'paid', 'a,b,c'), (104, 3, '2026-11-03 00:00:00', '2026-11-03', 0.01, 7, 1.000000, 'PAID', ''),
    (105, NULL, '2026-11-04 12:00:00', '2026-11-04', 5.00, 0, 0.000001, 'open', '50% off_now'), (106, 99, NULL, NULL, NULL, NULL, NULL, NULL, 'back\slash'),
    (107, 2, '2026-10-31 23:00:00', '2026-10-31', -7.25, 5, -0.500000, 'refunded', 'ünï'), (108, 8, '2026-12-01 00:00:00', '2026-12-01', 33.33, 3, 0.015000, 'paid ', 'x'),
    (109, 4, '2024-02-29 13:14:15.161718', '2024-02-29', 33.33, 4, 0.025000, 'open', 'aXbXc'), (110, 4, '2026-11-02 11:30:00', '2026-11-02', 0.00, 2, 999.999999, 'paid', 'tab	here'),
    (111, 1, '2027-01-01 00:00:00', '2027-01-01', 0.05, 10, 0.125000, NULL, '  pad  '), (112, 7, '2020-12-31 23:59:59', '2020-12-31', 1234567890.12, 1, 0.000000, 'Open', 'ÇA');
CREATE TABLE words (id int PRIMARY KEY, w varchar(30), p varchar(30));
INSERT INTO words VALUES
    (1, 'a', 'a'), (2, 'A', 'a%'), (3, 'a ', '_'), (4, '', ''), (5, 'é', 'e'), (6, 'e', '%'), (7, 'Z', 'z'), (8, 'z', 'Z%'), (9, 'ß', 'ss'), (10, 'it''s', '%''%'),
    (11, '50%', '50!%'), (12, 'a_b', 'a!_b'), (13, 'axb', 'a_b'), (14, '😀', '_'), (15, NULL, 'x'), (16, 'x', NULL), (17, 'İstanbul', 'i%'), (18, 'a!b', '%!!%'), (19, 'aa', 'a%a'), (20, ' a', '%a');
CREATE TABLE numbers (n int PRIMARY KEY, s smallint, b bigint, d decimal(20,6), f double precision, z int);
INSERT INTO numbers VALUES
    (-7, -7, -7, -7.500000, -7.5, 2), (-3, -3, -9007199254740993, -0.500000, -0.5, -2), (-1, -1, -1, -0.000001, -0.1, NULL), (0, 0, 0, 0.000000, 0, 3), (1, 1, 1, 0.500000, 0.5, 0), (2, 2, 9007199254740993, 1.500000, 1.5, 3),
    (3, 3, 9007199254740995, 2.500000, 2.5, 3), (4, NULL, NULL, NULL, NULL, 5), (5, 5, 50, 3.499999, 3.5, -3), (100, 32767, 4000000000, 99999999999999.999999, 1e15, 7);
CREATE TABLE doubles (id int PRIMARY KEY, f double precision, g double precision);
INSERT INTO doubles VALUES (1, '-0', 0), (2, 0, '-0'), (3, NULL, '-0'), (4, 1.5, -1.5), (5, -1.5, 1.5), (6, 1e-300, '-0'), (7, -1e-300, 0), (8, '-0', NULL);
