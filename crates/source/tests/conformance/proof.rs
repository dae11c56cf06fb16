// SPDX-License-Identifier: Apache-2.0
//! All that a capability table says of the columns of one table, asked entry by entry: what is called exact is done by the server and
//! compared with what it means, the rest is noted with its reason. The page for users is printed from the same answers.

use super::calls::{AGGREGATES, Beside, Call, aggregate_type, aggregated, all_functions, calls, meaning};
use super::page::Page;
use super::values::{Value, alike, known, sorted_as, values};
use super::{Subject, integers};
use arrow::array::RecordBatch;
use arrow::datatypes::DataType;
use futures::FutureExt;
use std::collections::BTreeMap;
use std::panic::AssertUnwindSafe;
use weir_base::ErrorCode;
use weir_source::{Aggregate, Argument, Column, Dialect, Operand, Operation, Pattern, SourceTable, Support, Term};

const PATTERNS: [(&str, char); 14] = [
    ("a%", '\\'),
    ("%a", '\\'),
    ("_", '\\'),
    ("a_", '\\'),
    ("%", '\\'),
    ("", '\\'),
    ("A", '\\'),
    ("a ", '\\'),
    ("%\\%%", '\\'),
    ("a!_%", '!'),
    ("é%", '\\'),
    ("%\\\\%", '\\'),
    ("%!'%", '!'),
    ("😀", '\\'),
];

const SIGNS: [&str; 6] = ["=", "<>", "<", "<=", ">", ">="];

fn operation<'a>(sign: &str, operand: Operand<'a>) -> Operation<'a> {
    match sign {
        "=" => Operation::Equal(operand),
        "<>" => Operation::NotEqual(operand),
        "<" => Operation::Less(operand),
        "<=" => Operation::LessOrEqual(operand),
        ">" => Operation::Greater(operand),
        _ => Operation::GreaterOrEqual(operand),
    }
}

fn holds(sign: &str, a: &Value, b: &Value) -> bool {
    let order = a.order(b);
    match sign {
        "=" => order.is_eq(),
        "<>" => order.is_ne(),
        "<" => order.is_lt(),
        "<=" => order.is_le(),
        ">" => order.is_gt(),
        _ => order.is_ge(),
    }
}

/// One column under test, with its values by the ids of their rows.
struct Tried<'a> {
    subject: &'a Subject,
    table: &'a SourceTable,
    column: &'a Column,
    ids: Vec<i64>,
    values: Vec<Option<Value>>,
}

/// Tries every operation, aggregate and function on every column of `table` but its first, which is a unique whole number that is never NULL.
pub async fn prove(subject: &Subject, table: &SourceTable, page: &mut Page) {
    for column in &table.columns[1..] {
        let Some(tried) = Tried::read(subject, table, column).await else {
            page.unreadable(column);
            continue;
        };
        assert!(tried.values.iter().flatten().count() >= 2, "column {} needs values", column.name);
        let mut failed = u32::from(survives(tried.comparisons(page)).await.is_err());
        failed += u32::from(survives(tried.null_tests(page)).await.is_err());
        failed += u32::from(survives(tried.patterns(page)).await.is_err());
        failed += u32::from(survives(tried.groups(page)).await.is_err());
        failed += u32::from(survives(tried.orders(page)).await.is_err());
        for aggregate in AGGREGATES {
            failed += u32::from(survives(tried.aggregate(aggregate, false, page)).await.is_err());
            if matches!(aggregate, Aggregate::Count | Aggregate::Sum) {
                failed += u32::from(survives(tried.aggregate(aggregate, true, page)).await.is_err());
            }
        }
        for call in all_functions().into_iter().flat_map(|function| calls(function, column)) {
            failed += u32::from(survives(tried.function(&call, page)).await.is_err());
        }
        page.failures += failed;
    }
}

