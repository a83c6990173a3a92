#!lua name=orderdesk

local function take(keys, args)
  local set = redis.call('SET', keys[1], args[1], 'NX', 'PX', tonumber(args[2]))
  if set then
    return 1
  end
  return 0
end

local function prolong(keys, args)
  if redis.call('GET', keys[1]) ~= args[1] then
    return 0
  end
  return redis.call('PEXPIRE', keys[1], tonumber(args[2]))
end

local function give(keys, args)
  if redis.call('GET', keys[1]) ~= args[1] then
    return 0
  end
  return redis.call('DEL', keys[1])
end

redis.register_function('orderdesk_take', take)
redis.register_function('orderdesk_prolong', prolong)
redis.register_function('orderdesk_give', give)
