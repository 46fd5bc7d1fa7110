// A record of the ring buffer `acks`: the state of a connection after a hook.

enum hook { ACKED, GREW, STATE };

struct record {
	u64 now;		// nanoseconds of CLOCK_MONOTONIC
	u32 address;		// the receiver's IPv4 address and ports: the connection
	u16 receiver_port;	// in network order
	u16 sender_port;	// in host order
	u32 hook;		// enum hook
	u32 cwnd;		// segments
	u32 ssthresh;		// segments; 0x7fffffff: unlimited
	u32 flight;		// segments outstanding
	u32 rtt;		// of this ACK in microseconds; 0: not measured
	u32 srtt;		// microseconds
	u32 delivered;		// segments so far
	u32 state;		// TCP_CA_*
	s64 internals[3][INTERNALS];	// of slow start, avoidance and loss response, in the registry's order; fixed point, or NOTHING
};
