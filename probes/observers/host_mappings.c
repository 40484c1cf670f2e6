/* How much of known shared memory a process maps. */
/* SPDX-License-Identifier: MIT */
#include "probes/observers/host_shm.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

static const char deleted_suffix[] = " (deleted)";

/* One line of maps, or the first line of a mapping in smaps. */
struct mapping {
	dev_t device;
	ino_t number;
	const char *path;
};

/* "7f00-7f10 rw-s 00000000 00:19 42    /dev/shm/x" */
static bool mapping_parse(const char *line, struct mapping *mapping)
{
	unsigned long major_number;
	unsigned long minor_number;
	char *at;

	(void)strtoull(line, &at, 16);
	if (at == line || *at != '-')
		return false;
	(void)strtoull(at + 1, &at, 16);
	/* " rw-s " and the offset */
	if (strnlen(at, 6) < 6 || at[0] != ' ' || at[5] != ' ')
		return false;
	(void)strtoull(at + 6, &at, 16);
	major_number = strtoul(at, &at, 16);
	if (*at != ':')
		return false;
	minor_number = strtoul(at + 1, &at, 16);
	mapping->device =
		makedev((unsigned)major_number, (unsigned)minor_number);
	mapping->number = strtoul(at, &at, 10);
	mapping->path = at + strspn(at, " ");
	return true;
}

static bool ends_with(const char *text, const char *suffix)
{
	size_t length = strlen(text);
	size_t suffix_length = strlen(suffix);

	return length >= suffix_length &&
	       !strcmp(text + length - suffix_length, suffix);
}

/* The process may see another tree of mounts: through its own root. */
static bool look_at_mapped(const struct host_process *process,
			   const struct mapping *mapping, struct statx *info)
{
	char path[PATH_MAX];
	int length = snprintf(path, sizeof(path), "root%s", mapping->path);

	return length > 0 && (size_t)length < sizeof(path) &&
	       host_shm_look_at(process->folder_fd, path, info) &&
	       host_shm_device(info) == mapping->device &&
	       info->stx_ino == mapping->number;
}

/* Is it known, or a named file of tmpfs that becomes known now? */
static bool note_mapping(struct host_shm *shm,
			 const struct host_process *process,
			 const struct mapping *mapping)
{
	struct statx info;

	if (!mapping->number ||
	    !host_shm_is_tmpfs(shm, process, mapping->device))
		return false;
	if (host_shm_find(shm, mapping->device, mapping->number))
		return true;
	if (mapping->device == shm->memfd_device || mapping->path[0] != '/' ||
	    ends_with(mapping->path, deleted_suffix))
		return false;
	return look_at_mapped(process, mapping, &info) &&
	       host_shm_note(shm, &info, mapping->path);
}

static bool maps_known(struct host_shm *shm, const struct host_process *process)
{
	struct host_lines lines;
	bool result = false;
	const char *line;

	if (host_lines_open(&lines, process->folder_fd, "maps") < 0)
		return false;
	while ((line = host_lines_next(&lines))) {
		struct mapping mapping;

		if (mapping_parse(line, &mapping) &&
		    note_mapping(shm, process, &mapping))
			result = true;
	}
	host_lines_close(&lines);
	return result;
}

/* The mapping under way in smaps. */
struct share {
	const struct host_inode *inode;
	uint64_t share_bytes, anon_bytes;
};

static void share_finish(struct share *share, struct host_overlap *overlap)
{
	/* Private copies of its pages are anonymous memory like any other. */
	uint64_t bytes = share->share_bytes > share->anon_bytes
				 ? share->share_bytes - share->anon_bytes
				 : 0;

	if (share->inode && share->inode->is_foreign)
		overlap->foreign_bytes += bytes;
	else if (share->inode)
		overlap->own_bytes += bytes;
	*share = (struct share){ 0 };
}

struct host_overlap host_shm_overlap(struct host_shm *shm,
				     const struct host_process *process)
{
	struct host_overlap overlap = { 0 };
	struct share share = { 0 };
	struct host_lines lines;
	struct mapping mapping;
	const char *line;

	if (!process->status.shmem || !maps_known(shm, process) ||
	    host_lines_open(&lines, process->folder_fd, "smaps") < 0)
		return overlap;
	while ((line = host_lines_next(&lines))) {
		if (host_line_bytes(line, "Pss:", &share.share_bytes) ||
		    host_line_bytes(line, "Anonymous:", &share.anon_bytes) ||
		    !mapping_parse(line, &mapping))
			continue;
		share_finish(&share, &overlap);
		share.inode =
			host_shm_find(shm, mapping.device, mapping.number);
	}
	share_finish(&share, &overlap);
	host_lines_close(&lines);
	return overlap;
}
