//! Forms of code with the lines that a fix makes of them; none where the right code is not certain.

pub(crate) struct Form {
    pub(crate) name: &'static str,
    pub(crate) path: &'static str,
    pub(crate) text: &'static str,
    /// The new lines of the file after `--fix`.
    pub(crate) wanted: &'static [&'static str],
    pub(crate) config: &'static str,
}

pub(crate) const SCHEMA: &str = "CREATE TABLE accounts (
    id BIGINT PRIMARY KEY,
    balance BIGINT NOT NULL,
    fencing_token BIGINT NOT NULL DEFAULT 0
);
";

pub(crate) const FORMS: &[Form] = &[
    Form {
        name: "delex, where the servers know it",
        path: "src/lib.rs",
        text: r#"use redis::AsyncCommands;
pub async fn take(conn: &mut redis::aio::ConnectionManager, me: &str) -> redis::RedisResult<bool> {
    redis::cmd("SET").arg("shop-lock").arg(me).arg("NX").arg("PX").arg(900).query_async(conn).await
}
pub async fn free(conn: &mut redis::aio::ConnectionManager, me: &str) -> redis::RedisResult<i64> {
    let holder: Option<String> = conn.get("shop-lock").await?;
    if holder.as_deref() != Some(me) {
        return Ok(0);
    }
    conn.del("shop-lock").await
}
"#,
        wanted: &[r#"    redis::cmd("DELEX").arg("shop-lock").arg("IFEQ").arg(&me).query_async(conn).await"#],
        config: "compare-and-delete = \"delex\"\n",
    },
    Form {
        name: "an owner that is bound behind the read may be what was read",
        path: "src/lib.rs",
        text: r#"use redis::AsyncCommands;
pub async fn take(conn: &mut redis::aio::ConnectionManager, me: &str) -> redis::RedisResult<bool> {
    redis::cmd("SET").arg("shop-lock").arg(me).arg("NX").arg("PX").arg(900).query_async(conn).await
}
pub async fn free(conn: &mut redis::aio::ConnectionManager) -> redis::RedisResult<i64> {
    let holder: Option<String> = conn.get("shop-lock").await?;
    let me = std::env::var("WORKER").ok();
    if holder == me {
        return conn.del("shop-lock").await;
    }
    Ok(0)
}
"#,
        wanted: &[],
        config: "",
    },
    Form {
        name: "a key that is deleted through a typed call keeps it",
        path: "src/lib.rs",
        text: r#"use redis::AsyncCommands;
pub async fn take(conn: &mut redis::aio::ConnectionManager, me: &str) -> redis::RedisResult<bool> {
    redis::cmd("SET").arg("shop-lock").arg(me).arg("NX").arg("PX").arg(900).query_async(conn).await
}
pub async fn free(conn: &mut redis::aio::ConnectionManager, me: &str) -> redis::RedisResult<bool> {
    let holder: Option<String> = conn.get("shop-lock").await?;
    Ok(holder.as_deref() == Some(me) && conn.del::<_, i64>("shop-lock").await? == 1)
}
"#,
        wanted: &[],
        config: "",
    },
    Form {
        name: "an acquire of words, whose reply is a bool",
        path: "src/lib.rs",
        text: r#"const TTL_MS: u64 = 9_000;
pub fn take(con: &mut redis::Connection, bay: u8, me: &str) -> redis::RedisResult<bool> {
    let taken: bool = redis::cmd("SETNX").arg(format!("bay-lock:{bay}")).arg(me).query(con)?;
    if taken {
        let _: () = redis::cmd("PEXPIRE").arg(format!("bay-lock:{bay}")).arg(TTL_MS).query(con)?;
    }
    Ok(taken)
}
"#,
        wanted: &[
            r#"    let taken: bool = redis::cmd("SET").arg(format!("bay-lock:{bay}")).arg(me).arg("NX").arg("PX").arg(TTL_MS).query(con)?;"#,
        ],
        config: "",
    },
    Form {
        name: "an acquire whose number is compared stays: SET answers with a word",
        path: "src/lib.rs",
        text: r#"pub fn take(con: &mut redis::Connection, bay: u8, me: &str) -> redis::RedisResult<bool> {
    let taken: i64 = redis::cmd("SETNX").arg(format!("bay-lock:{bay}")).arg(me).query(con)?;
    if taken == 1 {
        let _: () = redis::cmd("EXPIRE").arg(format!("bay-lock:{bay}")).arg(9).query(con)?;
    }
    Ok(taken == 1)
}
"#,
        wanted: &[],
        config: "",
    },
    Form {
        name: "a lifetime that is known behind the acquire only",
        path: "src/lib.rs",
        text: r#"pub fn take(con: &mut redis::Connection, bay: u8, me: &str) -> redis::RedisResult<bool> {
    let taken: bool = redis::cmd("SETNX").arg(format!("bay-lock:{bay}")).arg(me).query(con)?;
    if taken {
        let secs = seconds_for(bay);
        let _: () = redis::cmd("EXPIRE").arg(format!("bay-lock:{bay}")).arg(secs).query(con)?;
    }
    Ok(taken)
}
"#,
        wanted: &[],
        config: "",
    },
    Form {
        name: "a SET without an expiry, whatever reads its reply",
        path: "src/lib.rs",
        text: r#"pub fn take(con: &mut redis::Connection, me: &str, secs: i64) -> redis::RedisResult<bool> {
    let won: Option<String> = redis::cmd("SET").arg("ship-lock").arg(me).arg("NX").query(con)?;
    if won.is_none() {
        return Ok(false);
    }
    redis::cmd("EXPIRE").arg("ship-lock").arg(secs).query::<()>(con)?;
    let _: bool = redis::cmd("EXPIRE").arg("ship-lock").arg(secs).query(con)?;
    Ok(true)
}
"#,
        wanted: &[],
        config: "",
    },
    Form {
        name: "seconds of half a second",
        path: "src/lib.rs",
        text: r#"use std::time::Duration;
const TTL: Duration = Duration::from_millis(500);
pub fn take(con: &mut redis::Connection, me: &str) -> redis::RedisResult<bool> {
    redis::cmd("SET").arg("ship-lock").arg(me).arg("NX").arg("EX").arg(TTL.as_secs()).query(con)
}
pub fn free(con: &mut redis::Connection, me: &str) -> redis::RedisResult<bool> {
    redis::cmd("DELEX").arg("ship-lock").arg("IFEQ").arg(me).query(con)
}
"#,
        wanted: &[
            r#"    redis::cmd("SET").arg("ship-lock").arg(me).arg("NX").arg("PX").arg(TTL.as_millis() as u64).query(con)"#,
        ],
        config: "",
    },
    Form {
        name: "a token on the right, in a raw string over two lines, with an OR",
        path: "src/lib.rs",
        text: r##"pub async fn save(pool: &sqlx::PgPool, id: i64, sum: i64, token: i64) -> Result<u64, sqlx::Error> {
    let done = sqlx::query(
        r#"UPDATE accounts SET balance = $1, fencing_token = $2
           WHERE id = $3 OR id = -1 -- both books
        "#,
    )
    .bind(sum).bind(token).bind(id).execute(pool).await?;
    if done.rows_affected() == 0 { return Err(sqlx::Error::RowNotFound); }
    let done = sqlx::query("UPDATE accounts SET balance = balance + $1, fencing_token = $2 WHERE id = $3 AND $2 >= fencing_token")
    .bind(sum).bind(token).bind(id).execute(pool).await?;
    if done.rows_affected() == 0 { return Err(sqlx::Error::RowNotFound); }
    Ok(done.rows_affected())
}
"##,
        wanted: &[
            "           WHERE (id = $3 OR id = -1) AND fencing_token < $2 -- both books",
            r#"    let done = sqlx::query("UPDATE accounts SET balance = balance + $1, fencing_token = $2 WHERE id = $3 AND $2 > fencing_token")"#,
        ],
        config: "",
    },
    Form {
        name: "an upsert that does not store the token either",
        path: "src/lib.rs",
        text: r#"pub async fn save(pool: &sqlx::PgPool, id: i64, sum: i64, token: i64) -> Result<u64, sqlx::Error> {
    let done = sqlx::query("INSERT INTO accounts (id, balance, fencing_token) VALUES ($1, $2, $3) ON CONFLICT (id) DO UPDATE SET balance = EXCLUDED.balance RETURNING id")
        .bind(id).bind(sum).bind(token).execute(pool).await?;
    if done.rows_affected() == 0 { return Err(sqlx::Error::RowNotFound); }
    Ok(done.rows_affected())
}
"#,
        wanted: &[
            r#"    let done = sqlx::query("INSERT INTO accounts (id, balance, fencing_token) VALUES ($1, $2, $3) ON CONFLICT (id) DO UPDATE SET balance = EXCLUDED.balance, fencing_token = EXCLUDED.fencing_token WHERE accounts.fencing_token < EXCLUDED.fencing_token RETURNING id")"#,
        ],
        config: "",
    },
    Form {
        name: "a token that has a question mark cannot be named twice",
        path: "src/lib.rs",
        text: r#"pub async fn save(pool: &sqlx::SqlitePool, id: i64, sum: i64, token: i64) -> Result<u64, sqlx::Error> {
    let done = sqlx::query("UPDATE accounts SET balance = ?, fencing_token = ? WHERE id = ?")
        .bind(sum).bind(token).bind(id).execute(pool).await?;
    if done.rows_affected() == 0 { return Err(sqlx::Error::RowNotFound); }
    Ok(done.rows_affected())
}
"#,
        wanted: &[],
        config: "",
    },
];
