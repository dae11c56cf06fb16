// SPDX-License-Identifier: Apache-2.0
//! The doors: Postgres wire and HTTP, with login and TLS, in front of a `dyn QueryService`. They know nothing of the engine.

mod config;
mod http;
mod login;
pub mod metrics;
mod postgres;
mod server;
mod socket;
mod tls;
pub mod values;

pub use config::{Auth, Secret, ServerConfig, TlsFiles};
pub use login::{LOCAL_USER, Verifier};
pub use server::Server;
