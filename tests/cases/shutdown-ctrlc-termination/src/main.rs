use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use anyhow::Result;
use redis::{Client, Connection, Script};
use uuid::Uuid;

const KEY: &str = "photo-dedup:leader";
const TTL_MS: usize = 15_000;
const STEP: Duration = Duration::from_secs(5);

fn main() -> Result<()> {
    simple_logger::init_with_level(log::Level::Info)?;
    let (quit, quitting) = channel();
    ctrlc::set_handler(move || {
        let _ = quit.send(());
    })?;

    let client = Client::open("redis://redis.internal/2")?;
    let mut conn = client.get_connection()?;
    loop {
        let me = Uuid::new_v4().to_string();
        let won: Option<String> = redis::cmd("SET")
            .arg(KEY)
            .arg(&me)
            .arg("NX")
            .arg("PX")
            .arg(TTL_MS)
            .query(&mut conn)?;
        if won.is_some() {
            let term = reign(&mut conn, &me, &quitting);
            let freed: i64 = Script::new(
                "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) else return 0 end",
            )
            .key(KEY)
            .arg(&me)
            .invoke(&mut conn)?;
            log::info!("term ended, lock freed: {}", freed == 1);
            if term == Term::Quit {
                return Ok(());
            }
        }
        if !matches!(quitting.recv_timeout(STEP), Err(RecvTimeoutError::Timeout)) {
            return Ok(());
        }
    }
}

#[derive(PartialEq, Eq)]
enum Term {
    Quit,
    Lost,
}

/// Dedups in short steps; between two steps the lock is renewed.
fn reign(conn: &mut Connection, me: &str, quitting: &Receiver<()>) -> Term {
    let mut failures = 0;
    loop {
        log::info!("{} candidates", candidates());
        match quitting.recv_timeout(STEP) {
            Err(RecvTimeoutError::Timeout) => {}
            _ => return Term::Quit,
        }
        let kept: redis::RedisResult<i64> = Script::new(
            "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('pexpire', KEYS[1], ARGV[2]) else return 0 end",
        )
        .key(KEY)
        .arg(me)
        .arg(TTL_MS)
        .invoke(conn);
        match kept {
            Ok(1) => failures = 0,
            Ok(_) => return Term::Lost,
            Err(e) => {
                log::warn!("renewal: {e}");
                failures += 1;
                if failures == 2 {
                    return Term::Lost;
                }
            }
        }
    }
}

fn candidates() -> usize {
    fs_err::read_dir("/photos/incoming").map_or(0, |d| d.count())
}