/// Runs a step to its end or its panic, which has been printed then: one run tells of all that is wrong.
async fn survives(step: impl Future<Output = ()>) -> Result<(), ()> {
    AssertUnwindSafe(step).catch_unwind().await.map_err(|_| ())
}

impl<'a> Tried<'a> {
    async fn read(subject: &'a Subject, table: &'a SourceTable, column: &'a Column) -> Option<Self> {
        if column.degraded.is_some() || !known(&column.data_type) {
            return None;
        }
        let mut tried = Self { subject, table, column, ids: Vec::new(), values: Vec::new() };
        let term = tried.term("a");
        let batch = tried.rows(&format!("SELECT {}, {} FROM {}", tried.id("a"), shown(&term), tried.from("a")), 1, &[&column.data_type]).await.unwrap();
        tried.ids = integers(&batch, 0).into_iter().flatten().collect();
        tried.values = values(&batch, 1)?;
        Some(tried)
    }

    fn dialect(&self) -> &dyn Dialect {
        self.subject.source.dialect()
    }

    fn term(&self, alias: &str) -> Term {
        Term { sql: format!("{alias}.{}", self.dialect().quote(&self.column.name)), meaning: self.column.clone(), total: true, constant: false }
    }

    fn id(&self, alias: &str) -> String {
        format!("{alias}.{}", self.dialect().quote(&self.table.columns[0].name))
    }

    fn from(&self, alias: &str) -> String {
        format!("{} {alias}", self.dialect().table(&self.table.schema, &self.table.name))
    }

    fn value(&self, id: i64) -> &Option<Value> {
        &self.values[self.ids.iter().position(|known| *known == id).unwrap()]
    }

    /// So many ids, then columns of these types.
    async fn rows(&self, sql: &str, ids: usize, types: &[&DataType]) -> weir_base::Result<RecordBatch> {
        let id_type = &self.table.columns[0].data_type;
        let all: Vec<DataType> = std::iter::repeat_n(id_type, ids).chain(types.iter().copied()).cloned().collect();
        let names: Vec<String> = (0..all.len()).map(|index| format!("c{index}")).collect();
        let outputs: Vec<(&str, DataType)> = names.iter().map(String::as_str).zip(all).collect();
        self.subject.fetch(sql, &outputs).await
    }

    /// Which rows each condition holds for, all asked in one statement.
    async fn true_for(&self, conditions: &[String]) -> Vec<Vec<i64>> {
        let number = self.table.columns[0].data_type.clone();
        let mut all = Vec::new();
        for some in conditions.chunks(40) {
            let cases: Vec<String> = some.iter().map(|condition| format!("CASE WHEN {condition} THEN 1 ELSE 0 END")).collect();
            let sql = format!("SELECT {}, {} FROM {}", self.id("a"), cases.join(", "), self.from("a"));
            let batch = self.rows(&sql, 1, &vec![&number; cases.len()]).await.unwrap_or_else(|error| panic!("{sql}: {error:?}"));
            let ids = integers(&batch, 0);
            let chosen = |index: usize| integers(&batch, index + 1).iter().zip(&ids).filter(|(flag, _)| **flag == Some(1)).filter_map(|(_, id)| *id).collect();
            all.extend((0..cases.len()).map(chosen));
        }
        all
    }

    fn ids_where(&self, keep: impl Fn(&Option<Value>) -> bool) -> Vec<i64> {
        self.ids.iter().zip(&self.values).filter(|(_, value)| keep(value)).map(|(id, _)| *id).collect()
    }

    async fn check_conditions(&self, conditions: Vec<(String, Vec<i64>)>, page: &mut Page) {
        page.executed += conditions.len();
        let (texts, expected): (Vec<String>, Vec<Vec<i64>>) = conditions.into_iter().unzip();
        for ((text, mut expected), mut found) in texts.iter().zip(expected).zip(self.true_for(&texts).await) {
            expected.sort_unstable();
            found.sort_unstable();
            assert_eq!(found, expected, "{text} on {} ({}) is not exact", self.column.name, self.column.native_type);
        }
    }

