// SPDX-License-Identifier: Apache-2.0
//! MariaDB into Arrow beside its own client, which streams the same columns into nothing.

use super::columns::{self, ALL, TWO};
use super::fetch::Shop;
use crate::Size;
use crate::contest::contest;
use crate::figure::{Figure, Measured, Target};
use crate::process::Program;
use weir_base::Result;
use weir_sandbox::MariaDb;

const DATABASE: &str = "shop";

pub async fn measure(size: &Size) -> Result<Vec<Figure>> {
    let server = MariaDb::options().setting("innodb-buffer-pool-size", "768M").start().await?;
    server.run(DATABASE, &columns::in_mariadb(size.source_rows)).await?;
    let shop = Shop::open("mysql", server.url(DATABASE), size.source_rows).await?;
    let mut figures = Vec::new();
    for (what, names) in [("all columns", &ALL[..]), ("two columns", &TWO[..])] {
        let (mut weir, mut client) = (shop.fetch(names)?, quick(&server, names));
        let laps = contest(size.rounds, &mut [&mut weir, &mut client]).await?;
        let rate = |at: usize| Measured::rate(size.source_rows, &laps[at]);
        let peer = ("mariadb --quick", rate(1));
        figures.push(Figure::beside(format!("MariaDB to Arrow, {what}"), rate(0), "rows/s", peer, Some(Target::RatioAtLeast(0.7))));
    }
    shop.close().await;
    Ok(figures)
}

fn quick(server: &MariaDb, names: &[&str]) -> Program {
    let port = server.port().to_string();
    let sql = format!("SELECT {} FROM orders", names.join(", "));
    let mut arguments = vec!["--no-defaults", "--quick", "--batch", "--skip-column-names", "--protocol=tcp"];
    arguments.extend(["-h", "127.0.0.1", "-P", &port, "-u", server.user(), "-D", DATABASE, "-e", &sql]);
    Program {
        name: "mariadb".into(),
        path: server.client_program().to_path_buf(),
        arguments: arguments.into_iter().map(Into::into).collect(),
        environment: vec![("MYSQL_PWD", server.password().to_owned())],
    }
}
