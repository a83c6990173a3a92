//! An audit for programs: one object, described by `schemas/audit.schema.json`.

use std::io::{self, Write};

use serde::Serialize;

use super::{Document, failed, reason};
use crate::audit::{Item, LockAudit, Use};
use crate::harm::Harm;
use crate::report::places::{PlaceSpan, Places};
use crate::report::written::pretty_json;

/// The JSON Schema of an audit.
pub const SCHEMA: &str = include_str!("../../../schemas/audit.schema.json");

#[derive(Serialize)]
struct Root<'a> {
    schema: u32,
    locks: Vec<Lock<'a>>,
}

#[derive(Serialize)]
struct Lock<'a> {
    name: &'a str,
    store: &'a str,
    evidence: &'a [String],
    lifetime: &'a str,
    renewals: &'a str,
    acquired: Vec<JsonUse<'a>>,
    renewed: Vec<JsonUse<'a>>,
    released: Vec<JsonUse<'a>>,
    written: Vec<JsonUse<'a>>,
    shutdown: &'a str,
    checklist: Vec<JsonVerdict<'a>>,
    model: Model<'a>,
    unresolved: Vec<JsonUnresolved<'a>>,
}

#[derive(Serialize)]
struct JsonUse<'a> {
    path: &'a str,
    span: PlaceSpan,
    function: &'a str,
    how: &'a str,
}

#[derive(Serialize)]
struct JsonVerdict<'a> {
    item: Item,
    verdict: &'static str,
    reason: &'a str,
    findings: Vec<JsonFinding<'a>>,
}

#[derive(Serialize)]
struct JsonFinding<'a> {
    rule: &'a str,
    message: &'a str,
    path: &'a str,
    span: PlaceSpan,
}

#[derive(Serialize)]
struct Model<'a> {
    programs: usize,
    states: usize,
    harms: &'a [Harm],
    cut: bool,
}

#[derive(Serialize)]
struct JsonUnresolved<'a> {
    what: &'a str,
    declare: &'a str,
}

pub fn write(out: &mut dyn Write, document: &Document<'_>) -> io::Result<()> {
    let mut places = document.places();
    let locks = document.audit.locks.iter().map(|lock| of_lock(lock, document, &mut places)).collect();
    pretty_json(out, &Root { schema: 1, locks })
}

fn of_lock<'a>(lock: &'a LockAudit, document: &Document<'a>, places: &mut Places<'a>) -> Lock<'a> {
    let mut uses = |uses: &'a [Use]| -> Vec<JsonUse<'a>> {
        let one = |one: &'a Use| JsonUse {
            path: places.path(one.location),
            span: places.bounded(one.location),
            function: &one.function,
            how: &one.how,
        };
        uses.iter().map(one).collect()
    };
    let (acquired, renewed) = (uses(&lock.acquired), uses(&lock.renewed));
    let (released, written) = (uses(&lock.released), uses(&lock.written));
    let checklist = Item::ALL.into_iter().zip(&lock.verdicts).map(|(item, verdict)| JsonVerdict {
        item,
        verdict: verdict.word(),
        reason: reason(verdict),
        findings: failed(verdict)
            .iter()
            .filter_map(|at| document.finding(*at))
            .map(|finding| JsonFinding {
                rule: finding.rule,
                message: &finding.message,
                path: places.path(finding.primary),
                span: places.bounded(finding.primary),
            })
            .collect(),
    });
    let checklist = checklist.collect();
    Lock {
        name: &lock.name,
        store: lock.store,
        evidence: &lock.evidence,
        lifetime: &lock.lifetime,
        renewals: &lock.rhythm,
        acquired,
        renewed,
        released,
        written,
        shutdown: &lock.shutdown,
        checklist,
        model: Model {
            programs: lock.model.programs,
            states: lock.model.states,
            harms: &lock.model.reached,
            cut: lock.model.is_cut,
        },
        unresolved: lock
            .unresolved
            .iter()
            .map(|one| JsonUnresolved { what: &one.what, declare: &one.declare })
            .collect(),
    }
}
