//! Real servers for tests: each on a free port of the loopback address, with its data in a temporary directory,
//! ended with the value that stands for it. A server that is not installed fails the test that wants it.

use std::fs::{self, File};
use std::io;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::os::unix::fs::chown;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use tempfile::TempDir;

const PATIENCE: Duration = Duration::from_secs(60);

/// A port that nobody listens on. Another process could take it before the server does; then the start fails
/// and says so.
pub fn free_port() -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("the loopback address has a free port");
    listener.local_addr().expect("a bound socket has an address").port()
}

/// A server process with its directory.
pub struct Server {
    command: Command,
    child: Child,
    directory: TempDir,
    port: u16,
    program: String,
}

impl Server {
    /// Starts `program` and waits until it accepts connections on `port`.
    pub fn start(command: Command, directory: TempDir, port: u16) -> Self {
        let mut server = Self::begin(command, directory, port);
        server.wait_until(accepts);
        server
    }

    /// Starts `program`, which will listen on `port`.
    fn begin(mut command: Command, directory: TempDir, port: u16) -> Self {
        let program = command.get_program().to_string_lossy().into_owned();
        let log = File::create(directory.path().join("log")).expect("the directory is ours");
        let errors = log.try_clone().expect("a file can be cloned");
        command.stdin(Stdio::null()).stdout(log).stderr(errors);
        let child = command.spawn().unwrap_or_else(|error| not_installed(&program, &error));
        Self { command, child, directory, port, program }
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    pub fn id(&self) -> u32 {
        self.child.id()
    }

    pub fn directory(&self) -> &Path {
        self.directory.path()
    }

    /// Ends the server with SIGKILL; what it had not written to its disk is lost.
    pub fn crash(&mut self) {
        // It may have ended by itself.
        let _ended = self.child.kill();
        let _reaped = self.child.wait();
    }

    /// Starts it again, on the same port and with the data that are in its directory.
    pub fn restart(&mut self) {
        let began = Instant::now();
        loop {
            self.child = self.command.spawn().expect("it was started before");
            while self.child.try_wait().expect("it is our child").is_none() {
                if accepts(self.port) {
                    return;
                }
                sleep(Duration::from_millis(20));
            }
            // What is left of the one that was killed may be in the way for a moment.
            let log = self.directory.path().join("log");
            assert!(began.elapsed() < PATIENCE, "{}", fs::read_to_string(log).unwrap_or_default());
            sleep(Duration::from_millis(50));
        }
    }

    /// Waits until the server is `ready`, and fails with its log when it ends or takes too long.
    pub fn wait_until(&mut self, ready: impl Fn(u16) -> bool) {
        let began = Instant::now();
        while !ready(self.port) {
            let ended = self.child.try_wait().expect("it is our child");
            if ended.is_some() || began.elapsed() > PATIENCE {
                let log = fs::read_to_string(self.directory.path().join("log")).unwrap_or_default();
                panic!("{} is not up ({ended:?}):\n{log}", self.program);
            }
            sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended by itself, or been killed by the test.
        let _ended = self.child.kill();
        let _reaped = self.child.wait();
    }
}

fn accepts(port: u16) -> bool {
    TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_ok()
}

fn not_installed(program: &str, error: &io::Error) -> ! {
    panic!("{program} cannot be started ({error}); install what .ci/run installs, tests use real servers")
}

pub fn directory() -> TempDir {
    tempfile::Builder::new().prefix("leasehold-").tempdir().expect("there is a temporary directory")
}

/// Variables for a server's environment.
pub type Environment = [(&'static str, String)];

/// A Redis server without persistence.
pub fn redis() -> Server {
    redis_with(&["--appendonly", "no"], &[])
}

/// A Redis server with options of its own.
pub fn redis_with(options: &[&str], environment: &Environment) -> Server {
    started_as_redis("redis-server", options, environment)
}

fn started_as_redis(program: &str, options: &[&str], environment: &Environment) -> Server {
    let (directory, port) = (directory(), free_port());
    let mut command = Command::new(program);
    command.args(["--port", &port.to_string(), "--bind", "127.0.0.1", "--save", ""]);
    command.args(options).envs(environment.iter().cloned());
    command.arg("--dir").arg(directory.path());
    Server::start(command, directory, port)
}

/// A Redis Cluster: three nodes that share the slots, with a replica each if that is wanted.
pub fn redis_cluster(replicas: bool) -> Vec<Server> {
    let size = if replicas { 6 } else { 3 };
    let nodes: Vec<Server> = (0..size)
        .map(|_| {
            let bus = free_port().to_string();
            let mut options = vec!["--cluster-enabled", "yes", "--cluster-port", &bus];
            options.extend(["--cluster-node-timeout", "1000", "--repl-diskless-sync-delay", "0"]);
            // A node without slots would become a replica of another.
            options.extend(["--cluster-allow-replica-migration", "no"]);
            redis_with(&options, &[])
        })
        .collect();
    let mut command = Command::new("redis-cli");
    command.args(["--cluster", "create"]);
    command.args(nodes.iter().map(|node| format!("127.0.0.1:{}", node.port())));
    command.args(["--cluster-replicas", if replicas { "1" } else { "0" }, "--cluster-yes"]);
    let made = command.output().unwrap_or_else(|error| not_installed("redis-cli", &error));
    assert!(made.status.success(), "redis-cli: {}", String::from_utf8_lossy(&made.stdout));
    // Each node must have heard of it, or it refuses; and a replica without data cannot take over.
    let is_ready = |node: &Server| {
        let state = tell_redis(node, &["CLUSTER", "INFO"]);
        let replication = tell_redis(node, &["INFO", "replication"]);
        state.contains("cluster_state:ok") && !replication.contains("master_link_status:down")
    };
    let began = Instant::now();
    let place = format!("127.0.0.1:{}", nodes[0].port());
    let they_agree = || {
        let checked = Command::new("redis-cli").args(["--cluster", "check", &place]).output();
        checked.is_ok_and(|said| said.status.success())
    };
    while !nodes.iter().all(is_ready) || !they_agree() {
        assert!(began.elapsed() < PATIENCE, "the nodes do not come together");
        sleep(Duration::from_millis(50));
    }
    nodes
}

/// What a Redis server says to a command, as `redis-cli` prints it.
pub fn tell_redis(server: &Server, words: &[&str]) -> String {
    let mut command = Command::new("redis-cli");
    command.args(["-p", &server.port().to_string()]).args(words);
    let said = command.output().unwrap_or_else(|error| not_installed("redis-cli", &error));
    String::from_utf8_lossy(&said.stdout).trim().to_owned()
}

/// A Valkey server, if that is installed. Debian does not have it everywhere; `.ci/run` takes it from PyPI.
pub fn valkey() -> Server {
    started_as_redis("valkey-server", &[], &[])
}

pub fn has_valkey() -> bool {
    Command::new("valkey-server").arg("--version").output().is_ok_and(|said| said.status.success())
}

/// Five Redis servers that know nothing of each other.
pub fn five_redis() -> Vec<Server> {
    (0..5).map(|_| redis()).collect()
}

/// The address of a Redis server.
pub fn redis_address(server: &Server) -> String {
    format!("redis://127.0.0.1:{}/", server.port())
}

/// A PostgreSQL server, which trusts the user `postgres`.
pub fn postgres() -> Server {
    postgres_with(&[])
}

/// The same, with an environment of its own.
pub fn postgres_with(environment: &Environment) -> Server {
    let (directory, port) = (directory(), free_port());
    let account = service_account("postgres");
    if let Some((user, group)) = account {
        chown(directory.path(), Some(user), Some(group)).expect("root may change owners");
    }
    let data = directory.path().join("data");
    let mut initdb = as_account(&program("initdb"), account);
    initdb.arg("-D").arg(&data).args(["-U", "postgres", "--auth=trust", "--no-sync", "-E", "UTF8"]);
    let made = initdb.output().unwrap_or_else(|error| not_installed("initdb", &error));
    assert!(made.status.success(), "initdb: {}", String::from_utf8_lossy(&made.stderr));
    let mut command = as_account(&program("postgres"), account);
    command.arg("-D").arg(&data).args(["-h", "127.0.0.1", "-p", &port.to_string(), "-k", ""]);
    // Shared memory in its own directory: a server that is killed leaves nothing elsewhere.
    command.args(["-c", "dynamic_shared_memory_type=mmap"]).envs(environment.iter().cloned());
    let mut server = Server::start(command, directory, port);
    // It accepts connections a moment before it answers them.
    let ready = program("pg_isready");
    server.wait_until(|port| {
        let asked = Command::new(&ready).args(["-q", "-h", "127.0.0.1", "-p", &port.to_string()]).status();
        asked.is_ok_and(|status| status.success())
    });
    server
}

/// The address of a PostgreSQL server's own database.
pub fn postgres_address(server: &Server) -> String {
    format!("host=127.0.0.1 port={} user=postgres dbname=postgres", server.port())
}

/// A MariaDB server, whose user `root` needs no password.
pub fn mariadb() -> Server {
    let (directory, port) = (directory(), free_port());
    let account = service_account("mysql");
    if let Some((user, group)) = account {
        chown(directory.path(), Some(user), Some(group)).expect("root may change owners");
    }
    let data = format!("--datadir={}", directory.path().join("data").display());
    // Servers that share a folder for temporary tables delete each other's when they start.
    let temporary = format!("--tmpdir={}", directory.path().display());
    let mut install = as_account(Path::new("mariadb-install-db"), account);
    install.args([
        "--no-defaults",
        "--auth-root-authentication-method=normal",
        "--skip-test-db",
        &data,
        &temporary,
    ]);
    let made = install.output().unwrap_or_else(|error| not_installed("mariadb-install-db", &error));
    assert!(made.status.success(), "mariadb-install-db: {}", String::from_utf8_lossy(&made.stderr));
    // Debian keeps it where only root looks for programs.
    let program = Path::new("/usr/sbin/mariadbd");
    let program = if program.exists() { program } else { Path::new("mariadbd") };
    let mut command = as_account(program, account);
    command.args(["--no-defaults", "--bind-address=127.0.0.1", "--skip-name-resolve", &data, &temporary]);
    command.arg(format!("--port={port}"));
    command.arg(format!("--socket={}", directory.path().join("socket").display()));
    Server::start(command, directory, port)
}

/// The address of the database `mysql` of a MariaDB server, which every server has.
pub fn mariadb_address(server: &Server) -> String {
    format!("mysql://root@127.0.0.1:{}/mysql", server.port())
}

/// An etcd server of one node.
pub fn etcd() -> Server {
    etcd_cluster(1).pop().expect("it is one")
}

/// etcd servers that make one cluster.
pub fn etcd_cluster(size: u16) -> Vec<Server> {
    let peers: Vec<u16> = (0..size).map(|_| free_port()).collect();
    let names = peers.iter().map(|port| format!("node{port}=http://127.0.0.1:{port}"));
    let cluster = names.collect::<Vec<_>>().join(",");
    let start = |peer: u16| {
        let (directory, port) = (directory(), free_port());
        let mut command = Command::new("etcd");
        let clients = format!("http://127.0.0.1:{port}");
        let peers = format!("http://127.0.0.1:{peer}");
        command.arg("--data-dir").arg(directory.path().join("data"));
        command.args(["--name", &format!("node{peer}"), "--initial-cluster", &cluster, "--logger", "zap"]);
        command.args(["--listen-client-urls", &clients, "--advertise-client-urls", &clients]);
        command.args(["--listen-peer-urls", &peers, "--initial-advertise-peer-urls", &peers]);
        // The other nodes must start before any of them is ready.
        Server::begin(command, directory, port)
    };
    let mut servers: Vec<Server> = peers.into_iter().map(start).collect();
    for server in &mut servers {
        server.wait_until(accepts);
    }
    servers
}

/// The address of an etcd server.
pub fn etcd_address(server: &Server) -> String {
    format!("http://127.0.0.1:{}", server.port())
}

/// A Consul agent for development, which keeps nothing, with TTLs that tests can wait for.
pub fn consul() -> Server {
    let (directory, port) = (directory(), free_port());
    let mut command = Command::new("consul");
    command.args(["agent", "-dev", "-bind=127.0.0.1", "-client=127.0.0.1"]);
    command.args([&format!("-http-port={port}"), "-dns-port=-1", "-grpc-port=-1", "-grpc-tls-port=-1"]);
    for inside in ["serf-lan", "serf-wan", "server"] {
        command.arg(format!("-{inside}-port={}", free_port()));
    }
    command.args(["-hcl", "session_ttl_min = \"1s\""]);
    Server::start(command, directory, port)
}

/// Whether a real Consul is named or installed. Debian has none.
pub fn has_consul() -> bool {
    let told = Command::new("consul").arg("version").output();
    std::env::var_os("CONSUL_HTTP_ADDR").is_some() || told.is_ok_and(|said| said.status.success())
}

/// Some servers refuse to run as root; then they run as the account that Debian made for them.
fn service_account(name: &str) -> Option<(u32, u32)> {
    let own = Command::new("id").arg("-u").output().expect("every system has `id`");
    if String::from_utf8_lossy(&own.stdout).trim() != "0" {
        return None;
    }
    let ask = |flag| {
        let told = Command::new("id").args([flag, name]).output().expect("every system has `id`");
        String::from_utf8_lossy(&told.stdout).trim().parse().ok()
    };
    let account = ask("-u").zip(ask("-g"));
    assert!(
        account.is_some(),
        "there is no user `{name}` to run the server as; install what .ci/run installs"
    );
    account
}

fn as_account(program: &Path, account: Option<(u32, u32)>) -> Command {
    use std::os::unix::process::CommandExt;
    let mut command = Command::new(program);
    if let Some((user, group)) = account {
        command.uid(user).gid(group);
        // The directory that the tests run in may be closed to that user.
        command.current_dir("/");
    }
    command
}

/// Debian keeps PostgreSQL's programs outside the search path, in a directory for each version.
fn program(name: &str) -> PathBuf {
    let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> =
        versions.map(|version| version.path().join("bin").join(name)).filter(|path| path.exists()).collect();
    found.sort();
    found.pop().unwrap_or_else(|| PathBuf::from(name))
}
