/* A row for each path: the mean over its seeds. */
CREATE VIEW paths AS
    SELECT stratum, rival, load, receiver, startup, unit, path_bps, path_rtt, bdp_packets, buffer_bdp,
        avg(completion) AS completion, avg(dropped_packets) AS dropped, avg(others_per_byte) AS others, avg(others_dropped) AS others_dropped,
        avg(sojourn_mean) AS sojourn, avg(completion_trips) AS trips, avg(size_packets) AS size, avg(timeouts) AS timeouts
    FROM runs WHERE flow = 'tested' AND load NOT IN ('page', 'requests') AND stratum <> 'mixed' AND sampling = 'population' GROUP BY ALL;
CREATE VIEW against AS
    SELECT own.*, own.completion / other.completion AS ratio, ln(own.completion / other.completion) AS gain, own.dropped - other.dropped AS more_dropped,
        other.others - own.others AS harm, own.others_dropped - other.others_dropped AS more_others_dropped,
        1000 * (own.sojourn - other.sojourn) AS more_sojourn, own.trips - other.trips AS more_trips, other.startup AS reference
    FROM paths AS own JOIN paths AS other USING (stratum, rival, load, receiver, unit) WHERE other.startup IN ('hystart', 'standard');
CREATE MACRO of_logs(x) AS printf('%.2f [%.2f, %.2f]', exp(avg(x)), exp(avg(x) - 2 * stddev(x) / sqrt(count(x))), exp(avg(x) + 2 * stddev(x) / sqrt(count(x))));
CREATE MACRO of_values(x) AS printf('%.2f [%.2f, %.2f]', avg(x), avg(x) - 2 * stddev(x) / sqrt(count(x)), avg(x) + 2 * stddev(x) / sqrt(count(x)));
CREATE TABLE shown AS SELECT * FROM (VALUES
    (1, 'standard'), (2, 'hystart'), (3, 'hystart_pp'), (4, 'search'), (5, 'suss'), (6, 'rapid_start'), (7, 'bbr_startup'), (8, 'jump_start'), (9, 'halfback'),
    (10, 'paced_start'), (11, 'bbr, IW 10'), (12, 'standard, IW 32'), (13, 'hystart, IW 32'), (14, 'suss, IW 32'), (15, 'hystart, paced 2'),
    (16, 'hystart_pp, IW 32, paced 2'), (17, 'standard, first 0.5'), (18, 'standard, first 0.85'), (19, 'hystart, reno behind'), (20, 'careful_resume'), (21, 'known threshold')
) AS names(place, startup);
/* Ten paths, one of each country, choose, the next ten judge, and so on. */
CREATE VIEW halves AS
    SELECT *, (unit - 1) // 10 % 2 = 0 AS chooses, CASE WHEN size < bdp_packets THEN 'below 1' WHEN size < 4 * bdp_packets THEN '1 to 4' ELSE 'above 4' END AS flights,
        CASE WHEN buffer_bdp < 0.5 THEN 'below 0.5' WHEN buffer_bdp < 2 THEN '0.5 to 2' ELSE 'above 2' END AS room
    FROM against WHERE stratum = 'population' AND reference = 'hystart'
        AND startup NOT LIKE 'careful_resume%' AND startup NOT IN ('known threshold', 'jump_start', 'halfback', 'paced_start', 'jump_start, first 0.5')
        AND startup NOT SIMILAR TO '(search|hystart_pp), (window|threshold|at least|a |3|8).*' AND startup NOT LIKE '%first 0.85';

-- speed
SELECT startup, "10 kB", "50 kB", "200 kB", "1 MB", "3 MB", "10 MB"
FROM (PIVOT (SELECT startup, load, of_logs(gain) AS text FROM against WHERE stratum = 'population' AND reference = 'hystart' AND startup <> 'hystart' GROUP BY ALL)
    ON load IN ('10 kB', '50 kB', '200 kB', '1 MB', '3 MB', '10 MB') USING any_value(text) GROUP BY startup) JOIN shown USING (startup)
ORDER BY place

-- cost
SELECT startup, of_values(if(stratum = 'population', more_dropped, NULL)) AS "own packets dropped", of_values(if(stratum = 'population', more_sojourn, NULL)) AS "queueing delay alone (ms)",
    of_logs(if(stratum = 'shared', gain, NULL)) AS "time beside a rival", of_values(if(stratum = 'shared', harm, NULL)) AS "rival's bytes lost per byte",
    of_values(if(stratum = 'shared', more_others_dropped, NULL)) AS "rival's packets dropped"
