// What the program needs of the kernel: types with the fields used, and helper functions.
// ## What it does
// libbpf relocates the fields when it loads the program (CO-RE), so the same object runs on every kernel that has them. The types carry
// only the fields used; their order and offsets here mean nothing.
// ## References
// Documentation/bpf/libbpf and bpf-helpers(7); numbers of the helper functions: uapi/linux/bpf.h.

#include "fixed.h"

// A setting of the loader. The verifier knows its value, so code of parts that are not chosen is removed.
#define PARAMETER const volatile __attribute__((section(".rodata"), used))

// A constant table, in the same section.
#define TABLE static const volatile __attribute__((section(".rodata"), used))

#define SECTION(name) __attribute__((section(name), used))

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct sock_common {
	u32 skc_daddr;
	u32 skc_rcv_saddr;
	u16 skc_dport;
	u16 skc_num;
};

struct sock {
	struct sock_common __sk_common;
};

struct inet_connection_sock {
	u32 icsk_rto;
};

struct minmax_sample {
	u32 t;
	u32 v;
};

struct minmax {
	struct minmax_sample s[3];
};

struct tcp_sock {
	u32 mss_cache;
	u32 snd_cwnd;
	u32 snd_ssthresh;
	u32 snd_nxt;
	u32 snd_una;
	u32 packets_out;
	u32 max_packets_out;
	u32 delivered;
	u32 srtt_us;
	u64 bytes_acked;
	u64 bytes_sent;
	struct minmax rtt_min;
	u8 is_cwnd_limited : 1;
};

struct ack_sample {
	u32 pkts_acked;
	s32 rtt_us;
	u32 in_flight;
};

#pragma clang attribute pop

// The hooks that the program has. libbpf finds them in the kernel's type by name.
struct tcp_congestion_ops {
	u32 (*ssthresh)(struct sock *);
	void (*cong_avoid)(struct sock *, u32, u32);
	void (*set_state)(struct sock *, u8);
	void (*cwnd_event)(struct sock *, u32);
	void (*in_ack_event)(struct sock *, u32);
	void (*pkts_acked)(struct sock *, const struct ack_sample *);
	u32 (*undo_cwnd)(struct sock *);
	void (*init)(struct sock *);
	char name[16];
};

// Number of the helper functions.
static void *(*const storage_get)(void *map, void *sk, void *value, u64 flags) = (void *)107;	// bpf_sk_storage_get
static u64 (*const clock)(void) = (void *)5;							// bpf_ktime_get_ns
static void *(*const ring_reserve)(void *ring, u64 size, u64 flags) = (void *)131;		// bpf_ringbuf_reserve
static void (*const ring_submit)(void *data, u64 flags) = (void *)132;				// bpf_ringbuf_submit

#define STORAGE_CREATE 1	// BPF_SK_STORAGE_GET_F_CREATE
#define MAP_RINGBUF 27		// BPF_MAP_TYPE_RINGBUF
#define MAP_SK_STORAGE 24	// BPF_MAP_TYPE_SK_STORAGE
#define MAP_NO_PREALLOC 1	// BPF_F_NO_PREALLOC

// The members of a map's definition, as libbpf reads them from the type information.
#define MAP_INTEGER(name, value) int (*name)[value]

// Facts about a bit field that libbpf fills in.
enum { FIELD_BYTE_OFFSET = 0, FIELD_LSHIFT = 4, FIELD_RSHIFT = 5 };

// Whether the window, not the application, limited the sender in the last round trip.
INLINE int is_cwnd_limited(const struct tcp_sock *tp)
{
	const u8 *byte = (const u8 *)tp + __builtin_preserve_field_info(tp->is_cwnd_limited, FIELD_BYTE_OFFSET);
	u64 value = *byte;

	value <<= __builtin_preserve_field_info(tp->is_cwnd_limited, FIELD_LSHIFT);
	value >>= __builtin_preserve_field_info(tp->is_cwnd_limited, FIELD_RSHIFT);
	return value != 0;
}
