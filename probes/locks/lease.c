/* One tuning per identity, over machines that share a folder. */
/* SPDX-License-Identifier: MIT */
/*
 * The lease is the file P = <name>.lease, and its holder is who wrote the
 * token in it. P is made by link(2), so one of several makes it. It is beaten
 * in place, through a descriptor of a file with the own token: a beat that
 * comes late lands in a file that nobody sees, never in a successor's.
 *
 * While P holds token T, only the owner of the claim P.T may move P on, be it
 * to take over or to release. A claim is made by link(2), so it has one owner;
 * the owner then looks again whether P still holds T with the same beat, and
 * installs its file by rename(P.T, P), which is one step: P is never absent
 * for a third to make it anew, and the claim is used up with it. Who decided
 * on T long ago can make the claim once more, but then sees another token in P
 * and withdraws. Nobody holds the lease before it read its own token in P
 * after its last rename, so one whose claim was replaced under it installs the
 * other's file, sees that, and goes back to waiting.
 *
 * A claim whose owner died in between (token C) is replaced in the same way
 * under the claim P.C, and so on: what is read is a chain of files, and all of
 * it must be dead. Only a process that sleeps for LEASE_STALE_MS between two
 * of these steps can act on rights that it lost; no lease by beats can do
 * better, and whom it hurts learns of it at the next beat.
 *
 * Over NFS a request that is repeated can fail although the first one worked:
 * errors of link and rename are believed only after a look at the files.
 */
#include "probes/locks/lease.h"

#include "base/alloc.h"
#include "base/hash.h"
#include "base/strbuf.h"
#include "configs/files/paths.h"
#include "probes/locks/lease_note.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAME_LENGTH_MAX 100
#define CHAIN_MAX 8
#define TRIES_MAX 100
#define CLEAN_MAX 1000
#define LEFTOVER_S 60
#define NAME_BYTES                                                             \
	"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"

/* The lease, and behind it claims on it. */
struct chain {
	struct {
		char *file;
		struct lease_note note;
	} items[CHAIN_MAX];
	size_t count;
};

/* What one call works with. */
struct lease_taking {
	struct lease *lease;
	char *path;
	char *temporary;       /* NULL: not made yet */
	struct lease_note own; /* what will stand in the file */
	int64_t now_ms;
};

static bool lease_holds(const char *file, const char *token)
{
	struct lease_note note;

	return lease_note_look(file, &note) > 0 &&
	       strcmp(note.token, token) == 0;
}

static void chain_release(struct chain *chain)
{
	for (size_t i = 0; i < chain->count; i++)
		free(chain->items[i].file);
	chain->count = 0;
}

static int chain_read(struct chain *chain, const char *path, struct error *err)
{
	char *file = xstrdup(path);
	int result = 1;

	chain->count = 0;
	while (chain->count < CHAIN_MAX) {
		struct lease_note *note = &chain->items[chain->count].note;

		result = lease_note_look(file, note);
		if (result <= 0)
			break;
		chain->items[chain->count++].file = file;
		file = xasprintf("%s.%s", path, note->token);
	}
	free(file);
	if (result == -ESTALE)
		return -EALREADY;
	if (result < 0)
		return error_set_errno(err, result, "cannot read lease %s",
				       path);
	if (result > 0)
		return error_set(err, -ELOOP,
				 "too many files %s.*: remove them, if no "
				 "tuning is under way",
				 path);
	return 0;
}

/* What changes when any of them beats. */
static uint64_t chain_sum(const struct chain *chain)
{
	struct strbuf text = STRBUF_INIT;
	uint64_t sum;

	for (size_t i = 0; i < chain->count; i++)
		strbuf_addf(&text, "%s %" PRIu64 "\n",
			    chain->items[i].note.token,
			    chain->items[i].note.beat);
	sum = hash_bytes(strbuf_text(&text), text.length);
	strbuf_release(&text);
	return sum;
}

static bool chain_is_dead(const struct chain *chain,
			  struct lease_taking *taking)
{
	struct lease *lease = taking->lease;
	const char *last = chain->items[chain->count - 1].note.token;
	uint64_t sum = chain_sum(chain);
	bool gone = true;

	assert(chain->count >= 1);
	for (size_t i = 0; i < chain->count && gone; i++)
		gone = lease_note_is_gone(&chain->items[i].note, &taking->own);
	if (gone)
		return true;
	if (lease->seen_beat != sum || strcmp(lease->seen_token, last) != 0) {
		lease->seen_beat = sum;
		memcpy(lease->seen_token, last, sizeof(lease->seen_token));
		lease->seen_at_ms = taking->now_ms;
	}
	return taking->now_ms - lease->seen_at_ms >= LEASE_STALE_MS;
}

