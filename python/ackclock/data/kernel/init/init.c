// SPDX-License-Identifier: GPL-2.0-only
/*
 * The first process of a guest: it does what Ackclock asks for in lines of text, and answers each with "ok" or with what went wrong.
 *
 * A line is a list of commands, separated by semicolons, which end at the first that fails:
 *
 *   node NUMBER MTU              makes a network namespace with the interface of this number, and enters it
 *   queue NUMBER MTU             the same with an interface that is a queue
 *   enter NUMBER                 enters the namespace of a node
 *   set NAME VALUE...            writes a parameter below /proc/sys/net
 *   module NAME PARAMETER VALUE  writes a parameter of a module
 *   route OWN PEER ATTRIBUTES    gives the interface the address OWN, of IPv4 or IPv6, and a route to PEER: largest packet, window, receive window
 *                                (0: the default), ecn
 *   socket NUMBER OWN PORT CONTROL LISTENS NODELAY CLAMP UNSENT PACED
 *                                makes a TCP socket, and gives it to the kernel's thread; 0 leaves the kernel's default
 *   connect NUMBER PEER PORT     connects a socket
 *   mtu NUMBER                   gives the interface another size of the largest packet
 *   qdisc KIND                   gives the interface a queue discipline with its defaults
 *   sys CALL ARGUMENTS           a system call on sockets that never block; a failed one answers with "errno" and the number
 *   off                          ends the guest
 *
 * Programs of the host run in it after these:
 *
 *   files                        makes the files of the host the root: what programs write stays in memory
 *   writable FOLDER              except in this folder of the host
 *   word TEXT                    adds a word to the next program: its name, then its arguments
 *   variable TEXT                adds a variable to the environment of the programs
 *   start NUMBER STREAM FOLDER   starts a program in the entered namespace, with this descriptor (1 or 2) as its standard output
 *   listens                      fails unless a socket waits for connections or datagrams in the entered namespace
 *   finish                       ends all programs, and writes their files
 *
 * In TEXT and FOLDER, %XX is a byte in hexadecimal. After a program has ended, the line "ended NUMBER CODE" follows.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_addr.h>
#include <linux/rtnetlink.h>
#include <linux/pkt_sched.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/sysmacros.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "ackclock.h"

#ifndef TCP_NOTSENT_LOWAT
#define TCP_NOTSENT_LOWAT 25
#endif

/* A pacing rate that never limits, in bytes per second: setting one makes the kernel pace at its own. */
static const unsigned long long any_rate = 1ULL << 40;

static int device;
static int spaces[ACKCLOCK_DEVICES];
static int sockets[ACKCLOCK_SOCKETS];
static char answer[4096];
static struct list { char **items; size_t count; } words, variables;

static int fail(const char *format, ...)
{
	int saved = errno;
	size_t length;
	va_list list;

	va_start(list, format);
	vsnprintf(answer, sizeof(answer), format, list);
	va_end(list);
	length = strlen(answer);
	snprintf(answer + length, sizeof(answer) - length, ": %s", strerror(saved));
	return -1;
}

/* Netlink. */

/* A list of attributes. */
struct attributes {
	unsigned int length;
	char list[256];
};

struct request {
	struct nlmsghdr header;
	char body[512];
};

static void add(struct attributes *attributes, int type, const void *value, size_t length)
{
	struct rtattr *rta = (void *)(attributes->list + attributes->length);

	rta->rta_type = type;
	rta->rta_len = RTA_LENGTH(length);
	memcpy(RTA_DATA(rta), value, length);
	attributes->length += RTA_ALIGN(rta->rta_len);
}

