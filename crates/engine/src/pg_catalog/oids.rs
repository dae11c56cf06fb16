// SPDX-License-Identifier: Apache-2.0
//! Object identifiers: each object gets one when it is first seen and keeps it as long as the engine lives, whoever looks at it.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use weir_base::TableName;

/// Where Postgres begins to number what users made; below are the fixed ones.
const FIRST: i32 = 16_384;
/// Who owns everything that is shown.
pub(super) const OWNER: i32 = 10;
pub(super) const OWNER_NAME: &str = "weir";
/// The schema `pg_catalog`, as the types and functions that are the same everywhere refer to it.
pub(super) const PG_CATALOG_SCHEMA: i32 = 11;

/// Something that has an identifier.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Object {
    Database(String),
    /// Source and schema.
    Schema(String, String),
    Table(TableName),
    Role(String),
}

/// All identifiers given so far.
#[derive(Debug, Default)]
pub(super) struct Oids {
    given: Mutex<HashMap<Object, i32>>,
}

impl Oids {
    pub fn of(&self, object: Object) -> i32 {
        if let Some(oid) = well_known(&object) {
            return oid;
        }
        let mut given = self.given.lock().unwrap_or_else(PoisonError::into_inner);
        let next = FIRST + i32::try_from(given.len()).unwrap_or(i32::MAX - FIRST);
        *given.entry(object).or_insert(next)
    }
}

/// The catalog's own tables have the oids that they have in every Postgres: clients and `pg_description.classoid` know them by heart.
const WELL_KNOWN: [(&str, i32); 15] = [
    ("pg_am", 2601),
    ("pg_attrdef", 2604),
    ("pg_attribute", 1249),
    ("pg_authid", 1260),
    ("pg_class", 1259),
    ("pg_collation", 3456),
    ("pg_constraint", 2606),
    ("pg_database", 1262),
    ("pg_description", 2609),
    ("pg_extension", 3079),
    ("pg_index", 2610),
    ("pg_language", 2612),
    ("pg_namespace", 2615),
    ("pg_proc", 1255),
    ("pg_type", 1247),
];

fn well_known(object: &Object) -> Option<i32> {
    let Object::Table(name) = object else { return None };
    let built_in = name.source.as_str() == crate::bind::names::SYSTEM && name.schema == crate::bind::names::PG_CATALOG;
    WELL_KNOWN.iter().find(|(known, _)| built_in && *known == name.table).map(|(_, oid)| *oid)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_keeps_its_oid_and_shares_it_with_none() {
        let oids = Oids::default();
        let table = |name| Object::Table(TableName::new("app_pg", "public", name));
        let first = oids.of(table("a"));
        assert_ne!(first, oids.of(table("b")));
        assert_ne!(oids.of(Object::Database("app_pg".into())), oids.of(Object::Role("app_pg".into())));
        assert_eq!(oids.of(table("a")), first);
    }
}
