// SPDX-License-Identifier: Apache-2.0
//! The binary's parts: configuration, command line, and the one place where all rooms meet.

mod ask;
mod check;
mod cli;
mod client;
pub mod config;
pub mod demo;
pub mod instance;
mod logging;
mod output;
pub mod password;
mod plan;
mod progress;
mod remote;
mod serve;
mod shell;
mod sources;
mod sql;
mod start;
mod statements;
mod version;

pub use start::start;