/* Asks for a new object or another one: the message of its kind, and its attributes. */
static int ask(int type, const void *message, size_t length, const struct attributes *attributes)
{
	struct { struct nlmsghdr header; struct nlmsgerr error; char rest[512]; } reply;
	struct request request = { .header = { .nlmsg_type = type, .nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE | NLM_F_REPLACE } };
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	ssize_t received;

	if (fd < 0)
		return -1;
	memcpy(request.body, message, length);
	memcpy(request.body + NLMSG_ALIGN(length), attributes->list, attributes->length);
	request.header.nlmsg_len = NLMSG_LENGTH(NLMSG_ALIGN(length) + attributes->length);
	received = send(fd, &request, request.header.nlmsg_len, 0) < 0 ? -1 : recv(fd, &reply, sizeof(reply), 0);
	close(fd);
	if (received < (ssize_t)NLMSG_LENGTH(sizeof(int)) || reply.header.nlmsg_type != NLMSG_ERROR)
		return -1;
	errno = -reply.error.error;
	return reply.error.error ? -1 : 0;
}

/* The commands. */

static int up(const char *name, int mtu)
{
	struct ifreq request = { 0 };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), result = fd;

	strncpy(request.ifr_name, name, IFNAMSIZ - 1);
	request.ifr_mtu = mtu;
	if (result >= 0 && mtu)
		result = ioctl(fd, SIOCSIFMTU, &request);
	if (result >= 0)
		result = ioctl(fd, SIOCGIFFLAGS, &request);
	request.ifr_flags |= IFF_UP;
	if (result >= 0)
		result = ioctl(fd, SIOCSIFFLAGS, &request);
	close(fd);
	return result;
}

static int put(const char *path, const char *name, const char *value)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	ssize_t written;

	if (fd < 0)
		return fail("the kernel has no parameter %s", name);
	written = write(fd, value, strlen(value));
	if (written < 0)
		fail("the parameter %s does not take %s", name, value);
	close(fd);
	return written < 0 ? -1 : 0;
}

static int set(const char *name, const char *value)
{
	char path[256];

	snprintf(path, sizeof(path), "/proc/sys/net/%s", name);
	return put(path, name, value);
}

static int module(const char *name, const char *parameter, const char *value)
{
	char path[320];

	snprintf(path, sizeof(path), "/sys/module/%s/parameters/%s", name, parameter);
	return put(path, parameter, value);
}

static int node(unsigned int number, int mtu, unsigned long request)
{
	if (number >= ACKCLOCK_DEVICES || unshare(CLONE_NEWNET))
		return fail("no network namespace for node %u", number);
	spaces[number] = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	if (spaces[number] < 0 || ioctl(device, request, (unsigned long)number))
		return fail("no interface for node %u", number);
	if (up("lo", 0) || set("ipv6/conf/all/disable_ipv6", "1") || up("eth0", mtu))
		return fail("the interface of node %u with an MTU of %d does not start", number, mtu);
	return 0;
}

/* Turns on IPv6 in the entered namespace, without addresses that nobody has asked for, and so without packets of the kernel's own. */
static int ipv6(void)
{
	if (set("ipv6/conf/eth0/addr_gen_mode", "1") || set("ipv6/conf/eth0/accept_ra", "0"))
		return -1;
	return set("ipv6/conf/all/disable_ipv6", "0");
}

