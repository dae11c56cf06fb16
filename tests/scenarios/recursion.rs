// SPDX-License-Identifier: Apache-2.0
//! Recursive questions over the tables of a source: each table is read once, however many rounds there are.

use crate::kit::{SqliteFile, World};
use weir_guard::Limits;

const ROUNDS: usize = 40;

#[tokio::test(flavor = "multi_thread")]
async fn a_recursive_question_reads_its_source_once() {
    let file = SqliteFile::with("CREATE TABLE steps (id INTEGER, next INTEGER, name TEXT)").await;
    let rows: Vec<String> = (0..ROUNDS).map(|id| format!("({id}, {}, 'step {id}')", id + 1)).collect();
    file.run(&format!("INSERT INTO steps VALUES {}", rows.join(", "))).await;
    let limits = Limits { connections: 2, ..Limits::default() };
    let world = World::builder().limited("walk", "sqlite", &file.url(), limits).start().await;
    let walked = "WITH RECURSIVE walked AS (SELECT id, next, name FROM walk.main.steps WHERE id = 0 \
                  UNION ALL SELECT s.id, s.next, s.name FROM walked w JOIN walk.main.steps s ON s.id = w.next) \
                  SELECT count(*), max(id), max(name) FROM walked";
    assert_eq!(world.rows(walked).await, [["40", "39", "step 9"]]);
    let receipt = world.receipt(walked).await;
    let [source] = receipt.sources.as_slice() else { panic!("{:?}", receipt.sources) };
    assert_eq!((source.statements, source.rows), (2, ROUNDS as u64 + 1), "one statement for the begin, one for all rounds");
    assert_eq!(world.rows("SELECT connections_in_use FROM system.sources WHERE source = 'walk'").await, [["0"]]);
}
