-- program
WITH standard AS (
    SELECT loss, source, avg(CASE source WHEN 'cwnd' THEN window_rate WHEN 'arrived cwnd' THEN acked_window_rate
        WHEN 'packets' THEN packet_rate ELSE thr_bps END) / 8000 AS rate
    FROM runs WHERE study = 'paper' AND response = 'SSCCM' AND packets = '1000' GROUP BY ALL
), gain AS (
    SELECT loss, avg(window_rate) FILTER (response = 'RBT') / avg(window_rate) FILTER (response = 'SSCCM') AS ratio
    FROM runs WHERE study = 'paper' AND source = 'cwnd' AND packets = '1000' GROUP BY loss
)
SELECT loss AS p, "theory" AS "equation 5", "theory, C = 1.22" AS "the same, C = √(3/2)", "cwnd", "arrived cwnd", "packets",
    printf('%.2f', ratio) AS "RBT/SSCCM (cwnd)"
FROM (PIVOT standard ON source USING printf('%.0f', any_value(rate)) GROUP BY loss) JOIN gain USING (loss)
WHERE loss IN ('1 %', '2 %', '5 %', '10 %')
ORDER BY replace(loss, ' %', '')::DOUBLE

-- tcp
WITH ratios AS (
    SELECT loss, recovery, avg(goodput_bps) FILTER (response = 'RBT') / avg(goodput_bps) FILTER (response = 'standard') AS ratio
    FROM runs WHERE study = 'path' GROUP BY ALL
)
SELECT loss AS p, "tahoe" AS Tahoe, "reno" AS Reno, "newreno" AS NewReno, "sack" AS "SACK"
FROM (PIVOT ratios ON recovery USING printf('%.2f', any_value(ratio)) GROUP BY loss)
WHERE loss IN ('0.1 %', '1 %', '2 %', '5 %', '10 %')
ORDER BY replace(loss, ' %', '')::DOUBLE
