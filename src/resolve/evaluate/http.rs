//! Requests over HTTP: put together by calls of HTTP clients, sent, and answered. Which requests are
//! operations on a store is in the client models; all others are of no interest.

use std::rc::Rc;

use crate::facts::Span;

use super::Frame;
use crate::resolve::address::Address;
use crate::resolve::models::{ActionName, Models, Refusal, Request};
use crate::resolve::trace::{Action, Uses};
use crate::resolve::value::{Expiry, Form, HttpRequest, Layer, Symbol, Value, WriteCondition};

/// Methods and functions of HTTP clients that begin a request, and the method of the protocol.
const BEGINNING: &[(&str, &str)] =
    &[("put", "PUT"), ("get", "GET"), ("delete", "DELETE"), ("post", "POST"), ("request", "")];

/// Methods that send a request and answer with an error where its status says so.
const HEARING: &[&str] = &["call", "send_string", "send_bytes", "send_json", "send_form", "send_empty"];

/// What a request does to a store.
struct Meaning<'m> {
    entry: &'m Request,
    action: Action,
    key: Value,
    value: Option<Value>,
}

impl Frame<'_, '_> {
    /// `client.put(url)`, `agent.request(Method::PUT, url)`.
    pub(super) fn request_of_client(&self, client: &Value, method: &str, args: &[Value]) -> Option<Value> {
        let request = begun(method, args)?;
        (self.may_matter(&request) && self.is_http_client(client)).then(|| built(request))
    }

    /// `ureq::put(url)`.
    pub(super) fn request_of_path(&self, path: &[String], args: &[Value]) -> Option<Value> {
        let (method, of) = path.split_last()?;
        let request = begun(method, args)?;
        (self.may_matter(&request) && self.eval.models.is_of_http(of)).then(|| built(request))
    }

    fn is_http_client(&self, client: &Value) -> bool {
        let models = self.eval.models;
        let Some(ty) = &client.ty else {
            return self.eval.program.imports(self.scope.module).iter().any(|path| models.is_of_http(path));
        };
        let ty = self.eval.program.peeled(self.scope, ty);
        let paths = std::iter::once(&ty.path).chain(ty.args.iter().map(|arg| &arg.path));
        models.is_http_type(&ty)
            || paths
                .into_iter()
                .any(|path| models.is_of_http(&self.eval.program.full_path(self.scope.module, path)))
    }

    /// Whether a URL may be one that the models know, or becomes one in a caller.
    fn may_matter(&self, request: &HttpRequest) -> bool {
        let is_known = request.url.pieces().iter().any(|piece| match piece {
            crate::resolve::value::Piece::Text { text, .. } => self.eval.models.names_endpoint(text),
            crate::resolve::value::Piece::Hole(_) => false,
        });
        is_known || meaning(self.eval.models, request).is_some() || is_given(request)
    }

    /// A method of a request under construction; `None` for what makes no request of it.
    pub(super) fn request_method(
        &mut self,
        whole: Span,
        request: &HttpRequest,
        method: &str,
        args: &[Value],
    ) -> Option<Value> {
        let mut next = request.clone();
        let body = args.first().cloned();
        match method {
            "body" | "json" | "form" => next.body = body,
            "query" => match args {
                [name, value] => next.query.push((name.clone(), value.clone())),
                _ => next.query.extend(pairs(args.first()?)),
            },
            "send" => {
                next.body = body.clone().or(next.body);
                return Some(self.send_request(whole, &next, body.is_some()));
            }
            _ if HEARING.contains(&method) => {
                next.body = body.or(next.body);
                return Some(self.send_request(whole, &next, true));
            }
            _ => {}
        }
        Some(built(next))
    }

    fn send_request(&mut self, whole: Span, request: &HttpRequest, hears_status: bool) -> Value {
        let location = self.location(whole);
        let Some(meaning) = meaning(self.eval.models, request) else {
            let key = Value::made_of([&request.url]);
            if is_given(request) {
                return self.emit_at(location, Action::Request(Rc::new(request.clone())), key, None, None);
            }
            return key;
        };
        let is_lock = is_lock(meaning.entry.action);
        let advice = meaning.entry.advice.clone();
        let is_renewal = matches!(meaning.action, Action::KeepAlive);
        let reply = self.emit_lease(location, meaning.action, meaning.key, meaning.value);
        if let Some(operation) = self.trace.operations.last_mut() {
            operation.is_lock = is_lock;
            operation.advice = advice;
        }
        if let Form::Reply(operation, _) = reply.form {
            self.answers.insert(operation);
        }
        // A lease that is gone is answered with a status.
        if is_renewal && hears_status { self.with_status_as_error(reply) } else { reply }
    }

    /// The answer, where its status comes as an error.
    fn with_status_as_error(&mut self, answer: Value) -> Value {
        let Form::Reply(operation, _) = answer.form else { return answer };
        if let Some(operation) = self.trace.operations.get_mut(operation) {
            operation.refusal = Refusal::Error;
        }
        Value { form: Form::Reply(operation, Layer::Result), ..answer }
    }

    /// Methods of an answer that look at its status, which says whether a lease is known and not whether a
    /// lock was taken.
    pub(super) fn answer_method(&mut self, answer: &Value, method: &str) -> Option<Value> {
        let Form::Reply(operation, _) = answer.form else { return None };
        if !self.answers.contains(&operation) || !method.contains("status") {
            return None;
        }
        let is_renewal = matches!(self.trace.operations.get(operation)?.action, Action::KeepAlive);
        match (method.starts_with("error_for"), is_renewal) {
            (true, true) => Some(self.with_status_as_error(answer.clone())),
            (true, false) => Some(answer.clone()),
            (false, true) => None,
            (false, false) => {
                self.trace.mark(operation, |uses| uses.error_tested = true);
                Some(Value::unknown())
            }
        }
    }

