use sea_orm_migration::prelude::*;

#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        manager
            .create_table(
                Table::create()
                    .table(JobLocks::Table)
                    .if_not_exists()
                    .col(
                        ColumnDef::new(JobLocks::Id)
                            .big_integer()
                            .not_null()
                            .auto_increment()
                            .primary_key(),
                    )
                    .col(ColumnDef::new(JobLocks::Name).string().not_null())
                    .col(ColumnDef::new(JobLocks::Owner).uuid().not_null())
                    .col(
                        ColumnDef::new(JobLocks::ExpiresAt)
                            .timestamp_with_time_zone()
                            .not_null(),
                    )
                    .to_owned(),
            )
            .await?;
        manager
            .create_index(
                Index::create()
                    .name("idx_job_locks_name")
                    .table(JobLocks::Table)
                    .col(JobLocks::Name)
                    .to_owned(),
            )
            .await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        manager
            .drop_table(Table::drop().table(JobLocks::Table).to_owned())
            .await
    }
}

#[derive(DeriveIden)]
enum JobLocks {
    Table,
    Id,
    Name,
    Owner,
    ExpiresAt,
}
