//! Requests over HTTP/1.1 to the servers of one store: which of them is asked, over connections that are kept, and
//! how many at once. Knows no store; an answer is a status and bytes. Does not repeat a request that was sent.

mod address;
mod turn;

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use http_body_util::{BodyExt, Full, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::header::{HeaderMap, HeaderName, HeaderValue};
use hyper::http::uri::Authority;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use tokio::sync::Semaphore;

pub(super) use self::address::Address;
#[cfg(feature = "etcd")]
pub(super) use self::address::User;
use self::turn::{Turn, Underway};
use super::Cause;

/// One connection has one request at a time, so this is also about how many connections there are for requests.
/// Many renewals take turns on them.
const MOST_AT_ONCE: usize = 16;

/// Answers about leases are short; what is longer comes from something else.
const LONGEST_ANSWER: usize = 1 << 20;

/// Servers close connections that nobody uses; ours should be the first to forget them.
const IDLE: Duration = Duration::from_secs(30);

/// Shows in time that the host of a server that we only listen to has gone.
const KEEPALIVE: Duration = Duration::from_secs(30);

type Pool = Client<HttpConnector, Full<Bytes>>;

/// The servers of one store.
pub(super) struct Http {
    servers: Vec<Authority>,
    turn: Turn,
    pool: Mutex<Pool>,
    at_once: Semaphore,
}

/// What is asked of any of the servers.
#[derive(Debug, Clone)]
pub(super) struct Ask {
    pub(super) method: Method,
    /// With its query, and percent-encoded where that is needed.
    pub(super) path: String,
    pub(super) headers: Vec<(HeaderName, HeaderValue)>,
    pub(super) body: Bytes,
}

/// What a server said.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: StatusCode,
    #[cfg_attr(not(feature = "consul"), expect(dead_code, reason = "only Consul says something there"))]
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
    /// Which one it was.
    pub(super) server: usize,
}

impl Http {
    /// Of these servers, of which there is at least one.
    pub(super) fn new(servers: Vec<Authority>) -> Self {
        let turn = Turn::among(servers.len());
        Self { servers, turn, pool: Mutex::new(pool()), at_once: Semaphore::new(MOST_AT_ONCE) }
    }

    /// Asks the present server; one that refuses connections is passed over, since it cannot have obeyed.
    ///
    /// Cancel-safe: a request that is dropped before its answer may have been obeyed; its connection is closed,
    /// and the next request goes to the next server.
    ///
    /// # Errors
    /// When no server could be reached, when the connection broke, or when the answer is too long.
    pub(super) async fn ask(&self, ask: &Ask) -> Result<Answer, Cause> {
        let _place = self.at_once.acquire().await?;
        let (response, underway) = self.begin(ask).await?;
        let answer = whole(response, underway.server()).await?;
        underway.answered();
        Ok(answer)
    }

    /// As [`ask`](Http::ask), for an answer that comes bit by bit, on a connection beside the others.
    ///
    /// # Errors
    /// As [`ask`](Http::ask).
    #[cfg(feature = "etcd")]
    pub(super) async fn listen(&self, ask: &Ask) -> Result<Response<Incoming>, Cause> {
        let (response, underway) = self.begin(ask).await?;
        underway.answered();
        Ok(response)
    }

    /// As [`ask`](Http::ask), for an answer that comes when there is news, on a connection beside the others. That it
    /// takes long, or is not waited for, says nothing about the server.
    ///
    /// # Errors
    /// As [`ask`](Http::ask).
    #[cfg(feature = "consul")]
    pub(super) async fn wait(&self, ask: &Ask) -> Result<Answer, Cause> {
        let server = self.turn.present();
        let authority = self.servers.get(server).ok_or("there is no server to ask")?;
        let response = self.pool().request(request(ask, authority)?).await.map_err(|error| told(&error))?;
        whole(response, server).await
    }

    async fn begin(&self, ask: &Ask) -> Result<(Response<Incoming>, Underway<'_>), Cause> {
        let mut refusal: Cause = "there is no server to ask".into();
        for _ in &self.servers {
            let underway = self.turn.begin();
            let Some(server) = self.servers.get(underway.server()) else { break };
            match self.pool().request(request(ask, server)?).await {
                Ok(response) => return Ok((response, underway)),
                Err(error) if error.is_connect() => refusal = told(&error),
                Err(error) => return Err(told(&error)),
            }
        }
        Err(refusal)
    }

    fn pool(&self) -> Pool {
        self.pool.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// A server has said that it is of no use at the moment: the next request goes to the next one.
    pub(super) fn leave(&self, server: usize) {
        self.turn.leave(server);
    }

    /// Connections that rest are not trusted any more, nor is a server that lets requests wait.
    pub(super) fn reset(&self) {
        *self.pool.lock().unwrap_or_else(PoisonError::into_inner) = pool();
        self.turn.leave_if_silent();
    }
}

async fn whole(response: Response<Incoming>, server: usize) -> Result<Answer, Cause> {
    let (parts, body) = response.into_parts();
    let body = Limited::new(body, LONGEST_ANSWER).collect().await?.to_bytes();
    Ok(Answer { status: parts.status, headers: parts.headers, body, server })
}

fn pool() -> Pool {
    let mut connector = HttpConnector::new();
    connector.set_nodelay(true);
    connector.set_keepalive(Some(KEEPALIVE));
    Client::builder(TokioExecutor::new())
        .pool_timer(TokioTimer::new())
        .pool_idle_timeout(IDLE)
        .pool_max_idle_per_host(MOST_AT_ONCE)
        .build(connector)
}

fn request(ask: &Ask, server: &Authority) -> Result<Request<Full<Bytes>>, Cause> {
    let mut request =
        Request::builder().method(ask.method.clone()).uri(format!("http://{server}{}", ask.path));
    for (name, value) in &ask.headers {
        request = request.header(name, value);
    }
    Ok(request.body(Full::new(ask.body.clone()))?)
}

/// The client's own text leaves out what the operating system said.
fn told(error: &hyper_util::client::legacy::Error) -> Cause {
    use std::error::Error;

    let mut text = error.to_string();
    let mut below = error.source();
    while let Some(cause) = below {
        text = format!("{text}: {cause}");
        below = cause.source();
    }
    text.into()
}
