use sqlx::PgPool;
use uuid::Uuid;

/// The term is the fencing token of all that the monarch writes.
#[derive(sqlx::FromRow)]
pub struct Reign {
    pub realm: String,
    pub term: i64,
}

pub async fn found(pool: &PgPool, realm: &str, me: Uuid) -> sqlx::Result<Option<Reign>> {
    sqlx::query_as(
        "INSERT INTO throne (realm, monarch, ends_at) VALUES ($1, $2, now() + interval '20 seconds') \
         ON CONFLICT (realm) DO NOTHING RETURNING realm, term",
    )
    .bind(realm)
    .bind(me)
    .fetch_optional(pool)
    .await
}

/// Takes the throne of a monarch whose time is over.
pub async fn succeed(pool: &PgPool, realm: &str, me: Uuid) -> sqlx::Result<Option<Reign>> {
    sqlx::query_as(
        "UPDATE throne SET monarch = $2, ends_at = now() + interval '20 seconds' \
         WHERE realm = $1 AND ends_at < now() RETURNING realm, term",
    )
    .bind(realm)
    .bind(me)
    .fetch_optional(pool)
    .await
}

pub async fn stay(pool: &PgPool, realm: &str, me: Uuid) -> sqlx::Result<bool> {
    let r = sqlx::query(
        "UPDATE throne SET ends_at = now() + interval '20 seconds' \
         WHERE realm = $1 AND monarch = $2 AND ends_at > now()",
    )
    .bind(realm)
    .bind(me)
    .execute(pool)
    .await?;
    Ok(r.rows_affected() == 1)
}

/// Rewrites a decree, unless a later monarch has done so.
pub async fn amend(pool: &PgPool, reign: &Reign, nr: i64, text: &str) -> sqlx::Result<bool> {
    let r = sqlx::query("UPDATE decrees SET text = $1, term = $2 WHERE nr = $3 AND realm = $4 AND term < $2")
        .bind(text)
        .bind(reign.term)
        .bind(nr)
        .bind(&reign.realm)
        .execute(pool)
        .await?;
    Ok(r.rows_affected() == 1)
}
