//! The stores of the model as real ones: a key in Redis, a lease row in PostgreSQL, and the protected row.

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use super::servers::Server;

const STARTUP: Duration = Duration::from_secs(20);

/// What a store of locks does; each call is one command, script or statement.
pub trait Locks {
    fn reset(&self);
    /// The value of whoever holds the lock.
    fn holder(&self) -> Option<String>;
    /// Gives the token when it has taken the lock.
    fn take(&self, owner: &str, only_if_free: bool, millis: Option<u64>, counts: bool) -> Option<i64>;
    /// `compared`: only while the stored value is the given one.
    fn extend(&self, owner: &str, compared: bool, millis: Option<u64>) -> bool;
    fn free(&self, owner: &str, compared: bool) -> bool;
    /// Draws a token in a step of its own.
    fn draw(&self) -> i64;
}

pub struct Redis {
    server: Child,
    socket: PathBuf,
    _folder: TempDir,
}

impl Redis {
    pub fn start() -> Self {
        let folder = TempDir::with_prefix("leaselint-redis").expect("a temporary directory");
        let socket = folder.path().join("socket");
        let server = Command::new("redis-server")
            .args(["--port", "0", "--save", "", "--appendonly", "no", "--unixsocket"])
            .arg(&socket)
            .current_dir(folder.path())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("redis-server starts (Debian: redis-server)");
        let redis = Self { server, socket, _folder: folder };
        let began = Instant::now();
        while redis.run(&["PING"]) != "PONG" {
            assert!(began.elapsed() < STARTUP, "redis-server does not come up");
            sleep(Duration::from_millis(50));
        }
        redis
    }

    fn run(&self, command: &[&str]) -> String {
        let mut client = Command::new("redis-cli");
        client.arg("-s").arg(&self.socket).args(command);
        let output = client.output().expect("redis-cli starts");
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }
}

impl Drop for Redis {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

const KEY: &str = "job-lock:7";
const COUNTER: &str = "job-lock:7:token";
const TAKE: &str = "if redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then return redis.call('INCR', KEYS[2]) end return 0";
const FREE: &str =
    "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0";
const EXTEND: &str = "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end return 0";
/// For a lock that nothing ends within a run.
const LONG: u64 = 3_600_000;

impl Locks for Redis {
    fn reset(&self) {
        self.run(&["FLUSHALL"]);
        self.run(&["SET", COUNTER, "32"]);
    }

    fn holder(&self) -> Option<String> {
        Some(self.run(&["GET", KEY])).filter(|value| !value.is_empty())
    }

    fn take(&self, owner: &str, only_if_free: bool, millis: Option<u64>, counts: bool) -> Option<i64> {
        let lasts = millis.unwrap_or(LONG).to_string();
        if only_if_free && counts && millis.is_some() {
            let token: i64 = self.run(&["EVAL", TAKE, "2", KEY, COUNTER, owner, &lasts]).parse().ok()?;
            return (token > 0).then_some(token);
        }
        let mut command = vec!["SET", KEY, owner];
        if only_if_free {
            command.push("NX");
        }
        if millis.is_some() {
            command.extend(["PX", &lasts]);
        }
        let took = self.run(&command) == "OK";
        let token = || if counts { self.draw() } else { self.run(&["GET", COUNTER]).parse().unwrap_or(0) };
        took.then(token)
    }

    fn extend(&self, owner: &str, compared: bool, millis: Option<u64>) -> bool {
        let lasts = millis.unwrap_or(LONG).to_string();
        let done = match compared {
            true => self.run(&["EVAL", EXTEND, "1", KEY, owner, &lasts]),
            false => self.run(&["PEXPIRE", KEY, &lasts]),
        };
        done == "1"
    }

    fn free(&self, owner: &str, compared: bool) -> bool {
        let done = match compared {
            true => self.run(&["EVAL", FREE, "1", KEY, owner]),
            false => self.run(&["DEL", KEY]),
        };
        done == "1"
    }

    fn draw(&self) -> i64 {
        self.run(&["INCR", COUNTER]).parse().expect("a counter is a number")
    }
}

/// The lease row and the protected row.
pub struct Rows<'s>(pub &'s Server);

pub const SCHEMA: &str =
    "CREATE TABLE lease (holder TEXT, ends_at TIMESTAMPTZ NOT NULL, token BIGINT NOT NULL);
CREATE TABLE protected (token BIGINT NOT NULL, writer TEXT, writes INT NOT NULL);";

impl Rows<'_> {
    fn ask(&self, sql: &str) -> Vec<String> {
        let (lines, complaint) = self.0.script(sql);
        assert!(complaint.is_empty(), "{sql}: {complaint}");
        lines
    }

    fn is_done(&self, sql: &str) -> bool {
        !self.ask(&format!("{sql} RETURNING 1;")).is_empty()
    }

    /// Token, writer and number of writes of the protected row.
    pub fn row(&self) -> (i64, String, i64) {
        let line = self.ask("SELECT token, coalesce(writer, ''), writes FROM protected;").remove(0);
        let parts: Vec<&str> = line.split('|').collect();
        let number = |text: &str| text.parse().expect("the column holds numbers");
        (number(parts[0]), parts[1].to_owned(), number(parts[2]))
    }

    /// The protected write; whether a row was changed.
    pub fn write(&self, writer: &str, token: &str, condition: &str) -> bool {
        self.is_done(&format!(
            "UPDATE protected SET token = {token}, writer = '{writer}', writes = writes + 1 WHERE {condition}"
        ))
    }
}

fn until(millis: Option<u64>) -> String {
    millis.map_or("'infinity'".to_owned(), |m| format!("clock_timestamp() + interval '{m} milliseconds'"))
}

impl Locks for Rows<'_> {
    fn reset(&self) {
        self.ask("DELETE FROM lease; INSERT INTO lease VALUES (NULL, '-infinity', 32); DELETE FROM protected; INSERT INTO protected VALUES (30, NULL, 0);");
    }

    fn holder(&self) -> Option<String> {
        self.ask("SELECT holder FROM lease WHERE ends_at > clock_timestamp();").pop()
    }

    fn take(&self, owner: &str, only_if_free: bool, millis: Option<u64>, counts: bool) -> Option<i64> {
        let (free, more) = match (only_if_free, counts) {
            (true, counts) => (" WHERE ends_at <= clock_timestamp()", i32::from(counts)),
            (false, counts) => ("", i32::from(counts)),
        };
        let ends = until(millis);
        let sql = format!(
            "UPDATE lease SET holder = '{owner}', ends_at = {ends}, token = token + {more}{free} RETURNING token;"
        );
        self.ask(&sql).pop()?.parse().ok()
    }

    fn extend(&self, owner: &str, compared: bool, millis: Option<u64>) -> bool {
        let own = if compared { format!("holder = '{owner}' AND ") } else { String::new() };
        self.is_done(&format!(
            "UPDATE lease SET ends_at = {} WHERE {own}ends_at > clock_timestamp()",
            until(millis)
        ))
    }

    fn free(&self, owner: &str, compared: bool) -> bool {
        let own = if compared { format!("holder = '{owner}' AND ") } else { String::new() };
        self.is_done(&format!(
            "UPDATE lease SET holder = NULL, ends_at = '-infinity' WHERE {own}ends_at > clock_timestamp()"
        ))
    }

    fn draw(&self) -> i64 {
        let drawn = self.ask("UPDATE lease SET token = token + 1 RETURNING token;").pop();
        drawn.and_then(|token| token.parse().ok()).expect("there is one lease row")
    }
}
