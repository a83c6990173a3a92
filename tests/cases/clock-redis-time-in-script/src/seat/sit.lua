-- KEYS[1] seat, ARGV[1] guest, ARGV[2] milliseconds
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)

local guest, ends = unpack(redis.call('HMGET', KEYS[1], 'guest', 'ends'))
if guest and guest ~= ARGV[1] and tonumber(ends) > now then
  return tonumber(ends) - now
end

redis.call('HSET', KEYS[1], 'guest', ARGV[1], 'ends', now + ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 0
