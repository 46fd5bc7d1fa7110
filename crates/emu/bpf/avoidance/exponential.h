// TCP/EXP: growth by the inverse of an exponential of cwnd, and a cut by an exponential of cwnd.
// ## What it does
// Adds (alpha/e^W)^k segments to the window W per acknowledged segment, or per round trip. Congestion cuts W by (beta e^W)^l segments, to no
// less than one; the connection's first congestion halves it.
// ## References
// Kalpana & Purusothaman, *Performance evaluation of exponential TCP/IP congestion control algorithm*, 2009, §3 and §4; the Rust part
// `avoidance/exponential.rs`, with the choices that it explains.
// ## Differs from the Rust part
// - All parameters are multiples of 2^-32. At a window of W segments, the growth and the cut therefore have a relative error of W x 1.2e-10,
//   and ln alpha and ln beta an error of 1.2e-10 divided by alpha or beta.
// - The arithmetic has an error of 3e-9 segments in the growth, and of 4e-9 of the cut.

PARAMETER u8 avoidance_exponential = 0;
PARAMETER u64 avoidance_exponential_growth = 0;	// 0: per_ack, 1: per_rtt
PARAMETER fixed avoidance_exponential_alpha = ONE;
PARAMETER fixed avoidance_exponential_beta = ONE;
PARAMETER fixed avoidance_exponential_k = 987842478;	// 0.23
PARAMETER fixed avoidance_exponential_l = 687194767;	// 0.16
PARAMETER u64 avoidance_exponential_halves = 0;	// 0: first, 1: slow_start, 2: never

#define EXPONENTIAL_LARGEST (1ULL << 30)	// no transport can use more segments (RFC 7323 §2.3)

struct avoidance_exponential {
	u8 congested;		// the connection has met congestion
};

// e^(power (ln factor + cwnd)), or with -cwnd if `shrinks`.
INLINE fixed exponential_of(fixed power, fixed factor, fixed cwnd, int shrinks)
{
	// 2^27 segments decide as well as more.
	s64 segments = least_of(cwnd, WHOLE(1 << 27)), sum = logarithm(factor) + (shrinks ? -segments : segments);

	return exponential(sum < 0 ? -(s64)times(-sum, power) : (s64)times(sum, power));
}

INLINE fixed avoidance_exponential_on_ack(const struct ack *ack, const struct window *window)
{
	fixed cwnd = window->cwnd, growth = exponential_of(avoidance_exponential_k, avoidance_exponential_alpha, cwnd, 1);

	// Equation 2: the same amount per round trip, in which W segments are acknowledged.
	if (avoidance_exponential_growth)
		growth = divided(growth, cwnd);
	// A steep rule stops at the largest window.
	if (whole(ack->counted) * whole(growth) >= EXPONENTIAL_LARGEST)
		return most_of(cwnd, WHOLE(EXPONENTIAL_LARGEST));
	return least_of(cwnd + times(ack->counted, growth), most_of(cwnd, WHOLE(EXPONENTIAL_LARGEST)));
}

INLINE struct window avoidance_exponential_respond(const struct avoidance_exponential *state, const struct congestion *event,
						   const struct window *window)
{
	u64 halves = avoidance_exponential_halves;
	fixed cut;

	// Slow start doubles the window in a round trip: the path has held half of it.
	if ((halves < 2 && !state->congested) || (halves == 1 && window->cwnd < window->ssthresh))
		return halved(event->window);
	cut = exponential_of(avoidance_exponential_l, avoidance_exponential_beta, event->window, 0);
	return reduced_to(most_of(less(event->window, cut), ONE));
}

INLINE void avoidance_exponential_on_congestion(struct avoidance_exponential *state)
{
	state->congested = 1;
}
