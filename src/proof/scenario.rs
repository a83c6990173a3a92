//! Which programs are run: the part of a protocol that a finding is about, with the other parts that it needs
//! to come to its harm.
//!
//! Parts that the sources show are tried before parts that are assumed, and fewer parts before more, so that a
//! run says no more than it must.

use super::protocol::{
    Answer, Asks, Command, Guard, Life, Owner, Part, Protocol, Role, Sets, Step, Stops, Store, TokenOf,
};
use super::system::{Program, System};
use crate::finding::Finding;
use crate::harm::Harm;

/// So many parts of one kind are tried for a finding.
const MOST_PARTS: usize = 4;

/// A program, and the lock that it is about.
#[derive(Debug, Clone)]
pub struct Scenario<'p> {
    pub protocol: &'p Protocol,
    pub program: Program,
    pub repeats: bool,
}

impl Scenario<'_> {
    pub fn system(&self) -> System<'_> {
        System { program: &self.program, repeats: self.repeats }
    }
}

/// The programs that may show the harm of a finding, the likeliest first.
pub fn scenarios<'p>(protocols: &'p [Protocol], finding: &Finding, harm: Harm) -> Vec<Scenario<'p>> {
    let mut found: Vec<Scenario<'p>> = Vec::new();
    for (protocol, part) in candidates(protocols, finding) {
        for program in programs(protocol, part, harm) {
            found.push(Scenario { protocol, program, repeats: harm == Harm::AppliedTwice });
        }
    }
    found
}

/// The parts that a finding may mean: those at its own place before those at its related ones.
fn candidates<'p>(protocols: &'p [Protocol], finding: &Finding) -> Vec<(&'p Protocol, Option<&'p Part>)> {
    let mut found: Vec<(&Protocol, Option<&Part>)> = Vec::new();
    let places = std::iter::once(finding.primary).chain(finding.related.iter().map(|label| label.location));
    for place in places {
        for protocol in protocols {
            let is_new = |part: &&Part, found: &Vec<(&Protocol, Option<&Part>)>| {
                !found.iter().any(|(_, known)| known.is_some_and(|known| std::ptr::eq(known, *part)))
            };
            for part in protocol.parts().filter(|part| part.is_at(place)) {
                if is_new(&part, &found) {
                    found.push((protocol, Some(part)));
                }
            }
            if protocol.declared == Some(place) && place == finding.primary {
                found.push((protocol, None));
            }
        }
    }
    found
}

impl Protocol {
    pub fn parts(&self) -> impl Iterator<Item = &Part> {
        self.acquires.iter().chain(&self.renewals).chain(&self.writes).chain(&self.releases)
    }

    /// An acquire that these sources do not show.
    fn assumed_acquire(&self, life: Life, token: TokenOf) -> Vec<Step> {
        let take =
            Command::Take { asks: Asks::Stored, life, owner: Owner::Own, token, answer: Answer::Heard };
        vec![Step { command: take, place: None }]
    }

    fn assumed_life(&self) -> Life {
        if self.evidence.is_empty() { Life::Timed } else { self.life }
    }
}

/// Every program around one part.
fn programs(protocol: &Protocol, part: Option<&Part>, harm: Harm) -> Vec<Program> {
    let role = part.map(|part| part.role);
    let own = |wanted: Role| part.filter(|_| role == Some(wanted)).map(|part| vec![part.steps.clone()]);
    let acquires = own(Role::Acquire).unwrap_or_else(|| acquires(protocol, part));
    let writes = match own(Role::Write) {
        Some(own) => around_write(protocol, own, harm),
        None => writes(protocol, harm, &acquires),
    };
    let mut releases = own(Role::Release).unwrap_or_else(|| releases(protocol, harm));
    // The task ends behind a release, so there is one, whatever it is called where the lock is known by another name.
    if part.is_some_and(|part| part.rhythm.stops == Stops::AfterRelease) && protocol.releases.is_empty() {
        let free = Command::Free { asks: Asks::Stored, answer: Answer::Heard, is_last: true };
        releases.push(vec![Step { command: free, place: None }]);
    }
    let mut found = Vec::new();
    for renewal in renewals(protocol, part, harm) {
        for acquire in &acquires {
            for write in &writes {
                for release in &releases {
                    found.push(program(acquire, write, release, renewal));
                }
            }
        }
    }
    found
}

fn program(acquire: &[Step], write: &[Step], release: &[Step], renewal: Option<&Part>) -> Program {
    let mut main = acquire.to_vec();
    main.extend_from_slice(write);
    let rhythm = renewal.map(|renewal| renewal.rhythm).unwrap_or_default();
    match rhythm.stops {
        Stops::UnlessLeft => main.push(Step { command: Command::Leave, place: rhythm.left_at }),
        // Any work may end early, by an error or a panic.
        Stops::Never => main.push(Step { command: Command::Leave, place: None }),
        Stops::BeforeRelease | Stops::AfterRelease => {}
    }
    let until = main.len();
    main.extend_from_slice(release);
    Program {
        main,
        renewal: renewal.map(|renewal| renewal.steps.clone()).unwrap_or_default(),
        rhythm,
        acquire: acquire.len(),
        release: until,
    }
}

