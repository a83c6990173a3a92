//! Operators only; mounted behind the admin gateway.

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::routing::{delete, get};
use axum::{Json, Router};
use fred::prelude::*;
use serde::Serialize;

use crate::deploy::Deployments;
use crate::environment_key;

#[derive(Serialize)]
struct LockView {
    environment: String,
    deployment: Option<String>,
}

pub fn routes(deployments: Deployments) -> Router {
    Router::new()
        .route("/admin/locks/{environment}", get(show))
        .route("/admin/locks/{environment}", delete(force_unlock))
        .with_state(deployments)
}

async fn show(
    State(deployments): State<Deployments>,
    Path(environment): Path<String>,
) -> Result<Json<LockView>, StatusCode> {
    let deployment = deployments
        .redis
        .get(environment_key(&environment))
        .await
        .map_err(|_| StatusCode::BAD_GATEWAY)?;
    Ok(Json(LockView {
        environment,
        deployment,
    }))
}

/// Breaks the lock of a deployment that an operator knows to be dead.
async fn force_unlock(
    State(deployments): State<Deployments>,
    Path(environment): Path<String>,
) -> Result<StatusCode, StatusCode> {
    let removed: i64 = deployments
        .redis
        .del(environment_key(&environment))
        .await
        .map_err(|_| StatusCode::BAD_GATEWAY)?;
    tracing::warn!(%environment, removed, "lock broken by an operator");
    Ok(match removed {
        0 => StatusCode::NOT_FOUND,
        _ => StatusCode::NO_CONTENT,
    })
}
