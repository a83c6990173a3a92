//! A run in words: who does what, what the store and the database are like behind it, and which code that is.

use super::explore::Run;
use super::protocol::{Command, Guard, Life, Sets, Source, Step, TokenOf};
use super::scenario::Scenario;
use super::system::{Effect, Event, Program, Seen, State, What};
use crate::facts::Location;
use crate::finding::{Actor, Counterexample, RunStep};

/// The run for a reader. What has no place of its own is shown at the nearest one that has.
pub fn told(scenario: &Scenario<'_>, run: &Run, nearest: Location) -> Counterexample {
    let teller = Teller { scenario, nearest, uses_tokens: uses_tokens(&scenario.program) };
    let mut before = &run.start;
    let mut steps = Vec::new();
    for (event, after) in &run.moments {
        steps.extend(teller.step(event, before, after));
        before = after;
    }
    Counterexample { harm: run.harm, steps }
}

fn uses_tokens(program: &Program) -> bool {
    program.main.iter().any(|step| match step.command {
        Command::Write { guard, sets, .. } => {
            sets == Sets::Token
                || matches!(
                    guard,
                    Guard::Newer
                        | Guard::NewerOrSame
                        | Guard::Same
                        | Guard::NotSame
                        | Guard::Older
                        | Guard::RememberedNewer
                )
        }
        _ => false,
    })
}

struct Teller<'s> {
    scenario: &'s Scenario<'s>,
    nearest: Location,
    uses_tokens: bool,
}

impl Teller<'_> {
    fn step(&self, event: &Event, before: &State, after: &State) -> Option<RunStep> {
        let actor = actor(event.worker);
        let program = &self.scenario.program;
        let (step, action, effect) = match event.what {
            What::Step(at, effect) => {
                let step = program.main[at];
                let (action, effect) = self.act(step, effect, event.worker, before, after)?;
                (step, action, effect)
            }
            What::Renewal(at, effect) => {
                let step = program.renewal[at];
                let (action, effect) = self.act(step, effect, event.worker, before, after)?;
                (step, format!("renewal: {action}"), effect)
            }
            What::Repeats(at, is_accepted) => {
                let action = "hears no answer and sends the write again".to_owned();
                let effect = if is_accepted { "accepted once more" } else { "refused" };
                (program.main[at], action, Some((Actor::Database, effect.to_owned())))
            }
            What::ReleaseFails(at) => {
                let action = "frees the lock: no answer, and what stands behind that is not done";
                (program.main[at], action.to_owned(), None)
            }
            What::TaskLost(at) => {
                let step = program.main[at];
                (step, "ends, and its runtime drops the task with the release".to_owned(), None)
            }
            What::Pauses => (self.waiting(event, before), "is paused".to_owned(), None),
            What::Crashes => (self.waiting(event, before), "crashes".to_owned(), None),
            What::RenewalFails | What::RenewalLate => {
                let place = program.rhythm.paused_at.or(program.renewal.first().and_then(|step| step.place));
                let step = Step { command: Command::Work, place };
                let late = if event.what == What::RenewalLate { " yet" } else { "" };
                let time = match after.workers[event.worker].failures {
                    1 => "",
                    2 => ", for the second time",
                    _ => ", for the third time",
                };
                (step, format!("renews: no answer{late}{time}"), None)
            }
            What::Expires => {
                let place = self.lifetime_at();
                let action = match before.lock.map(|held| held.life) {
                    Some(Life::TooShort) => "the lock's spoilt TTL is over".to_owned(),
                    _ => "the lock's time is over".to_owned(),
                };
                let location = place.unwrap_or(self.nearest);
                let is_assumed = place.is_none();
                return Some(RunStep { actor: Actor::Store, action, effect: None, location, is_assumed });
            }
        };
        let location = step.place.unwrap_or(self.nearest);
        Some(RunStep { actor, action, effect, location, is_assumed: step.place.is_none() })
    }

    /// The step that a worker is about to make.
    fn waiting(&self, event: &Event, before: &State) -> Step {
        let own = &before.workers[event.worker];
        let program = &self.scenario.program;
        if own.renewal_at > 0 {
            return program.renewal[own.renewal_at];
        }
        let next = program.main.get(own.at).copied();
        next.filter(|step| step.place.is_some()).unwrap_or(program.main[own.at.saturating_sub(1)])
    }

    /// Where the lock got the lifetime that ends.
    fn lifetime_at(&self) -> Option<Location> {
        let program = &self.scenario.program;
        let gives = |step: &&Step| match step.command {
            Command::Take { life, .. } | Command::Extend { life, .. } => life.ends_by_time(),
            _ => false,
        };
        program.main.iter().chain(&program.renewal).find(gives).and_then(|step| step.place)
    }

    fn act(
        &self,
        step: Step,
        effect: Effect,
        worker: usize,
        before: &State,
        after: &State,
    ) -> Option<(String, Option<(Actor, String)>)> {
        let told = match step.command {
            Command::Look => (format!("asks who holds the lock: {}", seen(effect)), None),
            Command::Take { life, token, .. } => {
                let shows_token = self.uses_tokens && token != TokenOf::Later;
                take(life, effect, worker, shows_token, before, after)
            }
            Command::Extend { .. } => extend(effect, before, after),
            Command::Free { .. } => free(effect, worker, before),
            Command::Decide if effect == Effect::Refused => {
                ("did not get the lock and leaves".to_owned(), None)
            }
            Command::Decide => return None,
            Command::Draw(source) => (drawn(source, effect), None),
            Command::Check if effect == Effect::Done => {
                ("asks itself whether it still holds the lock: yes".to_owned(), None)
            }
            Command::Check => ("asks itself whether it still holds the lock: no".to_owned(), None),
            Command::Read => ("reads the row".to_owned(), None),
            Command::ReadVersion => (format!("reads the row at version {}", before.row.token), None),
            Command::Work if after.workers[worker].told => ("goes on with the work".to_owned(), None),
            Command::Work => return None,
            Command::Write { guard, sets, .. } => self.write(guard, sets, effect, worker, before, after),
            Command::Leave if effect == Effect::Ends => (self.leave(step, worker, after), None),
            Command::Leave | Command::Detach => return None,
        };
        Some(told)
    }

    fn leave(&self, step: Step, worker: usize, after: &State) -> String {
        let way =
            if step.place.is_some() { "leaves here" } else { "its work ends early, by an error or a panic" };
        match after.workers[worker].renews {
            true => format!("{way}, and the renewals go on"),
            false => format!("{way}, without a release"),
        }
    }

    fn write(
        &self,
        guard: Guard,
        sets: Sets,
        effect: Effect,
        worker: usize,
        before: &State,
        after: &State,
    ) -> (String, Option<(Actor, String)>) {
        let own = &before.workers[worker];
        let is_version = guard == Guard::SameVersion;
        let with = match guard {
            _ if is_version => format!(" for version {}", own.token),
            Guard::Nothing | Guard::Loose | Guard::Holder | Guard::Elsewhere if sets != Sets::Token => {
                String::new()
            }
            _ => format!(" with token {}", own.token),
        };
        let resets = sets == Sets::First && effect == Effect::Done && self.uses_tokens;
        let verb = if resets { "writes, and takes the row's token back" } else { "writes" };
        let row = |state: &State| match (self.uses_tokens, is_version) {
            (_, true) => format!(", row at version {}", state.row.token),
            (true, _) => format!(", row has token {}", state.row.token),
            _ => String::new(),
        };
        let answer = match effect {
            Effect::Done => format!("accepted: written by {}{}", actor(worker).name(), row(after)),
            _ => format!("refused: no row changed{}", row(before)),
        };
        let unheard = effect == Effect::Refused && after.workers[worker].unseen;
        let unheard = if unheard { ", and nobody looks at the count" } else { "" };
        (format!("{verb}{with}{unheard}"), Some((Actor::Database, answer)))
    }
}

