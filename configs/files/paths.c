/* Where the user's files are: XDG, or all below AUTOFIT_HOME. */
/* SPDX-License-Identifier: MIT */
#include "configs/files/paths.h"

#include "base/alloc.h"
#include "base/log.h"
#include "base/textfile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The variable's value when it is an absolute path, else NULL. */
static const char *paths_absolute(const struct strlist *environment,
				  const char *name)
{
	const char *value = strlist_env_get(environment, name);

	return value && value[0] == '/' ? value : NULL;
}

/* As absolute, for variables of autofit's own: a mistake there is told. */
static const char *absolute_or_warn(const struct strlist *environment,
				    const char *name)
{
	const char *value = strlist_env_get(environment, name);
	const char *folder = paths_absolute(environment, name);

	if (!folder && value && *value)
		log_warning("%s=%s passed over: not an absolute path", name,
			    value);
	return folder;
}

/* XDG's folder of one kind, or its default in HOME; the caller frees it. */
static char *xdg_folder(const struct strlist *environment, const char *name,
			const char *in_home)
{
	const char *folder = paths_absolute(environment, name);
	const char *home = paths_absolute(environment, "HOME");

	if (folder)
		return xasprintf("%s/autofit", folder);
	return home ? xasprintf("%s/%s/autofit", home, in_home) : NULL;
}

static void fill_below(struct paths *paths, const char *config,
		       const char *state, const char *cache)
{
	paths->config = xstrdup(config);
	paths->records = xasprintf("%s/records", state);
	paths->journals = xasprintf("%s/journals", state);
	paths->locks = xasprintf("%s/locks", state);
	paths->leases = xasprintf("%s/leases", state);
	paths->starts = xasprintf("%s/starts", state);
	paths->meanings = xasprintf("%s/meanings", state);
	paths->copies = xasprintf("%s/copies", state);
	paths->logs = xasprintf("%s/logs", state);
	paths->scratch = xasprintf("%s/scratch", cache);
}

static int find_below_home(struct paths *paths, const char *home)
{
	char *config = xasprintf("%s/config", home);

	fill_below(paths, config, home, home);
	free(config);
	return 0;
}

static int find_by_xdg(struct paths *paths, const struct strlist *environment,
		       struct error *err)
{
	char *config = xdg_folder(environment, "XDG_CONFIG_HOME", ".config");
	char *state = xdg_folder(environment, "XDG_STATE_HOME", ".local/state");
	char *cache = xdg_folder(environment, "XDG_CACHE_HOME", ".cache");
	int result = 0;

	if (config && state && cache)
		fill_below(paths, config, state, cache);
	else
		result = error_set(err, -ENOENT,
				   "cannot find a home folder: set HOME or "
				   "AUTOFIT_HOME to an absolute path");
	free(config);
	free(state);
	free(cache);
	return result;
}

int paths_find(struct paths *paths, const struct strlist *environment,
	       struct error *err)
{
	const char *home = absolute_or_warn(environment, "AUTOFIT_HOME");
	const char *site = absolute_or_warn(environment, "AUTOFIT_SITE");
	int result;

	memset(paths, 0, sizeof(*paths));
	result = home ? find_below_home(paths, home)
		      : find_by_xdg(paths, environment, err);
	if (result == 0 && site)
		paths->site = xstrdup(site);
	return result;
}

/* A link of our own may point elsewhere; one of another may not. */
static int check_owner(const char *folder, struct error *err)
{
	struct stat link;
	struct stat info;

	if (lstat(folder, &link) < 0 || stat(folder, &info) < 0)
		return error_set_errno(err, -errno, "cannot use folder %s",
				       folder);
	if (!S_ISDIR(info.st_mode))
		return error_set_errno(err, -ENOTDIR, "cannot use %s", folder);
	if (link.st_uid != geteuid() || info.st_uid != geteuid())
		return error_set(err, -EPERM,
				 "cannot use folder %s: it belongs to another "
				 "user (set AUTOFIT_HOME to one of yours)",
				 folder);
	return 0;
}

int paths_make(const char *folder, struct error *err)
{
	int result = folder_make(folder, 0700, NULL);

	if (result < 0)
		return error_set(err, result,
				 "cannot make folder %.300s: %s (set "
				 "AUTOFIT_HOME to one where you may write)",
				 folder, strerror(-result));
	return check_owner(folder, err);
}

void paths_release(struct paths *paths)
{
	free(paths->config);
	free(paths->records);
	free(paths->journals);
	free(paths->locks);
	free(paths->leases);
	free(paths->starts);
	free(paths->meanings);
	free(paths->copies);
	free(paths->logs);
	free(paths->site);
	free(paths->scratch);
	memset(paths, 0, sizeof(*paths));
}
