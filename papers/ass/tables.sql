-- start
WITH means AS (
    SELECT scenario, algorithm, queue, avg(delivered_1s) AS second, avg(delivered_10s) AS ten
    FROM runs WHERE loss = '0 %' AND "window" = 'Wnd1' AND cut = 'staged' AND paths = 'like'
    GROUP BY ALL
), ratios AS (
    UNPIVOT (
        SELECT means.scenario, means.algorithm, means.queue, means.second / one.second AS "first second", means.ten / one.ten AS "first 10 s"
        FROM means JOIN means AS one USING (scenario, queue) WHERE one.algorithm = '1' AND means.algorithm <> '1'
    ) ON "first second", "first 10 s" INTO NAME span VALUE ratio
)
SELECT if(scenario = '2', '10 Mbit/s, ', '0.3 Mbit/s, ') || span AS span, algorithm AS "algorithm; queue (packets):",
    "5", "15", "25", "50", "100", "200"
FROM (PIVOT ratios ON queue USING printf('%.2f', any_value(ratio)) GROUP BY scenario, span, algorithm)
ORDER BY scenario DESC, span DESC, algorithm

-- loss
WITH lossy AS (SELECT * FROM runs WHERE scenario = '2' AND loss LIKE '20 \%%' ESCAPE '\'), chosen AS (
    SELECT 1 AS place, 'ns-2''s default stream, every queue and window' AS losses, * FROM lossy WHERE loss = '20 %, one stream'
    UNION ALL BY NAME
    SELECT 2 AS place, '2,400 seeds, 200 for each queue and window' AS losses, * FROM lossy WHERE seeds = 'own'
    UNION ALL BY NAME
    SELECT 3 AS place, '400 of them, those with a queue of 50 packets' AS losses, * FROM lossy WHERE seeds = 'own' AND queue = '50'
    UNION ALL BY NAME
    SELECT 4 AS place, 'the same 400, halving instead of the paper''s divisors' AS losses, * FROM lossy WHERE cut = 'halved'
)
SELECT losses AS "10 Mbit/s, 20 % loss", "1", "2", "3", "4"
FROM (PIVOT chosen ON algorithm USING printf('%.0f', avg(delivered_packets)) GROUP BY place, losses)
ORDER BY place

-- chance
WITH pairs AS (
    PIVOT (
        SELECT scenario, queue, "window", unit, cut, algorithm, delivered_packets FROM runs
        WHERE loss = '20 %' AND (seeds = 'own' OR cut = 'halved')
    ) ON algorithm USING any_value(delivered_packets) GROUP BY scenario, queue, "window", unit, cut
)
SELECT if(scenario = '2', '10 Mbit/s', '0.3 Mbit/s') || if(cut = 'halved', ', halving', '') AS path, count(*) AS seeds,
    printf('%.0f %%', 100 * avg(("2" > "3" AND "3" = "4" AND "4" > "1")::INT)) AS "2 > 3 = 4 > 1",
    printf('%.0f %%', 100 * avg(("2" > "1")::INT)) AS "2 > 1",
    printf('%.0f %%', 100 * avg(("2" - "1" >= 934)::INT)) AS "2 at least 934 above 1",
    printf('%.0f %%', 100 * avg(("3" = "4")::INT)) AS "3 = 4",
    printf('%+.0f ± %.0f', avg("2" - "1"), stddev("2" - "1") / sqrt(count(*))) AS "2 above 1 (packets, standard error)"
FROM pairs GROUP BY scenario, cut ORDER BY scenario DESC, cut DESC
