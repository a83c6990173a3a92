//! The steps of a protocol in the words of an audit.

use crate::proof::protocol::{
    Answer, Asks, Command, Failure, Guard, Life, Part, Rhythm, Role, Sets, Step, Stops, Store,
};

pub(super) fn store(store: Store) -> &'static str {
    match store {
        Store::Keys => "key in a store of keys",
        Store::Rows => "row of a database",
        Store::Session => "session of a database",
        Store::Elsewhere => "elsewhere",
    }
}

/// How a part does what it does.
pub(super) fn how(part: &Part) -> String {
    let steps = || part.steps.iter().map(|step| step.command);
    match part.role {
        Role::Acquire => acquire(part),
        Role::Renew if steps().any(|command| matches!(command, Command::Free { .. })) => {
            "gives it up and takes it again".to_owned()
        }
        Role::Renew => acts(&part.steps, "extends"),
        Role::Release => release(part),
        Role::Write => write(part),
    }
}

fn acquire(part: &Part) -> String {
    let mut text = String::new();
    for step in &part.steps {
        match step.command {
            Command::Take { asks, life, answer, .. } => {
                text += match asks {
                    Asks::Stored => "takes it in one step",
                    Asks::Remembered => "looks at it, and takes it in a second step",
                    Asks::Nothing => "overwrites whatever is there",
                };
                text += match life {
                    Life::Endless => ", without a lifetime",
                    Life::TooShort => ", with a lifetime that loses a part",
                    Life::TooLong => ", with a lifetime in the wrong unit",
                    Life::Session | Life::PooledSession => ", for its session",
                    Life::Timed => "",
                };
                text += match answer {
                    Answer::Dropped => "; the answer is dropped",
                    Answer::ErrorIsYes => "; an error counts as a yes",
                    Answer::Heard | Answer::HeardLater => "",
                };
            }
            Command::Extend { .. } => text += "; the lifetime comes in a second step",
            Command::Draw(_) => text += "; draws a token in a step of its own",
            _ => {}
        }
    }
    text
}

fn acts(steps: &[Step], verb: &str) -> String {
    let asks = steps.iter().find_map(|step| match step.command {
        Command::Extend { asks, .. } | Command::Free { asks, .. } => Some(asks),
        _ => None,
    });
    match asks {
        Some(Asks::Stored) => format!("compares the owner and {verb} it in one step"),
        Some(Asks::Remembered) => format!("compares the owner, and {verb} it in a second step"),
        _ => format!("{verb} it whoever holds it"),
    }
}

fn release(part: &Part) -> String {
    let mut text = acts(&part.steps, "frees");
    for step in &part.steps {
        match step.command {
            Command::Leave => text = format!("leaves before the release that {text}"),
            Command::Detach => text += ", in a task that nobody waits for",
            Command::Write { .. } => text += ", and writes behind that",
            _ => {}
        }
    }
    text
}

fn write(part: &Part) -> String {
    let checks = part.steps.iter().any(|step| step.command == Command::Check);
    let Some(Command::Write { guard, sets, answer }) = part.steps.last().map(|step| step.command) else {
        return String::new();
    };
    let mut text = match guard {
        Guard::Nothing if checks => "only a look in memory stands before it",
        Guard::Nothing => "not fenced: any writer passes",
        Guard::Loose | Guard::NotSame | Guard::Older | Guard::RememberedNewer => {
            "not fenced: a stale token passes the comparison"
        }
        Guard::Newer | Guard::NewerOrSame => "fenced: an older token is refused",
        Guard::Same => "fenced: any token but the last holder's is refused",
        Guard::SameVersion => "compares the version that was read",
        Guard::Holder => "fenced: any but the holder is refused",
        Guard::Elsewhere => "a trigger, the transaction or a lock of the row refuses stale writers",
    }
    .to_owned();
    let is_ordered = matches!(guard, Guard::Newer | Guard::NewerOrSame | Guard::SameVersion);
    if is_ordered && sets == Sets::Kept {
        text += ", and the token stays as it was";
    }
    if sets == Sets::First && guard != Guard::Nothing {
        text += ", and the row's token is lost";
    }
    if answer == Answer::Dropped && guard != Guard::Nothing {
        text += "; the count is dropped";
    }
    text
}

/// Whether the storage refuses who comes too late.
pub(super) fn is_fenced(part: &Part) -> bool {
    let last = part.steps.last().map(|step| step.command);
    let refuses = |guard: Guard| {
        matches!(
            guard,
            Guard::Newer
                | Guard::NewerOrSame
                | Guard::Same
                | Guard::SameVersion
                | Guard::Holder
                | Guard::Elsewhere
        )
    };
    matches!(last, Some(Command::Write { guard, .. }) if refuses(guard))
}

pub(super) fn rhythm(rhythm: &Rhythm) -> String {
    if !rhythm.repeated {
        return "by a call, no loop is seen".to_owned();
    }
    let mut text = match rhythm.pause {
        Some((part, whole)) => format!("every {part}/{whole} of the lifetime"),
        None => "in a loop whose pause is not known".to_owned(),
    };
    text += match rhythm.on_failure {
        Failure::GoesOn => "; a failure changes nothing",
        Failure::Ends => "; a failure ends the renewals alone",
        Failure::Tells => "; the work hears of a failure",
    };
    text += match rhythm.stops {
        Stops::BeforeRelease => "",
        Stops::AfterRelease => "; stopped only behind the release",
        Stops::UnlessLeft => "; not stopped on an early exit",
        Stops::Never => "; nothing stops it",
    };
    text
}
