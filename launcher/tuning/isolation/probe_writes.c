/* What a probe has written for real, or was kept from writing. */
/* SPDX-License-Identifier: MIT */
#include "launcher/tuning/isolation/probe_writes.h"

#include "base/alloc.h"
#include "base/strbuf.h"
#include "probes/isolation/compare/snapshot_changes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WRITTEN_SHOWN_MAX 3

static void name_paths(struct strbuf *names, const struct strlist *paths,
		       size_t count)
{
	for (size_t i = 0; i < paths->count; i++)
		strbuf_addf(names, "%s%s", i ? ", " : "", paths->items[i]);
	if (count > paths->count)
		strbuf_addf(names, " and %zu more", count - paths->count);
}

static int say_written(const struct strlist *paths, size_t count,
		       bool is_put_back, struct error *err)
{
	struct strbuf names = STRBUF_INIT;

	name_paths(&names, paths, count);
	(void)error_set(err, -EUCLEAN,
			"a probe has written %s, which the real run would "
			"find: nothing more is started%s. Look at it, then "
			"give probes another folder with {out:FOLDER}, or "
			"allow it with --allow-writes PATH",
			strbuf_text(&names),
			is_put_back ? ", and what was there before is put back"
				    : "");
	strbuf_release(&names);
	return -EUCLEAN;
}

/* A cache takes new files; what a run has put there itself is not its own. */
static int check_caches(const struct probe_isolation *isolation,
			struct error *err)
{
	struct strlist paths = STRLIST_INIT;
	struct strbuf names = STRBUF_INIT;
	size_t count =
		caches_changed(&isolation->caches, &paths, WRITTEN_SHOWN_MAX);

	if (count) {
		name_paths(&names, &paths, count);
		(void)error_set(err, -EUCLEAN,
				"a probe has changed or removed %s, in a cache "
				"that is shared for new files only: nothing "
				"more is started. Look at it, then let the "
				"command write elsewhere, with {out:FOLDER} or "
				"by the cache's variable",
				strbuf_text(&names));
	}
	strbuf_release(&names);
	strlist_release(&paths);
	return count ? -EUCLEAN : 0;
}

/* -ENOENT: nothing is kept. */
static int put_before_back(const struct probe_isolation *isolation,
			   const struct snapshot *after, struct error *err)
{
	if (isolation->kept.fd < 0)
		return -ENOENT;
	return kept_files_put_back(&isolation->kept, isolation->before, after,
				   err);
}

/* What is lost stands first; how many there are in all. */
static size_t name_changes(const struct probe_isolation *isolation,
			   const struct snapshot *after, struct strlist *names)
{
	const struct snapshot *before = isolation->before;
	struct strlist all = STRLIST_INIT;
	size_t count;

	if (isolation->choice.kind == ISOLATION_LANDLOCK)
		return snapshot_touched(names, before, after,
					WRITTEN_SHOWN_MAX);
	(void)snapshot_lost(names, before, after, WRITTEN_SHOWN_MAX);
	count = snapshot_differences(&all, before, after, WRITTEN_SHOWN_MAX);
	for (size_t i = 0; i < all.count && names->count < WRITTEN_SHOWN_MAX;
	     i++)
		if (strlist_find(names, all.items[i]) == names->count)
			strlist_add(names, all.items[i]);
	strlist_release(&all);
	return count;
}

static int compare_with_before(const struct probe_isolation *isolation,
			       struct error *err)
{
	bool is_landlock = isolation->choice.kind == ISOLATION_LANDLOCK;
	struct strlist paths = STRLIST_INIT;
	struct snapshot *after = NULL;
	struct error why = ERROR_INIT;
	size_t count;
	int result = snapshot_take(&after, &isolation->guarded,
				   &isolation->excluded, err);

	/* What Landlock would refuse is somebody else's doing. */
	if (result < 0)
		return is_landlock ? 0 : (err->code = -EPERM);
	count = name_changes(isolation, after, &paths);
	if (count) {
		int put = put_before_back(isolation, after, &why);

		result = say_written(&paths, count, put == 0, err);
		if (put < 0 && why.code)
			(void)error_prefix(err, "%.200s", why.message);
	}
	snapshot_free(after);
	strlist_release(&paths);
	return result;
}

/*
 * What a name means outside of the process that printed it: the same, nothing
 * that can be told (NULL), or an entry of shared memory, which Python names
 * without its folder. The caller frees it.
 */
static char *outside_name(const char *path)
{
	char *entry;

	if (strncmp(path, "/proc/", 6) == 0 &&
	    strncmp(path, "/proc/self/cwd/", 15) != 0 &&
	    strncmp(path, "/proc/self/root/", 16) != 0)
		return NULL;
	entry = xasprintf("%s%s", ISOLATION_SHARED_MEMORY, path);
	if (*path == '/' && !strchr(path + 1, '/') && access(path, F_OK) < 0 &&
	    access(entry, F_OK) == 0)
		return entry;
	free(entry);
	return *path ? xstrdup(path) : NULL;
}

/* A new entry needs the folder, one that is there itself. */
static bool can_be_written(const char *path)
{
	char *folder;
	char *slash;
	bool can;

	if (access(path, F_OK) == 0)
		return access(path, W_OK) == 0;
	folder = xstrdup(path);
	slash = strrchr(folder, '/');
	if (slash)
		slash[slash == folder] = '\0';
	can = access(slash ? folder : ".", W_OK) == 0;
	free(folder);
	return can;
}

/* Would the write have gone through without autofit? */
static bool was_refused_by_us(const struct probe_isolation *isolation,
			      const char *path)
{
	char *name = outside_name(path);
	/* A line that names no file: with Landlock it is likely to be ours. */
	bool ours = name ? can_be_written(name)
			 : isolation->choice.kind == ISOLATION_LANDLOCK;

	free(name);
	return ours;
}

int probe_writes_check(const struct probe_isolation *isolation,
		       const char *refused, struct error *err)
{
	int result;

	if (refused && isolation->choice.kind != ISOLATION_COMPARE &&
	    was_refused_by_us(isolation, refused))
		return error_set(
			err, -EPERM,
			"the command writes %s, which probes must not (%s is "
			"in force): give it a folder with {out:FOLDER} in the "
			"command, or allow it with --allow-writes PATH",
			*refused ? refused : "where its log says",
			isolation_name(isolation->choice.kind));
	result = isolation->before ? compare_with_before(isolation, err) : 0;
	return result < 0 ? result : check_caches(isolation, err);
}
