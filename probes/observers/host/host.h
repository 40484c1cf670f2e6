/* Host memory of a process tree, and the budget it may use. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_PROBES_OBSERVERS_HOST_HOST_H
#define AUTOFIT_PROBES_OBSERVERS_HOST_HOST_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Bytes of a tree = anonymous pages, each once, + shared memory and tmpfs
 * pages of the tree, mapped or not, + their swapped part. Clean file pages
 * and page cache do not count, nor does the root (the keeper) itself.
 */
struct host_reading {
	uint64_t current_bytes;
	uint64_t peak_bytes;            /* since open; never falls */
	bool peak_has_files;            /* see host_observer_command_ended */
	uint64_t swap_bytes;            /* of them swapped out now */
	uint64_t largest_vm_peak_bytes; /* VmPeak of one process: RLIMIT_AS */
	uint64_t largest_vm_data_bytes; /* VmData of one process: RLIMIT_DATA */
	uint64_t cpu_ticks; /* utime + stime of all seen, for signs of life */
	uint64_t io_bytes;  /* rchar + wchar of all seen, likewise */
	size_t processes;   /* alive now, without the root */
};

struct host_observer;

/* root: the keeper; the tree is all its descendants. The caller closes. */
int host_observer_open(struct host_observer **observer, pid_t root,
		       struct error *err);

/*
 * One look, to be called about every 20 ms. now_ms is monotonic: the dear
 * readings (smaps_rollup) are taken only near a new maximum or near limit
 * (0: none) and take under 5% of one CPU over time.
 */
void host_observer_sample(struct host_observer *observer, int64_t now_ms,
			  uint64_t limit_bytes, struct host_reading *reading);

/*
 * Before something is decided by the peak. The last look may have put off a
 * dear reading that could raise it: then this looks once more, and takes it.
 * False: it did not, and reading is as it was.
 */
bool host_observer_catch_up(struct host_observer *observer, int64_t now_ms,
			    struct host_reading *reading);

/*
 * The command is gone, and may have grown since the last look, or come and gone
 * between two: max_resident_bytes is the kernel's maximum for it and its
 * children (getrusage; 0: not known). It counts file and shared pages too: less
 * the most of them that any look saw of the process with the most memory, where
 * that had half of the maximum. Another program, which no look saw, may have
 * none of them: a peak that it raises is said to have files.
 */
void host_observer_command_ended(struct host_observer *observer,
				 uint64_t max_resident_bytes,
				 struct host_reading *reading);

/* The pids of the tree at the last look; valid until the next. */
const pid_t *host_observer_pids(const struct host_observer *observer,
				size_t *count);

/*
 * For a tree that no exec began: it is copied from pid, which is none of it,
 * and perhaps the root is too. Pages that these have in common with the tree
 * count for the tree, once and whole. To be called at most once.
 */
void host_observer_copied_from(struct host_observer *observer, pid_t pid);

/*
 * What those hold that wait for pid, its ancestors in the tree, at the last
 * look: launchers that have started it.
 */
uint64_t host_observer_launchers(const struct host_observer *observer,
				 pid_t pid);

/* Remove the /dev/shm entries that the tree made and left. How many. */
size_t host_observer_remove_shm(struct host_observer *observer);
void host_observer_close(struct host_observer *observer);

/* Finds the bounds of host memory for a new probe. */
enum host_budget_source {
	HOST_BUDGET_OPTION,    /* --memory */
	HOST_BUDGET_CGROUP,    /* an ancestor cgroup's limit - held memory */
	HOST_BUDGET_AVAILABLE, /* MemAvailable */
};

struct host_budget {
	uint64_t budget_bytes; /* the smallest */
	enum host_budget_source source;
	char cgroup[256];     /* the folder of the binding cgroup, or "" */
	uint64_t total_bytes; /* MemTotal */
	uint64_t available_bytes;
	uint64_t cgroup_limit_bytes;  /* smallest limit on the way; 0: none */
	uint64_t address_space_bytes; /* RLIMIT_AS; 0: unlimited */
	uint64_t data_bytes;          /* RLIMIT_DATA; 0: unlimited */
};

/* Where the kernel's files are. */
struct host_roots {
	const char *proc, *cgroup;
};

/* "/proc" and "/sys/fs/cgroup": all that is used but in tests. */
extern const struct host_roots host_roots_here;

/* memory_bytes: --memory, 0 when not given. */
int host_budget_read(struct host_budget *budget, uint64_t memory_bytes,
		     const struct host_roots *roots, struct error *err);

/* "--memory", "cgroup", "MemAvailable": for JSON and the report. */
const char *host_budget_source_name(enum host_budget_source source);

/*
 * A cgroup of the probe's own below autofit's own (v1 or v2), with budget as
 * its hard limit. No cgroup is the normal case: -EACCES, -ENOENT, -EROFS...
 */
struct host_cgroup {
	char folder[512]; /* "": none */
	bool version2;
};

int host_cgroup_make(struct host_cgroup *cgroup, const char *id,
		     uint64_t limit_bytes, struct error *err);
/* Called in the child before exec: async-signal-safe. 0 or -errno. */
int host_cgroup_enter(const struct host_cgroup *cgroup);
/* The one that the caller is in, or the nearest that can be seen; -ENOENT. */
int host_cgroup_own(struct host_cgroup *cgroup);
/* oom_kill count of the cgroup, or of /proc/vmstat when there is none. */
uint64_t host_cgroup_oom_kills(const struct host_cgroup *cgroup);
void host_cgroup_remove(struct host_cgroup *cgroup);
/* Remove what a killed autofit in this cgroup made with the id, and kill the
 * processes in it, whatever became of them. How many there were. */
size_t host_cgroup_remove_left(const char *id);

#endif