/// The ways to take the lock, those first that are sound, and an assumed one at last.
fn acquires(protocol: &Protocol, part: Option<&Part>) -> Vec<Vec<Step>> {
    if part.is_some_and(|part| part.steps.iter().any(|step| step.command == Command::ReadVersion)) {
        return vec![Vec::new()];
    }
    let is_sound = |part: &&Part| {
        part.steps.iter().all(|step| match step.command {
            Command::Take { asks, life, answer, .. } => {
                asks == Asks::Stored && life.ends_by_time() && answer == Answer::Heard
            }
            _ => true,
        })
    };
    let (sound, other): (Vec<&Part>, Vec<&Part>) = protocol.acquires.iter().partition(is_sound);
    let function = part.map(|part| part.function.as_str());
    let mut sorted: Vec<&Part> = sound.into_iter().chain(other).collect();
    sorted.sort_by_key(|acquire| function.is_some_and(|function| function != acquire.function));
    let mut found: Vec<Vec<Step>> = sorted.iter().take(MOST_PARTS).map(|part| part.steps.clone()).collect();
    let life = protocol.assumed_life();
    found.push(protocol.assumed_acquire(life, TokenOf::Take));
    if life != Life::Timed && protocol.store != Store::Session && part.is_some() {
        found.push(protocol.assumed_acquire(Life::Timed, TokenOf::Take));
    }
    found
}

/// What is done under the lock where the finding is about something else.
fn writes(protocol: &Protocol, harm: Harm, acquires: &[Vec<Step>]) -> Vec<Vec<Step>> {
    let work = vec![Step { command: Command::Work, place: None }];
    if harm != Harm::StaleWrite {
        return vec![work];
    }
    let mut found: Vec<Vec<Step>> =
        protocol.writes.iter().take(MOST_PARTS).map(|write| write.steps.clone()).collect();
    let is_late = acquires
        .iter()
        .flatten()
        .any(|step| matches!(step.command, Command::Draw(_) | Command::Take { token: TokenOf::Later, .. }));
    let guard = if is_late { Guard::Newer } else { Guard::Same };
    let write = |guard, sets| Command::Write { guard, sets, answer: Answer::Heard };
    found.push(vec![Step { command: write(guard, Sets::Token), place: None }]);
    // What is stored with the lock and compared nowhere keeps no writer out.
    found.push(vec![Step { command: write(Guard::Nothing, Sets::Kept), place: None }]);
    found
}

/// A write that takes the token back needs another one that it takes it back for.
fn around_write(protocol: &Protocol, own: Vec<Vec<Step>>, harm: Harm) -> Vec<Vec<Step>> {
    let resets = |steps: &[Step]| {
        steps.iter().any(|step| matches!(step.command, Command::Write { sets: Sets::First, .. }))
    };
    let mut found = own.clone();
    for steps in own.iter().filter(|steps| harm == Harm::StaleWrite && resets(steps)) {
        let fenced = protocol.writes.iter().filter(|write| {
            !resets(&write.steps)
                && write.steps.iter().any(|step| {
                    matches!(step.command, Command::Write { guard: Guard::Newer | Guard::NewerOrSame, .. })
                })
        });
        found.extend(fenced.take(MOST_PARTS).map(|write| [write.steps.clone(), steps.clone()].concat()));
        let assumed = Command::Write { guard: Guard::Newer, sets: Sets::Token, answer: Answer::Heard };
        found.push([vec![Step { command: assumed, place: None }], steps.clone()].concat());
    }
    found
}

/// The renewal that the finding is about; another one where the harm is done by renewals.
fn renewals<'p>(protocol: &'p Protocol, part: Option<&'p Part>, harm: Harm) -> Vec<Option<&'p Part>> {
    if let Some(part) = part.filter(|part| part.role == Role::Renew) {
        return vec![Some(part)];
    }
    let mut found = vec![None];
    if harm == Harm::ForeignRenewal {
        found.extend(protocol.renewals.iter().take(MOST_PARTS).map(Some));
    }
    found
}

fn releases(protocol: &Protocol, harm: Harm) -> Vec<Vec<Step>> {
    let mut found = vec![Vec::new()];
    let needs_one = matches!(
        harm,
        Harm::ForeignRelease | Harm::ForeignRenewal | Harm::KeptAfterWork | Harm::HeldAfterWork
    );
    if needs_one {
        found.extend(protocol.releases.iter().take(MOST_PARTS).map(|release| release.steps.clone()));
    }
    found
}

/// The programs that a whole protocol makes around one of its parts.
pub fn whole_programs(protocol: &Protocol, part: &Part) -> Vec<Program> {
    let own = |wanted: Role| (part.role == wanted).then(|| part.steps.clone());
    let acquire = own(Role::Acquire).unwrap_or_else(|| acquires(protocol, Some(part)).swap_remove(0));
    let work = vec![Step { command: Command::Work, place: None }];
    let write = own(Role::Write).unwrap_or(work);
    let first = |parts: &[Part]| parts.first().map(|part| part.steps.clone()).unwrap_or_default();
    let release = own(Role::Release).unwrap_or_else(|| first(&protocol.releases));
    let renewals: Vec<Option<&Part>> = match part.role {
        Role::Renew => vec![Some(part)],
        Role::Write => vec![None],
        Role::Acquire | Role::Release => {
            std::iter::once(None).chain(protocol.renewals.iter().take(MOST_PARTS).map(Some)).collect()
        }
    };
    renewals.into_iter().map(|renewal| program(&acquire, &write, &release, renewal)).collect()
}
