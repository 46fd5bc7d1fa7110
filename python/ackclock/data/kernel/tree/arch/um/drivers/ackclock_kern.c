// SPDX-License-Identifier: GPL-2.0-only
/*
 * The part of the joint that is kernel: the clock, network interfaces without a medium, queues, and a thread that does the applications'
 * work on sockets and hands packets to queues.
 *
 * The thread looks after a socket when a packet for it has arrived or left, at the same time and after the kernel's own processing, as a
 * program would that waits for the socket: it accepts, reads all that is there, writes while there is room, closes, and copies TCP_INFO.
 */
#include <linux/etherdevice.h>
#include <linux/if_arp.h>
#include <linux/ioctl.h>
#include <linux/kthread.h>
#include <linux/miscdevice.h>
#include <linux/netdevice.h>
#include <linux/nsproxy.h>
#include <linux/poll.h>
#include <linux/slab.h>
#include <linux/tcp.h>
#include <linux/time-internal.h>
#include <linux/uaccess.h>
#include <net/net_namespace.h>
#include <net/pkt_sched.h>
#include <net/sock.h>
#include <net/tcp.h>
#include <os.h>

#include "ackclock.h"

/* Bytes of one write. */
#define CHUNK (128u << 10)
/* Longest line for the first process. */
#define LINE (256u << 10)

struct port {
	unsigned int index;
	/* An interface that is a queue; else nothing of this is used. */
	bool is_queue, free, queued;
	struct net_device *net;
	struct sk_buff_head arrived;
	struct list_head list;
};

struct end {
	struct socket *listener, *socket;
	u64 left;
	bool used, endless, closes, done, queued;
	struct list_head list;
};

static struct net_device *devices[ACKCLOCK_DEVICES];
static struct end ends[ACKCLOCK_SOCKETS];
/* Sockets and queues to look after. */
static LIST_HEAD(waiting);
static LIST_HEAD(busy);
static struct task_struct *thread;
/* The line for the first process. */
static char *line;
static size_t line_length;
static DECLARE_WAIT_QUEUE_HEAD(line_ready);
static void *zeros;

static void ackclock_arrive(struct time_travel_event *event);
struct time_travel_event ackclock_event = { .fn = ackclock_arrive };

/* In arch/um/kernel/time.c. */
unsigned long long ackclock_time(void);

static size_t padded(size_t length)
{
	return (length + 7) & ~7ul;
}

/* A record to Ackclock, which learns of it before time goes on; its bytes are the caller's to write. */
static struct ackclock_record *put(unsigned int kind, unsigned int index, unsigned int length)
{
	struct ackclock_joint *joint = ackclock_joint;
	struct ackclock_record *record;

	if (joint->out + sizeof(*record) + padded(length) > ACKCLOCK_RECORDS) {
		joint->now = ackclock_time();
		joint->reason = ACKCLOCK_FULL;
		ackclock_hand_over();
	}
	record = (void *)joint->from_kernel + joint->out;
	joint->out += sizeof(*record) + padded(length);
	*record = (struct ackclock_record) { .time = ackclock_time(), .kind = kind, .index = index, .length = length };
	joint->until = min(joint->until, record->time);
	return record;
}

/* In arch/um/kernel/time.c. */
bool ackclock_is_working(void);

/* Whether the thread runs. For it, reading the clock takes no time: it does its work when a packet has arrived, not later. */
bool ackclock_is_working(void)
{
	return current == thread;
}

/* In arch/um/kernel/time.c too. */
unsigned long long ackclock_until(unsigned long long next, bool *arrives);

/* Up to where the clock may go that wants to go to `next`; whether something arrives there. */
unsigned long long ackclock_until(unsigned long long next, bool *arrives)
{
	struct ackclock_joint *joint = ackclock_joint;

	*arrives = false;
	if (!joint || next <= ackclock_time() || next < joint->until)
		return next;
	joint->now = ackclock_time();
	joint->next = next;
	joint->reason = ACKCLOCK_WAIT;
	joint->deaf = ackclock_event.pending;
	ackclock_hand_over();
	*arrives = joint->in != 0;
	return joint->now;
}

static void look_after(unsigned int index)
{
	struct end *end = &ends[index];
	unsigned long flags;

	if (index >= ACKCLOCK_SOCKETS || !end->used)
		return;
	local_irq_save(flags);
	if (!end->queued) {
		end->queued = true;
		list_add_tail(&end->list, &waiting);
	}
	local_irq_restore(flags);
	wake_up_process(thread);
}

