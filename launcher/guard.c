/* The locks of a tuning: one per device, and the rescue of what was left. */
/* SPDX-License-Identifier: MIT */
#include "launcher/guard.h"

#include "base/alloc.h"
#include "base/log.h"
#include "probes/keeper.h"
#include "probes/proctree.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WAIT_MS 100

static void read_boot_id(char boot_id[40])
{
	FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");

	boot_id[0] = '\0';
	if (!file)
		return;
	if (!fgets(boot_id, 40, file))
		boot_id[0] = '\0';
	boot_id[strcspn(boot_id, "\n")] = '\0';
	(void)fclose(file);
}

static void make_note(struct lock_note *note, const struct strlist *command)
{
	size_t used = 0;

	memset(note, 0, sizeof(*note));
	note->pid = getpid();
	read_boot_id(note->boot_id);
	for (size_t i = 0; i < command->count; i++) {
		const char *c = command->items[i];

		if (i > 0 && used + 1 < sizeof(note->command))
			note->command[used++] = ' ';
		for (; *c && used + 1 < sizeof(note->command); c++)
			note->command[used++] =
				isprint((unsigned char)*c) ? *c : '?';
	}
}

/* Autofit and keeper were both killed: nobody else cleans up after them. */
static void rescue(const struct lock_note *left, const struct job *job)
{
	char boot_id[40];
	char *mark;
	char *scratch;
	size_t killed;

	read_boot_id(boot_id);
	if (!left->probe_id[0] || strcmp(left->boot_id, boot_id) != 0 ||
	    strspn(left->probe_id, "0123456789abcdef") !=
		    strlen(left->probe_id))
		return;
	mark = xasprintf("AUTOFIT_PROBE=%s", left->probe_id);
	killed = keeper_rescue(mark, left->probe_start);
	if (killed)
		log_warning("killed %zu processes that a killed tuning had "
			    "left behind",
			    killed);
	host_cgroup_remove_left(left->probe_id);
	scratch = xasprintf("%s/%s",
			    job->options->scratch ? job->options->scratch
						  : job->paths.scratch,
			    left->probe_id);
	paths_remove_tree(scratch);
	free(scratch);
	free(mark);
}

static int take_one(struct guard *guard, const struct job *job,
		    const char *name, bool *waited, struct error *err)
{
	struct lock *lock = &guard->locks[guard->count];
	struct lock_note left;
	bool told = false;
	int result;

	for (;;) {
		result = lock_take(lock, job->paths.locks, name, &left, err);
		if (result != -EWOULDBLOCK)
			break;
		if (job->options->no_wait)
			return error_set(err, -EBUSY,
					 "process %d is tuning on %s already "
					 "(%s)",
					 (int)left.pid, name, left.command);
		if (!told)
			log_warning("waiting for process %d, which is tuning "
				    "on %s (%s); --no-wait does not wait",
				    (int)left.pid, name, left.command);
		told = *waited = true;
		(void)poll(NULL, 0, WAIT_MS);
		if (guard->must_end && guard->must_end(guard->context))
			return error_set(err, -EINTR,
					 "stopped while waiting for %s", name);
	}
	if (result < 0)
		return result;
	guard->fds[guard->count] = lock->fd;
	guard->count++;
	rescue(&left, job);
	return lock_write(lock, &guard->note, err);
}

static bool holds(const struct guard *guard, const char *name)
{
	for (size_t i = 0; i < guard->count; i++) {
		const char *slash = strrchr(guard->locks[i].path, '/');
		const char *file = slash ? slash + 1 : guard->locks[i].path;
		size_t length = strlen(name);

		if (strncmp(file, name, length) == 0 &&
		    strcmp(file + length, ".lock") == 0)
			return true;
	}
	return false;
}

/* Named after the machine: the folder may be shared with others. */
static int take_host(struct guard *guard, const struct job *job, bool *waited,
		     struct error *err)
{
	char name[HOST_NAME_MAX + 16] = "host-";
	size_t used = strlen(name);

	if (gethostname(name + used, sizeof(name) - used - 1) < 0)
		name[used] = '\0';
	name[sizeof(name) - 1] = '\0';
	return holds(guard, name) ? 0 : take_one(guard, job, name, waited, err);
}

int guard_take(struct guard *guard, const struct job *job,
	       const struct target *target, bool *waited, struct error *err)
{
	int result = paths_make(job->paths.locks, err);

	if (!guard->note.pid)
		make_note(&guard->note, &job->command.argv);
	if (target->device == PROBE_HOST)
		return result < 0 ? result : take_host(guard, job, waited, err);
	for (size_t i = 0; i < target->gpu_count && result >= 0; i++)
		if (!holds(guard, target->gpus[i].uuid))
			result = take_one(guard, job, target->gpus[i].uuid,
					  waited, err);
	return result;
}

int guard_note_probe(struct guard *guard, const char *probe_id,
		     struct error *err)
{
	int result = 0;

	(void)snprintf(guard->note.probe_id, sizeof(guard->note.probe_id), "%s",
		       probe_id);
	guard->note.probe_start = proctree_now_ticks();
	for (size_t i = 0; i < guard->count && result >= 0; i++)
		result = lock_write(&guard->locks[i], &guard->note, err);
	return result;
}

void guard_release(struct guard *guard)
{
	for (size_t i = 0; i < guard->count; i++)
		lock_release(&guard->locks[i]);
	guard->count = 0;
}
