//! A TCP proxy between a client and a server that can swallow what goes through, in both directions or in one, delay
//! it, cut it, and count requests.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;

#[derive(Default)]
struct Faults {
    /// Nothing goes to the server, and nobody is told: as when packets are dropped.
    swallow_requests: AtomicBool,
    /// The same, for what comes back: requests are obeyed, and nobody hears of it.
    swallow_answers: AtomicBool,
    /// How long each piece waits before it goes on, in milliseconds.
    delay: AtomicU64,
    /// Wakes whoever is to close its connections.
    cut: Notify,
    /// Pieces that clients have sent; each small request is one.
    requests: AtomicUsize,
    /// Connections that are open, and the most that ever were.
    open: AtomicUsize,
    most_open: AtomicUsize,
}

pub struct Proxy {
    address: SocketAddr,
    faults: Arc<Faults>,
}

impl Proxy {
    /// In front of a port of the loopback address. Runs until its runtime ends.
    pub async fn before(port: u16) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("there is a free port");
        let address = listener.local_addr().expect("a bound socket has an address");
        let faults = Arc::new(Faults::default());
        let shared = Arc::clone(&faults);
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let Ok(server) = TcpStream::connect(("127.0.0.1", port)).await else { continue };
                let ((from_client, to_client), (from_server, to_server)) =
                    (client.into_split(), server.into_split());
                let open = shared.open.fetch_add(1, Ordering::SeqCst) + 1;
                shared.most_open.fetch_max(open, Ordering::SeqCst);
                let counted = Arc::clone(&shared);
                tokio::spawn(async move {
                    pass(from_client, to_server, Arc::clone(&counted), true).await;
                    counted.open.fetch_sub(1, Ordering::SeqCst);
                });
                tokio::spawn(pass(from_server, to_client, Arc::clone(&shared), false));
            }
        });
        Self { address, faults }
    }

    pub fn port(&self) -> u16 {
        self.address.port()
    }

    pub fn swallow(&self, on: bool) {
        self.faults.swallow_requests.store(on, Ordering::SeqCst);
        self.faults.swallow_answers.store(on, Ordering::SeqCst);
    }

    pub fn swallow_answers(&self, on: bool) {
        self.faults.swallow_answers.store(on, Ordering::SeqCst);
    }

    /// Delays every piece, in each direction.
    pub fn delay(&self, span: Duration) {
        let milliseconds = u64::try_from(span.as_millis()).expect("it is short");
        self.faults.delay.store(milliseconds, Ordering::SeqCst);
    }

    pub fn cut_all(&self) {
        self.faults.cut.notify_waiters();
    }

    /// Requests since the last call.
    pub fn requests(&self) -> usize {
        self.faults.requests.swap(0, Ordering::SeqCst)
    }

    /// The most connections that were open at the same time.
    pub fn most_connections(&self) -> usize {
        self.faults.most_open.load(Ordering::SeqCst)
    }
}

async fn pass(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, faults: Arc<Faults>, count: bool) {
    let mut piece = vec![0; 65_536];
    loop {
        let read = tokio::select! {
            read = from.read(&mut piece) => read,
            () = faults.cut.notified() => return,
        };
        let swallow = if count { &faults.swallow_requests } else { &faults.swallow_answers };
        let Ok(length @ 1..) = read else {
            // The end of a connection goes unheard like everything else.
            while swallow.load(Ordering::SeqCst) {
                tokio::select! {
                    () = tokio::time::sleep(Duration::from_millis(10)) => {}
                    () = faults.cut.notified() => return,
                }
            }
            return;
        };
        if count {
            faults.requests.fetch_add(1, Ordering::SeqCst);
        }
        let delay = faults.delay.load(Ordering::SeqCst);
        if delay > 0 {
            tokio::time::sleep(Duration::from_millis(delay)).await;
        }
        if swallow.load(Ordering::SeqCst) {
            // What was swallowed is gone; the connection stays as it is, half dead.
            tokio::time::sleep(Duration::from_millis(1)).await;
            continue;
        }
        if to.write_all(&piece[..length]).await.is_err() {
            return;
        }
    }
}
