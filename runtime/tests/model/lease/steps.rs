//! What the store, the holder and its keeper do in one step. Decisions are the term's.

use leasehold::LossReason;

use super::{Ask, DRIFT, Holding, Letter, Mistake, Said, Scope, Stage, TTL, World, at, span};
use crate::term::{Fate, Parting, Step, Term};

impl Scope {
    /// One atomic step of the store.
    pub fn execute(&self, world: &mut World, place: usize) {
        let Letter { owner, ask, waited, .. } = world.letters[place].clone();
        let ends = world.now + TTL - DRIFT;
        let mine = world.has(owner);
        let said = match ask {
            Ask::Acquire if world.lease.is_none() => {
                world.lease = Some((owner, ends));
                Said::Granted
            }
            Ask::Acquire => Said::Held,
            Ask::Renew if mine || self.renews_blindly() => {
                world.lease = Some((owner, ends));
                Said::Renewed
            }
            Ask::Release if mine || self.has(Mistake::BlindRelease) => {
                if let Some((ended, _)) = world.lease.take() {
                    world.ended[ended] = true;
                    world.robbed |= ended != owner;
                }
                Said::Freed
            }
            Ask::Renew | Ask::Release => Said::NotMine,
        };
        if waited {
            world.letters[place].said = Some(said);
        } else {
            world.letters.remove(place);
        }
    }

    fn renews_blindly(&self) -> bool {
        self.has(Mistake::BlindRenewal) || self.has(Mistake::ReleaseBesideRenewal)
    }

    pub fn answer(&self, world: &mut World, who: usize, place: usize) {
        let said = world.letters.remove(place).said;
        match &world.holders[who].stage {
            Stage::Acquiring { sent, gone } => {
                let (sent, gone) = (*sent, *gone);
                world.holders[who].stage = match said {
                    Some(Said::Granted) => Stage::Held(self.granted(world.now, sent, gone)),
                    _ => Stage::Over,
                };
            }
            Stage::TakingBack { .. } => world.holders[who].stage = Stage::Over,
            Stage::Held(one) if one.renewing.is_some() => self.renewal_answered(world, who, said),
            Stage::Held(_) => {
                let parting = if said == Some(Said::Freed) { Parting::Freed } else { Parting::NotMine };
                self.part(world, who, parting);
            }
            Stage::Idle | Stage::Over => {}
        }
    }

    /// As `Shared::granted` does.
    fn granted(&self, now: u8, sent: u8, gone: bool) -> Holding {
        let counted = if self.has(Mistake::CountsFromTheAnswer) { now } else { sent };
        let term = Term::granted(self.schedule.clone(), at(counted), span(TTL));
        let deadline = term.deadline();
        // Too late to be of use, or nobody is there to use it: it is dropped, and so given back.
        let dropped = gone || at(now) >= deadline;
        let loss = dropped.then_some(LossReason::Released);
        let (given_back, open, drained) = (dropped, !dropped, false);
        Holding { term, deadline, loss, given_back, open, drained, renewing: None, releasing: None }
    }

    /// As the keeper's `renewal_answered` does; without an answer when there was none.
    fn renewal_answered(&self, world: &mut World, who: usize, said: Option<Said>) {
        let now = world.now;
        let Stage::Held(one) = &mut world.holders[who].stage else { return };
        let Some(sent) = one.renewing.take() else { return };
        let counted = if self.has(Mistake::CountsFromTheAnswer) { now } else { sent };
        let step = match said {
            Some(Said::Renewed) => one.term.renewed(at(counted), span(TTL), at(now)),
            Some(_) => one.term.not_mine(),
            None => one.term.unanswered(),
        };
        if step == Step::Nothing {
            one.deadline = one.deadline.max(one.term.deadline());
        }
        self.apply(world, who, step);
    }

    pub fn apply(&self, world: &mut World, who: usize, step: Step) {
        let now = world.now;
        let Stage::Held(one) = &mut world.holders[who].stage else { return };
        match step {
            Step::Nothing => {}
            Step::Renew => {
                one.renewing = Some(now);
                world.kept_in_vain |= one.loss.is_some_and(|loss| loss != LossReason::Released);
                world.send(who, Ask::Renew);
            }
            Step::Lose(LossReason::Deadline) if self.has(Mistake::NoDeadline) => {}
            Step::Lose(reason) => one.loss = one.loss.or(Some(reason)),
            Step::Release => {
                one.releasing = Some(now);
                world.send(who, Ask::Release);
            }
        }
    }

    pub fn drain(&self, world: &mut World, who: usize) {
        let Stage::Held(one) = &mut world.holders[who].stage else { return };
        one.drained = true;
        let step = match self.mistake {
            Some(Mistake::RenewsAfterRelease) => Step::Release,
            Some(Mistake::ReleaseBesideRenewal) => {
                one.term.drained();
                Step::Release
            }
            _ => one.term.drained(),
        };
        self.apply(world, who, step);
    }

    fn part(&self, world: &mut World, who: usize, said: Parting) {
        let Some(one) = world.holding(who) else { return };
        let silent = said == Parting::Unanswered && self.has(Mistake::SilenceIsRelease);
        let fate = one.term.parted(if silent { Parting::Freed } else { said });
        world.misled |= one.term.loss().is_some() && !matches!(fate, Fate::Lost(_));
        world.told[who] = Some(fate);
        world.holders[who].stage = Stage::Over;
        world.forget(who);
    }

    pub fn unanswered(&self, world: &mut World, who: usize) {
        world.forget(who);
        let now = world.now;
        match &world.holders[who].stage {
            Stage::Acquiring { .. } => {
                world.holders[who].stage = Stage::TakingBack { sent: now };
                world.send(who, Ask::Release);
            }
            Stage::TakingBack { .. } => world.holders[who].stage = Stage::Over,
            Stage::Held(one) if one.renewing.is_some() => self.renewal_answered(world, who, None),
            Stage::Held(_) => self.part(world, who, Parting::Unanswered),
            Stage::Idle | Stage::Over => {}
        }
    }
}
