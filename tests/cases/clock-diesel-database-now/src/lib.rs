pub mod claims;
mod schema;

use anyhow::Result;
use diesel::PgConnection;
use diesel::r2d2::{ConnectionManager, Pool};
use lettre::{Message, SmtpTransport, Transport};

/// Sends the next portion of a campaign; several senders may run side by side.
pub fn send_some(
    pool: &Pool<ConnectionManager<PgConnection>>,
    smtp: &SmtpTransport,
    campaign: i64,
) -> Result<usize> {
    let mut db = pool.get()?;
    let (claim, batch) = claims::take(&mut db, campaign, 50)?;
    let mut sent = 0;
    for (id, email) in batch {
        let mail = Message::builder()
            .from("news@example.org".parse()?)
            .to(email.parse()?)
            .subject("News")
            .body(String::from("Hello"))?;
        match smtp.send(&mail) {
            Ok(_) => sent += usize::from(claims::mark_sent(&mut db, id, claim)?),
            Err(e) => log::warn!("recipient {id}: {e}"),
        }
    }
    Ok(sent)
}
