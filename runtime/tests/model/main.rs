//! Every interleaving of a small world: two holders, a store, a network that delays and loses, pauses, crashes, and
//! cancellation at every point where the work awaits something.
//!
//! `lease` is about the lease. Its holders decide by `src/renewal/term.rs` itself, compiled in here, so it is the code
//! that is explored and not a description of it; the tasks around it are described. `write` is about fenced
//! transactions; it describes the statements that the fences send.
//!
//! Each is explored once more for each of the mistakes that it knows: with a check taken away, the harm must be found.

mod lease;
mod write;

/// What `term` names of the crate.
mod clock {
    pub use leasehold::clock::Moment;
}
mod loss {
    pub use leasehold::LossReason;
}
mod settings {
    pub use leasehold::Settings;
}

#[path = "../../src/renewal/term.rs"]
mod term;

use stateright::{Checker, HasDiscoveries, Model};

/// Explores everything; whatever is promised must hold, and whatever should be possible must have happened.
fn holds<M>(name: &str, model: M)
where
    M: Model + Send + Sync + 'static,
    M::State: std::fmt::Debug + std::hash::Hash + Clone + PartialEq + Send + Sync,
    M::Action: std::fmt::Debug + Clone + PartialEq + Send + Sync,
{
    let began = std::time::Instant::now();
    let checker = model.checker().threads(2).spawn_bfs().join();
    println!("{name}: {} states, {:.1?}", checker.unique_state_count(), began.elapsed());
    checker.assert_properties();
}

/// Explores until a promise is broken; gives its name.
fn broken<M>(model: M) -> Vec<&'static str>
where
    M: Model + Send + Sync + 'static,
    M::State: std::fmt::Debug + std::hash::Hash + Clone + PartialEq + Send + Sync,
    M::Action: std::fmt::Debug + Clone + PartialEq + Send + Sync,
{
    let checker = model.checker().threads(2).finish_when(HasDiscoveries::AnyFailures).spawn_bfs().join();
    let found = checker.discoveries();
    let failures =
        found.keys().filter(|name| checker.discovery_classification(name).to_string() == "counterexample");
    failures.copied().collect()
}

#[test]
fn leases_are_safe_in_every_order_of_events() {
    holds("two holders", lease::Scope::two_holders(3, 1));
    holds("a holder and a rival", lease::Scope::holder_and_rival(8, 1));
}

/// Millions of states: `cargo test --release -p leasehold --test model -- --ignored --nocapture`.
#[test]
#[ignore = "it takes minutes"]
fn leases_are_safe_for_longer() {
    holds("two holders", lease::Scope::two_holders(6, 1));
    holds("a holder and a rival", lease::Scope::holder_and_rival(13, 2));
}

#[test]
fn each_mistake_with_a_lease_does_harm() {
    for mistake in lease::Mistake::ALL {
        let found = broken(lease::Scope::with(mistake));
        assert!(!found.is_empty(), "{mistake:?} does no harm here");
        println!("{mistake:?}: {found:?}");
    }
}

#[test]
fn writes_are_safe_in_every_order_of_events() {
    holds("writes", write::Scope::sound());
    holds("writes under one number", write::Scope::doubled());
}

#[test]
fn each_mistake_with_a_write_does_harm() {
    for mistake in write::Mistake::ALL {
        let found = broken(write::Scope::with(mistake));
        assert!(!found.is_empty(), "{mistake:?} does no harm here");
        println!("{mistake:?}: {found:?}");
    }
}
