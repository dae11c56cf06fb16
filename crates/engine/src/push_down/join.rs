// SPDX-License-Identifier: Apache-2.0
//! Joins of tables in one source: one statement, with inputs of outer joins that are filtered wrapped first.

use super::block::{Block, Output};
use super::condition::{Condition, condition, same, same_or_missing};
use super::cut::Aliases;
use super::terms::{Scope, value};
use crate::sizes::Size;
use datafusion::common::{DFSchema, JoinType, NullEquality};
use datafusion::logical_expr::LogicalPlan;
use datafusion::logical_expr::logical_plan::Join;
use std::sync::Arc;
use weir_source::{Reason, Term};

/// Both sides as one block, or why not.
pub(super) fn join(plan: &Join, left: Block, right: Block, aliases: &mut Aliases) -> Result<Block, Reason> {
    if !Arc::ptr_eq(&left.handle, &right.handle) {
        return Err(Reason::new("two_sources", format!("its sides are in {} and {}", left.handle.name(), right.handle.name())));
    }
    check(plan, &left, &right)?;
    stays_small(plan, &left, &right)?;
    match plan.join_type {
        JoinType::Inner => inner(plan, left, right, aliases),
        JoinType::Left => outer(plan, left, right, aliases, false),
        JoinType::Right => outer(plan, right, left, aliases, true),
        JoinType::Full => full(plan, left, right, aliases),
        JoinType::LeftSemi => exists(plan, left, right, aliases, "EXISTS", false),
        JoinType::LeftAnti if plan.null_aware => not_in(plan, left, right, aliases),
        JoinType::LeftAnti => exists(plan, left, right, aliases, "NOT EXISTS", false),
        JoinType::RightSemi => exists(plan, right, left, aliases, "EXISTS", true),
        JoinType::RightAnti => exists(plan, right, left, aliases, "NOT EXISTS", true),
        JoinType::LeftMark | JoinType::RightMark => Err(Reason::new("join_kind", "joins of this kind are done here")),
    }
}

/// Pairs of rows that a source may compare one by one, where it cannot look for equal keys.
const PAIRS_MAX: f64 = 1_000_000.0;

fn check(plan: &Join, left: &Block, right: &Block) -> Result<(), Reason> {
    if plan.null_aware && (plan.join_type != JoinType::LeftAnti || plan.on.len() != 1 || plan.filter.is_some() || !right.is_flat()) {
        return Err(Reason::new("not_in", "this NOT IN would be asked three times of what it looks into"));
    }
    let few = left.rows.zip(right.rows).is_some_and(|(left, right)| left * right <= PAIRS_MAX);
    if plan.null_equality == NullEquality::NullEqualsNull && !few && !left.source().dialect().hashes_missing() {
        return Err(Reason::new("null_keys", "it holds NULLs equal, for which the source would compare each row with each other"));
    }
    let semi = matches!(plan.join_type, JoinType::LeftSemi | JoinType::LeftAnti | JoinType::RightSemi | JoinType::RightAnti);
    let alone = semi && plan.filter.is_none();
    if plan.on.is_empty() && !alone && !left.one_row && !right.one_row {
        return Err(Reason::new("cross_join", "without an equality of both sides its result is larger than its inputs").with_remedy("join on a key"));
    }
    Ok(())
}

/// What comes of a join may be so many times as many rows as go in.
const GROWS_MAX: f64 = 4.0;
/// As many rows hurt no source.
const ROWS_HARMLESS: f64 = 10_000.0;

