// SPDX-License-Identifier: Apache-2.0
//! What DBeaver, Metabase, Superset, Power BI and others ask the catalog: each text of `tools/` runs, and finds what it looks for.

use super::ground;
use std::path::Path;

/// Texts that have to find something, and what must be among it. The others ask for keys and the like, of which there are none.
const FOUND: [(&str, &str); 13] = [
    ("asyncpg_types", "1700|pg_catalog|numeric|b||0|"),
    ("datagrip_overview", "app_pg|"),
    ("dbeaver_columns", "|balance|1700|"),
    ("dbeaver_databases", "billing_mysql"),
    ("dbeaver_schemas", "desk.main"),
    ("dbeaver_tables", "everybody who ever signed up"),
    ("dbt_relations", "weir|visits|lake.web|table"),
    ("metabase_fields", "balance|numeric|3|app_pg.public|customers|f|"),
    ("metabase_privileges", "|app_pg.public|customers|"),
    ("metabase_tables", "app_pg.public|customers|TABLE|everybody who ever signed up|"),
    ("npgsql_types", "pg_catalog|1009|_text|a|f|25"),
    ("pgcli_completion", "app_pg.public|customers|balance|numeric|f|"),
    ("superset_views", "paying"),
];

#[tokio::test(flavor = "multi_thread")]
async fn catalog_questions_of_tools() {
    let (_world, doors, _file) = ground::open().await;
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("wire/tools");
    let mut texts: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    texts.sort();
    assert!(texts.len() > 15, "only {} texts", texts.len());
    let mut wrong = Vec::new();
    for path in &texts {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let finished = doors.psql_in("weir", &["-A", "-t", "-v", "ON_ERROR_STOP=1"], &std::fs::read_to_string(path).unwrap()).await;
        let wanted = FOUND.iter().find(|(known, _)| *known == name).map_or("", |(_, wanted)| wanted);
        if !finished.success || !finished.output.contains(wanted) {
            wrong.push(format!("{name}: {}", finished.output));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