    async fn comparisons(&self, page: &mut Page) {
        let mut conditions = Vec::new();
        let term = self.term("a");
        for sign in SIGNS {
            let kind = if matches!(sign, "=" | "<>") { sign } else { "<" };
            let (mut listed, mut exact_literals) = (Vec::new(), Vec::new());
            for literal in self.values.iter().flatten() {
                let support = self.subject.source.support(&operation(sign, literal.operand()), self.column);
                page.operation(self.column, kind, &support);
                if support != Support::Exact {
                    continue;
                }
                let text = self.dialect().literal_for(literal.operand(), self.column).unwrap();
                let written = self.dialect().compare(&term, sign, &text);
                conditions.push((written.sql.clone(), self.ids_where(|value| value.as_ref().is_some_and(|value| holds(sign, value, literal)))));
                if written.negatable {
                    conditions
                        .push((format!("(NOT {})", written.sql), self.ids_where(|value| value.as_ref().is_some_and(|value| !holds(sign, value, literal)))));
                }
                listed.push(text);
                exact_literals.push(literal.clone());
            }
            if matches!(sign, "=" | "<>") && listed.len() > 2 {
                let among = |value: &Value| exact_literals[..2].iter().any(|literal| literal.same(value));
                let negated = sign == "<>";
                let list = self.dialect().compare_list(&term, negated, &listed[..2]);
                conditions.push((list.sql, self.ids_where(|value| value.as_ref().is_some_and(|value| among(value) != negated))));
            }
        }
        self.check_conditions(conditions, page).await;
    }

    async fn null_tests(&self, page: &mut Page) {
        let mut conditions = Vec::new();
        for (operation, wants_null) in [(Operation::IsNull, true), (Operation::IsNotNull, false)] {
            let support = self.subject.source.support(&operation, self.column);
            page.operation(self.column, "IS NULL", &support);
            if support == Support::Exact {
                let sql = self.dialect().null_test(&self.term("a"), wants_null);
                conditions.push((format!("(NOT {sql})"), self.ids_where(|value| value.is_none() != wants_null)));
                conditions.push((sql, self.ids_where(|value| value.is_none() == wants_null)));
            }
        }
        if self.column.data_type == DataType::Boolean {
            let support = self.subject.source.support(&Operation::IsTrue, self.column);
            page.operation(self.column, "IS NULL", &support);
            if support == Support::Exact {
                conditions.push((self.term("a").sql, self.ids_where(|value| *value == Some(Value::Bool(true)))));
            }
        }
        self.check_conditions(conditions, page).await;
    }

    async fn patterns(&self, page: &mut Page) {
        if self.column.data_type != DataType::Utf8 {
            return;
        }
        let mut conditions = Vec::new();
        for (text, escape) in PATTERNS {
            let pattern = Pattern { text, escape };
            let support = self.subject.source.support(&Operation::Like(pattern), self.column);
            page.operation(self.column, "LIKE", &support);
            if support == Support::Exact {
                let sql = self.dialect().like(&self.term("a"), pattern).unwrap();
                let like = |value: &Option<Value>| matches!(value, Some(Value::Text(value)) if matches(value, text, escape));
                conditions.push((format!("(NOT {sql})"), self.ids_where(|value| value.is_some() && !like(value))));
                conditions.push((sql, self.ids_where(like)));
            }
        }
        self.check_conditions(conditions, page).await;
    }

