/* A cgroup of the probe's own: a hard limit and a count of kills. */
/* SPDX-License-Identifier: MIT */
#include "probes/observers/host/host.h"

#include "base/alloc.h"
#include "base/strbuf.h"
#include "base/textfile.h"
#include "probes/observers/host/host_cgroup_place.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define PROCESSES_MAX_BYTES ((size_t)4 << 20)
#define REMOVE_TRIES 50
#define REMOVE_PAUSE_NS 10000000L

const struct host_roots host_roots_here = { "/proc", "/sys/fs/cgroup" };
static const enum host_cgroup_version versions[] = { HOST_CGROUP_V1,
						     HOST_CGROUP_V2 };

static int write_at(const char *folder, const char *file, const char *text)
{
	char *path = xasprintf("%s/%s", folder, file);
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	int result = fd < 0 ? -errno : 0;

	if (result == 0 && write(fd, text, strlen(text)) < 0)
		result = -errno;
	if (fd >= 0)
		(void)close(fd);
	free(path);
	return result;
}

/* Is this word of text, parted by blanks or ends of lines? */
static bool has_word(const char *text, const char *word)
{
	size_t length = strlen(word);
	const char *at = text;

	while ((at = strstr(at, word))) {
		bool begins = at == text || strchr(" \n", at[-1]);
		bool ends = !at[length] || strchr(" \n", at[length]);

		if (begins && ends)
			return true;
		at += length;
	}
	return false;
}

static bool file_has_word(const char *folder, const char *file,
			  const char *word)
{
	char *path = xasprintf("%s/%s", folder, file);
	struct strbuf text = STRBUF_INIT;
	bool result;

	(void)textfile_read(path, PROCESSES_MAX_BYTES, &text, NULL);
	result = has_word(strbuf_text(&text), word);
	strbuf_release(&text);
	free(path);
	return result;
}

/*
 * A mere ancestor will not do: a child of that would lead the probe out of
 * limits that autofit is under.
 */
static bool cgroup_is_own(const struct host_cgroup_place *place)
{
	char pid[24];

	(void)snprintf(pid, sizeof(pid), "%d", (int)getpid());
	return file_has_word(place->folder, "cgroup.procs", pid);
}

static int limit_v1(const char *folder, const char *limit)
{
	int result = write_at(folder, "memory.limit_in_bytes", limit);

	if (result < 0)
		return result;
	/* Best effort, not every kernel has them: swap is no more room, and a
	 * kill that an ancestor switched off would be a program that hangs.
	 * memsw may not be below the limit, so it comes after. */
	(void)write_at(folder, "memory.memsw.limit_in_bytes", limit);
	(void)write_at(folder, "memory.swappiness", "0");
	(void)write_at(folder, "memory.oom_control", "0");
	return 0;
}

static int limit_v2(const char *folder, const char *limit)
{
	int result;

	/* A cgroup that holds processes, as autofit's own does, can hand its
	 * children no controller. */
	if (!file_has_word(folder, "cgroup.controllers", "memory"))
		return -ENOENT;
	result = write_at(folder, "memory.max", limit);
	if (result < 0)
		return result;
	(void)write_at(folder, "memory.swap.max", "0"); /* best effort */
	return 0;
}

int host_cgroup_limit(const struct host_cgroup *cgroup, uint64_t limit_bytes)
{
	char limit[24];

	assert(cgroup->folder[0] && limit_bytes > 0);
	(void)snprintf(limit, sizeof(limit), "%llu",
		       (unsigned long long)limit_bytes);
	return cgroup->version2 ? limit_v2(cgroup->folder, limit)
				: limit_v1(cgroup->folder, limit);
}

static int make_in(struct host_cgroup *cgroup,
		   const struct host_cgroup_place *place, const char *id,
		   uint64_t limit_bytes)
{
	int length;
	int result;

	if (!cgroup_is_own(place))
		return -ENOENT;
	length = snprintf(cgroup->folder, sizeof(cgroup->folder),
			  "%s/autofit-%s", place->folder, id);
	if (length < 0 || (size_t)length >= sizeof(cgroup->folder))
		return -ENAMETOOLONG;
	if (mkdir(cgroup->folder, 0755) < 0)
		return -errno;
	result = host_cgroup_limit(cgroup, limit_bytes);
	if (result < 0)
		(void)rmdir(cgroup->folder);
	return result;
}

int host_cgroup_make(struct host_cgroup *cgroup, const char *id,
		     uint64_t limit_bytes, struct error *err)
{
	int result = -ENOENT;

	*cgroup = (struct host_cgroup){ 0 };
	if (!*id || strchr(id, '/'))
		return error_set(err, -EINVAL,
				 "cannot make cgroup autofit-%s: not a name",
				 id);
	for (size_t i = 0; i < sizeof(versions) / sizeof(*versions); i++) {
		struct host_cgroup_place place;

		if (host_cgroup_find(&place, &host_roots_here, versions[i]) < 0)
			continue;
		cgroup->version2 = versions[i] == HOST_CGROUP_V2;
		result = make_in(cgroup, &place, id, limit_bytes);
		host_cgroup_place_release(&place);
		if (result == 0)
			return 0;
		/* The first refusal says more than a later absence. */
		if (result != -ENOENT)
			break;
	}
	*cgroup = (struct host_cgroup){ 0 };
	return error_set_errno(err, result, "cannot make cgroup autofit-%s",
			       id);
}