/* A packet that vanished unseen would make a result wrong. */
static struct sk_buff *new_packet(struct net_device *net, unsigned int size)
{
	struct sk_buff *skb = netdev_alloc_skb(net, size);

	if (!skb)
		panic("ackclock: the memory of the guest is full of packets");
	return skb;
}

static void receive(const struct ackclock_record *record)
{
	struct net_device *net = record->index < ACKCLOCK_DEVICES ? devices[record->index] : NULL;
	struct sk_buff *skb;

	if (!net)
		return;
	skb = new_packet(net, record->length);
	skb_put_data(skb, record + 1, record->length);
	skb_reset_mac_header(skb);
	skb->protocol = htons(*(u8 *)skb->data >> 4 == 6 ? ETH_P_IPV6 : ETH_P_IP);
	/* What is on the path does not damage packets. */
	skb->ip_summed = CHECKSUM_UNNECESSARY;
	dev_sw_netstats_rx_add(net, skb->len);
	netif_rx(skb);
	look_after(record->about);
}

static void obey(const struct ackclock_record *record)
{
	struct end *end = &ends[record->index % ACKCLOCK_SOCKETS];

	switch (record->about) {
	case ACKCLOCK_WRITE:
		end->left += record->value;
		break;
	case ACKCLOCK_ENDLESS:
		end->endless = true;
		break;
	case ACKCLOCK_STOP:
		end->left = 0;
		end->endless = false;
		break;
	case ACKCLOCK_CLOSE:
		end->closes = true;
		break;
	}
	look_after(record->index);
}

/* Queues: each is the queue discipline of an interface without a host. */

static const struct net_device_ops queue_operations;

/*
 * A packet is gone: called when its data is freed, however a discipline does that. A callback of its owner would not do, since a discipline
 * may part the packet from its owner and keep it.
 */
static void gone(struct sk_buff *skb, struct ubuf_info *info, bool done)
{
	/* One that has left has no number any more; one that an action has sent to another interface is not ours to tell of. */
	if (skb->mark && skb->dev && skb->dev->netdev_ops == &queue_operations)
		put(ACKCLOCK_DROP, ((struct port *)netdev_priv(skb->dev))->index, 0)->about = skb->mark;
}

static const struct ubuf_info_ops watch = { .complete = gone };
static struct ubuf_info watched = { .ops = &watch, .refcnt = REFCOUNT_INIT(1) };

static struct port *queue_of(const struct ackclock_record *record)
{
	struct net_device *net = record->index < ACKCLOCK_DEVICES ? devices[record->index] : NULL;
	struct port *port = net ? netdev_priv(net) : NULL;

	return port && port->is_queue ? port : NULL;
}

static void look_after_queue(struct port *port)
{
	if (!port->queued) {
		port->queued = true;
		list_add_tail(&port->list, &busy);
	}
	wake_up_process(thread);
}

/* A packet arrives: its headers, and its size in `value`. */
static void enqueue(const struct ackclock_record *record)
{
	struct port *port = queue_of(record);
	struct sk_buff *skb;

	if (!port || record->length > record->value)
		return;
	skb = new_packet(port->net, record->value);
	skb_put_data(skb, record + 1, record->length);
	skb_put_zero(skb, record->value - record->length);
	skb_reset_mac_header(skb);
	skb_reset_network_header(skb);
	skb->protocol = htons(ETH_P_IP);
	skb->mark = record->about;
	skb_shinfo(skb)->destructor_arg = &watched;
	skb_shinfo(skb)->flags |= SKBFL_ZEROCOPY_ENABLE | SKBFL_DONT_ORPHAN;
	__skb_queue_tail(&port->arrived, skb);
	look_after_queue(port);
}

static void set_free(const struct ackclock_record *record)
{
	struct port *port = queue_of(record);

	if (!port)
		return;
	port->free = true;
	look_after_queue(port);
}

/* In the thread: hands packets to the discipline, or asks it for one. */
static void serve_queue(struct port *port)
{
	struct sk_buff *skb;

	local_bh_disable();
	/* No packet waits outside the discipline, as it otherwise may if it finds the queue empty and the link busy. */
	rcu_dereference_bh(netdev_get_tx_queue(port->net, 0)->qdisc)->flags &= ~TCQ_F_CAN_BYPASS;
	while ((skb = __skb_dequeue(&port->arrived)))
		dev_queue_xmit(skb);
	if (port->free) {
		port->free = false;
		netif_wake_queue(port->net);
	}
	local_bh_enable();
}

