//! Leases that a majority of independent Redis servers agrees on. What each server does is one script; what the
//! majority says is counted here.

mod ballot;
mod counters;
mod round;
mod scripts;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use redis::{Client, IntoConnectionInfo};
use tokio::time::{Instant, sleep, timeout};
use tracing::debug;

use self::ballot::{Ballot, Verdict, sides};
use self::round::{Majority, Question, Round, majority};
use self::scripts::{Scripts, Vote};
use super::redis::hints::Hints;
use super::redis::server::Server;
use super::{
    Acquisition, BoxFuture, Capabilities, Claim, Grant, LeaseStore, Renewal, StoreError, Surrender,
    TokenDurability, Watch,
};
use crate::key::LeaseKey;
use crate::token::{FencingToken, OwnerValue};

const NAME: &str = "redlock";

/// How long one server may take for what is not about a claim.
const LIMIT: Duration = Duration::from_secs(1);

/// Below this, a busy machine misses the limit of a server.
const LEAST_LIMIT: Duration = Duration::from_millis(50);

const LEAST_TTL: Duration = Duration::from_millis(100);

/// The longest TTL, unless it is set.
pub const LONGEST_TTL: Duration = Duration::from_secs(60);

/// Leases that a majority of independent Redis or Valkey servers agrees on (Redlock), which goes on while a minority
/// is away, slow or empty. Clones share one connection to each server for requests, and once somebody waits, one
/// for hints.
///
/// # What it promises
///
/// Each server judges expiry by its own wall clock. That a key has one holder at a time holds while these clocks run
/// about alike and none jumps; nothing makes Redlock safe against that, or against a holder that is paused. That is
/// what fencing is for.
///
/// Redlock as it is published has no fencing tokens, and counters of several servers are not comparable. Here a grant's
/// token is the highest number among those that the servers of its majority gave, and it counts only when a majority
/// has raised its counters to it *while the lease was still its owner's there*. Any two majorities share a server, on
/// which one of two grants ended before the other began; so the later one was given a higher number there. This holds
/// whatever clocks do, as long as servers keep their counters or lose them altogether.
///
/// # Servers that forget
///
/// A server without a counter (restarted without persistence, flushed, evicted) grants nothing. It gets a counter
/// again, from a majority of the others, when it has waited for the longest TTL that this store allows; so neither a
/// lease nor a token that it has forgotten is granted again. While a majority is without counters, nothing is granted,
/// until [`create_counters`](RedlockStore::create_counters) is told where to begin.
///
/// A server that comes back with an *old* counter cannot be told from one that was idle. So run the servers either
/// without any persistence or with `appendfsync always`, and without failover to replicas; snapshots and
/// `appendfsync everysec` can bring tokens back.
#[derive(Clone)]
pub struct RedlockStore(Arc<Shared>);

struct Shared {
    members: Vec<Member>,
    namespace: String,
    longest_ttl: Duration,
    scripts: Scripts,
}

/// One of the servers.
struct Member {
    server: Server,
    hints: Hints,
    /// It has lost its counter, and is being given one.
    readmitting: AtomicBool,
}

impl RedlockStore {
    /// A store on these servers, of which there must be three at least, with its keys under the namespace `leasehold`
    /// and TTLs up to [`LONGEST_TTL`]. An odd number is best: a fourth server adds nothing that may fail. Connects
    /// when it is first used.
    ///
    /// # Errors
    /// [`StoreError::Refused`] when an address cannot be understood or stands twice, or when there are too few.
    pub fn new(addresses: impl IntoIterator<Item = impl IntoConnectionInfo>) -> Result<Self, StoreError> {
        Self::in_namespace(addresses, "leasehold", LONGEST_TTL)
    }

