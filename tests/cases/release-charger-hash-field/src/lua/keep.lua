local session = redis.call('HGET', KEYS[1], 'session')
if session ~= ARGV[1] then
    return 0
end
return redis.call('PEXPIRE', KEYS[1], ARGV[2])
