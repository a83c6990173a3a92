-- KEYS: lock
-- ARGV: owner, ttl in ms, host (for people)
if redis.call('HSETNX', KEYS[1], 'owner', ARGV[1]) == 0 then
  return 0
end
redis.call('HSET', KEYS[1], 'host', ARGV[3])
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 1
