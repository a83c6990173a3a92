use color_eyre::eyre::{Result, ensure};
use postgres::Client;
use time::{Duration, OffsetDateTime};
use uuid::Uuid;

const GUARD: Duration = Duration::minutes(10);

/// Marks the feed as ours for ten minutes.
pub fn enter(db: &mut Client, feed: &str) -> Result<Option<Uuid>> {
    let me = Uuid::new_v4();
    let now = OffsetDateTime::now_utc();
    let mut tx = db.transaction()?;
    let row = tx.query_one(
        "SELECT guarded_to FROM import_guard WHERE feed = $1 FOR UPDATE",
        &[&feed],
    )?;
    let guarded_to: OffsetDateTime = row.get(0);
    if guarded_to > now {
        tx.rollback()?;
        return Ok(None);
    }
    let until = now + GUARD;
    tx.execute(
        "UPDATE import_guard SET guarded_by = $2, guarded_to = $3 WHERE feed = $1",
        &[&feed, &me, &until],
    )?;
    tx.commit()?;
    Ok(Some(me))
}

/// Gives the feed back. Fails when the guard is somebody else's by now.
pub fn leave(db: &mut Client, feed: &str, me: Uuid) -> Result<()> {
    let n = db.execute(
        "UPDATE import_guard SET guarded_by = NULL, guarded_to = '2000-01-01 00:00:00+00' WHERE feed = $1 AND guarded_by = $2",
        &[&feed, &me],
    )?;
    ensure!(n == 1, "guard of {feed} was taken over");
    Ok(())
}

/// Fetches today's rates and appends them.
pub fn import(db: &mut Client, feed: &str, url: &str) -> Result<usize> {
    let Some(me) = enter(db, feed)? else {
        tracing::info!(feed, "import is running elsewhere");
        return Ok(0);
    };
    let imported = fetch_and_append(db, feed, url);
    leave(db, feed, me)?;
    imported
}

fn fetch_and_append(db: &mut Client, feed: &str, url: &str) -> Result<usize> {
    let text = ureq::get(url)
        .timeout(std::time::Duration::from_secs(60))
        .call()?
        .into_string()?;
    let mut n = 0;
    for line in text.lines().skip(1) {
        let Some((currency, rate)) = line.split_once(';') else {
            continue;
        };
        let rate: f64 = rate.trim().parse()?;
        db.execute(
            "INSERT INTO rate (feed, currency, rate) VALUES ($1, $2, $3)",
            &[&feed, &currency, &rate],
        )?;
        n += 1;
    }
    Ok(n)
}
