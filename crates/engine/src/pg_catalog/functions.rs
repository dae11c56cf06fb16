// SPDX-License-Identifier: Apache-2.0
//! Functions that Postgres clients call: about the session, about rights, about objects of the catalog.

use super::Reader;
use super::column_type::standard_oid;
use super::oids::{OWNER, OWNER_NAME};
use super::snapshot::VisibleTable;
use super::told::{Told, register};
use crate::bind::names::PG_CATALOG;
use crate::errors::from_datafusion;
use arrow::datatypes::DataType;
use datafusion::catalog::{CatalogProvider, CatalogProviderList, MemoryCatalogProvider, MemoryCatalogProviderList};
use datafusion::execution::{FunctionRegistry, SessionState};
use datafusion::logical_expr::ScalarUDF;
use datafusion::prelude::SessionContext;
use datafusion_pg_catalog::pg_catalog::context::EmptyContextProvider;
use datafusion_pg_catalog::pg_catalog::setup_pg_catalog;
use std::sync::Arc;
use weir_base::{Error, ErrorCode, Result};
use weir_policy::Action;

/// The functions that are the same for everybody, into the template.
pub(crate) fn register_functions(template: &mut SessionState) -> Result<()> {
    let catalogs = Arc::new(MemoryCatalogProviderList::new());
    let catalog: Arc<dyn CatalogProvider> = Arc::new(MemoryCatalogProvider::new());
    catalogs.register_catalog("weir".into(), catalog);
    template.register_catalog_list(catalogs);
    let context = SessionContext::new_with_state(template.clone());
    setup_pg_catalog(&context, "weir", EmptyContextProvider).map_err(|error| from_datafusion(*error))?;
    *template = context.state();
    for told in fixed() {
        template.register_udf(Arc::new(ScalarUDF::new_from_impl(told))).map_err(from_datafusion)?;
    }
    Ok(())
}

/// The functions that look into the catalog.
pub(super) fn register_catalog_functions(state: &mut SessionState, reader: &Arc<Reader>) -> Result<()> {
    register(state, names(reader).into_iter().chain(rights(reader)).chain(objects(reader)))
}

/// Whether a function has to be told about the catalog before it can answer.
pub(super) fn looks_into_catalog(name: &str) -> bool {
    const NAMES: [&str; 19] = [
        "regproc_oid",
        "current_schema",
        "regrole_oid",
        "current_schemas",
        "regclass_oid",
        "regclass_name",
        "regtype_oid",
        "regnamespace_oid",
        "regnamespace_name",
        "to_regclass",
        "to_regtype",
        "to_regnamespace",
        "pg_get_userbyid",
        "obj_description",
        "pg_table_is_visible",
        "pg_relation_size",
        "pg_total_relation_size",
        "pg_table_size",
        "pg_has_role",
    ];
    NAMES.contains(&name) || (name.starts_with("has_") && name.ends_with("_privilege"))
}

