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
 *   route OWN PEER ATTRIBUTES    gives the interface the address OWN, and a route to PEER: largest packet, window, receive window (0: the default), ecn
 *   socket NUMBER OWN PORT CONTROL LISTENS NODELAY CLAMP UNSENT PACED
 *                                makes a TCP socket, and gives it to the kernel's thread; 0 leaves the kernel's default
 *   connect NUMBER PEER PORT     connects a socket
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
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/sysmacros.h>
#include <sys/stat.h>
#include <sys/wait.h>
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
	char path[256];

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

static int route(const char *own, const char *peer, unsigned int mtu, unsigned int window, unsigned int receive, int ecn)
{
	unsigned int index = if_nametoindex("eth0"), lock = 1u << RTAX_MTU, features = RTAX_FEATURE_ECN;
	struct ifaddrmsg address = { .ifa_family = AF_INET, .ifa_prefixlen = 32, .ifa_index = index };
	struct rtmsg way = { .rtm_family = AF_INET, .rtm_dst_len = 32, .rtm_table = RT_TABLE_MAIN, .rtm_protocol = RTPROT_BOOT,
			     .rtm_scope = RT_SCOPE_LINK, .rtm_type = RTN_UNICAST };
	struct attributes local = { 0 }, metrics = { 0 }, all = { 0 };
	struct in_addr source, target;

	if (!inet_aton(own, &source) || !inet_aton(peer, &target)) {
		errno = EINVAL;
		return fail("%s or %s is no address", own, peer);
	}
	add(&local, IFA_LOCAL, &source, 4);
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
	add(&all, RTA_DST, &target, 4);
	add(&all, RTA_PREFSRC, &source, 4);
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

static struct sockaddr_in place(const char *address, unsigned int port)
{
	struct sockaddr_in place = { .sin_family = AF_INET, .sin_port = htons(port) };

	inet_aton(address, &place.sin_addr);
	return place;
}

static int make(unsigned int number, const char *own, unsigned int port, const char *control, unsigned int listens, int nodelay, int clamp,
		unsigned int unsent, int paced)
{
	const struct linger linger = { .l_onoff = 1, .l_linger = 0 };
	struct sockaddr_in address = place(own, port);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
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
	if (bind(fd, (void *)&address, sizeof(address)))
		return fail("no address %s", own);
	if (listens && listen(fd, 8))
		return fail("no listening socket");
	return ioctl(device, ACKCLOCK_ADOPT, &given) ? fail("the socket is refused") : 0;
}

static int join(unsigned int number, const char *peer, unsigned int port)
{
	struct sockaddr_in address = place(peer, port);

	if (number >= ACKCLOCK_SOCKETS || (connect(sockets[number], (void *)&address, sizeof(address)) && errno != EINPROGRESS))
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

/* A call that would have to wait fails without being made: a failed call takes time. */
static long transfer(int fd, short events, ssize_t (*call)(int, void *, size_t, int), size_t size, int flags)
{
	ssize_t count = -1;
	void *bytes;

	errno = EAGAIN;
	if (!is_ready(fd, events))
		return -1;
	bytes = calloc(1, size ? size : 1);
	errno = ENOMEM;
	if (bytes)
		count = call(fd, bytes, size, flags | MSG_NOSIGNAL);
	free(bytes);
	return count;
}

static ssize_t give(int fd, void *bytes, size_t size, int flags)
{
	return send(fd, bytes, size, flags);
}

static ssize_t take(int fd, void *bytes, size_t size, int flags)
{
	return recv(fd, bytes, size, flags);
}

static int hex(const char *text, unsigned char *bytes, int most)
{
	int count = 0;

	while (count < most && sscanf(text + 2 * count, "%2hhx", &bytes[count]) == 1)
		count++;
	return count;
}

static long call(char *text, char *output, size_t size)
{
	unsigned char value[512];
	char name[32], address[64], content[1100] = "";
	struct sockaddr_in place_;
	socklen_t length;
	long a = 0, b = 0, c = 0, d = 0;
	int number = 0;

	if (sscanf(text, "%31s %ld", name, &a) < 1)
		return errno = EINVAL, -1;
	if (!strcmp(name, "socket"))
		return socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (sscanf(text, "bind %ld %63s %ld", &a, address, &b) == 3) {
		place_ = place(address, b);
		return bind(a, (void *)&place_, sizeof(place_));
	}
	if (sscanf(text, "connect %ld %63s %ld", &a, address, &b) == 3) {
		place_ = place(address, b);
		return connect(a, (void *)&place_, sizeof(place_));
	}
	if (sscanf(text, "listen %ld %ld", &a, &b) == 2)
		return listen(a, b);
	if (!strcmp(name, "accept")) {
		if (is_ready(a, POLLIN))
			return accept4(a, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
		return errno = EAGAIN, -1;
	}
	if (sscanf(text, "send %ld %ld %ld", &a, &b, &c) == 3)
		return transfer(a, POLLOUT, give, b, c ? MSG_MORE : 0);
	if (sscanf(text, "receive %ld %ld", &a, &b) == 2)
		return transfer(a, POLLIN, take, b, 0);
	if (sscanf(text, "shutdown %ld %ld", &a, &b) == 2)
		return shutdown(a, b);
	if (!strcmp(name, "close"))
		return close(a);
	if (sscanf(text, "set %ld %ld %ld %1099s", &a, &b, &c, content) >= 3)
		return setsockopt(a, b, c, value, hex(content, value, sizeof(value)));
	if (sscanf(text, "get %ld %ld %ld %ld", &a, &b, &c, &d) == 4) {
		length = d < (long)sizeof(value) ? d : (long)sizeof(value);
		if (getsockopt(a, b, c, value, &length))
			return -1;
		for (d = 0; d < (long)length && 2 * d + 3 < (long)size; d++)
			sprintf(output + 2 * d, "%02x", value[d]);
		return 0;
	}
	if (sscanf(text, "count %ld %ld", &a, &b) == 2)
		return ioctl(a, b, &number) ? -1 : number;
	if (sscanf(text, "ready %ld %ld", &a, &b) == 2)
		return is_ready(a, b);
	errno = EINVAL;
	return -1;
}

static int system_call(char *text)
{
	static char output[2048];
	long result;

	output[0] = 0;
	result = call(text, output, sizeof(output));
	if (result < 0)
		snprintf(answer, sizeof(answer), "errno %d", errno);
	else
		snprintf(answer, sizeof(answer), "ok %ld %s", result, output);
	return 0;
}

static int run(char *command)
{
	char own[32], peer[32], name[128];
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
	if (sscanf(command, " module %31s %31s %127s", own, peer, name) == 3)
		return module(own, peer, name);
	if (sscanf(command, " route %31s %31s %u %u %u %d", own, peer, &a, &b, &c, &e) == 6)
		return route(own, peer, a, b, c, e);
	if (sscanf(command, " socket %u %31s %u %31s %u %d %d %d %d", &a, own, &b, name, &c, &e, &f, &g, &h) == 9)
		return make(a, own, b, name, c, e, f, g, h);
	if (sscanf(command, " connect %u %31s %u", &a, peer, &d) == 3)
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
