// SPDX-License-Identifier: Apache-2.0
//! `weir demo`: starts private servers, fills them with a marketplace, starts Weir over them, and asks three questions.

mod lake;
pub mod market;
mod page;
mod project;
mod question;
pub mod shape;
mod steps;
mod stop;
mod system;

use crate::cli::{DemoArgs, ServeArgs};
use crate::config::Config;
use crate::instance::Weir;
use crate::serve::{reachable, server_config};
use crate::start::Outcome;
use market::Market;
use page::{Page, line};
use project::Project;
use question::{ENGAGEMENT, FAILED_PAYMENTS, SELLER_DASHBOARD};
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;
use steps::Steps;
use stop::Stop;
use system::{ROLES, System};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use weir_api::thousands;
use weir_base::{Clock, Error, ErrorCode, Result, SystemClock, Timestamp};
use weir_catalog::DataDir;
use weir_server::Server;

/// Runs the demo until a signal, or with `--once` until the questions are answered. Whatever the end, what it started ends too.
pub async fn run(args: &DemoArgs) -> Result<Outcome> {
    let stop = Stop::listen()?;
    let started = tokio::select! {
        started = start(args) => started,
        () = stop.asked() => Err(Error::new(ErrorCode::Cancelled, "demo was ended by a signal")),
    };
    let mut running = started?;
    let shown = tokio::select! {
        shown = show(args, &mut running) => shown.map(|()| !args.once),
        () = stop.asked() => Ok(false),
    };
    if matches!(shown, Ok(true)) {
        running.invite()?;
        tokio::select! {
            () = stop.asked() => {}
            () = running.ended.cancelled() => {}
        }
        eprintln!("demo: ending everything it started");
    }
    let closed = running.close().await;
    shown.and(closed).map(|()| Outcome::Done)
}

/// How long sessions may take to end once everything that runs is cancelled.
const DRAIN_MAX: Duration = Duration::from_secs(2);

/// A Weir over running systems. Fields drop in this order: the folder goes last.
struct Running {
    weir: Weir,
    serving: JoinHandle<Result<()>>,
    /// Asks the server to end.
    shutdown: CancellationToken,
    /// The server has ended.
    ended: CancellationToken,
    postgres: Option<SocketAddr>,
    http: Option<SocketAddr>,
    systems: Vec<System>,
    project: Project,
}

async fn start(args: &DemoArgs) -> Result<Running> {
    let steps = Steps::new();
    let project = Project::open(args.dir.as_deref(), args.no_servers)?;
    let fresh = Market::new(args.scale, SystemClock.now())?;
    let loaded = project.loaded(&fresh)?;
    let market = loaded.map_or(Ok(fresh), |now| Market::new(args.scale, now))?;
    if loaded.is_none() {
        project.clear(&market)?;
    }
    let systems = start_systems(&project, market, loaded, &steps).await?;
    let config = project.configure(&systems)?;
    let mut weir = Weir::open(&config, DataDir::open(&config.data_dir)?).await?;
    if loaded.is_none() {
        load_lake(&weir, market, &steps).await?;
        project.note(&market, true)?;
    }
    let server = bind(&config, &weir, args.once).await?;
    let (postgres, http) = (server.postgres_addr(), server.http_addr());
    if let Some(address) = http {
        weir.data_dir.announce(&format!("http://{}", reachable(address)))?;
    }
    let shutdown = CancellationToken::new();
    let ended = CancellationToken::new();
    let serving = tokio::spawn(serve(server, shutdown.clone(), ended.clone()));
    print_systems(&systems, &market)?;
    Ok(Running { weir, serving, shutdown, ended, postgres, http, systems, project })
}

async fn serve(server: Server, shutdown: CancellationToken, ended: CancellationToken) -> Result<()> {
    let served = server.run(shutdown).await;
    ended.cancel();
    served
}

/// All of them side by side.
async fn start_systems(project: &Project, market: Market, loaded: Option<Timestamp>, steps: &Steps) -> Result<Vec<System>> {
    let started = ROLES.map(|role| async move {
        let step = steps.begin(role.name);
        step.doing("starting");
        let mut system = match project.embedded() {
            true => System::embedded(role, project.folder()),
            false => System::start(role, project.folder(), project.kept()).await?,
        };
        let rows = match loaded {
            Some(_) if system.durable() => None,
            _ => Some(system.load(market, &step).await?),
        };
        step.doing("opening to Weir");
        system.open_to_weir().await?;
        let rows = rows.map_or("rows of an earlier run".into(), |rows| format!("{} rows", thousands(rows)));
        step.done(&format!("{}, {rows}", system.kind()));
        Ok::<System, Error>(system)
    });
    futures::future::try_join_all(started).await
}

