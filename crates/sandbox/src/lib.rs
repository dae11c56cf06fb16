// SPDX-License-Identifier: Apache-2.0
//! Private servers for the demo, the tests and the benchmarks: PostgreSQL, MariaDB, an S3 store and a warehouse stand-in.
//!
//! Each starts in a folder of its own on a free loopback port, under a random password, and answers when `start` returns.
//! It ends when its value is dropped, and also when this process dies without a word (SIGKILL): a small shell supervisor
//! reads a pipe whose other end only this process holds. Nothing here touches a server that the machine already runs.

mod account;
mod folder;
mod keeper;
mod mariadb;
mod port;
mod postgres;
mod program;
mod s3;
mod server;
mod snowflake;
mod template;
pub mod tpch;
mod url;
mod venv;

pub use folder::random_word;
pub use keeper::Keeper;
pub use mariadb::{MariaDb, MariaDbOptions};
pub use postgres::{Postgres, PostgresOptions};
pub use s3::S3;
pub use snowflake::Snowflake;
pub use venv::{cache_dir, peers_venv, venv};
