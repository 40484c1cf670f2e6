/* Reads the memory of one process from /proc. */
/* SPDX-License-Identifier: MIT */
#include "probes/observers/host/host_process.h"

#include "base/units.h"
#include "probes/process/proctree.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/kcmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Less of new shared memory needs no exact reading. */
#define NEW_SHMEM_MIN MIB

int host_lines_open(struct host_lines *lines, int folder_fd, const char *path)
{
	lines->fd = openat(folder_fd, path, O_RDONLY | O_CLOEXEC);
	lines->start = 0;
	lines->end = 0;
	lines->skipping = false;
	return lines->fd < 0 ? -errno : 0;
}

/* Move the line under way to the front and read behind it. */
static bool lines_fill(struct host_lines *lines)
{
	size_t have = lines->end - lines->start;
	ssize_t got;

	memmove(lines->bytes, lines->bytes + lines->start, have);
	lines->start = 0;
	lines->end = have;
	do {
		got = read(lines->fd, lines->bytes + have,
			   sizeof(lines->bytes) - 1 - have);
	} while (got < 0 && errno == EINTR);
	if (got <= 0)
		return false;
	lines->end += (size_t)got;
	return true;
}

/* Cut a line out of what is there; NULL when its end is not there yet. */
static const char *lines_cut(struct host_lines *lines)
{
	char *line = lines->bytes + lines->start;
	size_t have = lines->end - lines->start;
	char *end = memchr(line, '\n', have);

	if (end) {
		lines->start += (size_t)(end - line) + 1;
	} else if (have == sizeof(lines->bytes) - 1) {
		end = line + have;
		lines->start = lines->end;
	} else {
		return NULL;
	}
	*end = '\0';
	return line;
}

const char *host_lines_next(struct host_lines *lines)
{
	for (;;) {
		const char *line = lines_cut(lines);
		bool was_cut;
		bool skip;

		if (!line && !lines_fill(lines))
			return NULL;
		if (!line)
			continue;
		was_cut = lines->start == lines->end &&
			  strlen(line) == sizeof(lines->bytes) - 1;
		skip = lines->skipping;
		lines->skipping = was_cut;
		if (!skip)
			return line;
	}
}

void host_lines_close(struct host_lines *lines)
{
	(void)close(lines->fd);
	lines->fd = -1;
}

bool host_line_bytes(const char *line, const char *name, uint64_t *bytes)
{
	size_t length = strlen(name);
	unsigned long long kib;
	char *end;

	if (strncmp(line, name, length) != 0)
		return false;
	errno = 0;
	kib = strtoull(line + length, &end, 10);
	if (end == line + length || errno || kib > UINT64_MAX / 1024)
		return false;
	*bytes = (uint64_t)kib * 1024;
	return true;
}

int host_process_open(struct host_process *process, pid_t pid)
{
	char path[32];

	*process = (struct host_process){ .pid = pid, .is_new = true };
	(void)snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	process->folder_fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (process->folder_fd < 0)
		return errno == ENOENT ? -ESRCH : -errno;
	return 0;
}

void host_process_close(struct host_process *process)
{
	if (process->folder_fd >= 0)
		(void)close(process->folder_fd);
	process->folder_fd = -1;
}

static void status_line(struct host_status *status, const char *line)
{
	const struct {
		const char *name;
		uint64_t *bytes;
	} fields[] = {
		{ "RssAnon:", &status->anon },
		{ "RssFile:", &status->file },
		{ "RssShmem:", &status->shmem },
		{ "VmSwap:", &status->swap },
		{ "VmHWM:", &status->resident_peak },
		{ "VmPeak:", &status->virtual_peak },
		{ "VmData:", &status->data },
	};

	for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++)
		if (host_line_bytes(line, fields[i].name, fields[i].bytes))
			return;
	if (!strncmp(line, "PPid:", 5))
		status->parent = (pid_t)strtol(line + 5, NULL, 10);
}

static int status_read(const struct host_process *process,
		       struct host_status *status)
{
	struct host_lines lines;
	const char *line;
	int result;

	*status = (struct host_status){ 0 };
	result = host_lines_open(&lines, process->folder_fd, "status");
	if (result < 0)
		return result == -ENOENT ? -ESRCH : result;
	result = -ESRCH;
	while ((line = host_lines_next(&lines))) {
		status_line(status, line);
		/* A zombie and a kernel thread have none of these lines. */
		if (!strncmp(line, "VmSwap:", 7)) {
			result = 0;
			break;
		}
	}
	host_lines_close(&lines);
	return result;
}

/*
 * Between vfork (posix_spawn, Python's subprocess) and exec a child is its
 * parent's memory under a second pid, and would count it twice.
 */
