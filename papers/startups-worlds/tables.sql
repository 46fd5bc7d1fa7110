CREATE VIEW ratios AS
    SELECT own.world, own.startup, own.load, own.unit, own.buffer_bdp, ln(own.completion / other.completion) AS gain
    FROM worlds AS own JOIN worlds AS other USING (world, load, unit)
    WHERE own.flow = 'tested' AND other.flow = 'tested' AND other.startup = 'hystart' AND own.startup <> 'hystart';
CREATE MACRO of_logs(x) AS printf('%.2f [%.2f, %.2f]', exp(avg(x)), exp(avg(x) - 2 * stddev(x) / sqrt(count(x))), exp(avg(x) + 2 * stddev(x) / sqrt(count(x))));

-- ratios
SELECT startup AS "start-up", load, "simulation", "linux", "quic", "quinn"
FROM (PIVOT (SELECT startup, load, world, of_logs(gain) AS text FROM ratios GROUP BY ALL) ON world IN ('simulation', 'linux', 'quic', 'quinn') USING any_value(text) GROUP BY startup, load)
ORDER BY array_position(['standard', 'hystart_pp', 'search', 'suss', 'rapid_start', 'bbr_startup', 'standard, IW 32'], startup), array_position(['50 kB', '1 MB', '3 MB'], load)

-- linux
WITH pairs AS (
    SELECT own.startup, own.unit, own.load, ln(own.completion / other.completion) AS gap
    FROM worlds AS own JOIN worlds AS other USING (startup, load, unit)
    WHERE own.flow = 'tested' AND other.flow = 'tested' AND own.world = 'linux' AND other.world = 'simulation'
)
SELECT startup AS "start-up", of_logs(gap) AS "completion in Linux over that in the simulation", printf('%d of %d', count(*) FILTER (abs(gap) < 0.02), count(*)) AS "within 2 %"
FROM pairs GROUP BY startup ORDER BY startup
