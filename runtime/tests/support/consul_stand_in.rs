//! A stand-in for Consul, which cannot be installed here: an HTTP server in the test's own process that does with
//! sessions and keys what Consul's documentation and sources say. It is no Consul: one server, no disk, no gossip, no
//! Raft. What is tested against it is tested against our reading of those texts.
//!
//! As there: sessions end at twice their TTL, lock delays follow an end but not a release, `LockIndex` begins anew with
//! a new key and `ModifyIndex` never does, queries with an index wait for a change, transactions do all or nothing, and
//! paths take few characters.

mod session;
mod world;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;
use tokio::sync::watch;

use self::session::duration;
use self::world::World;

/// Runs on threads of its own, until it is dropped.
pub struct ConsulStandIn {
    port: u16,
    shared: Arc<Shared>,
    /// Until it is dropped.
    runtime: Option<Runtime>,
}

impl Drop for ConsulStandIn {
    fn drop(&mut self) {
        // A test may drop it from inside its own runtime, where waiting is not allowed.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

struct Shared {
    least_ttl: Duration,
    token: Option<&'static str>,
    leaderless: AtomicBool,
    /// Its watchers are the queries that wait.
    world: watch::Sender<World>,
}

struct Request {
    method: String,
    path: String,
    query: Vec<(String, String)>,
    token: Option<String>,
    /// The client wants no more answers on this connection.
    last: bool,
    body: Vec<u8>,
}

/// A status, the index if there is one, and a body.
type Reply = (u16, Option<u64>, String);

impl ConsulStandIn {
    pub fn start(least_ttl: Duration) -> Self {
        Self::with_token(least_ttl, None)
    }

    /// One that wants to be shown this token.
    pub fn with_token(least_ttl: Duration, token: Option<&'static str>) -> Self {
        let world = watch::Sender::new(World::default());
        let shared = Arc::new(Shared { least_ttl, token, leaderless: AtomicBool::new(false), world });
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
        let runtime = runtime.expect("a runtime starts");
        let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).expect("there is a free port");
        let port = listener.local_addr().expect("a bound socket has an address").port();
        listener.set_nonblocking(true).expect("it is ours");
        let serving = Arc::clone(&shared);
        runtime.spawn(async move {
            let listener = TcpListener::from_std(listener).expect("it is ours");
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, Arc::clone(&serving)));
            }
        });
        let ending = Arc::clone(&shared);
        runtime.spawn(async move {
            loop {
                ending.world.send_if_modified(World::end_what_is_due);
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        });
        Self { port, shared, runtime: Some(runtime) }
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    /// Without a leader nothing is answered.
    pub fn leaderless(&self, on: bool) {
        self.shared.leaderless.store(on, Ordering::SeqCst);
    }

    /// A new leader begins to count TTLs anew.
    pub fn change_leader(&self) {
        self.shared.world.send_modify(World::restart_timers);
    }

    /// How many sessions there are.
    pub fn sessions(&self) -> usize {
        self.shared.world.borrow().sessions()
    }

    /// Ends all sessions, as when their node is removed.
    pub fn end_all_sessions(&self) {
        self.shared.world.send_modify(World::end_all);
    }
}

async fn serve(stream: TcpStream, shared: Arc<Shared>) -> Option<()> {
    let mut stream = BufReader::new(stream);
    loop {
        let request = read(&mut stream).await?;
        let (status, index, body) = shared.answer(&request).await;
        let index = index.map_or_else(String::new, |index| format!("x-consul-index: {index}\r\n"));
        let length = body.len();
        let head = format!("HTTP/1.1 {status} Said\r\n{index}content-length: {length}\r\n\r\n");
        stream.write_all((head + &body).as_bytes()).await.ok()?;
        if request.last {
            return Some(());
        }
    }
}

