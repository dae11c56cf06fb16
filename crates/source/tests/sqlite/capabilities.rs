// SPDX-License-Identifier: Apache-2.0
//! Everything that the capability table calls exact, done by SQLite on tricky rows; and the page of the reference that says so.

use crate::File;
use crate::conformance::{Page, keep, prove};

const TABLES: &str = "
CREATE TABLE loose (id INTEGER PRIMARY KEY, whole INT, name TEXT, folded TEXT COLLATE NOCASE, cut TEXT COLLATE RTRIM, fraction REAL, price DECIMAL(10,2),
    flag BOOLEAN, bytes BLOB, day DATE, clock TIME, stamp TIMESTAMP, anything);
INSERT INTO loose VALUES (1, -9223372036854775808, 'a', 'a', 'a', 0.1, 1.25, 1, X'', '0001-01-01', '00:00:00', '1969-12-31 23:59:59.999999', 1),
    (2, 9223372036854775807, 'A', 'A', 'a ', 1e300, -0.05, 0, X'00', '9999-12-31', '23:59:59.999999', '2024-02-29 12:34:56', 'x'),
    (3, 0, 'a ', 'b', 'b', -0.0, 99999999.99, NULL, X'FF', '2024-02-29', '12:00:00', '9999-12-31 23:59:59.999999', 2.5),
    (4, 7, 'é', 'É', '', 0.0, 0.01, 1, X'0000', '1969-12-31', '12:00:00', '2024-02-29 12:34:56', NULL), (5, NULL, 'it''s', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
    (6, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
CREATE TABLE strict_one (id INTEGER NOT NULL, whole INTEGER, other INT, fraction REAL, bytes BLOB) STRICT;
INSERT INTO strict_one VALUES (1, -9223372036854775808, 5, 0.1, X''), (2, 9223372036854775807, -5, 1e300, X'00'), (3, 0, 0, -0.0, X'FF'), (4, 7, 5, 0.0, X'0000'),
    (5, NULL, NULL, 9e999, NULL), (6, NULL, NULL, NULL, NULL);
CREATE TABLE keyed (other INTEGER NOT NULL, id INTEGER PRIMARY KEY);
INSERT INTO keyed VALUES (1, -9223372036854775808), (2, 9223372036854775807), (3, 0), (4, 7);
";

const HEAD: &str = "Which operations, aggregates and functions Weir leaves to an SQLite file, by the declared type and the collation of the column. \
    The first columns are of an ordinary table, into which SQLite lets values of any type (strays); a stray is an error when it is read here, and so must not \
    be hidden by a group, a join or an order there. The last ones are of a STRICT table, and the key of an ordinary one (`INTEGER PRIMARY KEY`), which can hold none.\n\n\
    `count(*)` and LIMIT are always left to SQLite.";

#[tokio::test(flavor = "multi_thread")]
async fn what_is_called_exact_is_computed_as_here() {
    let file = File::with(TABLES).await;
    let subject = file.subject();
    let mut page = Page::default();
    for (table, of) in [("loose", ""), ("strict_one", " of a STRICT table"), ("keyed", " PRIMARY KEY")] {
        let mut table = subject.find(table).await;
        // The list says which is which.
        table.columns[1..].iter_mut().for_each(|column| column.native_type.push_str(of));
        prove(&subject, &table, &mut page).await;
    }
    assert_eq!(page.failures, 0, "see above");
    assert!(page.executed > 400, "only {} were computed", page.executed);
    keep("push-down-sqlite.md", &page.text("Push-down to SQLite", HEAD));
}
