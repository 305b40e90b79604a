-- The sliding-window log as it is usually written: one member per admission, made unique by time and ARGV[3].
-- KEYS[1]; window in µs, limit, what makes the member unique.
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local window = tonumber(ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - window)
if redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[2]) then
    return 0
end
redis.call('ZADD', KEYS[1], now, time[1] .. time[2] .. ARGV[3])
redis.call('EXPIRE', KEYS[1], math.ceil(window / 1000000))
return 1
