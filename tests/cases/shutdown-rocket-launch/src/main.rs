#[macro_use]
extern crate rocket;

mod newsletter;

use tokio_util::sync::CancellationToken;

#[get("/health")]
fn health() -> &'static str {
    "ok"
}

#[rocket::main]
async fn main() -> anyhow::Result<()> {
    let redis = redis::Client::open("redis://redis/")?
        .get_connection_manager()
        .await?;
    let cancel = CancellationToken::new();
    let sender = rocket::tokio::spawn(newsletter::run(redis, cancel.clone()));

    let served = rocket::build().mount("/", routes![health]).launch().await;

    cancel.cancel();
    sender.await?;
    served?;
    Ok(())
}
