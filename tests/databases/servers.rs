//! Real database servers in a temporary directory, reached through their own command-line clients over a Unix
//! socket, so that no port is needed and nothing that already runs on the machine is touched. A server that
//! is not installed or does not start is a failure, never a reason to skip.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::{Duration, Instant};

use leaselint::facts::sql::Dialect;
use tempfile::TempDir;

const STARTUP: Duration = Duration::from_secs(60);

pub struct Server {
    pub dialect: Dialect,
    directory: TempDir,
    process: Option<Child>,
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(process) = &mut self.process {
            let _ = process.kill();
            let _ = process.wait();
        }
    }
}

/// A client that stays connected, so that it can keep a transaction open.
pub struct Session {
    client: Child,
    input: Option<ChildStdin>,
}

impl Session {
    pub fn send(&mut self, sql: &str) {
        let input = self.input.as_mut().expect("the session is open");
        writeln!(input, "{sql}").and_then(|()| input.flush()).expect("the client reads its input");
    }

    pub fn has_ended(&mut self) -> bool {
        self.client.try_wait().expect("the client can be asked").is_some()
    }

    /// Sends the end of input, and waits until the client has done all it was told.
    pub fn finish(mut self) {
        drop(self.input.take());
        self.client.wait().expect("the client ends");
    }

    pub fn close_input(&mut self) {
        drop(self.input.take());
    }
}

impl Server {
    pub fn postgres() -> Self {
        let directory = TempDir::with_prefix("leaselint-pg").expect("a temporary directory");
        let programs = postgres_programs();
        let data = directory.path().join("data");
        give_to(directory.path(), "postgres");
        run(as_user("postgres", programs.join("initdb"))
            .args(["--auth=trust", "--username=postgres", "--no-sync", "--pgdata"])
            .arg(&data));
        let mut command = as_user("postgres", programs.join("postgres"));
        command.arg("-D").arg(&data).arg("-k").arg(directory.path());
        command.args(["-c", "listen_addresses=", "-c", "fsync=off"]);
        Self::started(Dialect::Postgres, directory, command)
    }

    pub fn mariadb() -> Self {
        let directory = TempDir::with_prefix("leaselint-maria").expect("a temporary directory");
        let data = directory.path().join("data");
        give_to(directory.path(), "mysql");
        let user = if is_root() { "--user=mysql" } else { "--skip-name-resolve" };
        run(Command::new("mariadb-install-db")
            .args(["--no-defaults", "--auth-root-authentication-method=normal", user])
            .arg(format!("--datadir={}", data.display())));
        let mut command = Command::new(program("mariadbd", &["/usr/sbin", "/usr/libexec"]));
        command.args(["--no-defaults", "--skip-networking", user]);
        command.arg(format!("--datadir={}", data.display()));
        command.arg(format!("--socket={}", directory.path().join("socket").display()));
        Self::started(Dialect::MySql, directory, command)
    }

    pub fn sqlite() -> Self {
        let directory = TempDir::with_prefix("leaselint-sqlite").expect("a temporary directory");
        Self { dialect: Dialect::Sqlite, directory, process: None }
    }

    fn started(dialect: Dialect, directory: TempDir, mut command: Command) -> Self {
        let log = directory.path().join("log");
        let file = fs::File::create(&log).expect("the log can be written");
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(file);
        let process = command.spawn().unwrap_or_else(|e| panic!("{command:?} does not start: {e}"));
        let mut server = Self { dialect, directory, process: Some(process) };
        let begun = Instant::now();
        while !server.answers() {
            let ended = server.process.as_mut().is_some_and(|p| p.try_wait().is_ok_and(|s| s.is_some()));
            assert!(
                !ended && begun.elapsed() < STARTUP,
                "{command:?} does not come up:\n{}",
                fs::read_to_string(&log).unwrap_or_default()
            );
            std::thread::sleep(Duration::from_millis(50));
        }
        server
    }

