-- Writes a log with entries spread evenly over a time, as slidewin or as script.lua keeps it.
-- KEYS[1]; 'slidewin' or 'script', number of entries, from and up to when (µs), expiry (ms).
local kind, count = ARGV[1], tonumber(ARGV[2])
local from_us, to_us = tonumber(ARGV[3]), tonumber(ARGV[4])
local base = 3000000 -- seven digits, as most random bases have
local batch = {}
for i = 0, count - 1 do
    local at_us = string.format('%.0f', from_us + math.floor((to_us - from_us) * i / count))
    batch[#batch + 1] = at_us
    if kind == 'slidewin' then
        batch[#batch + 1] = string.format('%.0f', base + i)
    else
        batch[#batch + 1] = at_us .. string.format('%012d', i)
    end
    if #batch == 2000 or i == count - 1 then
        redis.call('ZADD', KEYS[1], unpack(batch))
        batch = {}
    end
end
redis.call('PEXPIREAT', KEYS[1], ARGV[5])
