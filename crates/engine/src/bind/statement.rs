// SPDX-License-Identifier: Apache-2.0
//! From text to one classified statement: a question, a setting, or something that writes.

use super::clauses;
use super::depth;
use super::dialect::WeirDialect;
use super::elsewhere;
use super::misplaced;
use super::precedence;
use super::writes;
use crate::errors::from_parser;
use crate::pg_catalog;
use datafusion::sql::sqlparser::ast::{self, AnalyzeFormat, AnalyzeFormatKind, ObjectName, ObjectType, Reset, SchemaName, Set, Statement, UtilityOption};
use datafusion::sql::sqlparser::keywords::Keyword;
use datafusion::sql::sqlparser::parser::Parser;
use datafusion::sql::sqlparser::tokenizer::{Location, Token, TokenWithSpan, Tokenizer};
use weir_base::limits::{SQL_DEPTH_MAX, SQL_TEXT_BYTES_MAX};
use weir_base::{ByteSize, Error, ErrorCode, Result};

/// A statement by what has to be done with it.
#[derive(Debug)]
pub(crate) enum Command {
    /// SELECT, VALUES, WITH, TABLE, SHOW TABLES …
    Question(Box<Statement>),
    Explain(Explain),
    /// The same question with and without push-down.
    Verify(Box<Statement>),
    Set(Vec<(String, String)>),
    /// Until the transaction block ends.
    SetLocal(Vec<(String, String)>),
    Reset(Option<String>),
    Show(String),
    ShowAll,
    /// Accepted so that clients are content; there is nothing to begin or to commit in a reader.
    Transaction(&'static str),
    CreateSchema {
        name: ObjectName,
        if_not_exists: bool,
    },
    CreateTable(Box<ast::CreateTable>),
    Insert(Box<Statement>),
    DropTables {
        names: Vec<ObjectName>,
        if_exists: bool,
    },
    DropSchemas {
        names: Vec<ObjectName>,
        if_exists: bool,
    },
    /// A write that the lake does not do yet and a source never does; the target decides which error it is.
    OtherWrite {
        what: String,
        target: Option<ObjectName>,
    },
}

impl Command {
    /// Whether there can be a parameter in it.
    pub fn takes_parameters(&self) -> bool {
        match self {
            Self::Question(_) | Self::Explain(_) | Self::Verify(_) | Self::Insert(_) => true,
            // The error of a write that is not done is about the write.
            Self::OtherWrite { .. } => true,
            Self::CreateTable(table) => table.query.is_some(),
            _ => false,
        }
    }
}

/// EXPLAIN of an inner statement.
#[derive(Debug)]
pub(crate) struct Explain {
    pub analyze: bool,
    pub format: ExplainFormat,
    pub inner: Box<Statement>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ExplainFormat {
    Words,
    Json,
    /// The operators of the query engine, for those who know them.
    Tree,
}

/// Parses exactly one statement.
pub(crate) fn parse(sql: &str) -> Result<Statement> {
    check_length(sql)?;
    let tokens = tokens(sql)?;
    depth::check(&tokens)?;
    if let Some(error) = elsewhere::refused(&tokens) {
        return Err(error);
    }
    let mut statements = parser(spelled_out(tokens)).parse_statements().map_err(from_parser)?;
    match (statements.pop(), statements.is_empty()) {
        (Some(mut one), true) => {
            depth::check_subqueries(&one)?;
            misplaced::check(&one)?;
            precedence::restore(&mut one);
            pg_catalog::adapt(&mut one);
            clauses::adapt(&mut one)?;
            Ok(one)
        }
        (None, _) => Err(Error::new(ErrorCode::Syntax, "empty statement")),
        (Some(_), false) => Err(Error::new(ErrorCode::Syntax, "more than one statement").with_hint("send them one by one")),
    }
}

/// Cuts a text at its semicolons, leaving out what is empty. Quotes and comments are respected.
pub(crate) fn split(sql: &str) -> Result<Vec<String>> {
    check_length(sql)?;
    let offsets = LineOffsets::of(sql);
    let mut pieces = Vec::new();
    let mut start = 0;
    let mut words = 0;
    for token in tokens(sql)? {
        match token.token {
            Token::Whitespace(_) | Token::EOF => {}
            Token::SemiColon => {
                let end = offsets.byte(token.span.start);
                if words > 0 {
                    pieces.push(sql[start..end].trim().to_owned());
                }
                start = end + 1;
                words = 0;
            }
            _ => words += 1,
        }
    }
    if words > 0 {
        pieces.push(sql[start..].trim().to_owned());
    }
    Ok(pieces)
}

fn check_length(sql: &str) -> Result<()> {
    if sql.len() <= SQL_TEXT_BYTES_MAX {
        return Ok(());
    }
    Err(Error::new(ErrorCode::LimitExceeded, "statement is too long")
        .with_detail(format!("{}, at most {} are read", ByteSize(sql.len() as u64), ByteSize(SQL_TEXT_BYTES_MAX as u64)))
        .with_hint("put long lists into a table or a parameter"))
}

fn tokens(sql: &str) -> Result<Vec<TokenWithSpan>> {
    Tokenizer::new(&WeirDialect, sql).tokenize_with_location().map_err(|error| from_parser(error.into()))
}

fn parser(mut tokens: Vec<TokenWithSpan>) -> Parser<'static> {
    // Spark and Trino users write PARTITIONED BY; the parser knows expressions only after PARTITION BY.
    for token in &mut tokens {
        if let Token::Word(word) = &mut token.token
            && word.keyword == Keyword::PARTITIONED
        {
            word.keyword = Keyword::PARTITION;
            word.value = "PARTITION".into();
        }
    }
    Parser::new(&WeirDialect).with_recursion_limit(SQL_DEPTH_MAX).with_tokens_with_locations(clauses::write_out_table(tokens))
}

/// Where each line begins, to turn the tokenizer's line and column into a byte offset.
struct LineOffsets<'a> {
    sql: &'a str,
    starts: Vec<usize>,
}

