//! Asks several servers the same at once. Each has its own limit, and whoever asked need not wait for all of them:
//! a request that is not waited for goes on by itself.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use redis::FromRedisValue;
use tokio::time::timeout;

use super::ballot::sides;
use super::scripts::Scripts;
use super::{NAME, Shared};
use crate::store::redis::server::Prepared;
use crate::store::{BoxFuture, StoreError};

/// What is asked of each server.
#[derive(Clone)]
pub(super) struct Question {
    pub(super) action: &'static str,
    pub(super) script: fn(&Scripts) -> &Prepared,
    pub(super) keys: Vec<String>,
    pub(super) arguments: Vec<String>,
    /// How long one server may take.
    pub(super) limit: Duration,
}

/// The answers, in the order in which they come.
pub(super) struct Round<T>(FuturesUnordered<BoxFuture<'static, (usize, Result<T, StoreError>)>>);

impl<T: FromRedisValue + Send + 'static> Round<T> {
    pub(super) fn begin(
        shared: &Arc<Shared>,
        servers: impl IntoIterator<Item = usize>,
        question: &Question,
    ) -> Self {
        let asked = servers.into_iter().map(|server| {
            // A task, so that it is sent and heard to its end whoever waits for it: a server that was left before
            // its answer came may have granted something.
            let task = tokio::spawn(Arc::clone(shared).ask(server, question.clone()));
            let answer: BoxFuture<'static, _> = Box::pin(async move {
                let answer = task.await.unwrap_or_else(|ended| {
                    let cause = ended.into();
                    Err(StoreError::Unreachable { store: NAME, action: "asking a server", cause })
                });
                (server, answer)
            });
            answer
        });
        Self(asked.collect())
    }

    /// The next answer, with the server that gave it.
    pub(super) async fn next(&mut self) -> Option<(usize, Result<T, StoreError>)> {
        self.0.next().await
    }
}

/// What a majority says to a question that is answered by yes (1) or no (0).
#[derive(Debug)]
pub(super) enum Majority {
    Yes,
    No,
    /// Neither: these servers gave no answer.
    Unknown(Vec<StoreError>),
}

/// Asks all servers, of which `already` say yes, until a majority agrees.
pub(super) async fn majority(mut round: Round<i64>, already: usize, servers: usize) -> Majority {
    let (enough, missing) = sides(servers);
    let (mut yes, mut no, mut errors) = (already, 0, Vec::new());
    while yes < enough && no <= missing {
        match round.next().await {
            Some((_, Ok(1))) => yes += 1,
            Some((_, Ok(_))) => no += 1,
            Some((_, Err(error))) => errors.push(error),
            None => return Majority::Unknown(errors),
        }
    }
    if yes >= enough { Majority::Yes } else { Majority::No }
}

impl Shared {
    /// Asks one server.
    async fn ask<T: FromRedisValue>(
        self: Arc<Self>,
        server: usize,
        question: Question,
    ) -> Result<T, StoreError> {
        let Question { action, script, keys, arguments, limit } = question;
        let gone = || StoreError::Refused {
            store: NAME,
            action,
            cause: "there is no such server".into(),
            advice: "this is a defect of leasehold",
        };
        let member = self.members.get(server).ok_or_else(gone)?;
        let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let asked = member.server.run(action, script(&self.scripts), &keys, &arguments);
        timeout(limit, asked).await.unwrap_or_else(|_| {
            member.server.reset();
            Err(StoreError::TimedOut { store: NAME, action, after: limit })
        })
    }
}
