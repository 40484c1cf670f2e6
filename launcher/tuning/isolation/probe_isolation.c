/* Where the probes of a tuning write, and what keeps them from the rest. */
/* SPDX-License-Identifier: MIT */
#include "launcher/tuning/isolation/probe_isolation.h"

#include "base/alloc.h"
#include "base/log.h"
#include "configs/files/owned_file.h"
#include "configs/files/paths.h"
#include "launcher/request/end_signals.h"
#include "launcher/request/identity.h"
#include "probes/isolation/compare/checkpoints.h"
#include "probes/isolation/mounts.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Bytes of a socket's address, with its NUL. */
#define SOCKET_PATH_MAX 108
/* "/<id of the probe>/tmp", and in it the longest names that torch and
 * multiprocessing make: "/torch-shm-dir-XXXXXX/manager.sock". */
#define SCRATCH_REST_MAX (1 + 32 + 4 + 35)

/* The folder itself, or the one a file would be in; what exists of it. */
static void add_folder(struct strlist *folders, const char *path)
{
	char *real = realpath(path, NULL);
	struct stat info;
	char *slash;

	if (real && stat(real, &info) == 0 && !S_ISDIR(info.st_mode)) {
		slash = strrchr(real, '/');
		slash[slash == real] = '\0';
	}
	if (real && strlist_find(folders, real) == folders->count)
		strlist_add(folders, real);
	free(real);
}

static void find_guarded(struct probe_isolation *isolation,
			 const struct request *request)
{
	const struct knob *output = &request->command.knobs[KNOB_OUTPUT];

	strlist_add(&isolation->guarded, isolation->working);
	if (request->script)
		add_folder(&isolation->guarded, request->script);
	if (output->text && *output->text)
		add_folder(&isolation->guarded, output->text);
}

/* What the user allows is neither guarded nor hidden, nor what lies in it. */
static int find_shared(struct probe_isolation *isolation,
		       const struct request *request, struct error *err)
{
	const struct strlist *allowed = &request->options->probe.allow_writes;
	struct strlist *guarded = &isolation->guarded;

	caches_open(&isolation->caches, &isolation->shared,
		    &request->environment);
	/* The state of a phantom card is what probe and observers share. */
	if (request->options->target.phantom_folder)
		strlist_add(&isolation->shared,
			    request->options->target.phantom_folder);
	/* A folder to be guarded stays so, whatever a variable says of it. */
	for (size_t i = isolation->shared.count; i-- > 0;)
		if (strlist_find(guarded, isolation->shared.items[i]) <
		    guarded->count)
			strlist_remove(&isolation->shared, i);
	for (size_t i = 0; i < allowed->count; i++) {
		char *real = realpath(allowed->items[i], NULL);

		if (!real)
			return error_set_errno(
				err, -errno,
				"--allow-writes %s: make it first, or name the "
				"folder it will be in",
				allowed->items[i]);
		for (size_t k = guarded->count; k-- > 0;)
			if (path_is_within(guarded->items[k], real))
				strlist_remove(guarded, k);
		strlist_take(&isolation->shared, real);
	}
	return 0;
}

/* Without links, as far as it is there; the rest as it stands. */
static char *real_path(const char *path)
{
	char *real = realpath(path, NULL);
	const char *slash = strrchr(path, '/');
	char *folder;

	if (real || !slash || slash == path)
		return real ? real : xstrdup(path);
	folder = xstrndup(path, (size_t)(slash - path));
	real = real_path(folder);
	free(folder);
	folder = xasprintf("%s%s", real, slash);
	free(real);
	return folder;
}

static void exclude(struct probe_isolation *isolation, char *path)
{
	if (path)
		strlist_take(&isolation->excluded, path);
}

/*
 * Autofit and this very start write meanwhile into folders that are compared:
 * its state, "> run.log 2>&1", a job's output, --json.
 */