    /// Groups, DISTINCT and keys of joins.
    async fn groups(&self, page: &mut Page) {
        let support = self.subject.source.support(&Operation::Distinguish, self.column);
        page.operation(self.column, "GROUP BY", &support);
        if support != Support::Exact {
            return;
        }
        page.executed += 2;
        let term = self.term("a");
        let sql = format!("SELECT COUNT(*), {} FROM {} GROUP BY {}", shown(&term), self.from("a"), self.dialect().grouped(&term));
        let batch =
            self.subject.fetch(&sql, &[("n", DataType::Int64), ("v", self.column.data_type.clone())]).await.unwrap_or_else(|error| panic!("{sql}: {error:?}"));
        let found: Vec<(Option<i64>, Option<Value>)> = integers(&batch, 0).into_iter().zip(values(&batch, 1).unwrap()).collect();
        for (count, value) in &found {
            let same = self.values.iter().filter(|known| alike(known, value)).count() as i64;
            assert_eq!(*count, Some(same), "{sql}: {value:?}");
        }
        let all: i64 = found.iter().filter_map(|(count, _)| *count).sum();
        assert_eq!(all, self.ids.len() as i64, "{sql}");
        let Some(same) = self.dialect().same(&term, &self.term("b")) else { return };
        self.partners(&same.sql, page).await;
        let sql = format!("SELECT {}, {} FROM {} JOIN {} ON {}", self.id("a"), self.id("b"), self.from("a"), self.from("b"), same.sql);
        let batch = self.rows(&sql, 2, &[]).await.unwrap_or_else(|error| panic!("{sql}: {error:?}"));
        let mut found: Vec<(i64, i64)> = integers(&batch, 0).into_iter().flatten().zip(integers(&batch, 1).into_iter().flatten()).collect();
        let equal = |a: i64, b: i64| self.value(a).as_ref().zip(self.value(b).as_ref()).is_some_and(|(a, b)| a.same(b));
        let mut expected: Vec<(i64, i64)> = self.pairs().into_iter().filter(|(a, b)| equal(*a, *b)).collect();
        found.sort_unstable();
        expected.sort_unstable();
        assert_eq!(found, expected, "{sql}");
    }

    /// Rows that have a partner among some others, and those that have none. A cache of subqueries that goes by the collation would show here.
    async fn partners(&self, same: &str, page: &mut Page) {
        let middle = self.ids[self.ids.len() / 2];
        for (word, wanted) in [("EXISTS", true), ("NOT EXISTS", false)] {
            page.executed += 1;
            let asked = format!("SELECT 1 FROM {} WHERE {} > {middle} AND {same}", self.from("b"), self.id("b"));
            let sql = format!("SELECT {} FROM {} WHERE {word} ({asked})", self.id("a"), self.from("a"));
            let batch = self.rows(&sql, 1, &[]).await.unwrap_or_else(|error| panic!("{sql}: {error:?}"));
            let has = |value: &Option<Value>| value.is_some() && self.ids.iter().any(|id| *id > middle && alike(self.value(*id), value));
            let mut expected = self.ids_where(|value| has(value) == wanted);
            let mut found: Vec<i64> = integers(&batch, 0).into_iter().flatten().collect();
            expected.sort_unstable();
            found.sort_unstable();
            assert_eq!(found, expected, "{sql}");
        }
    }

    fn pairs(&self) -> Vec<(i64, i64)> {
        self.ids.iter().flat_map(|a| self.ids.iter().map(|b| (*a, *b))).collect()
    }