    fn answers(&self) -> bool {
        let output = self.client().arg(self.statement_option()).arg("SELECT 1").output();
        output.is_ok_and(|o| o.status.success())
    }

    fn statement_option(&self) -> &'static str {
        if self.dialect == Dialect::Postgres { "-c" } else { "-e" }
    }

    fn client(&self) -> Command {
        let path = self.directory.path();
        match self.dialect {
            Dialect::Postgres => {
                let mut client = Command::new(postgres_programs().join("psql"));
                client.args(["-X", "-q", "-A", "-t", "-U", "postgres", "-d", "postgres", "-h"]).arg(path);
                client
            }
            Dialect::MySql => {
                let mut client = Command::new("mariadb");
                client.args(["--no-defaults", "-N", "-B", "-f", "--unbuffered", "-u", "root"]);
                client.arg(format!("--socket={}", path.join("socket").display())).arg("-Dtest");
                client
            }
            _ => {
                let mut client = Command::new("sqlite3");
                client.arg("-batch").arg(path.join("file"));
                client
            }
        }
    }

    pub fn session(&self) -> Session {
        let mut command = self.client();
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut client = command.spawn().unwrap_or_else(|e| panic!("{command:?} does not start: {e}"));
        let input = client.stdin.take();
        Session { client, input }
    }

    /// Runs a script, going on after errors, and gives the lines it printed and what it complained of.
    pub fn script(&self, sql: &str) -> (Vec<String>, String) {
        let file = self.directory.path().join("script.sql");
        fs::write(&file, sql).expect("the script can be written");
        let mut command = self.client();
        command.stdin(fs::File::open(&file).expect("the script can be read"));
        let output = command.output().unwrap_or_else(|e| panic!("{command:?} does not start: {e}"));
        let lines = String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect();
        (lines, String::from_utf8_lossy(&output.stderr).into_owned())
    }

    /// Whether some statement waits for a lock of another transaction.
    pub fn somebody_waits(&self) -> bool {
        // InnoDB takes a new look at its transactions only when nobody has asked for 100 ms.
        std::thread::sleep(Duration::from_millis(120));
        let question = match self.dialect {
            Dialect::Postgres => "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock';",
            _ => "SELECT count(*) FROM information_schema.innodb_trx WHERE trx_state = 'LOCK WAIT';",
        };
        let (lines, complaint) = self.script(question);
        assert!(complaint.is_empty(), "{complaint}");
        lines.first().is_some_and(|count| count != "0")
    }
}

fn postgres_programs() -> PathBuf {
    let output = Command::new("pg_config").arg("--bindir").output();
    if let Ok(output) = output
        && let Some(path) = String::from_utf8(output.stdout).ok().map(|s| PathBuf::from(s.trim()))
        && path.join("initdb").exists()
    {
        return path;
    }
    let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> =
        versions.map(|v| v.path().join("bin")).filter(|p| p.join("initdb").exists()).collect();
    found.sort();
    found.pop().expect("PostgreSQL's server programs are installed (Debian: postgresql)")
}

fn program(name: &str, directories: &[&str]) -> PathBuf {
    let found = directories.iter().map(|d| Path::new(d).join(name)).find(|p| p.exists());
    found.unwrap_or_else(|| PathBuf::from(name))
}

fn is_root() -> bool {
    nix::unistd::geteuid().is_root()
}

/// PostgreSQL refuses to run as root.
fn as_user(user: &str, program: PathBuf) -> Command {
    if !is_root() {
        return Command::new(program);
    }
    let mut command = Command::new("setpriv");
    command.args(["--reuid", user, "--regid", user, "--clear-groups", "--"]).arg(program);
    command
}

fn give_to(path: &Path, user: &str) {
    if is_root() {
        run(Command::new("chown").arg(format!("{user}:{user}")).arg(path));
    }
}

fn run(command: &mut Command) {
    let output = command.output().unwrap_or_else(|e| panic!("{command:?} does not start: {e}"));
    assert!(output.status.success(), "{command:?} failed:\n{}", String::from_utf8_lossy(&output.stderr));
}
