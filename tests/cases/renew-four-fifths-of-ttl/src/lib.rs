mod mutex;
mod step;

pub use mutex::{RedisMutex, RemoteMutex};
pub use step::transcode;
