-- KEYS[1] charger   ARGV[1] session   ARGV[2] ms
if redis.call('EXISTS', KEYS[1]) == 1 then
    return 0
end
redis.call('HSET', KEYS[1], 'session', ARGV[1], 'since', redis.call('TIME')[1])
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 1
