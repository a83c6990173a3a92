use mysql_async::Conn;

#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    #[error(transparent)]
    MySql(#[from] mysql_async::Error),
    #[error("refused: the row carries a newer token, or is gone")]
    Refused,
    #[error("{0} rows changed by a statement for one row")]
    TooMany(u64),
}

/// For statements that must change exactly one row.
pub(crate) fn exactly_one(conn: &Conn) -> Result<(), WriteError> {
    match conn.affected_rows() {
        1 => Ok(()),
        0 => Err(WriteError::Refused),
        n => Err(WriteError::TooMany(n)),
    }
}
