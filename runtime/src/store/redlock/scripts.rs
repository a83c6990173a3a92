//! What is asked of each server of a Redlock: scripts, and their answers as values.

use crate::store::redis::server::Prepared;
use crate::token::OwnerValue;

/// `KEYS`: lease, counter. `ARGV`: owner value, TTL in milliseconds. A server without a counter has lost its
/// memory, or never had one, and grants nothing. The number is a text: those of Lua lose digits above 2^53.
const ACQUIRE: &str = "\
local holder = redis.call('GET', KEYS[1])
if holder then
    return {'held', tostring(redis.call('PTTL', KEYS[1])), holder}
end
if redis.call('EXISTS', KEYS[2]) == 0 then
    return {'empty', '0', ''}
end
redis.call('INCR', KEYS[2])
redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2])
return {'granted', redis.call('GET', KEYS[2]), ''}
";

/// `KEYS`: lease, counter. `ARGV`: owner value, token. Raises the counter to the token, while the lease is still
/// the owner's. Numbers without leading zeros are compared by their length, then digit by digit.
const CONFIRM: &str = "\
if redis.call('GET', KEYS[1]) ~= ARGV[1] then
    return 0
end
local last = redis.call('GET', KEYS[2])
if not last then
    return 0
end
if #last < #ARGV[2] or (#last == #ARGV[2] and last < ARGV[2]) then
    redis.call('SET', KEYS[2], ARGV[2])
end
return 1
";

/// `KEYS`: lease. `ARGV`: owner value, TTL in milliseconds.
const RENEW: &str = "\
if redis.call('GET', KEYS[1]) == ARGV[1] then
    return redis.call('PEXPIRE', KEYS[1], ARGV[2])
end
return 0
";

/// `KEYS`: lease. `ARGV`: owner value.
const RELEASE: &str = "\
if redis.call('GET', KEYS[1]) == ARGV[1] then
    redis.call('DEL', KEYS[1])
    redis.pcall('PUBLISH', KEYS[1], 'released')
    return 1
end
return 0
";

/// `KEYS`: lease.
const HOLDER: &str = "return redis.call('GET', KEYS[1])";

/// `KEYS`: counter.
const COUNTER: &str = "return redis.call('GET', KEYS[1])";

/// `KEYS`: counter, since when the server waits to have one. `ARGV`: how long it must wait, in milliseconds. Gives
/// how long it still has to, by its own clock; -1 when it has one.
const WAIT: &str = "\
if redis.call('EXISTS', KEYS[1]) == 1 then
    return -1
end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local since = tonumber(redis.call('GET', KEYS[2]) or now)
if since >= now then
    redis.call('SET', KEYS[2], string.format('%d', now))
    since = now
end
return math.max(0, since + ARGV[1] - now)
";

/// `KEYS`: counter, since when the server waits to have one. `ARGV`: where it begins. Not when it has restarted since,
/// and so waits anew.
const SEED: &str = "\
if redis.call('DEL', KEYS[2]) == 0 then
    return 0
end
return redis.call('SETNX', KEYS[1], ARGV[1])
";

/// `KEYS`: counter. `ARGV`: where it begins.
const CREATE: &str = "return redis.call('SETNX', KEYS[1], ARGV[1])";

pub(super) struct Scripts {
    pub(super) acquire: Prepared,
    pub(super) confirm: Prepared,
    pub(super) renew: Prepared,
    pub(super) release: Prepared,
    pub(super) holder: Prepared,
    pub(super) counter: Prepared,
    pub(super) wait: Prepared,
    pub(super) seed: Prepared,
    pub(super) create: Prepared,
}

impl Scripts {
    pub(super) fn new() -> Self {
        Self {
            acquire: Prepared::new(ACQUIRE),
            confirm: Prepared::new(CONFIRM),
            renew: Prepared::new(RENEW),
            release: Prepared::new(RELEASE),
            holder: Prepared::new(HOLDER),
            counter: Prepared::new(COUNTER),
            wait: Prepared::new(WAIT),
            seed: Prepared::new(SEED),
            create: Prepared::new(CREATE),
        }
    }
}

/// One server's answer to an acquire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Vote {
    /// The key is ours there, with this number.
    Granted(i64),
    /// It is this owner's there, for so many milliseconds more. `None` for a value that is no owner's.
    Held { owner: Option<OwnerValue>, left: i64 },
    /// The server has no counter.
    Empty,
}

impl Vote {
    /// Reads what [`ACQUIRE`] gives.
    pub(super) fn read((word, number, owner): (String, i64, String)) -> Option<Self> {
        match word.as_str() {
            "granted" if number > 0 => Some(Self::Granted(number)),
            "held" => Some(Self::Held { owner: OwnerValue::from_hex(&owner), left: number }),
            "empty" => Some(Self::Empty),
            _ => None,
        }
    }
}
