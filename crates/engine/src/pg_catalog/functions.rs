// SPDX-License-Identifier: Apache-2.0
//! Functions that Postgres clients call: about the session, about rights, about objects of the catalog.

use super::Reader;
use super::column_type::standard_oid;
use super::oids::{OWNER, OWNER_NAME};
use super::snapshot::VisibleTable;
use crate::bind::names::PG_CATALOG;
use crate::errors::from_datafusion;
use arrow::array::{Array, ArrayRef, AsArray, StringArray};
use arrow::compute::cast;
use arrow::datatypes::DataType;
use datafusion::catalog::{CatalogProvider, CatalogProviderList, MemoryCatalogProvider, MemoryCatalogProviderList};
use datafusion::common::Result as PlanResult;
use datafusion::execution::{FunctionRegistry, SessionState};
use datafusion::logical_expr::{ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, TypeSignature, Volatility};
use datafusion::prelude::SessionContext;
use datafusion_pg_catalog::pg_catalog::context::EmptyContextProvider;
use datafusion_pg_catalog::pg_catalog::setup_pg_catalog;
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use weir_api::Session;
use weir_base::Result;
use weir_policy::Action;

/// What `version()` says; tools read the number after `PostgreSQL`.
const VERSION: &str = concat!("PostgreSQL 15.0 (Weir ", env!("CARGO_PKG_VERSION"), ")");

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

/// The functions that tell about one session.
pub(crate) fn register_session_functions(state: &mut SessionState, session: &Session) -> Result<()> {
    let user = session.user.to_string();
    let database = crate::session::database(session).to_owned();
    let settings = session.settings().clone();
    let mut told: Vec<Told> = ["session_user", "current_user", "user", "current_role"].into_iter().map(|name| Told::constant(name, user.clone())).collect();
    told.extend([
        Told::constant("current_database", database.clone()),
        Told::constant("current_catalog", database),
        Told::constant("version", VERSION.to_owned()),
    ]);
    told.push(Told::text("current_setting", move |arguments| settings.get(arguments.first().copied().flatten()?).ok()));
    register(state, told)
}

/// The functions that look into the catalog.
pub(super) fn register_catalog_functions(state: &mut SessionState, reader: &Arc<Reader>) -> Result<()> {
    register(state, names(reader).into_iter().chain(rights(reader)).chain(objects(reader)))
}

