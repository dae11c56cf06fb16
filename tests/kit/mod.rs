// SPDX-License-Identifier: Apache-2.0
//! The test kit: a Weir in this process over private servers, and short ways to ask it.

mod doors;
mod printed;
mod servers;
mod sqlite_file;
mod wait;
mod world;

pub use doors::Doors;
pub use printed::{ordered, same_rows};
pub use servers::{mariadb, postgres, quiet_mariadb, s3, snowflake};
pub use sqlite_file::SqliteFile;
pub use wait::eventually;
pub use world::{World, WorldBuilder};
