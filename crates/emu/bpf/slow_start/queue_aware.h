// Westwood RB's slow start: standard growth until it detects a queue, then half as fast.
// ## What it does
// Estimates the flow's backlog from the window and the connection's bandwidth: diff = cwnd - bwe x RTTmin. Below `beta` segments every ACK
// counts. From `beta` on, only every other ACK does.
// ## References
// Hong, Wu & Ding, *An improved slow-start and congestion avoidance algorithm based on TCP Westwood*, 2013, equation 1 and steps 1-3; the
// Rust part `slow_start/queue_aware.rs`, with the consequences that it explains.
// ## Differs from the Rust part
// The error of the estimate is that of `bandwidth.h`.

PARAMETER u8 slow_start_queue_aware = 0;
PARAMETER u64 slow_start_queue_aware_filter = 0;			// 0: original, 1: plus
PARAMETER u64 slow_start_queue_aware_tau = 500000000;		// nanoseconds
PARAMETER fixed slow_start_queue_aware_m = WHOLE(2);
PARAMETER fixed slow_start_queue_aware_pole = 3865470566;		// 0.9
PARAMETER fixed slow_start_queue_aware_beta = WHOLE(3);

struct slow_start_queue_aware {
	struct bandwidth bandwidth;
	fixed pipe;		// the window without a queue after the last ACK
	u32 min_rtt;		// smallest round-trip time, in microseconds; 0: the pipe is unknown
	fixed cwnd;		// the window at the last ACK
	u8 skips;		// the next ACK adds nothing if there is a queue
};

INLINE void slow_start_queue_aware_observe(struct slow_start_queue_aware *state, const struct ack *ack, const struct window *window)
{
	struct filter filter = { slow_start_queue_aware_filter, slow_start_queue_aware_tau, slow_start_queue_aware_m,
				 slow_start_queue_aware_pole };

	bandwidth_observe(&state->bandwidth, &filter, ack);
	state->pipe = bandwidth_pipe(&state->bandwidth, ack->min_rtt);
	state->min_rtt = ack->min_rtt;
	state->cwnd = window->cwnd;
}

INLINE struct step slow_start_queue_aware_on_ack(struct slow_start_queue_aware *state, const struct ack *ack)
{
	// Hong et al. eq. 1.
	if (!state->min_rtt || state->cwnd < state->pipe + slow_start_queue_aware_beta)
		return grow(ack->counted);
	// Hong et al. step 3 ii.
	state->skips = !state->skips;
	return grow(state->skips ? ack->counted : 0);
}

INLINE void slow_start_queue_aware_internals(const struct slow_start_queue_aware *state, s64 *out)
{
	bandwidth_internals(&state->bandwidth, out);
	if (state->min_rtt)
		out[3] = (s64)(state->cwnd - state->pipe) >> (FRACTION - QUANTITY_BITS);
}