impl<'a> LineOffsets<'a> {
    fn of(sql: &'a str) -> Self {
        let starts = std::iter::once(0).chain(sql.match_indices('\n').map(|(at, _)| at + 1)).collect();
        Self { sql, starts }
    }

    fn byte(&self, at: Location) -> usize {
        let line_start = self.starts.get(at.line.saturating_sub(1) as usize).copied().unwrap_or(self.sql.len());
        let mut chars = self.sql[line_start..].char_indices();
        chars.nth(at.column.saturating_sub(1) as usize).map_or(self.sql.len(), |(offset, _)| line_start + offset)
    }
}

/// Sorts a statement into what has to be done with it.
pub(crate) fn classify(statement: Statement) -> Result<Command> {
    if let Some(write) = writes::hidden(&statement)? {
        return Ok(write);
    }
    Ok(match statement {
        Statement::Explain { statement, options: Some(options), .. } if verifies(&options) => Command::Verify(question_only(*statement, "VERIFY")?),
        Statement::Explain { analyze, statement, format, options, .. } => Command::Explain(explain(analyze, *statement, format, options)?),
        Statement::Set(set) => return classify_set(set),
        Statement::Reset(reset) => Command::Reset(match reset.reset {
            Reset::ALL => None,
            Reset::ConfigurationParameter(name) => Some(dotted(&name)),
        }),
        Statement::ShowVariable { variable } => show(variable.iter().map(|ident| ident.value.clone()).collect()),
        Statement::ShowVariables { .. } => Command::ShowAll,
        Statement::StartTransaction { .. } => Command::Transaction("BEGIN"),
        Statement::Commit { .. } => Command::Transaction("COMMIT"),
        Statement::Rollback { .. } => Command::Transaction("ROLLBACK"),
        Statement::Savepoint { .. } => Command::Transaction("SAVEPOINT"),
        Statement::ReleaseSavepoint { .. } => Command::Transaction("RELEASE"),
        Statement::Discard { .. } => Command::Reset(None),
        Statement::CreateSchema { schema_name, if_not_exists, .. } => create_schema(schema_name, if_not_exists)?,
        Statement::CreateTable(table) => Command::CreateTable(Box::new(table)),
        insert @ Statement::Insert(_) => Command::Insert(Box::new(insert)),
        Statement::Drop { object_type: ObjectType::Table, names, if_exists, .. } => Command::DropTables { names, if_exists },
        Statement::Drop { object_type: ObjectType::Schema, names, if_exists, .. } => Command::DropSchemas { names, if_exists },
        question @ (Statement::Query(_)
        | Statement::ShowTables { .. }
        | Statement::ShowColumns { .. }
        | Statement::ShowSchemas { .. }
        | Statement::ShowDatabases { .. }
        | Statement::ExplainTable { .. }) => Command::Question(Box::new(question)),
        other => other_write(other)?,
    })
}

fn create_schema(name: SchemaName, if_not_exists: bool) -> Result<Command> {
    match name {
        SchemaName::Simple(name) => Ok(Command::CreateSchema { name, if_not_exists }),
        _ => Err(Error::new(ErrorCode::Unsupported, "CREATE SCHEMA AUTHORIZATION is not in Weir").with_hint("rights stand in `roles` of weir.yaml")),
    }
}

