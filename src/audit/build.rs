//! From the inventory and the findings of a run to its audit.

use super::{Audit, LockAudit, Model, Unresolved, Use, places, verdicts, words};
use crate::finding::Finding;
use crate::locks::{Action, Operation};
use crate::locks::{AddedSpan, Inventory, Lifetime, OwnerValue, Ttl, row_leases};
use crate::proof;
use crate::proof::protocol::{Life, Part, Protocol, Store};
use crate::proof::prove::prove;

/// Every lock, with what the findings of the run say of it.
pub fn audit(inventory: &Inventory, findings: &[Finding]) -> Audit {
    let protocols = proof::protocols(inventory);
    let locks = protocols.iter().filter(|protocol| is_lock(protocol));
    let locks = locks.map(|protocol| of_lock(inventory, protocol, findings)).collect();
    Audit { locks, protocols }
}

/// Fenced tables whose leases are elsewhere are no locks of these sources.
fn is_lock(protocol: &Protocol) -> bool {
    let is_used =
        !protocol.acquires.is_empty() || !protocol.renewals.is_empty() || !protocol.releases.is_empty();
    !protocol.evidence.is_empty()
        && protocol.store != Store::Elsewhere
        && (is_used || protocol.declared.is_some())
}

fn of_lock(inventory: &Inventory, protocol: &Protocol, findings: &[Finding]) -> LockAudit {
    let own = places::findings_of(protocol, findings);
    let proof = prove(protocol);
    let model = Model {
        programs: proof.programs,
        states: proof.states,
        reached: proof.reached,
        is_cut: proof.is_cut,
    };
    let known = verdicts::Known { inventory, protocol, findings, own: &own, model: &model };
    LockAudit {
        name: protocol.lock.clone(),
        store: words::store(protocol.store),
        evidence: protocol.evidence.clone(),
        lifetime: lifetime(inventory, protocol),
        rhythm: rhythm(protocol),
        acquired: uses(&protocol.acquires),
        renewed: uses(&protocol.renewals),
        released: uses(&protocol.releases),
        written: uses(&protocol.writes),
        shutdown: verdicts::shutdown(inventory),
        verdicts: verdicts::all(&known),
        unresolved: unresolved(inventory, protocol),
        findings: own,
        model,
    }
}

/// Each place once, with what the last of its steps does.
fn uses(parts: &[Part]) -> Vec<Use> {
    let mut found: Vec<Use> = Vec::new();
    for part in parts {
        let Some(location) = part.steps.iter().rev().find_map(|step| step.place) else { continue };
        let one = Use { location, function: part.function.clone(), how: words::how(part) };
        if !found.iter().any(|known| known.location == one.location && known.how == one.how) {
            found.push(one);
        }
    }
    found.sort_by_key(|one| one.location);
    found
}

fn rhythm(protocol: &Protocol) -> String {
    let mut said: Vec<String> = Vec::new();
    for renewal in &protocol.renewals {
        let text = words::rhythm(&renewal.rhythm);
        if !said.contains(&text) {
            said.push(text);
        }
    }
    if said.is_empty() { "not renewed".to_owned() } else { said.join("; or ") }
}

/// How long the lock lasts, as its commands and statements say.
fn lifetime(inventory: &Inventory, protocol: &Protocol) -> String {
    let mut said: Vec<String> = Vec::new();
    let mut add = |text: String| {
        if !said.contains(&text) {
            said.push(text);
        }
    };
    match protocol.store {
        Store::Keys => {
            operations(inventory, protocol).filter_map(|o| o.action.lifetime()).for_each(|l| add(span(l)))
        }
        Store::Rows => {
            let leases = row_leases(inventory).into_iter();
            for lease in leases.filter(|lease| lease.table.eq_ignore_ascii_case(&protocol.lock)) {
                add(match lease.span {
                    AddedSpan::Millis(millis) => shown(millis),
                    AddedSpan::Bound(..) => "given by a parameter".to_owned(),
                });
            }
        }
        Store::Session => return "as long as its session".to_owned(),
        Store::Elsewhere => {}
    }
    match (said.is_empty(), protocol.life) {
        (false, _) => said.join(", "),
        (true, Life::Endless) => "nothing ends it".to_owned(),
        (true, _) if protocol.store == Store::Keys => "none is given".to_owned(),
        (true, _) => "until its row says so".to_owned(),
    }
}

fn operations<'i>(inventory: &'i Inventory, protocol: &'i Protocol) -> impl Iterator<Item = &'i Operation> {
    let all = inventory.sequences.iter().flat_map(|sequence| &sequence.operations);
    all.filter(|o| {
        !o.is_test && inventory.keys[o.key].is_lock() && inventory.keys[o.key].name == protocol.lock
    })
}

fn span(lifetime: &Lifetime) -> String {
    match (&lifetime.millis, &lifetime.share) {
        (Some(millis), _) => shown(*millis),
        (None, Some(share)) if share.numerator == share.denominator => format!("`{}`", share.of),
        (None, Some(share)) => format!("{}/{} of `{}`", share.numerator, share.denominator, share.of),
        (None, None) => "not known".to_owned(),
    }
}

fn shown(millis: i128) -> String {
    if millis % 1000 == 0 { format!("{} s", millis / 1000) } else { format!("{millis} ms") }
}

/// What a reader would have to declare so that more can be said.
fn unresolved(inventory: &Inventory, protocol: &Protocol) -> Vec<Unresolved> {
    let mut found = Vec::new();
    let mut add = |what: &str, declare: &str| {
        found.push(Unresolved { what: what.to_owned(), declare: declare.to_owned() });
    };
    let key = inventory.keys.iter().find(|key| key.name == protocol.lock && key.is_lock());
    if protocol.store == Store::Keys && key.is_some_and(|key| key.is_parameter || !key.is_written) {
        add(
            "the key's text is not in these sources",
            "check the callers as well, or name the wrapper's methods in a `[[client]]` of leaselint.toml",
        );
    }
    if protocol.acquires.is_empty() {
        add(
            "nothing is seen that takes it",
            "check the code that does as well, or name the method that takes it in a `[[client]]` of leaselint.toml",
        );
    }
    if protocol.releases.is_empty() && protocol.store != Store::Session {
        add(
            "nothing is seen that frees it",
            "name the method that frees it in a `[[client]]`, unless its lifetime alone ends it",
        );
    }
    let is_vague = |o: &Operation| matches!(&o.action, Action::Acquire { ttl: Ttl::Given(lifetime), .. } if !lifetime.is_known());
    if protocol.store == Store::Keys && operations(inventory, protocol).any(is_vague) {
        add(
            "its lifetime is a value that is not followed",
            "give it by a constant or a field with a default",
        );
    }
    let is_unknown = |o: &Operation| matches!(&o.action, Action::Acquire { owner: OwnerValue::Unknown, .. });
    if protocol.store == Store::Keys && operations(inventory, protocol).any(is_unknown) {
        add(
            "what is stored to recognise the holder is not followed",
            "store a value that is made beside the command, such as a UUID",
        );
    }
    if protocol.renewals.iter().any(|renewal| renewal.rhythm.repeated && renewal.rhythm.pause.is_none()) {
        add(
            "the pause between two renewals cannot be compared with the lifetime",
            "make it a fraction of the lifetime, such as `ttl / 3`",
        );
    }
    found
}
