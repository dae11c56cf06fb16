// SPDX-License-Identifier: Apache-2.0
//! Puts what Postgres clients write into words that the planner knows. Every rewriting means the same as what was written;
//! those that lean on what is special about the catalog are used only where a statement reads nothing else.

mod labels;
mod subqueries;
mod void;
mod words;

use crate::bind::names::{INFORMATION_SCHEMA, PG_CATALOG};
use datafusion::sql::sqlparser::ast::{Expr, Ident, ObjectName, ObjectNamePart, Query, Statement, TableFactor, Value, Visit, VisitMut, Visitor, VisitorMut};
use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;

/// Rewrites a statement in place.
pub(crate) fn adapt(statement: &mut Statement) {
    let _ = statement.visit(&mut words::Words);
    let survey = Survey::of(statement);
    if survey.only_catalog() {
        let _ = statement.visit(&mut TableOids { aliases: survey.aliases });
        let _ = statement.visit(&mut void::Void::default());
        let _ = statement.visit(&mut subqueries::Subqueries);
    }
}

/// Whether a statement calls a function that `wanted` holds of.
pub(super) fn calls(statement: &Statement, wanted: fn(&str) -> bool) -> bool {
    let mut finder = Finder { wanted, found: false };
    let _ = statement.visit(&mut finder);
    finder.found
}

struct Finder {
    wanted: fn(&str) -> bool,
    found: bool,
}

impl Visitor for Finder {
    type Break = ();

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
        if let Expr::Function(function) = expr
            && let Some(name) = last(&function.name)
        {
            self.found |= (self.wanted)(&folded(name));
        }
        if self.found { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

/// Which tables a statement reads.
#[derive(Default)]
struct Survey {
    catalog: usize,
    other: usize,
    local: HashSet<String>,
    /// The table that each alias stands for.
    aliases: HashMap<String, String>,
}

impl Survey {
    fn of(statement: &Statement) -> Self {
        let mut survey = Self::default();
        let _ = statement.visit(&mut survey);
        survey
    }

    fn only_catalog(&self) -> bool {
        self.other == 0
    }
}

impl Visitor for Survey {
    type Break = ();

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
        self.local.extend(query.with.iter().flat_map(|with| &with.cte_tables).map(|table| folded(&table.alias.name)));
        ControlFlow::Continue(())
    }

    fn pre_visit_table_factor(&mut self, factor: &TableFactor) -> ControlFlow<()> {
        if let TableFactor::Table { name, alias, args: None, .. } = factor {
            if let Some(alias) = alias {
                self.aliases.insert(folded(&alias.name), name.to_string());
            }
            let local = matches!(name.0.as_slice(), [ObjectNamePart::Identifier(only)] if self.local.contains(&folded(only)));
            match (local, catalog_table(name)) {
                (true, _) => {}
                (false, Some(_)) => self.catalog += 1,
                (false, None) => self.other += 1,
            }
        }
        ControlFlow::Continue(())
    }
}

/// `c.tableoid`, the hidden column that says which table a row is from.
struct TableOids {
    aliases: HashMap<String, String>,
}

impl VisitorMut for TableOids {
    type Break = ();

    fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        if let Expr::CompoundIdentifier(idents) = expr
            && let [alias, column] = idents.as_slice()
            && folded(column) == "tableoid"
            && let Some(table) = self.aliases.get(&folded(alias))
        {
            *expr = words::call("regclass_oid", Some(Expr::value(Value::SingleQuotedString(table.clone()))));
        }
        ControlFlow::Continue(())
    }
}

