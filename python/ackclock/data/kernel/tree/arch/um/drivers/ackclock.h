/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The joint between a User-Mode Linux kernel and Ackclock: memory that both share, in which they take turns.
 *
 * One of the two runs at a time. The kernel runs until it would advance its clock to `until` or beyond; then it hands over, and Ackclock
 * says up to where the kernel may advance, and what arrives there. Both directions are lists of records; the reader of a list empties it.
 * Nothing else tells the kernel the time, so a run is a function of the command line and of these records.
 */
#ifndef __ACKCLOCK_H
#define __ACKCLOCK_H

#define ACKCLOCK_VERSION 3
/* Bytes of each list of records. */
#define ACKCLOCK_RECORDS (4u << 20)
/* Most sockets and most interfaces. */
#define ACKCLOCK_SOCKETS 4096
#define ACKCLOCK_DEVICES 1024
/* Bytes of a socket's TCP_INFO. */
#define ACKCLOCK_INFO 512

/* Whose turn it is; a futex. */
enum ackclock_turn { ACKCLOCK_KERNEL, ACKCLOCK_OUTSIDE };

/* Why the kernel hands over: it waits for a time; its list is full; a congestion control of Ackclock is called. */
enum ackclock_reason { ACKCLOCK_WAIT, ACKCLOCK_FULL, ACKCLOCK_CONTROL };

/*
 * Kinds of records. To the kernel: a packet for an interface, a line for the guest's first process, an order for a socket; for the queue of
 * an interface: a packet that arrives, whose link is free. From the kernel: a packet of an interface, an answer of the first process, what
 * programs write to standard output (`index` is 1) or standard error (2), and a packet that a queue has dropped.
 */
enum ackclock_kind {
	ACKCLOCK_PACKET = 1, ACKCLOCK_LINE, ACKCLOCK_ORDER, ACKCLOCK_OUTPUT, ACKCLOCK_ENQUEUE, ACKCLOCK_FREE, ACKCLOCK_DROP
};

/* Orders for a socket: write `value` bytes more, write without end, write nothing more, close after the last byte. */
enum ackclock_order { ACKCLOCK_WRITE, ACKCLOCK_ENDLESS, ACKCLOCK_STOP, ACKCLOCK_CLOSE };

/* A record, with `length` bytes behind it, filled up to a multiple of eight. */
struct ackclock_record {
	unsigned long long time;	/* of the kernel's clock, in nanoseconds; from the kernel only */
	unsigned long long value;	/* of an order */
	unsigned int kind;
	unsigned int index;		/* of the interface or socket */
	/* Packet to the kernel: socket to look after, or ~0. Order: which. Of a queue: number of the packet, from 1 on. */
	unsigned int about;
	unsigned int length;
};

/* The state of a socket that Ackclock reads and writes. */
struct ackclock_socket {
	unsigned long long read;	/* bytes read in order */
	int error;			/* of the last call that failed, or 0 */
	unsigned int flags;
	unsigned char info[ACKCLOCK_INFO];	/* struct tcp_info */
};

/* Flags of a socket: it is connected; its peer has closed. */
#define ACKCLOCK_CONNECTED 1u
#define ACKCLOCK_CLOSED 2u

/*
 * Calls of a congestion control: the connection is established; an ACK has arrived, at which the window may grow or not; congestion, which
 * wants a threshold; the state of recovery has changed; recovery is over; the last reduction was spurious, which wants a window; the first
 * segment after an idle time leaves.
 */
enum ackclock_call {
	ACKCLOCK_BEGIN, ACKCLOCK_ACK, ACKCLOCK_CONGESTION, ACKCLOCK_RECOVERY, ACKCLOCK_RECOVERED, ACKCLOCK_SPURIOUS, ACKCLOCK_TRANSMIT
};

/* Facts of a call, and the answer. Durations are microseconds, counts are segments. */
struct ackclock_control {
	unsigned int call;
	unsigned int index;		/* of the socket */
	unsigned long long now;		/* of the kernel's clock, in nanoseconds */
	unsigned int una, nxt;		/* sequence numbers */
	unsigned int delivered, delivered_ce, lost;	/* segments so far */
	unsigned int flight, inflight;	/* outstanding; of these, neither delivered nor lost */
	unsigned int prior_inflight;	/* before the ACK; or 0 */
	unsigned int acked;		/* newly acknowledged, or for growth those that count */
	unsigned int grows, limited, echo;	/* whether the window may grow; has limited the sender; whether the ACK echoes a mark */
	unsigned int cause;		/* congestion: 0 loss, 1 timeout, 2 mark; recovery: enum tcp_ca_state */
	unsigned int cwnd, ssthresh, mss;
	int rtt, srtt, min_rtt;		/* -1: unknown */
	int rate_delivered;		/* of the rate sample; -1: none */
	unsigned int rate_interval, rate_prior_delivered, rate_app_limited;
	unsigned long long rate_prior;	/* time of the delivery before the sampled packet was sent, in microseconds */
	/* The answer. */
	unsigned int set;		/* ACKCLOCK_SET_… */
	unsigned int new_cwnd, new_ssthresh, result;
	unsigned long long pacing;	/* bytes per second */
};

#define ACKCLOCK_SET_CWND 1u
#define ACKCLOCK_SET_SSTHRESH 2u
#define ACKCLOCK_SET_PACING 4u

struct ackclock_joint {
	unsigned int version;		/* written by Ackclock */
	unsigned int turn;
	unsigned int reason;
	unsigned int deaf;		/* earlier records are not taken yet: the kernel goes to `next` whatever arrives before */
	unsigned long long seed;	/* of all random numbers */
	unsigned long long now;		/* by the kernel: its time; by Ackclock: the time that it has now */
	unsigned long long next;	/* the time for which the kernel waits */
	unsigned long long until;	/* the kernel advances by itself to times below */
	unsigned int in;		/* bytes in the list to the kernel */
	unsigned int out;		/* bytes in the list from the kernel */
	unsigned char pad[4096 - 56];
	unsigned char to_kernel[ACKCLOCK_RECORDS];
	unsigned char from_kernel[ACKCLOCK_RECORDS];
	struct ackclock_socket sockets[ACKCLOCK_SOCKETS];
	struct ackclock_control control;
};

/* Calls of the device /dev/ackclock. */
struct ackclock_adopt {
	int socket;			/* descriptor */
	unsigned int index;		/* its number */
	unsigned int listens;
};
/* Makes the interface with this number in the network namespace of the caller. */
#define ACKCLOCK_NEW_DEVICE _IO('A', 1)
/*
 * Makes an interface that is a queue: what Ackclock puts into its queue discipline comes out of it one packet at a time, whenever Ackclock
 * says that the link is free.
 */
#define ACKCLOCK_NEW_QUEUE _IO('A', 3)
/* Gives a TCP socket to the kernel's thread, which reads, writes and closes it; the caller keeps its descriptor. */
#define ACKCLOCK_ADOPT _IOW('A', 2, struct ackclock_adopt)

/* In ackclock_user.c. */
extern struct ackclock_joint *ackclock_joint;
void ackclock_hand_over(void);

#endif
