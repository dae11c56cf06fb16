// SPDX-License-Identifier: Apache-2.0
//! A private S3 store in this process: s3s over a folder, with signatures checked. It stands in for a cloud's object store.

use crate::folder::{Folder, random_word, trouble};
use crate::server::{Server, Signal};
use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use s3s::auth::SimpleAuth;
use s3s::service::{S3Service, S3ServiceBuilder};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::thread::JoinHandle;
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinSet;
use weir_base::{Error, Result};

/// The bucket that is there from the start.
const BUCKET: &str = "weir";

/// A running private S3 store. Dropping it ends the server and removes its folder.
#[derive(Debug)]
pub struct S3 {
    address: SocketAddr,
    access_key: String,
    secret_key: String,
    stop: Option<oneshot::Sender<()>>,
    // A thread with a runtime of its own: a store that several tests share outlives the runtime of the first.
    thread: Option<JoinHandle<()>>,
    // Removes the folder when this process dies without a word; dropped last.
    keeper: Server,
}

impl S3 {
    /// A store in a temporary folder with the empty bucket `weir`.
    pub async fn start() -> Result<Self> {
        Self::open(Folder::open("s3", None)?).await
    }

    /// A store over a folder that stays.
    pub async fn start_in(folder: impl Into<PathBuf>) -> Result<Self> {
        Self::open(Folder::open("s3", Some(&folder.into()))?).await
    }

    async fn open(folder: Folder) -> Result<Self> {
        let objects = folder.join("objects");
        let bucket = objects.join(BUCKET);
        std::fs::create_dir_all(&bucket).map_err(|e| trouble("cannot create a bucket", &bucket, &e))?;
        let (access_key, secret_key) = (random_word(20), random_word(40));
        let service = service(&objects, &access_key, &secret_key)?;
        let mut keeper = Server::new(folder);
        keeper.start(&["sleep".into(), "infinity".into()], Signal::Kill)?;
        let (ready, address) = oneshot::channel();
        let (stop, stopped) = oneshot::channel();
        let thread = std::thread::Builder::new().name("weir-s3".into()).spawn(move || serve(service, ready, stopped));
        let thread = thread.map_err(|e| Error::internal("cannot start a thread").with_detail(e.to_string()))?;
        let address = address.await.map_err(|_closed| Error::internal("the private S3 store did not start"))??;
        Ok(Self { address, access_key, secret_key, stop: Some(stop), thread: Some(thread), keeper })
    }

    /// `http://127.0.0.1:PORT`; use path style, any region.
    pub fn endpoint(&self) -> String {
        format!("http://{}", self.address)
    }

    pub fn port(&self) -> u16 {
        self.address.port()
    }

    pub fn access_key(&self) -> &str {
        &self.access_key
    }

    pub fn secret_key(&self) -> &str {
        &self.secret_key
    }

    /// The name of the bucket that is there from the start.
    pub fn bucket(&self) -> &str {
        BUCKET
    }

    /// Where the buckets are on disk: one folder each, objects as files.
    pub fn folder(&self) -> PathBuf {
        self.keeper.folder().join("objects")
    }
}

impl Drop for S3 {
    fn drop(&mut self) {
        // Dropping the sender is the message.
        drop(self.stop.take());
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::warn!("SandboxS3Panicked");
        }
    }
}

fn service(objects: &Path, access_key: &str, secret_key: &str) -> Result<S3Service> {
    let store = s3s_fs::FileSystem::new(objects).map_err(|e| Error::internal("cannot open the folder of an S3 store").with_detail(format!("{e:?}")))?;
    let mut builder = S3ServiceBuilder::new(store);
    builder.set_auth(SimpleAuth::from_single(access_key, secret_key));
    Ok(builder.build())
}

/// The thread of the store: says its address, then serves until told to stop.
fn serve(service: S3Service, ready: oneshot::Sender<Result<SocketAddr>>, stopped: oneshot::Receiver<()>) {
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(e) => return answer(ready, Err(Error::internal("cannot start a runtime").with_detail(e.to_string()))),
    };
    runtime.block_on(async {
        match bind().await {
            Ok((listener, address)) => {
                answer(ready, Ok(address));
                accept(listener, service, stopped).await;
            }
            Err(error) => answer(ready, Err(error)),
        }
    });
}

fn answer(ready: oneshot::Sender<Result<SocketAddr>>, result: Result<SocketAddr>) {
    if ready.send(result).is_err() {
        tracing::debug!("SandboxS3StartCancelled");
    }
}

async fn bind() -> Result<(TcpListener, SocketAddr)> {
    let failed = |e: std::io::Error| Error::internal("cannot listen for the private S3 store").with_detail(e.to_string());
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.map_err(failed)?;
    let address = listener.local_addr().map_err(failed)?;
    Ok((listener, address))
}

/// Takes connections until `stopped`; those still open are cut by dropping their tasks.
async fn accept(listener: TcpListener, service: S3Service, mut stopped: oneshot::Receiver<()>) {
    let mut connections = JoinSet::new();
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = &mut stopped => return,
        };
        let socket = match accepted {
            Ok((socket, _peer)) => socket,
            Err(error) => {
                tracing::warn!(%error, "SandboxS3AcceptFailed");
                continue;
            }
        };
        let service = service.clone();
        connections.spawn(async move {
            if let Err(error) = http1::Builder::new().serve_connection(TokioIo::new(socket), service).await {
                tracing::debug!(%error, "SandboxS3ConnectionBroke");
            }
        });
        while connections.try_join_next().is_some() {}
    }
}
