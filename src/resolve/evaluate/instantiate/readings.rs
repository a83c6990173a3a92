//! Readings of clocks in a callee, seen from its caller.

use super::Arguments;
use crate::resolve::evaluate::Frame;
use crate::resolve::trace::{ClockUse, ClockUseKind, Deadline, DeadlineLength, MAX_OPERATIONS, Trace};

impl Frame<'_, '_> {
    pub(super) fn carry_deadlines(&mut self, trace: &Trace, arguments: &Arguments<'_>) {
        for deadline in trace.deadlines.iter().take(MAX_OPERATIONS) {
            let length = match &deadline.length {
                DeadlineLength::Span(span) => DeadlineLength::Span(Box::new(arguments.value(span, 0))),
                field @ DeadlineLength::OfField(_) => field.clone(),
            };
            self.trace.deadlines.push(Deadline {
                from: arguments.moment(deadline.from),
                length,
                has_margin: deadline.has_margin,
                guards: arguments.guards(&deadline.guards, &self.guards),
                spawned_at: deadline.spawned_at.or(self.context.spawned_at),
            });
        }
        self.trace.deadlines.truncate(MAX_OPERATIONS);
    }

    pub(super) fn carry_clock_uses(&mut self, trace: &Trace, arguments: &Arguments<'_>) {
        for clock_use in trace.clock_uses.iter().take(MAX_OPERATIONS) {
            let kind = match &clock_use.kind {
                ClockUseKind::Compared { reading, with } => ClockUseKind::Compared {
                    reading: arguments.value(reading, 0),
                    with: arguments.value(with, 0),
                },
                ClockUseKind::Subtracted { .. } | ClockUseKind::Stored { .. } => continue,
            };
            self.trace.clock_uses.push(ClockUse { kind, ..clock_use.clone() });
        }
        self.trace.clock_uses.truncate(MAX_OPERATIONS);
    }
}
