// SPDX-License-Identifier: Apache-2.0
//! The test kit: a Weir in this process over private servers, and short ways to ask it.

mod world;

pub use world::{World, WorldBuilder};