/// `VERIFY q` is taken for `EXPLAIN (VERIFY) q`, which the parser knows.
fn spelled_out(tokens: Vec<TokenWithSpan>) -> Vec<TokenWithSpan> {
    let first = tokens.iter().position(|token| !matches!(token.token, Token::Whitespace(_)));
    let verifies = |at: &usize| matches!(&tokens[*at].token, Token::Word(word) if word.quote_style.is_none() && word.value.eq_ignore_ascii_case("verify"));
    let Some(at) = first.filter(verifies) else { return tokens };
    let span = tokens[at].span;
    let spelled = [Token::make_keyword("EXPLAIN"), Token::LParen, Token::make_word("verify", None), Token::RParen];
    let spelled = spelled.into_iter().map(|token| TokenWithSpan { token, span });
    let mut tokens = tokens;
    tokens.splice(at..=at, spelled);
    tokens
}

fn verifies(options: &[UtilityOption]) -> bool {
    options.iter().any(|option| option.name.value.eq_ignore_ascii_case("verify"))
}

/// Error: 0A000 for a write.
fn question_only(inner: Statement, word: &str) -> Result<Box<Statement>> {
    if !matches!(inner, Statement::Query(_)) {
        let error = Error::new(ErrorCode::Unsupported, format!("{word} of a write is not in Weir"));
        return Err(error.with_hint(format!("{word} the SELECT behind it")));
    }
    Ok(Box::new(inner))
}

fn explain(analyze: bool, inner: Statement, format: Option<AnalyzeFormatKind>, options: Option<Vec<UtilityOption>>) -> Result<Explain> {
    let mut explain = Explain { analyze, format: ExplainFormat::Words, inner: question_only(inner, "EXPLAIN")? };
    if let Some(AnalyzeFormatKind::Keyword(format) | AnalyzeFormatKind::Assignment(format)) = format {
        explain.format = match format {
            AnalyzeFormat::JSON => ExplainFormat::Json,
            AnalyzeFormat::TREE => ExplainFormat::Tree,
            _ => ExplainFormat::Words,
        };
    }
    for option in options.unwrap_or_default() {
        let value = option.arg.as_ref().map(|arg| arg.to_string().trim_matches('\'').to_ascii_lowercase()).unwrap_or_default();
        match (option.name.value.to_ascii_lowercase().as_str(), value.as_str()) {
            ("analyze", value) => explain.analyze = !matches!(value, "off" | "false" | "0"),
            ("format", "json") => explain.format = ExplainFormat::Json,
            ("format", "text") => explain.format = ExplainFormat::Words,
            ("format", "tree") => explain.format = ExplainFormat::Tree,
            ("costs" | "verbose" | "buffers" | "timing" | "summary" | "settings", _) => {}
            (name, value) => {
                return Err(Error::new(ErrorCode::Syntax, format!("unknown EXPLAIN option {name} {value}"))
                    .with_hint("write EXPLAIN (ANALYZE, FORMAT JSON) query; formats are text, json and tree"));
            }
        }
    }
    Ok(explain)
}

fn show(words: Vec<String>) -> Command {
    let name = words.join(".").to_ascii_lowercase();
    match name.as_str() {
        "all" => Command::ShowAll,
        "transaction.isolation.level" => Command::Show("transaction_isolation".into()),
        "time.zone" => Command::Show("timezone".into()),
        _ => Command::Show(name),
    }
}

fn classify_set(set: Set) -> Result<Command> {
    Ok(match set {
        Set::SingleAssignment { scope: Some(ast::ContextModifier::Local), variable, values, .. } => {
            Command::SetLocal(vec![(dotted(&variable), value_text(&values))])
        }
        Set::SetTimeZone { local: true, value } => Command::SetLocal(vec![("timezone".into(), value_text(&[value]))]),
        Set::SingleAssignment { variable, values, .. } => Command::Set(vec![(dotted(&variable), value_text(&values))]),
        Set::MultipleAssignments { assignments } => {
            Command::Set(assignments.iter().map(|one| (dotted(&one.name), value_text(std::slice::from_ref(&one.value)))).collect())
        }
        Set::SetTimeZone { value, .. } => Command::Set(vec![("timezone".into(), value_text(&[value]))]),
        Set::SetNames { charset_name, .. } => Command::Set(vec![("client_encoding".into(), charset_name.value)]),
        Set::SetNamesDefault {} => Command::Reset(Some("client_encoding".into())),
        Set::SetTransaction { .. } => Command::Transaction("SET"),
        other => {
            return Err(Error::new(ErrorCode::Unsupported, "this form of SET is not in Weir")
                .with_detail(other.to_string())
                .with_hint("write SET name = value"));
        }
    })
}

