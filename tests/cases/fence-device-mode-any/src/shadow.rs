use sea_query::{any, Expr, Iden, PostgresQueryBuilder, Query};
use tokio_postgres::Client;

#[derive(Iden)]
enum Shadows {
    Table,
    DeviceId,
    Desired,
    Mode,
    FencingToken,
}

/// The desired state of one device.
#[derive(Clone, Debug)]
pub struct Desired {
    pub device: i64,
    pub state: String,
}

/// What the lease service hands out with a lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Fence(pub i64);

pub struct ShadowStore {
    client: Client,
}

impl ShadowStore {
    pub fn new(client: Client) -> Self {
        ShadowStore { client }
    }

    pub async fn load(&self, device: i64) -> anyhow::Result<Option<Desired>> {
        let (sql, _) = Query::select()
            .column(Shadows::Desired)
            .from(Shadows::Table)
            .and_where(Expr::cust("device_id = $1"))
            .build(PostgresQueryBuilder);
        let row = self.client.query_opt(sql.as_str(), &[&device]).await?;
        Ok(row.map(|row| Desired {
            device,
            state: row.get(0),
        }))
    }

    /// Writes the desired state on behalf of the shard's lease holder.
    pub async fn store(&self, desired: &Desired, fence: Fence) -> anyhow::Result<()> {
        let sql = Query::update()
            .table(Shadows::Table)
            .values([
                (Shadows::Desired, desired.state.as_str().into()),
                (Shadows::FencingToken, fence.0.into()),
            ])
            .and_where(Expr::col(Shadows::DeviceId).eq(desired.device))
            .cond_where(any![
                Expr::col(Shadows::FencingToken).lt(fence.0),
                Expr::col(Shadows::Mode).eq("manual"),
            ])
            .to_owned()
            .build(PostgresQueryBuilder);
        let (text, values) = sql;
        let params = into_params(values);
        let refs: Vec<_> = params.iter().map(|p| p.as_ref()).collect();
        let n = self.client.execute(text.as_str(), &refs).await?;
        anyhow::ensure!(n == 1, "device {} is in newer hands", desired.device);
        Ok(())
    }
}

type Param = Box<dyn tokio_postgres::types::ToSql + Sync + Send>;

fn into_params(values: sea_query::Values) -> Vec<Param> {
    values
        .into_iter()
        .map(|value| match value {
            sea_query::Value::BigInt(n) => Box::new(n) as Param,
            sea_query::Value::String(s) => Box::new(s.map(|s| *s)) as Param,
            other => unreachable!("no parameter of this kind: {other:?}"),
        })
        .collect()
}
