-- received
WITH means AS (
    SELECT queue, algorithm, avg(delivered_bytes) / 1e6 AS mean FROM runs
    WHERE study = 'simulation' AND buffer = '50' AND duration = '100 s' AND paths = 'like' GROUP BY ALL
), marked AS (
    SELECT queue, algorithm, if(mean = max(mean) OVER (PARTITION BY queue), printf('**%.2f**', mean), printf('%.2f', mean)) AS mean
    FROM means
)
SELECT queue, "Tahoe", "Reno", "NewReno", "MIMD", "PIPD", "EXP"
FROM (PIVOT marked ON algorithm USING any_value(mean) GROUP BY queue)
ORDER BY list_position(['DropTail', 'RED', 'FQ', 'SFQ', 'PI', 'VQ', 'REM', 'GK', 'DRR', 'SRR'], queue)
