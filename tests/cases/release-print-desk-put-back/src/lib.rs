use tokio_postgres::{Client, Error as PgError};
use uuid::Uuid;

#[derive(Debug, thiserror::Error)]
pub enum ShopError {
    #[error(transparent)]
    Pg(#[from] PgError),
    #[error("order {0} is on another desk by now")]
    Moved(i64),
}

pub struct OnDesk {
    pub order: i64,
    pub pages: i32,
    desk: Uuid,
}

/// Takes the oldest order that lies on no desk, or lies there for more than five minutes.
pub async fn pick_up(db: &Client) -> Result<Option<OnDesk>, ShopError> {
    let desk = Uuid::new_v4();
    let row = db
        .query_opt(
            "UPDATE print_orders SET desk = $1, desk_since = now()
             WHERE id = (
                 SELECT id FROM print_orders
                 WHERE printed_at IS NULL
                   AND (desk IS NULL OR desk_since < now() - interval '5 minutes')
                 ORDER BY id LIMIT 1
                 FOR UPDATE SKIP LOCKED)
             RETURNING id, pages",
            &[&desk],
        )
        .await?;
    Ok(row.map(|r| OnDesk {
        order: r.get(0),
        pages: r.get(1),
        desk,
    }))
}

pub async fn printed(db: &Client, it: &OnDesk) -> Result<(), ShopError> {
    let n = db
        .execute(
            "UPDATE print_orders SET printed_at = now(), desk = NULL, desk_since = NULL
             WHERE id = $1 AND desk = $2",
            &[&it.order, &it.desk],
        )
        .await?;
    if n == 1 {
        Ok(())
    } else {
        Err(ShopError::Moved(it.order))
    }
}

/// The printer jammed: somebody else may have the order.
pub async fn put_back(db: &Client, it: OnDesk) -> Result<(), ShopError> {
    db.execute(
        "UPDATE print_orders SET desk = NULL, desk_since = NULL WHERE id = $1",
        &[&it.order],
    )
    .await?;
    Ok(())
}
