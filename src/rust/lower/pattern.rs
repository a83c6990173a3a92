//! Patterns: what they bind, and which shape they ask for.

use crate::facts::Span;
use crate::facts::rust::{Expr, ExprKind, Pattern, PatternKind};

use super::Source;

pub(super) fn pattern(source: Source<'_>, written: &syn::Pat) -> Pattern {
    match written {
        // The grammar does not tell `None` from a new variable; the first letter does.
        syn::Pat::Ident(name) if is_constant(name) => {
            let path = vec![name.ident.to_string()];
            value(Expr { span: source.span(name.ident.span()), kind: ExprKind::Path(path) })
        }
        syn::Pat::Ident(name) => {
            let inner = name.subpat.as_ref().map(|(_, inner)| Box::new(pattern(source, inner)));
            let span = source.span(name.ident.span());
            Pattern { span, kind: PatternKind::Name { name: name.ident.to_string(), inner } }
        }
        syn::Pat::Wild(wild) => {
            Pattern { span: source.span(wild.underscore_token.span), kind: PatternKind::Wildcard }
        }
        syn::Pat::Type(typed) => pattern(source, &typed.pat),
        syn::Pat::Reference(inner) => pattern(source, &inner.pat),
        syn::Pat::Paren(inner) => pattern(source, &inner.pat),
        syn::Pat::Path(path) => value(path_expr(source, &path.path)),
        syn::Pat::Lit(literal) => value(super::expr::literal(source, &literal.lit)),
        syn::Pat::TupleStruct(variant) => Pattern {
            span: path_span(source, &variant.path).to(source.span(variant.paren_token.span.close())),
            kind: PatternKind::Variant {
                path: segments(&variant.path),
                elements: variant.elems.iter().map(|p| pattern(source, p)).collect(),
            },
        },
        syn::Pat::Struct(fields) => Pattern {
            span: path_span(source, &fields.path).to(source.span(fields.brace_token.span.close())),
            kind: PatternKind::Struct {
                path: segments(&fields.path),
                fields: fields
                    .fields
                    .iter()
                    .map(|field| (super::expr::member(&field.member), pattern(source, &field.pat)))
                    .collect(),
            },
        },
        syn::Pat::Tuple(tuple) => Pattern {
            span: source.span(tuple.paren_token.span.join()),
            kind: PatternKind::Tuple(tuple.elems.iter().map(|p| pattern(source, p)).collect()),
        },
        syn::Pat::Slice(slice) => Pattern {
            span: source.span(slice.bracket_token.span.join()),
            kind: PatternKind::Tuple(slice.elems.iter().map(|p| pattern(source, p)).collect()),
        },
        syn::Pat::Or(or) => {
            let cases: Vec<Pattern> = or.cases.iter().map(|p| pattern(source, p)).collect();
            let span = match (cases.first(), cases.last()) {
                (Some(first), Some(last)) => first.span.to(last.span),
                _ => Span::default(),
            };
            Pattern { span, kind: PatternKind::Or(cases) }
        }
        _ => Pattern { span: Span::default(), kind: PatternKind::Other },
    }
}

fn value(expr: Expr) -> Pattern {
    Pattern { span: expr.span, kind: PatternKind::Value(Box::new(expr)) }
}

pub(super) fn path_expr(source: Source<'_>, path: &syn::Path) -> Expr {
    Expr { span: path_span(source, path), kind: ExprKind::Path(segments(path)) }
}

pub(super) fn segments(path: &syn::Path) -> Vec<String> {
    path.segments.iter().map(|segment| segment.ident.to_string()).collect()
}

pub(super) fn path_span(source: Source<'_>, path: &syn::Path) -> Span {
    let first = path.segments.first().map(|s| source.span(s.ident.span())).unwrap_or_default();
    let Some(last) = path.segments.last() else { return first };
    let end = match &last.arguments {
        syn::PathArguments::AngleBracketed(list) => source.span(list.gt_token.span),
        syn::PathArguments::Parenthesized(call) => source.span(call.paren_token.span.close()),
        syn::PathArguments::None => source.span(last.ident.span()),
    };
    first.to(end)
}

/// A unit variant, or a constant.
fn is_constant(name: &syn::PatIdent) -> bool {
    let plain = name.by_ref.is_none() && name.mutability.is_none() && name.subpat.is_none();
    plain && name.ident.to_string().starts_with(|first: char| first.is_uppercase())
}