/// A source is not asked to make many rows out of few, whatever is made of them then.
fn stays_small(plan: &Join, left: &Block, right: &Block) -> Result<(), Reason> {
    if !matches!(plan.join_type, JoinType::Inner | JoinType::Left | JoinType::Right | JoinType::Full) {
        return Ok(());
    }
    let (Some(a), Some(b)) = (&left.size, &right.size) else { return Ok(()) };
    if !a.known || !b.known {
        let counted = || Reason::new("grows", "nobody has counted its tables, and a full join may give many times their rows");
        return if plan.join_type == JoinType::Full { Err(counted().with_remedy("ANALYZE the tables")) } else { Ok(()) };
    }
    let rows = Size::of(&LogicalPlan::Join(plan.clone())).rows;
    if rows <= ROWS_HARMLESS || rows <= GROWS_MAX * (a.rows + b.rows) {
        return Ok(());
    }
    let why = format!("about {rows:.0} rows would come of {:.0} and {:.0}, which are fewer to read", a.rows, b.rows);
    Err(Reason::new("grows", why).with_remedy("join on more of the key, or group one side by it first"))
}

/// The condition of the join, over both sides.
fn on(plan: &Join, left: &Block, right: &Block) -> Result<String, Reason> {
    let (left_terms, right_terms) = (left.terms(), right.terms());
    let mut parts = Vec::with_capacity(plan.on.len() + 1);
    for (a, b) in &plan.on {
        let (a, b) = (total(value(a, left.scope(&left_terms))?)?, total(value(b, right.scope(&right_terms))?)?);
        let written = match plan.null_equality {
            NullEquality::NullEqualsNothing => same(&a, &b, left.source())?,
            NullEquality::NullEqualsNull => same_or_missing(&a, &b, left.source())?,
        };
        parts.push(written.sql);
    }
    if let Some(filter) = &plan.filter {
        let both: DFSchema = left.schema.join(&right.schema).map_err(|_| Reason::new("expression", "columns of both sides have one name"))?;
        let terms: Vec<Term> = left_terms.into_iter().chain(right_terms).collect();
        match condition(filter, Scope { source: left.source(), schema: &both, terms: &terms }) {
            Condition::Exact(sent) => parts.push(sent.sql),
            Condition::Superset(_, reason) | Condition::Kept(reason) => return Err(reason),
        }
    }
    Ok(if parts.is_empty() { "1 = 1".to_owned() } else { parts.join(" AND ") })
}

fn total(term: Term) -> Result<Term, Reason> {
    if term.total { Ok(term) } else { Err(Reason::new("may_fail", "a key that can fail is computed here")) }
}

fn inner(plan: &Join, left: Block, right: Block, aliases: &mut Aliases) -> Result<Block, Reason> {
    let (left, right) = (flat(left, aliases), flat(right, aliases));
    let on = on(plan, &left, &right)?;
    let beside = if right.is_joined() { format!("({})", right.from()) } else { right.from().to_owned() };
    let from = format!("{} JOIN {beside} ON {on}", left.from());
    let conditions = left.conditions().iter().chain(right.conditions()).cloned().collect();
    Ok(merged(plan, left, right, (false, false), from, conditions))
}

/// `preserved` keeps all its rows; the other side must be a plain table or a derived one, so that its conditions are asked before.
fn outer(plan: &Join, preserved: Block, other: Block, aliases: &mut Aliases, swapped: bool) -> Result<Block, Reason> {
    let preserved = flat(preserved, aliases);
    let other = closed(other, aliases);
    let on = if swapped { on(plan, &other, &preserved)? } else { on(plan, &preserved, &other)? };
    let from = format!("{} LEFT JOIN {} ON {on}", preserved.from(), other.from());
    let conditions = preserved.conditions().to_vec();
    Ok(match swapped {
        true => merged(plan, other, preserved, (true, false), from, conditions),
        false => merged(plan, preserved, other, (false, true), from, conditions),
    })
}

/// Both sides keep all their rows, so that the conditions of each are asked before.
fn full(plan: &Join, left: Block, right: Block, aliases: &mut Aliases) -> Result<Block, Reason> {
    if !left.source().dialect().joins_fully() {
        return Err(Reason::new("join_kind", "the source has no FULL JOIN"));
    }
    if plan.filter.is_some() || plan.on.is_empty() {
        return Err(Reason::new("join_kind", "a FULL JOIN on more than equalities is done here"));
    }
    let (left, right) = (closed(left, aliases), closed(right, aliases));
    let on = on(plan, &left, &right)?;
    let from = format!("{} FULL JOIN {} ON {on}", left.from(), right.from());
    Ok(merged(plan, left, right, (true, true), from, Vec::new()))
}

