// SPDX-License-Identifier: Apache-2.0
//! What EXPLAIN says should be changed is changed, at the source or in the question, and then the work is done there.

use crate::kit::{World, mariadb, postgres};
use weir_api::{Kept, PlanReport};

const APP: &str = "
    CREATE EXTENSION IF NOT EXISTS citext;
    CREATE COLLATION loose (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
    CREATE TABLE texts (id int PRIMARY KEY, loose varchar(20) COLLATE loose NOT NULL, cased citext, any_number numeric, fraction double precision);
    INSERT INTO texts SELECT n, 'name ' || n % 100, 'Name ' || n % 100, n / 10.0, n / 7.0 FROM generate_series(1, 20000) n;
    ANALYZE texts";

const BILLING: &str = "
    CREATE TABLE texts (id int PRIMARY KEY, long_text text COLLATE utf8mb4_general_ci NOT NULL, odd varchar(20) CHARACTER SET cp932, single float);
    INSERT INTO texts SELECT seq, concat('name ', seq % 100), concat('o', seq % 100), seq / 4 FROM seq_1_to_20000;
    ANALYZE TABLE texts PERSISTENT FOR ALL";

async fn world(database: &str) -> World {
    let sources = World::builder().source("app", "postgres", &postgres().await.url(database)).source("billing", "mysql", &mariadb().await.url(database));
    sources.start().await
}

async fn report(world: &World, sql: &str) -> PlanReport {
    let json = world.rows(&format!("EXPLAIN (FORMAT JSON) {sql}")).await.concat().join("\n");
    serde_json::from_str(&json).unwrap_or_else(|error| panic!("{error}: {json}"))
}

async fn kept(world: &World, sql: &str) -> Vec<Kept> {
    report(world, sql).await.sources.into_iter().flat_map(|source| source.statements).flat_map(|statement| statement.kept).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_at_the_source_that_was_advised_works() {
    let database = "remedies";
    postgres().await.run(database, APP).await.unwrap();
    mariadb().await.run(database, BILLING).await.unwrap();
    for (source, code, condition, statement) in [
        (
            "app",
            "collation",
            "SELECT DISTINCT loose FROM app.public.texts",
            "ALTER TABLE \"public\".\"texts\" ALTER COLUMN \"loose\" TYPE character varying(20) COLLATE \"C\"",
        ),
        ("app", "collation", "SELECT id FROM app.public.texts WHERE cased = 'Name 7'", "ALTER TABLE \"public\".\"texts\" ALTER COLUMN \"cased\" TYPE text"),
        (
            "app",
            "numeric",
            "SELECT id FROM app.public.texts WHERE any_number = 7.5",
            "ALTER TABLE \"public\".\"texts\" ALTER COLUMN \"any_number\" TYPE numeric(38, 18)",
        ),
        (
            "billing",
            "sort_length",
            "SELECT DISTINCT long_text FROM billing.remedies.texts",
            "ALTER TABLE `remedies`.`texts` MODIFY `long_text` varchar(255) COLLATE utf8mb4_general_ci NOT NULL",
        ),
        (
            "billing",
            "charset",
            "SELECT id FROM billing.remedies.texts WHERE odd = 'o7'",
            "ALTER TABLE `remedies`.`texts` MODIFY `odd` varchar(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL",
        ),
        ("billing", "float", "SELECT DISTINCT single FROM billing.remedies.texts", "ALTER TABLE `remedies`.`texts` MODIFY `single` double NULL"),
    ] {
        let before = world(database).await;
        let told = kept(&before, condition).await;
        let told = told.iter().find(|kept| kept.code == code).unwrap_or_else(|| panic!("{condition}: {told:#?}"));
        let remedy = told.remedy.clone().unwrap_or_default();
        assert_eq!(remedy, statement, "{condition}");
        let rows = before.rows(&format!("SELECT count(*) FROM ({condition}) AS q")).await;
        match source {
            "app" => postgres().await.run(database, &remedy).await.unwrap(),
            _ => mariadb().await.run(database, &remedy).await.unwrap(),
        }
        let after = world(database).await;
        let left = kept(&after, condition).await;
        assert!(left.iter().all(|kept| kept.code != code), "{remedy} changed nothing: {left:#?}");
        assert_eq!(after.rows(&format!("SELECT count(*) FROM ({condition}) AS q")).await, rows, "{condition}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_of_a_column_of_mariadb_keeps_all_else_of_it() {
    let database = "remedies_again";
    postgres().await.run(database, "CREATE TABLE t (id int)").await.unwrap();
    let script = r"CREATE TABLE texts (id int PRIMARY KEY,
            long_text text COLLATE utf8mb4_general_ci NOT NULL DEFAULT 'it''s' COMMENT 'what {table} it''s' CHECK (long_text <> 'x'),
            single float unsigned DEFAULT 1.5 COMMENT 'one', made text COLLATE utf8mb4_general_ci AS (concat(long_text, '!')) STORED, hidden float INVISIBLE,
            odd text COLLATE utf8mb4_general_ci COMMENT 'a \\ in it');
        INSERT INTO texts (id, long_text) SELECT seq, concat('name ', seq % 100) FROM seq_1_to_1000;
        CREATE VIEW shown AS SELECT long_text FROM texts";
    mariadb().await.run(database, script).await.unwrap();
    for (column, statement) in [
        (
            "long_text",
            "ALTER TABLE `remedies_again`.`texts` MODIFY `long_text` varchar(255) COLLATE utf8mb4_general_ci NOT NULL DEFAULT 'it''s' COMMENT 'what {table} it''s' CHECK (`long_text` <> 'x')",
        ),
        ("single", "ALTER TABLE `remedies_again`.`texts` MODIFY `single` double unsigned NULL DEFAULT 1.5 COMMENT 'one'"),
        ("hidden", "ALTER TABLE `remedies_again`.`texts` MODIFY `hidden` double NULL INVISIBLE"),
    ] {
        let definition = || async {
            let made = mariadb().await.query(database, "SHOW CREATE TABLE texts").await.unwrap();
            let line = made.replace("\\n", "\n").lines().find(|line| line.trim_start().starts_with(&format!("`{column}`"))).unwrap().to_owned();
            line.split_once(' ').map(|_| line.trim().to_owned()).unwrap()
        };
        let before = definition().await;
        let world = world(database).await;
        let told = kept(&world, &format!("SELECT DISTINCT {column} FROM billing.remedies_again.texts")).await;
        let remedy = told.iter().find_map(|kept| kept.remedy.clone()).unwrap_or_default();
        assert_eq!(remedy, statement);
        mariadb().await.run(database, &remedy).await.unwrap();
        let after = definition().await;
        for kept in ["DEFAULT 'it\\'s'", "COMMENT 'what {table} it''s'", "CHECK", "DEFAULT 1.5", "COMMENT 'one'", "INVISIBLE", "unsigned", "NOT NULL"] {
            assert_eq!(before.contains(kept), after.contains(kept), "{kept}: {before} became {after}");
        }
        assert_ne!(before, after);
    }
    let world = world(database).await;
    for (sql, words) in [
        (
            "SELECT DISTINCT made FROM billing.remedies_again.texts",
            "MODIFY the column to varchar(255) COLLATE utf8mb4_general_ci, and say again all else that SHOW CREATE TABLE says of it",
        ),
        (
            "SELECT DISTINCT odd FROM billing.remedies_again.texts",
            "MODIFY the column to varchar(255) COLLATE utf8mb4_general_ci, and say again all else that SHOW CREATE TABLE says of it",
        ),
    ] {
        let told = kept(&world, sql).await;
        assert_eq!(told.iter().find_map(|kept| kept.remedy.as_deref()), Some(words), "{sql}: {told:#?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_statement_is_advised_that_fails_for_a_view() {
    let database = "remedies_views";
    let script = "CREATE COLLATION loose (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
        CREATE TABLE under (id int PRIMARY KEY, a text COLLATE loose, b text COLLATE loose, c text COLLATE loose, d text COLLATE loose GENERATED ALWAYS AS (c || '!') STORED);
        CREATE VIEW shown AS SELECT id, a FROM under; CREATE MATERIALIZED VIEW made AS SELECT id, a FROM under;
        CREATE TABLE parent (id int, s text COLLATE loose); CREATE TABLE child () INHERITS (parent);
        CREATE TABLE cut (id int, s text COLLATE loose, t text COLLATE loose) PARTITION BY LIST (s)";
    postgres().await.run(database, script).await.unwrap();
    let billing = "CREATE TABLE texts (id int PRIMARY KEY, long_text text COLLATE utf8mb4_general_ci); CREATE VIEW shown AS SELECT * FROM texts";
    mariadb().await.run(database, billing).await.unwrap();
    let world = world(database).await;
    let (collated, beneath) = ("text COLLATE \"C\"", "give the column beneath the view the type");
    let built = format!("give the column the type {collated}, with what is built on it (views, computed columns, partitions) taken away before and made again");
    for (table, column, advice) in [
        ("app.public.shown", "a", format!("{beneath} {collated}")),
        ("app.public.made", "a", format!("{beneath} {collated}")),
        ("app.public.under", "a", built.clone()),
        ("app.public.under", "b", format!("ALTER TABLE \"public\".\"under\" ALTER COLUMN \"b\" TYPE {collated}")),
        ("app.public.under", "c", built.clone()),
        ("app.public.child", "s", built.clone()),
        ("app.public.cut", "s", built.clone()),
        ("app.public.cut", "t", format!("ALTER TABLE \"public\".\"cut\" ALTER COLUMN \"t\" TYPE {collated}")),
        ("billing.remedies_views.shown", "long_text", format!("{beneath} varchar(255) COLLATE utf8mb4_general_ci")),
    ] {
        let sql = format!("SELECT DISTINCT {column} FROM {table}");
        let told = kept(&world, &sql).await;
        assert_eq!(told.iter().find_map(|kept| kept.remedy.clone()), Some(advice.clone()), "{sql}: {told:#?}");
        if advice.starts_with("ALTER") {
            postgres().await.run(database, &advice).await.unwrap();
        }
    }
    // The server says so too.
    for column in ["a", "c"] {
        assert!(postgres().await.run(database, &format!("ALTER TABLE under ALTER COLUMN {column} TYPE text COLLATE \"C\"")).await.is_err(), "{column}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_of_the_question_that_was_advised_works() {
    let database = "remedies_asked";
    postgres().await.run(database, APP).await.unwrap();
    mariadb().await.run(database, BILLING).await.unwrap();
    let world = world(database).await;
    for (code, advice, written, better) in [
        (
            "regex_dialect",
            "use LIKE, or starts_with for a prefix",
            "SELECT count(*) FROM app.public.texts WHERE loose ~ 'n.*7'",
            "SELECT count(*) FROM billing.remedies_asked.texts WHERE long_text LIKE 'name 7%'",
        ),
        (
            "all_rows",
            "add a LIMIT, where the first rows are enough",
            "SELECT id FROM app.public.texts ORDER BY id",
            "SELECT id FROM app.public.texts ORDER BY id LIMIT 5",
        ),
        (
            "grouping_sets",
            "group by all the keys, and add these rows up",
            "SELECT id % 10, id % 3, count(*) FROM billing.remedies_asked.texts GROUP BY ROLLUP (id % 10, id % 3)",
            "SELECT id % 10, id % 3, count(*) FROM billing.remedies_asked.texts GROUP BY id % 10, id % 3",
        ),
    ] {
        let told = kept(&world, written).await;
        assert!(told.iter().any(|kept| kept.code == code && kept.remedy.as_deref() == Some(advice)), "{written}: {told:#?}");
        let left = kept(&world, better).await;
        assert!(left.iter().all(|kept| kept.code != code), "{better}: {left:#?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_index_that_was_advised_is_used() {
    let database = "remedies_indexed";
    let texts = "CREATE TABLE big (id int PRIMARY KEY, code text COLLATE \"und-x-icu\", n int, name varchar(20) COLLATE \"und-x-icu\", ch char(9), pat text COLLATE \"und-x-icu\");
        INSERT INTO big SELECT n, 'code ' || n, n, 'name ' || n, 'c' || n, 'p' || n FROM generate_series(1, 50000) n; CREATE INDEX ON big (pat text_pattern_ops); ANALYZE big";
    postgres().await.run(database, texts).await.unwrap();
    let table = "CREATE TABLE big (id int PRIMARY KEY, n int, ubig bigint unsigned, name varchar(40) COLLATE utf8mb4_general_ci, long_text text);
        INSERT INTO big SELECT seq, seq, seq, concat('name ', seq), seq FROM seq_1_to_50000; ANALYZE TABLE big PERSISTENT FOR ALL";
    mariadb().await.run(database, table).await.unwrap();
    for (source, sql, index, plan) in [
        ("app", "SELECT id FROM app.public.big WHERE code > 'code 9999'", "CREATE INDEX ON \"public\".\"big\" (\"code\" COLLATE \"C\")", "Index"),
        ("app", "SELECT id FROM app.public.big WHERE n = 7", "CREATE INDEX ON \"public\".\"big\" (\"n\")", "Index"),
        ("app", "SELECT id FROM app.public.big WHERE name LIKE 'name 777%'", "CREATE INDEX ON \"public\".\"big\" (\"name\" COLLATE \"C\")", "Index"),
        ("app", "SELECT id FROM app.public.big WHERE ch = 'c77'", "CREATE INDEX ON \"public\".\"big\" (\"ch\")", "Index"),
        ("billing", "SELECT id FROM billing.remedies_indexed.big WHERE ubig = 300", "CREATE INDEX `big_ubig` ON `remedies_indexed`.`big` (`ubig`)", "\"key\""),
        (
            "billing",
            "SELECT id FROM billing.remedies_indexed.big WHERE name LIKE 'name 777%'",
            "CREATE INDEX `big_name` ON `remedies_indexed`.`big` (`name`)",
            "\"key\"",
        ),
        ("billing", "SELECT id FROM billing.remedies_indexed.big WHERE n = 7", "CREATE INDEX `big_n` ON `remedies_indexed`.`big` (`n`)", "\"key\""),
    ] {
        let before = world(database).await;
        let advised = report(&before, sql).await;
        assert_eq!(advised.suggestions.iter().map(|advice| advice.sql.as_str()).collect::<Vec<_>>(), [index], "{sql}: {:?}", advised.sources);
        assert!(before.explain(sql).await.contains("no index begins with"), "{sql}");
        let sent = &advised.sources[0].statements[0].sql;
        match source {
            "app" => postgres().await.run(database, &format!("{index}; ANALYZE big")).await.unwrap(),
            _ => mariadb().await.run(database, index).await.unwrap(),
        }
        let explained = match source {
            "app" => postgres().await.query(database, &format!("EXPLAIN {sent}")).await.unwrap(),
            _ => mariadb().await.query(database, &format!("EXPLAIN FORMAT=JSON {sent}")).await.unwrap(),
        };
        assert!(explained.contains(plan), "{sent}: {explained}");
        let after = world(database).await;
        assert!(report(&after, sql).await.suggestions.is_empty(), "{sql}");
    }
    // A question that wants most of the table has no use for an index, nor has one over a few rows.
    let world = world(database).await;
    assert!(report(&world, "SELECT id FROM app.public.big WHERE n > 10").await.suggestions.is_empty());
    for sql in [
        "SELECT id FROM app.public.big WHERE pat LIKE 'p777%'",
        "SELECT id FROM app.public.big WHERE ch LIKE 'c777%'",
        "SELECT id FROM billing.remedies_indexed.big WHERE long_text = '7'",
    ] {
        assert!(report(&world, sql).await.suggestions.is_empty(), "served, or by no index: {sql}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_really_moved_is_told_with_the_keys() {
    let database = "remedies_keys";
    postgres().await.run(database, "CREATE TABLE big AS SELECT n AS id, 'name ' || n AS name FROM generate_series(1, 20000) n; ANALYZE big").await.unwrap();
    mariadb().await.run(database, "CREATE TABLE few (id int PRIMARY KEY); INSERT INTO few SELECT seq * 100 FROM seq_1_to_50; ANALYZE TABLE few").await.unwrap();
    let world = world(database).await;
    let lines = world.rows("EXPLAIN ANALYZE SELECT f.id, b.name FROM app.public.big b JOIN billing.remedies_keys.few f ON f.id = b.id").await.concat();
    let told = |wanted: &str| assert!(lines.iter().any(|line| line.contains(wanted)), "{wanted}: {lines:#?}");
    told("app gave 50 rows");
    told("billing gave 50 rows");
    told("app was asked for 50 keys of id, found in billing.remedies_keys.few");
}
