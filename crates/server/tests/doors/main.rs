// SPDX-License-Identifier: Apache-2.0
//! The doors under test: real clients against a canned service.

mod canned;
mod clients;
mod harness;
mod http;
mod limits;
mod login;
mod postgres;
mod values;
