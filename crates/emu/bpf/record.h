/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What the loader (src/ebpf) and the program agree on: the record of an event, and how the loader sets parameters.
 *
 * The object has
 * - a ring buffer `acks` of struct ack_record;
 * - a struct_ops map `control` (SEC(".struct_ops.link")) of struct tcp_congestion_ops, whose name the loader replaces;
 * - variables `const volatile` in .rodata, found by name:
 *     __u8  AXIS_PART          1 if the scenario's control has this part, such as slow_start_limited, avoidance_reno
 *                              or loss_response_staged. A part without such a variable is refused before loading.
 *     __u64 AXIS_PART_PARAM    a parameter of the part, such as slow_start_limited_max_ssthresh, by its kind in the registry:
 *                              Segments, Number, Probability: 32 fraction bits; Integer: itself; Bool: 0 or 1; Duration:
 *                              nanoseconds; Size, WireSize: bytes; Rate: bit/s; Word: index of the word in the registry's list;
 *                              Numbers: array with 32 fraction bits, whose length is in AXIS_PART_PARAM_count. "auto" is AUTO.
 *                              Without such a variable the program has the default only.
 *     __u64 AXIS_PART_PARAM_most   the largest value that the program takes, if it has a limit of its own
 *     __u64 initial_ssthresh   segments; 0: none
 *     __u8  recording          1 if the loader reads the ring buffer
 *   AXIS is slow_start, avoidance or loss_response. Without a loss response every loss_response_PART is 0.
 * - a counter `lost_records` (__u64, .bss) of records that found the ring buffer full. */
#ifndef ACKCLOCK_RECORD_H
#define ACKCLOCK_RECORD_H

/* The value of a parameter that the part computes itself. */
#define AUTO (~0ULL)

/* Fraction bits of a quantity, and the value of one that is not known yet. */
#define QUANTITY_BITS 20
#define QUANTITY_NONE ((__s64)(1ULL << 63))

/* Where the quantities of each axis begin; each has four places, in the order of the registry's `quantities`. */
#define QUANTITIES_SLOW_START 0
#define QUANTITIES_AVOIDANCE 4
#define QUANTITIES_LOSS_RESPONSE 8
#define QUANTITIES 12

enum ack_event {
	ACK_ARRIVED = 1, /* the parts have observed the ACK; the window is still the one before it */
	ACK_GREW = 2,    /* the window may have grown by the last ACK that arrived */
	ACK_REDUCED = 3, /* congestion: ssthresh is reduced, cwnd is the kernel's to reduce */
	ACK_UNDONE = 4,  /* the reduction was spurious */
};

struct ack_record {
	__u64 time;     /* bpf_ktime_get_ns() */
	__u32 source;   /* the socket's own IPv4 address, in network byte order */
	__u32 peer;     /* the other end's */
	__u16 source_port; /* in host byte order */
	__u16 peer_port;   /* in host byte order */
	__u8 event;     /* enum ack_event */
	__u8 state;     /* icsk_ca_state: 0 Open, 1 Disorder, 2 CWR, 3 Recovery, 4 Loss */
	__u16 unused;
	__u32 cwnd;     /* segments */
	__u32 ssthresh; /* segments; 0x7fffffff: none */
	__u32 inflight; /* segments */
	__u32 acked;    /* segments newly acknowledged; 0 unless known in this event */
	__u32 rtt;      /* us, of the segment that caused the ACK; 0: none */
	__u32 srtt;     /* us; 0: none */
	__u32 rto;      /* icsk_rto, in ticks of the kernel */
	__u32 unused2;
	__s64 quantities[QUANTITIES];
};

#endif
