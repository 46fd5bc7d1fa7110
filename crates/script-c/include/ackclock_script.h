/* Runs packetdrill scripts against a TCP stack without I/O, in virtual time.
 *
 * Fill a struct ackclock_stack with functions of your stack, and call ackclock_script_run. Packets are IP packets with their headers.
 * A function that is NULL makes every script that needs it unsupported; only handle and poll_transmit are mandatory.
 *
 * No call may block: accept and read return -EAGAIN while there is nothing yet, and write returns 0 while there is no room. The runner
 * repeats a blocking call of the script until it can finish. */
#ifndef ACKCLOCK_SCRIPT_H
#define ACKCLOCK_SCRIPT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Nanoseconds since the start of the script. */
typedef uint64_t ackclock_time;

/* No timer is set. */
#define ACKCLOCK_NEVER UINT64_MAX
/* Result of a call that the stack does not implement. Other results below 0 are -errno, with the numbers of Linux. */
#define ACKCLOCK_UNSUPPORTED INT64_MIN

/* An address with a port. */
struct ackclock_address {
    uint8_t bytes[16];   /* in network order; IPv4 uses the first four */
    uint8_t version;     /* 4 or 6 */
    uint16_t port;       /* in host order */
};

/* What a socket can do now, as bits. */
#define ACKCLOCK_CONNECTING 1u   /* this end opens a connection */
#define ACKCLOCK_READABLE 2u     /* data, a FIN or a new connection waits */
#define ACKCLOCK_WRITABLE 4u     /* data can be written */
#define ACKCLOCK_PEER_CLOSED 8u  /* the peer has sent its FIN */
#define ACKCLOCK_HUNG_UP 16u     /* neither direction carries data any more */

struct ackclock_stack {
    /* Passed to every function. */
    void *context;
    /* An IP packet arrives. */
    void (*handle)(void *context, ackclock_time now, const uint8_t *packet, size_t length);
    /* Writes the next IP packet to send now into `packet`; returns its length, or 0 if there is none. */
    size_t (*poll_transmit)(void *context, ackclock_time now, uint8_t *packet, size_t room);
    /* When handle_timeout is due. */
    ackclock_time (*poll_timeout)(void *context);
    void (*handle_timeout)(void *context, ackclock_time now);

    /* The verbs of sockets. socket and accept return a number of the stack's choice. */
    int64_t (*socket)(void *context);
    int64_t (*listen)(void *context, uint32_t socket, const struct ackclock_address *local);
    int64_t (*accept)(void *context, ackclock_time now, uint32_t listener);
    int64_t (*connect)(void *context, ackclock_time now, uint32_t socket, const struct ackclock_address *local,
                       const struct ackclock_address *remote);
    int64_t (*write)(void *context, ackclock_time now, uint32_t socket, uint64_t bytes, int more);
    int64_t (*read)(void *context, ackclock_time now, uint32_t socket, uint64_t most);
    int64_t (*shutdown)(void *context, ackclock_time now, uint32_t socket, int read, int write);
    int64_t (*close)(void *context, ackclock_time now, uint32_t socket);
    /* `name`: such as "TCP_NODELAY". */
    int64_t (*set_option)(void *context, ackclock_time now, uint32_t socket, const char *name, int64_t value);
    int64_t (*get_option)(void *context, ackclock_time now, uint32_t socket, const char *name, int64_t *value);
    /* Bits of what the socket can do; `error`: errno of a pending error, or 0. */
    uint32_t (*status)(void *context, uint32_t socket, int32_t *error);
    /* A field of struct tcp_info, such as "tcpi_snd_cwnd"; returns 0, or ACKCLOCK_UNSUPPORTED. */
    int64_t (*info)(void *context, ackclock_time now, uint32_t socket, const char *field, int64_t *value);
    /* A kernel parameter that the script sets, such as "tcp_sack". */
    int64_t (*configure)(void *context, const char *name, const char *value);
};

/* Verdicts. */
#define ACKCLOCK_PASSED 0
#define ACKCLOCK_FAILED 1
#define ACKCLOCK_UNSUPPORTED_SCRIPT 2
#define ACKCLOCK_ERROR 3

/* Runs the script `text`, called `file` in messages. `tolerance`: such as "4 ms", or NULL for that of the script. Writes the verdict in
 * full, with a final zero, into the `room` bytes at `message`, if `room` is not 0. Returns a verdict. */
int ackclock_script_run(const char *text, const char *file, const char *tolerance, const struct ackclock_stack *stack, char *message,
                        size_t room);

#ifdef __cplusplus
}
#endif

#endif
