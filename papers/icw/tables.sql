CREATE VIEW slower AS
    SELECT rate, buffer, connections, page, "IW",
        avg(load_mean) / min(avg(load_mean)) OVER (PARTITION BY rate, buffer, connections, page) - 1 AS slower
    FROM runs WHERE study = 'page' AND coalesce(paths, 'like') = 'like' AND regexp_matches("IW", '^\d+$')
    GROUP BY rate, buffer, connections, page, "IW";

-- windows
WITH counted AS (
    SELECT "IW", count(*) AS n, sum((slower <= 0.02)::INT) AS best, 100 * avg(slower) AS mean, 100 * max(slower) AS worst FROM slower GROUP BY "IW"
), rows AS (
    SELECT 1 AS place, 'as good as the best, of ' || n AS "window", "IW", printf('%d', best) AS text FROM counted UNION ALL
    SELECT 2, 'slower than the best, mean (%)', "IW", printf('%.0f', mean) FROM counted UNION ALL
    SELECT 3, 'slower than the best, at worst (%)', "IW", printf('%.0f', worst) FROM counted
)
SELECT "window", "1", "2", "4", "8", "10", "16", "24", "32", "48", "100"
FROM (PIVOT rows ON "IW" USING any_value(text) GROUP BY place, "window")
ORDER BY place

-- buffers
WITH judged AS (
    SELECT regexp_extract(claim, 'rate-([\d.]+)-', 1) || ' Mbit/s' AS rate, regexp_extract(claim, 'buffer-(\d+)$', 1) AS buffer, verdict,
        coalesce(nullif(regexp_extract(reason, '(?:^|[^t] )holds? in (\d+) of', 1), ''), '0') AS held,
        coalesce(nullif(regexp_extract(reason, 'does not hold in (\d+) of', 1), ''), '0') AS failed
    FROM verdicts WHERE regexp_matches(claim, '^best-32-rate-[\d.]+-buffer-\d+$') AND metric = 'load_mean'
)
SELECT rate || ', ' || buffer || ' packets' AS "rate, buffer", "10", "32", "100",
    if(verdict = 'holds', '**holds**', verdict) || ' (' || held || ' hold, ' || failed || ' do not)' AS "32 is best"
FROM (PIVOT slower ON "IW" USING printf('%.0f', 100 * avg(slower)) GROUP BY rate, buffer) JOIN judged USING (rate, buffer)
ORDER BY replace(rate, ' Mbit/s', '')::DOUBLE, buffer::INT

-- systems
WITH chosen AS (
    SELECT host, CASE WHEN page = '320 kB' THEN 'page' ELSE rate END AS measure,
        CASE WHEN page = '320 kB' THEN printf('%.2f', avg(load_mean)) ELSE printf('%.0f', avg(page_bps) / 8000) END AS text
    FROM runs
    WHERE study = 'systems' AND loss = '0 %' AND coalesce(paths, 'like') = 'like' AND (page = '32 MB' OR page = '320 kB' AND rate = '12 Mbit/s')
    GROUP BY host, page, rate
)
SELECT host AS "system", "1.5 Mbit/s" AS "1.5 Mbit/s (kB/s)", "12 Mbit/s" AS "12 Mbit/s (kB/s)", "100 Mbit/s" AS "100 Mbit/s (kB/s)",
    page AS "page at 12 Mbit/s (s)"
FROM (PIVOT chosen ON measure USING any_value(text) GROUP BY host)
ORDER BY list_position(['Windows 95', 'Windows 98', 'Windows XP', 'Windows Server', 'Windows 7', 'Windows 8', 'Windows 8.1', 'Linux Mint 18.3',
    'Solaris 10'], host)
