//! SQL statements of Rust code with their surroundings: text, executor, transaction, use of the count.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

use crate::facts::sql::{Dialect, Statement, StatementKind};
use crate::facts::{FileId, Location, TextMap};
use crate::locks::statement::BoundValue;
use crate::locks::{CountUse, Executor, Repetition, SqlSite, StatementOrigin, TransactionScope};
use crate::sql;

use super::super::Package;
use super::super::builders;
use super::super::chain::Chain;
use super::super::evaluate::Evaluator;
use super::super::trace::{Action, Operation, SqlCall, Trace};
use super::super::value::{Form, Value};
use super::binds::bound;
use super::noted_rows::note_rows;
use super::repetitions::repetition;
use super::session_locks::{imported_dialect, note_text, session_lock};
use super::statement_texts::{Assembled, assembled, kept_text, written_at};
use super::told_by_callers::ToldByCallers;

/// The statements that each operation of each function's trace runs, by their positions among all.
pub type StatementRuns = HashMap<(usize, usize), Vec<usize>>;

/// The statements that Rust code runs, in the order of the places where they are written, and who runs them.
pub fn statements(
    evaluator: &Evaluator<'_>,
    order: &[usize],
    packages: &[Package],
) -> (Vec<SqlSite>, StatementRuns) {
    let mut run_by: Vec<((usize, usize), SiteKey)> = Vec::new();
    let mut sites: BTreeMap<SiteKey, SqlSite> = BTreeMap::new();
    let mut functions = order.to_vec();
    functions.sort_unstable();
    let mut texts = BTreeSet::new();
    let mut parsed = Parsed::default();
    let mut scopes = CallerScopes::default();
    let mut repetitions: BTreeMap<SiteKey, Vec<Repetition>> = BTreeMap::new();
    let mut told: BTreeMap<SiteKey, ToldByCallers> = BTreeMap::new();
    for function in functions {
        let Some(trace) = evaluator.trace(function) else { continue };
        let mut sessions = BTreeMap::new();
        for (index, operation) in trace.operations.iter().enumerate() {
            let Action::Sql(call) = &operation.action else { continue };
            let run = Run { evaluator, function, trace: &trace, operation, call, packages };
            let Some(text) = parsed.text(&run) else { continue };
            // A statement seen from a caller of the function that runs it adds no statement, unless that
            // function got its text from the caller.
            let is_seen =
                written_at(kept_text(evaluator, &call.text)).is_some_and(|place| !texts.insert(place));
            let is_news = !is_seen || operation.via.is_empty();
            run_by.extend(text.statements.iter().map(|statement| ((function, index), text.key(statement))));
            if let Some(known) = repetition(evaluator, function, &trace, operation) {
                for statement in &text.statements {
                    repetitions.entry(text.key(statement)).or_default().push(known.clone());
                }
            }
            for (key, site) in run.sites(&text, &mut sessions, &mut scopes, is_news) {
                if operation.via.is_empty() {
                    sites.insert(key, site);
                } else {
                    sites.entry(key).or_insert(site);
                }
            }
            if !operation.via.is_empty() {
                run.tell(&text, &mut told);
            }
        }
    }
    for (key, site) in &mut sites {
        scopes.widen(key, &mut site.transaction);
        site.repetitions = repetitions.remove(key).unwrap_or_default();
        if let Some(told) = told.get(key) {
            told.complete(site);
        }
    }
    let positions: HashMap<SiteKey, usize> = sites.keys().enumerate().map(|(at, key)| (*key, at)).collect();
    let mut runs = StatementRuns::new();
    for (operation, key) in run_by {
        runs.entry(operation).or_default().extend(positions.get(&key));
    }
    (sites.into_values().collect(), runs)
}

/// A statement by the place where it is written; the first of a text apart from those behind it, because a
/// text put together from pieces may give several of them one place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct SiteKey {
    location: Location,
    is_first: bool,
}

/// Texts parsed so far: callers show the same ones again and again.
#[derive(Default)]
struct Parsed {
    by_text: HashMap<TextKey, Rc<ParsedText>>,
}

/// A text, where it begins, and the dialect that it was read in.
type TextKey = (String, Option<(FileId, u32)>, Dialect);

struct ParsedText {
    assembled: Assembled,
    dialect: Dialect,
    statements: Vec<Statement>,
    /// The parameters of a statement that a builder has put together; those of a text are its call's.
    binds: Option<Vec<Value>>,
}

impl ParsedText {
    /// What is bound to it: the values inside a chain of builder calls, or those that the call gives.
    fn binds<'b>(&'b self, call: &'b SqlCall) -> &'b [Value] {
        self.binds.as_deref().unwrap_or(&call.binds)
    }

