/* How much of known shared memory a process maps. */
/* SPDX-License-Identifier: MIT */
#include "base/match.h"
#include "probes/observers/host/host_shm.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

/* The semaphores of a Python program are twenty mappings of a page. */
#define UNKNOWN_SMALL_BYTES (UINT64_C(256) << 10)

static const char deleted_suffix[] = " (deleted)";

/* One line of maps, or the first line of a mapping in smaps. */
struct mapping {
	uint64_t bytes;
	dev_t device;
	ino_t number;
	const char *path;
};

/* "7f00-7f10 rw-s 00000000 00:19 42    /dev/shm/x" */
static bool mapping_parse(const char *line, struct mapping *mapping)
{
	unsigned long major_number;
	unsigned long minor_number;
	uint64_t start;
	uint64_t end;
	char *at;

	start = strtoull(line, &at, 16);
	if (at == line || *at != '-')
		return false;
	end = strtoull(at + 1, &at, 16);
	mapping->bytes = end > start ? end - start : 0;
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

/* Whose bytes a mapping is, as far as that is known. */
enum owner { OWNER_UNKNOWN, OWNER_TREE, OWNER_FOREIGN };

static enum owner owner_of(const struct host_inode *inode)
{
	if (!inode)
		return OWNER_UNKNOWN;
	return inode->is_foreign ? OWNER_FOREIGN : OWNER_TREE;
}

/* The inode, if it is known or a named file that becomes known now. */
static const struct host_inode *
mappings_note_mapping(struct host_shm *shm, const struct host_process *process,
		      const struct mapping *mapping)
{
	const struct host_inode *inode =
		host_shm_find(shm, mapping->device, mapping->number);
	struct statx info;

	if (inode || mapping->device == shm->memfd_device ||
	    mapping->path[0] != '/' ||
	    text_ends_with(mapping->path, deleted_suffix))
		return inode;
	if (!look_at_mapped(process, mapping, &info))
		return NULL;
	return host_shm_note(shm, &info, mapping->path);
}

/* Address space of each kind of shared memory that a process maps. */
struct mappings_kinds {
	uint64_t own_bytes, foreign_bytes, unknown_bytes;
};

static struct mappings_kinds kinds_of(struct host_shm *shm,
				      const struct host_process *process)
{
	struct mappings_kinds kinds = { 0 };
	struct host_lines lines;
	const char *line;

	if (host_lines_open(&lines, process->folder_fd, "maps") < 0)
		return kinds;
	while ((line = host_lines_next(&lines))) {
		enum owner owner = OWNER_TREE;
		struct mapping mapping;

		if (!mapping_parse(line, &mapping) || !mapping.number ||
		    !host_shm_is_tmpfs(shm, process, mapping.device))
			continue;
		if (!host_shm_is_on_own(shm, mapping.device))
			owner = owner_of(
				mappings_note_mapping(shm, process, &mapping));
		if (owner == OWNER_UNKNOWN)
			kinds.unknown_bytes += mapping.bytes;
		else if (owner == OWNER_FOREIGN)
			kinds.foreign_bytes += mapping.bytes;
		else
			kinds.own_bytes += mapping.bytes;
	}
	host_lines_close(&lines);
	return kinds;
}

/* The mapping under way in smaps. */
struct share {
	enum owner owner;
	uint64_t share_bytes, anon_bytes;
};

static void share_finish(struct share *share, struct host_overlap *overlap)
{
	/* Private copies of its pages are anonymous memory like any other. */
	uint64_t bytes = share->share_bytes > share->anon_bytes
				 ? share->share_bytes - share->anon_bytes
				 : 0;

	if (share->owner == OWNER_FOREIGN)
		overlap->foreign_bytes += bytes;
	else if (share->owner == OWNER_TREE)
		overlap->own_bytes += bytes;
	*share = (struct share){ 0 };
}

/* By smaps, which walks all pages and writes a kilobyte per mapping. */
static struct host_overlap
overlap_by_mapping(const struct host_shm *shm,
		   const struct host_process *process)
{
	struct host_overlap overlap = { 0 };
	struct share share = { 0 };
	struct host_lines lines;
	struct mapping mapping;
	const char *line;

	if (host_lines_open(&lines, process->folder_fd, "smaps") < 0)
		return overlap;
	while ((line = host_lines_next(&lines))) {
		if (host_line_bytes(line, "Pss:", &share.share_bytes) ||
		    host_line_bytes(line, "Anonymous:", &share.anon_bytes) ||
		    !mapping_parse(line, &mapping))
			continue;
		share_finish(&share, &overlap);
		share.owner =
			host_shm_is_on_own(shm, mapping.device)
				? OWNER_TREE
				: owner_of(host_shm_find(shm, mapping.device,
							 mapping.number));
	}
	share_finish(&share, &overlap);
	host_lines_close(&lines);
	return overlap;
}

struct host_overlap host_shm_overlap(struct host_shm *shm,
				     const struct host_process *process,
				     uint64_t shmem_share)
{
	struct host_overlap overlap = { 0 };
	struct mappings_kinds kinds;

	if (!process->status.shmem)
		return overlap;
	kinds = kinds_of(shm, process);
	if (!kinds.own_bytes && !kinds.foreign_bytes)
		return overlap;
	if (kinds.unknown_bytes > UNKNOWN_SMALL_BYTES ||
	    (kinds.own_bytes && kinds.foreign_bytes))
		return overlap_by_mapping(shm, process);
	if (kinds.own_bytes)
		overlap.own_bytes = shmem_share;
	else
		overlap.foreign_bytes = shmem_share;
	return overlap;
}
