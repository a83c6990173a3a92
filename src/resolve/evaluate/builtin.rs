//! What the standard library and common crates do to values: conversions, options and results, time,
//! randomness. Each is named here because following its source would tell nothing more.

use std::rc::Rc;

use crate::facts::rust::BinaryOperator;
use crate::facts::{Location, Span};

use super::Frame;
use crate::resolve::quantity;
use crate::resolve::value::{Closure, Condition, Form, Layer, Ticker, TimeUnit, Value};

/// Methods that hand on the value that they are called on.
const SAME: &[&str] = &[
    "clone",
    "to_string",
    "to_owned",
    "into",
    "as_str",
    "as_ref",
    "as_mut",
    "borrow",
    "borrow_mut",
    "as_bytes",
    "to_vec",
    "as_deref",
    "as_deref_mut",
    "cloned",
    "copied",
    "into_owned",
    "unwrap",
    "expect",
    "ok",
    "err",
    "unwrap_or_default",
    "into_inner",
    "by_ref",
    "iter",
    "into_iter",
    "trim",
    "as_slice",
    "to_bytes",
    "boxed",
    "try_into",
    "as_any",
    "take",
    "lock",
    "read",
    "write",
    "into_boxed_str",
    "into_string",
    "context",
    "with_context",
    "map_err",
    "inspect_err",
    "instrument",
    "fuse",
    "unwrap_or",
    "unwrap_or_else",
    "or_else",
    "get_mut",
    "deref",
    "deref_mut",
    "as_mut_slice",
    "next",
    "await",
    "to_redis_args",
    "inner",
    "get_ref",
    "change_context",
    "attach_printable",
    "wrap_err",
    "into_future",
    "shared",
    "or",
    "flatten",
];

/// Methods that ask for a positive or negative answer.
fn question(method: &str) -> Option<bool> {
    match method {
        "is_some" | "is_ok" => Some(true),
        "is_none" | "is_err" | "is_empty" => Some(false),
        _ => None,
    }
}

impl Frame<'_, '_> {
    /// A method that is the same for every receiver; `None` when it means nothing here.
    pub(super) fn builtin_method(
        &mut self,
        span: Span,
        receiver: &Value,
        method: &str,
        args: &[Value],
    ) -> Option<Value> {
        if let Some(positive) = question(method) {
            self.mark_compared(receiver);
            let value = receiver.clone();
            return Some(Value::condition(Condition::Holds { value, positive }));
        }
        if let Some(value) = self.time_method(span, receiver, method, args) {
            return Some(value);
        }
        match method {
            // A counter tells one call from the next.
            "fetch_add" => Some(random(None)),
            "unwrap" | "expect" | "unwrap_or_default" | "ok" | "unwrap_or" | "unwrap_or_else" | "ok_or" => {
                self.unwrapped(receiver, method, args)
            }
            _ if SAME.contains(&method) => {
                let more: Vec<&Value> =
                    args.iter().filter(|arg| !matches!(arg.form, Form::Closure(_))).collect();
                Some(more.iter().fold(receiver.clone(), |value, arg| value.with_flows(&arg.flows)))
            }
            "eq" | "ne" if args.len() == 1 => {
                self.mark_compared(receiver);
                self.mark_compared(&args[0]);
                let (left, right) = (receiver.clone(), args[0].clone());
                Some(Value::condition(Condition::Equal { equal: method == "eq", left, right }))
            }
            "starts_with" | "ends_with" | "contains" | "eq_ignore_ascii_case" if args.len() == 1 => {
                self.mark_compared(receiver);
                let (left, right) = (receiver.clone(), args[0].clone());
                Some(Value::condition(Condition::Equal { equal: true, left, right }))
            }
            "push_str" | "push" if matches!(receiver.form, Form::Text(_)) && args.len() == 1 => {
                Some(super::format::joined(receiver, &args[0]))
            }
            "ok_or_else" => {
                self.mark_tested(receiver);
                Some(receiver.clone())
            }
            _ => self.with_closure(receiver, method, args),
        }
    }

    fn unwrapped(&mut self, receiver: &Value, method: &str, args: &[Value]) -> Option<Value> {
        self.note_default(receiver, method, args.first());
        if let Some(Form::Closure(closure)) = args.first().map(|arg| &arg.form) {
            let closure = closure.clone();
            self.guarded(receiver, false, |frame| frame.run_closure(&closure, &[]));
        }
        if method == "ok_or" {
            self.mark_tested(receiver);
            return Some(receiver.clone());
        }
        Some(match &receiver.form {
            Form::Reply(operation, Layer::Result) => {
                if matches!(method, "unwrap" | "expect") {
                    self.heard_refusal(*operation, receiver);
                }
                Value { form: Form::Reply(*operation, Layer::Success), ..receiver.clone() }
            }
            Form::Variant("Ok" | "Some", Some(inner)) if method != "ok" => (**inner).clone(),
            Form::Unknown => {
                Value::made_of(std::iter::once(receiver).chain(args)).with_type(receiver.ty.clone())
            }
            _ => receiver.clone(),
        })
    }