fn value_text(values: &[ast::Expr]) -> String {
    let texts: Vec<String> = values
        .iter()
        .map(|value| match value {
            ast::Expr::Value(value) => value.value.clone().into_string().unwrap_or_else(|| value.to_string()),
            ast::Expr::Identifier(ident) => ident.value.clone(),
            other => other.to_string(),
        })
        .collect();
    texts.join(", ")
}

fn dotted(name: &ObjectName) -> String {
    let parts: Vec<String> = name.0.iter().map(|part| part.as_ident().map_or_else(|| part.to_string(), |ident| ident.value.clone())).collect();
    parts.join(".").to_ascii_lowercase()
}

pub(super) fn other_write(statement: Statement) -> Result<Command> {
    let write = |what: &str, target: Option<ObjectName>| Command::OtherWrite { what: what.to_owned(), target };
    Ok(match &statement {
        Statement::Update(update) => write("UPDATE", relation_of(&update.table.relation)),
        Statement::Delete(delete) => {
            let (ast::FromTable::WithFromKeyword(from) | ast::FromTable::WithoutKeyword(from)) = &delete.from;
            write("DELETE", from.first().and_then(|table| relation_of(&table.relation)))
        }
        Statement::Merge(merge) => write("MERGE", relation_of(&merge.table)),
        Statement::Truncate(truncate) => write("TRUNCATE", truncate.table_names.first().map(|target| target.name.clone())),
        Statement::AlterTable(alter) => write("ALTER TABLE", Some(alter.name.clone())),
        Statement::CreateView(view) => write("CREATE VIEW", Some(view.name.clone())),
        Statement::CreateIndex(index) => write("CREATE INDEX", Some(index.table_name.clone())),
        Statement::Drop { object_type, names, .. } => write(&format!("DROP {object_type}"), names.first().cloned()),
        Statement::Copy { source, to, target, .. } => write("COPY FROM", Some(elsewhere::copied(source, *to, target)?)),
        _ => return Err(elsewhere::unknown(&statement)),
    })
}

fn relation_of(factor: &ast::TableFactor) -> Option<ObjectName> {
    match factor {
        ast::TableFactor::Table { name, .. } => Some(name.clone()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splits_at_semicolons_outside_quotes() {
        let pieces = split("select 'a;b'; -- c;d\n ; select \"x;\" from t;\nvalues ('ü;'); select 2").unwrap();
        assert_eq!(pieces, ["select 'a;b'", "-- c;d\n ; select \"x;\" from t".trim_start_matches("-- c;d\n ; "), "values ('ü;')", "select 2"]);
    }

    #[test]
    fn the_seeds_sql_parses() {
        let sql = "SELECT 1 FROM a.b.c c JOIN d.e.f p ON p.x = c.y WHERE p.attempted_at >= current_date - INTERVAL '7' DAY";
        assert!(matches!(classify(parse(sql).unwrap()).unwrap(), Command::Question(_)));
    }

    #[test]
    fn partitioned_by_is_partition_by() {
        let statement = parse("CREATE TABLE lake.web.t PARTITIONED BY (day(ts), region) AS SELECT 1 AS x").unwrap();
        let Command::CreateTable(table) = classify(statement).unwrap() else { panic!("not a CREATE TABLE") };
        assert!(table.partition_by.is_some());
    }

    #[test]
    fn explain_options() {
        let explain = |sql| match classify(parse(sql).unwrap()).unwrap() {
            Command::Explain(explain) => (explain.analyze, explain.format),
            other => panic!("{other:?}"),
        };
        assert_eq!(explain("EXPLAIN SELECT 1"), (false, ExplainFormat::Words));
        assert_eq!(explain("EXPLAIN (FORMAT JSON) SELECT 1"), (false, ExplainFormat::Json));
        assert_eq!(explain("EXPLAIN ANALYZE SELECT 1"), (true, ExplainFormat::Words));
    }

    #[test]
    fn settings_are_read() {
        let Command::Set(set) = classify(parse("SET weir.pushdown = 'random:7'").unwrap()).unwrap() else { panic!("not a SET") };
        assert_eq!(set, [("weir.pushdown".to_owned(), "random:7".to_owned())]);
        assert!(
            matches!(classify(parse("SET TIME ZONE 'Europe/Berlin'").unwrap()).unwrap(), Command::Set(set) if set[0] == ("timezone".into(), "Europe/Berlin".into()))
        );
    }

    #[test]
    fn too_long_a_text_is_refused() {
        let long = format!("SELECT '{}'", "x".repeat(SQL_TEXT_BYTES_MAX));
        assert_eq!(parse(&long).unwrap_err().code(), ErrorCode::LimitExceeded);
    }
}
