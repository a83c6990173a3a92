use mysql_async::prelude::Queryable;
use mysql_async::{params, Pool};

use crate::sql::{FREE_SEATS, SELL};

#[derive(Debug, thiserror::Error)]
pub enum BoxOfficeError {
    #[error(transparent)]
    Db(#[from] mysql_async::Error),
    #[error("seat {0} was sold a moment ago")]
    Sold(u64),
}

pub struct BoxOffice {
    pool: Pool,
}

impl BoxOffice {
    pub async fn plan(&self, show: u64) -> Result<Vec<(u64, String)>, BoxOfficeError> {
        let mut db = self.pool.get_conn().await?;
        Ok(db.exec(FREE_SEATS, params! { show }).await?)
    }

    pub async fn sell(&self, seat: u64, buyer: u64) -> Result<(), BoxOfficeError> {
        let mut db = self.pool.get_conn().await?;
        db.exec_drop(SELL, params! { seat, buyer }).await?;
        if db.affected_rows() != 1 {
            return Err(BoxOfficeError::Sold(seat));
        }
        Ok(())
    }

    /// Sells any seat of the show.
    pub async fn sell_any(&self, show: u64, buyer: u64) -> Result<Option<String>, BoxOfficeError> {
        for (seat, label) in self.plan(show).await? {
            match self.sell(seat, buyer).await {
                Ok(()) => return Ok(Some(label)),
                Err(BoxOfficeError::Sold(_)) => continue,
                Err(e) => return Err(e),
            }
        }
        Ok(None)
    }
}
