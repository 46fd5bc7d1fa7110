// SPDX-License-Identifier: GPL-2.0-only
/*
 * The part of the joint that is a program of the host: it maps the shared memory and takes turns by a futex.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <init.h>
#include <os.h>

#include "ackclock.h"

struct ackclock_joint *ackclock_joint;

static unsigned long long state;

/* The descriptor of the shared memory, which Ackclock passes on. */
static int __init ackclock_setup(char *line, int *add)
{
	int fd = atoi(line);
	void *map = mmap(NULL, sizeof(*ackclock_joint), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	struct ackclock_joint *joint = map;

	*add = 0;
	if (map == MAP_FAILED || joint->version != ACKCLOCK_VERSION) {
		os_warn("ackclock: descriptor %d holds no shared memory of version %d\n", fd, ACKCLOCK_VERSION);
		exit(1);
	}
	close(fd);
	state = joint->seed;
	ackclock_joint = joint;
	return 0;
}

__uml_setup("ackclock=", ackclock_setup,
"ackclock=<descriptor>\n"
"    Time and network come from Ackclock, by the memory of this descriptor.\n\n"
);

static void futex(int operation, unsigned int value)
{
	syscall(SYS_futex, &ackclock_joint->turn, operation, value, NULL, NULL, 0);
}

/* Lets Ackclock have its turn, and waits for the next of the kernel. */
void ackclock_hand_over(void)
{
	int saved = errno;

	__atomic_store_n(&ackclock_joint->turn, ACKCLOCK_OUTSIDE, __ATOMIC_RELEASE);
	futex(FUTEX_WAKE, 1);
	while (__atomic_load_n(&ackclock_joint->turn, __ATOMIC_ACQUIRE) != ACKCLOCK_KERNEL)
		futex(FUTEX_WAIT, ACKCLOCK_OUTSIDE);
	errno = saved;
}

/* In arch/um/os-Linux/util.c too. */
int ackclock_random(void *buffer, unsigned long length);

/* Random numbers for the kernel (splitmix64): from the seed of the run. */
int ackclock_random(void *buffer, unsigned long length)
{
	unsigned char *bytes = buffer;
	unsigned long done;

	if (!ackclock_joint)
		return 0;
	for (done = 0; done < length; done += 8) {
		unsigned long long word = state += 0x9e3779b97f4a7c15ULL;

		word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9ULL;
		word = (word ^ (word >> 27)) * 0x94d049bb133111ebULL;
		word ^= word >> 31;
		memcpy(bytes + done, &word, length - done < 8 ? length - done : 8);
	}
	return 1;
}
