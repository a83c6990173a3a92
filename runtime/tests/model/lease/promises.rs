//! What must hold in every state of the leases' world, and what must be possible in one.

use leasehold::LossReason;
use stateright::Property;

use super::{Ask, HOLDERS, Holding, Mistake, RIVAL, Scope, Stage, TTL, World};
use crate::term::Fate;

impl Scope {
    fn believes(&self, world: &World, who: usize) -> bool {
        if self.has(Mistake::NoDeadline) {
            return world.holding(who).is_some_and(|one| one.loss.is_none());
        }
        world.believes(who)
    }
}

pub fn promises() -> Vec<Property<Scope>> {
    vec![
        Property::always(
            "whoever is told that it may go on has the lease",
            |scope: &Scope, world: &World| {
                let fooled = |who| scope.believes(world, who) && !world.has(who);
                !(0..HOLDERS).any(fooled)
            },
        ),
        Property::always("the work is cancelled before the lease can end", |_, world: &World| {
            let late = |who: usize| {
                let runs = world.holders[who].awake && !world.is_due(who);
                runs && world.ended[who] && world.holding(who).is_some_and(|one| one.loss.is_none())
            };
            !(0..HOLDERS).any(late)
        }),
        Property::always("what its keeper knows as lost is cancelled", |scope: &Scope, world: &World| {
            let unheard = |one: &Holding| one.term.loss().is_some() && one.loss.is_none();
            scope.has(Mistake::NoDeadline) || !(0..HOLDERS).any(|who| world.holding(who).is_some_and(unheard))
        }),
        Property::always("what has ended does not come back", |_, world: &World| {
            world.lease.is_none_or(|(owner, _)| !world.ended[owner])
        }),
        Property::always("a release ends nobody else's lease", |_, world: &World| !world.robbed),
        Property::always("what its work has lost is not renewed", |_, world: &World| !world.kept_in_vain),
        Property::always("whoever has lost it is told so", |_, world: &World| !world.misled),
        Property::always("no renewal is under way beside a release", |_, world: &World| {
            let both = |who| world.is_waited_for(who, Ask::Renew) && world.is_waited_for(who, Ask::Release);
            !(0..HOLDERS).any(both)
        }),
        Property::always("a lease is not released before its transactions have ended", |_, world: &World| {
            let early = |one: &Holding| one.open && one.releasing.is_some();
            !(0..HOLDERS).any(|who| world.holding(who).is_some_and(early))
        }),
        Property::always(
            "whoever is told that its lease was released had it and has it no more",
            |_, world: &World| {
                let wrong = |who: usize| {
                    world.told[who] == Some(Fate::Released) && (world.has(who) || !world.ended[who])
                };
                !(0..HOLDERS).any(wrong)
            },
        ),
    ]
}

/// Without these the promises would be about an empty world.
pub fn possibilities(rival: bool) -> Vec<Property<Scope>> {
    let handed_over = Property::sometimes("a lease is handed over", |scope: &Scope, world: &World| {
        world.told[0] == Some(Fate::Released) && (scope.rival && world.has(RIVAL) || world.believes(RIVAL))
    });
    if !rival {
        return vec![handed_over];
    }
    fn lost(world: &World, reason: LossReason) -> bool {
        world.told[0] == Some(Fate::Lost(reason))
    }
    vec![
        handed_over,
        Property::sometimes("a lease lasts beyond its TTL", |_, world: &World| {
            world.now > TTL && world.believes(0)
        }),
        Property::sometimes("a crashed holder's lease goes to the other", |_, world: &World| {
            let crashed = world.holders[0].stage == Stage::Over && world.told[0].is_none();
            crashed && world.ended[0] && world.has(RIVAL)
        }),
        Property::sometimes("it is lost by its deadline", |_, world| lost(world, LossReason::Deadline)),
        Property::sometimes("it is lost by two failures", |_, world| {
            lost(world, LossReason::RenewalsFailed { failures: 2 })
        }),
        Property::sometimes("it is lost since the store says so", |_, world| {
            lost(world, LossReason::NotMine)
        }),
        Property::sometimes("a release has no answer", |_, world: &World| {
            world.told[0] == Some(Fate::Unconfirmed)
        }),
        Property::sometimes("a sleeper wakes when the other has the lease", |_, world: &World| {
            world.holders[0].awake && world.holding(0).is_some() && world.has(RIVAL)
        }),
        Property::sometimes("a grant that nobody waits for is in the store", |_, world: &World| {
            matches!(world.holders[0].stage, Stage::Over | Stage::TakingBack { .. }) && world.has(0)
        }),
    ]
}
