// Westwood: after a loss, the window falls to the estimated bandwidth-delay product.
// ## What it does
// Estimates the connection's bandwidth from the rate of returning ACKs. At congestion `ssthresh` becomes the estimate times the smallest
// round-trip time, in whole segments and at least two; `cwnd` becomes at most `ssthresh`.
// ## References
// Mascolo et al., *TCP Westwood*, 2001, §2 and §3; Grieco & Mascolo 2004, §2; the Rust part `loss_response/westwood.rs`.
// ## Differs from the Rust part
// The error of the estimate is that of `bandwidth.h`.

PARAMETER u8 loss_response_westwood = 0;
PARAMETER u64 loss_response_westwood_filter = 0;			// 0: original, 1: plus
PARAMETER u64 loss_response_westwood_tau = 500000000;		// nanoseconds
PARAMETER fixed loss_response_westwood_m = WHOLE(2);
PARAMETER fixed loss_response_westwood_pole = 3865470566;		// 0.9
PARAMETER u64 loss_response_westwood_rule = 0;	// 0: at_most, 1: listing

INLINE struct filter loss_response_westwood_estimate(void)
{
	struct filter filter = { loss_response_westwood_filter, loss_response_westwood_tau, loss_response_westwood_m,
				 loss_response_westwood_pole };

	return filter;
}

INLINE void loss_response_westwood_observe(struct bandwidth *state, const struct ack *ack)
{
	struct filter filter = loss_response_westwood_estimate();

	bandwidth_observe(state, &filter, ack);
}

INLINE struct window loss_response_westwood_respond(const struct bandwidth *state, const struct congestion *event,
						    const struct window *window)
{
	struct filter filter = loss_response_westwood_estimate();

	return bandwidth_respond(state, &filter, loss_response_westwood_rule, event, window);
}

INLINE void loss_response_westwood_on_congestion(struct bandwidth *state, const struct congestion *event)
{
	struct filter filter = loss_response_westwood_estimate();

	bandwidth_add_null_samples(state, &filter, event->now);
}

INLINE void loss_response_westwood_internals(const struct bandwidth *state, s64 *out)
{
	bandwidth_internals(state, out);
}