    /// Methods of `Option`, `Result`, `bool` and iterators that take a closure.
    fn with_closure(&mut self, receiver: &Value, method: &str, args: &[Value]) -> Option<Value> {
        let closure = args.iter().find_map(|arg| match &arg.form {
            Form::Closure(closure) => Some(closure.clone()),
            _ => None,
        });
        match method {
            "is_some_and" | "is_ok_and" | "is_none_or" | "is_err_and" | "any" | "all" => {
                self.mark_compared(receiver);
                let inner = self.applied(closure?, receiver);
                Some(inner)
            }
            "filter" | "take_if" => {
                let inner = self.applied(closure?, receiver);
                Some(inner.with_flows(&receiver.flows))
            }
            // What a cell is filled with is what it holds.
            "get_or_init" | "get_or_insert_with" | "get_or_try_init" => {
                Some(self.run_closure(&closure?, &[]))
            }
            "map_or" | "map_or_else" => {
                self.mark_tested(receiver);
                self.note_default(receiver, method, args.first());
                Some(self.applied(closure?, receiver).with_flows(&receiver.flows))
            }
            "then" | "then_some" | "and" => {
                self.mark_tested(receiver);
                let inner = match closure {
                    Some(closure) => {
                        self.guarded(receiver, true, |frame| frame.applied(closure, &Value::unknown()))
                    }
                    None => args.first().cloned().unwrap_or_default(),
                };
                let kept = Value::new(Form::Variant("Some", Some(Rc::new(inner))));
                Some(Value::either(&kept, &kept).with_flows(&receiver.flows))
            }
            "map" | "and_then" | "inspect" | "inspect_ok" | "for_each" | "filter_map" | "map_ok"
            | "try_for_each" => {
                let closure = closure?;
                if self.drops_count(receiver, &closure) {
                    return Some(self.run_closure(&closure, &[]));
                }
                let answers = Value::condition(Condition::Holds { value: receiver.clone(), positive: true });
                let inner = self.guarded(&answers, true, |frame| frame.applied(closure, receiver));
                Some(inner.with_flows(&receiver.flows))
            }
            _ => None,
        }
    }

    /// Runs a closure on what an option, result or collection holds.
    fn applied(&mut self, closure: Rc<Closure>, receiver: &Value) -> Value {
        let mut inner = match receiver.form {
            Form::Tuple(_) => receiver.item(),
            _ => super::bind::unpack("Ok", receiver),
        };
        if let Some(ty) = &inner.ty {
            inner.ty = self.eval.program.item_type(self.scope, ty).or(inner.ty);
        }
        self.run_closure(&closure, &[inner])
    }

    /// Clocks and durations.
    fn time_method(&mut self, span: Span, receiver: &Value, method: &str, args: &[Value]) -> Option<Value> {
        match (&receiver.form, method) {
            (Form::Ticker(ticker), "tick" | "next") => {
                let ticker = ticker.clone();
                self.pause_at(ticker.location, &ticker.period);
                Some(Value::unknown())
            }
            (Form::Ticker(_), _) => Some(receiver.clone()),
            (_, "recv_timeout" | "wait_timeout" | "wait_timeout_while" | "recv_deadline") => {
                if let Some(length) =
                    args.iter().find(|arg| matches!(arg.form, Form::Duration(_) | Form::Scaled(_)))
                {
                    self.pause(span, &length.clone());
                }
                Some(Value::made_of(std::iter::once(receiver).chain(args)))
            }
            (_, "as_secs" | "num_seconds" | "whole_seconds") => Some(whole_seconds(receiver)),
            (_, "as_secs_f64" | "as_secs_f32") => quantity::count(receiver, 1000),
            (_, "as_millis" | "num_milliseconds" | "whole_milliseconds") => {
                let mut number = quantity::count(receiver, 1)?;
                number.flows.unit = Some(TimeUnit::Milliseconds);
                Some(number)
            }
            (_, "mul_f64" | "mul_f32" | "saturating_mul") => {
                quantity::arithmetic(BinaryOperator::Multiply, receiver, args.first()?)
            }
            (_, "div_f64" | "div_f32" | "checked_div" | "div") => {
                quantity::arithmetic(BinaryOperator::Divide, receiver, args.first()?)
            }
            (
                _,
                "duration_since"
                | "elapsed"
                | "signed_duration_since"
                | "checked_sub"
                | "checked_add"
                | "saturating_sub"
                | "wrapping_sub"
                | "abs_diff"
                | "saturating_duration_since",
            ) => {
                if let (Some(other), true) = (args.first(), method != "checked_add") {
                    self.note_clock_subtraction(span, receiver, other);
                }
                if receiver.flows.wall_clock.is_some() && method == "elapsed" {
                    let (reading, with) = (receiver.clone(), Value::unknown());
                    self.clock_use(span, crate::resolve::trace::ClockUseKind::Compared { reading, with });
                }
                self.note_span(method, receiver, args.first());
                let mut value = Value::made_of(std::iter::once(receiver).chain(args));
                value.flows.moved_back |= method == "checked_sub" && moves_back(receiver, args.first());
                value.flows.moved_on |= method == "checked_add" && is_moved(receiver, args.first());
                Some(if method == "elapsed" { value.named(method) } else { value })
            }
            _ => None,
        }
    }