static void exclude_own_writes(struct probe_isolation *isolation,
			       const struct request *request)
{
	const struct paths *paths = &request->paths;
	const char *json = request->options->output.json;
	const char *own[] = { paths->records, paths->journals,
			      paths->locks,   paths->leases,
			      paths->starts,  paths->logs,
			      paths->scratch, isolation->space.folder };

	strlist_add_all(&isolation->excluded,
			(const char *const *)isolation->shared.items,
			isolation->shared.count);
	for (size_t i = 0; i < sizeof(own) / sizeof(*own); i++)
		exclude(isolation, real_path(own[i]));
	exclude(isolation, realpath("/proc/self/fd/1", NULL));
	exclude(isolation, realpath("/proc/self/fd/2", NULL));
	exclude(isolation, json ? realpath(json, NULL) : NULL);
}

static int look_before(struct probe_isolation *isolation,
		       const struct request *request, struct error *err)
{
	exclude_own_writes(isolation, request);
	return snapshot_take(&isolation->before, &isolation->guarded,
			     &isolation->excluded, err);
}

/* A name tells not what a training resumes from: all of it is kept. */
static int keep_before(struct probe_isolation *isolation, const char *folder,
		       const char *why, struct error *err)
{
	struct error inner = ERROR_INIT;

	if (kept_files_take(&isolation->kept, isolation->before, folder,
			    KEPT_BYTES_MAX, &inner) == 0)
		return 0;
	return error_set(err, -EPERM,
			 "%.300s. Nothing here keeps a probe from overwriting "
			 "it (%.60s): give the probes another output folder "
			 "with {out:FOLDER} in the command, or allow it with "
			 "--allow-writes PATH",
			 inner.message, why);
}

/* Nothing keeps probes from writing: refused where that could do harm. */
static int begin_compare(struct probe_isolation *isolation,
			 const struct request *request, const char *folder,
			 struct error *err)
{
	const char *why = isolation->choice.why_not[0]
				  ? isolation->choice.why_not
				  : "--isolation compare was given";
	const char *checkpoint;

	if (look_before(isolation, request, err) < 0) {
		(void)error_prefix(err,
				   "probes cannot be kept from writing "
				   "here (%s)",
				   why);
		err->code = -EPERM;
		return -EPERM;
	}
	checkpoint = snapshot_checkpoint(isolation->before);
	if (!checkpoint)
		return keep_before(isolation, folder, why, err);
	return error_set(err, -EPERM,
			 "%s is there, and nothing here keeps a probe from "
			 "overwriting it (%s): give the probes another output "
			 "folder with {out:FOLDER} in the command, or allow it "
			 "with --allow-writes PATH",
			 checkpoint, why);
}

/*
 * Probes load the hook and a library from there: who can replace a folder on
 * the way can run programs as this user.
 */
static int check_scratch(const char *folder, struct error *err)
{
	char text[sizeof(err->message)];

	if (owned_folder_check(folder, err) == 0)
		return 0;
	(void)snprintf(text, sizeof(text), "%s", err->message);
	return error_set(err, -EPERM,
			 "%.400s: name another folder for probes with "
			 "--scratch DIR",
			 text);
}

int probe_isolation_open(struct probe_isolation *isolation,
			 const struct request *request, struct error *err)
{
	char folder[PATH_MAX];
	int result;

	memset(isolation, 0, sizeof(*isolation));
	isolation->kept.fd = -1;
	isolation->choice.kind = ISOLATION_KINDS;
	if (!getcwd(folder, sizeof(folder)))
		return error_set_errno(err, -errno,
				       "cannot name the working folder");
	isolation->working = xstrdup(folder);
	result = scratch_space_choose(
		&isolation->space, request->options->probe.scratch,
		request->paths.scratch, &request->environment, err);
	if (result == 0)
		result = check_scratch(isolation->space.folder, err);
	if (result < 0)
		return result;
	find_guarded(isolation, request);
	return find_shared(isolation, request, err);
}

static bool is_short(const char *folder)
{
	return strlen(folder) + SCRATCH_REST_MAX < SOCKET_PATH_MAX;
}

static bool move_scratch(struct probe_isolation *isolation, const char *folder)
{
	struct scratch_space space;
	struct stat info;

	if (!folder || *folder != '/' || !is_short(folder) ||
	    owned_folder_check(folder, NULL) < 0 || stat(folder, &info) < 0 ||
	    access(folder, W_OK | X_OK) < 0 ||
	    scratch_space_check(folder, &space, NULL) < 0)
		return false;
	free(isolation->space.folder);
	isolation->space.folder = xstrdup(folder);
	isolation->space.is_memory = space.is_memory;
	isolation->space.free_bytes = space.free_bytes;
	return true;
}

