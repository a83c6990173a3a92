-- KEYS: lock, progress
-- ARGV: state, rows
local lock = KEYS[1]
local progress = KEYS[2]

redis.call('HSET', progress, 'state', ARGV[1], 'rows', ARGV[2])
redis.call('EXPIRE', progress, 86400)

if redis.call('EXISTS', lock) == 1 then
  redis.call('DEL', lock)
  return 1
end
return 0
