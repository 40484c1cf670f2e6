/* Caches that probes share with the user: what is there stays as it is. */
/* SPDX-License-Identifier: MIT */
#include "probes/isolation/caches.h"

#include "base/alloc.h"
#include "base/log.h"
#include "probes/isolation/compare/snapshot.h"
#include "probes/isolation/compare/snapshot_changes.h"
#include "probes/isolation/mounts.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define SECOND_NS INT64_C(1000000000)
/* What was written to so shortly before is being written: a download, a
 * compilation of another run. */
#define UNDER_WAY_NS (10 * SECOND_NS)

static int64_t wall_clock_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_REALTIME, &now); /* as files have it */
	return now.tv_sec * SECOND_NS + now.tv_nsec;
}

/* A link may lead to HOME, or to all there is. */
static bool is_too_much(const char *real, const struct strlist *environment)
{
	const char *home = strlist_env_get(environment, "HOME");
	char *real_home = home ? realpath(home, NULL) : NULL;
	bool holds = strcmp(real, "/") == 0 ||
		     (real_home && strcmp(real_home, "/") != 0 &&
		      path_is_within(real_home, real));

	free(real_home);
	return holds;
}

/* False: it cannot be compared. Takes the path when it can. */
static bool keep_folder(struct caches *caches, char *real)
{
	struct strlist one = STRLIST_INIT;
	struct error err = ERROR_INIT;
	struct cache_before before = { .taken_ns = wall_clock_ns() };
	size_t capacity = caches->folders.count;
	int result;

	strlist_add(&one, real);
	result = snapshot_take_some(&before.files, &one, CACHE_ENTRIES_MAX,
				    &err);
	strlist_release(&one);
	if (result < 0) {
		log_verbose("probes have %s for themselves: %s", real,
			    err.message);
		return false;
	}
	caches->befores = xgrow(caches->befores, caches->folders.count,
				&capacity, sizeof(*caches->befores));
	caches->befores[caches->folders.count] = before;
	strlist_take(&caches->folders, real);
	return true;
}

static void share_cache(struct caches *caches, struct strlist *shared,
			const char *path, bool is_kept)
{
	char *real = realpath(path, NULL);

	/* A folder that is kept takes its path over. */
	if (real && strlist_find(shared, real) == shared->count) {
		if (!is_kept) {
			strlist_add(shared, real);
		} else if (keep_folder(caches, real)) {
			strlist_add(shared, real);
			return;
		}
	}
	free(real);
}

void caches_open(struct caches *caches, struct strlist *shared,
		 const struct strlist *environment)
{
	struct shared_paths paths = { .all = STRLIST_INIT };

	shared_paths_find(&paths, environment, geteuid());
	for (size_t i = 0; i < paths.all.count; i++) {
		const char *path = paths.all.items[i];
		char *real = realpath(path, NULL);

		if (real && !is_too_much(real, environment))
			share_cache(caches, shared, path,
				    strlist_find(&paths.kept, path) <
					    paths.kept.count);
		else if (!real)
			strlist_add(shared, path);
		if (!real && strlist_find(&paths.made, path) < paths.made.count)
			strlist_add(&caches->wanted, path);
		free(real);
	}
	shared_paths_release(&paths);
}

/* The folders that lead to path; those that were missing are noted in made. */
static void make_way(struct strlist *made, const char *path)
{
	char *part = xstrdup(path);
	char *slash = part;

	while ((slash = strchr(slash + 1, '/'))) {
		*slash = '\0';
		if (mkdir(part, 0777) == 0 && made)
			strlist_add(made, part);
		*slash = '/';
	}
	free(part);
}

void caches_make(struct caches *caches, struct strlist *shared)
{
	for (size_t i = 0; i < caches->wanted.count; i++) {
		const char *path = caches->wanted.items[i];

		make_way(&caches->made, path);
		if (mkdir(path, 0777) == 0)
			strlist_add(&caches->made, path);
		share_cache(caches, shared, path, true);
	}
	strlist_release(&caches->wanted);
}

