//! The stack that a run gives to its parsers: work is done on one thread that has it and lives as long as the
//! process, because a thread for each input would cost more than most inputs.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread;

/// As in `src/check.rs`.
const STACK_SIZE: usize = 256 * 1024 * 1024;

type Work = (fn(&[u8]), Vec<u8>);

struct Worker {
    work: Sender<Work>,
    done: Receiver<()>,
}

/// Does it there, and waits for it.
pub(crate) fn on_a_large_stack(work: fn(&[u8]), data: &[u8]) {
    static WORKER: OnceLock<Mutex<Worker>> = OnceLock::new();
    let worker = WORKER.get_or_init(|| Mutex::new(start())).lock().unwrap_or_else(PoisonError::into_inner);
    worker.work.send((work, data.to_vec())).expect("the thread waits for work");
    worker.done.recv().expect("a panic has ended the process, or is told by the thread itself");
}

fn start() -> Worker {
    let (work, given) = channel::<Work>();
    let (tell, done) = channel();
    let run = move || {
        for (work, data) in given {
            work(&data);
            if tell.send(()).is_err() {
                break;
            }
        }
    };
    thread::Builder::new().stack_size(STACK_SIZE).spawn(run).expect("a thread can be started");
    Worker { work, done }
}
