// SPDX-License-Identifier: Apache-2.0
//! Rows a second out of a PostgreSQL statement into Arrow, and the time of a trivial statement over a warm session:
//! `postgres_throughput <url> <table>`. Beside it: `psql -c "copy (select * from t) to stdout" > /dev/null`.

use futures::StreamExt;
use std::time::Instant;
use weir_base::{QueryId, SourceName, UserName};
use weir_guard::{Guard, Limits, Purpose};
use weir_source::{OutputColumn, Source, SourceSpec, Statement, ValuePolicy, connect};

fn statement(sql: String, columns: &[weir_source::Column]) -> Statement {
    let output = |column: &weir_source::Column| OutputColumn { name: column.name.clone(), data_type: column.data_type.clone(), label: column.name.clone() };
    Statement { sql, outputs: columns.iter().map(output).collect(), user: UserName::new("bench"), query_id: QueryId::fresh() }
}

async fn run(source: &dyn Source, guard: &std::sync::Arc<Guard>, statement: Statement) -> weir_base::Result<usize> {
    let mut fetched = source.fetch(guard.permit(Purpose::Query).await?, statement).await?;
    let mut rows = 0;
    while let Some(batch) = fetched.batches.next().await {
        rows += batch?.num_rows();
    }
    Ok(rows)
}

#[tokio::main]
async fn main() -> weir_base::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let (url, name) = (arguments.next().unwrap_or_default(), arguments.next().unwrap_or_default());
    let limits = Limits { statement_timeout: std::time::Duration::from_secs(600), ..Limits::default() };
    let spec = SourceSpec {
        name: SourceName::new("bench"),
        kind: "postgres".into(),
        url,
        allow_primary: true,
        nan: ValuePolicy::Keep,
        infinity: ValuePolicy::Keep,
        limits: limits.clone(),
        options: std::collections::BTreeMap::new(),
    };
    let source = connect(spec)?;
    let guard = Guard::new(SourceName::new("bench"), limits);
    let found = source.discover(guard.permit(Purpose::Metadata).await?).await?;
    let Some(table) = found.tables.into_iter().find(|table| table.name == name) else {
        eprintln!("no table {name}");
        return Ok(());
    };
    let dialect = source.dialect();
    let selected: Vec<String> = table.columns.iter().map(|column| column.read_as.unwrap_or("{}").replace("{}", &dialect.quote(&column.name))).collect();
    let sql = format!("SELECT {} FROM {}", selected.join(", "), dialect.table(&table.schema, &table.name));
    for _ in 0..4 {
        let began = Instant::now();
        let rows = run(&*source, &guard, statement(sql.clone(), &table.columns)).await?;
        let seconds = began.elapsed().as_secs_f64();
        println!("{rows} rows in {seconds:.3} s: {:.2} M rows/s", rows as f64 / seconds / 1e6);
    }
    let mut trivial: Vec<f64> = Vec::new();
    for _ in 0..500 {
        let began = Instant::now();
        run(&*source, &guard, statement(format!("{sql} LIMIT 1"), &table.columns)).await?;
        trivial.push(began.elapsed().as_secs_f64() * 1000.0);
    }
    trivial.sort_by(f64::total_cmp);
    println!("one row: median {:.3} ms, p95 {:.3} ms", trivial[250], trivial[475]);
    Ok(())
}
