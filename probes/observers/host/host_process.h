/* Reads the memory of one process from /proc. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_PROBES_OBSERVERS_HOST_HOST_PROCESS_H
#define AUTOFIT_PROBES_OBSERVERS_HOST_HOST_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Lines of a file of /proc, read in pieces; a longer line is cut. */
struct host_lines {
	int fd;
	size_t start, end;
	bool skipping; /* the rest of a line that was cut */
	char bytes[8192];
};

/* path is relative to folder_fd. 0 or a negative errno. */
int host_lines_open(struct host_lines *lines, int folder_fd, const char *path);
/* The next line without its end, valid until the next call; NULL: no more. */
const char *host_lines_next(struct host_lines *lines);
void host_lines_close(struct host_lines *lines);

/* Is line "<name>   <number> kB"? name ends in ':'. */
bool host_line_bytes(const char *line, const char *name, uint64_t *bytes);

/* Bytes, as /proc/<pid>/status has them. */
struct host_status {
	uint64_t anon, file, shmem, swap; /* resident now; swapped: VmSwap */
	uint64_t resident_peak;           /* VmHWM: with file pages */
	uint64_t virtual_peak, data;      /* VmPeak, VmData */
	pid_t parent;
};

/* What it holds by status: an upper bound of its part of the tree. */
static inline uint64_t host_status_bytes(const struct host_status *status)
{
	return status->anon + status->shmem + status->swap;
}

struct host_process {
	pid_t pid;
	/* Its folder in /proc: bound to this process, not to a reused pid. */
	int folder_fd;
	bool is_new;        /* this is the first look at it */
	bool shares_parent; /* one memory with its parent: vfork before exec */
	struct host_status status;
	/* Since its last exec, as seen; foreign shared memory counts as file */
	uint64_t largest_file, largest_shmem;
	uint64_t resident_peak_before; /* at the look before */
	uint64_t foreign_bytes;        /* mapped, made before the tree */
	/* At the last exact reading: shmem, and of anon what others have too,
	 * as their part of it. */
	uint64_t known_shmem, others_part;
	uint64_t cpu_ticks, io_bytes;
};

/* -ESRCH when it is gone. The caller closes. */
int host_process_open(struct host_process *process, pid_t pid);
void host_process_close(struct host_process *process);

/* Take a new look at status. -ESRCH: it ended (a zombie has no memory). */
int host_process_look(struct host_process *process);
/* Take a new look at cpu_ticks and io_bytes; neither falls. */
void host_process_look_at_work(struct host_process *process);

/* Exact bytes, a page of n processes counting 1/n in each. */
struct host_share {
	uint64_t anon; /* with what is swapped */
	uint64_t shmem;
	uint64_t whole; /* each page of anon in full */
};

/* By smaps_rollup. -ESRCH: it ended. Another -errno where it cannot be read
 * (kernel before 5.4, a program that is not dumpable). */
int host_process_share(const struct host_process *process,
		       struct host_share *share);

/* Is it gone? A zombie has no memory, and counts as gone. */
bool host_process_has_ended(const struct host_process *process);

/*
 * Its peak between two looks, by the kernel's own high-water mark. That counts
 * file pages too: less the most of them ever seen. Newly shared memory may have
 * been there before the tree: 0 until an exact reading has told.
 */
uint64_t host_process_peak_alone(const struct host_process *process);

/* By how much it was above what it holds now since the last look: its mark
 * rose, and what made it rise is gone again. */
uint64_t host_process_fallen(const struct host_process *process);

#endif