/// What has one answer, or none, in all of Weir: there are no keys, defaults, triggers and functions of its own to describe.
fn fixed() -> Vec<Told> {
    const NOTHING: [&str; 19] = [
        "pg_get_function_sqlbody",
        "col_description",
        "shobj_description",
        "pg_get_viewdef",
        "pg_get_indexdef",
        "pg_get_constraintdef",
        "pg_get_expr",
        "pg_get_triggerdef",
        "pg_get_ruledef",
        "pg_get_function_result",
        "pg_get_function_arguments",
        "pg_get_function_identity_arguments",
        "pg_get_serial_sequence",
        "pg_get_partkeydef",
        "pg_tablespace_location",
        "inet_client_addr",
        "inet_server_addr",
        "pg_get_statisticsobjdef_columns",
        "pg_stat_get_numscans",
    ];
    let mut told: Vec<Told> = NOTHING.into_iter().map(|name| Told::text(name, |_| None)).collect();
    for name in VISIBLE {
        told.push(Told::truth(name, |_| Some(true)));
    }
    told.push(Told::text("like_pattern", |arguments| Some(like_pattern(first(arguments)?, arguments.get(1).copied().flatten()?))));
    told.push(Told::text("pg_get_functiondef", |arguments| {
        arguments.first().copied().flatten().map(|_| "-- this function is built into Weir and has no definition in SQL\n".to_owned())
    }));
    told.push(Told::text("getdatabaseencoding", |_| Some("UTF8".into())));
    told.push(Told::number("pg_char_to_encoding", |arguments| Some(if first(arguments)?.eq_ignore_ascii_case("utf8") { 6 } else { -1 })));
    told.push(Told::long("pg_database_size", |_| None));
    told.push(Told::json("json_build_object", |arguments| {
        let pair = |pair: &[Option<&str>]| Some(format!("{} : {}", pair.first().copied().flatten()?, pair.get(1).copied().flatten()?));
        let pairs: Option<Vec<String>> = arguments.chunks(2).map(pair).collect();
        pairs.map(|pairs| format!("{{{}}}", pairs.join(", ")))
    }));
    for name in ["pg_is_in_recovery", "pg_is_other_temp_schema", "pg_relation_is_publishable"] {
        told.push(Told::truth(name, |_| Some(false)));
    }
    for name in ["pg_my_temp_schema", "inet_server_port"] {
        told.push(Told::number(name, |_| Some(0)));
    }
    told.push(Told::text("pg_client_encoding", |_| Some("UTF8".into())));
    told.push(Told::text("pg_encoding_to_char", |arguments| (*arguments.first()? == Some("6")).then(|| "UTF8".into())));
    told.push(Told::text("pg_size_pretty", |arguments| arguments.first().copied().flatten()?.parse().ok().map(|bytes| weir_base::ByteSize(bytes).to_string())));
    told.push(Told::text("quote_literal", |arguments| Some(format!("'{}'", arguments.first().copied().flatten()?.replace('\'', "''")))));
    told
}

/// Whatever a client asks this of is found without its schema.
const VISIBLE: [&str; 12] = [
    "pg_function_is_visible",
    "pg_type_is_visible",
    "pg_operator_is_visible",
    "pg_collation_is_visible",
    "pg_conversion_is_visible",
    "pg_opclass_is_visible",
    "pg_opfamily_is_visible",
    "pg_statistics_obj_is_visible",
    "pg_ts_config_is_visible",
    "pg_ts_dict_is_visible",
    "pg_ts_parser_is_visible",
    "pg_ts_template_is_visible",
];

/// A pattern for LIKE with an escape character of its own (or none), as one that escapes with the backslash.
fn like_pattern(pattern: &str, escape: &str) -> String {
    let mut written = String::with_capacity(pattern.len());
    let mut chars = pattern.chars();
    while let Some(c) = chars.next() {
        match c {
            c if escape.starts_with(c) => {
                let escaped = chars.next();
                written.extend(escaped.filter(|c| matches!(c, '%' | '_' | '\\')).map(|_| '\\'));
                written.extend(escaped);
            }
            '\\' => written.push_str("\\\\"),
            c => written.push(c),
        }
    }
    written
}

