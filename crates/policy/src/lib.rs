// SPDX-License-Identifier: Apache-2.0
//! Who may do what. Decisions are made here, before anything runs, and a plan that was decided on is an `Authorized` one.

mod authorized;
mod grant;
mod principal;

pub use authorized::{Access, Authorized, Decision};
pub use grant::{Action, Grant, GrantPattern};
pub use principal::{Policy, Principal, Role};
