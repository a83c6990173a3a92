//! Macro calls: their arguments as far as they read as expressions, and the arms of `select!`.

use proc_macro2::{Delimiter, Spacing, TokenStream, TokenTree};
use syn::Token;
use syn::parse::{ParseStream, Parser as _};

use crate::facts::rust::{Arm, Expr, ExprKind, SelectArm};

use super::expr::Lowering;

/// Macros whose bodies hold items, read as if they stood there.
const ITEM_MACROS: &[&str] = &["lazy_static", "cfg_if", "cfg_rt", "cfg_tokio"];

/// How deep unknown macro bodies are searched for expressions.
const SEARCH_DEPTH: usize = 16;

pub(super) fn arguments(
    lowering: &mut Lowering<'_, '_>,
    call: &syn::Macro,
) -> (Vec<Expr>, Vec<(String, Expr)>) {
    let mut args = Vec::new();
    let mut named = Vec::new();
    for argument in expressions(call.tokens.clone(), SEARCH_DEPTH) {
        match argument {
            syn::Expr::Assign(assign) => match &*assign.left {
                syn::Expr::Path(name) if name.path.get_ident().is_some() => {
                    let name = name.path.segments[0].ident.to_string();
                    named.push((name, lowering.expr(&assign.right)));
                }
                _ => args.push(lowering.expr(&syn::Expr::Assign(assign.clone()))),
            },
            other => args.push(lowering.expr(&other)),
        }
    }
    (args, named)
}

/// The expressions of a token stream: its comma-separated parts where they parse, else what parses inside.
fn expressions(tokens: TokenStream, depth: usize) -> Vec<syn::Expr> {
    let list = syn::punctuated::Punctuated::<syn::Expr, Token![,]>::parse_terminated;
    if let Ok(list) = list.parse2(tokens.clone()) {
        return list.into_iter().collect();
    }
    if let Ok(statements) = syn::Block::parse_within.parse2(tokens.clone()) {
        let block = syn::Block { brace_token: syn::token::Brace::default(), stmts: statements };
        return vec![syn::Expr::Block(syn::ExprBlock { attrs: Vec::new(), label: None, block })];
    }
    if depth == 0 {
        return Vec::new();
    }
    parts(tokens).into_iter().flat_map(|part| part_expressions(part, depth)).collect()
}

fn part_expressions(part: Vec<TokenTree>, depth: usize) -> Vec<syn::Expr> {
    let stream: TokenStream = part.iter().cloned().collect();
    if let Ok(expr) = syn::parse2::<syn::Expr>(stream) {
        return vec![expr];
    }
    part.into_iter()
        .filter_map(|token| match token {
            TokenTree::Group(group) if group.delimiter() != Delimiter::None => Some(group.stream()),
            _ => None,
        })
        .flat_map(|stream| expressions(stream, depth - 1))
        .collect()
}

/// Splits at commas, semicolons, single colons and arrows.
fn parts(tokens: TokenStream) -> Vec<Vec<TokenTree>> {
    let mut all = vec![Vec::new()];
    let mut previous = ' ';
    let mut in_path = false;
    for token in tokens {
        let (current, joint) = match &token {
            TokenTree::Punct(punct) => (punct.as_char(), punct.spacing() == Spacing::Joint),
            _ => (' ', false),
        };
        // The two halves of `::`.
        let is_path = current == ':' && (joint || in_path);
        in_path = current == ':' && joint && !in_path;
        if is_path {
            if let Some(part) = all.last_mut() {
                part.push(token);
            }
            previous = ' ';
            continue;
        }
        let is_arrow = previous == '=' && current == '>';
        if is_arrow && let Some(part) = all.last_mut() {
            part.pop();
        }
        if is_arrow || matches!(current, ',' | ';' | ':') {
            all.push(Vec::new());
        } else if let Some(part) = all.last_mut() {
            part.push(token);
        }
        previous = current;
    }
    all.retain(|part| !part.is_empty());
    all
}

struct SelectBranch {
    pattern: Option<syn::Pat>,
    future: Option<syn::Expr>,
    guard: Option<syn::Expr>,
    handler: syn::Expr,
}

/// The arms of a `select!`; `None` when its body has another grammar.
pub(super) fn select(lowering: &mut Lowering<'_, '_>, call: &syn::Macro) -> Option<Vec<SelectArm>> {
    let branches = select_branches.parse2(call.tokens.clone()).ok()?;
    let arms = branches
        .into_iter()
        .map(|branch| SelectArm {
            pattern: branch.pattern.map_or_else(super::expr::wildcard, |pattern| lowering.pattern(&pattern)),
            future: branch.future.map_or_else(nothing, |future| lowering.expr(&future)),
            guard: branch.guard.map(|guard| lowering.expr(&guard)),
            handler: lowering.expr(&branch.handler),
        })
        .collect();
    Some(arms)
}

