-- KEYS: lock, progress
-- ARGV: owner, state, rows
local lock, progress = KEYS[1], KEYS[2]
local owner = ARGV[1]

if redis.call('HGET', lock, 'owner') ~= owner then
  return 0
end

redis.call('HSET', progress, 'state', ARGV[2], 'rows', ARGV[3])
redis.call('EXPIRE', progress, 86400)
redis.call('DEL', lock)
return 1
