/* The folder in which a phantom card lives while autofit runs. */
/* SPDX-License-Identifier: MIT */
#include "launcher/phantom/phantom_folder.h"

#include "base/alloc.h"
#include "base/units.h"
#include "configs/files/paths.h"
#include "probes/phantom/phantom.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* "phantom-4711": of the autofit with that pid. */
#define PREFIX "phantom-"

static bool is_left_over(const char *name)
{
	int64_t pid = 0;

	if (strncmp(name, PREFIX, strlen(PREFIX)) != 0 ||
	    integer_parse(name + strlen(PREFIX), &pid, NULL) < 0 || pid <= 0 ||
	    pid > INT_MAX)
		return false;
	return kill((pid_t)pid, 0) < 0 && errno == ESRCH;
}

static void remove_left_over(const char *parent)
{
	DIR *entries = opendir(parent);
	struct dirent *entry;

	if (!entries)
		return;
	while ((entry = readdir(entries))) {
		char *path;

		if (!is_left_over(entry->d_name))
			continue;
		path = xasprintf("%s/%s", parent, entry->d_name);
		paths_remove_tree(path);
		free(path);
	}
	(void)closedir(entries);
}

/* LD_PRELOAD cannot name what a blank or a colon would cut. */
static int check_name(const char *folder, struct error *err)
{
	if (!strpbrk(folder, " \t\n:;"))
		return 0;
	return error_set(err, -EINVAL,
			 "the libraries of a phantom card cannot be loaded "
			 "from %.200s, which has a blank or a colon in its "
			 "name; --scratch DIR names another place for them",
			 folder);
}

/* NULL, and err says why; the caller frees it. */
static char *find_parent(const struct options *options,
			 const struct strlist *environment, struct error *err)
{
	struct paths paths;
	char absolute[PATH_MAX];
	char *parent = NULL;

	if (options->probe.scratch) {
		if (realpath(options->probe.scratch, absolute))
			return xstrdup(absolute);
		(void)error_set_errno(err, -errno, "--scratch %s",
				      options->probe.scratch);
		return NULL;
	}
	if (paths_find(&paths, environment, err) == 0)
		parent = xstrdup(paths.scratch);
	paths_release(&paths);
	return parent;
}

int phantom_folder_open(struct options *options,
			const struct strlist *environment, struct error *err)
{
	struct options_target *target = &options->target;
	char *parent = find_parent(options, environment, err);
	int result;

	if (!parent)
		return -ENOENT;
	result = paths_make(parent, err);
	if (result == 0) {
		remove_left_over(parent);
		target->phantom_folder =
			xasprintf("%s/" PREFIX "%d", parent, (int)getpid());
		result = check_name(target->phantom_folder, err);
	}
	if (result == 0)
		result = paths_make(target->phantom_folder, err);
	if (result == 0)
		result = phantom_open(target->phantom_folder, &target->card,
				      target->card_count, err);
	free(parent);
	return result;
}

void phantom_folder_close(const struct options *options)
{
	if (options->target.phantom_folder)
		paths_remove_tree(options->target.phantom_folder);
}
