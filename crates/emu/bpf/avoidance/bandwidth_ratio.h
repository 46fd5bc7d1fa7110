// Westwood RB's avoidance: Reno's growth, faster or slower as the estimated bandwidth is above or below its mean.
// ## What it does
// Each acknowledged segment adds (d + 1)/cwnd segments with the bandwidth ratio d = (bwe - bwe_avg)/(bwe_max - bwe_avg), from -1 over 0 at
// the mean to 1 at the maximum. The response to congestion is TCP Westwood's.
// ## References
// Hong, Wu & Ding, *An improved slow-start and congestion avoidance algorithm based on TCP Westwood*, 2013, equations 2-4; the Rust part
// `avoidance/bandwidth_ratio.rs`, with the choices that it explains.
// ## Differs from the Rust part
// The error of the estimate is that of `bandwidth.h`; the ratio divides its errors by the difference of maximum and mean.

PARAMETER u8 avoidance_bandwidth_ratio = 0;
PARAMETER u64 avoidance_bandwidth_ratio_filter = 0;			// 0: original, 1: plus
PARAMETER u64 avoidance_bandwidth_ratio_tau = 500000000;		// nanoseconds
PARAMETER fixed avoidance_bandwidth_ratio_m = WHOLE(2);
PARAMETER fixed avoidance_bandwidth_ratio_pole = 3865470566;		// 0.9
PARAMETER u64 avoidance_bandwidth_ratio_rule = 0;	// 0: at_most, 1: listing

INLINE struct filter avoidance_bandwidth_ratio_estimate(void)
{
	struct filter filter = { avoidance_bandwidth_ratio_filter, avoidance_bandwidth_ratio_tau, avoidance_bandwidth_ratio_m,
				 avoidance_bandwidth_ratio_pole };

	return filter;
}

// The bandwidth ratio d, plus 1. Hong et al. eq. 2.
INLINE fixed bandwidth_ratio_delta_plus_one(const struct bandwidth *state)
{
	u64 mean = bandwidth_mean(state), range = less(state->max, mean), below = less(mean, state->estimate);

	if (!range)
		return ONE;
	if (below >= range)
		return 0;
	return below ? ONE - quotient(below, range) : ONE + quotient(state->estimate - mean, range);
}

INLINE void avoidance_bandwidth_ratio_observe(struct bandwidth *state, const struct ack *ack)
{
	struct filter filter = avoidance_bandwidth_ratio_estimate();

	bandwidth_observe(state, &filter, ack);
}

INLINE fixed avoidance_bandwidth_ratio_on_ack(const struct bandwidth *state, const struct ack *ack, const struct window *window)
{
	// Hong et al. eq. 4.
	return window->cwnd + divided(times(ack->counted, bandwidth_ratio_delta_plus_one(state)), window->cwnd);
}

INLINE struct window avoidance_bandwidth_ratio_respond(const struct bandwidth *state, const struct congestion *event,
						       const struct window *window)
{
	struct filter filter = avoidance_bandwidth_ratio_estimate();

	return bandwidth_respond(state, &filter, avoidance_bandwidth_ratio_rule, event, window);
}

INLINE void avoidance_bandwidth_ratio_on_congestion(struct bandwidth *state, const struct congestion *event)
{
	struct filter filter = avoidance_bandwidth_ratio_estimate();

	bandwidth_add_null_samples(state, &filter, event->now);
}

INLINE void avoidance_bandwidth_ratio_internals(const struct bandwidth *state, s64 *out)
{
	bandwidth_internals(state, out);
	out[3] = ((s64)bandwidth_ratio_delta_plus_one(state) - (s64)ONE) >> (FRACTION - QUANTITY_BITS);
}