static int route(const char *own, const char *peer, unsigned int mtu, unsigned int window, unsigned int receive, int ecn)
{
	unsigned int index = if_nametoindex("eth0"), lock = 1u << RTAX_MTU, features = RTAX_FEATURE_ECN;
	int family = strchr(own, ':') ? AF_INET6 : AF_INET;
	size_t size = family == AF_INET6 ? sizeof(struct in6_addr) : sizeof(struct in_addr);
	struct ifaddrmsg address = { .ifa_family = family, .ifa_prefixlen = 8 * size, .ifa_flags = IFA_F_NODAD, .ifa_index = index };
	struct rtmsg way = { .rtm_family = family, .rtm_dst_len = 8 * size, .rtm_table = RT_TABLE_MAIN, .rtm_protocol = RTPROT_BOOT,
			     .rtm_scope = RT_SCOPE_LINK, .rtm_type = RTN_UNICAST };
	struct attributes local = { 0 }, metrics = { 0 }, all = { 0 };
	struct in6_addr source, target;

	if (inet_pton(family, own, &source) != 1 || inet_pton(family, peer, &target) != 1) {
		errno = EINVAL;
		return fail("%s and %s are no addresses of one version of IP", own, peer);
	}
	if (family == AF_INET6 && ipv6())
		return -1;
	add(&local, IFA_LOCAL, &source, size);
	if (ask(RTM_NEWADDR, &address, sizeof(address), &local) && errno != EEXIST)
		return fail("no address %s", own);
	if (mtu) {
		add(&metrics, RTAX_LOCK, &lock, 4);
		add(&metrics, RTAX_MTU, &mtu, 4);
	}
	if (window)
		add(&metrics, RTAX_INITCWND, &window, 4);
	if (receive)
		add(&metrics, RTAX_INITRWND, &receive, 4);
	if (ecn)
		add(&metrics, RTAX_FEATURES, &features, 4);
	add(&all, RTA_DST, &target, size);
	add(&all, RTA_PREFSRC, &source, size);
	add(&all, RTA_OIF, &index, 4);
	add(&all, RTA_METRICS, metrics.list, metrics.length);
	return ask(RTM_NEWROUTE, &way, sizeof(way), &all) ? fail("no route from %s to %s", own, peer) : 0;
}

static int qdisc(const char *kind)
{
	struct tcmsg message = { .tcm_family = AF_UNSPEC, .tcm_ifindex = if_nametoindex("eth0"), .tcm_parent = TC_H_ROOT };
	struct attributes attributes = { 0 };

	add(&attributes, TCA_KIND, kind, strlen(kind) + 1);
	return ask(RTM_NEWQDISC, &message, sizeof(message), &attributes) ? fail("no queue discipline %s", kind) : 0;
}

/* An address of either family, or of none. */
union place {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

static union place place(const char *address, unsigned int port)
{
	union place place = { .v4 = { .sin_family = AF_INET, .sin_port = htons(port) } };

	if (!strcmp(address, "none")) {
		place.any.sa_family = AF_UNSPEC;
	} else if (inet_pton(AF_INET, address, &place.v4.sin_addr) != 1) {
		place.v6 = (struct sockaddr_in6){ .sin6_family = AF_INET6, .sin6_port = htons(port) };
		inet_pton(AF_INET6, address, &place.v6.sin6_addr);
	}
	return place;
}

static socklen_t size(const union place *place)
{
	return place->any.sa_family == AF_INET6 ? sizeof(place->v6) : sizeof(place->v4);
}

static int make(unsigned int number, const char *own, unsigned int port, const char *control, unsigned int listens, int nodelay, int clamp,
		unsigned int unsent, int paced)
{
	const struct linger linger = { .l_onoff = 1, .l_linger = 0 };
	union place address = place(own, port);
	int fd = socket(address.any.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	struct ackclock_adopt given = { .socket = fd, .index = number, .listens = listens };

	if (fd < 0 || number >= ACKCLOCK_SOCKETS)
		return fail("no socket");
	sockets[number] = fd;
	if (setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, control, strlen(control)))
		return fail("the kernel has no control %s", control);
	if (setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger)))
		return fail("no SO_LINGER");
	if (nodelay && setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &nodelay, sizeof(nodelay)))
		return fail("no TCP_NODELAY");
	if (clamp && setsockopt(fd, IPPROTO_TCP, TCP_WINDOW_CLAMP, &clamp, sizeof(clamp)))
		return fail("no receive window of %d B", clamp);
	if (unsent && setsockopt(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &unsent, sizeof(unsent)))
		return fail("no TCP_NOTSENT_LOWAT");
	if (paced && setsockopt(fd, SOL_SOCKET, SO_MAX_PACING_RATE, &any_rate, sizeof(any_rate)))
		return fail("no pacing");
	if (bind(fd, &address.any, size(&address)))
		return fail("no address %s", own);
	if (listens && listen(fd, 8))
		return fail("no listening socket");
	return ioctl(device, ACKCLOCK_ADOPT, &given) ? fail("the socket is refused") : 0;
}

