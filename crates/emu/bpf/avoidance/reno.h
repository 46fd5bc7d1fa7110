// Reno's congestion avoidance: one segment per round trip.
// ## What it does
// Counts acknowledged segments, and adds one segment when `cwnd` of them have arrived. Congestion halves the window.
// ## References
// RFC 5681 §3.1, equation 3, and its note on counting acknowledged bytes; the Rust part `avoidance/reno.rs` on a host with whole segments.
// ## Differs from the Rust part
// Nothing.

PARAMETER u8 avoidance_reno;

struct avoidance_reno {
	fixed count;		// acknowledged segments that have not yet made the window grow
};

// Counts `acked` segments; returns the growth if each segment takes `per_segment` of them, a whole number.
INLINE fixed reno_count(struct avoidance_reno *state, fixed acked, fixed per_segment)
{
	fixed due = 0;
	u64 grown;

	// The number per segment may have become smaller: one segment is due, and the surplus is void.
	if (state->count >= per_segment) {
		state->count = 0;
		due = ONE;
	}
	state->count += acked;
	grown = state->count / per_segment;
	state->count -= grown * per_segment;
	return due + WHOLE(grown);
}

INLINE fixed avoidance_reno_on_ack(struct avoidance_reno *state, const struct ack *ack, const struct window *window)
{
	return window->cwnd + reno_count(state, ack->counted, window->cwnd);
}

INLINE struct window avoidance_reno_respond(const struct congestion *event)
{
	return halved(event->window);
}

INLINE void avoidance_reno_on_congestion(struct avoidance_reno *state)
{
	state->count = 0;
}
