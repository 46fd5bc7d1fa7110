// Limited slow start: standard up to `max_ssthresh`, then at most half of that per round trip.
// ## What it does
// Below `max_ssthresh` it adds one segment per acknowledged segment. From there it adds 1/K segments, K = ⌊cwnd / (max_ssthresh/2)⌋.
// ## References
// RFC 3742 §2; the Rust part `slow_start/limited.rs`.
// ## Differs from the Rust part
// 1/K is rounded down to a multiple of 2^-32. ROUNDING absorbs the error of K such terms up to K = 4096.

PARAMETER u8 slow_start_limited;
PARAMETER fixed slow_start_limited_max_ssthresh = WHOLE(100);

// RFC 3742 §2: growth by `counted` segments for windows from `max_ssthresh` on.
INLINE fixed limited_growth(fixed counted, fixed cwnd, fixed max_ssthresh)
{
	return counted / (cwnd / (max_ssthresh / 2));
}

INLINE struct step slow_start_limited_on_ack(const struct ack *ack, const struct window *window)
{
	fixed max_ssthresh = slow_start_limited_max_ssthresh;

	if (window->cwnd < max_ssthresh)
		return grow(ack->counted);
	return grow(limited_growth(ack->counted, window->cwnd, max_ssthresh));
}