static int join(unsigned int number, const char *peer, unsigned int port)
{
	union place address = place(peer, port);

	if (number >= ACKCLOCK_SOCKETS || (connect(sockets[number], &address.any, size(&address)) && errno != EINPROGRESS))
		return fail("no connection to %s", peer);
	return 0;
}

/* Programs. */

/* Replaces %XX by the byte. */
static char *decode(char *text)
{
	char *to = text, *from = text;
	int read;

	for (; *from; to++, from += read) {
		unsigned int byte = (unsigned char)*from;

		read = 1;
		if (byte == '%')
			sscanf(from, "%%%2x%n", &byte, &read);
		*to = byte;
	}
	*to = 0;
	return text;
}

/* Appends a text to a list, which ends with NULL. */
static int append(struct list *list, char *text)
{
	char **items = reallocarray(list->items, list->count + 2, sizeof(*items));
	char *copy = strdup(decode(text));

	if (!items || !copy)
		return fail("no memory");
	items[list->count++] = copy;
	items[list->count] = NULL;
	list->items = items;
	return 0;
}

static int mounted(const char *kind, const char *place, unsigned long flags, const char *options)
{
	mkdir(place, 0755);
	return mount(kind, place, kind, flags, options) ? fail("no %s at %s", kind, place) : 0;
}

static int files(void)
{
	/* A folder of the first root serves as the place for all that the new one is made of. */
	if (mounted("tmpfs", "/sys", 0, NULL) || mounted("hostfs", "/sys/host", MS_RDONLY, "/"))
		return -1;
	mkdir("/sys/written", 0755);
	mkdir("/sys/work", 0755);
	if (mounted("overlay", "/sys/root", 0, "lowerdir=/sys/host,upperdir=/sys/written,workdir=/sys/work,volatile") ||
	    mounted("proc", "/sys/root/proc", 0, NULL) || mounted("sysfs", "/sys/root/sys", 0, NULL) ||
	    mounted("devtmpfs", "/sys/root/dev", 0, NULL) || mounted("devpts", "/sys/root/dev/pts", 0, "ptmxmode=0666") ||
	    mounted("tmpfs", "/sys/root/dev/shm", 0, "mode=1777"))
		return -1;
	if (chdir("/sys/root") || mount(".", "/", NULL, MS_MOVE, NULL) || chroot(".") || chdir("/"))
		return fail("no root");
	symlink("/proc/self/fd", "/dev/fd");
	symlink("/proc/self/fd/0", "/dev/stdin");
	symlink("/proc/self/fd/1", "/dev/stdout");
	symlink("/proc/self/fd/2", "/dev/stderr");
	/* A name that every machine knows. */
	return sethostname("localhost", 9);
}

static int writable(const char *folder)
{
	return mount("writable", folder, "hostfs", 0, folder) ? fail("no folder %s", folder) : 0;
}

/* Becomes the program; returns if that fails. */
static void become(int stream, const char *folder)
{
	int in = open("/dev/null", O_RDONLY), out = open("/dev/ackclock-output", O_WRONLY), err = open("/dev/ackclock-errors", O_WRONLY);

	signal(SIGCHLD, SIG_DFL);
	setsid();
	if (chdir(folder) || dup2(in, 0) < 0 || dup2(stream == 1 ? out : err, 1) < 0 || dup2(err, 2) < 0)
		return;
	close_range(3, ~0U, CLOSE_RANGE_CLOEXEC);
	environ = variables.items;
	execvp(words.items[0], words.items);
}

