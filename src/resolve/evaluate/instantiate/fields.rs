//! Fields of the callee's parameters, where the caller's arguments show them.

use std::rc::Rc;

use super::Arguments;
use crate::resolve::value::{Form, Value};

impl Arguments<'_> {
    /// A field of `self` or of a parameter, when the argument shows it. What is in a newtype that it does not
    /// show goes by the name of the whole.
    pub(super) fn field(&self, owner: &Rc<str>, name: &Rc<str>, value: &Value) -> Form {
        let mut params = value.flows.params.iter();
        let base = params.next().filter(|_| params.next().is_none());
        let arguments = base.and_then(|index| self.argument(*index)).into_iter().chain(self.receiver);
        let mut forms = arguments.map(|argument| &argument.form);
        let shown = forms.clone().find_map(|form| match form {
            Form::Record(record) if record.ty == *owner => {
                record.fields.iter().find(|(field, _)| field == name).map(|(_, value)| value.form.clone())
            }
            _ => None,
        });
        let of_newtype = || {
            let whole = base.filter(|_| &**name == "0").and_then(|_| forms.next())?;
            matches!(whole, Form::Symbol(_)).then(|| whole.clone())
        };
        shown.or_else(of_newtype).unwrap_or_else(|| value.form.clone())
    }
}
