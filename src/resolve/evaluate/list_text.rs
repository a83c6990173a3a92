//! Texts made of lists: `["billing", period].join("/")`. A list that is a parameter is a text where the
//! function is called.

use std::rc::Rc;

use super::format::joined;
use crate::resolve::value::{Form, ListText, Value};

/// What `join` and `concat` make of a list; `None` for what is not known to be one.
pub(super) fn of_list(receiver: &Value, method: &str, args: &[Value]) -> Option<Value> {
    let separator = match (method, args) {
        ("join", [separator]) => separator.as_text()?,
        ("concat", []) => String::new(),
        _ => return None,
    };
    match &receiver.form {
        Form::Tuple(_) => Some(text_of(receiver, &separator)),
        Form::Symbol(_) => {
            let text = ListText { parts: receiver.clone(), separator: separator.as_str().into() };
            Some(Value::new(Form::ListText(Rc::new(text))))
        }
        _ => None,
    }
}

/// The text, once its list is known; until then the list stands for it.
pub(super) fn text_of(parts: &Value, separator: &str) -> Value {
    let Form::Tuple(items) = &parts.form else {
        let text = ListText { parts: parts.clone(), separator: separator.into() };
        return Value::new(Form::ListText(Rc::new(text)));
    };
    let between = Value::text(separator);
    let mut items = items.iter();
    let first = items.next().cloned().unwrap_or_else(|| Value::text(""));
    items.fold(joined(&first, &Value::text("")), |text, item| joined(&joined(&text, &between), item))
}