/* Reports the end of a program, in a process of its own. */
static void keep(unsigned int number, pid_t program)
{
	char line[64];
	int status;

	if (waitpid(program, &status, 0) < 0)
		_exit(1);
	status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
	write(device, line, snprintf(line, sizeof(line), "ended %u %d", number, status));
	_exit(0);
}

static int start(unsigned int number, int stream, const char *folder)
{
	int report[2], error = 0;
	pid_t program;

	if (!words.count || pipe2(report, O_CLOEXEC))
		return fail("no program");
	if (!fork()) {
		signal(SIGCHLD, SIG_DFL);
		program = fork();
		if (!program) {
			become(stream, folder);
			error = errno;
			write(report[1], &error, sizeof(error));
			_exit(127);
		}
		close(report[1]);
		keep(number, program);
	}
	words.count = variables.count = 0;
	close(report[1]);
	/* Nothing comes if the program has started. */
	if (read(report[0], &error, sizeof(error)) < 0)
		error = errno;
	close(report[0]);
	errno = error;
	return error ? fail("program") : 0;
}

static int listens(void)
{
	static const char *const files[] = { "tcp", "tcp6", "udp", "udp6" };
	char path[32], row[512];
	unsigned int state;
	int found = 0;

	for (int kind = 0; kind < 4 && !found; kind++) {
		FILE *file;

		snprintf(path, sizeof(path), "/proc/net/%s", files[kind]);
		file = fopen(path, "re");
		/* State 10 is a TCP socket that listens, 7 a UDP socket without a peer. */
		while (file && !found && fgets(row, sizeof(row), file))
			found = sscanf(row, "%*s %*s %*s %x", &state) == 1 && state == (kind < 2 ? 10 : 7);
		if (file)
			fclose(file);
	}
	errno = EAGAIN;
	return found ? 0 : fail("no socket listens");
}

static int finish(void)
{
	kill(-1, SIGKILL);
	/* Ends with ECHILD after the last of them, since nobody asks for their ends. */
	while (waitpid(-1, NULL, 0) >= 0 || errno == EINTR)
		;
	sync();
	return 0;
}

/* System calls for scripts. */

static int is_ready(int fd, short events)
{
	struct pollfd polled = { .fd = fd, .events = events };

	return poll(&polled, 1, 0) < 0 ? 0 : polled.revents;
}

/* Zeros that sockets send. The kernel may read them after a call with MSG_ZEROCOPY: they are never written or freed. */
static void *zeros(size_t length)
{
	static size_t most;
	static void *all;

	if (length > most) {
		most = length;
		all = calloc(1, most);
	}
	return all;
}

/* A call that would have to wait fails without being made: a failed call takes time. */
static long give(int fd, long length, int flags, int null, const char *address, unsigned int port)
{
	union place to = place(address, port);

	if (!(flags & MSG_FASTOPEN) && !is_ready(fd, POLLOUT))
		return errno = EAGAIN, -1;
	return sendto(fd, null ? NULL : zeros(length), length, flags | MSG_NOSIGNAL, *address ? &to.any : NULL, *address ? size(&to) : 0);
}

/* Writes the flags of the message and its control messages into output. */
static long take(int fd, long length, int flags, int null, unsigned char *output, size_t *wrote)
{
	char control[512];
	struct iovec part = { .iov_base = null ? NULL : calloc(1, length ? length : 1), .iov_len = length };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control) };
	int listens = 0;
	long count = -1;

	errno = EAGAIN;
	getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &(socklen_t){ sizeof(listens) });
	if (listens || is_ready(fd, POLLIN))
		count = recvmsg(fd, &message, flags);
	free(part.iov_base);
	if (count < 0)
		return -1;
	memcpy(output, &message.msg_flags, 4);
	memcpy(output + 4, control, message.msg_controllen);
	*wrote = 4 + message.msg_controllen;
	return count;
}