/// From names to oids and back.
fn names(reader: &Arc<Reader>) -> Vec<Told> {
    let with = |body: fn(&Reader, &[Option<&str>]) -> Option<i32>| {
        let reader = reader.clone();
        move |arguments: &[Option<&str>]| body(&reader, arguments)
    };
    let said = |body: fn(&Reader, &[Option<&str>]) -> Option<String>| {
        let reader = reader.clone();
        move |arguments: &[Option<&str>]| body(&reader, arguments)
    };
    let class: fn(&Reader, &[Option<&str>]) -> Option<i32> = |reader, arguments| Some(reader.snapshot.table_named(first(arguments)?)?.oid);
    let any_type: fn(&Reader, &[Option<&str>]) -> Option<i32> = |reader, arguments| reader.type_oid(first(arguments)?);
    let schema: fn(&Reader, &[Option<&str>]) -> Option<i32> = |reader, arguments| reader.schema_oid(first(arguments)?);
    vec![
        known_or_error(
            "regclass_oid",
            "relation",
            ErrorCode::UnknownTable,
            with(|reader, arguments| first(arguments)?.parse().ok().or_else(|| Some(reader.snapshot.table_named(first(arguments)?)?.oid))),
        ),
        known_or_error(
            "regproc_oid",
            "function",
            ErrorCode::UnknownFunction,
            with(|reader, arguments| {
                let typed = first(arguments)?;
                let bare = typed.split('(').next().unwrap_or(typed).rsplit('.').next().unwrap_or(typed);
                typed.parse().ok().or_else(|| reader.fixed.function_oid(&bare.trim_matches('"').to_lowercase()))
            }),
        ),
        Told::number(
            "regrole_oid",
            with(|reader, arguments| {
                let name = first(arguments)?;
                let known = [(OWNER_NAME, OWNER), (reader.snapshot.user.as_str(), reader.snapshot.user_oid)];
                name.parse().ok().or_else(|| known.iter().find(|(role, _)| *role == name).map(|(_, oid)| *oid))
            }),
        ),
        Told::number("to_regclass", with(class)),
        Told::number("regtype_oid", with(any_type)),
        Told::number("to_regtype", with(any_type)),
        Told::number("regnamespace_oid", with(schema)),
        Told::number("to_regnamespace", with(schema)),
        regclass_name(reader.clone()),
        Told::text(
            "regnamespace_name",
            said(|reader, arguments| {
                let typed = first(arguments)?;
                let named = typed.parse::<i32>().ok().and_then(|oid| reader.snapshot.schemas.iter().find(|(_, known)| **known == oid));
                Some(named.map_or_else(|| typed.to_owned(), |(name, _)| weir_base::quote_ident(name)))
            }),
        ),
        Told::text("current_schema", said(|reader, _| reader.snapshot.default_schema().map(str::to_owned))),
        Told::list(
            "current_schemas",
            said(|reader, arguments| {
                let implicit = first(arguments)?.eq_ignore_ascii_case("true").then_some("pg_catalog");
                // Where there is no schema of one's own, what is left is the one that is always searched.
                let own = reader.snapshot.default_schema().or(implicit.is_none().then_some("pg_catalog"));
                let path: Vec<&str> = implicit.into_iter().chain(own).collect();
                Some(path.join("\n"))
            }),
        ),
    ]
}

/// A number that is no table's stays a number; a name that is no table's is refused, as by Postgres.
fn regclass_name(reader: Arc<Reader>) -> Told {
    Told::fallible("regclass_name", DataType::Utf8, move |arguments| {
        let Some(typed) = first(arguments) else { return Ok(None) };
        match reader.snapshot.table_named(typed) {
            Some(table) => Ok(Some(table.display())),
            None if typed.parse::<i64>().is_ok() => Ok(Some(typed.to_owned())),
            None => Err(Error::new(ErrorCode::UnknownTable, format!("relation {typed} does not exist"))),
        }
    })
}

/// Postgres refuses a name that it does not know, so that nobody asks about the object with the number nothing.
fn known_or_error(name: &'static str, what: &'static str, code: ErrorCode, body: impl Fn(&[Option<&str>]) -> Option<i32> + Send + Sync + 'static) -> Told {
    Told::fallible(name, DataType::Int32, move |arguments| match (first(arguments), body(arguments)) {
        (None, _) => Ok(None),
        (Some(_), Some(oid)) => Ok(Some(oid.to_string())),
        (Some(typed), None) => Err(Error::new(code, format!("{what} {typed} does not exist"))),
    })
}

fn first<'a>(arguments: &[Option<&'a str>]) -> Option<&'a str> {
    arguments.first().copied().flatten()
}

/// `has_table_privilege([user,] object, 'SELECT, INSERT')` and its sisters, for the user who asks.
fn rights(reader: &Arc<Reader>) -> Vec<Told> {
    let on_table = |columns: usize| {
        let reader = reader.clone();
        move |arguments: &[Option<&str>]| {
            let (wanted, rest) = arguments.split_last()?;
            let table = rest.len().checked_sub(1 + columns).and_then(|at| rest[at])?;
            let table = reader.snapshot.table_named(table)?;
            Some(wanted.as_ref()?.split(',').any(|action| reader.allows(table, action)))
        }
    };
    let on_schema = {
        let reader = reader.clone();
        move |arguments: &[Option<&str>]| {
            let (wanted, rest) = arguments.split_last()?;
            let schema = rest.last().copied().flatten()?;
            reader.schema_oid(schema).map(|_| wanted.is_some_and(|wanted| wanted.to_ascii_lowercase().contains("usage")))
        }
    };
    let on_database = {
        let reader = reader.clone();
        move |arguments: &[Option<&str>]| {
            let (wanted, rest) = arguments.split_last()?;
            let typed = rest.last().copied().flatten()?;
            let known = reader.snapshot.databases.iter().any(|(name, oid)| name == typed || oid.to_string() == typed);
            known.then(|| wanted.is_some_and(|wanted| wanted.to_ascii_lowercase().contains("connect")))
        }
    };
    let mut told = vec![
        Told::truth("has_table_privilege", on_table(0)),
        Told::truth("has_any_column_privilege", on_table(0)),
        Told::truth("has_column_privilege", on_table(1)),
        Told::truth("has_schema_privilege", on_schema),
        Told::truth("has_database_privilege", on_database),
    ];
    for name in ["has_function_privilege", "has_type_privilege", "has_language_privilege"] {
        told.push(Told::truth(name, |_| Some(true)));
    }
    for name in ["has_sequence_privilege", "has_tablespace_privilege", "has_server_privilege", "has_foreign_data_wrapper_privilege"] {
        told.push(Told::truth(name, |_| Some(false)));
    }
    let user = reader.snapshot.user.clone();
    told.push(Told::truth("pg_has_role", move |arguments| Some(arguments.iter().rev().nth(1).copied().flatten() == Some(user.as_str()))));
    told
}

