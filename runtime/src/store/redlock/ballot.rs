//! Counts the votes of one acquire. Pure: no server, no clock, so that every order of answers can be tried.

use std::collections::HashMap;
use std::time::Duration;

use super::scripts::Vote;
use crate::token::OwnerValue;

pub(super) struct Ballot {
    owner: OwnerValue,
    /// By server; `None` while there is no answer.
    seen: Vec<Option<Seen>>,
}

#[derive(Debug, Clone, Copy)]
enum Seen {
    Vote(Vote),
    Failed,
}

/// What the votes come to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    /// More answers are needed.
    Open,
    /// A majority is ours.
    Won,
    /// A majority is somebody else's, or somebody else is to have it.
    Held,
    /// Nobody has a majority, and of those who have a part we are to have it: the others give theirs back.
    Ours,
    /// A majority has no counters.
    Empty,
    /// No majority can be asked.
    Silent,
}

impl Ballot {
    pub(super) fn new(owner: OwnerValue, servers: usize) -> Self {
        Self { owner, seen: vec![None; servers] }
    }

    /// An answer, or that there is none (any more).
    pub(super) fn note(&mut self, server: usize, vote: Option<Vote>) {
        // Ours by an earlier request, whose answer was given up: with which number is not known.
        let vote =
            vote.filter(|vote| !matches!(vote, Vote::Held { owner, .. } if *owner == Some(self.owner)));
        if let Some(seen) = self.seen.get_mut(server) {
            *seen = Some(vote.map_or(Seen::Failed, Seen::Vote));
        }
    }

    /// Those who are to be asked, and forgets what they said.
    pub(super) fn ask_again(&mut self) -> Vec<usize> {
        let mut asked = Vec::new();
        for (server, seen) in self.seen.iter_mut().enumerate() {
            if !matches!(seen, Some(Seen::Vote(Vote::Granted(_) | Vote::Empty))) {
                *seen = None;
                asked.push(server);
            }
        }
        asked
    }

    pub(super) fn verdict(&self) -> Verdict {
        let (majority, minority) = sides(self.seen.len());
        let granted = self.granted().count();
        let rivals = self.rivals();
        let open = self.seen.iter().filter(|seen| seen.is_none()).count();
        if granted >= majority {
            return Verdict::Won;
        }
        if rivals.values().any(|votes| *votes >= majority) {
            return Verdict::Held;
        }
        if self.empty().count() > minority {
            return Verdict::Empty;
        }
        if open > 0 {
            return Verdict::Open;
        }
        let voted = granted + rivals.values().sum::<usize>();
        if voted < majority {
            return Verdict::Silent;
        }
        // Of those who share the servers one must keep what it has, or all would begin anew for ever. What is no
        // owner value never gives way.
        let first =
            rivals.keys().all(|rival| rival.is_some_and(|rival| rival.as_bytes() > self.owner.as_bytes()));
        if granted > 0 && first { Verdict::Ours } else { Verdict::Held }
    }

    /// Servers that are ours, with their numbers.
    pub(super) fn granted(&self) -> impl Iterator<Item = (usize, i64)> {
        self.votes().filter_map(|(server, vote)| match vote {
            Vote::Granted(number) => Some((server, number)),
            _ => None,
        })
    }

    /// Servers that have no counter.
    pub(super) fn empty(&self) -> impl Iterator<Item = usize> {
        self.votes().filter(|(_, vote)| *vote == Vote::Empty).map(|(server, _)| server)
    }

    /// When a majority will be free, as far as is known.
    pub(super) fn ends_within(&self) -> Option<Duration> {
        let mut left: Vec<i64> = self
            .votes()
            .filter_map(|(_, vote)| match vote {
                Vote::Granted(_) => Some(0),
                // A key without TTL has -1 left; it will not end.
                Vote::Held { left, .. } => (left >= 0).then_some(left),
                Vote::Empty => None,
            })
            .collect();
        left.sort_unstable();
        let (majority, _) = sides(self.seen.len());
        let last = left.get(majority.checked_sub(1)?)?;
        u64::try_from(*last).ok().map(Duration::from_millis)
    }

    fn votes(&self) -> impl Iterator<Item = (usize, Vote)> {
        self.seen.iter().enumerate().filter_map(|(server, seen)| match seen {
            Some(Seen::Vote(vote)) => Some((server, *vote)),
            _ => None,
        })
    }

    fn rivals(&self) -> HashMap<Option<OwnerValue>, usize> {
        let mut rivals = HashMap::new();
        for (_, vote) in self.votes() {
            if let Vote::Held { owner, .. } = vote {
                *rivals.entry(owner).or_default() += 1;
            }
        }
        rivals
    }
}