/* A complete file under a name that nobody else uses. */
static int make_temporary(const char *file, const struct lease_note *note)
{
	int result;
	int fd;

	fd = open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW,
		  0600);
	if (fd < 0)
		return -errno;
	result = lease_note_write(fd, note);
	if (result == 0 && fsync(fd) < 0)
		result = -errno;
	/* NFS tells of a full disk only here. */
	if (close(fd) < 0 && result == 0)
		result = -errno;
	if (result < 0)
		(void)unlink(file);
	return result;
}

/* -EALREADY: another was first. (-EAGAIN is -EWOULDBLOCK.) */
static int link_new(const char *file, const char *target, const char *token)
{
	int result = link(file, target) < 0 ? -errno : 0;

	if (result == 0 || lease_holds(target, token))
		return 0;
	/* ENOENT: somebody took the file for a leftover. */
	return result == -EEXIST || result == -ENOENT ? -EALREADY : result;
}

/* Move the item on by its claim, which is ours and stands for it alone. */
static int install(const struct chain *chain, size_t index, const char *claim,
		   const char *token)
{
	const char *file = chain->items[index].file;
	const struct lease_note *seen = &chain->items[index].note;
	struct lease_note now;
	int result = 0;

	assert(index < chain->count);
	if (lease_note_look(file, &now) <= 0 ||
	    strcmp(now.token, seen->token) != 0 || now.beat != seen->beat) {
		(void)unlink(claim);
		return -EALREADY;
	}
	if (rename(claim, file) < 0)
		result = -errno;
	if (lease_holds(file, token))
		return 0;
	if (result < 0 && result != -ENOENT) {
		(void)unlink(claim);
		return result;
	}
	return -EALREADY;
}

static int take_over(const struct chain *chain, const char *path,
		     const char *temporary, const char *token)
{
	size_t i = chain->count;
	char *claim = xasprintf("%s.%s", path, chain->items[i - 1].note.token);
	int result = link_new(temporary, claim, token);

	assert(i >= 1 && "what is absent is made, not taken over");
	while (result == 0 && i-- > 0) {
		result = install(chain, i, claim, token);
		free(claim);
		claim = xstrdup(chain->items[i].file);
	}
	free(claim);
	return result;
}

static int need_temporary(struct lease_taking *taking)
{
	struct stat info;

	if (taking->temporary && lstat(taking->temporary, &info) == 0)
		return 0;
	free(taking->temporary);
	taking->temporary =
		xasprintf("%s.new.%s", taking->path, taking->own.token);
	return make_temporary(taking->temporary, &taking->own);
}

static int try_once(struct lease_taking *taking, struct lease_note *holder,
		    struct error *err)
{
	const char *token = taking->own.token;
	struct chain chain;
	int result = chain_read(&chain, taking->path, err);

	if (result < 0)
		goto out;
	if (chain.count && strcmp(chain.items[0].note.token, token) == 0)
		goto out;
	if (chain.count && !chain_is_dead(&chain, taking)) {
		*holder = chain.items[chain.count - 1].note;
		result = error_set(
			err, -EWOULDBLOCK, "process %ld on %s holds lease %s",
			(long)holder->pid, holder->host, taking->path);
		goto out;
	}
	result = need_temporary(taking);
	if (result == 0 && chain.count)
		result = take_over(&chain, taking->path, taking->temporary,
				   token);
	else if (result == 0)
		result = link_new(taking->temporary, taking->path, token);
	if (result < 0 && result != -EALREADY)
		(void)error_set_errno(err, result, "cannot take lease %s",
				      taking->path);
out:
	chain_release(&chain);
	return result;
}

/* Is it a file of a taker that was killed? Its age by the server's clock. */
static bool is_leftover(const char *file, const struct lease_note *own,
			time_t now)
{
	struct lease_note note;
	struct stat info;

	if (lease_note_look(file, &note) <= 0 || lstat(file, &info) < 0)
		return false;
	return lease_note_is_gone(&note, own) ||
	       info.st_mtime < now - LEFTOVER_S;
}

/*
 * Safe for whoever holds the lease: a claim on any token but the present one
 * gives no right any more, and a taker whose own file goes makes another.
 */
static void lease_clean_up(const struct lease_taking *taking,
			   const char *folder, const char *name)
{
	char *prefix = xasprintf("%s.lease.", name);
	DIR *entries = opendir(folder);
	struct dirent *entry;
	struct stat info;
	size_t seen = 0;

	if (!entries || stat(taking->path, &info) < 0)
		goto out;
	while (seen++ < CLEAN_MAX && (entry = readdir(entries))) {
		const char *rest = entry->d_name + strlen(prefix);
		char *file;

		if (strncmp(entry->d_name, prefix, strlen(prefix)) != 0 ||
		    strcmp(rest, taking->own.token) == 0)
			continue;
		file = xasprintf("%s/%s", folder, entry->d_name);
		if (is_leftover(file, &taking->own, info.st_mtime))
			(void)unlink(file);
		free(file);
	}
out:
	if (entries)
		(void)closedir(entries);
	free(prefix);
}

