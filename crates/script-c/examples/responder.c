/* The smallest stack that scripts can test: it accepts one connection over IPv4, and sends what the application writes in one segment.
 *
 * cc -Iinclude examples/responder.c -L../../target/release -lackclock_script_c -lpthread -ldl -lm -o responder && ./responder FILE */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ackclock_script.h"

enum { IP = 20, TCP = 20, FIN = 1, SYN = 2, PSH = 8, ACK = 16 };

struct connection {
    uint8_t peer[4], own[4];
    uint16_t peer_port, own_port;
    uint32_t sent, expected; /* next sequence numbers of both sides */
    int established, accepted;
    uint8_t waiting[2048];
    size_t length;
};

static uint32_t get32(const uint8_t *at) {
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static void put16(uint8_t *at, uint16_t value) {
    at[0] = (uint8_t)(value >> 8);
    at[1] = (uint8_t)value;
}

static void put32(uint8_t *at, uint32_t value) {
    put16(at, (uint16_t)(value >> 16));
    put16(at + 2, (uint16_t)value);
}

static uint32_t sum(const uint8_t *bytes, size_t length) {
    uint32_t total = 0;
    for (size_t i = 0; i < length; i++) total += i % 2 ? bytes[i] : (uint32_t)bytes[i] << 8;
    return total;
}

static uint16_t fold(uint32_t total) {
    while (total >> 16) total = (total & 0xFFFF) + (total >> 16);
    return (uint16_t)~total;
}

/* Prepares a segment with `data` zeros. */
static void send_segment(struct connection *c, uint8_t flags, size_t data) {
    size_t segment = TCP + data;
    uint8_t *ip = c->waiting, *tcp = ip + IP;
    memset(ip, 0, IP + segment);
    ip[0] = 0x45;
    put16(ip + 2, (uint16_t)(IP + segment));
    ip[6] = 0x40;
    ip[8] = 64;
    ip[9] = 6;
    memcpy(ip + 12, c->own, 4);
    memcpy(ip + 16, c->peer, 4);
    put16(ip + 10, fold(sum(ip, IP)));
    put16(tcp, c->own_port);
    put16(tcp + 2, c->peer_port);
    put32(tcp + 4, c->sent);
    put32(tcp + 8, c->expected);
    tcp[12] = 5 << 4;
    tcp[13] = flags;
    put16(tcp + 14, 10000);
    put16(tcp + 16, fold(sum(ip + 12, 8) + 6 + (uint32_t)segment + sum(tcp, segment)));
    c->length = IP + segment;
    c->sent += (uint32_t)data + (flags & SYN ? 1 : 0);
}

static void handle(void *context, ackclock_time now, const uint8_t *packet, size_t length) {
    struct connection *c = context;
    const uint8_t *tcp = packet + IP;
    (void)now;
    if (length < IP + TCP) return;
    if (tcp[13] & SYN) {
        memcpy(c->peer, packet + 12, 4);
        memcpy(c->own, packet + 16, 4);
        c->peer_port = (uint16_t)(tcp[0] << 8 | tcp[1]);
        c->own_port = (uint16_t)(tcp[2] << 8 | tcp[3]);
        c->sent = 4000000000u;
        c->expected = get32(tcp + 4) + 1;
        send_segment(c, SYN | ACK, 0);
    } else if (get32(tcp + 8) == c->sent) {
        c->established = 1;
    }
}

static size_t poll_transmit(void *context, ackclock_time now, uint8_t *packet, size_t room) {
    struct connection *c = context;
    size_t length = c->length <= room ? c->length : 0;
    (void)now;
    memcpy(packet, c->waiting, length);
    c->length = 0;
    return length;
}

static int64_t make(void *context) {
    (void)context;
    return 0;
}

static int64_t listen_at(void *context, uint32_t socket, const struct ackclock_address *local) {
    (void)context;
    (void)socket;
    return local->version == 4 ? 0 : -EAFNOSUPPORT;
}

static int64_t take(void *context, ackclock_time now, uint32_t listener) {
    struct connection *c = context;
    (void)now;
    (void)listener;
    if (!c->established || c->accepted) return -EAGAIN;
    c->accepted = 1;
    return 1;
}

static int64_t write_zeros(void *context, ackclock_time now, uint32_t socket, uint64_t bytes, int more) {
    (void)now;
    (void)socket;
    if (more || bytes > 1000) return ACKCLOCK_UNSUPPORTED;
    send_segment(context, PSH | ACK, (size_t)bytes);
    return (int64_t)bytes;
}

static int64_t info(void *context, ackclock_time now, uint32_t socket, const char *field, int64_t *value) {
    (void)context;
    (void)now;
    (void)socket;
    if (strcmp(field, "tcpi_snd_cwnd") != 0) return ACKCLOCK_UNSUPPORTED;
    *value = 1;
    return 0;
}

int main(int count, char **arguments) {
    static char text[65536], message[8192];
    struct connection connection = {0};
    struct ackclock_stack stack = {.context = &connection,
                                   .handle = handle,
                                   .poll_transmit = poll_transmit,
                                   .socket = make,
                                   .listen = listen_at,
                                   .accept = take,
                                   .write = write_zeros,
                                   .info = info};
    FILE *file = count == 2 ? fopen(arguments[1], "rb") : NULL;
    if (!file) {
        fprintf(stderr, "usage: responder FILE\n");
        return 4;
    }
    text[fread(text, 1, sizeof text - 1, file)] = 0;
    fclose(file);
    int verdict = ackclock_script_run(text, arguments[1], NULL, &stack, message, sizeof message);
    fputs(message, stdout);
    return verdict;
}