/*
 * Where it stands in this layer: the path below whatever folder the layer is
 * of. The caller frees; NULL: it is not there.
 */
static char *find_in_layer(const char *layer, const char *path)
{
	/* Not one name alone, which may be anything. */
	for (const char *rest = path; rest && strchr(rest + 1, '/');
	     rest = strchr(rest + 1, '/')) {
		char *found = xasprintf("%s/upper%s", layer, rest);
		struct stat info;

		if (lstat(found, &info) == 0 && S_ISDIR(info.st_mode))
			return found;
		free(found);
	}
	return NULL;
}

static char *find_in_layers(const char *scratch, const char *path)
{
	char *folder = xasprintf("%s/view", scratch);
	DIR *dir = opendir(folder);
	const struct dirent *entry;
	char *found = NULL;

	while (dir && !found && (entry = readdir(dir))) {
		char *layer = xasprintf("%s/%s", folder, entry->d_name);

		if (strspn(entry->d_name, "0123456789") ==
		    strlen(entry->d_name))
			found = find_in_layer(layer, path);
		free(layer);
	}
	if (dir)
		(void)closedir(dir);
	free(folder);
	return found;
}

void caches_adopt(struct caches *caches, struct strlist *shared,
		  const char *scratch)
{
	for (size_t i = caches->wanted.count; i-- > 0;) {
		const char *path = caches->wanted.items[i];
		char *layered = find_in_layers(scratch, path);

		if (!layered)
			continue;
		make_way(NULL, path);
		/* Never over one that somebody else has made meanwhile. */
		if (renameat2(AT_FDCWD, layered, AT_FDCWD, path,
			      RENAME_NOREPLACE) < 0)
			(void)mkdir(path, 0777);
		share_cache(caches, shared, path, true);
		strlist_remove(&caches->wanted, i);
		free(layered);
	}
}

static bool was_under_way(const struct cache_before *before, const char *path)
{
	int64_t since_ns = before->taken_ns - UNDER_WAY_NS;
	struct snapshot_file file;

	for (size_t i = 0; snapshot_file_at(before->files, i, &file); i++)
		if (strcmp(file.path, path) == 0)
			return file.modified_ns > since_ns;
	return false;
}

/* Of one folder. */
static void find_changed(const char *folder, const struct cache_before *before,
			 struct strlist *out)
{
	struct strlist one = STRLIST_INIT;
	struct strlist changed = STRLIST_INIT;
	struct snapshot *after = NULL;

	strlist_add(&one, folder);
	/* It may have grown meanwhile. */
	if (snapshot_take_some(&after, &one, SNAPSHOT_ENTRIES_MAX, NULL) == 0)
		(void)snapshot_lost(&changed, before->files, after, SIZE_MAX);
	for (size_t i = 0; i < changed.count; i++)
		if (!shared_paths_is_own_file(changed.items[i]) &&
		    !was_under_way(before, changed.items[i]))
			strlist_add(out, changed.items[i]);
	snapshot_free(after);
	strlist_release(&changed);
	strlist_release(&one);
}

size_t caches_changed(const struct caches *caches, struct strlist *out,
		      size_t max)
{
	struct strlist changed = STRLIST_INIT;
	size_t count;

	for (size_t i = 0; i < caches->folders.count; i++)
		find_changed(caches->folders.items[i], &caches->befores[i],
			     &changed);
	for (size_t i = 0; i < changed.count && i < max; i++)
		strlist_add(out, changed.items[i]);
	count = changed.count;
	strlist_release(&changed);
	return count;
}

void caches_release(struct caches *caches)
{
	for (size_t i = 0; i < caches->folders.count; i++)
		snapshot_free(caches->befores[i].files);
	free(caches->befores);
	caches->befores = NULL;
	strlist_release(&caches->folders);
	for (size_t i = caches->made.count; i-- > 0;)
		(void)rmdir(caches->made.items[i]);
	strlist_release(&caches->made);
	strlist_release(&caches->wanted);
}
