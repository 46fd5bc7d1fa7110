// A congestion control composed of one part per axis: the hooks of Linux around slow start, avoidance and loss response.
// ## What it does
// Mirrors `Composed` of the Rust crate `ackclock-core` on a host with whole segments. `control.bpf.c` makes a BPF program of it;
// `replay.c` compiles the same code for user space, for the comparison with the Rust parts.
// - Each ACK: `acked` gathers facts, `observe` shows them to the parts; `grow_window` grows the window, if the kernel allows it.
// - Congestion: `reduce` returns the window to which recovery leads; `end_recovery` then sets window and threshold. At a timeout `enter`
//   sets both.
// ## Differs from the Rust parts
// Linux owns the window in recovery (proportional rate reduction), after idle times, and for the initial window (route or socket).

#include "contract.h"
#include "record.h"
#include "functions.h"
#include "bandwidth.h"

#include "slow_start/standard.h"
#include "slow_start/limited.h"
#include "slow_start/staged.h"
#include "slow_start/hystart_pp.h"
#include "slow_start/search.h"
#include "slow_start/queue_aware.h"
#include "avoidance/reno.h"
#include "avoidance/exponential.h"
#include "avoidance/bandwidth_ratio.h"
#include "loss_response/halve.h"
#include "loss_response/staged.h"
#include "loss_response/return_to_threshold.h"
#include "loss_response/westwood.h"

PARAMETER u64 initial_ssthresh;

enum state { OPEN, DISORDER, CWR, RECOVERY, LOSS };	// TCP_CA_*
#define COMPLETE_CWR 2					// CA_EVENT_COMPLETE_CWR

// The state of a connection.
struct connection {
	fixed rest;			// growth that does not yet amount to a segment
	struct window before;		// window before the last reduction
	struct window response;		// and the response to it
	struct ack ack;			// the last ACK
	u64 round_end;			// the position whose acknowledgement ends the round trip
	u32 delivered;			// `total_delivered` at the last ACK
	u8 reduced;			// `reduce` was called, and no state has followed yet
	u8 recovering;			// the end of recovery sets `response`
	u8 state;
	struct avoidance_reno reno;
	struct avoidance_exponential exponential;
	struct bandwidth bandwidth_ratio;
	struct bandwidth westwood;
	struct slow_start_hystart_pp hystart_pp;
	struct slow_start_queue_aware queue_aware;
	struct slow_start_search search;
};

// Asks the chosen slow start. Each call of a part stands behind its AXIS_PART: the verifier removes all but one.
INLINE struct step slow_start_on_ack(struct connection *c, const struct ack *ack, const struct window *window)
{
	if (slow_start_limited)
		return slow_start_limited_on_ack(ack, window);
	if (slow_start_staged)
		return slow_start_staged_on_ack(ack, window);
	if (slow_start_hystart_pp)
		return slow_start_hystart_pp_on_ack(&c->hystart_pp, ack, window);
	if (slow_start_search)
		return slow_start_search_on_ack(&c->search, ack, window);
	if (slow_start_queue_aware)
		return slow_start_queue_aware_on_ack(&c->queue_aware, ack);
	return slow_start_standard_on_ack(ack);
}

INLINE fixed avoidance_on_ack(struct connection *c, const struct ack *ack, const struct window *window)
{
	if (avoidance_exponential)
		return avoidance_exponential_on_ack(ack, window);
	if (avoidance_bandwidth_ratio)
		return avoidance_bandwidth_ratio_on_ack(&c->bandwidth_ratio, ack, window);
	return avoidance_reno_on_ack(&c->reno, ack, window);
}

INLINE void observe_parts(struct connection *c, const struct ack *ack, const struct window *window)
{
	if (slow_start_hystart_pp)
		slow_start_hystart_pp_observe(&c->hystart_pp, ack, window);
	if (slow_start_search)
		slow_start_search_observe(&c->search, ack, window);
	if (slow_start_queue_aware)
		slow_start_queue_aware_observe(&c->queue_aware, ack, window);
	if (avoidance_bandwidth_ratio)
		avoidance_bandwidth_ratio_observe(&c->bandwidth_ratio, ack);
	if (loss_response_westwood)
		loss_response_westwood_observe(&c->westwood, ack);
}

INLINE struct window respond(struct connection *c, const struct congestion *event, const struct window *window)
{
	if (loss_response_halve)
		return loss_response_halve_respond(event);
	if (loss_response_staged)
		return loss_response_staged_respond(event, window);
	if (loss_response_return_to_threshold)
		return loss_response_return_to_threshold_respond(event, window);
	if (loss_response_westwood)
		return loss_response_westwood_respond(&c->westwood, event, window);
	if (avoidance_exponential)
		return avoidance_exponential_respond(&c->exponential, event, window);
	if (avoidance_bandwidth_ratio)
		return avoidance_bandwidth_ratio_respond(&c->bandwidth_ratio, event, window);
	return avoidance_reno_respond(event);
}