/// What is known of a table, schema or user by its oid.
fn objects(reader: &Arc<Reader>) -> Vec<Told> {
    let of_table = |body: fn(&VisibleTable) -> Option<i64>| {
        let reader = reader.clone();
        move |arguments: &[Option<&str>]| body(reader.snapshot.table_named(first(arguments)?)?)
    };
    let bytes: fn(&VisibleTable) -> Option<i64> = |table| Some(table.bytes.and_then(|bytes| i64::try_from(bytes).ok()).unwrap_or(0));
    let visible = reader.clone();
    let user = reader.clone();
    let commented = reader.clone();
    let mut told: Vec<Told> =
        ["pg_relation_size", "pg_total_relation_size", "pg_table_size"].into_iter().map(|name| Told::long(name, of_table(bytes))).collect();
    told.extend([
        Told::truth("pg_table_is_visible", move |arguments| {
            visible.snapshot.table_named(first(arguments)?).map(|table| !table.built_in || table.schema == PG_CATALOG)
        }),
        Told::text("pg_get_userbyid", move |arguments| {
            let oid: i32 = first(arguments)?.parse().ok()?;
            Some(match oid {
                OWNER => OWNER_NAME.to_owned(),
                oid if oid == user.snapshot.user_oid => user.snapshot.user.clone(),
                oid => format!("unknown (OID={oid})"),
            })
        }),
        Told::text("obj_description", move |arguments| {
            let catalog = arguments.get(1).copied().flatten().unwrap_or("pg_class");
            (catalog == "pg_class").then(|| commented.snapshot.table(first(arguments)?.parse().ok()?)?.comment.clone()).flatten()
        }),
    ]);
    told
}

impl Reader {
    fn allows(&self, table: &VisibleTable, action: &str) -> bool {
        action.trim().to_ascii_lowercase().parse::<Action>().is_ok_and(|action| table.allowed(&self.principal, action))
    }

    fn type_oid(&self, typed: &str) -> Option<i32> {
        let typed = typed.trim();
        if let Ok(oid) = typed.parse() {
            return Some(oid);
        }
        let bare = typed.strip_prefix("pg_catalog.").unwrap_or(typed).trim_matches('"').to_ascii_lowercase();
        if let Some(element) = bare.strip_suffix("[]") {
            let element = self.type_oid(element)?;
            return self.fixed.type_name(element).and_then(|name| self.fixed.type_oid(&format!("_{name}")));
        }
        standard_oid(&bare).or_else(|| self.fixed.type_oid(&bare))
    }

    fn schema_oid(&self, typed: &str) -> Option<i32> {
        if let Ok(oid) = typed.parse::<i32>() {
            return self.snapshot.schemas.values().find(|known| **known == oid).copied();
        }
        let exact = self.snapshot.schemas.get(typed);
        let unquoted = typed.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).map(|name| name.replace("\"\"", "\""));
        exact.or_else(|| self.snapshot.schemas.get(&unquoted?)).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::like_pattern;

    #[test]
    fn patterns_keep_their_meaning_with_another_escape() {
        assert_eq!(like_pattern("pg/_%", "/"), "pg\\_%");
        assert_eq!(like_pattern("a//b/x\\", "/"), "a/bx\\\\");
        assert_eq!(like_pattern("a/_", ""), "a/_");
    }
}
