//! The history checker of the fault suite catches each violation that it exists for, and none where there is none.

#[allow(dead_code, reason = "writing and reading histories is the fault suite's")]
#[path = "chaos/history.rs"]
mod history;

#[path = "chaos/checker.rs"]
mod checker;

use checker::{Run, Violation, check, repeated_numbers};
use history::{Account, Entry, Event, Outcome};

const ACCOUNT: &str = "account-0";

/// Two holders, one after the other, each with two writes; the second one's grant came when the first had gone.
fn sound() -> Run {
    let first = vec![
        Event::Started { blind: false },
        granted("a", 1, 100, 110),
        claimed("a", 1, 120),
        Event::Believed { owner: "a".to_owned(), at: 150 },
        began(1, 1, 130),
        ended(1, Outcome::Committed),
        Event::Renewed { owner: "a".to_owned(), sent: 140, mine: true },
        began(2, 1, 145),
        ended(2, Outcome::Committed),
        Event::Released { owner: "a".to_owned(), sent: 160, mine: true },
    ];
    let second = vec![
        Event::Started { blind: false },
        granted("b", 2, 165, 175),
        Event::Believed { owner: "b".to_owned(), at: 220 },
        claimed("b", 2, 180),
        began(3, 2, 190),
        ended(3, Outcome::Committed),
        began(4, 2, 200),
        ended(4, Outcome::RolledBack),
        began(6, 2, 210),
    ];
    Run {
        processes: vec![first, second],
        entries: vec![entry(10, 1, 1, 0), entry(11, 2, 1, 10), entry(14, 3, 2, 11)],
        accounts: vec![Account { name: ACCOUNT.to_owned(), value: 3, note: Some(3) }],
        store_astray: Vec::new(),
        store_lost: Vec::new(),
    }
}

fn granted(owner: &str, token: i64, sent: u64, received: u64) -> Event {
    Event::Granted { account: ACCOUNT.to_owned(), owner: owner.to_owned(), token, sent, received }
}

fn claimed(owner: &str, token: i64, received: u64) -> Event {
    Event::Claimed { account: ACCOUNT.to_owned(), owner: owner.to_owned(), token, received }
}

fn began(op: i64, token: i64, at: u64) -> Event {
    began_by(if token == 1 { "a" } else { "b" }, op, token, at)
}

fn began_by(owner: &str, op: i64, token: i64, at: u64) -> Event {
    Event::Began { op, account: ACCOUNT.to_owned(), owner: owner.to_owned(), token, at }
}

fn ended(op: i64, outcome: Outcome) -> Event {
    Event::Ended { op, outcome }
}

fn entry(number: i64, op: i64, token: i64, based_on: i64) -> Entry {
    Entry { number, account: ACCOUNT.to_owned(), op, token, based_on }
}

/// What is found once the sound run was spoilt.
fn spoilt(how: impl FnOnce(&mut Run)) -> Vec<Violation> {
    let mut run = sound();
    how(&mut run);
    check(&run)
}

#[test]
fn a_sound_run_has_no_violation() {
    assert_eq!(check(&sound()), []);
}

#[test]
fn what_is_unknown_may_have_happened_or_not() {
    let happened = |run: &mut Run| {
        run.entries.push(entry(15, 6, 2, 14));
        run.accounts[0] = Account { name: ACCOUNT.to_owned(), value: 4, note: Some(6) };
    };
    assert_eq!(spoilt(happened), []);
}

#[test]
fn a_stale_write_is_caught() {
    // The first holder writes again, on what it has read long ago.
    let found = spoilt(|run| {
        run.processes[0].push(began(7, 1, 300));
        run.entries.push(entry(15, 7, 1, 11));
        run.accounts[0] = Account { name: ACCOUNT.to_owned(), value: 4, note: Some(7) };
    });
    let account = ACCOUNT.to_owned();
    assert!(found.contains(&Violation::TokenOrder {
        account: account.clone(),
        number: 15,
        token: 1,
        newest: 2
    }));
    assert!(found.contains(&Violation::LostUpdate { account, number: 15, based_on: 11, before: 14 }));
    assert!(found.contains(&Violation::AfterClaim { op: 7, token: 1, claimed: 2 }));
    assert_eq!(found.len(), 3);
}

#[test]
fn a_write_between_a_claim_and_the_first_write_after_it_is_caught() {
    let found = spoilt(|run| {
        run.processes[0].push(began(7, 1, 185));
        run.entries.insert(2, entry(12, 7, 1, 11));
        run.entries[3].based_on = 12;
        run.accounts[0].value = 4;
    });
    assert_eq!(found, [Violation::AfterClaim { op: 7, token: 1, claimed: 2 }]);
}

#[test]
fn a_lost_update_is_caught() {
    let found = spoilt(|run| run.entries[1].based_on = 0);
    let account = ACCOUNT.to_owned();
    assert_eq!(found, [Violation::LostUpdate { account, number: 11, based_on: 0, before: 10 }]);
}

#[test]
fn a_wrong_balance_is_caught() {
    let found = spoilt(|run| run.accounts[0].value = 2);
    assert_eq!(found, [Violation::WrongValue { account: ACCOUNT.to_owned(), value: 2, writes: 3 }]);
}

#[test]
fn a_note_that_came_back_is_caught() {
    let found = spoilt(|run| {
        run.processes[1].push(began(5, 2, 230));
        run.entries.push(entry(15, 5, 2, 14));
        run.accounts[0].value = 4;
    });
    assert_eq!(found, [Violation::WrongNote { account: ACCOUNT.to_owned(), found: Some(3), expected: None }]);
}

