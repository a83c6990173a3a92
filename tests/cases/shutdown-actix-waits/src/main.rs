mod stocktake;

use actix_web::{App, HttpResponse, HttpServer, web};
use etcd_client::Client;
use tokio_util::sync::CancellationToken;

#[actix_web::main]
async fn main() -> anyhow::Result<()> {
    tracing_subscriber::fmt::init();
    let etcd = Client::connect(
        [
            "http://etcd-0:2379",
            "http://etcd-1:2379",
            "http://etcd-2:2379",
        ],
        None,
    )
    .await?;
    let stop = CancellationToken::new();
    let stocktaker = tokio::spawn(stocktake::run(etcd, stop.clone()));

    // Actix ends `run()` on SIGINT and SIGTERM.
    HttpServer::new(|| App::new().route("/health", web::get().to(HttpResponse::Ok)))
        .shutdown_timeout(20)
        .bind(("0.0.0.0", 8080))?
        .run()
        .await?;
    stop.cancel();
    stocktaker.await?;
    Ok(())
}
