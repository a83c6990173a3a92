use std::future::Future;

use sea_orm::prelude::*;
use sea_orm::{ActiveValue::Set, DatabaseConnection, IntoActiveModel};

use crate::itinerary;

#[derive(Debug, thiserror::Error)]
pub enum EditError {
    #[error(transparent)]
    Db(#[from] DbErr),
    #[error("no such itinerary")]
    Unknown,
    #[error("changed by somebody else since version {0}")]
    Conflict(i64),
}

#[derive(Clone)]
pub struct Itineraries {
    db: DatabaseConnection,
}

impl Itineraries {
    pub async fn load(&self, id: Uuid) -> Result<itinerary::Model, EditError> {
        itinerary::Entity::find_by_id(id)
            .one(&self.db)
            .await?
            .ok_or(EditError::Unknown)
    }

    /// Saves an edited itinerary over the version it was loaded with.
    async fn save(
        &self,
        loaded_version: i64,
        edited: itinerary::Model,
    ) -> Result<itinerary::Model, EditError> {
        let id = edited.id;
        let mut row = edited.into_active_model().reset_all();
        row.version = Set(loaded_version + 1);
        let result = itinerary::Entity::update_many()
            .set(row)
            .filter(itinerary::Column::Id.eq(id))
            .filter(itinerary::Column::Version.eq(loaded_version))
            .exec(&self.db)
            .await?;
        match result.rows_affected {
            1 => self.load(id).await,
            _ => Err(EditError::Conflict(loaded_version)),
        }
    }

    /// Loads, edits and saves, again if somebody was faster.
    pub async fn edit<F, Fut>(&self, id: Uuid, edit: F) -> Result<itinerary::Model, EditError>
    where
        F: Fn(itinerary::Model) -> Fut,
        Fut: Future<Output = itinerary::Model>,
    {
        for round in 0..5 {
            let loaded = self.load(id).await?;
            let version = loaded.version;
            let edited = edit(loaded).await;
            match self.save(version, edited).await {
                Err(EditError::Conflict(_)) => tracing::debug!(round, %id, "edited again"),
                other => return other,
            }
        }
        Err(EditError::Conflict(0))
    }
}
