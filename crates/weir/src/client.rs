// SPDX-License-Identifier: Apache-2.0
//! How a command gets its answers: from a Weir in this process, or from the server that holds the data directory.

use crate::cli::Global;
use crate::config::{self, Config, Login};
use crate::instance::Weir;
use crate::remote::RemoteService;
use std::sync::Arc;
use std::time::{Duration, Instant};
use weir_api::{Door, QueryService, Session};
use weir_base::{Error, ErrorCode, Result, UserName};
use weir_catalog::{DataDir, Holder, Opened};
use weir_server::LOCAL_USER;

/// How long a command waits for another one that is about to end.
const HELD_WAIT_MAX: Duration = Duration::from_secs(5);
const HELD_RETRY: Duration = Duration::from_millis(50);

/// A service and a session in it.
pub struct Client {
    pub service: Arc<dyn QueryService>,
    pub session: Arc<Session>,
    pub config: Config,
    /// The server that answers; `None` when this process does.
    pub server: Option<String>,
    weir: Option<Weir>,
}

impl Client {
    /// Errors: configuration, a data directory that is in use without a server, nobody named where users are configured.
    pub async fn open(global: &Global) -> Result<Self> {
        let config = config::load(&config::find(global.config.as_deref())?)?;
        let user = asking_user(global, &config)?;
        let client = match take_data_dir(&config).await? {
            Opened::Ours(data_dir) => Self::in_process(config, data_dir, user).await?,
            Opened::Held(Holder { http: Some(url), .. }) => Self::remote(config, url, user)?,
            Opened::Held(_) => return Err(DataDir::open(&config.data_dir).err().unwrap_or_else(just_freed)),
        };
        for (name, value) in &global.settings {
            client.session.settings().set(name, value)?;
        }
        Ok(client)
    }

    async fn in_process(config: Config, data_dir: DataDir, user: UserName) -> Result<Self> {
        let weir = Weir::open(&config, data_dir).await?;
        let service: Arc<dyn QueryService> = weir.engine.clone();
        Ok(Self { service, session: Session::new(user, Door::Cli, None), config, server: None, weir: Some(weir) })
    }

    fn remote(config: Config, url: String, user: UserName) -> Result<Self> {
        let password = match config.login {
            Login::Open => None,
            Login::Scram(_) => Some(password_for_server(&url)?),
        };
        let certificate = config.listen.tls.as_ref().map(|tls| tls.cert.as_path());
        let service = Arc::new(RemoteService::new(&url, &user, password, certificate)?);
        Ok(Self { service, session: Session::new(user, Door::Cli, None), config, server: Some(url), weir: None })
    }

    /// Ends what this process opened.
    pub async fn close(self) {
        if let Some(weir) = self.weir {
            weir.close().await;
        }
    }
}

/// Another command may be about to end; a server tells its address and is not waited for.
pub(crate) async fn take_data_dir(config: &Config) -> Result<Opened> {
    let asked = Instant::now();
    loop {
        match DataDir::open_or_holder(&config.data_dir)? {
            Opened::Held(Holder { http: None, .. }) if asked.elapsed() < HELD_WAIT_MAX => tokio::time::sleep(HELD_RETRY).await,
            opened => return Ok(opened),
        }
    }
}

fn just_freed() -> Error {
    Error::new(ErrorCode::DataDirHeld, "data directory was in use until just now").with_hint("try again")
}

/// Whoever may read the configuration holds every password in it, so within one process a name is enough.
fn asking_user(global: &Global, config: &Config) -> Result<UserName> {
    let Login::Scram(users) = &config.login else { return Ok(UserName::new(LOCAL_USER)) };
    let names: Vec<&str> = users.iter().map(|user| user.name.as_str()).collect();
    let Some(name) = &global.user else {
        return Err(Error::new(ErrorCode::Config, "who asks is not said")
            .with_detail(format!("users in weir.yaml: {}", if names.is_empty() { "none".into() } else { names.join(", ") }))
            .with_hint("name one with --user or WEIR_USER"));
    };
    if !names.contains(&name.as_str()) {
        let near = weir_base::nearest(name, names.iter().copied());
        let error = Error::new(ErrorCode::Config, format!("user {name} is not in weir.yaml"));
        return Err(if near.is_empty() { error } else { error.with_hint(format!("did you mean {}?", near.join(" or "))) });
    }
    Ok(UserName::new(name))
}

fn password_for_server(url: &str) -> Result<String> {
    match std::env::var("WEIR_PASSWORD") {
        Ok(password) => Ok(password),
        Err(_) => Err(Error::new(ErrorCode::Config, "password is not given")
            .with_detail(format!("the server at {url} holds the data directory and asks for one"))
            .with_hint("set WEIR_PASSWORD")),
    }
}