/// None when the client has gone.
async fn read(stream: &mut BufReader<TcpStream>) -> Option<Request> {
    let mut line = String::new();
    stream.read_line(&mut line).await.ok()?;
    let mut words = line.split_whitespace();
    let (method, target) = (words.next()?.to_owned(), words.next()?.to_owned());
    let (mut length, mut token, mut last) = (0, None, false);
    loop {
        let mut header = String::new();
        stream.read_line(&mut header).await.ok()?;
        let Some((name, value)) = header.trim_end().split_once(':') else { break };
        match name.to_ascii_lowercase().as_str() {
            "content-length" => length = value.trim().parse().ok()?,
            "connection" => last = value.trim().eq_ignore_ascii_case("close"),
            "x-consul-token" => token = Some(value.trim().to_owned()),
            _ => {}
        }
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await.ok()?;
    let (path, query) = target.split_once('?').unwrap_or((&target, ""));
    let pairs = query.split('&').map(|pair| pair.split_once('=').unwrap_or((pair, "")));
    let query = pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    Some(Request { method, path: path.to_owned(), query, token, last, body })
}

impl Request {
    fn asked(&self, name: &str) -> Option<&str> {
        self.query.iter().find(|(asked, _)| asked == name).map(|(_, value)| value.as_str())
    }

    fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }
}

impl Shared {
    async fn answer(&self, request: &Request) -> Reply {
        if self.leaderless.load(Ordering::SeqCst) {
            return (500, None, "No cluster leader".to_owned());
        }
        if self.token.is_some() && self.token != request.token.as_deref() {
            return (403, None, "Permission denied: token lacks permission".to_owned());
        }
        let path = request.path.as_str();
        match (request.method.as_str(), path.strip_prefix("/v1/").unwrap_or_default()) {
            ("PUT", "session/create") => self.create(&request.json()),
            ("PUT", "txn") => self.change(|world| world.transact(&request.json())),
            ("PUT", path) if path.starts_with("session/renew/") => {
                self.change(|world| world.renew(&path["session/renew/".len()..]))
            }
            ("PUT", path) if path.starts_with("session/destroy/") => self.change(|world| {
                world.end(&path["session/destroy/".len()..]);
                (200, None, "true".to_owned())
            }),
            ("GET", "session/list") => {
                let list = self.world.borrow().list();
                (200, None, list)
            }
            (method, path) if path.starts_with("kv/") => {
                let key = &path["kv/".len()..];
                if let Err(refusal) = world::check_path(key) {
                    return (400, None, refusal);
                }
                match method {
                    "GET" => self.key(key, request).await,
                    "DELETE" => self.change(|world| {
                        world.delete(key);
                        (200, None, "true".to_owned())
                    }),
                    _ => (405, None, String::new()),
                }
            }
            _ => (404, None, "404 page not found".to_owned()),
        }
    }

    fn change(&self, change: impl FnOnce(&mut World) -> Reply) -> Reply {
        let mut reply = None;
        self.world.send_modify(|world| reply = Some(change(world)));
        reply.expect("it was just given")
    }

    fn create(&self, asked: &Value) -> Reply {
        let ttl = asked["TTL"].as_str().unwrap_or("0s");
        let bounds = self.least_ttl..=Duration::from_secs(86_400);
        match duration(ttl) {
            Some(ttl) if bounds.contains(&ttl) => {}
            _ => return (500, None, format!("Invalid Session TTL '{ttl}', must be between {bounds:?}")),
        }
        self.change(|world| (200, None, json!({ "ID": world.create(asked) }).to_string()))
    }

    /// Waits for a change when an index is named that is not below the present one.
    async fn key(&self, key: &str, request: &Request) -> Reply {
        let since: u64 = request.asked("index").and_then(|index| index.parse().ok()).unwrap_or(0);
        let span = request.asked("wait").and_then(duration).unwrap_or(Duration::from_secs(300));
        let mut watched = self.world.subscribe();
        let changed = watched.wait_for(|world| world.index_of(key) > since);
        // At its end the present state is told, changed or not.
        let _timed_out = tokio::time::timeout(span, changed).await.is_err();
        let world = self.world.borrow();
        let (status, body) = match world.entry(key) {
            Some(entry) => (200, json!([entry]).to_string()),
            None => (404, String::new()),
        };
        (status, Some(world.index_of(key)), body)
    }
}