    /// As [`new`](RedlockStore::new), with the keys under another namespace and another longest TTL. All who use the
    /// namespace must name the same servers and the same longest TTL.
    ///
    /// # Errors
    /// As [`new`](RedlockStore::new).
    pub fn in_namespace(
        addresses: impl IntoIterator<Item = impl IntoConnectionInfo>,
        namespace: &str,
        longest_ttl: Duration,
    ) -> Result<Self, StoreError> {
        const ACTION: &str = "its addresses";
        let refused = |cause, advice| StoreError::Refused { store: NAME, action: ACTION, cause, advice };
        let mut members: Vec<Member> = Vec::new();
        for address in addresses {
            let client = Client::open(address).map_err(|error| {
                refused(error.into(), "write each as redis://user:password@host:port/database")
            })?;
            let address = client.get_connection_info().addr();
            let same = |member: &Member| {
                member.server.clients().iter().any(|other| other.get_connection_info().addr() == address)
            };
            if members.iter().any(same) {
                return Err(refused(
                    "a server is named twice".into(),
                    "its vote would count twice; name each once",
                ));
            }
            let server = Server::new(client);
            members.push(Member { server, hints: Hints::default(), readmitting: AtomicBool::new(false) });
        }
        if members.len() < 3 {
            let cause = format!("{} of them", members.len()).into();
            return Err(refused(
                cause,
                "a majority that can lose a server takes three; for one server use RedisStore",
            ));
        }
        let (namespace, scripts) = (namespace.to_owned(), Scripts::new());
        Ok(Self(Arc::new(Shared { members, namespace, longest_ttl, scripts })))
    }

    /// Gives new servers their counters, once for each set of servers, like a migration; not at each start of a
    /// program. Does nothing when a majority has them already.
    ///
    /// When a majority has lost its counters, wait until no lease can be held any more, and pass the highest token that
    /// the protected storage has seen: tokens go on above it. For new servers pass `None`. May be repeated when it
    /// failed half way.
    ///
    /// # Errors
    /// [`StoreError`] when not all servers answer.
    pub async fn create_counters(&self, above: Option<FencingToken>) -> Result<(), StoreError> {
        self.0.create_counters(above).await
    }
}

impl Shared {
    fn names(&self, key: &LeaseKey) -> [String; 2] {
        let Self { namespace, .. } = self;
        [format!("{namespace}:redlock:lease:{}", key.as_str()), format!("{namespace}:redlock:token")]
    }

    /// A question about a claim to all servers.
    fn claim(&self, action: &'static str, claim: &Claim, last: String) -> Question {
        Question {
            action,
            script: |scripts| &scripts.acquire,
            keys: self.names(&claim.key).into(),
            arguments: vec![claim.owner.to_hex(), last],
            // Three rounds must fit into what the core gives an attempt, a sixth of the TTL unless it is set.
            limit: (claim.ttl / 20).max(LEAST_LIMIT),
        }
    }

    /// Asks until the votes are decided. Of several who share the servers, one goes on to ask.
    async fn vote(self: &Arc<Self>, claim: &Claim, errors: &mut Vec<StoreError>) -> Ballot {
        const ACTION: &str = "an acquire";
        let question = self.claim(ACTION, claim, claim.ttl_milliseconds().to_string());
        let mut ballot = Ballot::new(claim.owner, self.members.len());
        let until = Instant::now() + question.limit;
        loop {
            errors.clear();
            let mut round = Round::begin(self, ballot.ask_again(), &question);
            while ballot.verdict() == Verdict::Open
                && let Some((server, answer)) = round.next().await
            {
                let vote = answer.and_then(|answer| {
                    Vote::read(answer).ok_or_else(|| unintelligible(ACTION, "another script's answer"))
                });
                ballot.note(server, vote.as_ref().ok().copied());
                errors.extend(vote.err());
            }
            if ballot.verdict() != Verdict::Ours || Instant::now() >= until {
                return ballot;
            }
            // The others find out in a moment that they are to give way.
            sleep(Duration::from_millis(2)).await;
        }
    }

