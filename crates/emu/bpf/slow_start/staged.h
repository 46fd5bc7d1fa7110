// Staged slow start: growth by zones of the window, fast at first and slower later (Advanced Slow Start, ASS).
// ## What it does
// Adds a number of segments per acknowledged segment that depends on the window's zone: below 25 segments, 25 to 50, 50 to 75, 75 to 100.
// Above the last zone it grows as limited slow start does.
// ## References
// Petrov & Janevski, *Novel slow start algorithm*, §2.2; RFC 3742 §2; the Rust part `slow_start/staged.rs`.
// ## Differs from the Rust part
// At most ZONES zones.

#define ZONES 8

PARAMETER u8 slow_start_staged;
PARAMETER u64 slow_start_staged_algorithm = 1;		// 0 to 3: the paper's algorithms 1 to 4
PARAMETER fixed slow_start_staged_increments[ZONES] = {};	// in place of the algorithm's
PARAMETER u64 slow_start_staged_increments_count = 0;
PARAMETER fixed slow_start_staged_boundaries[ZONES] = { WHOLE(25), WHOLE(50), WHOLE(75), WHOLE(100) };
PARAMETER u64 slow_start_staged_boundaries_count = 4;
PARAMETER fixed slow_start_staged_max_ssthresh = WHOLE(100);

TABLE u8 staged_halves[4][4] = { { 2, 2, 2, 2 }, { 6, 4, 2, 1 }, { 4, 2, 2, 2 }, { 4, 4, 2, 2 } };

// The growth of the paper's algorithm in a zone, in halves of a segment.
INLINE fixed staged_increment(u64 algorithm, u32 zone)
{
	return zone < 4 ? staged_halves[algorithm & 3][zone] * (ONE / 2) : 0;
}

INLINE struct step slow_start_staged_on_ack(const struct ack *ack, const struct window *window)
{
	fixed max_ssthresh = slow_start_staged_max_ssthresh, increment;
	u32 zone;

	for (zone = 0; zone < ZONES; zone++) {
		if (zone >= slow_start_staged_boundaries_count || window->cwnd >= slow_start_staged_boundaries[zone])
			continue;
		increment = slow_start_staged_increments_count ? slow_start_staged_increments[zone]
							       : staged_increment(slow_start_staged_algorithm, zone);
		return grow(times(ack->counted, increment));
	}
	if (window->cwnd < max_ssthresh)
		return grow(ack->counted);
	return grow(limited_growth(ack->counted, window->cwnd, max_ssthresh));
}
