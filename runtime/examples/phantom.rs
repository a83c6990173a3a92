//! A holder that is frozen in the middle of its work, and goes on when its lease has long been somebody else's.
//! Three times: with a lease alone, where its write destroys the other's; with leasehold, where it notices that
//! its time is over; and with leasehold and a clock that stands still, where the storage refuses it all the same.
//!
//! `cargo run --example phantom` (Unix; each worker is a process of its own, frozen with SIGSTOP)

use std::error::Error;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use leasehold::Leases;
use leasehold::clock::{BootClock, Clock, ManualClock, Moment};
use leasehold::fence::FenceError;
use leasehold::fence::sqlite::SqliteFence;
use leasehold::store::sqlite::SqliteStore;
use rustix::process::{Pid, Signal, kill_process};

type Outcome<T> = Result<T, Box<dyn Error>>;

const TTL: Duration = Duration::from_millis(1000);
const START: i64 = 100;

fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => direct(),
        [way, name, amount, path] => work(way, name, amount.parse()?, Path::new(path)),
        _ => Err("usage: phantom".into()),
    }
}

/// Plays the three pieces, one after the other.
fn direct() -> Outcome<()> {
    println!("an account holds {START}; A withdraws 20 and is frozen half way, B withdraws 30 meanwhile\n");
    let unfenced = play("lease-only", "a lease, and plain writes")?;
    let noticed = play("leasehold", "leasehold")?;
    let refused = play("stopped-clock", "leasehold, and A's clock stands still")?;
    println!("lease only: {unfenced}, leasehold: {noticed}, leasehold without a clock: {refused}");
    if unfenced != START - 20 {
        return Err("without fencing, A was to overwrite B's withdrawal; this run shows nothing".into());
    }
    if (noticed, refused) != (START - 30, START - 30) {
        return Err("a stale write was accepted".into());
    }
    println!("without fencing B's withdrawal is lost; with it A's stale write was refused, twice");
    Ok(())
}

/// One piece; gives the balance at its end.
fn play(way: &str, title: &str) -> Outcome<i64> {
    println!("== {title}");
    let stage = Stage::new(way)?;
    let mut first = stage.enter("A", 20)?;
    first.tell_until("has read")?;
    first.signal(Signal::STOP)?;
    stage.say("-", "A is frozen (SIGSTOP)");
    let mut second = stage.enter("B", 30)?;
    second.tell_until("has read")?;
    second.go_on()?;
    second.tell_all()?;
    first.go_on()?;
    stage.say("-", "A goes on (SIGCONT)");
    first.signal(Signal::CONT)?;
    first.tell_all()?;
    let balance = stage.balance()?;
    stage.say("-", &format!("the account holds {balance}"));
    println!();
    std::fs::remove_dir_all(&stage.directory)?;
    Ok(balance)
}

struct Stage {
    way: String,
    directory: PathBuf,
    began: Moment,
}

impl Stage {
    fn new(way: &str) -> Outcome<Self> {
        let directory = std::env::temp_dir().join(format!("phantom-{way}-{}", std::process::id()));
        std::fs::create_dir_all(&directory)?;
        let stage = Self { way: way.to_owned(), directory, began: BootClock.now() };
        let account = format!(
            "CREATE TABLE account (id INTEGER PRIMARY KEY, balance INTEGER NOT NULL) STRICT;
             INSERT INTO account VALUES (1, {START});"
        );
        stage.open()?.execute_batch(&account)?;
        Ok(stage)
    }

    fn path(&self) -> PathBuf {
        self.directory.join("bank.db")
    }

    fn open(&self) -> Outcome<rusqlite::Connection> {
        Ok(rusqlite::Connection::open(self.path())?)
    }

    fn balance(&self) -> Outcome<i64> {
        Ok(self.open()?.query_row(READ, [], |row| row.get(0))?)
    }

    fn enter(&self, name: &str, amount: i64) -> Outcome<Worker<'_>> {
        let mut child = Command::new(std::env::current_exe()?)
            .args([self.way.as_str(), name, &amount.to_string()])
            .arg(self.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let lines = BufReader::new(child.stdout.take().ok_or("its output was asked for")?);
        Ok(Worker { stage: self, name: name.to_owned(), child, lines })
    }

