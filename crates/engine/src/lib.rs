// SPDX-License-Identifier: Apache-2.0
//! The engine: bind, secure, route, push down, admit, execute, explain. The only user of DataFusion.

mod admit;
mod advice;
mod arithmetic;
mod arms;
mod bind;
mod call;
mod complete;
mod discovery;
mod engine;
mod errors;
mod execute;
mod explain;
mod first_rows;
mod forecast;
mod functions;
mod key_use;
mod membership;
mod moments;
mod operators;
mod parameters;
mod parts;
mod pg_catalog;
mod plan;
mod push_down;
mod registry;
mod replay;
mod residual;
mod route;
mod run;
mod scan;
mod secure;
mod session;
mod settings;
mod shared;
mod shortcuts;
mod sizes;
mod system;
mod text_kinds;
mod verify;
mod walk;
mod watch;
mod write;

pub use discovery::{SourceCatalog, SourceHandle, TableRule};
pub use engine::Engine;
pub use parts::{EngineConfig, EngineParts, LakePlace, Places};
