/* The locks of a tuning: one per device, and the rescue of what was left. */
/* SPDX-License-Identifier: MIT */
#include "launcher/admission/device_locks.h"

#include "base/alloc.h"
#include "base/log.h"
#include "base/strbuf.h"
#include "configs/secrets/secrets.h"
#include "launcher/admission/node_lock.h"
#include "probes/channel/channel.h"
#include "probes/keeper/keeper.h"
#include "probes/process/proctree.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WAIT_MS 100
#define WHO_MAX 320
#define HOST_LOCK_MAX (HOST_NAME_MAX + 16)

/* Autofit and keeper were both killed: nobody else cleans up after them. */
static void rescue(const struct lock_note *left, const struct request *request)
{
	char boot_id[NOTE_BOOT_ID_MAX];
	char *mark;
	char *scratch;
	char *page;
	size_t killed;

	note_boot_id(boot_id);
	if (!left->probe_id[0] || strcmp(left->boot_id, boot_id) != 0 ||
	    strspn(left->probe_id, "0123456789abcdef") !=
		    strlen(left->probe_id))
		return;
	mark = xasprintf("AUTOFIT_PROBE=%s", left->probe_id);
	killed = keeper_rescue(mark, left->probe_start);
	/* A mark that was there before hides this one's in the limits. */
	killed += host_cgroup_remove_left(left->probe_id);
	if (killed)
		log_warning("killed %zu processes that a killed tuning had "
			    "left behind",
			    killed);
	scratch = xasprintf("%s/%s",
			    left->scratch[0] == '/' ? left->scratch
						    : request->paths.scratch,
			    left->probe_id);
	paths_remove_tree(scratch);
	free(scratch);
	page = channel_memory_path(left->probe_id);
	(void)unlink(page);
	free(page);
	free(mark);
}

/* One lock that another may hold. */
struct turn {
	const struct device_locks *guard;
	const struct request *request;
	const char *name; /* of the device */
	bool *waited;
	bool told;
	bool tries_once; /* it does not wait */
};

/* Before the next try: who holds it is said once. */
static int device_locks_wait_for(struct turn *turn, const char *who,
				 struct error *err)
{
	const struct device_locks *guard = turn->guard;

	if (turn->tries_once || turn->request->options->reuse.no_wait)
		return error_set(err, -EBUSY, "%s is tuning on %s already", who,
				 turn->name);
	if (!turn->told)
		log_warning("waiting for %s, which is tuning on %s; --no-wait "
			    "does not wait",
			    who, turn->name);
	turn->told = *turn->waited = true;
	(void)poll(NULL, 0, WAIT_MS);
	if (guard->must_end && guard->must_end(guard->context))
		return error_set(err, -EINTR, "stopped while waiting for %s",
				 turn->name);
	return 0;
}

static void device_locks_describe(char who[WHO_MAX],
				  const struct lock_note *holder)
{
	if (holder->pid)
		(void)snprintf(who, WHO_MAX, "process %d (%s)",
			       (int)holder->pid, holder->command);
	else
		(void)snprintf(who, WHO_MAX, "another process");
}

static int take_own(struct device_locks *guard, struct turn *turn,
		    struct error *err)
{
	const char *folder = turn->request->paths.locks;
	struct lock *lock = &guard->locks[guard->lock_count];
	struct lock_note left;
	char who[WHO_MAX];
	int result;

	assert(guard->lock_count <
	       sizeof(guard->locks) / sizeof(*guard->locks));
	turn->told = false;
	while ((result = lock_take(lock, folder, turn->name, &left, err)) ==
	       -EWOULDBLOCK) {
		device_locks_describe(who, &left);
		result = device_locks_wait_for(turn, who, err);
		if (result < 0)
			return result;
	}
	if (result < 0)
		return result;
	guard->lock_count++;
	assert(guard->count < sizeof(guard->fds) / sizeof(*guard->fds));
	guard->fds[guard->count++] = lock->fd;
	rescue(&left, turn->request);
	return lock_write(lock, &guard->note, err);
}

/* No error where the node has no place for it: the own lock holds, and
 * neighbours show on the device. */
static int take_node(struct device_locks *guard, struct turn *turn,
		     struct error *err)
{
	const char *folder =
		guard->node_folder ? guard->node_folder : node_lock_folder();
	struct error why = ERROR_INIT;
	char who[NODE_LOCK_WHO_MAX];
	int result;

	if (!folder) {
		log_verbose("no folder for locks that all users share");
		return 0;
	}
	turn->told = false;
	while ((result = node_lock_take(folder, turn->name, who, &why)) ==
	       -EWOULDBLOCK) {
		result = device_locks_wait_for(turn, who, err);
		if (result < 0)
			return result;
	}
	if (result >= 0)
		guard->fds[guard->count++] = result;
	else
		log_verbose("no lock that all users share: %s", why.message);
	return 0;
}

/* The own lock of this name that is held; NULL: none. */
static struct lock *device_locks_find(struct device_locks *guard,
				      const char *name)
{
	for (size_t i = 0; i < guard->lock_count; i++) {
		const char *file = basename(guard->locks[i].path);
		size_t length = strlen(name);

		if (strncmp(file, name, length) == 0 &&
		    strcmp(file + length, ".lock") == 0)
			return &guard->locks[i];
	}
	return NULL;
}

