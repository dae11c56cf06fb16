// SPDX-License-Identifier: Apache-2.0
//! The Postgres door: protocol 3.0, simple and extended, spoken by our own loop.
//!
//! Why not a ready-made server loop: a portal must keep its stream between Executes, a vanished client must be noticed while a
//! query has produced nothing yet, and text must be refused rather than repaired when it is not UTF-8.

mod command;
mod conversation;
mod copy;
mod extended;
mod fault;
mod frame;
mod lexer;
mod link;
mod portal;
mod registry;
mod reply;
mod rows;
mod startup;
mod transaction;

use crate::login::Logins;
use crate::metrics::OpenSession;
use crate::server::Ending;
use crate::socket;
use conversation::Conversation;
use fault::{Fault, Trouble};
use link::Link;
use registry::Registry;
use startup::Opening;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_util::task::TaskTracker;
use weir_api::{Door, QueryService};
use weir_base::Result;
use weir_base::limits::SESSIONS_MAX;

/// How long a client may take from connecting to the end of its login.
const LOGIN_TIMEOUT: Duration = Duration::from_secs(30);

/// The listener with all that its connections share.
pub struct PostgresDoor {
    listener: TcpListener,
    shared: Arc<Shared>,
}

struct Shared {
    tls: Option<TlsAcceptor>,
    logins: Arc<Logins>,
    service: Arc<dyn QueryService>,
    ending: Ending,
    registry: Arc<Registry>,
}

impl PostgresDoor {
    pub fn new(listener: TcpListener, tls: Option<TlsAcceptor>, logins: Arc<Logins>, service: Arc<dyn QueryService>, ending: Ending) -> Self {
        Self { listener, shared: Arc::new(Shared { tls, logins, service, ending, registry: Arc::default() }) }
    }

    /// Serves until draining begins and the last session has ended.
    pub async fn run(self) -> Result<()> {
        let sessions = TaskTracker::new();
        loop {
            let (socket, _) = tokio::select! {
                () = self.shared.ending.drain.cancelled() => break,
                accepted = socket::accept(&self.listener, "postgres") => accepted,
            };
            sessions.spawn(serve(socket, self.shared.clone()));
        }
        drop(self.listener);
        sessions.close();
        sessions.wait().await;
        Ok(())
    }
}

async fn serve(socket: TcpStream, shared: Arc<Shared>) {
    let entered = tokio::select! {
        entered = tokio::time::timeout(LOGIN_TIMEOUT, enter(Link::new(Box::new(socket)), &shared)) => entered,
        () = shared.ending.drain.cancelled() => return,
    };
    match entered {
        Ok(Some(conversation)) => {
            let _session = OpenSession::begin(Door::Postgres);
            conversation.run().await;
        }
        Ok(None) => {}
        Err(_) => tracing::debug!(door = "postgres", "LoginTimedOut"),
    }
}

/// From the first byte to a session; `None` when the connection was for something else, or was refused.
async fn enter(link: Link, shared: &Shared) -> Option<Conversation> {
    let (mut link, startup) = match startup::open(link, shared.tls.as_ref()).await {
        Opening::Login(link, startup) => (link, startup),
        Opening::Cancel(key) => {
            shared.registry.cancel(key);
            return None;
        }
        Opening::Refused(link, trouble) => {
            refuse(link, trouble).await;
            return None;
        }
    };
    let Some(seat) = shared.registry.enter() else {
        let full = Fault::fatal("53300", "too many sessions").with_detail(format!("at most {SESSIONS_MAX} sessions may be open"));
        refuse(Some(link), full.into()).await;
        return None;
    };
    match startup::greet(&mut link, startup, &shared.logins, shared.service.as_ref(), seat.key).await {
        Ok(session) => Some(Conversation::new(link, session, shared.service.clone(), seat, shared.ending.clone())),
        Err(trouble) => {
            refuse(Some(link), trouble).await;
            None
        }
    }
}

async fn refuse(link: Option<Link>, trouble: Trouble) {
    if let (Some(mut link), Trouble::Fault(fault)) = (link, trouble) {
        reply::fault(&mut link.out, &startup::fatal(fault));
        link.close().await;
    }
}
