use sea_orm::sea_query::{Expr, LockBehavior, LockType};
use sea_orm::{
    ColumnTrait, DatabaseConnection, DbErr, EntityTrait, QueryFilter, QueryOrder, QuerySelect, TransactionTrait,
};
use uuid::Uuid;

use crate::parcel::{Column, Entity as Parcel, Model};

pub struct Tour {
    pub id: Uuid,
    pub parcels: Vec<Model>,
}

/// Loads the van: up to `room` parcels that no other van has.
pub async fn load(db: &DatabaseConnection, room: u64) -> Result<Tour, DbErr> {
    let tour = Uuid::new_v4();
    let txn = db.begin().await?;
    let parcels = Parcel::find()
        .filter(Column::State.eq("waiting"))
        .order_by_asc(Column::Id)
        .limit(room)
        .lock_with_behavior(LockType::Update, LockBehavior::SkipLocked)
        .all(&txn)
        .await?;
    Parcel::update_many()
        .col_expr(Column::State, Expr::value("loaded"))
        .col_expr(Column::Tour, Expr::value(tour))
        .filter(Column::Id.is_in(parcels.iter().map(|p| p.id)))
        .exec(&txn)
        .await?;
    txn.commit().await?;
    Ok(Tour { id: tour, parcels })
}

/// False when the parcel was not on this tour.
pub async fn delivered(db: &DatabaseConnection, tour: &Tour, parcel: i64) -> Result<bool, DbErr> {
    let r = Parcel::update_many()
        .col_expr(Column::State, Expr::value("delivered"))
        .filter(Column::Id.eq(parcel))
        .filter(Column::Tour.eq(tour.id))
        .filter(Column::State.eq("loaded"))
        .exec(db)
        .await?;
    Ok(r.rows_affected == 1)
}