/// A plain table, or a derived one.
fn closed(block: Block, aliases: &mut Aliases) -> Block {
    if block.is_bare_table() { block } else { block.wrap(&aliases.derived()) }
}

/// Columns of both sides, in the order of the plan; `nulls` says whose may be missing.
fn merged(plan: &Join, left: Block, right: Block, nulls: (bool, bool), from: String, conditions: Vec<String>) -> Block {
    let nullable = |mut output: Output, nulls: bool| {
        output.term.meaning.nullable |= nulls;
        output
    };
    let mut outputs: Vec<Output> = left.outputs.iter().cloned().map(|output| nullable(output, nulls.0)).collect();
    outputs.extend(right.outputs.iter().cloned().map(|output| nullable(output, nulls.1)));
    let rows = left.rows.zip(right.rows).map(|(a, b)| a.max(b));
    let one_row = left.one_row && right.one_row;
    let unique = left.unique.iter().flat_map(|a| right.unique.iter().map(move |b| [a.as_slice(), b.as_slice()].concat())).collect();
    let mut block = left.with_outputs(plan.schema.clone(), outputs, true);
    block.rows = rows;
    block.one_row = one_row;
    block.unique = unique;
    block.join_into(from, conditions);
    block.takes_over(right);
    block
}

/// The rows of one side that have a partner on the other, or that have none.
fn exists(plan: &Join, kept: Block, asked: Block, aliases: &mut Aliases, word: &str, swapped: bool) -> Result<Block, Reason> {
    let kept = flat(kept, aliases);
    let asked = flat(asked, aliases);
    let on = if swapped { on(plan, &asked, &kept)? } else { on(plan, &kept, &asked)? };
    let sql = asking(word, &asked, &on);
    let mut block = kept.renamed(plan.schema.clone());
    block.filter(sql);
    block.takes_over(asked);
    Ok(block)
}

fn asking(word: &str, asked: &Block, more: &str) -> String {
    let conditions: Vec<&str> = asked.conditions().iter().map(String::as_str).chain([more]).collect();
    format!("{word} (SELECT 1 FROM {} WHERE {})", asked.from(), conditions.join(" AND "))
}

/// `key NOT IN (SELECT …)`: no row has the key, none has a NULL, and a key that is NULL passes only where there are no rows at all. As
/// one condition a source would compare each row with each other; the last two ask the same for all rows, and are asked once.
fn not_in(plan: &Join, kept: Block, asked: Block, aliases: &mut Aliases) -> Result<Block, Reason> {
    let (kept, asked) = (flat(kept, aliases), flat(asked, aliases));
    let unlike = || Reason::new("not_in", "the key of this NOT IN is not known to the source");
    let (key, listed) = plan.on.first().ok_or_else(unlike)?;
    let (kept_terms, asked_terms) = (kept.terms(), asked.terms());
    let (key, listed) = (total(value(key, kept.scope(&kept_terms))?)?, total(value(listed, asked.scope(&asked_terms))?)?);
    let dialect = asked.source().dialect();
    let equal = asking("NOT EXISTS", &asked, &on(plan, &kept, &asked)?);
    let missing = asking("NOT EXISTS", &asked, &dialect.null_test(&listed, true));
    let any = asking("NOT EXISTS", &asked, "1 = 1");
    let sql = format!("({equal} AND {missing} AND ({} OR {any}))", dialect.null_test(&key, false));
    let mut block = kept.renamed(plan.schema.clone());
    block.filter(sql);
    block.takes_over(asked);
    Ok(block)
}

fn flat(block: Block, aliases: &mut Aliases) -> Block {
    if block.is_flat() { block } else { block.wrap(&aliases.derived()) }
}
