//! Loops of a callee, seen from its caller.

use super::Arguments;
use crate::locks::OnFailure;
use crate::resolve::trace::Repetition;

impl Arguments<'_> {
    /// `raced`: a `select!` beside the loop ends with it, so that other code hears of that.
    pub(super) fn repetition(&self, known: &Repetition, raced: bool) -> Repetition {
        let pause = known.pause.as_ref().map(|(location, length)| (*location, self.value(length, 0)));
        let on_failure = match known.on_failure {
            OnFailure::Ends if raced => OnFailure::Tells,
            other => other,
        };
        Repetition { pause, on_failure, can_be_stopped: known.can_be_stopped || raced, ..known.clone() }
    }
}
