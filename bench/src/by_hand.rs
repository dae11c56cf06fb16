// SPDX-License-Identifier: Apache-2.0
//! Statements that somebody wrote by hand for one PostgreSQL, read to their end as binary rows, which is how Weir reads them too.

use crate::contest::{Contender, Lap};
use crate::server::{connect, failed};
use async_trait::async_trait;
use futures::TryStreamExt;
use std::pin::pin;
use std::time::Instant;
use tokio_postgres::Client;
use weir_base::Result;
use weir_sandbox::Postgres;

pub struct ByHand {
    client: Client,
    sql: String,
}

impl ByHand {
    pub async fn on(server: &Postgres, port: u16, database: &str, sql: &str) -> Result<Self> {
        let address = format!("host=127.0.0.1 port={port} user={} password={} dbname={database}", server.user(), server.password());
        Ok(Self { client: connect(&address).await?, sql: format!("COPY ({sql}) TO STDOUT (FORMAT binary)") })
    }
}

#[async_trait]
impl Contender for ByHand {
    fn name(&self) -> &str {
        "by hand"
    }

    async fn lap(&mut self) -> Result<Lap> {
        let began = Instant::now();
        let copied = self.client.copy_out(&self.sql).await.map_err(|error| failed(&error))?;
        let mut copied = pin!(copied);
        while copied.try_next().await.map_err(|error| failed(&error))?.is_some() {}
        Ok(Lap::since(began, None))
    }
}