    async fn orders(&self, page: &mut Page) {
        let support = self.subject.source.support(&Operation::Order, self.column);
        page.operation(self.column, "ORDER BY", &support);
        if support != Support::Exact {
            return;
        }
        let term = self.term("a");
        for (descending, nulls_first) in [(false, false), (false, true), (true, false), (true, true)] {
            page.executed += 1;
            let first = self.ids.len() - 1;
            let sql = format!(
                "SELECT {} FROM {} ORDER BY {}{}",
                self.id("a"),
                self.from("a"),
                self.dialect().order(&term, descending, nulls_first),
                self.dialect().limit(first as u64)
            );
            let batch = self.rows(&sql, 1, &[]).await.unwrap_or_else(|error| panic!("{sql}: {error:?}"));
            let found: Vec<&Option<Value>> = integers(&batch, 0).into_iter().flatten().map(|id| self.value(id)).collect();
            let mut expected: Vec<&Option<Value>> = self.values.iter().collect();
            expected.sort_by(|a, b| sorted_as(a, b, descending, nulls_first));
            assert!(found.len() == first && found.iter().zip(&expected).all(|(a, b)| alike(a, b)), "{sql}\nfound {found:?}\nexpected {expected:?}");
        }
        page.executed += 1;
        let (a, b) = (self.dialect().ordered(&term), self.dialect().ordered(&self.term("b")));
        let sql = format!("SELECT {}, {} FROM {} CROSS JOIN {} WHERE {a} < {b}", self.id("a"), self.id("b"), self.from("a"), self.from("b"));
        let batch = self.rows(&sql, 2, &[]).await.unwrap_or_else(|error| panic!("{sql}: {error:?}"));
        let below = |a: i64, b: i64| self.value(a).as_ref().zip(self.value(b).as_ref()).is_some_and(|(a, b)| a.order(b).is_lt());
        assert_eq!(batch.num_rows(), self.pairs().into_iter().filter(|(a, b)| below(*a, *b)).count(), "{sql}");
    }

    async fn aggregate(&self, aggregate: Aggregate, distinct: bool, page: &mut Page) {
        let Some(result) = aggregate_type(aggregate, &self.column.data_type) else { return };
        let written = self.subject.source.aggregate(aggregate, Some(&self.term("a")), distinct, &result);
        page.aggregate(self.column, aggregate, distinct, &written);
        let Ok(term) = written else { return };
        page.executed += 3;
        assert_eq!(term.meaning.data_type, result, "{}", term.sql);
        let expected = aggregated(aggregate, &self.values, distinct, &result);
        assert!(expected.is_ok() || !term.total, "{} can fail", term.sql);
        let nothing = aggregated(aggregate, &[], distinct, &result);
        for (condition, expected) in [("", expected), (" WHERE 1 = 0", nothing)] {
            let sql = format!("SELECT {} FROM {}{condition}", shown(&term), self.from("a"));
            let found = self.rows(&sql, 0, &[&result]).await;
            check_outcome(&sql, found.map(|batch| values(&batch, 0).unwrap().remove(0)), &expected);
        }
        let sql = format!("SELECT {}, {} FROM {} GROUP BY {}", self.id("a"), shown(&term), self.from("a"), self.id("a"));
        let batch = self.rows(&sql, 1, &[&result]).await.unwrap_or_else(|error| panic!("{sql}: {error:?}"));
        for (id, found) in integers(&batch, 0).into_iter().flatten().zip(values(&batch, 1).unwrap()) {
            let expected = aggregated(aggregate, std::slice::from_ref(self.value(id)), distinct, &result);
            check_outcome(&sql, Ok(found), &expected);
        }
    }

    async fn function(&self, call: &Call, page: &mut Page) {
        let (subject, other) = (self.term("a"), self.term("b"));
        let mut terms = vec![subject];
        let mut literals: Vec<Option<Value>> = vec![None];
        for beside in &call.beside {
            match beside {
                Beside::Column => (terms.push(other.clone()), literals.push(None)),
                Beside::Literal(value, data_type) => {
                    let sql = self.dialect().literal(value.operand(), data_type).unwrap();
                    (terms.push(Term::computed(sql, "", data_type.clone(), true)), literals.push(Some(value.clone())))
                }
            };
        }
        let arguments: Vec<Argument<'_>> =
            terms.iter().zip(&literals).map(|(term, literal)| Argument { term, literal: literal.as_ref().map(Value::operand) }).collect();
        let written = self.subject.source.function(call.function, &arguments, &call.result);
        page.function(self.column, &call.words, &written);
        if let Ok(term) = written {
            assert_eq!(term.meaning.data_type, call.result, "{}", term.sql);
            self.check_function(call, &term, page).await;
        }
    }

