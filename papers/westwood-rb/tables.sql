-- throughput
WITH means AS (
    SELECT reading, "row", regexp_extract("column", '\w+') AS protocol, avg(printed) AS printed, avg(measured) AS measured
    FROM printed WHERE "table" = 1 GROUP BY ALL
), cells AS (
    SELECT "row", protocol, printf('%.0f / %.0f', printed, measured) AS text FROM means WHERE reading = 'Reno''s recovery' UNION ALL
    SELECT "row", 'mixed', printf('%.0f', measured) FROM means WHERE reading = 'Reno''s recovery, RB NewReno''s' AND protocol = 'RB'
)
SELECT "row" AS loss, "Reno", "Vegas", "TCPW", "RB", "mixed" AS "RB, NewReno's recovery"
FROM (PIVOT cells ON protocol USING any_value(text) GROUP BY "row")
ORDER BY loss

-- shares
WITH asked(place, "table", reading, shown) AS (
    VALUES (1, 1, 'Reno''s recovery', 'table 1, Reno''s recovery'), (2, 1, 'NewReno''s recovery', 'table 1, NewReno''s'), (3, 1, 'SACK', 'table 1, SACK'),
        (4, 1, 'Reno''s recovery, RB NewReno''s', 'table 1, Reno''s, NewReno''s for RB'),
        (5, 2, 'Reno''s recovery, a buffer of the link''s own bandwidth-delay product', 'table 2, Reno''s'),
        (6, 2, 'Reno''s recovery, a buffer of the link''s own bandwidth-delay product, the exact path', 'table 2, Reno''s, the exact path'),
        (7, 3, 'Reno''s recovery', 'table 3, Reno''s'), (8, 3, 'Reno''s recovery, RB NewReno''s', 'table 3, Reno''s, NewReno''s for RB')
), counted AS (
    SELECT asked.place, shown, if("column" = 'TCPW RB', 'RB', regexp_extract("column", '\w+')) AS protocol,
        sum((printed.place <> 'outside')::INT) || ' of ' || count(*) AS text
    FROM asked JOIN printed USING ("table", reading) GROUP BY asked.place, shown, protocol
)
SELECT shown AS "share in the interval", "Reno", "Vegas", "TCPW", "RB"
FROM (PIVOT counted ON protocol USING any_value(text) GROUP BY place, shown)
ORDER BY place