/// The schema and table that a name means, when it is one of the catalog.
fn catalog_table(name: &ObjectName) -> Option<(&'static str, String)> {
    let idents: Vec<&Ident> = name.0.iter().filter_map(ObjectNamePart::as_ident).collect();
    let (table, before) = idents.split_last()?;
    match before.last().map(|schema| folded(schema)).as_deref() {
        Some(PG_CATALOG) => Some((PG_CATALOG, folded(table))),
        Some(INFORMATION_SCHEMA) => Some((INFORMATION_SCHEMA, folded(table))),
        None if folded(table).starts_with("pg_") => Some((PG_CATALOG, folded(table))),
        _ => None,
    }
}

fn last(name: &ObjectName) -> Option<&Ident> {
    name.0.last().and_then(ObjectNamePart::as_ident)
}

fn folded(ident: &Ident) -> String {
    if ident.quote_style.is_some() { ident.value.clone() } else { ident.value.to_lowercase() }
}

#[cfg(test)]
mod tests {
    use crate::bind::parse;

    fn adapted(sql: &str) -> String {
        parse(sql).unwrap().to_string()
    }

    #[test]
    fn what_reads_tables_is_left_alone() {
        let correlated = "SELECT (SELECT max(p.amount) FROM app_pg.public.payments AS p WHERE p.customer = c.id) FROM app_pg.public.customers AS c";
        assert_eq!(adapted(correlated), correlated);
        let unaggregated = "SELECT (SELECT p.amount FROM app_pg.public.payments AS p WHERE p.customer = c.id) FROM app_pg.public.customers AS c";
        assert_eq!(adapted(unaggregated), unaggregated);
    }

    #[test]
    fn words_of_postgres() {
        assert_eq!(adapted("SELECT x FROM t WHERE x OPERATOR(pg_catalog.~) '^a' COLLATE pg_catalog.default"), "SELECT x FROM t WHERE x ~ '^a'");
        assert_eq!(
            adapted("SELECT a.x FROM a.b.t AS a WHERE a.x = ANY ('{r,\"b c\"}'::text[])"),
            "SELECT a.x FROM a.b.t AS a WHERE a.x = ANY(ARRAY['r', 'b c']::TEXT[])"
        );
        assert_eq!(adapted("SELECT c.oid FROM pg_class c WHERE c.oid = 'a.b'::regclass"), "SELECT c.oid FROM pg_class c WHERE c.oid = regclass_oid('a.b')");
        assert_eq!(adapted("SELECT c.oid::regclass FROM pg_class c"), "SELECT regclass_name(c.oid) AS oid FROM pg_class c");
    }

    #[test]
    fn empty_tables_make_empty_answers() {
        let unnested = "SELECT conname, unnest(conkey)::int AS k FROM pg_constraint JOIN pg_class c ON c.oid = conrelid ORDER BY 1";
        assert_eq!(adapted(unnested), "SELECT NULL AS conname, NULL::INT AS k WHERE false");
        let counted = "SELECT count(*) FROM pg_constraint";
        assert_eq!(adapted(counted), counted);
        let outer = "SELECT c.relname FROM pg_class AS c LEFT JOIN (SELECT conrelid, array_agg(x) AS x FROM pg_constraint GROUP BY conrelid) AS k ON k.conrelid = c.oid";
        assert_eq!(adapted(outer), "SELECT c.relname FROM pg_class AS c LEFT JOIN (SELECT NULL AS conrelid, NULL AS x WHERE false) AS k ON k.conrelid = c.oid");
        let members = "SELECT ARRAY(SELECT m.roleid FROM pg_auth_members m WHERE m.member = r.oid) AS of FROM pg_roles AS r";
        assert_eq!(adapted(members), "SELECT make_array()::TEXT[] AS of FROM pg_roles AS r");
    }

    #[test]
    fn a_subquery_that_gives_one_value_may_be_correlated() {
        let described = "SELECT (SELECT d.description FROM pg_description AS d WHERE d.objoid = c.oid) FROM pg_class AS c";
        assert_eq!(adapted(described), "SELECT (SELECT max(d.description) FROM pg_description AS d WHERE d.objoid = c.oid) FROM pg_class AS c");
    }
}
