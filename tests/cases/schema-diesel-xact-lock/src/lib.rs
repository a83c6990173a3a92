mod schema;

use diesel::pg::PgConnection;
use diesel::prelude::*;
use diesel::r2d2::{ConnectionManager, Pool};
use diesel::sql_types::BigInt;

use schema::invoice_numbers as numbers;

type Db = Pool<ConnectionManager<PgConnection>>;

#[derive(Debug, thiserror::Error)]
pub enum NumberError {
    #[error(transparent)]
    Pool(#[from] diesel::r2d2::PoolError),
    #[error(transparent)]
    Db(#[from] diesel::result::Error),
}

fn lock_client(conn: &mut PgConnection, client: i64) -> QueryResult<()> {
    diesel::sql_query("SELECT pg_advisory_xact_lock($1)")
        .bind::<BigInt, _>(client)
        .execute(conn)?;
    Ok(())
}

/// The next invoice number of a client: without gaps, as the law wants it.
pub fn next_number(db: &Db, client: i64) -> Result<i64, NumberError> {
    let mut conn = db.get()?;
    let number = conn.transaction(|c| {
        lock_client(c, client)?;
        let last: Option<i64> = numbers::table
            .filter(numbers::client.eq(client))
            .select(diesel::dsl::max(numbers::number))
            .first(c)?;
        let number = last.unwrap_or(0) + 1;
        diesel::insert_into(numbers::table)
            .values((numbers::client.eq(client), numbers::number.eq(number)))
            .execute(c)?;
        QueryResult::Ok(number)
    })?;
    Ok(number)
}
