mod schema;

use diesel::mysql::MysqlConnection;
use diesel::prelude::*;

use schema::kilns;

#[derive(Debug, thiserror::Error)]
pub enum KilnError {
    #[error(transparent)]
    Db(#[from] diesel::result::Error),
    #[error("kiln {kiln} is fired under a later epoch than {epoch}")]
    Stale { kiln: u64, epoch: i64 },
}

#[derive(AsChangeset)]
#[diesel(table_name = kilns)]
pub struct Firing {
    pub degrees: i32,
    pub minutes: i32,
    pub epoch: i64,
}

impl Firing {
    pub fn store(&self, db: &mut MysqlConnection, kiln: u64) -> Result<(), KilnError> {
        let older = kilns::table
            .filter(kilns::id.eq(kiln))
            .filter(kilns::epoch.lt(self.epoch));
        match diesel::update(older).set(self).execute(db)? {
            0 => Err(KilnError::Stale {
                kiln,
                epoch: self.epoch,
            }),
            _ => Ok(()),
        }
    }
}

pub fn degrees(db: &mut MysqlConnection, kiln: u64) -> QueryResult<Option<i32>> {
    kilns::table.find(kiln).select(kilns::degrees).first(db).optional()
}
