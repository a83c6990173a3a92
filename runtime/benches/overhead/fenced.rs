//! A fenced transaction beside a plain one. Both write one row.

use std::path::Path;

use leasehold::Lease;
use leasehold::fence::mysql::MysqlFence;
use leasehold::fence::postgres::PostgresFence;
use leasehold::fence::sqlite::SqliteFence;
use leasehold::store::memory::MemoryStore;

use crate::plain_transaction::{FENCED, PlainTransaction};
use crate::samples::Samples;

pub fn heading() {
    println!("\na transaction with one write, median in microseconds");
    println!("{:<28} {:>9} {:>9} {:>6}", "database", "plain", "fenced", "");
}

async fn lease() -> Lease {
    crate::leases(MemoryStore::new()).acquire("bench").await.expect("it is free")
}

/// Both in turns.
async fn measure(name: &str, mut plain: PlainTransaction, fenced: impl AsyncFn(), rounds: usize) {
    let (mut without, mut with) = (Samples::default(), Samples::default());
    for round in 0..rounds + rounds / 10 {
        if round == rounds / 10 {
            (without, with) = (Samples::default(), Samples::default());
        }
        without.time(plain.run()).await;
        with.time(fenced()).await;
    }
    let (plain, fenced) = (without.median(), with.median());
    println!("{name:<28} {plain:>9.1} {fenced:>9.1} {:>6.2}", fenced / plain);
}

pub async fn sqlite(file: &Path, plain: PlainTransaction, rounds: usize) {
    let fence = SqliteFence::open(file).expect("the file is ours");
    let lease = lease().await;
    let claimed = fence.claim(&lease, "bench").await.expect("it is the first");
    let fenced = async || {
        let written = claimed.transaction(|tx| tx.execute(FENCED, [])).await;
        assert_eq!(written.expect("nobody has taken over"), 1);
    };
    measure("sqlite", plain, fenced, rounds).await;
}

pub async fn postgres(address: &str, plain: PlainTransaction, rounds: usize) {
    let fence = PostgresFence::new(address).expect("the address is right");
    fence.create_table().await.expect("the database is ours");
    let lease = lease().await;
    let claimed = fence.claim(&lease, "bench").await.expect("it is the first");
    let fenced = async || {
        let written = claimed.transaction(async |tx| tx.execute(FENCED, &[]).await).await;
        assert_eq!(written.expect("nobody has taken over"), 1);
    };
    measure("postgres", plain, fenced, rounds).await;
}

pub async fn mysql(address: &str, plain: PlainTransaction, rounds: usize) {
    let fence = MysqlFence::new(address).expect("the address is right");
    fence.create_table().await.expect("the database is ours");
    let lease = lease().await;
    let claimed = fence.claim(&lease, "bench").await.expect("it is the first");
    let fenced = async || {
        let written = claimed.transaction(async |tx| tx.execute(FENCED, ()).await).await;
        assert_eq!(written.expect("nobody has taken over"), 1);
    };
    measure("mariadb", plain, fenced, rounds).await;
}
