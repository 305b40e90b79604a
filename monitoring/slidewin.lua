-- slidewin's counters for prometheus-redis-exporter: give it -script with the path of this file.
-- Each field of INFO slidewin_stats becomes redis_script_values{key="<field>"}.

-- So many of the keys that were refused most become redis_script_values{key="slidewin_offender:<name>"}.
-- 0: none, since names of keys leave the server that way, and each one is a new series in Prometheus.
local OFFENDERS = 0

local values = {}

local function export(name, value)
    values[#values + 1] = name
    values[#values + 1] = tostring(value)
end

for field, value in string.gmatch(redis.call('INFO', 'slidewin_stats'), '(slidewin_[%w_]+):(%d+)') do
    export(field, value)
end

if OFFENDERS > 0 then
    for _, offender in ipairs(redis.call('SLIDEWIN.OFFENDERS', 'COUNT', OFFENDERS)) do
        -- The exporter drops a label that is not UTF-8.
        local name = string.gsub(offender[1], '[^\32-\126]', function(byte)
            return string.format('\\x%02x', string.byte(byte))
        end)
        export('slidewin_offender:' .. name, offender[2])
    end
end

return values
