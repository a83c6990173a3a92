use sea_orm::sea_query::Expr;
use sea_orm::{ColumnTrait, DatabaseConnection, DbErr, EntityTrait, ExprTrait, QueryFilter};

use crate::account::{self, Entity as Account};

async fn store(db: &DatabaseConnection, read: &account::Model, balance: i64) -> Result<(), DbErr> {
    Account::update_many()
        .col_expr(account::Column::Balance, Expr::value(balance))
        .col_expr(account::Column::Version, Expr::col(account::Column::Version).add(1))
        .filter(account::Column::Id.eq(read.id))
        .filter(account::Column::Version.eq(read.version))
        .exec(db)
        .await?;
    Ok(())
}

/// Adds a year's interest, in whole cents.
pub async fn add_interest(db: &DatabaseConnection, id: i64, permille: i64) -> Result<i64, DbErr> {
    let Some(read) = Account::find_by_id(id).one(db).await? else {
        return Err(DbErr::RecordNotFound(format!("account {id}")));
    };
    let balance = read.balance + read.balance * permille / 1000;
    store(db, &read, balance).await?;
    Ok(balance)
}