/// How many servers decide, and how many may be missing.
pub(super) fn sides(servers: usize) -> (usize, usize) {
    let majority = servers / 2 + 1;
    (majority, servers - majority)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn owner(number: u8) -> OwnerValue {
        OwnerValue::from_bytes([number; 16])
    }

    fn held(by: u8, left: i64) -> Option<Vote> {
        Some(Vote::Held { owner: Some(owner(by)), left })
    }

    fn ballot(votes: &[Option<Vote>]) -> Ballot {
        let mut ballot = Ballot::new(owner(5), 5);
        for (server, vote) in votes.iter().enumerate() {
            ballot.note(server, *vote);
        }
        ballot
    }

    const MINE: Option<Vote> = Some(Vote::Granted(7));
    const EMPTY: Option<Vote> = Some(Vote::Empty);

    #[test]
    fn a_majority_decides_at_once() {
        assert_eq!(ballot(&[MINE, MINE]).verdict(), Verdict::Open);
        assert_eq!(ballot(&[MINE, MINE, MINE]).verdict(), Verdict::Won);
        assert_eq!(ballot(&[MINE, None, MINE, None, MINE]).verdict(), Verdict::Won);
        assert_eq!(ballot(&[held(9, 10), held(9, 10), held(9, 10)]).verdict(), Verdict::Held);
        assert_eq!(ballot(&[EMPTY, EMPTY, EMPTY]).verdict(), Verdict::Empty);
        assert_eq!(ballot(&[None, None, None, MINE]).verdict(), Verdict::Open);
        assert_eq!(ballot(&[None, None, None, MINE, MINE]).verdict(), Verdict::Silent);
        assert_eq!(ballot(&[EMPTY, EMPTY, None, MINE, MINE]).verdict(), Verdict::Silent);
    }

    #[test]
    fn of_a_split_the_first_owner_keeps_its_part() {
        let (low, high) = (held(1, 10), held(9, 10));
        assert_eq!(ballot(&[MINE, MINE, high, high, held(8, 10)]).verdict(), Verdict::Ours);
        assert_eq!(ballot(&[MINE, MINE, high, high, low]).verdict(), Verdict::Held);
        let stranger = Some(Vote::Held { owner: None, left: -1 });
        assert_eq!(ballot(&[MINE, MINE, high, high, stranger]).verdict(), Verdict::Held);
        assert_eq!(ballot(&[high, high, held(8, 1), held(8, 1), held(7, 1)]).verdict(), Verdict::Held);
        let mut ours = ballot(&[MINE, EMPTY, high, high, None]);
        assert_eq!(ours.verdict(), Verdict::Ours);
        assert_eq!(ours.ask_again(), [2, 3, 4]);
        assert_eq!(ours.verdict(), Verdict::Open);
        ours.note(2, MINE);
        ours.note(3, held(5, 10));
        assert_eq!(ours.verdict(), Verdict::Open);
        ours.note(4, MINE);
        assert_eq!(ours.verdict(), Verdict::Won);
    }

    /// Whatever the servers say, two owners never both win, and of those who share them at most one goes on.
    #[test]
    fn no_two_win() {
        let (mut won, mut ours) = (0, 0);
        // Each of five servers is the first's, the second's, a third's, empty or silent.
        for mut code in 0..5_u32.pow(5) {
            let mut ballots = [1, 2].map(|number| Ballot::new(owner(number), 5));
            for server in 0..5 {
                let has = code % 5;
                code /= 5;
                for (ballot, number) in ballots.iter_mut().zip([1_u8, 2]) {
                    ballot.note(
                        server,
                        match has {
                            3 => EMPTY,
                            4 => None,
                            holder if holder + 1 == u32::from(number) => MINE,
                            holder => held(u8::try_from(holder).unwrap() + 1, 10),
                        },
                    );
                }
            }
            let verdicts = ballots.map(|ballot| ballot.verdict());
            let go_on = |verdict: &&Verdict| matches!(verdict, Verdict::Won | Verdict::Ours);
            assert!(verdicts.iter().filter(go_on).count() < 2, "{verdicts:?}");
            won += u32::from(verdicts[0] == Verdict::Won);
            ours += u32::from(verdicts[0] == Verdict::Ours);
        }
        assert!(won > 100 && ours > 100, "{won} {ours}");
    }

    #[test]
    fn a_majority_is_free_when_enough_leases_have_ended() {
        let ends = |votes: &[Option<Vote>]| ballot(votes).ends_within().map(|left| left.as_millis());
        assert_eq!(ends(&[held(9, 30), held(9, 10), held(9, 20), held(9, 50), held(9, 40)]), Some(30));
        assert_eq!(ends(&[held(9, 30), held(9, 10), MINE, MINE, None]), Some(10));
        assert_eq!(ends(&[held(9, 30), held(9, 10), None, EMPTY, held(9, -1)]), None);
    }
}
