use sqlx::SqlitePool;

#[derive(sqlx::FromRow, Clone)]
pub struct Contact {
    pub id: i64,
    pub name: String,
    pub phone_e164: Option<String>,
    pub version: i64,
}

#[derive(Debug, thiserror::Error)]
pub enum ContactError {
    #[error(transparent)]
    Db(#[from] sqlx::Error),
    #[error("contact was changed on another device, now version {0}")]
    Conflict(i64),
}

pub async fn get(db: &SqlitePool, id: i64) -> Result<Contact, ContactError> {
    let c = sqlx::query_as!(Contact, "SELECT id, name, phone_e164, version FROM contacts WHERE id = ?", id)
        .fetch_one(db)
        .await?;
    Ok(c)
}

/// Stores the contact if nobody has changed it since; gives back the new version.
pub async fn save(db: &SqlitePool, c: &Contact) -> Result<i64, ContactError> {
    let new: Option<i64> = sqlx::query_scalar(
        "UPDATE contacts SET name = ?, phone_e164 = ?, version = version + 1 \
         WHERE id = ? AND version = ? RETURNING version",
    )
    .bind(&c.name)
    .bind(&c.phone_e164)
    .bind(c.id)
    .bind(c.version)
    .fetch_optional(db)
    .await?;
    match new {
        Some(v) => Ok(v),
        None => Err(ContactError::Conflict(get(db, c.id).await?.version)),
    }
}
