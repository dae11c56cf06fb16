// SPDX-License-Identifier: Apache-2.0
//! The table that sources are read from: orders of a shop, nine columns of about a hundred bytes in all.

/// All columns, and the two that a narrow question wants.
pub const ALL: [&str; 9] = ["orderkey", "custkey", "orderstatus", "totalprice", "orderdate", "orderpriority", "clerk", "shippriority", "comment"];
pub const TWO: [&str; 2] = ["orderkey", "totalprice"];

/// Makes and fills the table in PostgreSQL.
pub fn in_postgres(rows: u64) -> String {
    format!(
        "CREATE TABLE orders (orderkey bigint NOT NULL, custkey integer NOT NULL, orderstatus char(1) NOT NULL, totalprice numeric(15,2) NOT NULL,
           orderdate date NOT NULL, orderpriority varchar(15) NOT NULL, clerk varchar(15) NOT NULL, shippriority integer NOT NULL, comment varchar(79) NOT NULL);
         INSERT INTO orders SELECT i, (i * 7919) % 150000 + 1, substr('OFP', (i % 3)::int + 1, 1), ((i * 104729) % 55000000)::numeric / 100 + 857,
           date '1992-01-01' + (i * 31 % 2406)::int, (i % 5 + 1) || '-PRIORITY', 'Clerk#' || lpad((i % 1000 + 1)::text, 9, '0'), 0,
           substr(md5(i::text) || md5((i * 3)::text), 1, (20 + i % 44)::int) FROM generate_series(1::bigint, {rows}) i;
         ALTER TABLE orders ADD PRIMARY KEY (orderkey);
         VACUUM ANALYZE orders;"
    )
}

/// The same in MariaDB.
pub fn in_mariadb(rows: u64) -> String {
    format!(
        "CREATE TABLE orders (orderkey bigint NOT NULL PRIMARY KEY, custkey int NOT NULL, orderstatus char(1) NOT NULL, totalprice decimal(15,2) NOT NULL,
           orderdate date NOT NULL, orderpriority varchar(15) NOT NULL, clerk varchar(15) NOT NULL, shippriority int NOT NULL, comment varchar(79) NOT NULL);
         INSERT INTO orders SELECT seq, seq * 7919 % 150000 + 1, substr('OFP', seq % 3 + 1, 1), (seq * 104729 % 55000000) / 100 + 857,
           date_add('1992-01-01', INTERVAL seq * 31 % 2406 DAY), concat(seq % 5 + 1, '-PRIORITY'), concat('Clerk#', lpad(seq % 1000 + 1, 9, '0')), 0,
           substr(concat(md5(seq), md5(seq * 3)), 1, 20 + seq % 44) FROM seq_1_to_{rows};
         ANALYZE TABLE orders;"
    )
}