    /// Functions of the standard library and common crates, by the tail of their path.
    pub(super) fn builtin_call(&mut self, span: Span, path: &[String], args: &[Value]) -> Option<Value> {
        let name = path.last()?.as_str();
        let of = path.len().checked_sub(2).map_or("", |at| path[at].as_str());
        let first = args.first();
        match (of, name) {
            ("", "Ok" | "Some" | "Err") | (_, "Ok" | "Some" | "Err") => {
                let variant = match name {
                    "Ok" => "Ok",
                    "Some" => "Some",
                    _ => "Err",
                };
                Some(Value::new(Form::Variant(variant, first.cloned().map(Rc::new))))
            }
            ("Duration" | "TimeDelta" | "SignedDuration", _) => duration(name, args),
            (
                "SystemTime" | "Utc" | "Local" | "Timestamp" | "Zoned" | "OffsetDateTime",
                "now" | "now_utc" | "now_local",
            ) => Some(wall_clock(self.location(span))),
            ("Instant", "now") => Some(self.moment(span)),
            ("Uuid", "new_v4" | "now_v7" | "new_v7")
            | ("Ulid", "new")
            | (_, "random" | "gen_random" | "nanoid")
            | ("rand" | "Alphanumeric", _) => Some(random(Some(self.location(span)))),
            ("process", "id")
            | ("env", "var" | "var_os")
            | ("hostname", "get")
            | (_, "gethostname" | "hostname" | "fallible_hostname" | "get_hostname") => Some(of_process()),
            (
                "LazyLock" | "Lazy" | "OnceLock" | "OnceCell" | "Arc" | "Rc" | "Box" | "Mutex" | "RwLock"
                | "Cow" | "Pin",
                _,
            )
            | ("String", "from")
            | (_, "from_ref") => {
                let first = first?;
                match &first.form {
                    Form::Closure(closure) => {
                        let closure = closure.clone();
                        Some(self.run_closure(&closure, &[]))
                    }
                    Form::Function(function) => {
                        let function = *function;
                        Some(self.instantiate(span, function, &[], None))
                    }
                    _ => Some(first.clone()),
                }
            }
            ("String", "new" | "with_capacity") => Some(Value::text("")),
            (_, "sleep" | "delay_for" | "park_timeout") | ("Timer", "after") | ("Delay", "new") => {
                self.pause(span, first?);
                self.context.after_sleep = true;
                Some(Value::unknown())
            }
            (_, "sleep_until") => {
                self.context.after_sleep = true;
                Some(Value::unknown())
            }
            ("process", "exit" | "abort")
            | ("libc", "exit" | "_exit" | "abort")
            | ("unistd", "_exit")
            | ("", "exit" | "abort") => {
                self.end_process(span);
                Some(Value::unknown())
            }
            ("thread" | "tokio" | "task" | "runtime" | "rt" | "async_std" | "smol" | "actix", "spawn")
            | ("", "spawn")
            | (_, "spawn_blocking" | "spawn_local" | "spawn_on") => Some(self.spawned(span, args)),
            ("time" | "" | "Timer" | "stream", "interval") => Some(self.ticker(span, first?)),
            ("time" | "" | "Timer", "interval_at") => Some(self.ticker(span, args.get(1)?)),
            ("time" | "", "timeout") if args.get(1).is_some_and(|arg| arg.flows.replies.is_empty()) => {
                self.pause(span, first?);
                Some(Value::made_of(args))
            }
            ("mem", "drop") | ("", "drop") => {
                self.act(name);
                if let [dropped] = args {
                    self.forget(dropped);
                }
                Some(Value::unknown())
            }
            _ => None,
        }
    }

