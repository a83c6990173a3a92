//! The targets of the three front ends: any text becomes facts, whose places lie in it.

use std::str::from_utf8;

use leaselint::facts::file::FileFacts;
use leaselint::facts::sql::Dialect;
use leaselint::facts::walk;
use leaselint::sources::{DEPTH_LIMIT, Words, too_deep_at, without_test_modules};
use leaselint::sql::migration::classify;
use leaselint::{lua as lua_front_end, rust as rust_front_end, sql as sql_front_end};

use crate::places::{assert_is_kept, assert_lies_in};
use crate::stack::on_a_large_stack;

/// A Rust file: the bound of its depth, the prefilter, the modules of tests, and the parser.
pub fn rust(data: &[u8]) {
    on_a_large_stack(rust_here, data);
}

fn rust_here(data: &[u8]) {
    let Ok(text) = from_utf8(data) else { return };
    let _ = Words::with(&[]).interest(text);
    let without = without_test_modules(text);
    assert_eq!(without.len(), text.len(), "places of what is left stay");
    for text in [text, &*without] {
        if too_deep_at(text, DEPTH_LIMIT).is_some() {
            return;
        }
        match rust_front_end::parse(text) {
            Err(error) => assert_lies_in(text, error.span, "a syntax error"),
            Ok(facts) => {
                for function in &facts.functions {
                    assert_lies_in(text, function.span, "a function");
                    let Some(body) = &function.body else { continue };
                    walk::each_expr(body, &mut |expr| assert_lies_in(text, expr.span, "an expression"));
                }
                assert_is_kept(&FileFacts::Rust(facts));
            }
        }
        if matches!(without, std::borrow::Cow::Borrowed(_)) {
            return;
        }
    }
}

/// An SQL text, in each dialect.
pub fn sql(data: &[u8]) {
    on_a_large_stack(sql_here, data);
}

fn sql_here(data: &[u8]) {
    let Ok(text) = from_utf8(data) else { return };
    let _ = (sql_front_end::guess_dialect(text), sql_front_end::has_question_marks(text));
    let _ = sql_front_end::looks_like_statement(text);
    for name in ["V1__a.sql", "migrations/0001_a.up.sql", "20240101000000_a/down.sql", "queries/a.sql"] {
        let _ = classify(name, text);
    }
    for dialect in [Dialect::Postgres, Dialect::MySql, Dialect::Sqlite] {
        let facts = sql_front_end::parse(text, dialect);
        for statement in &facts.statements {
            assert_lies_in(text, statement.span, "a statement");
        }
        for (span, _) in &facts.problems {
            assert_lies_in(text, *span, "a problem");
        }
        assert_is_kept(&FileFacts::Sql(facts, dialect));
    }
}

/// A Lua script.
pub fn lua(data: &[u8]) {
    on_a_large_stack(lua_here, data);
}

fn lua_here(data: &[u8]) {
    let Ok(text) = from_utf8(data) else { return };
    let facts = lua_front_end::parse(text);
    for command in facts.scripts.iter().flat_map(|script| &script.commands) {
        assert_lies_in(text, command.span, "a command");
    }
    if let Some((span, _)) = &facts.problem {
        assert_lies_in(text, *span, "a problem");
    }
    assert_is_kept(&FileFacts::Lua(facts));
}
