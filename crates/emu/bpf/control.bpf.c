// The BPF program: the hooks of `tcp_congestion_ops`, a connection's state, and a record for each ACK.
// ## What it does
// Registers the congestion control of `composed.h` under a name that the loader sets. Every hook finds the state of its
// connection in the map `connections`, and most write a record (`record.h`) into the ring buffer
// `acks`. At a congestion event that is once the kernel has set the threshold, and once recovery has ended.
// ## References
// Linux, Documentation/bpf (struct_ops, ringbuf) and bpf(2).

#include "kernel.h"
#include "composed.h"

char LICENSE[] SECTION("license") = "Dual MIT/GPL";

PARAMETER u8 recording;
u64 lost_records;

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

INLINE void write_record(const struct tcp_sock *tp, const struct connection *c, u32 acked, enum ack_event event)
{
	const struct sock_common *sk = &((const struct sock *)tp)->__sk_common;
	struct ack_record *record;
	int index;

	if (!recording)
		return;
	record = ring_reserve(&acks, sizeof(*record), 0);
	if (!record) {
		__sync_fetch_and_add(&lost_records, 1);
		return;
	}
	record->time = clock();
	record->source = sk->skc_rcv_saddr;
	record->peer = sk->skc_daddr;
	record->source_port = sk->skc_num;
	record->peer_port = __builtin_bswap16(sk->skc_dport);
	record->event = event;
	record->state = c->state;
	record->unused = 0;
	record->cwnd = tp->snd_cwnd;
	record->ssthresh = tp->snd_ssthresh;
	record->inflight = tp->packets_out;
	record->acked = acked;
	record->rtt = c->ack.rtt;
	record->srtt = tp->srtt_us >> 3;
	record->rto = ((const struct inet_connection_sock *)tp)->icsk_rto;
	record->unused2 = 0;
	for (index = 0; index < QUANTITIES; index++)
		record->quantities[index] = QUANTITY_NONE;
	report_internals(c, record->quantities);
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
	write_record(tp, c, c->ack.acked, ACK_ARRIVED);
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
		write_record(tp, c, 0, ACK_GREW);
}

SECTION("struct_ops") u32 hook_ssthresh(u64 *context)
{
	struct tcp_sock *tp = (void *)context[0];
	struct connection *c = connection_of(tp);

	return c ? reduce(tp, c, clock()) : tp->snd_ssthresh;
}

SECTION("struct_ops") void hook_set_state(u64 *context)
{
	struct tcp_sock *tp = (void *)context[0];
	struct connection *c = connection_of(tp);
	u8 reduced;

	if (!c)
		return;
	reduced = c->reduced;
	enter(tp, c, clock(), context[1]);
	// The kernel has set the threshold since `hook_ssthresh`.
	if (reduced)
		write_record(tp, c, 0, ACK_REDUCED);
}

SECTION("struct_ops") void hook_cwnd_event(u64 *context)
{
	struct tcp_sock *tp = (void *)context[0];
	struct connection *c = connection_of(tp);

	if (!c || (u32)context[1] != COMPLETE_CWR)
		return;
	end_recovery(tp, c);
	write_record(tp, c, 0, ACK_REDUCED);
}

SECTION("struct_ops") u32 hook_undo_cwnd(u64 *context)
{
	struct tcp_sock *tp = (void *)context[0];
	struct connection *c = connection_of(tp);
	u32 window;

	if (!c)
		return tp->snd_cwnd;
	window = undo(tp, c);
	write_record(tp, c, 0, ACK_UNDONE);
	return window;
}

SECTION(".struct_ops.link") struct tcp_congestion_ops control = {
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
