use diesel::pg::PgConnection;
use diesel::prelude::*;

use crate::schema::pages::dsl::{body, id, pages, revision, title};

#[derive(Debug, thiserror::Error)]
pub enum WikiError {
    #[error(transparent)]
    Db(#[from] diesel::result::Error),
    #[error("page {0} was edited meanwhile")]
    Conflict(i64),
}

fn one(page: i64, n: usize) -> Result<(), WikiError> {
    if n == 1 {
        Ok(())
    } else {
        Err(WikiError::Conflict(page))
    }
}

pub fn edit(db: &mut PgConnection, page: i64, read: i64, text: &str) -> Result<(), WikiError> {
    let n = diesel::update(pages.filter(id.eq(page)).filter(revision.eq(read)))
        .set((body.eq(text), revision.eq(revision + 1)))
        .execute(db)?;
    one(page, n)
}

pub fn rename(db: &mut PgConnection, page: i64, read: i64, new_title: &str) -> Result<(), WikiError> {
    let n = diesel::update(pages)
        .filter(id.eq(page).and(revision.eq(read)))
        .set(title.eq(new_title))
        .execute(db)?;
    one(page, n)
}
