//! The stores' own commands, sent by hand through the bare clients.

use std::path::Path;

use mysql_async::prelude::Queryable;
use redis::aio::MultiplexedConnection;
use rusqlite::{TransactionBehavior, params};
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, NoTls};

use crate::plain_etcd::PlainEtcd;

pub const KEY: &str = "by hand";
const TTL_MILLISECONDS: i64 = 6000;
/// Two different ones would make no difference: nobody else asks for the key.
const OWNER: [u8; 16] = *b"0123456789abcdef";

const LUA: [&str; 3] = [
    "\
if redis.call('EXISTS', KEYS[1]) == 1 then
    return {0, redis.call('PTTL', KEYS[1])}
end
local token = redis.call('INCR', KEYS[2])
redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2])
return {token, 0}",
    "\
if redis.call('GET', KEYS[1]) == ARGV[1] then
    return redis.call('PEXPIRE', KEYS[1], ARGV[2])
end
return 0",
    "\
if redis.call('GET', KEYS[1]) == ARGV[1] then
    redis.call('DEL', KEYS[1])
    redis.pcall('PUBLISH', KEYS[1], 'released')
    return 1
end
return 0",
];

const POSTGRES: [&str; 3] = [
    "\
WITH taken AS (
    INSERT INTO leasehold_lease AS held (key, owner, token, ends_at)
    VALUES ($1, $2, 1, clock_timestamp() + $3::bigint * interval '1 millisecond')
    ON CONFLICT (key) DO UPDATE
    SET owner = EXCLUDED.owner, token = held.token + 1,
        ends_at = clock_timestamp() + $3::bigint * interval '1 millisecond'
    WHERE held.ends_at <= clock_timestamp()
    RETURNING token
)
SELECT (SELECT token FROM taken),
       (SELECT ceil(extract(epoch FROM ends_at - clock_timestamp()) * 1000)::bigint
        FROM leasehold_lease WHERE key = $1 AND isfinite(ends_at))",
    "\
UPDATE leasehold_lease SET ends_at = clock_timestamp() + $3::bigint * interval '1 millisecond'
WHERE key = $1 AND owner = $2 AND ends_at > clock_timestamp()",
    "\
WITH released AS (
    UPDATE leasehold_lease SET ends_at = '-infinity'
    WHERE key = $1 AND owner = $2 AND ends_at > clock_timestamp()
    RETURNING key
)
SELECT pg_notify('leasehold', key) FROM released",
];

const MYSQL: [&str; 3] = [
    "\
UPDATE leasehold_lease
SET owner = ?, token = LAST_INSERT_ID(token + 1), ends_at = SYSDATE(6) + INTERVAL ? MICROSECOND
WHERE `key` = ? AND ends_at <= SYSDATE(6)",
    "\
UPDATE leasehold_lease SET ends_at = SYSDATE(6) + INTERVAL ? MICROSECOND
WHERE `key` = ? AND owner = ? AND ends_at > SYSDATE(6)",
    "\
UPDATE leasehold_lease SET ends_at = '1970-01-01'
WHERE `key` = ? AND owner = ? AND ends_at > SYSDATE(6)",
];

const SQLITE: [&str; 3] = [
    "\
INSERT INTO leasehold_lease AS held (key, owner, token, boot, ends_at, ttl)
VALUES (?1, ?2, 1, ?3, ?4 + ?5, ?5)
ON CONFLICT (key) DO UPDATE
SET owner = excluded.owner, token = held.token + 1, boot = excluded.boot, ends_at = excluded.ends_at,
    ttl = excluded.ttl
WHERE held.boot <> excluded.boot OR held.ends_at <= ?4 OR held.ends_at - ?4 > held.ttl
RETURNING token",
    "\
UPDATE leasehold_lease SET ends_at = ?4 + ?5, ttl = ?5
WHERE key = ?1 AND owner = ?2 AND boot = ?3 AND ends_at > ?4",
    "\
UPDATE leasehold_lease SET ends_at = 0
WHERE key = ?1 AND owner = ?2 AND boot = ?3 AND ends_at > ?4",
];

pub enum Plain {
    Redis { connection: MultiplexedConnection, hashes: [String; 3] },
    Postgres(Client),
    Mysql(mysql_async::Conn),
    Sqlite { connection: rusqlite::Connection, now: i64 },
    Etcd(PlainEtcd),
}

