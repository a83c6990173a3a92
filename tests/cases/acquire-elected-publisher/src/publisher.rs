use sea_orm::prelude::*;
use sea_orm::sea_query::Expr;
use sea_orm::{Condition, DatabaseConnection, QuerySelect};
use serde_json::json;
use uuid::Uuid;

use crate::leases;

const LEASE: &str = "price-publisher";

pub struct Publisher {
    db: DatabaseConnection,
    http: reqwest::Client,
    exchange: String,
    me: Uuid,
}

impl Publisher {
    pub fn new(db: DatabaseConnection, exchange: String) -> Self {
        Publisher {
            db,
            http: reqwest::Client::new(),
            exchange,
            me: Uuid::new_v4(),
        }
    }

    /// Takes the lease if it is free, or keeps it if it is ours.
    async fn campaign(&self) -> Result<(), DbErr> {
        let open = Condition::any()
            .add(Expr::cust("expires_at < now()"))
            .add(leases::Column::Holder.eq(self.me));
        leases::Entity::update_many()
            .col_expr(leases::Column::Holder, Expr::value(self.me))
            .col_expr(
                leases::Column::ExpiresAt,
                Expr::cust("now() + interval '20 seconds'"),
            )
            .filter(leases::Column::Name.eq(LEASE))
            .filter(open)
            .exec(&self.db)
            .await?;
        Ok(())
    }

    /// One tick of the publishing loop; only the elected instance publishes.
    pub async fn tick(&self, prices: &[(String, i64)]) -> anyhow::Result<()> {
        self.campaign().await?;
        for (symbol, cents) in prices {
            self.http
                .post(format!("{}/quotes/{symbol}", self.exchange))
                .json(&json!({ "cents": cents }))
                .send()
                .await?
                .error_for_status()?;
        }
        tracing::debug!(count = prices.len(), "published");
        Ok(())
    }

    /// For the status page.
    pub async fn holder(&self) -> Result<Option<Uuid>, DbErr> {
        let found: Option<Option<Uuid>> = leases::Entity::find_by_id(LEASE)
            .select_only()
            .column(leases::Column::Holder)
            .into_tuple()
            .one(&self.db)
            .await?;
        Ok(found.flatten())
    }
}
