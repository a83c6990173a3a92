//! The counters of a Redlock: made once for new servers, and given back to a server that has lost its memory. Until
//! it has one, a server grants nothing; so what it has forgotten cannot be granted twice.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use tracing::{info, warn};

use super::ballot::sides;
use super::round::{Question, Round};
use super::{LIMIT, NAME, Shared, unintelligible};
use crate::store::StoreError;
use crate::token::FencingToken;

const READ: &str = "reading a counter";

impl Shared {
    fn counter(&self) -> String {
        format!("{}:redlock:token", self.namespace)
    }

    fn question(&self, action: &'static str, keys: &[String], argument: String) -> Question {
        let (keys, arguments) = (keys.to_vec(), vec![argument]);
        Question { action, script: |scripts| &scripts.counter, keys, arguments, limit: LIMIT }
    }

    /// Makes the counters of servers that are new, or of which a majority has lost them.
    pub(super) async fn create_counters(
        self: &Arc<Self>,
        above: Option<FencingToken>,
    ) -> Result<(), StoreError> {
        const ACTION: &str = "creating the counters";
        let (mut without, mut last) = (Vec::new(), above.map_or(0, FencingToken::as_i64));
        let keys = [self.counter()];
        let servers = self.members.len();
        let mut counters =
            Round::<Option<i64>>::begin(self, 0..servers, &self.question(ACTION, &keys, String::new()));
        while let Some((server, answer)) = counters.next().await {
            match answer? {
                Some(counter) => last = last.max(counter),
                None => without.push(server),
            }
        }
        let (majority, _) = sides(servers);
        if servers - without.len() >= majority {
            return Ok(());
        }
        let create =
            Question { script: |scripts| &scripts.create, ..self.question(ACTION, &keys, last.to_string()) };
        let mut created = Round::<i64>::begin(self, without, &create);
        while let Some((_, answer)) = created.next().await {
            answer?;
        }
        Ok(())
    }

    /// Begins to give a counter back to a server that has none, unless that is under way.
    pub(super) fn readmit_soon(self: &Arc<Self>, server: usize) {
        let Some(member) = self.members.get(server) else { return };
        if member.readmitting.swap(true, Ordering::AcqRel) {
            return;
        }
        let shared = Arc::clone(self);
        tokio::spawn(async move {
            match shared.readmit(server).await {
                Ok(true) => info!(server, "a server that had lost its memory has a counter again"),
                Ok(false) => {}
                Err(error) => warn!(server, %error, "a server without a counter stays without"),
            }
            if let Some(member) = shared.members.get(server) {
                member.readmitting.store(false, Ordering::Release);
            }
        });
    }

    /// Whether the server has a counter by now.
    ///
    /// It waits until every lease that it may have forgotten has ended. Then it begins where a majority of the
    /// others is: each token that it helped to agree on is known to one of them at least.
    async fn readmit(self: &Arc<Self>, server: usize) -> Result<bool, StoreError> {
        let keys = [self.counter(), format!("{}:redlock:waits-since", self.namespace)];
        let wait = Question {
            script: |scripts| &scripts.wait,
            ..self.question("readmitting a server", &keys, self.longest_ttl.as_millis().to_string())
        };
        let left = first(Round::<i64>::begin(self, [server], &wait)).await?;
        if left != 0 {
            return Ok(left < 0);
        }
        let (majority, _) = sides(self.members.len());
        let others = (0..self.members.len()).filter(|other| *other != server);
        let (mut known, mut last) = (0, 0);
        let mut counters =
            Round::<Option<i64>>::begin(self, others, &self.question(READ, &keys[..1], String::new()));
        while known < majority {
            match counters.next().await {
                Some((_, Ok(Some(counter)))) => (known, last) = (known + 1, last.max(counter)),
                Some(_) => {}
                // Later, when more of the others can be asked.
                None => return Ok(false),
            }
        }
        let seed = Question {
            script: |scripts| &scripts.seed,
            ..self.question("readmitting a server", &keys, last.to_string())
        };
        Ok(first(Round::<i64>::begin(self, [server], &seed)).await? == 1)
    }
}

async fn first(mut round: Round<i64>) -> Result<i64, StoreError> {
    match round.next().await {
        Some((_, answer)) => answer,
        None => Err(unintelligible(READ, format!("{NAME} asked nobody"))),
    }
}