    fn key(&self, statement: &Statement) -> SiteKey {
        let span = self.assembled.map.source_span(statement.span);
        let location = Location { file: self.assembled.file, span };
        SiteKey { location, is_first: statement.span.start == 0 }
    }
}

impl Parsed {
    fn text(&mut self, run: &Run<'_, '_>) -> Option<Rc<ParsedText>> {
        let text = kept_text(run.evaluator, &run.call.text);
        if let Form::Chain(chain) = &text.form {
            return run.built(chain).map(Rc::new);
        }
        let assembled = assembled(text)?;
        let dialect = run.dialect(&assembled, run.package());
        let key = (assembled.value.clone(), written_at(text), dialect);
        let parse = || {
            let statements = sql::parse(&assembled.value, dialect).statements;
            Rc::new(ParsedText { assembled, dialect, statements, binds: None })
        };
        Some(self.by_text.entry(key).or_insert_with(parse).clone())
    }
}

/// What the transactions of all callers have done before each statement.
#[derive(Default)]
struct CallerScopes {
    seen: BTreeMap<SiteKey, BTreeMap<Vec<Location>, TransactionScope>>,
}

impl CallerScopes {
    fn note(&mut self, key: SiteKey, via: &[Location], scope: &TransactionScope) {
        let known = self.seen.entry(key).or_default();
        known
            .entry(via.to_vec())
            .and_modify(|before| *before = common(before, scope))
            .or_insert_with(|| scope.clone());
    }

    /// Adds what holds however the statement is reached, judged from the outermost callers.
    fn widen(&self, key: &SiteKey, scope: &mut TransactionScope) {
        let Some(seen) = self.seen.get(key) else { return };
        let called_from_further_out: BTreeSet<&[Location]> =
            seen.keys().filter_map(|via| via.get(1..)).collect();
        let outermost = seen.iter().filter(|(via, _)| !called_from_further_out.contains(via.as_slice()));
        let Some(shared) = outermost.map(|(_, scope)| scope.clone()).reduce(|a, b| common(&a, &b)) else {
            return;
        };
        scope.open |= shared.open;
        scope.advisory_lock |= shared.advisory_lock;
        scope.locked_tables.extend(shared.locked_tables);
        scope.checked_tables.extend(shared.checked_tables);
    }
}

/// What two transactions have both done.
fn common(a: &TransactionScope, b: &TransactionScope) -> TransactionScope {
    let both = |a: &[String], b: &[String]| a.iter().filter(|table| b.contains(table)).cloned().collect();
    TransactionScope {
        open: a.open && b.open,
        locked_tables: both(&a.locked_tables, &b.locked_tables),
        checked_tables: both(&a.checked_tables, &b.checked_tables),
        advisory_lock: a.advisory_lock && b.advisory_lock,
    }
}

/// One call that runs SQL.
struct Run<'s, 'a> {
    evaluator: &'s Evaluator<'a>,
    function: usize,
    trace: &'s Trace,
    operation: &'s Operation,
    call: &'s SqlCall,
    packages: &'s [Package],
}

/// What a session has done so far, by the name of its connection.
type Sessions = BTreeMap<String, TransactionScope>;

impl Run<'_, '_> {
    /// The statement that a chain of builder calls stands for.
    fn built(&self, chain: &Chain) -> Option<ParsedText> {
        let program = self.evaluator.program;
        let unit = program.functions[self.operation.function].unit;
        let built = builders::statement(program, unit, chain, &self.call.method, self.operation.location)?;
        let map = TextMap::verbatim(0);
        let assembled = Assembled { value: String::new(), file: built.file, map, complete: built.complete };
        let dialect = self.dialect(&assembled, self.package());
        Some(ParsedText { assembled, dialect, statements: vec![built.statement], binds: Some(built.binds) })
    }

    /// The statements of the text where they are news; their sessions and callers in any case.
    fn sites(
        &self,
        text: &ParsedText,
        sessions: &mut Sessions,
        scopes: &mut CallerScopes,
        is_news: bool,
    ) -> Vec<(SiteKey, SqlSite)> {
        let session = self.operation.session.as_deref().unwrap_or("").to_owned();
        let executor = executor(&self.call.executor, &session);
        let mut sites = Vec::new();
        note_text(sessions.entry(session.clone()).or_default(), &text.assembled.value);
        for statement in &text.statements {
            let scope = sessions.entry(session.clone()).or_default();
            scope.open |= executor == Executor::Transaction || self.operation.context.in_transaction;
            let before = scope.clone();
            note_rows(scope, &statement.kind);
            let key = text.key(statement);
            if !self.is_test() {
                scopes.note(key, &self.operation.via, &before);
            }
            if is_news {
                sites.push((key, self.site(text, statement.clone(), executor, before)));
            }
        }
        sites
    }

