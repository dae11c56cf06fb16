// SPDX-License-Identifier: Apache-2.0
//! The eight tables: columns, keys and the indexes that a shop would have.

use std::fmt::Write;

/// How a text of a fixed length is declared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Texts {
    Varying,
    /// As `char(n)`, padded with blanks.
    Fixed,
}

/// A table. Its SQL is understood by PostgreSQL and by MariaDB.
#[derive(Debug)]
pub struct Table {
    pub name: &'static str,
    /// Names and types; `text(n)` is a text of a fixed length.
    columns: &'static [(&'static str, &'static str)],
    key: &'static str,
    indexed: &'static [&'static str],
}

impl Table {
    /// The table called `name`, which is one of the eight.
    pub fn named(name: &str) -> Option<&'static Table> {
        TABLES.iter().find(|table| table.name == name)
    }

    /// Makes the table empty, also where one of its name was.
    pub(super) fn create(&self, texts: Texts) -> String {
        let fixed = match texts {
            Texts::Varying => "varchar(",
            Texts::Fixed => "char(",
        };
        let mut columns = String::new();
        for (name, kind) in self.columns {
            // Writing to a text cannot fail.
            let _ = write!(columns, "{name} {} NOT NULL, ", kind.replace("text(", fixed));
        }
        format!("DROP TABLE IF EXISTS {name}; CREATE TABLE {name} ({columns}PRIMARY KEY ({key}));", name = self.name, key = self.key)
    }

    pub(super) fn create_indexes(&self) -> String {
        let index = |(number, columns): (usize, &&str)| format!("CREATE INDEX {name}_{number} ON {name} ({columns});", name = self.name);
        self.indexed.iter().enumerate().map(index).collect()
    }
}

const MONEY: &str = "decimal(15,2)";

/// In an order in which each one's foreign keys point to those before it.
pub static TABLES: [Table; 8] = [
    Table { name: "region", columns: &[("r_regionkey", "integer"), ("r_name", "text(25)"), ("r_comment", "varchar(152)")], key: "r_regionkey", indexed: &[] },
    Table {
        name: "nation",
        columns: &[("n_nationkey", "integer"), ("n_name", "text(25)"), ("n_regionkey", "integer"), ("n_comment", "varchar(152)")],
        key: "n_nationkey",
        indexed: &[],
    },
    Table {
        name: "supplier",
        columns: &[
            ("s_suppkey", "integer"),
            ("s_name", "text(25)"),
            ("s_address", "varchar(40)"),
            ("s_nationkey", "integer"),
            ("s_phone", "text(15)"),
            ("s_acctbal", MONEY),
            ("s_comment", "varchar(101)"),
        ],
        key: "s_suppkey",
        indexed: &["s_nationkey"],
    },
    Table {
        name: "part",
        columns: &[
            ("p_partkey", "integer"),
            ("p_name", "varchar(55)"),
            ("p_mfgr", "text(25)"),
            ("p_brand", "text(10)"),
            ("p_type", "varchar(25)"),
            ("p_size", "integer"),
            ("p_container", "text(10)"),
            ("p_retailprice", MONEY),
            ("p_comment", "varchar(23)"),
        ],
        key: "p_partkey",
        indexed: &[],
    },
    Table {
        name: "partsupp",
        columns: &[("ps_partkey", "integer"), ("ps_suppkey", "integer"), ("ps_availqty", "integer"), ("ps_supplycost", MONEY), ("ps_comment", "varchar(199)")],
        key: "ps_partkey, ps_suppkey",
        indexed: &["ps_suppkey"],
    },
    Table {
        name: "customer",
        columns: &[
            ("c_custkey", "integer"),
            ("c_name", "varchar(25)"),
            ("c_address", "varchar(40)"),
            ("c_nationkey", "integer"),
            ("c_phone", "text(15)"),
            ("c_acctbal", MONEY),
            ("c_mktsegment", "text(10)"),
            ("c_comment", "varchar(117)"),
        ],
        key: "c_custkey",
        indexed: &["c_nationkey"],
    },
    Table {
        name: "orders",
        columns: &[
            ("o_orderkey", "bigint"),
            ("o_custkey", "integer"),
            ("o_orderstatus", "text(1)"),
            ("o_totalprice", MONEY),
            ("o_orderdate", "date"),
            ("o_orderpriority", "text(15)"),
            ("o_clerk", "text(15)"),
            ("o_shippriority", "integer"),
            ("o_comment", "varchar(79)"),
        ],
        key: "o_orderkey",
        indexed: &["o_custkey", "o_orderdate"],
    },
    Table {
        name: "lineitem",
        columns: &[
            ("l_orderkey", "bigint"),
            ("l_partkey", "integer"),
            ("l_suppkey", "integer"),
            ("l_linenumber", "integer"),
            ("l_quantity", MONEY),
            ("l_extendedprice", MONEY),
            ("l_discount", MONEY),
            ("l_tax", MONEY),
            ("l_returnflag", "text(1)"),
            ("l_linestatus", "text(1)"),
            ("l_shipdate", "date"),
            ("l_commitdate", "date"),
            ("l_receiptdate", "date"),
            ("l_shipinstruct", "text(25)"),
            ("l_shipmode", "text(10)"),
            ("l_comment", "varchar(44)"),
        ],
        key: "l_orderkey, l_linenumber",
        indexed: &["l_partkey, l_suppkey", "l_shipdate"],
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_declared_as_it_is_asked_for() {
        let region = Table::named("region").unwrap();
        let wanted =
            "CREATE TABLE region (r_regionkey integer NOT NULL, r_name char(25) NOT NULL, r_comment varchar(152) NOT NULL, PRIMARY KEY (r_regionkey));";
        assert_eq!(region.create(Texts::Fixed), format!("DROP TABLE IF EXISTS region; {wanted}"));
        assert!(region.create(Texts::Varying).contains("r_name varchar(25)"));
        let orders = Table::named("orders").unwrap();
        assert_eq!(orders.create_indexes(), "CREATE INDEX orders_0 ON orders (o_custkey);CREATE INDEX orders_1 ON orders (o_orderdate);");
        assert!(Table::named("order").is_none());
    }
}
