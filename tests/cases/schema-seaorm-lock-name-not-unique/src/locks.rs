use sea_orm::{ConnectionTrait, DatabaseConnection, DbBackend, DbErr, Statement, Value};
use uuid::Uuid;

pub struct JobLock {
    name: String,
    owner: Uuid,
}

#[derive(Clone)]
pub struct JobLocks {
    db: DatabaseConnection,
}

impl JobLocks {
    pub fn new(db: DatabaseConnection) -> Self {
        JobLocks { db }
    }

    async fn run<V>(&self, sql: &str, values: V) -> Result<u64, DbErr>
    where
        V: IntoIterator<Item = Value>,
    {
        let statement = Statement::from_sql_and_values(DbBackend::Postgres, sql, values);
        Ok(self.db.execute(statement).await?.rows_affected())
    }

    /// Takes the lock if no row with its name is there.
    pub async fn take(&self, name: &str) -> Result<Option<JobLock>, DbErr> {
        self.run(
            "DELETE FROM job_locks WHERE name = $1 AND expires_at < now()",
            [name.into()],
        )
        .await?;
        let owner = Uuid::new_v4();
        let inserted = self
            .run(
                "INSERT INTO job_locks (name, owner, expires_at) \
                 VALUES ($1, $2, now() + interval '5 minutes') ON CONFLICT DO NOTHING",
                [name.into(), owner.into()],
            )
            .await?;
        Ok((inserted == 1).then(|| JobLock {
            name: name.to_owned(),
            owner,
        }))
    }

    pub async fn give_back(&self, lock: JobLock) -> Result<bool, DbErr> {
        let deleted = self
            .run(
                "DELETE FROM job_locks WHERE name = $1 AND owner = $2",
                [lock.name.into(), lock.owner.into()],
            )
            .await?;
        Ok(deleted == 1)
    }
}
