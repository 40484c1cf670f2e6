/* Processes as /proc shows them: one, a tree, or all with a mark. */
/* SPDX-License-Identifier: MIT */
#include "probes/process/proctree.h"

#include "probes/process/limit_mark.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define PROC_PATH_MAX 64
#define PROC_PIECE_BYTES 4096

/* Fields of stat behind the name, counted as proc(5) does. */
enum {
	FIELD_PPID = 4,
	FIELD_PGRP = 5,
	FIELD_SESSION = 6,
	FIELD_UTIME = 14,
	FIELD_STIME = 15,
	FIELD_THREADS = 20,
	FIELD_START_TIME = 22,
};

static ssize_t read_piece(int fd, void *piece, size_t size)
{
	ssize_t got;

	do {
		got = read(fd, piece, size);
	} while (got < 0 && errno == EINTR);
	return got < 0 ? -errno : got;
}

static bool pid_parse(const char *text, pid_t *pid)
{
	char *end;
	long value;

	if (*text < '1' || *text > '9')
		return false;
	errno = 0;
	value = strtol(text, &end, 10);
	if (*end || errno || value > INT_MAX)
		return false;
	*pid = (pid_t)value;
	return true;
}

static int stat_parse(const char *text, struct proc_stat *stat)
{
	long long fields[FIELD_START_TIME + 1];
	const char *name = strchr(text, '(');
	/* The name may hold any byte; behind it come a letter and numbers. */
	const char *at = strrchr(text, ')');
	char *end;

	if (!name || !at || at < name || at[1] != ' ' || !at[2])
		return -EINVAL;
	stat->state = at[2];
	at += 3;
	for (int field = FIELD_PPID; field <= FIELD_START_TIME; field++) {
		fields[field] = strtoll(at, &end, 10);
		if (end == at)
			return -EINVAL;
		at = end;
	}
	stat->pid = (pid_t)strtol(text, NULL, 10);
	stat->ppid = (pid_t)fields[FIELD_PPID];
	stat->pgrp = (pid_t)fields[FIELD_PGRP];
	stat->session = (pid_t)fields[FIELD_SESSION];
	stat->cpu_ticks =
		(uint64_t)fields[FIELD_UTIME] + (uint64_t)fields[FIELD_STIME];
	stat->threads = fields[FIELD_THREADS];
	stat->start_time = (uint64_t)fields[FIELD_START_TIME];
	return 0;
}