/// Whether a function has to be told about the catalog before it can answer.
pub(super) fn looks_into_catalog(name: &str) -> bool {
    const NAMES: [&str; 18] = [
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

fn register(state: &mut SessionState, told: impl IntoIterator<Item = Told>) -> Result<()> {
    for told in told {
        state.register_udf(Arc::new(ScalarUDF::new_from_impl(told))).map_err(from_datafusion)?;
    }
    Ok(())
}

/// What has one answer, or none, in all of Weir: there are no keys, defaults, triggers and functions of its own to describe.
fn fixed() -> Vec<Told> {
    const NOTHING: [&str; 19] = [
        "col_description",
        "shobj_description",
        "pg_get_viewdef",
        "pg_get_indexdef",
        "pg_get_constraintdef",
        "pg_get_expr",
        "pg_get_triggerdef",
        "pg_get_ruledef",
        "pg_get_functiondef",
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
    told.push(Told::long("pg_database_size", |_| None));
    told.push(Told::json("json_build_object", |arguments| {
        let pair = |pair: &[Option<&str>]| Some(format!("{} : {}", pair.first().copied().flatten()?, pair.get(1).copied().flatten()?));
        let pairs: Option<Vec<String>> = arguments.chunks(2).map(pair).collect();
        pairs.map(|pairs| format!("{{{}}}", pairs.join(", ")))
    }));
    told.push(Told::text("format", |arguments| filled(first(arguments)?, arguments.get(1..).unwrap_or_default())));
    for name in ["pg_is_in_recovery", "pg_is_other_temp_schema", "pg_relation_is_publishable"] {
        told.push(Told::truth(name, |_| Some(false)));
    }
    for name in ["pg_my_temp_schema", "inet_server_port", "pg_backend_pid"] {
        told.push(Told::number(name, |_| Some(0)));
    }
    told.push(Told::text("pg_client_encoding", |_| Some("UTF8".into())));
    told.push(Told::text("pg_encoding_to_char", |arguments| (*arguments.first()? == Some("6")).then(|| "UTF8".into())));
    told.push(Told::text("set_config", |arguments| arguments.get(1).copied().flatten().map(str::to_owned)));
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

/// Postgres's `format` with `%s`, `%I`, `%L` and `%%`; NULL for a template that asks for more than it is given.
fn filled(template: &str, values: &[Option<&str>]) -> Option<String> {
    let mut written = String::new();
    let mut values = values.iter().copied();
    let mut chars = template.chars();
    while let Some(c) = chars.next() {
        if c != '%' {
            written.push(c);
            continue;
        }
        match chars.next()? {
            '%' => written.push('%'),
            's' => written.push_str(values.next()?.unwrap_or_default()),
            'I' => written.push_str(&weir_base::quote_ident(values.next()??)),
            'L' => written.push_str(&values.next()?.map_or_else(|| "NULL".into(), |value| format!("'{}'", value.replace('\'', "''")))),
            _ => return None,
        }
    }
    Some(written)
}

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
        Told::number(
            "regclass_oid",
            with(|reader, arguments| first(arguments)?.parse().ok().or_else(|| Some(reader.snapshot.table_named(first(arguments)?)?.oid))),
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
        Told::text(
            "regclass_name",
            said(|reader, arguments| {
                let typed = first(arguments)?;
                Some(reader.snapshot.table_named(typed).map_or_else(|| typed.to_owned(), VisibleTable::display))
            }),
        ),
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

type Body = dyn Fn(&[Option<&str>]) -> Option<String> + Send + Sync;

/// A function from texts to a text, with both ends cast to what they are.
struct Told {
    name: &'static str,
    signature: Signature,
    returns: DataType,
    /// Whether arguments come as JSON values instead of as bare texts.
    json: bool,
    body: Arc<Body>,
}

impl Told {
    fn new(name: &'static str, returns: DataType, body: Arc<Body>) -> Self {
        let any = vec![TypeSignature::Nullary, TypeSignature::VariadicAny];
        Self { name, signature: Signature::one_of(any, Volatility::Stable), returns, json: false, body }
    }

    fn json(name: &'static str, body: impl Fn(&[Option<&str>]) -> Option<String> + Send + Sync + 'static) -> Self {
        Self { json: true, ..Self::text(name, body) }
    }

    fn constant(name: &'static str, value: String) -> Self {
        Self::new(name, DataType::Utf8, Arc::new(move |_| Some(value.clone())))
    }

    fn text(name: &'static str, body: impl Fn(&[Option<&str>]) -> Option<String> + Send + Sync + 'static) -> Self {
        Self::new(name, DataType::Utf8, Arc::new(body))
    }

    fn number(name: &'static str, body: impl Fn(&[Option<&str>]) -> Option<i32> + Send + Sync + 'static) -> Self {
        Self::new(name, DataType::Int32, Arc::new(move |arguments| body(arguments).map(|number| number.to_string())))
    }

    fn long(name: &'static str, body: impl Fn(&[Option<&str>]) -> Option<i64> + Send + Sync + 'static) -> Self {
        Self::new(name, DataType::Int64, Arc::new(move |arguments| body(arguments).map(|number| number.to_string())))
    }

    fn truth(name: &'static str, body: impl Fn(&[Option<&str>]) -> Option<bool> + Send + Sync + 'static) -> Self {
        Self::new(name, DataType::Boolean, Arc::new(move |arguments| body(arguments).map(|truth| truth.to_string())))
    }

    /// The body gives the items, one a line.
    fn list(name: &'static str, body: impl Fn(&[Option<&str>]) -> Option<String> + Send + Sync + 'static) -> Self {
        Self::new(name, super::sheet::list_of(DataType::Utf8), Arc::new(body))
    }
}

impl std::fmt::Debug for Told {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Told").field("name", &self.name).finish_non_exhaustive()
    }
}

impl PartialEq for Told {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name && Arc::ptr_eq(&self.body, &other.body)
    }
}

impl Eq for Told {}

impl Hash for Told {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}

impl ScalarUDFImpl for Told {
    fn name(&self) -> &str {
        self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> PlanResult<DataType> {
        Ok(self.returns.clone())
    }

    fn invoke_with_args(&self, arguments: ScalarFunctionArgs) -> PlanResult<ColumnarValue> {
        let constant = arguments.args.iter().all(|argument| matches!(argument, ColumnarValue::Scalar(_)));
        let rows = if constant { 1 } else { arguments.number_rows };
        let text = |argument: &ColumnarValue| {
            let values = argument.to_array(rows)?;
            let texts = cast(&values, &DataType::Utf8)?;
            PlanResult::Ok(if self.json { as_json(values.data_type(), texts.as_string::<i32>()) } else { texts })
        };
        let texts = arguments.args.iter().map(text).collect::<PlanResult<Vec<ArrayRef>>>()?;
        let columns: Vec<&StringArray> = texts.iter().map(|text| text.as_string::<i32>()).collect();
        let row = |row: usize| {
            let values: Vec<Option<&str>> = columns.iter().map(|column| column.is_valid(row).then(|| column.value(row))).collect();
            (self.body)(&values)
        };
        let answers: StringArray = (0..rows).map(row).collect();
        let answers = self.returned(answers)?;
        Ok(if constant { ColumnarValue::Scalar(datafusion::common::ScalarValue::try_from_array(&answers, 0)?) } else { ColumnarValue::Array(answers) })
    }
}

/// Numbers and truths as they are, everything else as a JSON text; NULL as `null`.
fn as_json(data_type: &DataType, texts: &StringArray) -> ArrayRef {
    let bare = data_type.is_numeric() || data_type == &DataType::Boolean;
    let value = |text: Option<&str>| match text {
        None => "null".to_owned(),
        Some(text) if bare => text.to_owned(),
        Some(text) => serde_json::Value::from(text).to_string(),
    };
    Arc::new(texts.iter().map(|text| Some(value(text))).collect::<StringArray>())
}

impl Told {
    fn returned(&self, answers: StringArray) -> PlanResult<ArrayRef> {
        if !matches!(self.returns, DataType::List(_)) {
            return Ok(cast(&answers, &self.returns)?);
        }
        let mut lists = arrow::array::ListBuilder::new(arrow::array::StringBuilder::new());
        for answer in &answers {
            match answer {
                Some(lines) => lists.append_value(lines.lines().map(Some)),
                None => lists.append_null(),
            }
        }
        Ok(Arc::new(lists.finish()))
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
