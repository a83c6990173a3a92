//! Which argument of a call is the key, which the owner value, and which the lifetime, as they look.

use crate::facts::rust::{Expr, ExprKind};
use crate::proposal::verbs::Verb;

pub(super) struct Roles {
    pub(super) key: usize,
    pub(super) value: Option<usize>,
    pub(super) ttl: Option<usize>,
    pub(super) in_milliseconds: bool,
}

/// `None` where nothing can be a key: `mutex.lock()`, `semaphore.acquire()`.
pub(super) fn roles(verb: Verb, args: &[Expr]) -> Option<Roles> {
    let key = args.iter().position(looks_like_key).or_else(|| (!args.is_empty()).then_some(0))?;
    if is_lifetime(&args[key]) {
        return None;
    }
    let behind = |wanted: fn(&Expr) -> bool| {
        args.iter().enumerate().skip(key + 1).find(|(_, arg)| wanted(arg)).map(|(at, _)| at)
    };
    let has_ttl = matches!(verb, Verb::SetIfAbsent | Verb::Lock | Verb::Extend | Verb::Expire);
    let ttl = behind(is_lifetime).filter(|_| has_ttl);
    let stores = verb == Verb::SetIfAbsent;
    let value = behind(|arg| !is_lifetime(arg)).filter(|_| stores);
    let in_milliseconds = ttl.is_some_and(|at| says_milliseconds(&args[at]));
    Some(Roles { key, value, ttl, in_milliseconds })
}

/// A text, or something that is called so.
fn looks_like_key(arg: &Expr) -> bool {
    match &inner(arg).kind {
        ExprKind::Text(_) => true,
        ExprKind::Macro(call) => call.path.last().is_some_and(|name| name == "format"),
        _ => words(arg).iter().any(|word| ["key", "keys", "name", "lock", "lease"].contains(&word.as_str())),
    }
}

fn is_lifetime(arg: &Expr) -> bool {
    match &inner(arg).kind {
        ExprKind::Int(_) | ExprKind::Float(_) => true,
        ExprKind::Call { callee, .. } => {
            matches!(&callee.kind, ExprKind::Path(path) if path.iter().any(|segment| segment == "Duration"))
        }
        _ => words(arg).iter().any(|word| {
            ["ttl", "timeout", "expiry", "expires", "expire", "lifetime", "secs", "seconds", "ms", "millis"]
                .contains(&word.as_str())
        }),
    }
}

fn says_milliseconds(arg: &Expr) -> bool {
    words(arg).iter().any(|word| ["ms", "millis", "milliseconds"].contains(&word.as_str()))
}

/// The words of what an argument is called: of a name, a field, a method or a constant.
fn words(arg: &Expr) -> Vec<String> {
    let name = match &inner(arg).kind {
        ExprKind::Path(path) => path.last().cloned(),
        ExprKind::Field { name, .. } => Some(name.clone()),
        ExprKind::MethodCall { method, .. } => Some(method.clone()),
        _ => None,
    };
    let name = name.unwrap_or_default().to_ascii_lowercase();
    name.split('_').map(str::to_owned).collect()
}

/// Without what does not change it.
fn inner(mut arg: &Expr) -> &Expr {
    loop {
        arg = match &arg.kind {
            ExprKind::Borrow(inner) | ExprKind::Try(inner) | ExprKind::Await(inner) => inner,
            ExprKind::Cast { value, .. } => value,
            ExprKind::MethodCall { receiver, method, .. }
                if ["clone", "to_owned", "to_string", "into", "as_str", "as_ref"]
                    .contains(&method.as_str()) =>
            {
                receiver
            }
            _ => return arg,
        }
    }
}
