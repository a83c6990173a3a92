use deadpool_postgres::{GenericClient, Pool};

/// Given by the lease service together with the right to control a building.
#[derive(Clone, Copy)]
pub struct FencingToken(pub i64);

const SET_TARGET: &str = "UPDATE thermostats \
    SET target_millidegrees = $2, fencing_token = $3 \
    WHERE id = $1 AND fencing_token < $3";

async fn set_target<C: GenericClient>(c: &C, id: i64, target: i32, token: FencingToken) -> anyhow::Result<()> {
    let rows = c.execute(SET_TARGET, &[&id, &target, &token.0]).await?;
    tracing::debug!(id, target, rows, "thermostat set");
    Ok(())
}

/// The night programme: everything to sixteen degrees.
pub async fn night(pool: &Pool, ids: &[i64], token: FencingToken) -> anyhow::Result<usize> {
    let c = pool.get().await?;
    for id in ids {
        set_target(&**c, *id, 16_000, token).await?;
    }
    Ok(ids.len())
}
