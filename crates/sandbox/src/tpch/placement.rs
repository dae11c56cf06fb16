// SPDX-License-Identifier: Apache-2.0
//! Where each table is: from one source that could answer all by itself to every join between two sources.

use super::table::{TABLES, Table};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Place {
    Postgres,
    MariaDb,
    Lake,
    /// A file with `region` and `nation` alone.
    Sqlite,
}

/// One way to spread the tables.
#[derive(Debug)]
pub struct Placement {
    pub name: &'static str,
    /// What is not in PostgreSQL.
    elsewhere: &'static [(&'static str, Place)],
}

impl Placement {
    /// Where a table is.
    pub fn place(&self, table: &str) -> Place {
        self.elsewhere.iter().find(|(name, _)| *name == table).map_or(Place::Postgres, |(_, place)| *place)
    }
}

pub static PLACEMENTS: [Placement; 4] = [
    Placement { name: "PostgreSQL", elsewhere: &[] },
    Placement { name: "facts in the lake", elsewhere: &[("lineitem", Place::Lake), ("orders", Place::Lake), ("partsupp", Place::Lake)] },
    Placement {
        name: "by department",
        elsewhere: &[
            ("part", Place::MariaDb),
            ("supplier", Place::MariaDb),
            ("partsupp", Place::MariaDb),
            ("lineitem", Place::Lake),
            ("nation", Place::Sqlite),
            ("region", Place::Sqlite),
        ],
    },
    // `lineitem` and `nation` stay in PostgreSQL: no two tables that a question joins by their keys are in one place.
    Placement {
        name: "every join crosses",
        elsewhere: &[
            ("orders", Place::MariaDb),
            ("partsupp", Place::MariaDb),
            ("region", Place::MariaDb),
            ("customer", Place::Lake),
            ("part", Place::Lake),
            ("supplier", Place::Lake),
        ],
    },
];

/// The tables that one of the placements has in `place`; all of them are in PostgreSQL.
pub fn tables_in(place: Place) -> Vec<&'static Table> {
    TABLES.iter().filter(|table| PLACEMENTS.iter().any(|placement| placement.place(table.name) == place)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the questions join, key by key.
    const JOINED: [(&str, &str); 9] = [
        ("lineitem", "orders"),
        ("lineitem", "part"),
        ("lineitem", "supplier"),
        ("lineitem", "partsupp"),
        ("partsupp", "part"),
        ("partsupp", "supplier"),
        ("orders", "customer"),
        ("customer", "nation"),
        ("nation", "region"),
    ];

    #[test]
    fn the_placements_differ_as_they_say() {
        assert!(TABLES.iter().all(|table| PLACEMENTS[0].place(table.name) == Place::Postgres));
        let crossed = &PLACEMENTS[3];
        assert!(JOINED.iter().all(|(one, two)| crossed.place(one) != crossed.place(two)), "a join within one place");
        let names: Vec<&str> = tables_in(Place::MariaDb).iter().map(|table| table.name).collect();
        assert_eq!(names, ["region", "supplier", "part", "partsupp", "orders"]);
    }
}