// The window after a timeout; `loss_window` is the host's.
INLINE fixed restart_from(fixed loss_window, const struct window *reduced)
{
	if (loss_response_return_to_threshold)
		return loss_response_return_to_threshold_restart_from(loss_window, reduced);
	return loss_window;
}

// The parts learn of a reduction once its cause is known; `window` is the window before it.
INLINE void notify_congestion(struct connection *c, const struct congestion *event, const struct window *window)
{
	if (slow_start_hystart_pp)
		slow_start_hystart_pp_on_congestion(&c->hystart_pp);
	if (slow_start_search)
		slow_start_search_on_congestion(&c->search);
	if (loss_response_westwood)
		loss_response_westwood_on_congestion(&c->westwood, event);
	if (avoidance_exponential)
		avoidance_exponential_on_congestion(&c->exponential);
	if (avoidance_bandwidth_ratio)
		avoidance_bandwidth_ratio_on_congestion(&c->bandwidth_ratio, event);
	avoidance_reno_on_congestion(&c->reno);
}

INLINE void report_internals(const struct connection *c, s64 *quantities)
{
	if (slow_start_hystart_pp)
		slow_start_hystart_pp_internals(&c->hystart_pp, quantities + QUANTITIES_SLOW_START);
	if (slow_start_search)
		slow_start_search_internals(&c->search, quantities + QUANTITIES_SLOW_START);
	if (slow_start_queue_aware)
		slow_start_queue_aware_internals(&c->queue_aware, quantities + QUANTITIES_SLOW_START);
	if (avoidance_bandwidth_ratio)
		avoidance_bandwidth_ratio_internals(&c->bandwidth_ratio, quantities + QUANTITIES_AVOIDANCE);
	if (loss_response_westwood)
		loss_response_westwood_internals(&c->westwood, quantities + QUANTITIES_LOSS_RESPONSE);
}

INLINE struct window window_of(const struct tcp_sock *tp)
{
	struct window window = { .cwnd = WHOLE(tp->snd_cwnd), .ssthresh = WHOLE(tp->snd_ssthresh) };

	return window;
}

// The usable part of a reduced window.
INLINE struct window fit(struct window window, fixed least)
{
	window.cwnd = most_of(floored(window.cwnd), least);
	window.ssthresh = most_of(floored(window.ssthresh), MIN_SSTHRESH);
	return window;
}

// Sets the window after growth or shrinking by a part. Whole segments apply at once; the rest waits.
INLINE void change_to(struct tcp_sock *tp, struct connection *c, fixed cwnd)
{
	fixed sum = cwnd + c->rest, used = most_of(floored(sum + ROUNDING), LOSS_WINDOW);

	c->rest = less(sum, used);
	tp->snd_cwnd = whole(used);
}

INLINE void set_window(struct tcp_sock *tp, struct window window)
{
	window = fit(window, LOSS_WINDOW);
	tp->snd_cwnd = whole(window.cwnd);
	tp->snd_ssthresh = whole(window.ssthresh);
}

// Applies the slow start's decision; returns the segments that the ACK still counts for in avoidance.
INLINE fixed apply(struct tcp_sock *tp, struct connection *c, const struct step *step, struct window window)
{
	fixed cwnd = window.cwnd + step->cwnd;

	switch (step->kind) {
	case GROW:
		if (cwnd <= window.ssthresh) {
			change_to(tp, c, cwnd);
			return 0;
		}
		tp->snd_cwnd = whole(window.ssthresh);
		c->rest = 0;
		return least_of(cwnd - window.ssthresh, c->ack.counted);
	case EXIT:
	case EXIT_BEFORE:
		window.cwnd = least_of(window.cwnd, most_of(step->ssthresh, MIN_SSTHRESH));
		window.ssthresh = step->ssthresh;
		set_window(tp, window);
		return step->kind == EXIT_BEFORE ? c->ack.counted : 0;
	case LEAVE:
		window.cwnd = step->cwnd;
		window.ssthresh = step->ssthresh;
		set_window(tp, window);
	}
	return 0;
}

INLINE void grow_in_avoidance(struct tcp_sock *tp, struct connection *c)
{
	struct window window = window_of(tp);

	change_to(tp, c, most_of(avoidance_on_ack(c, &c->ack, &window), LOSS_WINDOW));
}

