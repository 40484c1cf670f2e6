/* Starts a command that may not have namespaces, Landlock, or be root. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <grp.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NOBODY 65534
#define FILTER_MAX 128
#define NEW_NAMESPACES                                                         \
	(CLONE_NEWNS | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET |           \
	 CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP)

#if defined(__x86_64__)
#	define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#	define ARCHITECTURE AUDIT_ARCH_AARCH64
#else
#	error "the numbers of the system calls are those of x86-64 and aarch64"
#endif

/* Calls that older headers do not name: the same on both machines. */
enum {
	NR_OPEN_TREE = 428,
	NR_MOVE_MOUNT = 429,
	NR_FSOPEN = 430,
	NR_FSCONFIG = 431,
	NR_FSMOUNT = 432,
	NR_FSPICK = 433,
	NR_CLONE3 = 435,
	NR_MOUNT_SETATTR = 442,
	NR_LANDLOCK_CREATE_RULESET = 444,
};

struct call {
	uint32_t number;
	uint32_t mask; /* of the first argument; 0: whatever it is */
	uint32_t code; /* what it fails with */
};

/* As a container does it: clone3, whose flags no filter sees, is unknown. */
static const struct call namespace_calls[] = {
	{ SYS_unshare, NEW_NAMESPACES, EPERM },
	{ SYS_clone, NEW_NAMESPACES, EPERM },
	{ NR_CLONE3, 0, ENOSYS },
	{ SYS_setns, 0, EPERM },
	{ SYS_mount, 0, EPERM },
	{ SYS_umount2, 0, EPERM },
	{ SYS_pivot_root, 0, EPERM },
	{ NR_OPEN_TREE, 0, EPERM },
	{ NR_MOVE_MOUNT, 0, EPERM },
	{ NR_FSOPEN, 0, EPERM },
	{ NR_FSCONFIG, 0, EPERM },
	{ NR_FSMOUNT, 0, EPERM },
	{ NR_FSPICK, 0, EPERM },
	{ NR_MOUNT_SETATTR, 0, EPERM },
};

static const struct call landlock_calls[] = {
	{ NR_LANDLOCK_CREATE_RULESET, 0, ENOSYS },
};

struct filter {
	struct sock_filter items[FILTER_MAX];
	unsigned short count;
};

static void add(struct filter *filter, uint16_t code, uint32_t value,
		uint8_t if_true, uint8_t if_false)
{
	filter->items[filter->count++] = (struct sock_filter){
		.code = code,
		.jt = if_true,
		.jf = if_false,
		.k = value,
	};
}

static void load(struct filter *filter, size_t offset)
{
	add(filter, BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset, 0, 0);
}

/* The number is loaded again, as a mask puts the argument in its place. */
static void add_call(struct filter *filter, const struct call *call)
{
	load(filter, offsetof(struct seccomp_data, nr));
	if (call->mask) {
		add(filter, BPF_JMP | BPF_JEQ | BPF_K, call->number, 0, 3);
		load(filter, offsetof(struct seccomp_data, args));
		add(filter, BPF_JMP | BPF_JSET | BPF_K, call->mask, 0, 1);
	} else {
		add(filter, BPF_JMP | BPF_JEQ | BPF_K, call->number, 0, 1);
	}
	add(filter, BPF_RET | BPF_K, SECCOMP_RET_ERRNO | call->code, 0, 0);
}

static int forbid(const struct call *calls, size_t count)
{
	struct filter filter = { .count = 0 };
	struct sock_fprog program = { .filter = filter.items };

	load(&filter, offsetof(struct seccomp_data, arch));
	add(&filter, BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0);
	add(&filter, BPF_RET | BPF_K, SECCOMP_RET_ALLOW, 0, 0);
	for (size_t i = 0; i < count; i++)
		add_call(&filter, &calls[i]);
	add(&filter, BPF_RET | BPF_K, SECCOMP_RET_ALLOW, 0, 0);
	program.len = filter.count;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -1;
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static int become_nobody(void)
{
	if (geteuid() != 0)
		return 0;
	if (setgroups(0, NULL) < 0 || setgid(NOBODY) < 0)
		return -1;
	return setuid(NOBODY);
}

static int apply(const char *what)
{
	if (strcmp(what, "namespaces") == 0)
		return forbid(namespace_calls,
			      sizeof(namespace_calls) /
				      sizeof(*namespace_calls));
	if (strcmp(what, "landlock") == 0)
		return forbid(landlock_calls,
			      sizeof(landlock_calls) / sizeof(*landlock_calls));
	if (strcmp(what, "user") == 0)
		return become_nobody();
	errno = EINVAL;
	return -1;
}

int main(int argc, char **argv)
{
	char *rest = NULL;

	if (argc < 3) {
		(void)fputs("usage: forbid WHAT[,WHAT] COMMAND...\n"
			    "WHAT: namespaces, landlock, user (not root)\n",
			    stderr);
		return 125;
	}
	for (const char *what = strtok_r(argv[1], ",", &rest); what;
	     what = strtok_r(NULL, ",", &rest)) {
		if (apply(what) == 0)
			continue;
		(void)fprintf(stderr, "forbid: %s: %s\n", what,
			      strerror(errno));
		return 125;
	}
	(void)execvp(argv[2], argv + 2);
	(void)fprintf(stderr, "forbid: %s: %s\n", argv[2], strerror(errno));
	return errno == ENOENT ? 127 : 126;
}
