if redis.call('HGET', KEYS[1], 'guest') ~= ARGV[1] then
  return 0
end
return redis.call('DEL', KEYS[1])
