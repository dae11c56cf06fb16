// SPDX-License-Identifier: Apache-2.0
//! Scenarios: what a question over several systems does, on real servers.

mod seed;
