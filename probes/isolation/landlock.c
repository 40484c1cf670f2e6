/* Landlock: writes refused everywhere but where they are allowed. */
/* SPDX-License-Identifier: MIT */
#include "probes/isolation/landlock.h"

#include "probes/isolation/mounts.h"
#include "probes/isolation/places.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/*
 * Source: include/uapi/linux/landlock.h of Linux 6.2. Written out, because
 * headers before 5.13 have none of it and older ones not the last two. The
 * numbers are the same on x86-64 and aarch64.
 */
#define NR_CREATE_RULESET 444
#define NR_ADD_RULE 445
#define NR_RESTRICT_SELF 446
#define CREATE_RULESET_VERSION 1U
#define RULE_PATH_BENEATH 1
#define ACCESS_WRITE_FILE (UINT64_C(1) << 1)
#define ACCESS_MAKE_AND_REMOVE UINT64_C(0x1ff0) /* bits 4 to 12 */
#define ACCESS_REFER (UINT64_C(1) << 13)        /* since ABI 2 */
#define ACCESS_TRUNCATE (UINT64_C(1) << 14)     /* since ABI 3 */

#define SHARED_MEMORY "/dev/shm"

/* The kernel's is packed: it reads no further than the second member. */
struct path_beneath {
	uint64_t allowed_access;
	int32_t parent_fd;
};

struct rules {
	int fd;
	uint64_t handled;
};

/*
 * Before ABI 3 truncate(2), which needs no open file, is not refused, while
 * open with O_TRUNC is, as any open to write. Before ABI 2 a rename or link
 * from one folder into another is refused everywhere (EXDEV). Good enough
 * both: it is still far better than to compare afterwards.
 */
static uint64_t handled_by(int abi)
{
	uint64_t handled = ACCESS_WRITE_FILE | ACCESS_MAKE_AND_REMOVE;

	if (abi >= 2)
		handled |= ACCESS_REFER;
	if (abi >= 3)
		handled |= ACCESS_TRUNCATE;
	return handled;
}

static int open_rules(struct rules *rules)
{
	long abi = syscall(NR_CREATE_RULESET, NULL, (size_t)0,
			   CREATE_RULESET_VERSION);

	if (abi < 0)
		return -errno;
	rules->handled = handled_by((int)abi);
	/* The first member of struct landlock_ruleset_attr, enough for all. */
	rules->fd = (int)syscall(NR_CREATE_RULESET, &rules->handled,
				 sizeof(rules->handled), 0U);
	return rules->fd < 0 ? -errno : 0;
}

/* What does not exist, or cannot be reached, needs no rule. */
static int allow(const struct rules *rules, const char *path, uint64_t access)
{
	struct path_beneath rule = { .allowed_access = access };
	struct stat info;
	int result = 0;

	rule.parent_fd = open(path, O_PATH | O_CLOEXEC);
	if (rule.parent_fd < 0)
		return errno == ENOENT || errno == EACCES ? 0 : -errno;
	/* A rule for a file may hold nothing that is for folders. */
	if (fstat(rule.parent_fd, &info) == 0 && !S_ISDIR(info.st_mode))
		rule.allowed_access &= ACCESS_WRITE_FILE | ACCESS_TRUNCATE;
	rule.allowed_access &= rules->handled;
	if (syscall(NR_ADD_RULE, rules->fd, RULE_PATH_BENEATH, &rule, 0U) < 0)
		result = -errno;
	(void)close(rule.parent_fd);
	return result;
}

static int allow_shared(const struct rules *rules, const struct places *places)
{
	int result = 0;

	for (size_t i = 0; i < places->count && result == 0; i++)
		if (places->items[i].shared &&
		    !places_has_guarded_below(places, places->items[i].path))
			result =
				allow(rules, places->items[i].path, UINT64_MAX);
	return result;
}

static int allow_all(const struct rules *rules, const struct places *places,
		     const char *scratch)
{
	int result = allow(rules, scratch, UINT64_MAX);

	if (result == 0)
		result = allow_shared(rules, places);
	/* Devices, shared memory, and what a process sets of its own. */
	if (result == 0)
		result = allow(rules, "/dev",
			       ACCESS_WRITE_FILE | ACCESS_TRUNCATE);
	if (result == 0)
		result = allow(rules, SHARED_MEMORY, UINT64_MAX);
	if (result == 0)
		result = allow(rules, "/proc", ACCESS_WRITE_FILE);
	return result;
}

/* A rule cannot be taken back further down. */
static const char *guarded_in_devices(const struct places *places)
{
	for (size_t i = 0; i < places->count; i++)
		if (!places->items[i].shared &&
		    path_is_within(places->items[i].path, "/dev"))
			return places->items[i].path;
	return NULL;
}

static int restrict_by(const struct places *places, const char *scratch,
		       struct error *err)
{
	const char *guarded = guarded_in_devices(places);
	struct rules rules = { .fd = -1 };
	int result;

	if (guarded)
		return error_set(err, -EXDEV,
				 "no Landlock for %s: /dev is to be written",
				 guarded);
	result = open_rules(&rules);
	if (result == 0)
		result = allow_all(&rules, places, scratch);
	/* The kernel asks for it of who has no privilege. */
	if (result == 0 && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		result = -errno;
	if (result == 0 && syscall(NR_RESTRICT_SELF, rules.fd, 0U) < 0)
		result = -errno;
	if (rules.fd >= 0)
		(void)close(rules.fd);
	if (result < 0)
		return error_set(err, result, "no Landlock (%s)",
				 strerror(-result));
	return 0;
}

int landlock_enter(const struct isolation_spec *spec, struct error *err)
{
	struct places places;
	int result;

	places_make(&places, spec->shared, spec->guarded);
	result = restrict_by(&places, spec->scratch, err);
	places_release(&places);
	if (result == 0 && chdir(spec->working) < 0)
		result = error_set_errno(err, -errno, "cannot enter %s",
					 spec->working);
	return result;
}