int proctree_stat_at(int folder_fd, struct proc_stat *stat)
{
	char text[PROC_PIECE_BYTES];
	ssize_t got;
	int fd;

	*stat = (struct proc_stat){ 0 };
	fd = openat(folder_fd, "stat", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? -ESRCH : -errno;
	got = read_piece(fd, text, sizeof(text) - 1);
	(void)close(fd);
	if (got < 0)
		return (int)got;
	text[got] = '\0';
	return stat_parse(text, stat);
}

static int proc_folder_open(pid_t pid)
{
	char path[PROC_PATH_MAX];
	int fd;

	(void)snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? -ESRCH : -errno;
	return fd;
}

int proctree_stat(pid_t pid, struct proc_stat *stat)
{
	int folder_fd = proc_folder_open(pid);
	int result;

	if (folder_fd < 0)
		return folder_fd;
	result = proctree_stat_at(folder_fd, stat);
	(void)close(folder_fd);
	return result;
}

/* Pids separated by blanks, of any number, a number cut between pieces. */
static void add_children_of(int fd, struct pid_list *list)
{
	char piece[PROC_PIECE_BYTES];
	long pid = 0;
	ssize_t got;

	while ((got = read_piece(fd, piece, sizeof(piece))) > 0) {
		for (ssize_t i = 0; i < got; i++) {
			if (piece[i] >= '0' && piece[i] <= '9' &&
			    pid < INT_MAX / 10) {
				pid = 10 * pid + (piece[i] - '0');
				continue;
			}
			if (pid)
				pid_list_append(list, (pid_t)pid);
			pid = 0;
		}
	}
	if (pid)
		pid_list_append(list, (pid_t)pid);
}

static void add_children_of_thread(pid_t pid, pid_t thread,
				   struct pid_list *list)
{
	char path[PROC_PATH_MAX];
	int fd;

	(void)snprintf(path, sizeof(path), "/proc/%d/task/%d/children",
		       (int)pid, (int)thread);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	add_children_of(fd, list);
	(void)close(fd);
}

static void add_children_of_threads(pid_t pid, struct pid_list *list)
{
	char path[PROC_PATH_MAX];
	const struct dirent *entry;
	DIR *threads;

	(void)snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	threads = opendir(path);
	if (!threads)
		return;
	while ((entry = readdir(threads))) {
		pid_t thread;

		if (pid_parse(entry->d_name, &thread))
			add_children_of_thread(pid, thread, list);
	}
	(void)closedir(threads);
}

/* Calls back for each process; on_process may look at folder_fd only then. */
typedef void process_cb(void *context, int folder_fd, pid_t pid);

static void for_each_process(process_cb *on_process, void *context)
{
	DIR *proc = opendir("/proc");
	const struct dirent *entry;

	if (!proc)
		return;
	while ((entry = readdir(proc))) {
		int folder_fd;
		pid_t pid;

		if (!pid_parse(entry->d_name, &pid))
			continue;
		folder_fd = proc_folder_open(pid);
		if (folder_fd < 0)
			continue;
		on_process(context, folder_fd, pid);
		(void)close(folder_fd);
	}
	(void)closedir(proc);
}

struct parents {
	struct pid_list pids, ppids; /* in step with each other */
};

static void on_parent(void *context, int folder_fd, pid_t pid)
{
	struct parents *parents = context;
	struct proc_stat stat;

	if (proctree_stat_at(folder_fd, &stat) < 0)
		return;
	pid_list_append(&parents->pids, pid);
	pid_list_append(&parents->ppids, stat.ppid);
}

/* A snapshot of all parents, searched as the children files are. */
static void add_children_by_scan(struct parents *parents, pid_t parent,
				 struct pid_list *list)
{
	assert(parents->pids.count == parents->ppids.count);
	for (size_t i = 0; i < parents->pids.count; i++) {
		if (parents->ppids.items[i] != parent)
			continue;
		pid_list_append(list, parents->pids.items[i]);
		/* Found once: a cycle cannot be walked twice. */
		parents->ppids.items[i] = 0;
	}
}

size_t proctree_descendants(pid_t root, enum proctree_walk walk,
			    struct pid_list *list)
{
	struct parents parents = { PID_LIST_INIT, PID_LIST_INIT };
	pid_t pid = root;

	assert(root > 0);
	if (access("/proc/thread-self/children", R_OK) < 0)
		walk = PROCTREE_SCAN;
	if (walk == PROCTREE_SCAN)
		for_each_process(on_parent, &parents);
	list->count = 0;
	for (size_t next = 0;; next++) {
		if (walk == PROCTREE_SCAN)
			add_children_by_scan(&parents, pid, list);
		else if (walk == PROCTREE_WHOLE)
			add_children_of_threads(pid, list);
		else
			add_children_of_thread(pid, pid, list);
		if (next == list->count)
			break;
		pid = list->items[next];
	}
	pid_list_release(&parents.pids);
	pid_list_release(&parents.ppids);
	return pid_list_finish(list, root);
}

static bool environ_has_at(int folder_fd, const char *assignment)
{
	int fd = openat(folder_fd, "environ", O_RDONLY | O_CLOEXEC);
	FILE *entries = fd < 0 ? NULL : fdopen(fd, "r");
	char *entry = NULL;
	size_t capacity = 0;
	bool found = false;

	if (!entries) {
		if (fd >= 0)
			(void)close(fd);
		return false;
	}
	/* A program that rewrote its environment may have no NUL at the end. */
	while (!found && getdelim(&entry, &capacity, '\0', entries) > 0)
		found = *assignment && strcmp(entry, assignment) == 0;
	free(entry);
	(void)fclose(entries);
	return found;
}

static bool is_marked_at(int folder_fd, const char *mark)
{
	return environ_has_at(folder_fd, mark) ||
	       limit_mark_is_at(folder_fd, mark);
}

bool proctree_is_marked(pid_t pid, const char *mark)
{
	int folder_fd = proc_folder_open(pid);
	bool result;

	if (folder_fd < 0)
		return false;
	result = is_marked_at(folder_fd, mark);
	(void)close(folder_fd);
	return result;
}

struct marked {
	const char *mark;
	uint64_t not_before_start_time;
	struct pid_list *list;
};

static void on_candidate(void *context, int folder_fd, pid_t pid)
{
	struct marked *marked = context;
	struct proc_stat stat;
	struct stat owner;

	if (pid == getpid() || fstat(folder_fd, &owner) < 0 ||
	    owner.st_uid != geteuid())
		return;
	if (proctree_stat_at(folder_fd, &stat) < 0 || stat.state == 'Z' ||
	    stat.start_time < marked->not_before_start_time)
		return;
	if (is_marked_at(folder_fd, marked->mark))
		pid_list_append(marked->list, pid);
}

size_t proctree_find_marked(const char *mark, uint64_t not_before_start_time,
			    struct pid_list *list)
{
	struct marked marked = { mark, not_before_start_time, list };

	assert(*mark && "all processes begin with an empty one");
	list->count = 0;
	for_each_process(on_candidate, &marked);
	return pid_list_finish(list, getpid());
}

uint64_t proctree_now_ticks(void)
{
	uint64_t per_second = (uint64_t)sysconf(_SC_CLK_TCK);
	struct timespec now;

	/* start_time counts suspended time too: CLOCK_BOOTTIME. */
	(void)clock_gettime(CLOCK_BOOTTIME, &now);
	return (uint64_t)now.tv_sec * per_second +
	       (uint64_t)now.tv_nsec * per_second / 1000000000;
}