/// `matches!(value, pattern if guard)` as the `match` that it stands for.
pub(super) fn matches(lowering: &mut Lowering<'_, '_>, call: &syn::Macro) -> Option<ExprKind> {
    let (value, pattern, guard) = question.parse2(call.tokens.clone()).ok()?;
    let answer = |yes| Expr { span: Default::default(), kind: ExprKind::Bool(yes) };
    let value = Box::new(lowering.expr(&value));
    let pattern = lowering.pattern(&pattern);
    let guard = guard.map(|guard| lowering.expr(&guard));
    let otherwise = Arm { pattern: super::expr::wildcard(), guard: None, body: answer(false) };
    Some(ExprKind::Match { value, arms: vec![Arm { pattern, guard, body: answer(true) }, otherwise] })
}

fn question(input: ParseStream<'_>) -> syn::Result<(syn::Expr, syn::Pat, Option<syn::Expr>)> {
    let value = input.parse::<syn::Expr>()?;
    input.parse::<Token![,]>()?;
    let pattern = syn::Pat::parse_multi_with_leading_vert(input)?;
    let guard = if input.peek(Token![if]) {
        input.parse::<Token![if]>()?;
        Some(input.parse::<syn::Expr>()?)
    } else {
        None
    };
    if input.peek(Token![,]) {
        input.parse::<Token![,]>()?;
    }
    Ok((value, pattern, guard))
}

fn nothing() -> Expr {
    Expr { span: crate::facts::Span::default(), kind: ExprKind::Other(Vec::new()) }
}

fn select_branches(input: ParseStream<'_>) -> syn::Result<Vec<SelectBranch>> {
    syn::custom_keyword!(biased);
    if input.peek(biased) {
        input.parse::<biased>()?;
        input.parse::<Token![;]>()?;
    }
    let mut branches = Vec::new();
    while !input.is_empty() {
        branches.push(select_branch(input)?);
    }
    Ok(branches)
}

fn select_branch(input: ParseStream<'_>) -> syn::Result<SelectBranch> {
    let is_else = input.peek(Token![else]) || input.peek(syn::Ident) && input.peek2(Token![=>]);
    let (pattern, future, guard) = if is_else {
        input.parse::<TokenTree>()?;
        (None, None, None)
    } else {
        let pattern = syn::Pat::parse_multi_with_leading_vert(input)?;
        input.parse::<Token![=]>()?;
        let future = input.parse::<syn::Expr>()?;
        let guard = if input.peek(Token![,]) && input.peek2(Token![if]) {
            input.parse::<Token![,]>()?;
            input.parse::<Token![if]>()?;
            Some(input.parse::<syn::Expr>()?)
        } else {
            None
        };
        (Some(pattern), Some(future), guard)
    };
    input.parse::<Token![=>]>()?;
    let handler = if input.peek(syn::token::Brace) {
        let block = input.parse::<syn::Block>()?;
        syn::Expr::Block(syn::ExprBlock { attrs: Vec::new(), label: None, block })
    } else {
        input.parse::<syn::Expr>()?
    };
    if input.peek(Token![,]) {
        input.parse::<Token![,]>()?;
    }
    Ok(SelectBranch { pattern, future, guard, handler })
}

/// The items inside a macro that wraps items.
pub(super) fn items_inside(call: &syn::Macro) -> Vec<syn::Item> {
    let name = call.path.segments.last().map(|segment| segment.ident.to_string()).unwrap_or_default();
    if ITEM_MACROS.contains(&name.as_str()) || name.starts_with("cfg_") {
        items_in(call.tokens.clone(), SEARCH_DEPTH)
    } else {
        Vec::new()
    }
}

fn items_in(tokens: TokenStream, depth: usize) -> Vec<syn::Item> {
    if let Ok(file) = syn::parse2::<syn::File>(without_ref(tokens.clone())) {
        return file.items;
    }
    if depth == 0 {
        return Vec::new();
    }
    tokens
        .into_iter()
        .filter_map(|token| match token {
            TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => Some(group.stream()),
            _ => None,
        })
        .flat_map(|stream| items_in(stream, depth - 1))
        .collect()
}

/// `static ref NAME: T = …;` of lazy_static, as a plain static.
fn without_ref(tokens: TokenStream) -> TokenStream {
    tokens.into_iter().filter(|token| !matches!(token, TokenTree::Ident(word) if word == "ref")).collect()
}