    /// The highest number, once a majority knows it. Servers that gave it themselves know it.
    async fn agree(self: &Arc<Self>, claim: &Claim, ballot: &Ballot) -> Result<Option<i64>, Vec<StoreError>> {
        let Some(token) = ballot.granted().map(|(_, number)| number).max() else { return Ok(None) };
        let (know, behind): (Vec<_>, Vec<_>) = ballot.granted().partition(|(_, number)| *number == token);
        let confirm = Question {
            script: |scripts| &scripts.confirm,
            ..self.claim("agreeing on a token", claim, token.to_string())
        };
        let (enough, _) = sides(self.members.len());
        if know.len() >= enough {
            return Ok(Some(token));
        }
        let round = Round::begin(self, behind.into_iter().map(|(server, _)| server), &confirm);
        match majority(round, know.len(), self.members.len()).await {
            Majority::Yes => Ok(Some(token)),
            Majority::No => Ok(None),
            Majority::Unknown(errors) if errors.is_empty() => Ok(None),
            Majority::Unknown(errors) => Err(errors),
        }
    }

    /// Frees whatever the claim was granted, on all servers, also those that have not answered. Nobody waits for it.
    fn take_back(self: &Arc<Self>, claim: &Claim) {
        drop(self.release(claim));
    }

    fn release(self: &Arc<Self>, claim: &Claim) -> Round<i64> {
        let release =
            Question { script: |scripts| &scripts.release, ..self.claim("a release", claim, String::new()) };
        Round::begin(self, 0..self.members.len(), &release)
    }
}

impl LeaseStore for RedlockStore {
    fn capabilities(&self) -> Capabilities {
        Capabilities::new(NAME)
            .ttl_between(LEAST_TTL, self.0.longest_ttl)
            .tokens(TokenDurability::WithData)
            .with_hints()
    }

    async fn acquire(&self, claim: &Claim) -> Result<Acquisition, StoreError> {
        const ACTION: &str = "an acquire";
        let shared = &self.0;
        let mut errors = Vec::new();
        let ballot = shared.vote(claim, &mut errors).await;
        for server in ballot.empty() {
            shared.readmit_soon(server);
        }
        let verdict = ballot.verdict();
        if verdict == Verdict::Won {
            match shared.agree(claim, &ballot).await {
                Ok(Some(token)) => {
                    let token =
                        FencingToken::try_from(token).map_err(|error| unintelligible(ACTION, error))?;
                    return Ok(Acquisition::Granted(Grant { token, ttl: claim.ttl }));
                }
                Ok(None) => errors.push(StoreError::Unready {
                    store: NAME,
                    action: ACTION,
                    cause: "the lease ended before its token was agreed on".into(),
                }),
                Err(silent) => errors.extend(silent),
            }
        }
        shared.take_back(claim);
        match verdict {
            Verdict::Held | Verdict::Ours | Verdict::Open => {
                Ok(Acquisition::Held { ends_within: ballot.ends_within() })
            }
            Verdict::Empty => Err(StoreError::Refused {
                store: NAME,
                action: ACTION,
                cause: "a majority of the servers has no counter".into(),
                advice: "call `create_counters`, once for new servers, and with the highest token that the storage \
                         has seen when they have lost their data",
            }),
            Verdict::Won | Verdict::Silent => Err(undecided(ACTION, shared.members.len(), errors)),
        }
    }

    async fn renew(&self, claim: &Claim) -> Result<Renewal, StoreError> {
        const ACTION: &str = "a renewal";
        let servers = self.0.members.len();
        let renew = Question {
            script: |scripts| &scripts.renew,
            ..self.0.claim(ACTION, claim, claim.ttl_milliseconds().to_string())
        };
        match majority(Round::begin(&self.0, 0..servers, &renew), 0, servers).await {
            Majority::Yes => Ok(Renewal::Renewed { ttl: claim.ttl }),
            Majority::No => Ok(Renewal::NotMine),
            Majority::Unknown(errors) => Err(undecided(ACTION, servers, errors)),
        }
    }

    async fn release(&self, claim: &Claim) -> Result<Surrender, StoreError> {
        let servers = self.0.members.len();
        match majority(self.0.release(claim), 0, servers).await {
            Majority::Yes => Ok(Surrender::Released),
            Majority::No => Ok(Surrender::NotMine),
            Majority::Unknown(errors) => Err(undecided("a release", servers, errors)),
        }
    }

