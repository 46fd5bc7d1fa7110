/*
 * A congestion control in C for Ackclock.
 *
 * A shared library exports one structure for each control, by the macro ACKCLOCK_CONTROL:
 *
 *     ACKCLOCK_CONTROL(gentle) = { .version = ACKCLOCK_VERSION, .size = sizeof(struct gentle), .init = init, .ack = ack, ... };
 *
 * and scenarios, comparisons and suites name it by the file and the name: gentle.so:gentle.
 *
 * Ackclock gives each connection `size` bytes of zeros as its state, aligned for any type, which it may copy; a state therefore has no
 * pointers into itself. Every function gets the state, an event and the outputs, which keep their values between the calls; it changes
 * what it decides. Functions that are null are not called. They must not block, keep data outside the state, or read clocks and random
 * numbers other than those of the events: then equal scenarios give equal results.
 *
 * Times are nanoseconds since the start of the run, and durations nanoseconds. A duration or a rate of 0 is unknown.
 */
#ifndef ACKCLOCK_H
#define ACKCLOCK_H

#include <stddef.h>
#include <stdint.h>

#define ACKCLOCK_VERSION 1

/* What a control decides. */
struct ackclock_output {
    double cwnd;        /* congestion window in segments; the host uses the whole ones, at least 1. At first 1. */
    double ssthresh;    /* slow start threshold in segments, for traces and the phase; at first INFINITY */
    double pacing_rate; /* bit/s of data and headers; 0: the window alone limits sending */
    double burst;       /* bytes that may leave at once while the control paces; at least one segment counts */
    uint64_t timer;     /* time at which `timer` is called, once; 0: never */
};

/* The SYN has been acknowledged: open the initial window. */
struct ackclock_established {
    uint64_t now;
    uint64_t rtt;    /* of the handshake */
    uint64_t seed;   /* for the control's random decisions */
    uint32_t smss;   /* bytes of data in a segment */
    uint32_t header; /* bytes of headers of a segment: a pacing rate includes them */
    uint32_t lost_syns;
    uint32_t selective; /* 1: the receiver reports data out of order (SACK) */
};

/* The connection when a segment was sent (draft-ietf-ccwg-bbr, delivery rate samples). */
struct ackclock_packet {
    uint64_t sent_at;
    uint64_t delivered, lost; /* bytes of the connection by then */
    uint64_t delivered_at;    /* time of the latest of these deliveries */
    uint64_t first_sent;
    uint64_t inflight; /* bytes, with the segment */
    uint32_t app_limited;
    uint32_t known; /* 0: there is no such segment, and the rest is 0 */
};

/* A segment was sent. */
struct ackclock_sent {
    uint64_t now;
    uint64_t size; /* bytes of data */
    uint64_t inflight, snd_nxt;
    uint64_t total_sent, total_delivered, total_lost;
    uint32_t retransmission, app_limited;
};

/* An ACK with new information arrived. */
struct ackclock_ack {
    uint64_t now;
    uint64_t rtt, srtt, min_rtt;
    uint64_t one_way_delay; /* with ACKCLOCK_ONE_WAY_DELAY */
    uint64_t delivered, marked, lost; /* bytes since the last ACK */
    uint64_t inflight_before, inflight;
    uint64_t snd_una, snd_nxt;
    uint64_t total_sent, total_delivered, total_lost;
    uint64_t round;           /* round trips so far */
    uint64_t delivery_rate;   /* bit/s over the flight of `packet`, with ACKCLOCK_SAMPLES */
    uint64_t sample_interval; /* of that flight */
    uint64_t sample_delivered; /* bytes within it */
    struct ackclock_packet packet; /* the segment sent last among those just delivered */
    double counted; /* segments that the ACK counts as for growth */
    uint32_t acked; /* segments acknowledged cumulatively */
    uint32_t may_grow;     /* 0: a duplicate, in loss recovery, or with an echoed mark */
    uint32_t cwnd_limited; /* 0: the window was not used, and must not grow (RFC 9002, section 7.8) */
    uint32_t ecn_echo;
};

/* A segment was declared lost. */
struct ackclock_lost {
    uint64_t now;
    uint64_t start, end; /* its positions */
    uint64_t inflight;   /* without it */
    uint64_t total_sent, total_delivered, total_lost;
    struct ackclock_packet packet; /* with ACKCLOCK_SAMPLES */
};

enum { ACKCLOCK_DUPACK = 1, ACKCLOCK_TIMEOUT = 2, ACKCLOCK_ECN = 3 };

/* A sign of congestion, once in a recovery period: set window and threshold. */
struct ackclock_congestion {
    uint64_t now;
    uint64_t inflight, min_rtt;
    double window;      /* the window in force, in segments */
    double loss_window; /* the window after a restart */
    double least;       /* the smallest window that may be left */
    uint32_t cause;     /* ACKCLOCK_DUPACK, ACKCLOCK_TIMEOUT or ACKCLOCK_ECN */
    uint32_t restart;   /* 1: sending restarts from loss_window */
    uint32_t flight_size; /* segments outstanding */
    uint32_t resent;      /* 1: the segment had been sent again already */
};

/* Wishes, for `wants`. */
enum {
    ACKCLOCK_SAMPLES = 1,        /* delivery rates and packets of ACKs and losses */
    ACKCLOCK_ONE_WAY_DELAY = 2,  /* one-way delays of ACKs */
    ACKCLOCK_OWNS_RECOVERY = 4,  /* window and pacing alone limit sending in loss recovery */
    ACKCLOCK_OWNS_MARKS = 8,     /* the control alone answers marks (RFC 8257, section 3.5) */
    ACKCLOCK_ECT1 = 16,          /* data carries ECT(1) (RFC 9331) */
    ACKCLOCK_PACES_INITIAL_WINDOW = 32
};

struct ackclock_control {
    uint32_t version; /* ACKCLOCK_VERSION */
    uint32_t wants;   /* a sum of wishes */
    size_t size;      /* bytes of the state */
    void (*init)(void *state, const struct ackclock_established *, struct ackclock_output *);
    void (*ack)(void *state, const struct ackclock_ack *, struct ackclock_output *);
    void (*congestion)(void *state, const struct ackclock_congestion *, struct ackclock_output *);
    void (*sent)(void *state, const struct ackclock_sent *, struct ackclock_output *);
    void (*lost)(void *state, const struct ackclock_lost *, struct ackclock_output *);
    void (*timer)(void *state, uint64_t now, struct ackclock_output *);
    void (*recovered)(void *state, uint64_t now, struct ackclock_output *); /* recovery is over */
    void (*spurious)(void *state, uint64_t now, struct ackclock_output *);  /* the last congestion was none: undo */
};

#ifdef _WIN32
#define ACKCLOCK_CONTROL(name) __declspec(dllexport) const struct ackclock_control ackclock_##name
#else
#define ACKCLOCK_CONTROL(name) __attribute__((visibility("default"))) const struct ackclock_control ackclock_##name
#endif

#endif