#[test]
fn a_write_that_vanished_is_caught() {
    let found = spoilt(|run| {
        run.entries.pop();
        run.accounts[0] = Account { name: ACCOUNT.to_owned(), value: 2, note: Some(2) };
    });
    assert_eq!(found, [Violation::Vanished { op: 3 }]);
}

#[test]
fn a_write_that_was_not_rolled_back_is_caught() {
    for outcome in [Outcome::RolledBack, Outcome::Stale] {
        let found = spoilt(|run| {
            run.processes[1][7] = ended(4, outcome);
            run.entries.push(entry(15, 4, 2, 14));
            run.accounts[0] = Account { name: ACCOUNT.to_owned(), value: 4, note: Some(4) };
        });
        assert_eq!(found, [Violation::NotRolledBack { op: 4 }]);
    }
}

#[test]
fn a_write_that_is_there_twice_is_caught() {
    let twice = |run: &mut Run| {
        run.entries.push(entry(15, 3, 2, 14));
        run.accounts[0].value = 4;
    };
    assert_eq!(spoilt(twice), [Violation::Invented { op: 3 }]);
    let nobodys = |run: &mut Run| {
        run.entries.push(entry(15, 99, 2, 14));
        run.accounts[0] = Account { name: ACCOUNT.to_owned(), value: 4, note: Some(99) };
    };
    assert_eq!(spoilt(nobodys), [Violation::Invented { op: 99 }]);
}

#[test]
fn a_token_that_has_not_grown_is_caught() {
    let again = |run: &mut Run| run.processes[1].push(granted("c", 2, 400, 410));
    let found = [Violation::TokenNotGrown { account: ACCOUNT.to_owned(), token: 2, earlier: 2 }];
    assert_eq!(spoilt(again), found);
    // Nor is the same number given twice where neither was asked for after the other's answer.
    let at_once = |run: &mut Run| run.processes[1].push(granted("c", 2, 170, 180));
    assert_eq!(spoilt(at_once), found);
    // A store that has lost its data may begin again, and only then.
    for lost in [(390, 420), (300, 350)] {
        let again_after_loss = |run: &mut Run| {
            again(run);
            run.store_lost.push(lost);
        };
        assert_eq!(spoilt(again_after_loss), []);
    }
    let clock = |run: &mut Run| {
        again(run);
        run.store_astray.push((390, 420));
    };
    assert_eq!(spoilt(clock), found, "a clock that jumps moves no counter");
}

/// Numbers may come again after a loss of data; what is written under one may not be two leases'.
#[test]
fn two_leases_under_one_number_are_caught() {
    let repeated = |run: &mut Run| {
        run.store_lost.push((300, 350));
        run.processes[0].push(granted("c", 2, 400, 410));
    };
    let mut run = sound();
    repeated(&mut run);
    assert_eq!((check(&run), repeated_numbers(&run)), (Vec::new(), 1));
    let account = || ACCOUNT.to_owned();
    let shared = Violation::SharedToken { account: account(), token: 2 };
    let claims = |run: &mut Run| {
        repeated(run);
        run.processes[0].push(claimed("c", 2, 420));
    };
    assert_eq!(spoilt(claims).as_slice(), std::slice::from_ref(&shared));
    let writes = |run: &mut Run| {
        claims(run);
        run.processes[0].push(began_by("c", 7, 2, 430));
        run.entries.push(entry(15, 7, 2, 14));
        run.accounts[0] = Account { name: account(), value: 4, note: Some(7) };
    };
    assert_eq!(spoilt(writes), [shared, Violation::AfterClaim { op: 7, token: 2, claimed: 2 }]);
    // One that was refused has not been let in.
    let refused = |run: &mut Run| {
        repeated(run);
        run.processes[0].push(began_by("c", 7, 2, 430));
        run.processes[0].push(ended(7, Outcome::Stale));
    };
    assert_eq!(spoilt(refused), []);
}

#[test]
fn a_foreign_renewal_is_caught() {
    let found = spoilt(|run| {
        run.processes[0].push(Event::Renewed { owner: "a".to_owned(), sent: 176, mine: true });
        run.store_astray.push((0, 1000));
    });
    assert_eq!(found, [Violation::ForeignRenewal { owner: "a".to_owned(), token: 1, newer: 2 }]);
}

#[test]
fn a_foreign_release_is_caught() {
    let refused = |run: &mut Run| {
        run.processes[0].push(Event::Released { owner: "a".to_owned(), sent: 176, mine: false });
    };
    assert_eq!(spoilt(refused), []);
    let found = spoilt(|run| {
        run.processes[0].push(Event::Released { owner: "a".to_owned(), sent: 176, mine: true });
    });
    assert_eq!(found, [Violation::ForeignRelease { owner: "a".to_owned(), token: 1, newer: 2 }]);
}

#[test]
fn two_holders_are_caught() {
    let both = |run: &mut Run| run.processes[0].push(Event::Believed { owner: "a".to_owned(), at: 180 });
    let account = ACCOUNT.to_owned();
    assert_eq!(spoilt(both), [Violation::TwoHolders { account, token: 1, newer: 2, by_nanoseconds: 5 }]);
    // Not while the second one has no answer yet.
    let before = |run: &mut Run| run.processes[0].push(Event::Believed { owner: "a".to_owned(), at: 174 });
    assert_eq!(spoilt(before), []);
    // Nor where the store's clock had jumped, or the holder's own stood still.
    let jumped = |run: &mut Run| {
        both(run);
        run.store_astray.push((170, 200));
    };
    assert_eq!(spoilt(jumped), []);
    let blind = |run: &mut Run| {
        both(run);
        run.processes[0][0] = Event::Started { blind: true };
    };
    assert_eq!(spoilt(blind), []);
}
