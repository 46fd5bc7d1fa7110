// Staged decrease: the divisor undoes one round trip of growth in the window's zone (Advanced Slow Start, ASS).
// ## What it does
// Divides the window in force by a divisor that depends on the zone of `cwnd` at the loss, in slow start and in avoidance.
// ## References
// Petrov & Janevski, *Novel slow start algorithm*, §5; the Rust part `loss_response/staged.rs`.
// ## Differs from the Rust part
// At most ZONES zones. A quotient less than ROUNDING below a whole number counts as that number.

PARAMETER u8 loss_response_staged;
PARAMETER u64 loss_response_staged_algorithm = 1;	// 0 to 3: the paper's algorithms 1 to 4
PARAMETER fixed loss_response_staged_divisors[ZONES] = {};	// in place of the algorithm's
PARAMETER u64 loss_response_staged_divisors_count = 0;
PARAMETER fixed loss_response_staged_boundaries[ZONES] = { WHOLE(25), WHOLE(50) };
PARAMETER u64 loss_response_staged_boundaries_count = 2;

TABLE u8 staged_divisors[4][3] = { { 2, 2, 2 }, { 4, 3, 2 }, { 3, 2, 2 }, { 3, 3, 2 } };

INLINE fixed staged_divisor(u64 algorithm, u32 zone)
{
	return zone < 3 ? WHOLE(staged_divisors[algorithm & 3][zone]) : ONE;
}

INLINE struct window loss_response_staged_respond(const struct congestion *event, const struct window *window)
{
	fixed divisor = ONE;
	u32 zone;

	for (zone = 0; zone < ZONES; zone++) {
		divisor = loss_response_staged_divisors_count ? loss_response_staged_divisors[zone]
							      : staged_divisor(loss_response_staged_algorithm, zone);
		if (zone >= loss_response_staged_boundaries_count || window->cwnd < loss_response_staged_boundaries[zone])
			break;
	}
	return reduced_to(divided(event->window, divisor) + ROUNDING);
}
