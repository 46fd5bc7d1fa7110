// The contract between the composition and its parts.
// ## What it does
// Mirrors the events and the traits of the Rust crate `ackclock-core` (`events.rs`, `cc/contract.rs`), as far as Linux can report them. A
// part is a file in the folder of its axis. Its functions have the names AXIS_PART_EVENT and the signatures below; `control.c` calls them.
// A part's parameters are global variables AXIS_PART_PARAMETER, set before the program is loaded. The variable AXIS_PART is 1 if the part is
// chosen: the verifier then removes all other parts. `record.h` says how the loader writes parameters.
//
//     void        observe(struct STATE *, const struct ack *, const struct window *)       every ACK of data or with SACKs, before growth
//     struct step on_ack(struct STATE *, const struct ack *, const struct window *)        slow start: ACK of new data
//     fixed       on_ack(struct STATE *, const struct ack *, const struct window *)        avoidance: the new window
//     struct window respond(const struct STATE *, const struct congestion *, const struct window *)   asked twice at a timeout
//     void        on_congestion(struct STATE *, const struct congestion *, const struct window *)     once, after `respond`
//     void        internals(const struct STATE *, s64 *)       quantities in the registry's order, with QUANTITY_BITS of fraction
//
// A part without state, or without need for an event, leaves out the argument or the function.
// ## Differs from the Rust parts
// Linux has no hook for a sent or a lost segment: parts derive the limits of rounds from `nxt`.

// The congestion window and the slow start threshold, in segments.
struct window {
	fixed cwnd;
	fixed ssthresh;
};

// An ACK. Times are in microseconds except for `now`; zero: unknown.
struct ack {
	u64 now;		// arrival, in nanoseconds of a clock that never goes back
	u64 una;		// first position not yet acknowledged, in bytes since the start of the connection
	u64 nxt;		// next position that has never been sent
	u64 sent;		// bytes sent, retransmissions included
	u64 round;		// round trips since the start of the connection
	fixed counted;		// segments that growth counts; set when the window may grow
	u32 acked;		// segments newly acknowledged cumulatively; 0 at a duplicate
	u32 delivered;		// segments newly delivered: acknowledged cumulatively, or selectively for the first time
	u32 total_delivered;	// segments delivered since the start of the connection
	u32 flight;		// segments outstanding after the ACK
	u32 rtt;		// round-trip time of the segment that caused the ACK
	u32 srtt;		// smoothed round-trip time
	u32 min_rtt;		// smallest round-trip time so far
	u32 mss;		// bytes of a full segment
};

enum cause { DUP_ACK, TIMEOUT };

// A sign of congestion, at most one in a recovery period. Linux tells losses and marks apart only after the response: both are DUP_ACK.
struct congestion {
	u64 now;
	enum cause cause;
	fixed window;		// the window in force
	u32 min_rtt;
};

// The decision of a slow start.
enum kind {
	GROW,			// by `cwnd` segments
	EXIT,			// with the threshold `ssthresh`, which also caps the window
	EXIT_BEFORE,		// likewise, before the ACK counts: avoidance grows the window by it
	LEAVE,			// with this window and threshold
};

struct step {
	enum kind kind;
	fixed cwnd;
	fixed ssthresh;
};

#define MIN_SSTHRESH WHOLE(2)
#define LOSS_WINDOW WHOLE(1)
#define NO_SSTHRESH WHOLE(0x7fffffff)	// Linux: unlimited

INLINE struct step grow(fixed segments)
{
	struct step step = { .kind = GROW, .cwnd = segments };

	return step;
}

// The window after a reduction to `cwnd`; the threshold is a whole number, at least 2.
INLINE struct window reduced_to(fixed cwnd)
{
	struct window window = { .cwnd = cwnd, .ssthresh = most_of(floored(cwnd), MIN_SSTHRESH) };

	return window;
}

INLINE struct window halved(fixed in_force)
{
	return reduced_to(in_force / 2);
}