static bool is_one_with_parent(const struct host_process *process)
{
	const struct host_status *own = &process->status;
	struct host_process parent;
	struct host_status status;
	bool result;
	long same;

	same = syscall(SYS_kcmp, process->pid, own->parent, KCMP_VM, 0, 0);
	if (same >= 0)
		return same == 0;
	/* Containers often refuse kcmp. A forked child has the same virtual
	 * size, but starts with few of its parent's file pages. */
	if (host_process_open(&parent, own->parent) < 0)
		return false;
	result = status_read(&parent, &status) == 0 &&
		 status.virtual_peak == own->virtual_peak &&
		 own->file >= status.file - status.file / 50 &&
		 own->file <= status.file + status.file / 50;
	host_process_close(&parent);
	return result;
}

/*
 * VmPeak falls with an exec only. VmHWM does too, but is counted in pieces per
 * CPU since Linux 6.2 and wavers.
 */
static bool has_new_program(const struct host_status *before,
			    const struct host_status *now)
{
	return now->virtual_peak < before->virtual_peak ||
	       now->resident_peak < before->resident_peak / 2;
}

int host_process_look(struct host_process *process)
{
	struct host_status status;
	int result = status_read(process, &status);

	if (result == -ESRCH)
		return result;
	/* Out of descriptors: what was known of it still stands. */
	if (result < 0)
		return 0;
	process->is_new = process->status.resident_peak == 0;
	process->resident_peak_before = process->status.resident_peak;
	if (has_new_program(&process->status, &status)) {
		process->is_new = true;
		process->largest_file = 0;
		process->largest_shmem = 0;
		process->foreign_bytes = 0;
		process->known_shmem = 0;
	}
	process->status = status;
	if (process->is_new || process->shares_parent)
		process->shares_parent = is_one_with_parent(process);
	process->largest_file = bytes_max(process->largest_file,
					  status.file + process->foreign_bytes);
	process->largest_shmem =
		bytes_max(process->largest_shmem, status.shmem);
	return 0;
}

static uint64_t io_read(const struct host_process *process)
{
	struct host_lines lines;
	const char *line;
	uint64_t bytes = 0;

	if (host_lines_open(&lines, process->folder_fd, "io") < 0)
		return 0;
	while ((line = host_lines_next(&lines))) {
		if (!strncmp(line, "rchar:", 6) || !strncmp(line, "wchar:", 6))
			bytes += strtoull(line + 6, NULL, 10);
	}
	host_lines_close(&lines);
	return bytes;
}

void host_process_look_at_work(struct host_process *process)
{
	struct proc_stat stat;

	if (proctree_stat_at(process->folder_fd, &stat) == 0)
		process->cpu_ticks =
			bytes_max(process->cpu_ticks, stat.cpu_ticks);
	process->io_bytes = bytes_max(process->io_bytes, io_read(process));
}

/* Of one that ended, other files than status say so in several ways. */
static int why_no_share(const struct host_process *process, int result)
{
	return host_process_has_ended(process) ? -ESRCH : result;
}

int host_process_share(const struct host_process *process,
		       struct host_share *share)
{
	uint64_t swap = 0;
	uint64_t whole_swap = 0;
	struct host_lines lines;
	bool is_complete = false;
	const char *line;
	int result;

	*share = (struct host_share){ 0 };
	result = host_lines_open(&lines, process->folder_fd, "smaps_rollup");
	if (result < 0)
		return why_no_share(process, result);
	while ((line = host_lines_next(&lines))) {
		if (host_line_bytes(line, "Pss_Anon:", &share->anon))
			is_complete = true;
		else if (host_line_bytes(line, "Anonymous:", &share->whole) ||
			 host_line_bytes(line, "Swap:", &whole_swap))
			continue;
		else if (!host_line_bytes(line, "Pss_Shmem:", &share->shmem))
			(void)host_line_bytes(line, "SwapPss:", &swap);
	}
	host_lines_close(&lines);
	share->anon += swap;
	share->whole += whole_swap;
	return is_complete ? 0 : why_no_share(process, -ENODATA);
}

bool host_process_has_ended(const struct host_process *process)
{
	struct host_status now;

	return status_read(process, &now) == -ESRCH;
}

uint64_t host_process_peak_alone(const struct host_process *process)
{
	const struct host_status *status = &process->status;

	if (process->shares_parent ||
	    status->shmem > process->known_shmem + NEW_SHMEM_MIN)
		return 0;
	return bytes_minus(status->resident_peak, process->largest_file);
}

uint64_t host_process_fallen(const struct host_process *process)
{
	const struct host_status *status = &process->status;

	if (process->shares_parent || process->is_new ||
	    status->resident_peak <= process->resident_peak_before)
		return 0;
	return bytes_minus(status->resident_peak,
			   process->largest_file + process->largest_shmem +
				   status->anon + status->swap);
}