FROM against JOIN shown USING (startup) WHERE load = '1 MB' AND reference = 'hystart' AND startup <> 'hystart' AND stratum IN ('population', 'shared')
GROUP BY startup, place ORDER BY place

-- buffers
SELECT startup, "below 0.5", "0.5 to 2", "above 2", "below 0.5, dropped", "0.5 to 2, dropped", "above 2, dropped"
FROM (SELECT startup, of_logs(if(buffer_bdp < 0.5, gain, NULL)) AS "below 0.5", of_logs(if(buffer_bdp BETWEEN 0.5 AND 2, gain, NULL)) AS "0.5 to 2",
        of_logs(if(buffer_bdp > 2, gain, NULL)) AS "above 2", printf('%.0f', avg(dropped) FILTER (buffer_bdp < 0.5)) AS "below 0.5, dropped",
        printf('%.0f', avg(dropped) FILTER (buffer_bdp BETWEEN 0.5 AND 2)) AS "0.5 to 2, dropped", printf('%.0f', avg(dropped) FILTER (buffer_bdp > 2)) AS "above 2, dropped"
    FROM against WHERE stratum = 'population' AND load = '1 MB' AND reference = 'hystart' GROUP BY startup) JOIN shown USING (startup)
ORDER BY place

-- strata
SELECT startup, "population", "long", "geo", "shared", "lossy", "unbatched", "batched", "jittered"
FROM (PIVOT (SELECT startup, stratum, of_logs(gain) AS text FROM against
        WHERE load = '1 MB' AND reference = 'standard' AND startup <> 'standard' AND (stratum = 'geo' OR receiver = 'Linux') GROUP BY ALL)
    ON stratum IN ('population', 'long', 'geo', 'shared', 'lossy', 'unbatched', 'batched', 'jittered') USING any_value(text) GROUP BY startup) JOIN shown USING (startup)
WHERE "long" IS NOT NULL ORDER BY place

-- regions
WITH means AS (SELECT flights, room, startup, avg(gain) AS mean FROM halves WHERE chooses GROUP BY ALL),
chosen AS (SELECT flights, room, startup, row_number() OVER (PARTITION BY flights, room ORDER BY mean) AS place FROM means),
judged AS (
    SELECT flights, room, startup, count(*) AS n, of_logs(gain) AS text FROM halves JOIN chosen USING (flights, room, startup) WHERE place = 1 AND NOT chooses GROUP BY ALL
)
SELECT flights AS "size in products", room AS "buffer in products", startup AS "fastest on the half that chooses", text AS "over hystart on the other", n AS transfers
FROM judged ORDER BY array_position(['below 1', '1 to 4', 'above 4'], flights), array_position(['below 0.5', '0.5 to 2', 'above 2'], room)

-- choice
WITH single AS (SELECT startup FROM halves WHERE chooses GROUP BY startup ORDER BY avg(gain) LIMIT 1),
region AS (SELECT flights, room, arg_min(startup, mean) AS startup FROM (SELECT flights, room, startup, avg(gain) AS mean FROM halves WHERE chooses GROUP BY ALL) GROUP BY ALL),
best AS (SELECT load, unit, min(gain) AS gain FROM halves WHERE NOT chooses GROUP BY ALL)
SELECT 'the best single start-up, over hystart: ' || any_value(startup) AS choice, of_logs(gain) AS ratio FROM halves JOIN single USING (startup) WHERE NOT chooses
UNION ALL SELECT 'by region, over hystart', of_logs(gain) FROM halves JOIN region USING (flights, room, startup) WHERE NOT chooses
UNION ALL SELECT 'by region, over the best single', of_logs(own.gain - other.gain) FROM (SELECT * FROM halves JOIN region USING (flights, room, startup)) AS own
    JOIN (SELECT * FROM halves JOIN single USING (startup)) AS other USING (load, unit) WHERE NOT own.chooses
UNION ALL SELECT 'whoever is fastest on each path and load, over hystart: a lower bound', of_logs(gain) FROM best