    /// A task or thread: its body runs, but not in order with what follows.
    pub(super) fn spawned(&mut self, span: Span, args: &[Value]) -> Value {
        let before = self.context;
        let handle = self.new_task(span);
        self.context.spawned = true;
        self.context.spawned_at = Some(self.location(span));
        for arg in args {
            match &arg.form {
                Form::Closure(closure) => {
                    let closure = closure.clone();
                    self.run_closure(&closure, &[]);
                }
                Form::Function(function) => {
                    let function = *function;
                    self.instantiate(span, function, &[], None);
                }
                _ => {}
            }
        }
        self.context = before;
        handle
    }

    fn ticker(&mut self, span: Span, period: &Value) -> Value {
        let ticker = Ticker { location: self.location(span), period: period.clone() };
        Value::new(Form::Ticker(Rc::new(ticker)))
    }
}

/// The whole seconds of a span of time; what is left over is lost.
fn whole_seconds(span: &Value) -> Value {
    let known = quantity::count(span, 1000);
    let is_exact = match &span.form {
        Form::Duration(millis) => millis % 1000 == 0,
        // Of these, the share of the value tells it.
        Form::Symbol(_) | Form::Scaled(_) => known.is_some(),
        _ => false,
    };
    let mut number = known.unwrap_or_else(|| Value::made_of([span]).named("as_secs"));
    number.flows.cut |= !is_exact;
    number.flows.unit = Some(TimeUnit::Seconds);
    number
}

/// A reading of this process's wall clock.
pub(super) fn wall_clock(location: Location) -> Value {
    let mut value = Value::unknown();
    value.flows.wall_clock = Some(location);
    value
}

fn random(location: Option<Location>) -> Value {
    let mut value = Value::unknown();
    value.flows.random = true;
    value.flows.random_at = location;
    value
}

/// What tells this process or host from others, and its tasks not from each other.
fn of_process() -> Value {
    let mut value = Value::unknown();
    value.flows.process = true;
    value
}

fn duration(constructor: &str, args: &[Value]) -> Option<Value> {
    let amount = args.first()?;
    let unit = match constructor {
        "from_secs" | "seconds" | "try_seconds" | "from_secs_f64" | "from_secs_f32" => 1000,
        "from_millis" | "milliseconds" | "try_milliseconds" => 1,
        "from_mins" | "minutes" | "try_minutes" => 60_000,
        "from_hours" | "hours" => 3_600_000,
        // `Duration::new(secs, nanos)`.
        "new" if args.get(1).and_then(Value::as_int) == Some(0) => 1000,
        "from_micros" | "from_nanos" | "days" | "weeks" | "new" => return Some(Value::made_of(args)),
        _ => return None,
    };
    Some(quantity::span(amount, unit).unwrap_or_else(|| Value::made_of([amount])))
}

pub(super) fn arithmetic(operator: BinaryOperator, left: &Value, right: &Value) -> Value {
    if let Form::Text(_) = left.form
        && operator == BinaryOperator::Add
    {
        return super::format::joined(left, right);
    }
    let folded = match (&left.form, &right.form) {
        (Form::Int(a), Form::Int(b)) => fold(operator, *a, *b).map(Form::Int),
        (Form::Duration(a), Form::Duration(b)) => fold(operator, *a, *b).map(Form::Duration),
        (Form::Duration(a), Form::Int(b)) => fold(operator, *a, *b).map(Form::Duration),
        (Form::Int(a), Form::Duration(b)) => fold(operator, *a, *b).map(Form::Duration),
        _ => None,
    };
    let share = || quantity::arithmetic(operator, left, right);
    let mut value = folded.map(Value::new).or_else(share).unwrap_or_else(|| Value::made_of([left, right]));
    if let (BinaryOperator::Divide, Form::Int(a), Form::Int(b)) = (operator, &left.form, &right.form) {
        value.flows.cut |= a.checked_rem(*b).is_some_and(|rest| rest != 0);
    }
    value.flows.unit = None;
    value.flows.moved_back |= operator == BinaryOperator::Subtract && moves_back(left, Some(right));
    value.flows.moved_on |= operator == BinaryOperator::Add && is_moved(left, Some(right));
    value
}

/// Whether a span is taken from a reading of the wall clock: the result is over already.
/// Less of what was added before is a margin.
fn moves_back(reading: &Value, span: Option<&Value>) -> bool {
    is_moved(reading, span) && !reading.flows.moved_on
}

fn is_moved(reading: &Value, span: Option<&Value>) -> bool {
    reading.flows.wall_clock.is_some() && span.is_some_and(|span| span.flows.wall_clock.is_none())
}

fn fold(operator: BinaryOperator, left: i128, right: i128) -> Option<i128> {
    match operator {
        BinaryOperator::Add => left.checked_add(right),
        BinaryOperator::Subtract => left.checked_sub(right),
        BinaryOperator::Multiply => left.checked_mul(right),
        BinaryOperator::Divide => left.checked_div(right),
        BinaryOperator::Remainder => left.checked_rem(right),
        _ => None,
    }
}
