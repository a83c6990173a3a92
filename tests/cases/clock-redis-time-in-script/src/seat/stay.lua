local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)

if redis.call('HGET', KEYS[1], 'guest') ~= ARGV[1] then
  return 0
end
redis.call('HSET', KEYS[1], 'ends', now + ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 1
