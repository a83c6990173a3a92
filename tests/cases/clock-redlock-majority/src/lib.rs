pub mod quorum_lock;