static int hex(const char *text, unsigned char *bytes, int most)
{
	int count = 0;

	while (count < most && sscanf(text + 2 * count, "%2hhx", &bytes[count]) == 1)
		count++;
	return count;
}

/* Makes a call; what it wrote goes into output. */
static long call(char *text, unsigned char *output, size_t room, size_t *wrote)
{
	unsigned char value[512];
	char name[32], address[64] = "", content[1100] = "";
	struct epoll_event events[16] = { 0 };
	union place at;
	socklen_t length;
	long a = 0, b = 0, c = 0, d = 0, e = 0;
	int number = 0;

	if (sscanf(text, "%31s %ld", name, &a) < 1)
		return errno = EINVAL, -1;
	if (!strcmp(name, "socket"))
		return socket(a == 6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (sscanf(text, "bind %ld %63s %ld", &a, address, &b) == 3) {
		at = place(address, b);
		return bind(a, &at.any, size(&at));
	}
	if (sscanf(text, "connect %ld %63s %ld", &a, address, &b) == 3) {
		at = place(address, b);
		return connect(a, &at.any, size(&at));
	}
	if (sscanf(text, "listen %ld %ld", &a, &b) == 2)
		return listen(a, b);
	if (!strcmp(name, "accept")) {
		if (is_ready(a, POLLIN))
			return accept4(a, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
		return errno = EAGAIN, -1;
	}
	if (sscanf(text, "send %ld %ld %ld %ld %63s %ld", &a, &b, &c, &d, address, &e) >= 4)
		return give(a, b, c, d, address, e);
	if (sscanf(text, "receive %ld %ld %ld %ld", &a, &b, &c, &d) == 4)
		return take(a, b, c, d, output, wrote);
	if (sscanf(text, "shutdown %ld %ld", &a, &b) == 2)
		return shutdown(a, b);
	if (!strcmp(name, "close"))
		return close(a);
	if (sscanf(text, "set %ld %ld %ld %1099s", &a, &b, &c, content) >= 3)
		return setsockopt(a, b, c, value, hex(content, value, sizeof(value)));
	if (sscanf(text, "get %ld %ld %ld %ld", &a, &b, &c, &d) == 4) {
		length = d < (long)room ? d : (long)room;
		if (getsockopt(a, b, c, output, &length))
			return -1;
		*wrote = length;
		return 0;
	}
	if (sscanf(text, "count %ld %ld", &a, &b) == 2)
		return ioctl(a, b, &number) ? -1 : number;
	if (sscanf(text, "ready %ld %ld", &a, &b) == 2)
		return is_ready(a, b);
	if (!strcmp(name, "epoll"))
		return epoll_create1(EPOLL_CLOEXEC);
	if (sscanf(text, "watch %ld %ld %ld %ld %ld", &a, &b, &c, &d, &e) == 5) {
		events[0] = (struct epoll_event){ .events = d, .data.u64 = e };
		return epoll_ctl(a, b, c, events);
	}
	if (sscanf(text, "events %ld %ld", &a, &b) == 2) {
		number = epoll_wait(a, events, b < 16 ? b : 16, 0);
		for (int item = 0; item < number; item++) {
			memcpy(output + 8 * item, &events[item].events, 4);
			memcpy(output + 8 * item + 4, &events[item].data, 4);
			*wrote += 8;
		}
		return number;
	}
	if (!strcmp(name, "day")) {
		struct timespec now;

		clock_gettime(CLOCK_REALTIME, &now);
		return now.tv_sec * 1000000000L + now.tv_nsec;
	}
	errno = EINVAL;
	return -1;
}

static int system_call(char *text)
{
	static unsigned char output[1024];
	static char digits[2 * sizeof(output) + 1];
	size_t wrote = 0;
	long result = call(text, output, sizeof(output), &wrote);

	digits[0] = 0;
	for (size_t byte = 0; byte < wrote; byte++)
		sprintf(digits + 2 * byte, "%02x", output[byte]);
	if (result < 0)
		snprintf(answer, sizeof(answer), "errno %d", errno);
	else
		snprintf(answer, sizeof(answer), "ok %ld %s", result, digits);
	return 0;
}

static int run(char *command)
{
	char own[INET6_ADDRSTRLEN], peer[INET6_ADDRSTRLEN], name[128], parameter[128];
	unsigned int a, b, c, d;
	int e, f, g, h, read = 0;

	if (sscanf(command, " node %u %d", &a, &e) == 2)
		return node(a, e, ACKCLOCK_NEW_DEVICE);
	if (sscanf(command, " queue %u %d", &a, &e) == 2)
		return node(a, e, ACKCLOCK_NEW_QUEUE);
	if (sscanf(command, " enter %u", &a) == 1)
		return a < ACKCLOCK_DEVICES && !setns(spaces[a], CLONE_NEWNET) ? 0 : fail("no node %u", a);
	if (sscanf(command, " set %127s %n", name, &read) == 1 && read)
		return set(name, command + read);
	if (sscanf(command, " module %127s %127s %n", name, parameter, &read) == 2 && read)
		return module(name, parameter, command + read);
	if (sscanf(command, " route %45s %45s %u %u %u %d", own, peer, &a, &b, &c, &e) == 6)
		return route(own, peer, a, b, c, e);
	if (sscanf(command, " socket %u %45s %u %31s %u %d %d %d %d", &a, own, &b, name, &c, &e, &f, &g, &h) == 9)
		return make(a, own, b, name, c, e, f, g, h);
	if (sscanf(command, " connect %u %45s %u", &a, peer, &d) == 3)
		return join(a, peer, d);
	if (sscanf(command, " word %n", &read) == 0 && read)
		return append(&words, command + read);
	if (sscanf(command, " variable %n", &read) == 0 && read)
		return append(&variables, command + read);
	if (sscanf(command, " start %u %d %n", &a, &e, &read) == 2 && read)
		return start(a, e, decode(command + read));
	if (!strncmp(command, "files", 5))
		return files();
	if (sscanf(command, " writable %n", &read) == 0 && read)
		return writable(decode(command + read));
	if (!strncmp(command, "listens", 7))
		return listens();
	if (!strncmp(command, "finish", 6))
		return finish();
	if (sscanf(command, " mtu %d", &e) == 1)
		return up("eth0", e) ? fail("no packets of %d B", e) : 0;
	if (sscanf(command, " qdisc %31s", own) == 1)
		return qdisc(own);
	if (!strncmp(command, "sys ", 4))
		return system_call(command + 4);
	if (!strncmp(command, "off", 3))
		return reboot(RB_POWER_OFF);
	errno = EINVAL;
	return fail("%s", command);
}

int main(void)
{
	/* A descriptor for each node and each socket. */
	const struct rlimit files = { 1 << 16, 1 << 16 };
	static char line[1 << 18];
	ssize_t length;

	mount("proc", "/proc", "proc", 0, NULL);
	mount("sys", "/sys", "sysfs", 0, NULL);
	if (mount("dev", "/dev", "devtmpfs", 0, NULL))
		return 1;
	device = open("/dev/ackclock", O_RDWR | O_CLOEXEC);
	if (device < 0)
		return 1;
	/* The ends of programs are their keepers' business. */
	signal(SIGCHLD, SIG_IGN);
	setrlimit(RLIMIT_NOFILE, &files);
	/* Says that the guest is ready. */
	strcpy(answer, "ok");
	while (write(device, answer, strlen(answer)) >= 0 && (length = read(device, line, sizeof(line) - 1)) >= 0) {
		char *command, *rest = line;

		line[length] = 0;
		strcpy(answer, "ok");
		while ((command = strsep(&rest, ";")) && !run(command))
			;
	}
	return 1;
}
