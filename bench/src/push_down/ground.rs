// SPDX-License-Identifier: Apache-2.0
//! TPC-H in PostgreSQL, MariaDB, SQLite and the lake, Weir over them, and DuckDB over the same.

use crate::Size;
use crate::duckdb::DuckDb;
use crate::scan::metadata_file;
use crate::weir_here::{WeirHere, source, unusable};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use weir_base::{Error, Result};
use weir_sandbox::tpch::{Place, Placement, TABLES, Texts, Tpch, question, tables_in};
use weir_sandbox::{MariaDb, Postgres};

/// The database in both servers, and the schema in the lake.
pub const DATABASE: &str = "tpch";

pub struct Ground {
    pub postgres: Postgres,
    pub mariadb: MariaDb,
    pub weir: WeirHere,
    pub data: Tpch,
    folder: PathBuf,
    /// How DuckDB reads each table of the lake.
    lake_scans: BTreeMap<&'static str, String>,
}

/// Where the servers are, or the taps before them.
#[derive(Debug, Clone, Copy)]
pub struct Ports {
    pub postgres: u16,
    pub mariadb: u16,
}

impl Ground {
    /// Makes data, servers and lake, or finds them in a workshop that was kept.
    pub async fn open(size: &Size, workshop: &Path) -> Result<Self> {
        let folder = workshop.join("tpch");
        let files = folder.join("files");
        std::fs::create_dir_all(&files).map_err(|error| unusable(&files, &error))?;
        let data = Tpch::make(&files, size.scale).await?;
        let (postgres, mariadb) = servers(size, &folder).await?;
        let loaded = folder.join(format!("loaded-{}", size.scale));
        let fresh = !loaded.exists();
        if fresh {
            eprintln!("  loading TPC-H at scale factor {}", size.scale);
            data.load_postgres(&postgres, DATABASE, &TABLES.iter().collect::<Vec<_>>(), Texts::Varying).await?;
            data.load_mariadb(&mariadb, DATABASE, &tables_in(Place::MariaDb), Texts::Varying).await?;
        }
        let small = format!("sqlite://{}", data.small_tables().display());
        let sources = vec![source("pg", "postgres", postgres.url(DATABASE)), source("maria", "mysql", mariadb.url(DATABASE)), source("small", "sqlite", small)];
        let weir = WeirHere::over(&folder, "weir.db", sources).await?;
        if fresh {
            fill_lake(&weir).await?;
            std::fs::write(&loaded, "").map_err(|error| unusable(&loaded, &error))?;
        }
        let lake_scans = lake_scans(&weir).await?;
        Ok(Self { postgres, mariadb, weir, data, folder, lake_scans })
    }

    pub fn ports(&self) -> Ports {
        Ports { postgres: self.postgres.port(), mariadb: self.mariadb.port() }
    }

    /// A DuckDB that has the sources attached under the names that Weir has for them. `split` is its own way to read a table of PostgreSQL
    /// in ranges of rows, several at a time.
    pub async fn duckdb(&self, ports: Ports, split: bool) -> Result<DuckDb> {
        let duckdb = DuckDb::start(None, &self.folder.join("duckdb"))?;
        let (postgres, mariadb) = (&self.postgres, &self.mariadb);
        let address = |port: u16, user: &str| format!("host=127.0.0.1 port={port} user={user}");
        let (to_postgres, to_mariadb) = (address(ports.postgres, postgres.user()), address(ports.mariadb, mariadb.user()));
        duckdb.prepare(&format!("ATTACH '{to_postgres} password={} dbname={DATABASE}' AS pg (TYPE postgres, READ_ONLY)", postgres.password())).await?;
        duckdb.prepare(&format!("ATTACH '{to_mariadb} passwd={} database={DATABASE}' AS maria (TYPE mysql, READ_ONLY)", mariadb.password())).await?;
        duckdb.prepare(&format!("ATTACH '{}' AS small (TYPE sqlite, READ_ONLY)", self.data.small_tables().display())).await?;
        duckdb.prepare(&format!("SET pg_use_ctid_scan = {split}")).await?;
        Ok(duckdb)
    }

    /// A table as Weir calls it.
    pub fn in_weir(place: Place, table: &str) -> String {
        match place {
            Place::Postgres => format!("pg.public.{table}"),
            Place::MariaDb => format!("maria.{DATABASE}.{table}"),
            Place::Lake => format!("lake.{DATABASE}.{table}"),
            Place::Sqlite => format!("small.main.{table}"),
        }
    }

    /// The same as DuckDB calls it.
    pub fn in_duckdb(&self, place: Place, table: &str) -> String {
        match place {
            Place::Lake => self.lake_scans.get(table).cloned().unwrap_or_default(),
            elsewhere => Self::in_weir(elsewhere, table),
        }
    }

    /// A question of TPC-H for Weir and for DuckDB.
    pub fn asked(&self, placement: &Placement, number: usize) -> Result<[String; 2]> {
        let ours = question(number, |table| Self::in_weir(placement.place(table), table))?;
        Ok([ours, question(number, |table| self.in_duckdb(placement.place(table), table))?])
    }

    pub async fn close(&self) {
        self.weir.close().await;
    }
}

/// In folders that stay where the workshop does. A temporary workshop is closed to the account under which a server of root's runs.
async fn servers(size: &Size, folder: &Path) -> Result<(Postgres, MariaDb)> {
    let mut postgres = Postgres::options().setting("shared_buffers", "1GB").setting("autovacuum", "off").setting("max_wal_size", "4GB");
    let mut mariadb = MariaDb::options().setting("innodb-buffer-pool-size", "1G").setting("local-infile", "1");
    if size.keep.is_some() {
        postgres = postgres.folder(folder.join("postgres"));
        mariadb = mariadb.folder(folder.join("mariadb"));
    }
    Ok((postgres.start().await?, mariadb.start().await?))
}

async fn fill_lake(weir: &WeirHere) -> Result<()> {
    weir.lake.create_schema(DATABASE, true).await?;
    for table in tables_in(Place::Lake) {
        weir.prepare(&format!("DROP TABLE IF EXISTS lake.{DATABASE}.{}", table.name)).await?;
        weir.prepare(&format!("CREATE TABLE lake.{DATABASE}.{name} AS SELECT * FROM pg.public.{name}", name = table.name)).await?;
    }
    Ok(())
}

async fn lake_scans(weir: &WeirHere) -> Result<BTreeMap<&'static str, String>> {
    let mut scans = BTreeMap::new();
    for table in tables_in(Place::Lake) {
        let found = weir.lake.table(DATABASE, table.name).await?;
        let found = found.ok_or_else(|| Error::internal("a table of TPC-H is not in the lake"))?;
        scans.insert(table.name, format!("iceberg_scan('{}')", metadata_file(&found)?.display()));
    }
    Ok(scans)
}
