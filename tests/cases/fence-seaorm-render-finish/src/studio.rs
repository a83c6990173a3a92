use sea_orm::sea_query::Expr;
use sea_orm::{ColumnTrait, DatabaseConnection, DbErr, EntityTrait, QueryFilter, QueryOrder};
use uuid::Uuid;

use crate::clip::{Column, Entity as Clip, Model};

/// Renders clips; any number of studios share the table.
pub struct Studio {
    db: DatabaseConnection,
    renderer: Uuid,
}

impl Studio {
    pub async fn next(&self) -> Result<Option<Model>, DbErr> {
        loop {
            let Some(clip) = Clip::find()
                .filter(Column::Status.eq("queued"))
                .order_by_asc(Column::Id)
                .one(&self.db)
                .await?
            else {
                return Ok(None);
            };
            let taken = Clip::update_many()
                .col_expr(Column::Status, Expr::value("rendering"))
                .col_expr(Column::Renderer, Expr::value(self.renderer))
                .col_expr(Column::HeartbeatAt, Expr::cust("now()"))
                .filter(Column::Id.eq(clip.id))
                .filter(Column::Status.eq("queued"))
                .exec(&self.db)
                .await?;
            if taken.rows_affected == 1 {
                return Ok(Some(clip));
            }
        }
    }

    pub async fn rendered(&self, clip: &Model, output: &str) -> Result<(), DbErr> {
        Clip::update_many()
            .col_expr(Column::Status, Expr::value("rendered"))
            .col_expr(Column::Output, Expr::value(output))
            .filter(Column::Id.eq(clip.id))
            .exec(&self.db)
            .await?;
        Ok(())
    }

    /// Clips whose renderer has been silent for ten minutes go back into the queue.
    pub async fn requeue_stalled(&self) -> Result<u64, DbErr> {
        let r = Clip::update_many()
            .col_expr(Column::Status, Expr::value("queued"))
            .col_expr(Column::Renderer, Expr::value(Option::<Uuid>::None))
            .filter(Column::Status.eq("rendering"))
            .filter(Expr::cust("heartbeat_at < now() - interval '10 minutes'"))
            .exec(&self.db)
            .await?;
        Ok(r.rows_affected)
    }
}
