use diesel::pg::PgConnection;
use diesel::prelude::*;

use crate::schema::users;

/// What stands in an access token.
pub struct Claims {
    pub user: i64,
    pub generation: i64,
}

pub fn log_in(db: &mut PgConnection, mail: &str, password_hash: &str) -> QueryResult<Option<Claims>> {
    let found: Option<(i64, i64)> = users::table
        .filter(users::mail.eq(mail))
        .filter(users::password_hash.eq(password_hash))
        .select((users::id, users::token_generation))
        .first(db)
        .optional()?;
    Ok(found.map(|(user, generation)| Claims { user, generation }))
}

pub fn is_valid(db: &mut PgConnection, c: &Claims) -> QueryResult<bool> {
    let current: Option<i64> = users::table
        .find(c.user)
        .select(users::token_generation)
        .first(db)
        .optional()?;
    Ok(current == Some(c.generation))
}

pub fn change_mail(db: &mut PgConnection, user: i64, mail: &str) -> QueryResult<()> {
    diesel::update(users::table.find(user))
        .set(users::mail.eq(mail))
        .execute(db)?;
    Ok(())
}

/// A new password ends all sessions.
pub fn change_password(db: &mut PgConnection, user: i64, hash: &str) -> QueryResult<()> {
    diesel::update(users::table.find(user))
        .set((
            users::password_hash.eq(hash),
            users::token_generation.eq(users::token_generation + 1),
        ))
        .execute(db)?;
    Ok(())
}

pub fn log_out_everywhere(db: &mut PgConnection, user: i64) -> QueryResult<()> {
    diesel::update(users::table.find(user))
        .set(users::token_generation.eq(users::token_generation + 1))
        .execute(db)?;
    Ok(())
}
