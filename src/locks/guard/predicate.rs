//! Conditions: which boolean structure keeps a guard, and which opens it.

use super::operand::{Side, is_new_row, side};
use super::{Guard, GuardKind, LooseReason, Question, Verdict, and, loose, row_name, sources};
use crate::facts::Span;
use crate::facts::sql::{Comparison, Expr, ExprKind};

/// Where a condition stands: which names mean the row in question.
pub(super) struct Frame<'a> {
    pub question: Question<'a>,
    /// The name of the row whose token is compared; in a subquery that of the inner row.
    pub row: &'a str,
    /// Inside a subquery over the same table, unqualified columns are the inner row's.
    pub inner: bool,
    depth: usize,
}

/// Conditions nested deeper than this are not followed.
const DEEPEST: usize = 60;

impl<'a> Frame<'a> {
    pub(super) fn top(question: Question<'a>) -> Self {
        Self { question, row: row_name(question.write), inner: false, depth: 0 }
    }

    pub(super) fn within(&self, row: &'a str) -> Self {
        Self { question: self.question, row, inner: true, depth: self.depth + 1 }
    }

    pub(super) fn is_too_deep(&self) -> bool {
        self.depth > 8
    }

    /// What a column means here.
    pub(super) fn column(&self, qualifier: Option<&str>, name: &str) -> Side {
        if is_new_row(qualifier) {
            return Side::New(0);
        }
        let is_token = name.eq_ignore_ascii_case(self.question.column);
        let target = &self.question.write.table;
        let own = match qualifier {
            Some(q) => {
                q.eq_ignore_ascii_case(self.row) || (!self.inner && q.eq_ignore_ascii_case(&target.name))
            }
            // Without a schema an unqualified column is the row's own.
            None => {
                (self.question.has_column)(target, name) != Some(false)
                    || !super::other_source_has(&self.question, name)
            }
        };
        match (own, is_token) {
            (true, true) => Side::Token(0),
            (true, false) => Side::OwnRow,
            (false, true) => Side::ForeignToken,
            (false, false) => Side::New(0),
        }
    }

    pub(super) fn judge(&self, e: &Expr, negated: bool) -> Verdict {
        self.judge_at(e, negated, 0)
    }

    fn judge_at(&self, e: &Expr, negated: bool, depth: usize) -> Verdict {
        if depth > DEEPEST {
            return Verdict::Absent;
        }
        let next = |e: &Expr, negated| self.judge_at(e, negated, depth + 1);
        match &e.kind {
            ExprKind::And(list) | ExprKind::Or(list) => {
                let any = matches!(e.kind, ExprKind::Or(_)) != negated;
                let verdicts: Vec<_> = list.iter().map(|p| (p, next(p, negated))).collect();
                if any {
                    self.or(&verdicts, negated, e.span)
                } else {
                    verdicts.into_iter().fold(Verdict::Absent, |a, (_, v)| and(a, v))
                }
            }
            ExprKind::Not(inner) => next(inner, !negated),
            ExprKind::Compare { operator, left, right } => {
                self.compare(*operator, left, right, negated, e.span)
            }
            ExprKind::InList { operand, list, negated: not } => {
                self.in_list(operand, list, *not != negated, e.span)
            }
            ExprKind::InQuery { operand, query, negated: not } if *not == negated => {
                sources::query(self, query, Some(operand), e.span)
            }
            ExprKind::Exists { query, negated: not } if *not == negated => {
                sources::query(self, query, None, e.span)
            }
            ExprKind::Between { operand, high, negated: not, .. } if *not == negated => {
                self.compare(Comparison::LessOrEqual, operand, high, false, e.span)
            }
            // `COALESCE(token < $1, true)`
            ExprKind::Call { name, args } if name == "coalesce" || name == "ifnull" => {
                args.first().map_or(Verdict::Absent, |a| next(a, negated))
            }
            ExprKind::Cast { operand, .. } => next(operand, negated),
            ExprKind::Case { operand: None, branches, otherwise } if !negated => {
                let mut parts: Vec<(&Expr, Verdict)> = Vec::new();
                for (condition, result) in branches.iter().filter(|(_, result)| !is_false(result)) {
                    parts.push((condition, and(next(condition, false), next(result, false))));
                }
                if let Some(otherwise) = otherwise.as_deref().filter(|o| !is_false(o)) {
                    parts.push((otherwise, next(otherwise, false)));
                }
                self.or(&parts, false, e.span)
            }
            _ => Verdict::Absent,
        }
    }

