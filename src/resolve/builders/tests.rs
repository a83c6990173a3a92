//! What a chain of calls stands for, held against the facts of the same statement in SQL.

use crate::facts::FileId;
use crate::facts::sql::{Dialect, StatementKind};
use crate::locks::SqlSite;
use crate::resolve::{IncludedTexts, Models, SourceUnit, resolve};

const DIESEL: &str = "
use diesel::prelude::*;
mod schema {
    diesel::table! { jobs (id) { id -> Int8, state -> Text, owner -> Nullable<Text>, token -> Int8, attempts -> Int4, until -> Timestamptz, #[sql_name = \"type\"] kind -> Text, } }
    diesel::table! { marks (name, part) { name -> Text, part -> Int4, token -> Int8, } }
}
use schema::{jobs, marks};
#[derive(AsChangeset)] #[diesel(table_name = jobs)]
struct Outcome { state: String, #[diesel(column_name = owner)] by: Option<String> }
#[derive(Identifiable)] #[diesel(table_name = jobs)]
struct Job { id: i64 }
";

const SEA: &str = "
use sea_orm::entity::prelude::*;
use sea_orm::sea_query::{Alias, Expr, OnConflict, PostgresQueryBuilder, Query};
use sea_orm::{ActiveValue::{Set, Unchanged}, Condition, LockBehavior, LockType, NotSet, Statement};
mod job {
    #[derive(DeriveEntityModel)] #[sea_orm(table_name = \"jobs\")]
    pub struct Model { #[sea_orm(primary_key)] pub id: i64, pub state: String, pub owner: String, pub token: i64,
        pub attempts: i32, pub until: i64, #[sea_orm(column_name = \"type\")] pub kind: String }
}
use job::{ActiveModel, Column, Entity as Job};
#[derive(Iden)]
enum Marks { Table, Name, #[iden = \"fencing_token\"] Token }
";

/// The statements of a function with this body.
fn sites(prelude: &str, body: &str) -> Vec<SqlSite> {
    let text = format!(
        "{prelude} async fn run(conn: &mut Conn, db: &Db, id: i64, token: i64, owner: &str, ids: Vec<i64>, row: ActiveModel, busy: bool) -> Res {{ {body} }}"
    );
    let facts = crate::rust::parse(&text).unwrap();
    let unit =
        SourceUnit { file: FileId(0), path: "src/lib.rs", package: None, facts: &facts, is_test: false };
    let texts = IncludedTexts::new(std::iter::empty());
    resolve(&[unit], &[], &[], &texts, &[], &Models::built_in(), &Default::default()).statements
}

/// A statement without its places, and without what a SELECT gives back.
fn plain(kind: &StatementKind) -> serde_json::Value {
    let mut value = serde_json::to_value(kind).unwrap();
    strip(&mut value);
    value
}

fn strip(value: &mut serde_json::Value) {
    match value {
        serde_json::Value::Object(fields) => {
            for place in ["span", "table_span", "clauses", "projection", "returning"] {
                fields.remove(place);
            }
            fields.values_mut().for_each(strip);
        }
        serde_json::Value::Array(items) => items.iter_mut().for_each(strip),
        _ => {}
    }
}

/// Holds the statement of a body against a text of SQL, and gives its site.
fn same(prelude: &str, body: &str, sql: &str) -> SqlSite {
    let mut found = sites(prelude, body);
    assert_eq!(found.len(), 1, "one statement in `{body}`");
    let site = found.remove(0);
    let expected = crate::sql::parse(sql, Dialect::Postgres).statements.remove(0);
    assert_eq!(plain(&site.statement.kind), plain(&expected.kind), "`{body}` is `{sql}`");
    site
}

/// As [`same`], for statements of which all is known.
fn whole(prelude: &str, body: &str, sql: &str) {
    let site = same(prelude, body, sql);
    assert!(site.complete && site.statement.parsed, "`{body}` is known");
}

#[test]
fn diesel_updates_deletes_and_selects() {
    for (body, sql) in [
        (
            "diesel::update(jobs::table).filter(jobs::id.eq(id)).filter(jobs::token.lt(token)).set((jobs::state.eq(\"done\"), jobs::token.eq(token))).execute(conn)?;",
            "UPDATE jobs SET state = 'done', token = $3 WHERE id = $1 AND token < $2",
        ),
        (
            "diesel::update(jobs::table.find(id)).set(jobs::attempts.eq(jobs::attempts + 1)).execute(conn)?;",
            "UPDATE jobs SET attempts = attempts + 1 WHERE id = $1",
        ),
        (
            "diesel::update(jobs::table.filter(jobs::id.eq_any(&ids))).set(jobs::owner.eq(None::<String>)).execute(conn)?;",
            "UPDATE jobs SET owner = $2 WHERE id IN ($1)",
        ),
        (
            "diesel::delete(jobs::table.filter(jobs::until.lt(diesel::dsl::now).or(jobs::owner.is_null()))).execute(conn)?;",
            "DELETE FROM jobs WHERE until < now() OR owner IS NULL",
        ),
        (
            "use schema::jobs::dsl::*; diesel::delete(jobs).filter(kind.ne(\"slow\").and(diesel::dsl::not(state.is_not_null()))).execute(conn)?;",
            "DELETE FROM jobs WHERE type <> 'slow' AND NOT (state IS NOT NULL)",
        ),
        (
            "jobs::table.filter(jobs::state.eq(\"free\")).order(jobs::id).limit(1).for_update().skip_locked().first::<Job>(conn).optional()?;",
            "SELECT * FROM jobs WHERE state = 'free' LIMIT 1 FOR UPDATE SKIP LOCKED",
        ),
        (
            "diesel::delete(marks::table.find((owner, id))).execute(conn)?;",
            "DELETE FROM marks WHERE name = $1 AND part = $2",
        ),
        (
            "let claim = jobs::table.filter(jobs::state.eq(\"free\")).select(jobs::id).limit(1).for_update().skip_locked(); diesel::update(jobs::table).filter(jobs::id.eq_any(claim)).set(jobs::owner.eq(owner)).get_result::<Job>(conn)?;",
            "UPDATE jobs SET owner = $1 WHERE id IN (SELECT id FROM jobs WHERE state = 'free' LIMIT 1 FOR UPDATE SKIP LOCKED)",
        ),
    ] {
        // NULL is written out where the text shows it.
        whole(DIESEL, body, &sql.replace("owner = $2 WHERE id IN ($1)", "owner = NULL WHERE id IN ($1)"));
    }
}

#[test]
fn diesel_inserts_and_structs() {
    for (body, sql) in [
        (
            "diesel::insert_into(marks::table).values((marks::name.eq(owner), marks::token.eq(token))).on_conflict(marks::name).do_update().set(marks::token.eq(diesel::upsert::excluded(marks::token))).filter(marks::token.lt(diesel::upsert::excluded(marks::token))).execute(conn)?;",
            "INSERT INTO marks (name, token) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET token = EXCLUDED.token WHERE token < EXCLUDED.token",
        ),
        (
            "diesel::insert_into(marks::table).values(marks::name.eq(owner)).on_conflict_do_nothing().execute(conn)?;",
            "INSERT INTO marks (name) VALUES ($1) ON CONFLICT DO NOTHING",
        ),
        (
            "let job = Job { id }; diesel::update(&job).set(Outcome { state: \"done\".to_owned(), by: None }).execute(conn)?;",
            "UPDATE jobs SET state = 'done', owner = NULL WHERE id = $1",
        ),
    ] {
        whole(DIESEL, body, sql);
    }
}

#[test]
fn sea_orm_updates_deletes_and_selects() {
    for (body, sql) in [
        (
            "Job::update_many().col_expr(Column::State, Expr::value(\"done\")).col_expr(Column::Token, Expr::value(token)).filter(Column::Id.eq(id)).filter(Column::Token.lt(token)).exec(db).await?;",
            "UPDATE jobs SET state = 'done', token = $1 WHERE id = $2 AND token < $3",
        ),
        (
            "let due = Condition::any().add(Column::Owner.is_null()).add(Expr::col(Column::Until).lt(Expr::current_timestamp())); job::Entity::update_many().col_expr(Column::Attempts, Expr::col(Column::Attempts).add(1)).filter(due).exec(db).await?;",
            "UPDATE jobs SET attempts = attempts + 1 WHERE owner IS NULL OR until < now()",
        ),
        (
            "Job::find().filter(Column::Kind.is_in([\"a\", \"b\"])).lock_with_behavior(LockType::Update, LockBehavior::SkipLocked).one(db).await?;",
            "SELECT * FROM jobs WHERE type IN ('a', 'b') LIMIT 1 FOR UPDATE SKIP LOCKED",
        ),
        (
            "Job::find_by_id(id).lock_exclusive().all(db).await?;",
            "SELECT * FROM jobs WHERE id = $1 FOR UPDATE",
        ),
        ("Job::delete_by_id(id).exec(db).await?;", "DELETE FROM jobs WHERE id = $1"),
        (
            "Job::delete_many().filter(Column::Owner.eq(owner)).exec(db).await?;",
            "DELETE FROM jobs WHERE owner = $1",
        ),
        (
            "Job::find().filter(Expr::cust(\"until < now()\")).all(db).await?;",
            "SELECT * FROM jobs WHERE until < now()",
        ),
    ] {
        whole(SEA, body, sql);
    }
}

#[test]
fn sea_orm_rows_are_written_by_their_key() {
    for (body, sql) in [
        (
            "ActiveModel { id: Unchanged(id), state: Set(\"done\".to_owned()), owner: NotSet, ..Default::default() }.update(db).await?;",
            "UPDATE jobs SET state = 'done' WHERE id = $1",
        ),
        (
            "let mut next = row; next.state = Set(\"done\".to_owned()); if busy { next.token = Set(token); } next.update(db).await?;",
            "UPDATE jobs SET state = 'done', token = $1 WHERE id = $2",
        ),
        (
            "job::Entity::insert(ActiveModel { id: Set(id), kind: Set(\"slow\".into()) }).on_conflict(OnConflict::column(Column::Id).update_columns([Column::Kind]).action_and_where(Column::Token.lt(token)).to_owned()).exec(db).await?;",
            "INSERT INTO jobs (id, type) VALUES ($1, 'slow') ON CONFLICT (id) DO UPDATE SET type = EXCLUDED.type WHERE token < $2",
        ),
    ] {
        whole(SEA, body, sql);
    }
}

#[test]
fn sea_query_statements_are_run_as_text() {
    for (body, sql) in [
        (
            "let mut query = Query::update(); query.table(Marks::Table).values([(Marks::Token, token.into())]); query.and_where(Expr::col(Marks::Name).eq(owner)); query.and_where(Expr::col(Marks::Token).lt(token)); let (sql, values) = query.build_sqlx(PostgresQueryBuilder); sqlx::query_with(&sql, values).execute(db).await?;",
            "UPDATE marks SET fencing_token = $1 WHERE name = $2 AND fencing_token < $3",
        ),
        (
            "let stmt = Query::delete().from_table(Alias::new(\"marks\")).and_where(Expr::col(Alias::new(\"name\")).eq(owner)).to_owned(); db.execute(db.get_database_backend().build(&stmt)).await?;",
            "DELETE FROM marks WHERE name = $1",
        ),
        (
            "let sql = Query::insert().into_table(Marks::Table).columns([Marks::Name, Marks::Token]).values_panic([owner.into(), token.into()]).on_conflict(OnConflict::column(Marks::Name).do_nothing().to_owned()).to_string(PostgresQueryBuilder); sqlx::query(&sql).execute(db).await?;",
            "INSERT INTO marks (name, fencing_token) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING",
        ),
    ] {
        whole(SEA, body, sql);
    }
}

#[test]
fn a_condition_of_one_branch_alone_is_not_known_to_hold() {
    let site = same(
        DIESEL,
        "let mut target = diesel::update(jobs::table).filter(jobs::id.eq(id)).into_boxed(); if busy { target = target.filter(jobs::token.lt(token)); } target.set(jobs::state.eq(\"done\")).execute(conn)?;",
        "UPDATE jobs SET state = 'done' WHERE id = $1",
    );
    assert!(!site.complete && site.statement.parsed);
    let applied = "Job::update_many().set(row).filter(Column::Id.eq(id)).apply_if(owner, |q, v| q.filter(Column::Owner.eq(v))).exec(db).await?;";
    let site = &sites(SEA, applied)[0];
    assert!(!site.complete && !site.statement.parsed, "neither its conditions nor its fields are known");
}

#[test]
fn parameters_are_the_values_of_the_calls() {
    let site =
        &sites(DIESEL, "diesel::update(jobs::table.find(id)).set(jobs::token.eq(token)).execute(conn)?;")[0];
    let names: Vec<_> = site.binds.iter().map(|bind| bind.name.as_deref()).collect();
    assert_eq!(names, [Some("id"), Some("token")]);
}

#[test]
fn raw_statements_of_sea_orm_are_texts() {
    whole(
        SEA,
        "db.execute(Statement::from_sql_and_values(db.get_database_backend(), \"UPDATE jobs SET state = 'done' WHERE id = $1\", [id.into()])).await?;",
        "UPDATE jobs SET state = 'done' WHERE id = $1",
    );
    whole(
        SEA,
        "Job::find().from_raw_sql(Statement::from_string(backend, \"SELECT * FROM jobs WHERE owner IS NULL\")).all(db).await?;",
        "SELECT * FROM jobs WHERE owner IS NULL",
    );
}