    /// What this caller knows of the statement's parameters.
    fn tell(&self, text: &ParsedText, told: &mut BTreeMap<SiteKey, ToldByCallers>) {
        if self.is_test() {
            return;
        }
        let session = self.operation.session.as_deref().unwrap_or("");
        let pool = executor(&self.call.executor, session) == Executor::Pool;
        let reads_clock = text.binds(self.call).iter().any(|value| value.flows.wall_clock.is_some());
        let clocks = self.binds(text).into_iter().map(|bind| bind.wall_clock);
        let clocks: Vec<Option<Location>> = if reads_clock { clocks.collect() } else { Vec::new() };
        for statement in &text.statements {
            let known = told.entry(text.key(statement)).or_default();
            known.note_reply(self.operation);
            known.compared_reads.extend(self.compared_reads(&statement.kind));
            known.pool |= pool;
            known.clocks.resize(known.clocks.len().max(clocks.len()), None);
            for (known, clock) in known.clocks.iter_mut().zip(&clocks) {
                *known = known.or(*clock);
            }
        }
    }

    fn package(&self) -> Option<usize> {
        self.evaluator.program.unit_of(self.operation.function).package
    }

    fn is_test(&self) -> bool {
        let program = self.evaluator.program;
        program.is_test(self.operation.function) || program.is_test(self.function)
    }

    fn site(
        &self,
        parsed: &ParsedText,
        statement: Statement,
        executor: Executor,
        transaction: TransactionScope,
    ) -> SqlSite {
        let program = self.evaluator.program;
        let text = &parsed.assembled;
        let span = statement.span;
        let origin = self.origin();
        SqlSite {
            compared_reads: self.compared_reads(&statement.kind),
            statement,
            dialect: parsed.dialect,
            source: crate::locks::statement::StatementText { file: text.file, map: text.map.clone() },
            origin,
            call: Some(self.operation.location),
            complete: text.complete,
            count: count_use(self.operation, &self.call.method),
            count_dropped_by: None,
            reply_dropped: is_dropped(self.operation),
            is_best_effort: false,
            session_lock: session_lock(text.value.get(span.start as usize..span.end as usize).unwrap_or("")),
            executor,
            transaction,
            is_test: self.is_test(),
            function: Some(program.qualified_name(self.operation.function)),
            package: self.package(),
            repetitions: Vec::new(),
            binds: self.binds(parsed),
        }
    }

    fn origin(&self) -> StatementOrigin {
        let migrates = |function: usize| {
            let implements = self.evaluator.program.functions[function].function.implements.as_deref();
            implements == Some("MigrationTrait")
        };
        if migrates(self.operation.function) || migrates(self.function) {
            StatementOrigin::Migration
        } else if self.call.file.is_some() {
            StatementOrigin::QueryFile
        } else {
            StatementOrigin::Embedded
        }
    }

    fn binds(&self, parsed: &ParsedText) -> Vec<BoundValue> {
        let unit = self.evaluator.program.functions[self.operation.function].unit;
        let mut binds: Vec<BoundValue> =
            parsed.binds(self.call).iter().map(|value| bound(self.evaluator, unit, value)).collect();
        for bind in &mut binds {
            bind.wall_clock = bind.wall_clock.map(|reading| self.place_of(reading));
        }
        binds
    }

    /// Where a person would look for a reading of the clock: in the function that works with the store, or
    /// that calls it. A helper such as `now_millis()` is as right for a log as it is wrong here.
    fn place_of(&self, reading: Location) -> Location {
        let program = self.evaluator.program;
        let holds = |at: &usize| {
            let entry = &program.functions[*at];
            let span = entry.function.span;
            program.units[entry.unit].file == reading.file
                && span.start <= reading.span.start
                && reading.span.end <= span.end
        };
        let reader = (0..program.functions.len()).find(holds);
        let acts = |at| self.evaluator.trace(at).is_some_and(|trace| !trace.operations.is_empty());
        if reader.is_none_or(acts) { reading } else { self.operation.location }
    }

