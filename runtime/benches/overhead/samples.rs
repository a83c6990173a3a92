//! Times of one operation, and what is told of them.

use std::time::{Duration, Instant};

#[derive(Default)]
pub struct Samples(Vec<Duration>);

impl Samples {
    /// Runs `operation` and keeps its time.
    pub async fn time<T>(&mut self, operation: impl Future<Output = T>) -> T {
        let began = Instant::now();
        let done = operation.await;
        self.0.push(began.elapsed());
        done
    }

    pub fn push(&mut self, took: Duration) {
        self.0.push(took);
    }

    /// The time that so many of a hundred stay below, in microseconds.
    pub fn percentile(&self, of_hundred: usize) -> f64 {
        let mut all = self.0.clone();
        all.sort_unstable();
        let at = (all.len() * of_hundred / 100).min(all.len().saturating_sub(1));
        all.get(at).map_or(f64::NAN, |took| took.as_secs_f64() * 1e6)
    }

    pub fn median(&self) -> f64 {
        self.percentile(50)
    }
}
