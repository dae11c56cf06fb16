// SPDX-License-Identifier: Apache-2.0
//! One test binary for the whole system: what a user sees, on real servers.

mod invariance;
mod kit;
mod scenarios;
mod slt;
mod wire;