    async fn check_function(&self, call: &Call, term: &Term, page: &mut Page) {
        let paired = call.beside.iter().any(|beside| matches!(beside, Beside::Column));
        let pairs = if paired { self.pairs() } else { self.ids.iter().map(|id| (*id, *id)).collect() };
        let expected: BTreeMap<(i64, i64), super::calls::Outcome> =
            pairs.into_iter().map(|(a, b)| ((a, b), meaning(call, self.value(a), self.value(b)))).collect();
        let joined = format!(
            "{} JOIN {} ON {}",
            self.from("a"),
            self.from("b"),
            if paired { "1 = 1".to_owned() } else { format!("{} = {}", self.id("a"), self.id("b")) }
        );
        let head = format!("SELECT {}, {}, {} FROM {joined} WHERE ", self.id("a"), self.id("b"), shown(term));
        let row = |(a, b): &(i64, i64)| format!("({} = {a} AND {} = {b})", self.id("a"), self.id("b"));
        let fine: Vec<String> = expected.iter().filter(|(_, outcome)| outcome.is_ok()).map(|(pair, _)| row(pair)).collect();
        page.executed += fine.len();
        if !fine.is_empty() {
            let sql = format!("{head}{}", fine.join(" OR "));
            let batch = self.rows(&sql, 2, &[&call.result]).await.unwrap_or_else(|error| panic!("{sql}: {error:?}"));
            let found = values(&batch, 2).unwrap();
            assert_eq!(found.len(), fine.len(), "{sql}");
            for ((a, b), found) in integers(&batch, 0).into_iter().flatten().zip(integers(&batch, 1).into_iter().flatten()).zip(found) {
                check_outcome(&format!("{} for rows {a} and {b} of {}", term.sql, self.column.name), Ok(found), &expected[&(a, b)]);
            }
        }
        for (pair, outcome) in expected.iter().filter(|(_, outcome)| outcome.is_err()) {
            page.executed += 1;
            assert!(!term.total, "{} can fail", term.sql);
            let sql = format!("{head}{}", row(pair));
            let found = self.rows(&sql, 2, &[&call.result]).await.map(|batch| values(&batch, 2).unwrap().remove(0));
            check_outcome(&sql, found, outcome);
        }
    }
}

fn check_outcome(sql: &str, found: weir_base::Result<Option<Value>>, expected: &super::calls::Outcome) {
    match (found, expected) {
        (Ok(found), Ok(expected)) => assert!(alike(&found, expected), "{sql}\nfound {found:?}\nexpected {expected:?}"),
        (Err(error), Err(())) => assert!(matches!(error.code(), ErrorCode::ValueOutOfRange | ErrorCode::DivisionByZero), "{sql}: {error:?}"),
        (Ok(found), Err(())) => panic!("{sql}\nfound {found:?}\nexpected an error"),
        (Err(error), Ok(expected)) => panic!("{sql}\nfailed with {error:?}\nexpected {expected:?}"),
    }
}

/// As the engine reads a term.
fn shown(term: &Term) -> String {
    term.meaning.read_as.map_or_else(|| term.sql.clone(), |pattern| pattern.replace("{}", &term.sql))
}

/// LIKE by its definition: `%` is any letters, `_` one, the letter behind the escape itself.
fn matches(text: &str, pattern: &str, escape: char) -> bool {
    fn rest(text: &[char], pattern: &[char], escape: char) -> bool {
        match pattern {
            [] => text.is_empty(),
            [first, literal, after @ ..] if *first == escape => text.first() == Some(literal) && rest(&text[1..], after, escape),
            ['%', after @ ..] => (0..=text.len()).any(|skipped| rest(&text[skipped..], after, escape)),
            ['_', after @ ..] => !text.is_empty() && rest(&text[1..], after, escape),
            [letter, after @ ..] => text.first() == Some(letter) && rest(&text[1..], after, escape),
        }
    }
    let letters = |text: &str| text.chars().collect::<Vec<char>>();
    rest(&letters(text), &letters(pattern), escape)
}
