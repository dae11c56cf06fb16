// SPDX-License-Identifier: Apache-2.0
//! `weir password`: makes a `password_scram` for `weir.yaml`, so that no password need stand there.

use std::io::{BufRead, IsTerminal};
use weir_base::{Error, ErrorCode, Result};
use weir_server::Verifier;

/// Asks on a terminal without showing what is typed, else reads one line; prints the verifier, `SCRAM-SHA-256$4096:…`.
pub fn run() -> Result<()> {
    let password = if std::io::stdin().is_terminal() { ask_twice()? } else { first_line()? };
    if password.is_empty() {
        return Err(Error::new(ErrorCode::Config, "password is empty"));
    }
    println!("{}", Verifier::from_password(&password));
    Ok(())
}

fn ask_twice() -> Result<String> {
    let ask = |prompt: &str| rpassword::prompt_password(prompt).map_err(|error| unreadable(&error));
    let password = ask("Password: ")?;
    if ask("Again: ")? != password {
        return Err(Error::new(ErrorCode::Config, "passwords differ"));
    }
    Ok(password)
}

fn first_line() -> Result<String> {
    let mut line = String::new();
    std::io::stdin().lock().read_line(&mut line).map_err(|error| unreadable(&error))?;
    Ok(line.trim_end_matches(['\r', '\n']).to_owned())
}

fn unreadable(error: &std::io::Error) -> Error {
    Error::new(ErrorCode::Config, "password cannot be read").with_detail(error.to_string())
}
