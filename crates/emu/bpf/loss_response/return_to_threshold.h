// Return Back to Threshold (RBT): after any loss the window continues just below `ssthresh`.
// ## What it does
// At congestion `ssthresh` becomes half the window in force w, in whole segments and at least two. `cwnd` becomes ssthresh - 1/w, which
// Linux rounds down to whole segments. A timeout has the same effect.
// ## References
// Preveze, *A novel method for performance improvement of slow start congestion control method in packet switched networks*, 2019, §4 and
// figure 7; the Rust part `loss_response/return_to_threshold.rs`.
// ## Differs from the Rust part
// Linux's recovery first reduces the window to `cwnd`, but not below two segments; the composition then sets threshold and window.

PARAMETER u8 loss_response_return_to_threshold;
PARAMETER u64 loss_response_return_to_threshold_reading = 0;	// 0: text, 1: figure
PARAMETER u64 loss_response_return_to_threshold_restart = 0;	// 0: threshold, 1: one
PARAMETER u64 loss_response_return_to_threshold_halves = 1;

INLINE struct window loss_response_return_to_threshold_respond(const struct congestion *event, const struct window *window)
{
	struct window reduced = halved(event->window);
	fixed base;

	// Preveze eq. 10: the same S in every period. An unlimited threshold is set first.
	if (!loss_response_return_to_threshold_halves && window->ssthresh < NO_SSTHRESH)
		reduced.ssthresh = window->ssthresh;
	base = loss_response_return_to_threshold_reading ? event->window : least_of(reduced.ssthresh, event->window);
	// Preveze §4: MSS²/cwnd is one step of avoidance.
	reduced.cwnd = most_of(less(base, ratio(1, whole(event->window))), LOSS_WINDOW);
	return reduced;
}

// The window after a timeout: the reduced one, or that of the host.
INLINE fixed loss_response_return_to_threshold_restart_from(fixed loss_window, const struct window *reduced)
{
	return loss_response_return_to_threshold_restart ? loss_window : reduced->cwnd;
}
