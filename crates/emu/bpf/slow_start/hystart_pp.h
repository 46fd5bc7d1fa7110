// HyStart++: ends slow start when round-trip times rise, after a few rounds of slower growth that verify the rise.
// ## What it does
// Grows like standard slow start until a round's smallest round-trip time exceeds that of the last round by a threshold. Conservative slow
// start (CSS) then grows a quarter as fast; if round-trip times fall below their value at its start, slow start resumes. After `css_rounds`
// rounds slow start ends.
// ## References
// RFC 9406 §4.2 and §4.3; the Rust part `slow_start/hystart_pp.rs`.
// ## Differs from the Rust part
// - Round-trip times are whole microseconds, as Linux measures them. Growth in CSS is rounded down to a multiple of 2^-32 segments.
// - A round ends when data sent after its start is acknowledged cumulatively. Selective acknowledgements and data sent again, which the Rust
//   part's host also counts, do not end it: with `initial_only` = false, rounds after a timeout are longer.

PARAMETER u8 slow_start_hystart_pp = 0;
PARAMETER u64 slow_start_hystart_pp_min_rtt_thresh = 4000000;	// nanoseconds
PARAMETER u64 slow_start_hystart_pp_max_rtt_thresh = 16000000;
PARAMETER fixed slow_start_hystart_pp_min_rtt_divisor = WHOLE(8);
PARAMETER u64 slow_start_hystart_pp_n_rtt_sample = 8;
PARAMETER fixed slow_start_hystart_pp_css_growth_divisor = WHOLE(4);
PARAMETER u64 slow_start_hystart_pp_css_rounds = 5;
PARAMETER fixed slow_start_hystart_pp_l = WHOLE(8);
PARAMETER u64 slow_start_hystart_pp_initial_only = 1;
PARAMETER u64 slow_start_hystart_pp_css_baseline = 0;	// entry_rtt, entry_threshold
PARAMETER u64 slow_start_hystart_pp_reset_samples = 0;
PARAMETER u64 slow_start_hystart_pp_late_samples = 1;

enum hystart_pp_phase { HYSTART_PP_SLOW_START, HYSTART_PP_CSS, HYSTART_PP_OVER };

struct slow_start_hystart_pp {
	u64 round;		// the present round
	u32 last_min;		// smallest round-trip times of the last round and of this one, in microseconds; 0: none
	u32 current_min;
	u32 samples;		// round-trip times measured in this round
	u32 css_rounds;		// rounds that have ended in CSS
	u64 baseline;		// CSS ends below it; in nanoseconds
	u8 phase;
	u8 begun;		// the first round of this slow start has begun
};

// RFC 9406 §4.2: the rise between rounds that counts, in nanoseconds.
INLINE u64 hystart_pp_threshold(u64 last)
{
	u64 share = quotient(last, slow_start_hystart_pp_min_rtt_divisor);	// a time, as the divisor is a fixed-point number

	return most_of(least_of(share, slow_start_hystart_pp_max_rtt_thresh), slow_start_hystart_pp_min_rtt_thresh);
}

INLINE void slow_start_hystart_pp_observe(struct slow_start_hystart_pp *state, const struct ack *ack, const struct window *window)
{
	u64 current, risen;

	if (state->phase == HYSTART_PP_OVER || window->cwnd >= window->ssthresh)
		return;
	if (!state->begun || state->round != ack->round) {
		state->begun = 1;
		state->round = ack->round;
		state->css_rounds += state->phase == HYSTART_PP_CSS;
		state->last_min = state->current_min;
		state->current_min = 0;
		state->samples = 0;
	}
	if (!ack->rtt)
		return;
	if (!slow_start_hystart_pp_late_samples && state->samples >= slow_start_hystart_pp_n_rtt_sample)
		return;
	if (!state->current_min || ack->rtt < state->current_min)
		state->current_min = ack->rtt;
	state->samples++;
	if (state->samples < slow_start_hystart_pp_n_rtt_sample)
		return;
	current = 1000ULL * state->current_min;
	if (state->phase == HYSTART_PP_SLOW_START) {
		if (!state->last_min)
			return;
		risen = 1000ULL * state->last_min + hystart_pp_threshold(1000ULL * state->last_min);
		if (current + 1 >= risen) {
			state->phase = HYSTART_PP_CSS;
			state->baseline = slow_start_hystart_pp_css_baseline ? risen : current;
			state->css_rounds = 0;
			if (slow_start_hystart_pp_reset_samples)
				state->samples = 0;
		}
	} else if (current + 1 < state->baseline) {
		state->phase = HYSTART_PP_SLOW_START;
	}
}

// Ends a slow start: the next one begins anew, or is standard.
INLINE void slow_start_hystart_pp_on_congestion(struct slow_start_hystart_pp *state)
{
	state->phase = slow_start_hystart_pp_initial_only ? HYSTART_PP_OVER : HYSTART_PP_SLOW_START;
	state->begun = 0;
	state->last_min = 0;
	state->current_min = 0;
	state->samples = 0;
}

INLINE struct step slow_start_hystart_pp_on_ack(struct slow_start_hystart_pp *state, const struct ack *ack, const struct window *window)
{
	fixed counted = least_of(ack->counted, slow_start_hystart_pp_l);
	struct step step = { .kind = EXIT, .ssthresh = window->cwnd };

	if (state->phase == HYSTART_PP_OVER)
		return grow(ack->counted);
	if (state->phase == HYSTART_PP_SLOW_START)
		return grow(counted);
	if (state->css_rounds < slow_start_hystart_pp_css_rounds)
		return grow(quotient(counted, slow_start_hystart_pp_css_growth_divisor));
	slow_start_hystart_pp_on_congestion(state);
	return step;
}

INLINE void slow_start_hystart_pp_internals(const struct slow_start_hystart_pp *state, s64 *out)
{
	out[0] = (s64)state->phase << QUANTITY_BITS;
	out[1] = state->last_min ? seconds(state->last_min, MICROSECONDS) : QUANTITY_NONE;
	out[2] = state->current_min ? seconds(state->current_min, MICROSECONDS) : QUANTITY_NONE;
}