static int lease_try(struct lease_taking *taking, struct lease_note *holder,
		     struct error *err)
{
	int result = -EALREADY;

	for (int i = 0; i < TRIES_MAX && result == -EALREADY; i++)
		result = try_once(taking, holder, err);
	if (result == -EALREADY)
		result = error_set(err, -EWOULDBLOCK,
				   "others are taking lease %s", taking->path);
	if (taking->temporary)
		(void)unlink(taking->temporary);
	free(taking->temporary);
	taking->temporary = NULL;
	return result;
}

/* NOLINTNEXTLINE(readability-function-size): what, where, when, who, why. */
int lease_take(struct lease *lease, const char *folder, const char *name,
	       int64_t now_ms, struct lease_note *holder, struct error *err)
{
	struct lease_taking taking = { .lease = lease, .now_ms = now_ms };
	size_t length = strlen(name);
	int result;

	memset(holder, 0, sizeof(*holder));
	if (length == 0 || length > NAME_LENGTH_MAX ||
	    strspn(name, NAME_BYTES) != length)
		return error_set(err, -EINVAL, "no name for a lease: '%s'",
				 name);
	result = paths_make(folder, err);
	if (result < 0)
		return result;
	result = lease_note_of_self(&taking.own);
	if (result < 0)
		return error_set_errno(err, result, "cannot take a lease");
	taking.path = xasprintf("%s/%s.lease", folder, name);
	result = lease_try(&taking, holder, err);
	if (result < 0) {
		free(taking.path);
		return result;
	}
	lease_clean_up(&taking, folder, name);
	free(lease->path);
	memset(lease, 0, sizeof(*lease));
	assert(!taking.temporary);
	lease->path = taking.path;
	lease->note = taking.own;
	return 0;
}

static int lost(const struct lease *lease, const struct lease_note *other,
		struct error *err)
{
	assert(lease->path);
	if (other->pid > 0)
		return error_set(err, -ESTALE,
				 "lease %s was taken over by process %ld on %s",
				 lease->path, (long)other->pid, other->host);
	return error_set(err, -ESTALE, "lease %s is gone", lease->path);
}

/* Into the file that has our token, whatever its name is by now. */
static int write_beat(int fd, struct lease *lease, struct lease_note *found)
{
	int result = lease_note_read(fd, found);

	if (result < 0 && result != -EINVAL)
		return result;
	if (strcmp(found->token, lease->note.token) != 0)
		return -ESTALE;
	lease->note.beat++;
	return lease_note_write(fd, &lease->note);
}

int lease_beat(struct lease *lease, const char *doing, struct error *err)
{
	struct lease_note found = { .pid = 0 };
	int result;
	int fd;

	if (!lease->path)
		return error_set(err, -ESTALE, "no lease is held");
	lease_note_say(&lease->note, doing);
	fd = open(lease->path,
		  O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	if (fd < 0 && (errno == ENOENT || errno == ESTALE || errno == ELOOP))
		return lost(lease, &found, err);
	if (fd < 0)
		return error_set_errno(err, -errno, "cannot open lease %s",
				       lease->path);
	result = write_beat(fd, lease, &found);
	if (close(fd) < 0 && result == 0)
		result = -errno;
	if (result == -ESTALE)
		return lost(lease, &found, err);
	if (result < 0)
		return error_set_errno(err, result, "cannot write lease %s",
				       lease->path);
	/* Taken over while it was written. */
	if (lease_note_look(lease->path, &found) == 0 ||
	    strcmp(found.token, lease->note.token) != 0)
		return lost(lease, &found, err);
	return 0;
}

/* As a take-over by nobody; see above. */
static void remove_own(const struct lease *lease)
{
	const char *path = lease->path;
	char *claim = xasprintf("%s.%s", path, lease->note.token);
	struct lease_note closing = lease->note;
	char *temporary = NULL;

	if (!lease_holds(path, lease->note.token) ||
	    lease_note_renew(&closing) < 0)
		goto out;
	temporary = xasprintf("%s.new.%s", path, closing.token);
	if (make_temporary(temporary, &closing) < 0)
		goto out;
	if (link_new(temporary, claim, closing.token) == 0) {
		if (lease_holds(path, lease->note.token))
			(void)unlink(path);
		(void)unlink(claim);
	}
	(void)unlink(temporary);
out:
	free(temporary);
	free(claim);
}

void lease_release(struct lease *lease)
{
	if (lease->path)
		remove_own(lease);
	free(lease->path);
	memset(lease, 0, sizeof(*lease));
}
