// SPDX-License-Identifier: GPL-2.0-only
/*
 * A congestion control of the kernel whose decisions are Ackclock's: each event of a connection is a turn of Ackclock, which answers with
 * window, threshold and pacing rate at the same time.
 *
 * `ackclock` leaves recovery (proportional rate reduction) and the pacing rate to the kernel, as the kernel's Reno and CUBIC do;
 * `ackclock_all` decides at every ACK, as the kernel's BBR does.
 */
#include <linux/module.h>
#include <linux/version.h>
#include <net/inet_sock.h>
#include <net/tcp.h>

#include "ackclock.h"

/* In arch/um/kernel/time.c. */
unsigned long long ackclock_time(void);

/* What is known of an ACK before the kernel decides whether the window may grow. */
struct seat {
	u64 now;
	u32 una, nxt, delivered, delivered_ce, lost, flight, inflight, prior_inflight, acked;
	s32 rtt;
	/* An ACK waits to be reported; it echoes a mark; the control was told of the connection. */
	u8 waits, echo, begun;
};

/* The number of an end's socket: its address is 10.h.l.1 or 10.h.l.2, and h and l are the number of its flow from 1 on. */
static u32 number(const struct sock *sk)
{
	u32 own = ntohl(inet_sk(sk)->inet_saddr);

	return 2 * (((own >> 8) & 0xffff) - 1) + (own & 0xff) - 1;
}

static void note(const struct sock *sk, struct seat *seat)
{
	const struct tcp_sock *tp = tcp_sk(sk);

	seat->now = ackclock_time();
	seat->una = tp->snd_una;
	seat->nxt = tp->snd_nxt;
	seat->delivered = tp->delivered;
	seat->delivered_ce = tp->delivered_ce;
	seat->lost = tp->lost;
	seat->flight = tp->packets_out;
	seat->inflight = tcp_packets_in_flight(tp);
}

static void apply(struct sock *sk, const struct ackclock_control *answer)
{
	struct tcp_sock *tp = tcp_sk(sk);

	if (answer->set & ACKCLOCK_SET_CWND)
		tcp_snd_cwnd_set(tp, clamp(answer->new_cwnd, 1U, tp->snd_cwnd_clamp));
	if (answer->set & ACKCLOCK_SET_SSTHRESH)
		tp->snd_ssthresh = answer->new_ssthresh;
	if (answer->set & ACKCLOCK_SET_PACING) {
		cmpxchg(&sk->sk_pacing_status, SK_PACING_NONE, SK_PACING_NEEDED);
		WRITE_ONCE(sk->sk_pacing_rate, min_t(u64, answer->pacing, sk->sk_max_pacing_rate));
	}
}

/* A call with the facts of `seat`; `acked` segments count, and the window may grow or not. */
static u32 call(struct sock *sk, u32 kind, const struct seat *seat, u32 cause, bool grows, u32 acked, const struct rate_sample *rate)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	struct ackclock_control *control = &ackclock_joint->control;
	unsigned long flags;
	u32 result;

	local_irq_save(flags);
	*control = (struct ackclock_control) {
		.call = kind, .index = number(sk), .now = seat->now, .una = seat->una, .nxt = seat->nxt, .delivered = seat->delivered,
		.delivered_ce = seat->delivered_ce, .lost = seat->lost, .flight = seat->flight, .inflight = seat->inflight,
		.prior_inflight = seat->prior_inflight, .acked = acked, .grows = grows, .limited = tcp_is_cwnd_limited(sk), .echo = seat->echo,
		.cause = cause, .cwnd = tcp_snd_cwnd(tp), .ssthresh = tp->snd_ssthresh, .mss = tp->mss_cache, .rtt = seat->rtt,
		.srtt = tp->srtt_us ? tp->srtt_us >> 3 : -1, .min_rtt = tcp_min_rtt(tp) == ~0U ? -1 : tcp_min_rtt(tp), .rate_delivered = -1,
	};
	if (rate && rate->delivered > 0 && rate->interval_us > 0) {
		control->rate_delivered = rate->delivered;
		control->rate_interval = rate->interval_us;
		control->rate_prior_delivered = rate->prior_delivered;
		control->rate_prior = rate->prior_mstamp;
		control->rate_app_limited = rate->is_app_limited;
	}
	ackclock_joint->reason = ACKCLOCK_CONTROL;
	ackclock_hand_over();
	apply(sk, control);
	result = control->result;
	local_irq_restore(flags);
	return result;
}

/* Reports an ACK at which the window did not grow, before anything that came after it. */
static struct seat *seat_of(struct sock *sk)
{
	struct seat *seat = inet_csk_ca(sk);

	if (seat->begun && seat->waits) {
		seat->waits = 0;
		call(sk, ACKCLOCK_ACK, seat, 0, false, seat->acked, NULL);
		seat->echo = 0;
	}
	return seat;
}