// Whether the window has limited the sender: in slow start, whether half of it has been in use.
INLINE int may_use_growth(const struct tcp_sock *tp)
{
	if (tp->snd_cwnd < tp->snd_ssthresh && tp->snd_cwnd < 2 * tp->max_packets_out)
		return 1;
	return is_cwnd_limited(tp);
}

// Hook init: the connection is established.
INLINE void start(struct tcp_sock *tp, struct connection *c)
{
	// The bins of SEARCH, at the end, need no reset.
	__builtin_memset(c, 0, __builtin_offsetof(struct connection, search.bins));
	c->delivered = tp->delivered;
	if (initial_ssthresh)
		tp->snd_ssthresh = initial_ssthresh;
}

// Hook pkts_acked: the facts about an ACK that the socket does not hold. `rtt` is negative if unknown.
INLINE void acked(struct connection *c, u32 packets, s32 rtt)
{
	c->ack.acked += packets;
	if (rtt > 0)
		c->ack.rtt = rtt;
}

// Hook in_ack_event: every ACK, after `acked` and before the window grows.
INLINE void observe(const struct tcp_sock *tp, struct connection *c, u64 now)
{
	struct window window = window_of(tp);
	struct ack *ack = &c->ack;

	ack->now = now;
	ack->una = tp->bytes_acked;
	ack->nxt = tp->bytes_acked + (tp->snd_nxt - tp->snd_una);
	ack->sent = tp->bytes_sent;
	ack->counted = 0;
	ack->total_delivered = tp->delivered;
	ack->delivered = tp->delivered - c->delivered;
	ack->flight = tp->packets_out;
	ack->srtt = tp->srtt_us >> 3;
	ack->min_rtt = tp->rtt_min.s[0].v;
	ack->mss = tp->mss_cache;
	c->delivered = tp->delivered;
	if (ack->una > c->round_end) {
		ack->round++;
		c->round_end = ack->nxt;
	}
	if (ack->acked || ack->delivered)
		observe_parts(c, ack, &window);
}

// The ACK is over: the next one gathers its own facts.
INLINE void forget(struct connection *c)
{
	c->ack.acked = 0;
	c->ack.rtt = 0;
}

// Hook cong_avoid: the window may grow by the segments that the ACK has delivered.
INLINE void grow_window(struct tcp_sock *tp, struct connection *c, u32 delivered)
{
	struct window window = window_of(tp);
	struct step step;

	c->ack.counted = WHOLE(delivered);
	if (!may_use_growth(tp))
		return;
	if (window.cwnd < window.ssthresh) {
		step = slow_start_on_ack(c, &c->ack, &window);
		c->ack.counted = apply(tp, c, &step, window);
		if (!c->ack.counted)
			return;
	}
	grow_in_avoidance(tp, c);
}

INLINE struct congestion congestion(const struct tcp_sock *tp, u64 now, enum cause cause, fixed window)
{
	struct congestion event = { .now = now, .cause = cause, .window = window, .min_rtt = tp->rtt_min.s[0].v };

	return event;
}

// Hook ssthresh: congestion. Returns the window to which recovery leads.
INLINE u32 reduce(const struct tcp_sock *tp, struct connection *c, u64 now)
{
	struct window window = window_of(tp);
	struct congestion event = congestion(tp, now, DUP_ACK, window.cwnd);

	c->before = window;
	c->response = fit(respond(c, &event, &window), MIN_SSTHRESH);
	c->rest = 0;
	c->reduced = 1;
	return whole(c->response.cwnd);
}

// Hook set_state. At a timeout the kernel has set the window to its loss window before.
INLINE void enter(struct tcp_sock *tp, struct connection *c, u64 now, u8 state)
{
	struct congestion event = congestion(tp, now, state == LOSS ? TIMEOUT : DUP_ACK, c->before.cwnd);
	struct window window;

	if (c->reduced && state == LOSS) {
		window = respond(c, &event, &c->before);
		window.cwnd = restart_from(WHOLE(tp->snd_cwnd), &window);
		set_window(tp, window);
	}
	if (c->reduced)
		notify_congestion(c, &event, &c->before);
	c->recovering = c->reduced ? state != LOSS : c->recovering && state != LOSS;
	c->reduced = 0;
	c->state = state;
}

// Hook cwnd_event at the end of recovery, when the kernel has set the window to the threshold.
INLINE void end_recovery(struct tcp_sock *tp, struct connection *c)
{
	if (c->recovering)
		set_window(tp, c->response);
	c->recovering = 0;
}

// Hook undo_cwnd: the reduction was spurious; the kernel restores the threshold.
INLINE u32 undo(const struct tcp_sock *tp, struct connection *c)
{
	u32 before = whole(c->before.cwnd);

	c->recovering = 0;
	return tp->snd_cwnd > before ? tp->snd_cwnd : before;
}
