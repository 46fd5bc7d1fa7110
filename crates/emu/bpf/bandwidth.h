// The bandwidth of a connection, estimated from the rate of returning ACKs as in TCP Westwood, and Westwood's response to congestion.
// ## References
// Mascolo et al., *TCP Westwood*, 2001, §2 and §3; Grieco & Mascolo, *Performance evaluation and comparison of Westwood+, New Reno, and Vegas
// TCP congestion control*, 2004, §2; the Rust module `cc/bandwidth.rs`, with the choices that it explains.
// ## Differs from the Rust module
// Rates are multiples of 2^-20 segments per second; weights of the filter are multiples of 2^-32, in which 2t/(2tau + t) after the time t is
// rounded. The estimate has a relative error of about 1e-6 plus tau/t x 2^-19 segments per second.

#define RATE_BITS 20

// The parameters of the estimate; times in nanoseconds.
struct filter {
	u64 plus;		// Westwood+: a sample per round trip
	u64 tau;
	fixed m;
	fixed pole;
};

struct bandwidth {
	u64 sampled;		// end of the last sample
	u64 acked;		// segments acknowledged since then
	u64 accounted;		// segments reported by duplicate ACKs and not yet by a cumulative ACK
	u64 estimate;
	u64 sum;		// sum, number and maximum of the estimates, one per ACK
	u64 count;
	u64 max;
	u64 last;		// the original filter's last sample, and the time up to which it is current
	u64 filtered;
	u8 started;		// the first ACK has arrived
	u8 begun;		// Westwood+ has taken a sample
};

// The weight of the old estimate after `time`.
INLINE fixed bandwidth_weight(u64 tau, u64 time)
{
	return ONE - quotient(2 * time, 2 * tau + time);
}

// Mascolo et al. §2.2 (equation 3); `samples` is the sum of the last two.
INLINE u64 bandwidth_step(u64 estimate, fixed weight, u64 samples)
{
	return times_nearest(estimate, weight) + times_nearest(samples / 2, ONE - weight);
}

INLINE u64 bandwidth_sample(u64 segments, u64 gap)
{
	u64 above = segments * NANOSECONDS;

	return (above / gap << RATE_BITS) + (above % gap << RATE_BITS) / gap;
}

// Adds the null samples before `now`. Mascolo et al. §2.2: one whenever tau/m passes without an ACK.
FUNCTION void bandwidth_add_null_samples(struct bandwidth *b, const struct filter *filter, u64 now)
{
	// A time divided by a number, as both are raw.
	u64 limit = most_of(quotient(filter->tau, filter->m), 1), nulls;
	fixed weight, power = ONE;
	int bit;

	if (filter->plus || !b->started || now <= b->filtered)
		return;
	// An idle period that ends exactly now adds none.
	nulls = (now - b->filtered - 1) / limit;
	if (!nulls)
		return;
	weight = bandwidth_weight(filter->tau, limit);
	b->estimate = bandwidth_step(b->estimate, weight, b->last);
	b->last = 0;
	b->filtered += nulls * limit;
	// The others multiply by a power of the weight.
	nulls--;
	for (bit = 0; bit < 32; bit++) {
		if (nulls >> bit & 1)
			power = times(power, weight);
		weight = times(weight, weight);
	}
	b->estimate = times(b->estimate, power);
}

// Mascolo et al. §2.3: a duplicate ACK reports the arrival of one segment; the next cumulative ACK reports the others.
INLINE u64 bandwidth_newly_arrived(struct bandwidth *b, u32 acked)
{
	u64 reported;

	if (!acked) {
		b->accounted++;
		return 1;
	}
	reported = least_of(b->accounted, acked - 1);
	b->accounted -= reported;
	return acked - reported;
}

FUNCTION void bandwidth_observe(struct bandwidth *b, const struct filter *filter, const struct ack *ack)
{
	u64 gap, sample;
	fixed pole;

	b->acked += bandwidth_newly_arrived(b, ack->acked);
	if (!b->started) {
		// The duration of the first ACK's own segments' delivery is unknown.
		b->started = 1;
		b->sampled = b->filtered = ack->now;
		b->acked = 0;
		return;
	}
	gap = less(ack->now, b->sampled);
	if (gap && (!filter->plus || gap + 1 >= 1000ULL * ack->rtt)) {
		sample = bandwidth_sample(b->acked, gap);
		if (filter->plus) {
			// Grieco & Mascolo §2. The first sample is the first estimate.
			pole = b->begun ? filter->pole : 0;
			b->estimate = times_nearest(b->estimate, pole) + times_nearest(sample, ONE - pole);
			b->begun = 1;
		} else {
			bandwidth_add_null_samples(b, filter, ack->now);
			b->estimate = bandwidth_step(b->estimate, bandwidth_weight(filter->tau, ack->now - b->filtered), sample + b->last);
			b->last = sample;
			b->filtered = ack->now;
		}
		b->sampled = ack->now;
		b->acked = 0;
	}
	b->sum += b->estimate;
	b->count++;
	b->max = most_of(b->max, b->estimate);
}

// The mean of the estimates at all ACKs so far.
INLINE u64 bandwidth_mean(const struct bandwidth *b)
{
	return b->count ? b->sum / b->count : 0;
}

// The segments that fill the path without a queue; `min_rtt` in microseconds.
INLINE fixed bandwidth_pipe(const struct bandwidth *b, u32 min_rtt)
{
	return times(b->estimate << (FRACTION - RATE_BITS), quotient(min_rtt, MICROSECONDS));
}

// Westwood's response. Mascolo et al. §3: `ssthresh` becomes the pipe, and `cwnd` at most that. `rule` 1 is Hong et al.'s listing.
INLINE struct window bandwidth_respond(const struct bandwidth *b, const struct filter *filter, u64 rule, const struct congestion *event,
				       const struct window *window)
{
	struct bandwidth now = *b;
	struct window reduced;

	bandwidth_add_null_samples(&now, filter, event->now);
	reduced = reduced_to(bandwidth_pipe(&now, event->min_rtt));
	// The listing's `cwnd=ssthresh` in avoidance lacks the condition that it has for slow start.
	reduced.cwnd = reduced.ssthresh;
	if (!rule || event->cause == TIMEOUT || window->cwnd < window->ssthresh)
		reduced.cwnd = least_of(least_of(window->cwnd, event->window), reduced.ssthresh);
	return reduced;
}

INLINE void bandwidth_internals(const struct bandwidth *b, s64 *out)
{
	out[0] = b->estimate;	// RATE_BITS are QUANTITY_BITS
	out[1] = bandwidth_mean(b);
	out[2] = b->max;
}