/* An event that is no ACK. */
static u32 event(struct sock *sk, u32 kind, u32 cause, u32 otherwise)
{
	struct seat *seat = seat_of(sk), now = { .rtt = -1 };

	/* The handshake can time out. */
	if (!seat->begun)
		return otherwise;
	note(sk, &now);
	now.echo = seat->echo;
	return call(sk, kind, &now, cause, false, 0, NULL);
}

static void begin(struct sock *sk)
{
	struct seat *seat = inet_csk_ca(sk);

	*seat = (struct seat) { .rtt = -1 };
	if (!ackclock_joint)
		return;
	note(sk, seat);
	seat->begun = 1;
	call(sk, ACKCLOCK_BEGIN, seat, 0, false, 0, NULL);
}

static void arrived(struct sock *sk, u32 flags)
{
	struct seat *seat = inet_csk_ca(sk);

	/* Some kernels tell of an ACK before its packets, others after them: then the ACK that waits is this one. */
	if (!seat->waits || seat->now != ackclock_time() || seat->una != tcp_sk(sk)->snd_una)
		seat = seat_of(sk);
	seat->echo = !!(flags & CA_ACK_ECE);
}

static void acknowledged(struct sock *sk, const struct ack_sample *sample)
{
	struct seat *seat = seat_of(sk);

	note(sk, seat);
	seat->prior_inflight = sample->in_flight;
	seat->acked = max(sample->pkts_acked, 0);
	seat->rtt = sample->rtt_us;
	seat->waits = 1;
}

static void grow(struct sock *sk, u32 ack, u32 acked)
{
	struct seat *seat = inet_csk_ca(sk);

	if (!seat->begun)
		return;
	seat->waits = 0;
	call(sk, ACKCLOCK_ACK, seat, 0, true, acked, NULL);
	seat->echo = 0;
}

static void control(struct sock *sk, u32 ack, int flag, const struct rate_sample *rate)
{
	struct seat *seat = inet_csk_ca(sk);

	if (!seat->begun)
		return;
	if (!seat->waits) {
		note(sk, seat);
		seat->acked = 0;
		seat->rtt = -1;
	}
	seat->waits = 0;
	seat->prior_inflight = rate->prior_in_flight;
	/* What recovery has marked lost since. */
	seat->lost = tcp_sk(sk)->lost;
	seat->inflight = tcp_packets_in_flight(tcp_sk(sk));
	call(sk, ACKCLOCK_ACK, seat, 0, inet_csk(sk)->icsk_ca_state < TCP_CA_CWR, seat->acked, rate);
	seat->echo = 0;
}

static u32 threshold(struct sock *sk)
{
	const struct seat *seat = inet_csk_ca(sk);
	const struct tcp_sock *tp = tcp_sk(sk);
	/* The timer that expires has no successor yet; every other sign comes while one runs. */
	u32 cause = !inet_csk(sk)->icsk_pending ? 1 : seat->echo && !tp->lost_out ? 2 : 0;

	return event(sk, ACKCLOCK_CONGESTION, cause, max(tcp_snd_cwnd(tp) >> 1, 2U));
}

static void state(struct sock *sk, u8 state)
{
	event(sk, ACKCLOCK_RECOVERY, state, 0);
}

static void window_event(struct sock *sk, enum tcp_ca_event happened)
{
	if (happened == CA_EVENT_COMPLETE_CWR)
		event(sk, ACKCLOCK_RECOVERED, 0, 0);
	else if (happened == CA_EVENT_TX_START)
		event(sk, ACKCLOCK_TRANSMIT, 0, 0);
}

#if LINUX_VERSION_CODE >= KERNEL_VERSION(7, 0, 0)
static void transmit(struct sock *sk)
{
	event(sk, ACKCLOCK_TRANSMIT, 0, 0);
}
#define TRANSMIT .cwnd_event_tx_start = transmit,
#else
#define TRANSMIT
#endif

static u32 undo(struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);

	return event(sk, ACKCLOCK_SPURIOUS, 0, max(tcp_snd_cwnd(tp), tp->prior_cwnd));
}

#define COMMON \
	.flags = TCP_CONG_NON_RESTRICTED, .owner = THIS_MODULE, .init = begin, .ssthresh = threshold, .undo_cwnd = undo, .set_state = state, \
	.cwnd_event = window_event, .in_ack_event = arrived, .pkts_acked = acknowledged, TRANSMIT

static struct tcp_congestion_ops parts = { COMMON .cong_avoid = grow, .name = "ackclock" };
static struct tcp_congestion_ops whole = { COMMON .cong_control = control, .name = "ackclock_all" };

static int __init ackclock_control_init(void)
{
	BUILD_BUG_ON(sizeof(struct seat) > ICSK_CA_PRIV_SIZE);
	return tcp_register_congestion_control(&parts) ?: tcp_register_congestion_control(&whole);
}
late_initcall(ackclock_control_init);