fn take(
    life: Life,
    effect: Effect,
    worker: usize,
    shows_token: bool,
    before: &State,
    after: &State,
) -> (String, Option<(Actor, String)>) {
    match effect {
        Effect::Took => {
            let how = match life {
                Life::Endless => " without a lifetime",
                Life::TooLong => " for a thousand times as long as meant",
                Life::TooShort => " with a lifetime that has lost a part",
                Life::Session | Life::PooledSession | Life::Timed => "",
            };
            let over = match before.lock {
                Some(held) if held.by != worker => format!(", over {}'s", actor(held.by).name()),
                _ => String::new(),
            };
            let token = if shows_token { format!(", token {}", after.counter) } else { String::new() };
            (format!("takes the lock{how}{over}"), Some((Actor::Store, format!("{}{token}", holder(after)))))
        }
        Effect::Nothing => ("asks for the lock: no answer, and that counts as a yes".to_owned(), None),
        _ => {
            let unheard = if after.workers[worker].told { ", and nobody looks" } else { "" };
            (format!("asks for the lock: refused{unheard}"), Some((Actor::Store, holder(before))))
        }
    }
}

fn extend(effect: Effect, before: &State, after: &State) -> (String, Option<(Actor, String)>) {
    let store = |text: String| Some((Actor::Store, text));
    match effect {
        Effect::Done => {
            let foreign = match (before.lock, after.lock) {
                (Some(held), Some(now)) if held.life != now.life && !held.life.ends_by_time() => {
                    "gives the lock a lifetime"
                }
                _ => "gives the lock a new lifetime",
            };
            (foreign.to_owned(), store(format!("{}, for longer", holder(after))))
        }
        Effect::Took => ("makes the lock anew".to_owned(), store(holder(after))),
        Effect::Nothing => ("asks for a new lifetime: the lock is gone".to_owned(), store("free".to_owned())),
        _ => ("asks for a new lifetime: refused".to_owned(), store(holder(before))),
    }
}

fn free(effect: Effect, worker: usize, before: &State) -> (String, Option<(Actor, String)>) {
    let store = |text: &str| Some((Actor::Store, text.to_owned()));
    match (effect, before.lock) {
        (Effect::Done, Some(held)) if held.by != worker => {
            (format!("frees the lock, which is {}'s", actor(held.by).name()), store("free"))
        }
        (Effect::Done, _) => ("frees the lock".to_owned(), store("free")),
        (Effect::Nothing, _) => ("frees the lock: it is gone, and nobody looks".to_owned(), store("free")),
        _ => ("frees the lock: refused".to_owned(), store(&holder(before))),
    }
}

fn drawn(source: Source, effect: Effect) -> String {
    let token = if let Effect::Drew(token) = effect { token } else { 0 };
    match source {
        Source::Counter => format!("draws token {token} in a step of its own"),
        Source::Process => format!("makes up token {token} by itself"),
    }
}

fn seen(effect: Effect) -> &'static str {
    match effect {
        Effect::Saw(Seen::Free) => "nobody",
        Effect::Saw(Seen::Own) => "its own value",
        _ => "another worker",
    }
}

fn holder(state: &State) -> String {
    state.lock.map_or_else(|| "free".to_owned(), |held| format!("held by {}", actor(held.by).name()))
}

fn actor(worker: usize) -> Actor {
    if worker == 0 { Actor::First } else { Actor::Second }
}
