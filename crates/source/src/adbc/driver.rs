// SPDX-License-Identifier: Apache-2.0
//! Vendors' driver libraries: each loaded once per process and kept until it ends.

use super::config::AdbcConfig;
use super::failure;
use adbc_core::options::{AdbcVersion, OptionDatabase, OptionValue};
use adbc_core::{Driver, LOAD_FLAG_DEFAULT};
use adbc_driver_manager::{ManagedDatabase, ManagedDriver};
use std::sync::{Mutex, PoisonError};
use weir_base::Result;

/// Every library loaded so far, by name and entry point. Never emptied: unloading a Go runtime ends the process.
static LOADED: Mutex<Vec<Loaded>> = Mutex::new(Vec::new());

struct Loaded {
    driver: String,
    entrypoint: Option<String>,
    manager: ManagedDriver,
}

/// A database object with the configured options. No connection is opened yet. Errors: the library cannot be loaded (`Config`), the
/// driver refuses an option (`Config`).
pub(super) fn database(config: &AdbcConfig) -> Result<ManagedDatabase> {
    let mut manager = load(config)?;
    let options: Vec<(OptionDatabase, OptionValue)> =
        config.driver_options.iter().map(|(key, value)| (OptionDatabase::from(key.as_str()), OptionValue::String(value.clone()))).collect();
    manager.new_database_with_opts(options).map_err(|error| failure::refused_options(&config.name, &error))
}

fn load(config: &AdbcConfig) -> Result<ManagedDriver> {
    let mut loaded = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = loaded.iter().find(|known| known.driver == config.driver && known.entrypoint == config.entrypoint) {
        return Ok(known.manager.clone());
    }
    let entrypoint = config.entrypoint.as_deref().map(str::as_bytes);
    let manager = ManagedDriver::load_from_name(&config.driver, entrypoint, AdbcVersion::V110, LOAD_FLAG_DEFAULT, None)
        .or_else(|error| match error.status {
            // Old drivers know only the first version of the interface.
            adbc_core::error::Status::NotImplemented => ManagedDriver::load_from_name(&config.driver, entrypoint, AdbcVersion::V100, LOAD_FLAG_DEFAULT, None),
            _ => Err(error),
        })
        .map_err(|error| failure::cannot_load(&config.name, &error))?;
    loaded.push(Loaded { driver: config.driver.clone(), entrypoint: config.entrypoint.clone(), manager: manager.clone() });
    Ok(manager)
}