/* --scratch is kept, long or not. */
static void shorten_scratch(struct probe_isolation *isolation,
			    const struct request *request)
{
	if (is_short(isolation->space.folder))
		return;
	if (!request->options->probe.scratch &&
	    (move_scratch(isolation,
			  strlist_env_get(&request->environment, "TMPDIR")) ||
	     move_scratch(isolation, "/tmp")))
		return;
	log_warning("%s is a long path: sockets of the command may not fit in "
		    "it (--scratch DIR names another folder)",
		    isolation->space.folder);
}

static int choose_in(struct probe_isolation *isolation,
		     const struct request *request, const char *folder,
		     struct error *err)
{
	struct isolation_spec spec = probe_isolation_spec(isolation, folder);
	const char *outside = request->command.view.outside;
	struct error why = ERROR_INIT;

	/* What the command starts elsewhere sees no view and no rule. */
	spec.kind =
		outside ? ISOLATION_COMPARE : request->options->probe.isolation;
	spec.interrupted = end_signals_waiting;
	isolation_choose(&isolation->choice, &spec);
	if (end_signals_waiting())
		return error_set(err, -EINTR, "stopped by a signal");
	if (outside)
		(void)snprintf(isolation->choice.why_not,
			       sizeof(isolation->choice.why_not),
			       "what %s starts runs outside of a probe's view",
			       outside);
	if (isolation->choice.kind == ISOLATION_VIEW)
		return 0;
	if (command_edits_script(&request->command, false))
		return error_set(err, -EPERM,
				 "probes need an edited copy in place of %s, "
				 "and no view can be made for that (%.200s): "
				 "make the size an option of it",
				 identity_name(request),
				 isolation->choice.why_not[0]
					 ? isolation->choice.why_not
					 : "--isolation was given");
	if (isolation->may_make)
		caches_make(&isolation->caches, &isolation->shared);
	if (isolation->choice.kind == ISOLATION_COMPARE)
		return begin_compare(isolation, request, folder, err);
	shorten_scratch(isolation, request);
	/* Landlock refuses writes, but mode, owner and times can be changed. */
	if (look_before(isolation, request, &why) < 0)
		log_verbose("modes and times of files are not compared: %s",
			    why.message);
	return 0;
}

int probe_isolation_choose(struct probe_isolation *isolation,
			   const struct request *request, const char *name,
			   struct error *err)
{
	char *folder = xasprintf("%s/%s", isolation->space.folder, name);
	int result = paths_make(folder, err);

	if (result == 0)
		result = choose_in(isolation, request, folder, err);
	paths_remove_tree(folder);
	free(folder);
	return result;
}

void probe_isolation_release(struct probe_isolation *isolation)
{
	snapshot_free(isolation->before);
	if (isolation->working)
		kept_files_release(&isolation->kept);
	caches_release(&isolation->caches);
	strlist_release(&isolation->guarded);
	strlist_release(&isolation->shared);
	strlist_release(&isolation->excluded);
	free(isolation->space.folder);
	free(isolation->working);
	memset(isolation, 0, sizeof(*isolation));
}

struct isolation_spec
probe_isolation_spec(const struct probe_isolation *isolation,
		     const char *scratch)
{
	return (struct isolation_spec){
		.kind = isolation->choice.kind,
		.working = isolation->working,
		.scratch = scratch,
		.shared = &isolation->shared,
		.guarded = &isolation->guarded,
	};
}

bool probe_isolation_shares_memory(const struct probe_isolation *isolation)
{
	for (size_t i = 0; i < isolation->shared.count; i++)
		if (path_is_within(ISOLATION_SHARED_MEMORY,
				   isolation->shared.items[i]))
			return false;
	return !isolation->choice.has_own_memory;
}

void probe_isolation_adopt(struct probe_isolation *isolation,
			   const char *scratch)
{
	if (isolation->choice.kind == ISOLATION_VIEW)
		caches_adopt(&isolation->caches, &isolation->shared, scratch);
}