int host_cgroup_enter(const struct host_cgroup *cgroup)
{
	int result = 0;
	int folder_fd;
	int fd;

	if (!cgroup || !cgroup->folder[0])
		return -ENOENT;
	folder_fd = open(cgroup->folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (folder_fd < 0)
		return -errno;
	fd = openat(folder_fd, "cgroup.procs", O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, "0", 1) < 0)
		result = -errno;
	if (fd >= 0)
		(void)close(fd);
	(void)close(folder_fd);
	return result;
}

int host_cgroup_own(struct host_cgroup *cgroup)
{
	struct host_cgroup_place place;
	int result = -ENOENT;

	*cgroup = (struct host_cgroup){ 0 };
	for (size_t i = 0; i < sizeof(versions) / sizeof(*versions); i++) {
		if (host_cgroup_find(&place, &host_roots_here, versions[i]) < 0)
			continue;
		if (strlen(place.folder) < sizeof(cgroup->folder)) {
			(void)snprintf(cgroup->folder, sizeof(cgroup->folder),
				       "%s", place.folder);
			cgroup->version2 = versions[i] == HOST_CGROUP_V2;
			result = 0;
		}
		host_cgroup_place_release(&place);
		if (result == 0)
			break;
	}
	return result;
}

uint64_t host_cgroup_oom_kills(const struct host_cgroup *cgroup)
{
	uint64_t kills = 0;

	/* v1 counts them since Linux 4.13. */
	if (cgroup && cgroup->folder[0] &&
	    host_cgroup_entry(cgroup->folder,
			      cgroup->version2 ? "memory.events"
					       : "memory.oom_control",
			      "oom_kill", &kills) == 0)
		return kills;
	if (host_cgroup_entry(host_roots_here.proc, "vmstat", "oom_kill",
			      &kills) < 0)
		return 0;
	return kills;
}

void host_cgroup_remove(struct host_cgroup *cgroup)
{
	const struct timespec pause = { .tv_nsec = REMOVE_PAUSE_NS };

	if (!cgroup->folder[0])
		return;
	/* A process that was killed is in it until it is quite gone. */
	for (int i = 0; i < REMOVE_TRIES; i++) {
		if (rmdir(cgroup->folder) == 0 || errno != EBUSY)
			break;
		(void)nanosleep(&pause, NULL);
	}
	*cgroup = (struct host_cgroup){ 0 };
}

/* One round; how many there were. */
static size_t kill_members(const char *folder)
{
	char *path = xasprintf("%s/cgroup.procs", folder);
	struct strbuf text = STRBUF_INIT;
	char *rest = NULL;
	size_t count = 0;

	(void)textfile_read(path, PROCESSES_MAX_BYTES, &text, NULL);
	if (text.data)
		for (const char *word = strtok_r(text.data, "\n", &rest); word;
		     word = strtok_r(NULL, "\n", &rest)) {
			long pid = strtol(word, NULL, 10);

			/* 0: one of another namespace; never autofit itself. */
			if (pid <= 1 || pid > INT_MAX || pid == getpid())
				continue;
			count++;
			(void)kill((pid_t)pid, SIGKILL);
		}
	strbuf_release(&text);
	free(path);
	return count;
}

/* What is forked meanwhile is killed in the next round. */
static size_t kill_all_members(const char *folder)
{
	const struct timespec pause = { .tv_nsec = REMOVE_PAUSE_NS };
	size_t most = 0;

	for (int i = 0; i < REMOVE_TRIES; i++) {
		size_t count = kill_members(folder);

		if (count == 0)
			break;
		if (count > most)
			most = count;
		(void)nanosleep(&pause, NULL);
	}
	return most;
}

size_t host_cgroup_remove_left(const char *id)
{
	size_t killed = 0;

	for (size_t i = 0; i < sizeof(versions) / sizeof(*versions); i++) {
		struct host_cgroup cgroup = { .folder = "" };
		struct host_cgroup_place place;
		int length;

		if (host_cgroup_find(&place, &host_roots_here, versions[i]) < 0)
			continue;
		length = snprintf(cgroup.folder, sizeof(cgroup.folder),
				  "%s/autofit-%s", place.folder, id);
		if (length > 0 && (size_t)length < sizeof(cgroup.folder)) {
			killed += kill_all_members(cgroup.folder);
			host_cgroup_remove(&cgroup);
		}
		host_cgroup_place_release(&place);
	}
	return killed;
}