    /// The SELECTs of the statement's table whose reply was found equal to something.
    fn compared_reads(&self, statement: &StatementKind) -> Vec<Location> {
        let StatementKind::Write(write) = statement else { return Vec::new() };
        let mut reads = Vec::new();
        for (condition, holds) in self.operation.guards.iter() {
            condition.known_equalities(*holds, &mut |left, right, equal| {
                for reply in left.flows.replies.iter().chain(&right.flows.replies) {
                    let read = &self.trace.operations[*reply];
                    if equal
                        && self.is_select_of(&read.action, &write.table.name)
                        && !reads.contains(&read.location)
                    {
                        reads.push(read.location);
                    }
                }
            });
        }
        reads
    }

    fn is_select_of(&self, action: &Action, table: &str) -> bool {
        let Action::Sql(call) = action else { return false };
        if let Form::Chain(chain) = &call.text.form {
            return builders::reads_table(self.evaluator.program, chain, table);
        }
        assembled(&call.text).is_some_and(|text| {
            let text = text.value.to_ascii_lowercase();
            text.trim_start().starts_with("select") && text.contains(&table.to_ascii_lowercase())
        })
    }

    fn dialect(&self, text: &Assembled, package: Option<usize>) -> Dialect {
        let ty = self.call.executor.ty.as_ref();
        let names = ty.iter().flat_map(|ty| ty.path.iter().chain(ty.args.iter().flat_map(|arg| &arg.path)));
        for name in names {
            let name = name.to_ascii_lowercase();
            if name.contains("mysql") {
                return Dialect::MySql;
            }
            if name.contains("sqlite") {
                return Dialect::Sqlite;
            }
            if name.starts_with("pg") || name.contains("postgres") {
                return Dialect::Postgres;
            }
        }
        let of_package =
            package.and_then(|package| self.packages.get(package)).and_then(|package| package.dialect);
        let of_file = || {
            let program = self.evaluator.program;
            imported_dialect(&program.unit_of(self.operation.function).facts.uses)
        };
        // `$1` is written for SQLite as well; the types that a file imports are not.
        let known = of_package
            .or_else(of_file)
            .or_else(|| sql::guess_dialect(&text.value))
            .unwrap_or(Dialect::Postgres);
        // A package for several databases has one statement for each.
        if known == Dialect::Postgres && sql::has_question_marks(&text.value) {
            let guessed = sql::guess_dialect(&text.value).filter(|dialect| *dialect != Dialect::Postgres);
            return guessed.unwrap_or(Dialect::Sqlite);
        }
        known
    }
}

fn executor(value: &Value, session: &str) -> Executor {
    let names =
        value.ty.iter().flat_map(|ty| std::iter::once(ty.name()).chain(ty.args.iter().map(|a| a.name())));
    if let Some(executor) = names.filter_map(executor_of_type).next() {
        return executor;
    }
    let name = session.to_ascii_lowercase();
    if matches!(name.as_str(), "tx" | "txn" | "trx" | "transaction") {
        Executor::Transaction
    } else if name.contains("pool") {
        Executor::Pool
    } else if name.contains("conn") {
        Executor::Connection
    } else {
        Executor::Unknown
    }
}

/// What a type's own name says; one of a wrapper's says nothing, so that its argument is asked.
fn executor_of_type(name: &str) -> Option<Executor> {
    let name = name.to_ascii_lowercase();
    if name.contains("transaction") {
        Some(Executor::Transaction)
    } else if name.ends_with("pool") || matches!(name.as_str(), "databaseconnection" | "dbconn") {
        // sea-orm's DatabaseConnection is a pool.
        Some(Executor::Pool)
    } else if name.contains("conn") || name.contains("client") || name == "object" {
        // `PoolConnection`, and deadpool's `Object`: one session, for as long as it is kept.
        Some(Executor::Connection)
    } else {
        None
    }
}

fn is_dropped(operation: &Operation) -> bool {
    let uses = operation.uses;
    !(uses.tested || uses.compared || uses.passed || uses.returned || uses.count_read)
}

/// Methods that fail when no row comes back.
const NEED_A_ROW: &[&str] =
    &["fetch_one", "query_one", "query_row", "get_result", "get_result_async", "query_scalar"];

/// Methods whose result holds no count.
const COUNTLESS: &[&str] = &[
    "exec_drop",
    "query_drop",
    "batch_execute",
    "execute_batch",
    "simple_query",
    "exec_batch",
    "execute_unprepared",
];

fn count_use(operation: &Operation, method: &str) -> CountUse {
    let uses = operation.uses;
    if NEED_A_ROW.contains(&method) {
        return CountUse::Checked;
    }
    if COUNTLESS.contains(&method) && !uses.count_read {
        return CountUse::Ignored;
    }
    if uses.tested || uses.passed || (uses.compared && !uses.returned) {
        CountUse::Checked
    } else if uses.returned {
        CountUse::Returned
    } else {
        CountUse::Ignored
    }
}
