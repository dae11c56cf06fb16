// SPDX-License-Identifier: Apache-2.0
//! The wire: real clients through every door, and what tools ask before they ask a question.

mod clients;
mod doors;
mod ground;
mod names;
mod psql;
mod refused;
mod tools;
mod visible;
