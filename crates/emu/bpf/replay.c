// The congestion control of the BPF program in user space: replays recorded events, for the comparison with the Rust parts.
// ## What it does
// Compiles `composed.h` with the plain types below. Arguments NAME=VALUE[,VALUE...] set parameters, numbers in hexadecimal. Each line of
// the standard input is an event as the kernel's hooks would report it, each line of the output the window and the threshold after it, and the
// quantities of the parts as in `record.h`:
//
//     start CWND SSTHRESH MSS
//     ack NOW ACKED DELIVERED TOTAL_DELIVERED UNA NXT SENT FLIGHT RTT SRTT MIN_RTT LIMITED GROWS COUNTED
//     recovery NOW           congestion and the whole recovery, at whose end the kernel sets the window to the threshold
//     timeout NOW LOSS_WINDOW
//     undo SSTHRESH        the last reduction was spurious
//     window CWND          the kernel sets the window itself
//
// A line with a function of `functions.h` and its arguments, all raw numbers, prints its value.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fixed.h"

#define PARAMETER volatile
#define TABLE static const

struct minmax_sample {
	u32 v;
};

struct minmax {
	struct minmax_sample s[3];
};

struct tcp_sock {
	u32 mss_cache, snd_cwnd, snd_ssthresh, snd_nxt, snd_una, packets_out, max_packets_out, delivered, srtt_us;
	u64 bytes_acked, bytes_sent;
	struct minmax rtt_min;
	int is_cwnd_limited;
};

static int is_cwnd_limited(const struct tcp_sock *tp)
{
	return tp->is_cwnd_limited;
}

#include "composed.h"

static void fail(const char *what, const char *where)
{
	fprintf(stderr, "%s: %s\n", what, where);
	exit(1);
}

// Sets a global variable: a byte, or a list of 64-bit numbers.
static void set(char *argument)
{
	char *values = strchr(argument, '='), *value;
	const ElfW(Sym) *symbol;
	Dl_info info;
	char *place;
	u64 number;

	if (!values)
		fail("not NAME=VALUE", argument);
	*values++ = 0;
	place = dlsym(RTLD_DEFAULT, argument);
	if (!place || !dladdr1(place, &info, (void **)&symbol, RTLD_DL_SYMENT))
		fail("no such parameter", argument);
	for (value = strtok(values, ","); value; value = strtok(0, ",")) {
		number = strtoull(value, 0, 16);
		memcpy(place, &number, symbol->st_size < 8 ? 1 : 8);
		place += 8;
	}
}

static void ack(struct tcp_sock *tp, struct connection *c, const char *facts)
{
	u64 now, una, nxt;
	u32 packets, delivered, rtt, srtt, grows, counted;
	int limited;

	if (sscanf(facts, "%llu %u %u %u %llu %llu %llu %u %u %u %u %d %u %u", &now, &packets, &delivered, &tp->delivered, &una, &nxt,
		   &tp->bytes_sent, &tp->packets_out, &rtt, &srtt, &tp->rtt_min.s[0].v, &limited, &grows, &counted) != 14)
		fail("not an ACK", facts);
	tp->bytes_acked = una;
	tp->snd_una = una;
	tp->snd_nxt = nxt;
	tp->srtt_us = srtt << 3;
	tp->is_cwnd_limited = limited;
	acked(c, packets, rtt ? (s32)rtt : -1);
	observe(tp, c, now);
	if (grows)
		grow_window(tp, c, counted);
	forget(c);
}

static void recover(struct tcp_sock *tp, struct connection *c, u64 now)
{
	tp->snd_ssthresh = reduce(tp, c, now);
	enter(tp, c, now, RECOVERY);
	tp->snd_cwnd = tp->snd_ssthresh;
	end_recovery(tp, c);
	enter(tp, c, now, OPEN);
}

static void time_out(struct tcp_sock *tp, struct connection *c, u64 now, u32 loss_window)
{
	tp->snd_ssthresh = reduce(tp, c, now);
	tp->snd_cwnd = loss_window;
	enter(tp, c, now, LOSS);
}

// Prints the value of a function; returns whether the line is one.
static int call(const char *line)
{
	u64 one, other;
	s64 number;

	if (sscanf(line, "exponential %lld", &number) == 1)
		printf("%llu\n", exponential(number));
	else if (sscanf(line, "logarithm %llu", &one) == 1)
		printf("%lld\n", logarithm(one));
	else if (sscanf(line, "quotient %llu %llu", &one, &other) == 2)
		printf("%llu\n", quotient(one, other));
	else
		return 0;
	return 1;
}

static void print(const struct tcp_sock *tp, const struct connection *c)
{
	s64 quantities[QUANTITIES];
	int index;

	for (index = 0; index < QUANTITIES; index++)
		quantities[index] = QUANTITY_NONE;
	report_internals(c, quantities);
	printf("%u %u", tp->snd_cwnd, tp->snd_ssthresh);
	for (index = 0; index < QUANTITIES; index++)
		printf(" %lld", quantities[index]);
	puts("");
}

int main(int count, char **arguments)
{
	static struct tcp_sock tp;
	static struct connection c;
	char line[512];
	u32 number;
	u64 now;

	while (*++arguments)
		set(*arguments);
	while (fgets(line, sizeof(line), stdin)) {
		if (call(line))
			continue;
		if (sscanf(line, "start %u %u %u", &tp.snd_cwnd, &tp.snd_ssthresh, &tp.mss_cache) == 3)
			start(&tp, &c);
		else if (!strncmp(line, "ack ", 4))
			ack(&tp, &c, line + 4);
		else if (sscanf(line, "recovery %llu", &now) == 1)
			recover(&tp, &c, now);
		else if (sscanf(line, "timeout %llu %u", &now, &number) == 2)
			time_out(&tp, &c, now, number);
		else if (sscanf(line, "undo %u", &number) == 1) {
			tp.snd_cwnd = undo(&tp, &c);
			tp.snd_ssthresh = number;
		} else if (sscanf(line, "window %u", &number) == 1)
			tp.snd_cwnd = number;
		else
			fail("unknown event", line);
		print(&tp, &c);
	}
	return 0;
}
