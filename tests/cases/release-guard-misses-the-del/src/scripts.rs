/// KEYS: the runway, its statistics. ARGV: the clearance.
pub const CLEAR_RUNWAY: &str = r#"
local cleared = redis.call('get', KEYS[1])
if cleared ~= ARGV[1] then
    redis.call('hincrby', KEYS[2], 'foreign', 1)
end
return redis.call('del', KEYS[1])
"#;

/// KEYS: the runway. ARGV: the clearance, milliseconds.
pub const HOLD_RUNWAY: &str = r#"
if redis.call('get', KEYS[1]) == ARGV[1] then
    return redis.call('pexpire', KEYS[1], ARGV[2])
end
return 0
"#;