/* A packet leaves the discipline; the next waits until the link is free again. */
static netdev_tx_t leave(struct sk_buff *skb, struct net_device *net)
{
	const struct port *port = netdev_priv(net);
	const unsigned int length = min_t(unsigned int, skb->len, sizeof(struct iphdr));
	struct ackclock_record *record;

	netif_stop_queue(net);
	record = put(ACKCLOCK_PACKET, port->index, length);
	record->about = skb->mark;
	skb_copy_bits(skb, 0, record + 1, length);
	skb->mark = 0;
	consume_skb(skb);
	return NETDEV_TX_OK;
}

/* Takes what Ackclock sent, in interrupt context. */
static void ackclock_arrive(struct time_travel_event *event)
{
	struct ackclock_joint *joint = ackclock_joint;
	const struct ackclock_record *record;
	size_t length;
	unsigned int at;

	for (at = 0; at < joint->in; at += sizeof(*record) + padded(record->length)) {
		record = (void *)joint->to_kernel + at;
		switch (record->kind) {
		case ACKCLOCK_PACKET:
			receive(record);
			break;
		case ACKCLOCK_ORDER:
			obey(record);
			break;
		case ACKCLOCK_ENQUEUE:
			enqueue(record);
			break;
		case ACKCLOCK_FREE:
			set_free(record);
			break;
		case ACKCLOCK_LINE:
			/* The first process may still be busy with an earlier line: the next read gives all that has come. */
			if (line_length && line_length < LINE)
				line[line_length++] = ';';
			length = min_t(size_t, record->length, LINE - line_length);
			memcpy(line + line_length, record + 1, length);
			line_length += length;
			wake_up_interruptible(&line_ready);
			break;
		}
	}
	joint->in = 0;
}

/* Interfaces. */

static netdev_tx_t transmit(struct sk_buff *skb, struct net_device *net)
{
	const struct port *port = netdev_priv(net);
	struct sock *sk = skb->sk;
	const struct end *end;

	if (skb->ip_summed == CHECKSUM_PARTIAL && skb_checksum_help(skb)) {
		dev_kfree_skb(skb);
		return NETDEV_TX_OK;
	}
	skb_copy_bits(skb, 0, put(ACKCLOCK_PACKET, port->index, skb->len) + 1, skb->len);
	if (sk && sk_fullsock(sk)) {
		end = READ_ONCE(sk->sk_user_data);
		if (end >= ends && end < ends + ACKCLOCK_SOCKETS)
			look_after(end - ends);
	}
	dev_sw_netstats_tx_add(net, 1, skb->len);
	consume_skb(skb);
	return NETDEV_TX_OK;
}

static const struct net_device_ops operations = { .ndo_start_xmit = transmit };
static const struct net_device_ops queue_operations = { .ndo_start_xmit = leave };

static void set_up(struct net_device *net)
{
	net->netdev_ops = &operations;
	net->type = ARPHRD_NONE;
	net->flags = IFF_POINTOPOINT | IFF_NOARP | IFF_MULTICAST;
	net->mtu = ETH_DATA_LEN;
	net->min_mtu = 68;
	net->max_mtu = 65535;
	net->tx_queue_len = 10000;
	net->features = net->hw_features = NETIF_F_SG | NETIF_F_FRAGLIST | NETIF_F_HW_CSUM;
	net->pcpu_stat_type = NETDEV_PCPU_STAT_TSTATS;
	net->needs_free_netdev = true;
}

static long new_device(unsigned long index, bool is_queue)
{
	struct net_device *net;
	struct port *port;
	int error;

	if (index >= ACKCLOCK_DEVICES || devices[index])
		return -EINVAL;
	net = alloc_netdev(sizeof(struct port), "eth0", NET_NAME_PREDICTABLE, set_up);
	if (!net)
		return -ENOMEM;
	port = netdev_priv(net);
	*port = (struct port) { .index = index, .is_queue = is_queue, .net = net };
	__skb_queue_head_init(&port->arrived);
	if (is_queue) {
		net->netdev_ops = &queue_operations;
		/* As of other interfaces. A host's own keeps whatever its sockets give it. */
		net->tx_queue_len = DEFAULT_TX_QUEUE_LEN;
	}
	dev_net_set(net, current->nsproxy->net_ns);
	error = register_netdev(net);
	if (error) {
		free_netdev(net);
		return error;
	}
	devices[index] = net;
	return 0;
}