    /// Every way in must be guarded; a row that has no token yet may be let in beside a guard.
    fn or(&self, verdicts: &[(&Expr, Verdict)], negated: bool, span: Span) -> Verdict {
        let counted = verdicts.iter().filter(|(e, _)| !self.is_null_test(e, negated));
        let (mut weakest, mut loosest, mut open) = (None::<Guard>, None, false);
        for (_, verdict) in counted {
            match verdict {
                Verdict::Guarded(guard) => {
                    let weaker = weakest.as_ref().is_none_or(|w| guard.how > w.how);
                    if weaker {
                        weakest = Some(guard.clone());
                    }
                }
                Verdict::Loose(found) => loosest = loosest.or_else(|| Some(found.clone())),
                Verdict::Absent => open = true,
            }
        }
        match (weakest, loosest, open) {
            (Some(guard), None, false) => Verdict::Guarded(guard),
            (Some(_), None, true) => loose(LooseReason::OrAround, span),
            (_, Some(found), _) => Verdict::Loose(found),
            _ => Verdict::Absent,
        }
    }

    fn is_null_test(&self, e: &Expr, negated: bool) -> bool {
        match &e.kind {
            ExprKind::NullTest { operand, negated: not } => {
                *not == negated && matches!(side(self, operand), Side::Token(_))
            }
            _ => false,
        }
    }

    fn compare(&self, operator: Comparison, left: &Expr, right: &Expr, negated: bool, span: Span) -> Verdict {
        if let (ExprKind::Tuple(l), ExprKind::Tuple(r)) = (&left.kind, &right.kind) {
            return self.tuples(operator, l, r, negated, span);
        }
        let query = |e: &Expr| match &e.kind {
            ExprKind::Query(query) => Some(query.clone()),
            _ => None,
        };
        // `id = (SELECT id … WHERE token < $1)`
        if operator == Comparison::Equal && !negated {
            for (operand, other) in [(left, right), (right, left)] {
                if let (Some(query), Side::OwnRow) = (query(other), side(self, operand)) {
                    return sources::query(self, &query, Some(operand), span);
                }
            }
        }
        let operator = if negated { opposite(operator) } else { operator };
        for (choice, constant) in [(left, right), (right, left)] {
            if let Some(ways) = ways_to(choice, operator, constant) {
                let parts: Vec<_> = ways.into_iter().map(|c| (c, self.judge(c, false))).collect();
                return self.or(&parts, false, span);
            }
        }
        let found = self.sides(operator, side(self, left), side(self, right), span);
        let of_query = |e: &Expr, operator, value| match query(e) {
            Some(query) => sources::scalar(self, &query, operator, value, span),
            None => Verdict::Absent,
        };
        and(found, and(of_query(left, operator, right), of_query(right, operator.mirrored(), left)))
    }

    fn sides(&self, operator: Comparison, left: Side, right: Side, span: Span) -> Verdict {
        use Comparison as C;
        match (left, right) {
            (Side::Token(_), Side::Token(_)) | (Side::Token(_), Side::OwnRow) => {
                loose(LooseReason::Itself, span)
            }
            (Side::Token(a), Side::New(b)) => token_and_new(operator, a - b, span),
            (Side::Token(_), Side::Constant) if matches!(operator, C::Less | C::LessOrEqual) => {
                loose(LooseReason::Constant, span)
            }
            (Side::Greatest, Side::New(_)) if matches!(operator, C::Equal | C::LessOrEqual) => {
                guarded(GuardKind::LessOrEqual, span)
            }
            (Side::ForeignToken, Side::New(_) | Side::Constant) => loose(LooseReason::OtherTable, span),
            // The token of a joined row is as good as a bound one.
            (Side::Token(a), Side::ForeignToken) => token_and_new(operator, a, span),
            (Side::Token(_) | Side::Greatest | Side::ForeignToken, _) => Verdict::Absent,
            (_, Side::Token(_) | Side::Greatest | Side::ForeignToken) => {
                self.sides(operator.mirrored(), right, left, span)
            }
            _ => Verdict::Absent,
        }
    }

