pub mod profiles;
pub mod replies;
pub mod tickets;
