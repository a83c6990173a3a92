pub mod carrier;

/// `DATABASE_URL` or the local server.
pub fn database_url() -> String {
    std::env::var("DATABASE_URL").unwrap_or_else(|_| "postgres://localhost/fulfilment".into())
}