    fn tuples(
        &self,
        operator: Comparison,
        left: &[Expr],
        right: &[Expr],
        negated: bool,
        span: Span,
    ) -> Verdict {
        let pairs = left.iter().zip(right);
        if operator == Comparison::Equal && !negated {
            return pairs.fold(Verdict::Absent, |found, (l, r)| {
                and(found, self.compare(operator, l, r, false, span))
            });
        }
        // Row comparison decides by the first pair, and lets equality through to the next.
        match left.iter().zip(right).next() {
            Some((l, r)) => self.compare(operator, l, r, negated, span),
            None => Verdict::Absent,
        }
    }

    fn in_list(&self, operand: &Expr, list: &[Expr], negated: bool, span: Span) -> Verdict {
        if let ExprKind::Tuple(parts) = &operand.kind {
            let with_token = parts.iter().any(|p| matches!(side(self, p), Side::Token(_)));
            return if with_token && !negated { guarded(GuardKind::Equal, span) } else { Verdict::Absent };
        }
        match side(self, operand) {
            Side::Token(_) if negated => loose(LooseReason::NotEqual, span),
            Side::Token(_) if list.iter().any(|e| matches!(side(self, e), Side::New(_))) => {
                guarded(GuardKind::Equal, span)
            }
            _ => Verdict::Absent,
        }
    }
}

/// `CASE WHEN token < $1 THEN 1 ELSE 0 END = 1` and `IF(token < $1, 1, 0) = 1`: the conditions under which the
/// choice gives the constant. `None` where not every result is a constant, or the choice falls through to one.
fn ways_to<'e>(choice: &'e Expr, operator: Comparison, constant: &Expr) -> Option<Vec<&'e Expr>> {
    let is_constant =
        |e: &Expr| matches!(e.kind, ExprKind::Number(_) | ExprKind::Text(_) | ExprKind::Boolean(_));
    if !is_constant(constant) || !matches!(operator, Comparison::Equal | Comparison::NotEqual) {
        return None;
    }
    let wanted = |result: &Expr| (result.kind == constant.kind) == (operator == Comparison::Equal);
    let (ways, otherwise): (Vec<(&Expr, &Expr)>, Option<&Expr>) = match &choice.kind {
        ExprKind::Case { operand: None, branches, otherwise } => {
            (branches.iter().map(|(condition, result)| (condition, result)).collect(), otherwise.as_deref())
        }
        ExprKind::Call { name, args } if name == "if" && args.len() == 3 => {
            (vec![(&args[0], &args[1])], Some(&args[2]))
        }
        _ => return None,
    };
    let known = ways.iter().map(|(_, result)| *result).chain(otherwise).all(is_constant);
    if !known || otherwise.is_some_and(wanted) {
        return None;
    }
    Some(ways.into_iter().filter(|(_, result)| wanted(result)).map(|(condition, _)| condition).collect())
}

fn guarded(how: GuardKind, span: Span) -> Verdict {
    Verdict::Guarded(Guard { how, span })
}

/// `token + offset OP new`.
fn token_and_new(operator: Comparison, offset: i32, span: Span) -> Verdict {
    use Comparison as C;
    match operator {
        C::Less if offset < 0 => guarded(GuardKind::LessOrEqual, span),
        C::Less => guarded(GuardKind::Less, span),
        C::LessOrEqual if offset > 0 => guarded(GuardKind::Less, span),
        C::LessOrEqual => guarded(GuardKind::LessOrEqual, span),
        C::Equal | C::EqualOrBothNull => guarded(GuardKind::Equal, span),
        C::NotEqual | C::Like => loose(LooseReason::NotEqual, span),
        C::Greater | C::GreaterOrEqual => loose(LooseReason::WrongWay, span),
    }
}

fn opposite(operator: Comparison) -> Comparison {
    match operator {
        Comparison::Less => Comparison::GreaterOrEqual,
        Comparison::LessOrEqual => Comparison::Greater,
        Comparison::Greater => Comparison::LessOrEqual,
        Comparison::GreaterOrEqual => Comparison::Less,
        Comparison::Equal | Comparison::EqualOrBothNull => Comparison::NotEqual,
        Comparison::NotEqual => Comparison::Equal,
        Comparison::Like => Comparison::Like,
    }
}

fn is_false(e: &Expr) -> bool {
    matches!(&e.kind, ExprKind::Boolean(false) | ExprKind::Null)
        || matches!(&e.kind, ExprKind::Number(n) if n == "0")
}