/* Named after the machine: the folder may be shared with others. */
static void name_host(char name[HOST_LOCK_MAX])
{
	static const char prefix[] = "host-";
	size_t used = sizeof(prefix) - 1;

	memcpy(name, prefix, sizeof(prefix));
	if (gethostname(name + used, HOST_LOCK_MAX - used - 1) < 0)
		name[used] = '\0';
	name[HOST_LOCK_MAX - 1] = '\0';
}

static int take_host(struct device_locks *guard, struct turn *turn,
		     struct error *err)
{
	return device_locks_find(guard, turn->name)
		       ? 0
		       : take_own(guard, turn, err);
}

static int take_gpu(struct device_locks *guard, struct turn *turn,
		    const char *uuid, struct error *err)
{
	int result;

	turn->name = uuid;
	if (device_locks_find(guard, uuid))
		return 0;
	result = take_own(guard, turn, err);
	return result < 0 ? result : take_node(guard, turn, err);
}

static int device_locks_by_text(const void *a, const void *b)
{
	const char *const *left = a;
	const char *const *right = b;

	return strcmp(*left, *right);
}

/* What the locks will say: this process, and the command without secrets. */
static void note_holder(struct lock_note *note, const struct request *request)
{
	struct strlist masked = STRLIST_INIT;
	struct strbuf words = STRBUF_INIT;

	secrets_mask_argv(&masked, request->command.given);
	for (size_t i = 0; i < masked.count; i++)
		strbuf_addf(&words, "%s%s", i ? " " : "", masked.items[i]);
	*note = (struct lock_note){ .pid = getpid() };
	note_boot_id(note->boot_id);
	note_copy_words(note->command, sizeof(note->command),
			strbuf_text(&words));
	strbuf_release(&words);
	strlist_release(&masked);
}

int device_locks_take(struct device_locks *guard, const struct request *request,
		      const struct memory_target *target, bool *waited,
		      struct error *err)
{
	struct turn turn = { .guard = guard,
			     .request = request,
			     .waited = waited };
	const char *uuids[GPU_MAX];
	char host[HOST_LOCK_MAX];
	int result = paths_make(request->paths.locks, err);

	if (!guard->note.pid)
		note_holder(&guard->note, request);
	/* Each start has phantom cards of its own. */
	if (target->is_phantom)
		return result;
	if (target->device == PROBE_HOST) {
		name_host(host);
		turn.name = host;
		return result < 0 ? result : take_host(guard, &turn, err);
	}
	assert(target->gpu_count >= 1 && target->gpu_count <= GPU_MAX);
	for (size_t i = 0; i < target->gpu_count; i++)
		uuids[i] = target->gpus[i].uuid;
	/* In one order, whatever CUDA_VISIBLE_DEVICES says: two tunings that
	 * share GPUs would each wait for the other. */
	qsort(uuids, target->gpu_count, sizeof(*uuids), device_locks_by_text);
	for (size_t i = 0; i < target->gpu_count && result >= 0; i++)
		result = take_gpu(guard, &turn, uuids[i], err);
	return result;
}

int device_locks_try(struct device_locks *guard, const struct request *request,
		     const char *uuid, struct error *err)
{
	bool waited = false;
	struct turn turn = { .guard = guard,
			     .request = request,
			     .waited = &waited,
			     .tries_once = true };
	const size_t lock_count = guard->lock_count;
	const size_t count = guard->count;
	int result = take_gpu(guard, &turn, uuid, err);

	/* Of the two locks of a GPU one alone is none. */
	if (result < 0 && guard->lock_count > lock_count) {
		lock_release(&guard->locks[lock_count]);
		guard->lock_count = lock_count;
		guard->count = count;
	}
	return result;
}

static void note_under_way(struct lock_note *note, const char *probe_id,
			   const char *scratch)
{
	(void)snprintf(note->probe_id, sizeof(note->probe_id), "%s", probe_id);
	(void)snprintf(note->scratch, sizeof(note->scratch), "%s", scratch);
	note->probe_start = proctree_now_ticks();
}

int device_locks_note_beside(struct device_locks *guard, const char *uuid,
			     const char *probe_id, const char *scratch,
			     struct error *err)
{
	struct lock *lock = device_locks_find(guard, uuid);
	struct lock_note note = guard->note;

	assert(lock && "it was taken before");
	note_under_way(&note, probe_id, scratch);
	return lock_write(lock, &note, err);
}

int device_locks_note_probe(struct device_locks *guard, const char *probe_id,
			    const char *scratch, struct error *err)
{
	int result = 0;

	note_under_way(&guard->note, probe_id, scratch);
	for (size_t i = 0; i < guard->lock_count && result >= 0; i++)
		result = lock_write(&guard->locks[i], &guard->note, err);
	return result;
}

static bool device_locks_is_own(const struct device_locks *guard, int fd)
{
	for (size_t i = 0; i < guard->lock_count; i++)
		if (guard->locks[i].fd == fd)
			return true;
	return false;
}

void device_locks_release(struct device_locks *guard)
{
	assert(guard->lock_count <= guard->count);
	for (size_t i = 0; i < guard->count; i++)
		if (!device_locks_is_own(guard, guard->fds[i]))
			(void)close(guard->fds[i]);
	for (size_t i = 0; i < guard->lock_count; i++)
		lock_release(&guard->locks[i]);
	guard->count = guard->lock_count = 0;
}
