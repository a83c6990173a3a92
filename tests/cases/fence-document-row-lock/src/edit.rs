use sea_orm::prelude::*;
use sea_orm::{
    ActiveValue::Set, DatabaseConnection, DatabaseTransaction, IntoActiveModel, QuerySelect,
    TransactionTrait,
};

use crate::document;

#[derive(Debug, thiserror::Error)]
pub enum DocumentError {
    #[error(transparent)]
    Db(#[from] DbErr),
    #[error("no document {0}")]
    Unknown(i64),
    #[error("the document is at version {actual}, not {expected}")]
    Outdated { expected: i64, actual: i64 },
    #[error("signed documents are not edited")]
    Signed,
}

pub struct Documents {
    db: DatabaseConnection,
}

impl Documents {
    pub fn new(db: DatabaseConnection) -> Self {
        Documents { db }
    }

    /// The document as it is now; nobody changes it before `tx` ends.
    async fn locked(
        tx: &DatabaseTransaction,
        id: i64,
        expected: i64,
    ) -> Result<document::Model, DocumentError> {
        let found = document::Entity::find_by_id(id)
            .lock_exclusive()
            .one(tx)
            .await?
            .ok_or(DocumentError::Unknown(id))?;
        if found.version != expected {
            return Err(DocumentError::Outdated {
                expected,
                actual: found.version,
            });
        }
        if found.signed_by.is_some() {
            return Err(DocumentError::Signed);
        }
        Ok(found)
    }

    pub async fn replace_body(
        &self,
        id: i64,
        expected: i64,
        body: String,
    ) -> Result<i64, DocumentError> {
        let tx = self.db.begin().await?;
        let mut row = match Self::locked(&tx, id, expected).await {
            Ok(found) => found.into_active_model(),
            Err(refused) => {
                tx.rollback().await?;
                return Err(refused);
            }
        };
        row.body = Set(body);
        row.version = Set(expected + 1);
        row.update(&tx).await?;
        tx.commit().await?;
        Ok(expected + 1)
    }

    pub async fn sign(&self, id: i64, expected: i64, by: &str) -> Result<(), DocumentError> {
        let tx = self.db.begin().await?;
        let mut row = match Self::locked(&tx, id, expected).await {
            Ok(found) => found.into_active_model(),
            Err(refused) => {
                tx.rollback().await?;
                return Err(refused);
            }
        };
        row.signed_by = Set(Some(by.to_owned()));
        row.version = Set(expected + 1);
        row.update(&tx).await?;
        tx.commit().await?;
        Ok(())
    }
}
