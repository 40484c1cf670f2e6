/* Room for what probes write: where it is, how much, and whether it is RAM. */
/* SPDX-License-Identifier: MIT */
#include "probes/isolation/scratch_space.h"

#include "base/alloc.h"

#include <errno.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>

#define CANDIDATES_MAX 4

static int look_really(const char *path, struct statfs *info)
{
	return statfs(path, info) < 0 ? -errno : 0;
}

static bool is_memory(const struct statfs *info)
{
	return info->f_type == TMPFS_MAGIC || info->f_type == RAMFS_MAGIC;
}

/* tmpfs with size=0 and ramfs count no blocks: all of memory is theirs. */
static void scratch_space_fill(struct scratch_space *space,
			       const struct statfs *info)
{
	uint64_t unit = info->f_frsize > 0 ? (uint64_t)info->f_frsize
					   : (uint64_t)info->f_bsize;

	space->is_memory = is_memory(info);
	space->free_bytes = UINT64_MAX;
	space->used_bytes = 0;
	if (space->is_memory && info->f_blocks == 0)
		return;
	space->free_bytes = info->f_bavail * unit;
	if (info->f_blocks > info->f_bfree)
		space->used_bytes = (info->f_blocks - info->f_bfree) * unit;
}

/* The file system of the folder, or of the nearest one above it. */
static int look_at(scratch_statfs *look, const char *path, struct statfs *info)
{
	char *at = xstrdup(path);
	int result;

	memset(info, 0, sizeof(*info));
	while ((result = look(at, info)) == -ENOENT) {
		char *slash = strrchr(at, '/');

		if (!slash || (slash == at && !slash[1]))
			break;
		slash[slash == at] = '\0';
	}
	free(at);
	return result;
}

int scratch_space_check_by(scratch_statfs *look, const char *path,
			   struct scratch_space *space, struct error *err)
{
	char free_text[BYTES_TEXT_MAX];
	char needed_text[BYTES_TEXT_MAX];
	struct statfs info;
	int result = look_at(look, path, &info);

	*space = (struct scratch_space){ 0 };
	if (result == 0)
		scratch_space_fill(space, &info);
	if (result == 0 && info.f_flags & ST_RDONLY)
		result = -EROFS;
	if (result < 0)
		return error_set_errno(
			err, result,
			"probes cannot write in %s (--scratch DIR "
			"names another folder)",
			path);
	if (space->free_bytes >= SCRATCH_FREE_MIN)
		return 0;
	return error_set(err, -ENOSPC,
			 "only %s are free in %s for what probes write, at "
			 "least %s are needed: free some, or name another "
			 "folder with --scratch DIR",
			 bytes_format(free_text, space->free_bytes), path,
			 bytes_format(needed_text, SCRATCH_FREE_MIN));
}

bool scratch_space_is_full_by(scratch_statfs *look, const char *path,
			      const struct scratch_space *start,
			      uint64_t reserve_bytes)
{
	struct scratch_space now;
	struct statfs info;

	if (look_at(look, path, &info) < 0)
		return false;
	scratch_space_fill(&now, &info);
	if (now.free_bytes < SCRATCH_FREE_FLOOR)
		return true;
	return now.is_memory && reserve_bytes &&
	       now.used_bytes > start->used_bytes &&
	       now.used_bytes - start->used_bytes > reserve_bytes;
}

/* The default is made when it is used; the others are there or are none. */
static size_t list(scratch_statfs *look,
		   const struct scratch_candidates *candidates,
		   const char *folders[CANDIDATES_MAX])
{
	const char *const more[] = {
		strlist_env_get(candidates->environment, "TMPDIR"),
		"/var/tmp",
		"/tmp",
	};
	struct statfs info;
	size_t count = 1;

	folders[0] =
		candidates->given ? candidates->given : candidates->otherwise;
	if (candidates->given)
		return count;
	for (size_t i = 0; i < sizeof(more) / sizeof(*more); i++)
		if (more[i] && *more[i] == '/' && look(more[i], &info) == 0)
			folders[count++] = more[i];
	return count;
}

int scratch_space_choose_by(scratch_statfs *look, struct scratch_choice *choice,
			    const struct scratch_candidates *candidates,
			    struct error *err)
{
	const char *folders[CANDIDATES_MAX];
	size_t count = list(look, candidates, folders);
	struct error first = ERROR_INIT;
	const char *best = NULL;

	*choice = (struct scratch_choice){ 0 };
	for (size_t i = 0; i < count; i++) {
		struct scratch_space space;
		int result = scratch_space_check_by(look, folders[i], &space,
						    i == 0 ? &first : NULL);

		if (result < 0 || (best && space.is_memory))
			continue;
		best = folders[i];
		choice->is_memory = space.is_memory;
		choice->free_bytes = space.free_bytes;
		if (!space.is_memory)
			break;
	}
	if (!best)
		return error_set(err, first.code, "%s", first.message);
	choice->folder = xstrdup(best);
	return 0;
}

int scratch_space_check(const char *path, struct scratch_space *space,
			struct error *err)
{
	return scratch_space_check_by(look_really, path, space, err);
}

bool scratch_space_is_full(const char *path, const struct scratch_space *start,
			   uint64_t reserve_bytes)
{
	return scratch_space_is_full_by(look_really, path, start,
					reserve_bytes);
}

int scratch_space_choose(struct scratch_choice *choice, const char *given,
			 const char *otherwise,
			 const struct strlist *environment, struct error *err)
{
	const struct scratch_candidates candidates = { given, otherwise,
						       environment };

	return scratch_space_choose_by(look_really, choice, &candidates, err);
}

uint64_t scratch_space_reserve(uint64_t budget_bytes)
{
	uint64_t part = budget_bytes / 8;

	return part < SCRATCH_RESERVE_MAX ? part : SCRATCH_RESERVE_MAX;
}
