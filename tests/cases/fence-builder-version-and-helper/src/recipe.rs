use sqlx::{PgPool, Postgres, QueryBuilder};

use crate::outcome::{Outcome, SaveError};

/// What the user changed.
#[derive(Default)]
pub struct Patch {
    pub title: Option<String>,
    pub steps: Option<String>,
    pub servings: Option<i32>,
}

pub async fn patch(pool: &PgPool, id: i64, version: i64, p: Patch) -> Result<(), SaveError> {
    let mut q: QueryBuilder<Postgres> = QueryBuilder::new("UPDATE recipes SET version = version + 1");
    if let Some(title) = p.title {
        q.push(", title = ").push_bind(title);
    }
    if let Some(steps) = p.steps {
        q.push(", steps = ").push_bind(steps);
    }
    if let Some(servings) = p.servings {
        q.push(", servings = ").push_bind(servings);
    }
    q.push(" WHERE id = ").push_bind(id);
    q.push(" AND version = ").push_bind(version);
    q.build().execute(pool).await?.exactly_one()
}
