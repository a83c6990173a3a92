local docked = redis.call('SETNX', KEYS[1], ARGV[1])
if docked == 1 then
    redis.call('PEXPIRE', KEYS[1], ARGV[2])
    return redis.call('INCR', KEYS[2])
end
return -1