async fn load_lake(weir: &Weir, market: Market, steps: &Steps) -> Result<()> {
    let place = weir.engine.places().lake.as_ref().ok_or_else(|| Error::internal("the demo has no lake"))?;
    let clicks = steps.begin_rows("lake clickstream", market.click_count());
    let orders = steps.begin_rows("lake orders", market.order_count());
    lake::load(&place.lake, market, &clicks, &orders).await?;
    clicks.done(&format!("Iceberg, {} rows", thousands(market.click_count())));
    orders.done(&format!("Iceberg, {} rows", thousands(market.order_count())));
    Ok(())
}

/// The doors of `weir.yaml`, or free ones where those are taken, and for a run that nobody will connect to.
async fn bind(config: &Config, weir: &Weir, once: bool) -> Result<Server> {
    let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let configured = server_config(config, &ServeArgs { postgres: None, http: None })?;
    let mut free = configured.clone();
    (free.postgres, free.http) = (Some(any), Some(any));
    if once {
        return Server::bind(free, weir.engine.clone()).await;
    }
    match Server::bind(configured, weir.engine.clone()).await {
        Err(error) if error.code() == ErrorCode::Config => {
            eprintln!("demo: {error}: taking free ports instead");
            Server::bind(free, weir.engine.clone()).await
        }
        bound => bound,
    }
}

fn print_systems(systems: &[System], market: &Market) -> Result<()> {
    line(&format!("A marketplace of {} customers, as of {}:", thousands(market.customer_count()), market.now()))?;
    for system in systems {
        line(&format!("  {:14} {}", system.role.name, system.kind()))?;
        if let Some(shortcoming) = &system.shortcoming {
            line(&format!("  {:14} note: {shortcoming}", ""))?;
        }
    }
    line(&format!("  {:14} Iceberg on this disk: {} clicks, {} orders", "lake", thousands(market.click_count()), thousands(market.order_count())))
}

async fn show(args: &DemoArgs, running: &mut Running) -> Result<()> {
    let page = Page::new(running.weir.engine.clone());
    for (index, question) in [ENGAGEMENT, FAILED_PAYMENTS, SELLER_DASHBOARD].iter().enumerate() {
        page.ask(index + 1, question).await?;
    }
    let Some(support) = running.systems.iter_mut().find(|system| system.role.name == "support_pg") else { return Ok(()) };
    if !support.crash()? {
        return Ok(());
    }
    page.heading("When a source is down: support_pg has just crashed")?;
    page.try_out(&FAILED_PAYMENTS).await?;
    page.try_out(&SELLER_DASHBOARD).await?;
    // Nobody is going to ask again.
    if args.once {
        return Ok(());
    }
    support.recover().await?;
    line("support_pg is back")
}

impl Running {
    /// How to connect, while it is up.
    fn invite(&self) -> Result<()> {
        let folder = self.project.folder().display();
        let program = std::env::current_exe().map_or_else(|_| "weir".to_owned(), |path| path.display().to_string());
        line("\nWeir is up, and so are the servers. Ctrl-C ends them all.")?;
        if let Some(address) = self.postgres {
            line(&format!("  psql:      psql -h {} -p {} -U local weir", address.ip(), address.port()))?;
        }
        if let Some(address) = self.http {
            line(&format!(
                "  HTTP:      curl -s http://{address}/v1/query -H 'content-type: application/json' -d '{{\"sql\": \"SELECT count(*) FROM lake.web.clickstream\"}}'"
            ))?;
            line(&format!("  browser:   http://{address}/"))?;
        }
        line(&format!("  shell:     cd {folder} && . ./env.sh && {program} sql"))?;
        line(&format!("  project:   {folder}/weir.yaml, which is examples/federated/weir.yaml"))
    }

    /// Nobody waits for an answer any more, so nothing that runs is waited for.
    async fn close(self) -> Result<()> {
        self.weir.engine.cancel_all();
        self.shutdown.cancel();
        let served = match tokio::time::timeout(DRAIN_MAX, self.serving).await {
            Ok(Ok(served)) => served,
            Ok(Err(error)) => Err(Error::internal("the server broke").with_detail(error.to_string())),
            Err(_) => Ok(()),
        };
        self.weir.close().await;
        // Side by side: each waits until its server is gone.
        std::thread::scope(|scope| self.systems.into_iter().for_each(|system| drop(scope.spawn(move || drop(system)))));
        drop(self.project);
        served
    }
}