impl Plain {
    pub async fn redis(address: &str) -> Self {
        let client = redis::Client::open(address).expect("the address is right");
        let mut connection = client.get_multiplexed_async_connection().await.expect("it is up");
        let mut hashes = Vec::new();
        for script in LUA {
            let loaded = redis::cmd("SCRIPT").arg("LOAD").arg(script).query_async(&mut connection).await;
            hashes.push(loaded.expect("the script is right"));
        }
        Self::Redis { connection, hashes: hashes.try_into().expect("there are three") }
    }

    pub async fn postgres(address: &str) -> Self {
        let (client, connection) = tokio_postgres::connect(address, NoTls).await.expect("it is up");
        tokio::spawn(connection);
        Self::Postgres(client)
    }

    pub async fn mysql(address: &str) -> Self {
        const FIRST: &str = "INSERT IGNORE INTO leasehold_lease (`key`, owner, token, ends_at) VALUES (?, '', 0, '1970-01-01')";
        let options = mysql_async::Opts::from_url(address).expect("the address is right");
        let options = mysql_async::OptsBuilder::from_opts(options).client_found_rows(true);
        let mut connection = mysql_async::Conn::new(options).await.expect("it is up");
        connection.exec_drop(FIRST, (KEY,)).await.expect("the table is there");
        Self::Mysql(connection)
    }

    pub fn sqlite(file: &Path) -> Self {
        let connection = rusqlite::Connection::open(file).expect("the directory is ours");
        for (setting, value) in [("journal_mode", "WAL"), ("synchronous", "FULL")] {
            connection.pragma_update(None, setting, value).expect("it is a plain setting");
        }
        Self::Sqlite { connection, now: 1 }
    }

    pub async fn acquire(&mut self) {
        self.send(0).await;
    }

    pub async fn renew(&mut self) {
        self.send(1).await;
    }

    pub async fn release(&mut self) {
        self.send(2).await;
    }

    async fn send(&mut self, which: usize) {
        match self {
            Self::Redis { connection, hashes } => {
                let mut command = redis::cmd("EVALSHA");
                command.arg(&hashes[which]);
                match which {
                    0 => command.arg(2).arg("{hand}:lease").arg("{hand}:token"),
                    _ => command.arg(1).arg("{hand}:lease"),
                };
                command.arg(&OWNER).arg(TTL_MILLISECONDS);
                let answer: redis::Value = command.query_async(connection).await.expect("it is up");
                std::hint::black_box(answer);
            }
            Self::Postgres(client) => {
                let owner = OWNER.as_slice();
                let values: [(&(dyn ToSql + Sync), Type); 3] =
                    [(&KEY, Type::TEXT), (&owner, Type::BYTEA), (&TTL_MILLISECONDS, Type::INT8)];
                let values = if which == 2 { &values[..2] } else { &values[..] };
                let answer = client.query_typed(POSTGRES[which], values).await.expect("it is up");
                std::hint::black_box(answer);
            }
            Self::Mysql(connection) => {
                let (owner, span) = (OWNER.as_slice(), TTL_MILLISECONDS * 1000);
                let sent = match which {
                    0 => connection.exec_drop(MYSQL[0], (owner, span, KEY)).await,
                    1 => connection.exec_drop(MYSQL[1], (span, KEY, owner)).await,
                    _ => connection.exec_drop(MYSQL[2], (KEY, owner)).await,
                };
                sent.expect("it is up");
                assert_eq!(connection.affected_rows(), 1);
            }
            Self::Etcd(etcd) => match which {
                0 => etcd.acquire().await,
                1 => etcd.renew().await,
                _ => etcd.release().await,
            },
            Self::Sqlite { connection, now } => {
                // A row that is written as it was costs SQLite nothing.
                *now += 1000;
                let span = TTL_MILLISECONDS * 1_000_000;
                let begun = connection.transaction_with_behavior(TransactionBehavior::Immediate);
                let transaction = begun.expect("nobody else writes");
                let values = params![KEY, OWNER, "boot", *now, span];
                let done = match which {
                    0 => transaction
                        .query_row(SQLITE[0], values, |row| row.get::<_, u32>(0))
                        .map(|token| token as usize),
                    1 => transaction.execute(SQLITE[1], values),
                    _ => transaction.execute(SQLITE[2], params![KEY, OWNER, "boot", *now]),
                };
                assert!(done.expect("the file is ours") > 0);
                transaction.commit().expect("the file is ours");
            }
        }
    }
}
