/*
 * Two controls in C: Reno, and one that leaves 0.7 of the window after a loss and paces.
 *
 *     cc -O2 -shared -fPIC -I "$(python -c 'import ackclock; print(ackclock.include())')" gentle.c -o gentle.so
 *     ackclock compare reno gentle.so:gentle --paths clean
 */
#include <ackclock.h>
#include <math.h>

struct gentle {
    double factor;
    double before; /* window before the last reduction, for undo */
    double ssthresh_before;
    double bits; /* of a segment with its headers */
};

static void begin(struct gentle *it, const struct ackclock_established *event, struct ackclock_output *out, double factor) {
    it->factor = factor;
    it->bits = 8.0 * (event->smss + event->header);
    out->cwnd = 10;
}

static void init_reno(void *state, const struct ackclock_established *event, struct ackclock_output *out) {
    begin(state, event, out, 0.5);
}

static void init_gentle(void *state, const struct ackclock_established *event, struct ackclock_output *out) {
    begin(state, event, out, 0.7);
}

/* RFC 5681, section 3.1. */
static void ack_reno(void *state, const struct ackclock_ack *ack, struct ackclock_output *out) {
    (void)state;
    if (!ack->may_grow || !ack->cwnd_limited)
        return;
    out->cwnd += out->cwnd < out->ssthresh ? ack->counted : ack->counted / out->cwnd;
}

/* As Reno, with the window spread over a round trip (RFC 9002, section 7.7). */
static void ack_gentle(void *state, const struct ackclock_ack *ack, struct ackclock_output *out) {
    struct gentle *it = state;
    ack_reno(state, ack, out);
    if (ack->srtt)
        out->pacing_rate = (out->cwnd < out->ssthresh ? 2.0 : 1.25) * out->cwnd * it->bits / (1e-9 * (double)ack->srtt);
}

static void congestion(void *state, const struct ackclock_congestion *event, struct ackclock_output *out) {
    struct gentle *it = state;
    it->before = out->cwnd;
    it->ssthresh_before = out->ssthresh;
    out->ssthresh = fmax(2.0, floor(it->factor * event->window));
    out->cwnd = event->restart ? event->loss_window : out->ssthresh;
}

static void spurious(void *state, uint64_t now, struct ackclock_output *out) {
    struct gentle *it = state;
    (void)now;
    out->cwnd = fmax(out->cwnd, it->before);
    out->ssthresh = it->ssthresh_before;
}

ACKCLOCK_CONTROL(reno) = {
    .version = ACKCLOCK_VERSION, .size = sizeof(struct gentle), .init = init_reno, .ack = ack_reno, .congestion = congestion,
    .spurious = spurious,
};

ACKCLOCK_CONTROL(gentle) = {
    .version = ACKCLOCK_VERSION, .size = sizeof(struct gentle), .init = init_gentle, .ack = ack_gentle, .congestion = congestion,
    .spurious = spurious,
};
