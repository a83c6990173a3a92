//! Requests over HTTP that are operations on a store: which entry of the models a request is, by its method,
//! its path and the parameters of its query. How code puts a request together is not asked here.

use super::{Models, Request};
use crate::facts::rust::Type;

impl Models {
    /// The requests that are operations, the more specific first.
    pub fn requests(&self) -> &[Request] {
        &self.requests
    }

    /// Whether a path leads into a crate that sends requests over HTTP.
    pub fn is_of_http(&self, path: &[String]) -> bool {
        path.iter().any(|segment| self.http_crates.contains(segment))
    }

    /// Whether a type, or one that it is made of, is of such a crate.
    pub fn is_http_type(&self, ty: &Type) -> bool {
        self.is_of_http(&ty.path) || ty.args.iter().any(|arg| self.is_of_http(&arg.path))
    }

    /// Whether a text may be (part of) the URL of such a request.
    pub fn names_endpoint(&self, text: &str) -> bool {
        self.requests.iter().any(|request| {
            let has_parameter = |name: &String| {
                text.match_indices(name.as_str()).any(|(at, _)| {
                    text[..at].ends_with(['?', '&']) && text[at + name.len()..].starts_with('=')
                })
            };
            text.contains(&request.path) || request.with.as_ref().is_some_and(has_parameter)
        })
    }
}