    fn say(&self, who: &str, what: &str) {
        println!("{:>6} ms  {who}  {what}", BootClock.now().since(self.began).as_millis());
    }
}

/// A worker as its director sees it. Ended with the piece, whatever happens.
struct Worker<'a> {
    stage: &'a Stage,
    name: String,
    child: Child,
    lines: BufReader<ChildStdout>,
}

impl Worker<'_> {
    fn tell_line(&mut self) -> Outcome<Option<String>> {
        let mut line = String::new();
        if self.lines.read_line(&mut line)? == 0 {
            return Ok(None);
        }
        self.stage.say(&self.name, line.trim_end());
        Ok(Some(line))
    }

    fn tell_until(&mut self, words: &str) -> Outcome<()> {
        while let Some(line) = self.tell_line()? {
            if line.contains(words) {
                return Ok(());
            }
        }
        Err(format!("{} ended before it `{words}`", self.name).into())
    }

    fn tell_all(&mut self) -> Outcome<()> {
        while self.tell_line()?.is_some() {}
        let ended = self.child.wait()?;
        if ended.success() { Ok(()) } else { Err(format!("{} ended with {ended}", self.name).into()) }
    }

    fn go_on(&mut self) -> Outcome<()> {
        Ok(self.child.stdin.as_mut().ok_or("its input was asked for")?.write_all(b"go\n")?)
    }

    fn signal(&self, signal: Signal) -> Outcome<()> {
        Ok(kill_process(Pid::from_child(&self.child), signal)?)
    }
}

impl Drop for Worker<'_> {
    fn drop(&mut self) {
        let _ended = self.child.kill();
        let _reaped = self.child.wait();
    }
}

const READ: &str = "SELECT balance FROM account WHERE id = 1";
const WRITE: &str = "UPDATE account SET balance = ?1 WHERE id = 1";

/// One worker, in its own process: takes the lease, reads, is frozen or not, writes.
#[tokio::main]
async fn work(way: &str, name: &str, amount: i64, path: &Path) -> Outcome<()> {
    let mut builder = Leases::builder(SqliteStore::open(path)?)
        .ttl(TTL)
        // A busy disk may take longer than the sixth part of so short a TTL.
        .renew_every(TTL / 4)
        .attempt_timeout(TTL * 7 / 20);
    if way == "stopped-clock" && name == "A" {
        builder = builder.clock(ManualClock::starting_at(BootClock.now()));
    }
    let leases = builder.build()?;
    let lease = leases.acquire("account").await?;
    println!("has the lease, token {}", lease.token());
    if way == "lease-only" {
        unfenced(path, amount)?;
    } else {
        let fence = SqliteFence::open(path)?;
        let claimed = fence.claim(&lease, "account").await?;
        let balance: i64 = claimed.transaction(|tx| tx.query_row(READ, [], |row| row.get(0))).await?;
        wait(balance)?;
        match claimed.transaction(move |tx| tx.execute(WRITE, [balance - amount])).await {
            Ok(_) => println!("has written {}", balance - amount),
            Err(FenceError::Lost(lost)) => println!("stops: {lost}"),
            Err(FenceError::Stale(stale)) => println!("is refused: {stale}"),
            Err(error) => return Err(error.into()),
        }
    }
    println!("gives the lease back: {:?}", lease.release().await);
    Ok(())
}

/// What not to do: the lease is held when the account is read, and nobody asks again when it is written.
fn unfenced(path: &Path, amount: i64) -> Outcome<()> {
    let connection = rusqlite::Connection::open(path)?;
    connection.busy_timeout(Duration::from_secs(5))?;
    let balance: i64 = connection.query_row(READ, [], |row| row.get(0))?;
    wait(balance)?;
    connection.execute(WRITE, [balance - amount])?;
    println!("has written {}", balance - amount);
    Ok(())
}

/// The pause: until the director says to go on.
fn wait(balance: i64) -> Outcome<()> {
    println!("has read {balance}");
    std::io::stdin().read_line(&mut String::new())?;
    Ok(())
}
