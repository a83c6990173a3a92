use sea_orm::prelude::*;
use sea_orm::sea_query::Expr;
use sea_orm::DatabaseConnection;

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

pub struct Itineraries {
    db: DatabaseConnection,
}

impl Itineraries {
    pub fn new(db: DatabaseConnection) -> Self {
        Itineraries { db }
    }

    pub async fn load(&self, id: Uuid) -> Result<itinerary::Model, EditError> {
        itinerary::Entity::find_by_id(id)
            .one(&self.db)
            .await?
            .ok_or(EditError::Unknown)
    }

    /// Replaces the stops of an itinerary as it was loaded.
    pub async fn set_stops(&self, loaded: &itinerary::Model, stops: Json) -> Result<(), EditError> {
        let result = itinerary::Entity::update_many()
            .col_expr(itinerary::Column::Stops, Expr::value(stops))
            .filter(itinerary::Column::Id.eq(loaded.id))
            .filter(itinerary::Column::Version.eq(loaded.version))
            .exec(&self.db)
            .await?;
        if result.rows_affected == 0 {
            return Err(EditError::Conflict(loaded.version));
        }
        Ok(())
    }

    /// Gives the itinerary to another traveller.
    pub async fn hand_over(&self, loaded: &itinerary::Model, to: &str) -> Result<(), EditError> {
        let result = itinerary::Entity::update_many()
            .col_expr(itinerary::Column::Traveller, Expr::value(to))
            .col_expr(
                itinerary::Column::Version,
                Expr::col(itinerary::Column::Version).add(1),
            )
            .filter(itinerary::Column::Id.eq(loaded.id))
            .filter(itinerary::Column::Version.eq(loaded.version))
            .exec(&self.db)
            .await?;
        if result.rows_affected == 0 {
            return Err(EditError::Conflict(loaded.version));
        }
        Ok(())
    }
}