/* Sockets. */

static long adopt(const struct ackclock_adopt *given)
{
	struct end *end = &ends[given->index % ACKCLOCK_SOCKETS];
	int error;
	/* The reference of the descriptor is kept: sockets live as long as the kernel. */
	struct socket *socket = sockfd_lookup(given->socket, &error);

	if (!socket)
		return error;
	if (given->index >= ACKCLOCK_SOCKETS || end->used || socket->sk->sk_protocol != IPPROTO_TCP)
		return -EINVAL;
	if (given->listens)
		end->listener = socket;
	else
		end->socket = socket;
	socket->sk->sk_user_data = given->listens ? NULL : end;
	end->used = true;
	return 0;
}

static void accept_one(struct end *end)
{
	struct socket *accepted;

	if (kernel_accept(end->listener, &accepted, O_NONBLOCK))
		return;
	sock_no_linger(accepted->sk);
	accepted->sk->sk_user_data = end;
	end->socket = accepted;
}

/* Reads everything that has arrived in order. */
static void read_all(struct end *end, struct ackclock_socket *state)
{
	struct msghdr message;
	int count;

	for (;;) {
		memset(&message, 0, sizeof(message));
		iov_iter_discard(&message.msg_iter, ITER_DEST, INT_MAX);
		count = sock_recvmsg(end->socket, &message, MSG_DONTWAIT | MSG_TRUNC);
		if (count <= 0)
			break;
		state->read += count;
	}
	if (count == 0 && state->flags & ACKCLOCK_CONNECTED && !(state->flags & ACKCLOCK_CLOSED)) {
		/* The peer has closed: this end does so too. */
		state->flags |= ACKCLOCK_CLOSED;
		end->closes = true;
	} else if (count < 0 && count != -EAGAIN && count != -ENOTCONN) {
		state->error = count;
	}
}

/* Writes as long as a program would that polls the socket. */
static void write_some(struct end *end, struct ackclock_socket *state)
{
	struct sock *sk = end->socket->sk;
	int count;

	while ((end->left || end->endless) && !end->done && sk_stream_is_writeable(sk)) {
		struct msghdr message = { .msg_flags = MSG_DONTWAIT | MSG_NOSIGNAL };
		struct kvec data = { .iov_base = zeros, .iov_len = end->endless ? CHUNK : min_t(u64, CHUNK, end->left) };

		count = kernel_sendmsg(end->socket, &message, &data, 1, data.iov_len);
		if (count == -EAGAIN)
			break;
		if (count < 0) {
			state->error = count;
			end->done = true;
			break;
		}
		if (!end->endless)
			end->left -= count;
	}
	/* As poll does: the kernel makes the buffer grow only for a program that waits for room. */
	if ((end->left || end->endless) && !end->done && !sk_stream_is_writeable(sk))
		set_bit(SOCK_NOSPACE, &end->socket->flags);
	if (end->closes && !end->left && !end->endless && !end->done) {
		end->done = true;
		kernel_sock_shutdown(end->socket, SHUT_WR);
	}
}

static void serve(struct end *end)
{
	struct ackclock_socket *state = &ackclock_joint->sockets[end - ends];
	struct sock *sk;

	if (!end->socket)
		accept_one(end);
	if (!end->socket)
		return;
	sk = end->socket->sk;
	if (!((1 << sk->sk_state) & (TCPF_CLOSE | TCPF_LISTEN | TCPF_SYN_SENT | TCPF_SYN_RECV)))
		state->flags |= ACKCLOCK_CONNECTED;
	if (state->flags & ACKCLOCK_CONNECTED) {
		read_all(end, state);
		write_some(end, state);
	} else if (sk->sk_err) {
		state->error = -sk->sk_err;
	}
	tcp_get_info(sk, (struct tcp_info *)state->info);
}