    async fn holder(&self, key: &LeaseKey) -> Result<Option<OwnerValue>, StoreError> {
        const ACTION: &str = "asking for the holder";
        let servers = self.0.members.len();
        let (enough, missing) = sides(servers);
        let ask = Question {
            action: ACTION,
            script: |scripts| &scripts.holder,
            keys: self.0.names(key).into(),
            arguments: Vec::new(),
            limit: LIMIT,
        };
        let (mut said, mut errors) = (Vec::new(), Vec::new());
        let mut round = Round::<Option<String>>::begin(&self.0, 0..servers, &ask);
        while let Some((_, answer)) = round.next().await {
            let holder = match answer {
                Ok(holder) => holder.as_deref().and_then(OwnerValue::from_hex),
                Err(error) => {
                    errors.push(error);
                    continue;
                }
            };
            said.push(holder);
            let same = said.iter().filter(|other| **other == holder).count();
            if same >= enough || (holder.is_none() && same > missing) {
                return Ok(holder);
            }
        }
        // Enough answers, but no majority for anybody: nobody holds it.
        if said.len() >= enough { Ok(None) } else { Err(undecided(ACTION, servers, errors)) }
    }

    async fn watch(&self, key: &LeaseKey) -> Result<Watch, StoreError> {
        const ACTION: &str = "listening for releases";
        let (enough, _) = sides(self.0.members.len());
        let (mut watches, mut errors) = (Vec::new(), Vec::new());
        let [channel, _] = self.0.names(key);
        let listening = (0..self.0.members.len()).map(|server| {
            let (shared, key, channel) = (Arc::clone(&self.0), key.clone(), channel.clone());
            let listen: BoxFuture<'static, _> = Box::pin(async move {
                let member = shared.members.get(server)?;
                let listen = member.hints.listen(member.server.clients(), &key, channel);
                let timed_out = StoreError::TimedOut { store: NAME, action: ACTION, after: LIMIT };
                Some(timeout(LIMIT, listen).await.unwrap_or(Err(timed_out)))
            });
            listen
        });
        let mut listening: futures_util::stream::FuturesUnordered<_> = listening.collect();
        while watches.len() < enough
            && let Some(answer) = futures_util::StreamExt::next(&mut listening).await
        {
            match answer {
                Some(Ok(watch)) => watches.push(watch),
                Some(Err(error)) => errors.push(error),
                None => {}
            }
        }
        if watches.is_empty() {
            return Err(undecided(ACTION, self.0.members.len(), errors));
        }
        debug!(servers = watches.len(), "listening for releases");
        Ok(Watch::any_of(watches))
    }

    // Each server has a limit of its own in each round, after which its connection is made anew; the connections to
    // the others are good.
}

/// Too many servers gave no answer.
fn undecided(action: &'static str, servers: usize, mut errors: Vec<StoreError>) -> StoreError {
    // What will not pass by itself says more than what will.
    errors.sort_by_key(StoreError::is_retryable);
    let failed = errors.len();
    match errors.into_iter().next() {
        Some(error) if !error.is_retryable() => error,
        Some(error) => {
            let cause = format!("no majority of {servers} servers: {failed} have failed, such as: {error}");
            StoreError::Unreachable { store: NAME, action, cause: cause.into() }
        }
        None => StoreError::Unready { store: NAME, action, cause: "its servers disagree".into() },
    }
}

fn unintelligible(action: &'static str, answer: impl ToString) -> StoreError {
    StoreError::Unintelligible { store: NAME, action, answer: answer.to_string() }
}

impl std::fmt::Debug for RedlockStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The clients know the passwords.
        let Shared { members, namespace, .. } = &*self.0;
        f.debug_struct("RedlockStore")
            .field("servers", &members.len())
            .field("namespace", namespace)
            .finish_non_exhaustive()
    }
}
