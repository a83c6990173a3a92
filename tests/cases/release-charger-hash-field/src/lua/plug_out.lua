local session = redis.call('HGET', KEYS[1], 'session')
if not session then
    return -1
end
if session == ARGV[1] then
    redis.call('DEL', KEYS[1])
    return 1
end
return 0