static int work(void *unused)
{
	struct port *port;
	struct end *end;

	for (;;) {
		set_current_state(TASK_IDLE);
		if (list_empty(&waiting) && list_empty(&busy))
			schedule();
		__set_current_state(TASK_RUNNING);
		for (;;) {
			local_irq_disable();
			port = list_first_entry_or_null(&busy, struct port, list);
			end = list_first_entry_or_null(&waiting, struct end, list);
			if (port) {
				list_del(&port->list);
				port->queued = false;
			} else if (end) {
				list_del(&end->list);
				end->queued = false;
			}
			local_irq_enable();
			if (port)
				serve_queue(port);
			else if (end)
				serve(end);
			else
				break;
		}
	}
	return 0;
}

/* The device of the first process: it reads a line, does what it says, and writes an answer. */

static ssize_t read_line(struct file *file, char __user *buffer, size_t size, loff_t *position)
{
	size_t length;

	if (wait_event_interruptible(line_ready, line_length))
		return -ERESTARTSYS;
	length = min(size, line_length);
	line_length = 0;
	return copy_to_user(buffer, line, length) ? -EFAULT : length;
}

static ssize_t write_answer(struct file *file, const char __user *buffer, size_t size, loff_t *position)
{
	void *answer = size <= LINE ? memdup_user(buffer, size) : ERR_PTR(-EINVAL);

	if (IS_ERR(answer))
		return PTR_ERR(answer);
	memcpy(put(ACKCLOCK_LINE, 0, size) + 1, answer, size);
	kfree(answer);
	return size;
}

static long call(struct file *file, unsigned int request, unsigned long argument)
{
	struct ackclock_adopt given;

	switch (request) {
	case ACKCLOCK_NEW_DEVICE:
	case ACKCLOCK_NEW_QUEUE:
		return new_device(argument, request == ACKCLOCK_NEW_QUEUE);
	case ACKCLOCK_ADOPT:
		return copy_from_user(&given, (void __user *)argument, sizeof(given)) ? -EFAULT : adopt(&given);
	}
	return -ENOTTY;
}

/* Programs that run in the guest do not speak for its first process, whose children keep its descriptor. */
static int open_device(struct inode *inode, struct file *file)
{
	return is_global_init(current) ? nonseekable_open(inode, file) : -EPERM;
}

static const struct file_operations file_operations = {
	.owner = THIS_MODULE,
	.open = open_device,
	.read = read_line,
	.write = write_answer,
	.unlocked_ioctl = call,
	.llseek = noop_llseek,
};

static struct miscdevice device = { .minor = MISC_DYNAMIC_MINOR, .name = "ackclock", .fops = &file_operations };

/* Standard output and standard error of programs: every write is a record, so that nothing is lost and the order is that of the writes. */

static struct miscdevice output, errors;

static ssize_t write_output(struct file *file, const char __user *buffer, size_t size, loff_t *position)
{
	size_t length = min_t(size_t, size, LINE);
	void *bytes = memdup_user(buffer, length);

	if (IS_ERR(bytes))
		return PTR_ERR(bytes);
	memcpy(put(ACKCLOCK_OUTPUT, file->private_data == &errors ? 2 : 1, length) + 1, bytes, length);
	kfree(bytes);
	return length;
}

static __poll_t poll_output(struct file *file, struct poll_table_struct *table)
{
	return EPOLLOUT | EPOLLWRNORM;
}

static const struct file_operations output_operations = {
	.owner = THIS_MODULE,
	.open = nonseekable_open,
	.write = write_output,
	.poll = poll_output,
};

/* Programs may open them by their names, too, whoever they run as. */
static struct miscdevice output = {
	.minor = MISC_DYNAMIC_MINOR, .name = "ackclock-output", .fops = &output_operations, .mode = S_IWUGO,
};
static struct miscdevice errors = {
	.minor = MISC_DYNAMIC_MINOR, .name = "ackclock-errors", .fops = &output_operations, .mode = S_IWUGO,
};

static int __init ackclock_init(void)
{
	BUILD_BUG_ON(sizeof(struct tcp_info) > ACKCLOCK_INFO);
	if (!ackclock_joint)
		return 0;
	line = kmalloc(LINE, GFP_KERNEL);
	zeros = kzalloc(CHUNK, GFP_KERNEL);
	thread = kthread_run(work, NULL, "ackclock");
	if (!line || !zeros || IS_ERR(thread))
		panic("ackclock: no memory");
	return misc_register(&device) ?: misc_register(&output) ?: misc_register(&errors);
}
device_initcall(ackclock_init);
