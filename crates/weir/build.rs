// SPDX-License-Identifier: Apache-2.0
//! Tells the binary what it is built from: the commit, where git knows it, and the versions of the libraries that matter.

use std::path::Path;
use std::process::Command;

fn main() {
    let lock = Path::new("../../Cargo.lock");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed={}", lock.display());
    println!("cargo::rerun-if-changed=../../.git/HEAD");
    println!("cargo::rustc-env=WEIR_COMMIT={}", commit());
    let text = std::fs::read_to_string(lock).unwrap_or_default();
    for (name, variable) in [("arrow", "WEIR_ARROW_VERSION"), ("datafusion", "WEIR_DATAFUSION_VERSION"), ("iceberg", "WEIR_ICEBERG_VERSION")] {
        println!("cargo::rustc-env={variable}={}", locked(&text, name));
    }
}

fn commit() -> String {
    let output = Command::new("git").args(["rev-parse", "--short=12", "HEAD"]).output();
    let hash = output.ok().filter(|output| output.status.success()).map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    hash.filter(|hash| !hash.is_empty()).unwrap_or_else(|| "commit unknown".to_owned())
}

/// The version of a package in the lock file.
fn locked(lock: &str, name: &str) -> String {
    let entry = format!("name = \"{name}\"\nversion = \"");
    let version = lock.split_once(&entry).and_then(|(_, rest)| rest.split('"').next());
    version.unwrap_or("unknown").to_owned()
}
