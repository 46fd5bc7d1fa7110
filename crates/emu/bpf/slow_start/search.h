// SEARCH: ends slow start when deliveries fall behind the data sent a round trip earlier.
// ## What it does
// Grows like standard slow start, and counts sent and delivered bytes in bins of time. It compares the bytes delivered in the last `bins`
// bins with the bytes sent in as many bins one round trip earlier. If the missing share reaches `threshold`, slow start ends.
// ## References
// draft-chung-ccwg-search; the Rust part `slow_start/search.rs`, with the choices that it explains.
// ## Differs from the Rust part
// - At most 64 bins and 62 extra ones.
// - Linux counts delivered segments; each counts as a full one.
// - Shares of a bin are multiples of 2^-26 of it, bytes of 2^-16.

#define SEARCH_SLOTS 128	// a power of 2, more than `bins` + `extra_bins`
#define SEARCH_BYTE 16		// fraction bits of bytes

PARAMETER u8 slow_start_search = 0;
PARAMETER fixed slow_start_search_window_factor = 7 * ONE / 2;
PARAMETER u64 slow_start_search_bins = 10;
PARAMETER u64 slow_start_search_bins_most = 64;
PARAMETER u64 slow_start_search_extra_bins = 15;
PARAMETER u64 slow_start_search_extra_bins_most = 62;
PARAMETER u64 slow_start_search_missed_bins = 10;
PARAMETER fixed slow_start_search_threshold = 1116691497;	// 0.26
PARAMETER u64 slow_start_search_signal = 0;			// 0: sent, 1: twice_delivered
PARAMETER u64 slow_start_search_exit = 0;			// 0: keep, 1: roll_back, 2: drain

// Counters of the connection at the end of a bin, in bytes.
struct search_bin {
	u64 sent;
	u64 delivered;
};

struct slow_start_search {
	u64 duration;		// length of a bin in nanoseconds; 0: the next ACK starts the first bin
	u64 end;		// of the present bin
	u64 index;		// the last bin that has ended; 0 holds the counters before the first bin
	s64 norm;		// the missing share at the last check
	fixed initial_window;
	u8 checked;		// there has been a check
	u8 exit_due;		// it ends slow start
	struct search_bin bins[SEARCH_SLOTS];	// bin n is at index n modulo their number
};

INLINE u64 search_counter(struct slow_start_search *state, u64 index, int sent)
{
	const struct search_bin *bin = &state->bins[index & (SEARCH_SLOTS - 1)];

	return sent ? bin->sent : bin->delivered;
}

// Bytes counted from bin `from` to bin `index`; a `share` moves both to older bins.
INLINE u64 search_bytes(struct slow_start_search *state, u64 from, u64 index, fixed share, int sent)
{
	u64 newer = search_counter(state, index, sent) - search_counter(state, from, sent);
	u64 older = search_counter(state, index - 1, sent) - search_counter(state, from - 1, sent);

	return times(ONE - share, newer << SEARCH_BYTE) + times(share, older << SEARCH_BYTE);
}

// The missing share: of the bytes sent one round trip (`back` bins) earlier, the share not delivered.
INLINE void search_check(struct slow_start_search *state, fixed back)
{
	u64 bins = slow_start_search_bins, index = state->index, then, delivered, sent;

	if (back >= WHOLE(slow_start_search_extra_bins) || index <= bins + whole(back))
		return;
	then = index - whole(back);
	delivered = (search_counter(state, index, 0) - search_counter(state, index - bins, 0)) << SEARCH_BYTE;
	sent = search_bytes(state, then - bins, then, (u32)back, !slow_start_search_signal) << (slow_start_search_signal ? 1 : 0);
	if (!sent)
		return;
	state->norm = delivered > sent ? -(s64)quotient(delivered - sent, sent) : (s64)quotient(sent - delivered, sent);
	state->exit_due = state->norm >= (s64)slow_start_search_threshold;
	state->checked = 1;
}

INLINE void slow_start_search_on_congestion(struct slow_start_search *state)
{
	state->duration = 0;
	state->exit_due = 0;
}

// Ends the bins that are over, and checks for the end of slow start. A bin ends at the first ACK strictly later than its end.
INLINE void slow_start_search_observe(struct slow_start_search *state, const struct ack *ack, const struct window *window)
{
	struct search_bin bin = { .sent = ack->sent, .delivered = (u64)ack->total_delivered * ack->mss }, last;
	u64 rtt = 1000ULL * (ack->rtt ? ack->rtt : ack->srtt), passed, missed;
	int slot;

	if (!state->initial_window)
		state->initial_window = window->cwnd;
	if (!rtt || window->cwnd >= window->ssthresh)
		return;
	if (!state->duration) {
		state->duration = most_of(times(rtt, slow_start_search_window_factor) / slow_start_search_bins, 1);
		state->end = ack->now + state->duration;
		state->index = 0;
		state->bins[0] = bin;
		return;
	}
	if (ack->now <= state->end)
		return;
	passed = (ack->now - state->end) / state->duration + 1;
	if (passed > slow_start_search_missed_bins) {
		slow_start_search_on_congestion(state);
		return;
	}
	last = state->bins[state->index & (SEARCH_SLOTS - 1)];
	missed = state->index + 1;
	state->index += passed;
	state->end += passed * state->duration;
	if (passed > SEARCH_SLOTS)
		missed = state->index - SEARCH_SLOTS;
	for (slot = 0; slot < SEARCH_SLOTS && missed < state->index; slot++, missed++)
		state->bins[missed & (SEARCH_SLOTS - 1)] = last;
	state->bins[state->index & (SEARCH_SLOTS - 1)] = bin;
	search_check(state, quotient(rtt, state->duration));
}

// Segments delivered in the last `round_trips` initial round trips.
INLINE fixed search_delivered_in(struct slow_start_search *state, u64 round_trips, u32 mss)
{
	u64 bins = slow_start_search_bins, index = state->index, then;
	fixed back = divided(WHOLE(round_trips * bins), slow_start_search_window_factor), share;
	u64 newer, older;

	back = least_of(back, WHOLE(bins + slow_start_search_extra_bins - 1));
	share = (u32)back;
	then = less(index, whole(back));
	newer = search_counter(state, index, 0) - search_counter(state, then, 0);
	older = search_counter(state, index, 0) - search_counter(state, less(then, 1), 0);
	return quotient(times(ONE - share, newer << SEARCH_BYTE) + times(share, older << SEARCH_BYTE), (u64)mss << SEARCH_BYTE);
}

INLINE struct step slow_start_search_on_ack(struct slow_start_search *state, const struct ack *ack, const struct window *window)
{
	struct step step = { .kind = EXIT, .ssthresh = window->cwnd };

	if (!state->exit_due)
		return grow(ack->counted);
	// draft-chung-ccwg-search 3.0: removes the data sent beyond the capacity before SEARCH could detect it.
	if (slow_start_search_exit == 1)
		step.ssthresh = most_of(less(window->cwnd, search_delivered_in(state, 2, ack->mss)), state->initial_window);
	// draft-09: the bandwidth-delay product of the path with an empty queue.
	if (slow_start_search_exit == 2)
		step.ssthresh = most_of(search_delivered_in(state, 1, ack->mss), state->initial_window);
	slow_start_search_on_congestion(state);
	return step;
}

INLINE void slow_start_search_internals(const struct slow_start_search *state, s64 *out)
{
	if (state->duration)
		out[0] = seconds(state->duration, NANOSECONDS);
	if (state->checked)
		out[1] = state->norm >> (FRACTION - QUANTITY_BITS);
}
