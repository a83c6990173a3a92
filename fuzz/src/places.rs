//! Promises about places and facts: a span lies in its text and cuts no character, and facts survive being kept.

use std::fmt::Debug;

use leaselint::facts::Span;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Panics when the span is no part of the text.
pub(crate) fn assert_lies_in(text: &str, span: Span, what: &str) {
    let range = span.start as usize..span.end as usize;
    assert!(text.get(range.clone()).is_some(), "{what} {range:?} is no part of a text of {}", text.len());
}

/// Panics when what the cache would give back is not what it was given.
pub(crate) fn assert_is_kept<T: Serialize + DeserializeOwned + PartialEq + Debug>(facts: &T) {
    let bytes = postcard::to_stdvec(facts).expect("facts can be written");
    let back: T = postcard::from_bytes(&bytes).expect("what was written can be read");
    assert!(back == *facts, "facts that were kept are others");
}
