-- Writes a log with entries spread evenly over a time, as script.lua keeps it.
-- KEYS[1]; number of entries, from and up to when (µs), expiry (ms).
local count, from_us, to_us = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local batch = {}
for i = 0, count - 1 do
    local at_us = string.format('%.0f', from_us + math.floor((to_us - from_us) * i / count))
    batch[#batch + 1] = at_us
    batch[#batch + 1] = at_us .. string.format('%012d', i)
    if #batch == 2000 or i == count - 1 then
        redis.call('ZADD', KEYS[1], unpack(batch))
        batch = {}
    end
end
redis.call('PEXPIREAT', KEYS[1], ARGV[4])
