use std::process::Command;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use crossbeam_channel::{Receiver, bounded, select, tick};
use redis::{Client, Connection, Script};
use uuid::Uuid;

const TTL_MS: u64 = 9_000;

pub struct EpisodeLock {
    client: Client,
    key: String,
    owner: String,
}

impl EpisodeLock {
    pub fn acquire(client: &Client, episode: u64) -> Result<Option<Self>> {
        let lock = Self {
            client: client.clone(),
            key: format!("episode:{episode}:encoding"),
            owner: Uuid::new_v4().to_string(),
        };
        let mut conn = client.get_connection()?;
        let reply: redis::Value = redis::cmd("SET")
            .arg(&lock.key)
            .arg(&lock.owner)
            .arg("NX")
            .arg("PX")
            .arg(TTL_MS)
            .query(&mut conn)?;
        Ok(match reply {
            redis::Value::Okay => Some(lock),
            _ => None,
        })
    }

    fn prolong(&self, conn: &mut Connection) -> redis::RedisResult<bool> {
        let script = Script::new(
            "if redis.call('get', KEYS[1]) == ARGV[1] then \
                 return redis.call('pexpire', KEYS[1], ARGV[2]) \
             else return 0 end",
        );
        script
            .key(&self.key)
            .arg(&self.owner)
            .arg(TTL_MS)
            .invoke::<i64>(conn)
            .map(|n| n == 1)
    }

    fn release(&self) -> redis::RedisResult<bool> {
        let mut conn = self.client.get_connection()?;
        let script = Script::new(
            "if redis.call('get', KEYS[1]) == ARGV[1] then \
                 return redis.call('del', KEYS[1]) \
             else return 0 end",
        );
        script
            .key(&self.key)
            .arg(&self.owner)
            .invoke::<i64>(&mut conn)
            .map(|n| n == 1)
    }
}

/// Encodes one episode while a second thread keeps the lock.
pub fn encode(client: &Client, episode: u64) -> Result<bool> {
    let Some(lock) = EpisodeLock::acquire(client, episode)? else {
        return Ok(false);
    };
    let child = Command::new("opusenc")
        .arg(format!("/in/{episode}.wav"))
        .arg(format!("/out/{episode}.opus"))
        .spawn()
        .map(|c| Arc::new(Mutex::new(c)));

    let result = child.context("opusenc").and_then(|child| {
        thread::scope(|s| {
            let (done_tx, done) = bounded::<()>(0);
            let keeper = s.spawn(|| keep(&lock, done, || drop(child.lock().unwrap().kill())));
            let status = loop {
                if let Some(st) = child.lock().unwrap().try_wait()? {
                    break st;
                }
                thread::sleep(Duration::from_millis(250));
            };
            drop(done_tx);
            let kept = keeper.join().expect("keeper panicked");
            if !kept {
                bail!("episode {episode}: lock lost, encoder stopped");
            }
            if !status.success() {
                bail!("episode {episode}: {status}");
            }
            Ok(true)
        })
    });

    match lock.release() {
        Ok(true) => {}
        Ok(false) => log::warn!("episode {episode}: lock was already gone"),
        Err(e) => log::warn!("episode {episode}: release: {e}"),
    }
    result
}

/// True when the work ended first, false when the lock did.
fn keep(lock: &EpisodeLock, done: Receiver<()>, stop_work: impl Fn()) -> bool {
    let beat = tick(Duration::from_millis(TTL_MS / 3));
    let mut failed = 0;
    let mut conn = None;
    loop {
        select! {
            recv(done) -> _ => return true,
            recv(beat) -> _ => {}
        }
        let renewed = match conn.take().map_or_else(|| lock.client.get_connection(), Ok) {
            Ok(mut c) => {
                let r = lock.prolong(&mut c);
                conn = Some(c);
                r
            }
            Err(e) => Err(e),
        };
        match renewed {
            Ok(true) => failed = 0,
            Ok(false) => {
                stop_work();
                return false;
            }
            Err(e) => {
                log::warn!("prolong {}: {e}", lock.key);
                conn = None;
                failed += 1;
                if failed == 2 {
                    stop_work();
                    return false;
                }
            }
        }
    }
}