    /// The operation whose answer is only asked for whether it came.
    pub(super) fn asked_of_transport(&self, value: &Value) -> Option<usize> {
        let Form::Reply(operation, layer) = value.form else { return None };
        let heard = self.trace.operations.get(operation)?.refusal == Refusal::Error;
        let is_outer = layer == Layer::Result && self.answers.contains(&operation) && !heard;
        (is_outer || layer == Layer::Message).then_some(operation)
    }

    /// Requests of a callee whose URL is known by now, from this operation on.
    pub(super) fn settle_requests(&mut self, from: usize) {
        let models = self.eval.models;
        for operation in self.trace.operations.iter_mut().skip(from) {
            let Action::Request(request) = &operation.action else { continue };
            let Some(meaning) = meaning(models, &request.clone()) else { continue };
            operation.is_lock = is_lock(meaning.entry.action);
            operation.advice.clone_from(&meaning.entry.advice);
            // How the callee looks at a status tells nothing here.
            let passed = operation.uses.passed || matches!(meaning.action, Action::KeepAlive);
            operation.uses = Uses { passed, ..operation.uses };
            operation.named_at = Some(operation.via.len());
            (operation.action, operation.key, operation.value) = (meaning.action, meaning.key, meaning.value);
        }
    }
}

fn built(request: HttpRequest) -> Value {
    let parts = request.query.iter().flat_map(|(name, value)| [name, value]);
    let flows = Value::made_of(parts.chain(&request.body).chain([&request.url, &request.method]));
    Value::new(Form::Request(Rc::new(request))).with_flows(&flows.flows)
}

fn begun(method: &str, args: &[Value]) -> Option<HttpRequest> {
    let (_, name) = BEGINNING.iter().find(|(called, _)| *called == method)?;
    let (method, url) = match (name.is_empty(), args) {
        (true, [method, url]) => (method.clone(), url),
        (false, [url]) => (Value::text(name), url),
        _ => return None,
    };
    Some(HttpRequest { method, url: url.clone(), ..HttpRequest::default() })
}

/// Whether the URL is put together from what a caller gives.
fn is_given(request: &HttpRequest) -> bool {
    !request.url.flows.params.is_empty() && matches!(request.url.form, Form::Text(_))
}

fn is_lock(action: ActionName) -> bool {
    matches!(action, ActionName::Lock | ActionName::Unlock)
}

/// `[("acquire", session)]`.
fn pairs(list: &Value) -> Vec<(Value, Value)> {
    let pair = |item: &Value| match &item.form {
        Form::Tuple(parts) => match &parts[..] {
            [name, value] => Some((name.clone(), value.clone())),
            _ => None,
        },
        _ => None,
    };
    super::command::flattened_one(list).iter().filter_map(pair).collect()
}

fn meaning<'m>(models: &'m Models, request: &HttpRequest) -> Option<Meaning<'m>> {
    let method = method_name(&request.method)?;
    let address = Address::of(&request.url);
    let parameter = |name: &str| {
        let beside = || request.query.iter().find(|(known, _)| known.as_text().as_deref() == Some(name));
        address.parameter(name).or_else(|| beside().map(|(_, value)| value.clone()))
    };
    models.requests().iter().find_map(|entry| {
        let given = match &entry.with {
            Some(name) => Some(parameter(name)?),
            None => None,
        };
        let key = address.behind(&entry.path).or_else(|| {
            // A lease in the query leaves no doubt.
            if entry.of_lease { address.unlettered_path() } else { None }
        });
        if !method.eq_ignore_ascii_case(&entry.method) {
            return None;
        }
        let action = action(entry, given.as_ref(), request.body.as_ref())?;
        let value = if entry.action == ActionName::Lock { Some(session()) } else { request.body.clone() };
        Some(Meaning { entry, action, key: key?, value })
    })
}

/// The session that the store keeps with a key: each is made for its holder.
fn session() -> Value {
    let mut value = Value::unknown();
    value.flows.random = true;
    value
}

fn method_name(method: &Value) -> Option<String> {
    match &method.form {
        Form::Symbol(Symbol::Call(path)) => path.rsplit("::").next().map(str::to_owned),
        _ => method.as_text(),
    }
}

fn action(entry: &Request, given: Option<&Value>, body: Option<&Value>) -> Option<Action> {
    let condition = match given {
        Some(revision) if entry.of_revision => match revision.as_text().as_deref() {
            Some("0") => WriteCondition::IfAbsent,
            _ => WriteCondition::IfUnchanged,
        },
        _ => WriteCondition::Always,
    };
    Some(match entry.action {
        ActionName::Lock => Action::Set {
            condition: WriteCondition::IfAbsent,
            expiry: Expiry::Lease(Box::new(given.cloned().unwrap_or_default())),
            returns_old: false,
        },
        ActionName::Unlock => Action::Delete { condition: WriteCondition::IfEqual },
        ActionName::Set => Action::Set { condition, expiry: Expiry::None, returns_old: false },
        ActionName::Get => Action::Get,
        ActionName::Delete => Action::Delete { condition },
        ActionName::Grant => {
            let word = entry.ttl_word.as_deref()?;
            Action::Grant { expiry: super::leases::lifetime_in_document(body, word) }
        }
        ActionName::KeepAlive => Action::KeepAlive,
        ActionName::Revoke => Action::Revoke,
        _ => return None,
    })
}
