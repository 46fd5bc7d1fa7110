// The BPF program: the hooks of `tcp_congestion_ops`, a connection's state, and a record for each ACK.
// ## What it does
// Registers the congestion control of `control.c` under the name `ackclock`, which a loader may change. Every hook finds the state of its
// connection in the map `connections`, and most of them write a record into the ring buffer `acks`.
// ## References
// Linux, Documentation/bpf (struct_ops, ringbuf) and bpf(2).

#include "kernel.h"
#include "control.c"
#include "record.h"

char terms[] SECTION("license") = "GPL";

// Whether records are written.
PARAMETER u64 trace = 1;

struct {
	MAP_INTEGER(type, MAP_SK_STORAGE);
	MAP_INTEGER(map_flags, MAP_NO_PREALLOC);
	int *key;
	struct connection *value;
} connections SECTION(".maps");

struct {
	MAP_INTEGER(type, MAP_RINGBUF);
	MAP_INTEGER(max_entries, 1 << 20);
} acks SECTION(".maps");

// The state of a connection; the first ACK comes before `init`. None if memory is short: the window then stays.
INLINE struct connection *connection_of(void *sk)
{
	return storage_get(&connections, sk, 0, STORAGE_CREATE);
}

INLINE void write_record(const struct tcp_sock *tp, const struct connection *c, u32 hook)
{
	const struct sock *sk = (const struct sock *)tp;
	struct record *record;
	int axis, index;

	if (!trace)
		return;
	record = ring_reserve(&acks, sizeof(*record), 0);
	if (!record)
		return;
	record->now = clock();
	record->address = sk->__sk_common.skc_daddr;
	record->receiver_port = sk->__sk_common.skc_dport;
	record->sender_port = sk->__sk_common.skc_num;
	record->hook = hook;
	record->cwnd = tp->snd_cwnd;
	record->ssthresh = tp->snd_ssthresh;
	record->flight = tp->packets_out;
	record->rtt = c->ack.rtt;
	record->srtt = tp->srtt_us >> 3;
	record->delivered = tp->delivered;
	record->state = c->state;
#pragma unroll
	for (axis = 0; axis < 3; axis++)
#pragma unroll
		for (index = 0; index < INTERNALS; index++)
			record->internals[axis][index] = NOTHING;
	report_internals(c, record->internals);
	ring_submit(record, 0);
}

SECTION("struct_ops") void hook_init(u64 *context)
{
	struct tcp_sock *tp = (void *)context[0];
	struct connection *c = connection_of(tp);

	if (c)
		start(tp, c);
}

SECTION("struct_ops") void hook_pkts_acked(u64 *context)
{
	const struct ack_sample *sample = (void *)context[1];
	struct connection *c = connection_of((void *)context[0]);

	if (c)
		acked(c, sample->pkts_acked, sample->rtt_us);
}

SECTION("struct_ops") void hook_in_ack_event(u64 *context)
{
	struct tcp_sock *tp = (void *)context[0];
	struct connection *c = connection_of(tp);

	if (!c)
		return;
	observe(tp, c, clock());
	write_record(tp, c, ACKED);
	forget(c);
}

SECTION("struct_ops") void hook_cong_avoid(u64 *context)
{
	struct tcp_sock *tp = (void *)context[0];
	struct connection *c = connection_of(tp);
	u32 before = tp->snd_cwnd;

	if (!c)
		return;
	grow_window(tp, c, context[2]);
	if (tp->snd_cwnd != before)
		write_record(tp, c, GREW);
}

SECTION("struct_ops") u32 hook_ssthresh(u64 *context)
{
	struct tcp_sock *tp = (void *)context[0];
	struct connection *c = connection_of(tp);

	return c ? reduce(tp, c) : tp->snd_ssthresh;
}

SECTION("struct_ops") void hook_set_state(u64 *context)
{
	struct tcp_sock *tp = (void *)context[0];
	struct connection *c = connection_of(tp);

	if (!c)
		return;
	enter(tp, c, context[1]);
	write_record(tp, c, STATE);
}

SECTION("struct_ops") void hook_cwnd_event(u64 *context)
{
	struct tcp_sock *tp = (void *)context[0];
	struct connection *c = connection_of(tp);

	if (!c || (u32)context[1] != COMPLETE_CWR)
		return;
	end_recovery(tp, c);
	write_record(tp, c, STATE);
}

SECTION("struct_ops") u32 hook_undo_cwnd(u64 *context)
{
	struct tcp_sock *tp = (void *)context[0];
	struct connection *c = connection_of(tp);

	return c ? undo(tp, c) : tp->snd_cwnd;
}

SECTION(".struct_ops.link") struct tcp_congestion_ops ackclock = {
	.init = (void *)hook_init,
	.pkts_acked = (void *)hook_pkts_acked,
	.in_ack_event = (void *)hook_in_ack_event,
	.cong_avoid = (void *)hook_cong_avoid,
	.ssthresh = (void *)hook_ssthresh,
	.set_state = (void *)hook_set_state,
	.cwnd_event = (void *)hook_cwnd_event,
	.undo_cwnd = (void *)hook_undo_cwnd,
	.name = "ackclock",
};