-- parameters
WITH judged AS (
    SELECT CASE WHEN startup LIKE 'search%' THEN 'search' WHEN startup LIKE 'hystart_pp%' THEN 'hystart_pp' ELSE 'first reduction' END AS of, startup,
        avg(gain) FILTER ((unit - 1) // 10 % 2 = 0) AS chosen, of_logs(if((unit - 1) // 10 % 2 = 1, gain, NULL)) AS text, of_values(if((unit - 1) // 10 % 2 = 1, more_dropped, NULL)) AS dropped
    FROM against WHERE stratum = 'population' AND load IN ('3 MB', '10 MB') AND reference = 'standard'
        AND (startup SIMILAR TO '(search|hystart_pp), (window|threshold|at least|a |3|8).*' OR startup IN ('search', 'search, window kept', 'search-3.0', 'hystart_pp', 'hystart_pp of neqo', 'standard', 'standard, first 0.5', 'standard, first 0.85'))
    GROUP BY ALL
)
SELECT startup || if(row_number() OVER (PARTITION BY of ORDER BY chosen) = 1, ' (chosen)', '') AS "start-up", text AS "over standard", dropped AS "more packets dropped"
FROM judged ORDER BY of, startup

-- satellite
SELECT startup, of_logs(if(load = '200 kB', gain, NULL)) AS "200 kB", of_logs(if(load = '1 MB', gain, NULL)) AS "1 MB", of_logs(if(load = '10 MB', gain, NULL)) AS "10 MB",
    of_logs(if(load = '30 MB', gain, NULL)) AS "30 MB", of_values(if(load = '1 MB', more_trips, NULL)) AS "round trips, 1 MB", printf('%.0f', avg(dropped) FILTER (load = '30 MB')) AS "dropped, 30 MB"
FROM against JOIN shown USING (startup) WHERE stratum = 'geo' AND reference = 'standard' AND startup <> 'standard' GROUP BY startup, place ORDER BY place

-- pages
WITH own AS (SELECT load, startup, unit, avg(load_mean) AS time FROM runs WHERE load IN ('page', 'requests') AND flow = 'tested' GROUP BY ALL)
SELECT startup, of_logs(if(load = 'page', ln(own.time / other.time), NULL)) AS page, of_logs(if(load = 'requests', ln(own.time / other.time), NULL)) AS requests
FROM own JOIN (SELECT load, unit, time FROM own WHERE startup = 'hystart') AS other USING (load, unit) JOIN shown USING (startup)
WHERE startup <> 'hystart' GROUP BY startup, place ORDER BY place

-- corners
WITH own AS (SELECT stratum, startup, exp(avg(ln(completion))) AS time FROM runs WHERE sampling = 'offset' AND flow = 'tested' AND load = '1 MB' GROUP BY ALL)
SELECT stratum AS corner, "standard", "hystart_pp", "search", "suss", "rapid_start", "bbr_startup", "standard, IW 32", "standard, paced 2", "bbr, IW 10"
FROM (PIVOT (SELECT own.stratum, own.startup, own.time / other.time AS ratio FROM own JOIN own AS other ON own.stratum = other.stratum AND other.startup = 'hystart')
    ON startup IN ('standard', 'hystart_pp', 'search', 'suss', 'rapid_start', 'bbr_startup', 'standard, IW 32', 'standard, paced 2', 'bbr, IW 10')
    USING printf('%.2f', any_value(ratio)) GROUP BY stratum) ORDER BY stratum

-- mixed
WITH own AS (
    SELECT load, startup, unit, avg(short_mean) AS mean, avg(short_p95) AS p95 FROM runs WHERE stratum = 'mixed' AND flow = 'same' GROUP BY ALL
), ratios AS (
    SELECT own.startup, own.load, ln(own.mean / other.mean) AS mean, ln(own.p95 / other.p95) AS p95
    FROM own JOIN own AS other ON own.load = other.load AND own.unit = other.unit AND other.startup = 'nobody'
)
SELECT startup AS changed, of_logs(if(load = '30 %', mean, NULL)) AS "mean, 30 %", of_logs(if(load = '60 %', mean, NULL)) AS "mean, 60 %", of_logs(if(load = '90 %', mean, NULL)) AS "mean, 90 %",
    of_logs(if(load = '90 %', p95, NULL)) AS "95th percentile, 90 %"
FROM ratios WHERE startup LIKE '%9 of 10' GROUP BY startup ORDER BY startup
