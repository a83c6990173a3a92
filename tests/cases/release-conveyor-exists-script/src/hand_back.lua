-- hand the line back and wake whoever waits for it
if redis.call('EXISTS', KEYS[1]) == 1 then
    redis.call('DEL', KEYS[1])
    redis.call('LPUSH', KEYS[2], 'free')
    return 1
end
return 0
