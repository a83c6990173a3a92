//! A transfer between two accounts that only one process at a time may make, with nothing installed: leases and
//! accounts are in one SQLite file.
//!
//! Run it as often as you like, also at the same time: `cargo run --example bank_transfer -- bank.db`

use std::error::Error;
use std::process::ExitCode;
use std::time::Duration;

use leasehold::fence::sqlite::SqliteFence;
use leasehold::store::sqlite::SqliteStore;
use leasehold::{Leases, Shutdown};

const ACCOUNTS: &str = "\
CREATE TABLE IF NOT EXISTS account (name TEXT PRIMARY KEY, balance INTEGER NOT NULL) STRICT;
INSERT INTO account VALUES ('alice', 100), ('bob', 100) ON CONFLICT DO NOTHING;";

#[tokio::main]
async fn main() -> Result<ExitCode, Box<dyn Error>> {
    let path = std::env::args().nth(1).unwrap_or_else(|| "bank.db".to_owned());
    rusqlite::Connection::open(&path)?.execute_batch(ACCOUNTS)?;

    // SIGTERM and Ctrl-C cancel the work, roll it back and release the lease before the process ends.
    let shutdown = Shutdown::on_signals()?;
    let leases = Leases::builder(SqliteStore::open(&path)?)
        .ttl(Duration::from_secs(10))
        .cancel_on(shutdown.token())
        .build()?;
    let fence = SqliteFence::open(&path)?;

    // Waits for the lease, renews it, and gives it back at the end, whatever that is.
    let moved = leases
        .run("transfers", |tenure| async move {
            // Before the first read: from here on, nobody with an older token can write.
            let claimed = fence.claim(&tenure, "accounts").await?;
            let balances = claimed
                .transaction(|tx| {
                    tx.execute("UPDATE account SET balance = balance - 5 WHERE name = 'alice'", [])?;
                    tx.execute("UPDATE account SET balance = balance + 5 WHERE name = 'bob'", [])?;
                    let mut rows = tx.prepare("SELECT name, balance FROM account ORDER BY name")?;
                    rows.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
                })
                .await?;
            Ok::<Vec<(String, i64)>, Box<dyn Error>>(balances)
        })
        .await;
    match moved {
        Ok(balances) => println!("moved 5: {balances:?}"),
        Err(error) => eprintln!("nothing was moved: {error}"),
    }
    Ok(shutdown.exit_code(&[&leases], Duration::from_secs(5)).await)
}
