/* Where the probes of a tuning write, and what keeps them from the rest. */
/* SPDX-License-Identifier: MIT */
#include "launcher/tuning/probe_isolation.h"

#include "base/alloc.h"
#include "base/log.h"
#include "probes/isolation/mounts.h"
#include "probes/isolation/shared_paths.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SHOWN_MAX 3
/* Of a socket's address, with its NUL. */
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

static void find_guarded(struct probe_isolation *shelter,
			 const struct request *request)
{
	const struct knob *output = &request->command.knobs[KNOB_OUTPUT];

	strlist_add(&shelter->guarded, shelter->working);
	if (request->script)
		add_folder(&shelter->guarded, request->script);
	if (output->text && *output->text)
		add_folder(&shelter->guarded, output->text);
}

/* What the user allows is not guarded, nor what lies in it. */
static void allow(struct probe_isolation *shelter, char *path)
{
	struct strlist *guarded = &shelter->guarded;

	for (size_t i = guarded->count; i-- > 0;)
		if (path_is_within(guarded->items[i], path))
			strlist_remove(guarded, i);
	strlist_take(&shelter->shared, path);
}

static int find_shared(struct probe_isolation *shelter,
		       const struct request *request, struct error *err)
{
	const struct strlist *allowed = &request->options->allow_writes;

	shared_paths_find(&shelter->shared, &request->environment, geteuid());
	for (size_t i = 0; i < allowed->count; i++) {
		char *real = realpath(allowed->items[i], NULL);

		if (!real)
			return error_set_errno(
				err, -errno,
				"--allow-writes %s: make it first, or name the "
				"folder it will be in",
				allowed->items[i]);
		allow(shelter, real);
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

/* Files that this very start is writing: "> run.log 2>&1", a job's output. */
static void add_outputs(struct probe_isolation *shelter,
			const struct request *request)
{
	static const char *const streams[] = { "/proc/self/fd/1",
					       "/proc/self/fd/2" };
	char *real;

	for (size_t i = 0; i < sizeof(streams) / sizeof(*streams); i++) {
		real = realpath(streams[i], NULL);
		if (real)
			strlist_take(&shelter->excluded, real);
	}
	real = request->options->json ? realpath(request->options->json, NULL)
				      : NULL;
	if (real)
		strlist_take(&shelter->excluded, real);
}

/* What autofit itself writes meanwhile may lie in a folder that is compared. */
static void add_own_folders(struct probe_isolation *shelter,
			    const struct request *request)
{
	const struct paths *paths = &request->paths;
	const char *own[] = { paths->records, paths->journals,
			      paths->locks,   paths->leases,
			      paths->starts,  paths->logs,
			      paths->scratch, shelter->space.folder };

	strlist_add_all(&shelter->excluded,
			(const char *const *)shelter->shared.items,
			shelter->shared.count);
	for (size_t i = 0; i < sizeof(own) / sizeof(*own); i++)
		strlist_take(&shelter->excluded, real_path(own[i]));
	add_outputs(shelter, request);
}

static int take_snapshot(const struct probe_isolation *shelter,
			 struct snapshot **snapshot, struct error *err)
{
	return snapshot_take(snapshot, &shelter->guarded, &shelter->excluded,
			     err);
}

/* Mode, owner and times can still be changed. Too much to compare is not. */
static void look_before_landlock(struct probe_isolation *shelter,
				 const struct request *request)
{
	struct error err = ERROR_INIT;

	add_own_folders(shelter, request);
	if (take_snapshot(shelter, &shelter->before, &err) < 0)
		log_verbose("modes and times of files are not compared: %s",
			    err.message);
}

static const char *why_compared(const struct probe_isolation *shelter)
{
	return shelter->choice.why_not[0] ? shelter->choice.why_not
					  : "--isolation compare was given";
}

static int look_before(struct probe_isolation *shelter,
		       const struct request *request, struct error *err)
{
	const char *checkpoint;
	int result;

	add_own_folders(shelter, request);
	result = take_snapshot(shelter, &shelter->before, err);
	if (result < 0) {
		(void)error_prefix(err,
				   "probes cannot be kept from writing "
				   "here (%s)",
				   why_compared(shelter));
		err->code = -EPERM;
		return -EPERM;
	}
	checkpoint = snapshot_checkpoint(shelter->before);
	if (!checkpoint)
		return 0;
	return error_set(err, -EPERM,
			 "%s is there, and nothing here keeps a probe from "
			 "overwriting it (%s): give the probes another output "
			 "folder with {out:FOLDER} in the command, or allow it "
			 "with --allow-writes PATH",
			 checkpoint, why_compared(shelter));
}

int probe_isolation_open(struct probe_isolation *shelter,
			 const struct request *request, struct error *err)
{
	char folder[PATH_MAX];
	int result;

	memset(shelter, 0, sizeof(*shelter));
	if (!getcwd(folder, sizeof(folder)))
		return error_set_errno(err, -errno,
				       "cannot name the working folder");
	shelter->working = xstrdup(folder);
	result = scratch_space_choose(
		&shelter->space, request->options->scratch,
		request->paths.scratch, &request->environment, err);
	if (result < 0)
		return result;
	find_guarded(shelter, request);
	return find_shared(shelter, request, err);
}

static bool is_short(const char *folder)
{
	return strlen(folder) + SCRATCH_REST_MAX < SOCKET_PATH_MAX;
}

static bool move_scratch(struct probe_isolation *shelter, const char *folder)
{
	struct scratch_space space;
	struct stat info;

	if (!folder || *folder != '/' || !is_short(folder) ||
	    stat(folder, &info) < 0 || access(folder, W_OK | X_OK) < 0 ||
	    scratch_space_check(folder, &space, NULL) < 0)
		return false;
	free(shelter->space.folder);
	shelter->space.folder = xstrdup(folder);
	shelter->space.is_memory = space.is_memory;
	shelter->space.free_bytes = space.free_bytes;
	return true;
}

/* Who has asked for a folder gets it, long or not. */
static void shorten_scratch(struct probe_isolation *shelter,
			    const struct request *request)
{
	if (is_short(shelter->space.folder))
		return;
	if (!request->options->scratch &&
	    (move_scratch(shelter,
			  strlist_env_get(&request->environment, "TMPDIR")) ||
	     move_scratch(shelter, "/tmp")))
		return;
	log_warning("%s is a long path: sockets of the command may not fit in "
		    "it (--scratch DIR names another folder)",
		    shelter->space.folder);
}

int probe_isolation_choose(struct probe_isolation *shelter,
			   const struct request *request, const char *trial,
			   struct error *err)
{
	struct isolation_spec spec = probe_isolation_spec(shelter, trial);

	/* What the command starts elsewhere sees no view and no rule. */
	spec.kind = request->command.view.outside ? ISOLATION_COMPARE
						  : request->options->isolation;
	isolation_choose(&shelter->choice, &spec);
	if (shelter->choice.kind == ISOLATION_COMPARE)
		return look_before(shelter, request, err);
	if (shelter->choice.kind == ISOLATION_LANDLOCK) {
		shorten_scratch(shelter, request);
		look_before_landlock(shelter, request);
	}
	return 0;
}

void probe_isolation_release(struct probe_isolation *shelter)
{
	snapshot_free(shelter->before);
	strlist_release(&shelter->guarded);
	strlist_release(&shelter->shared);
	strlist_release(&shelter->excluded);
	free(shelter->space.folder);
	free(shelter->working);
	memset(shelter, 0, sizeof(*shelter));
}

struct isolation_spec
probe_isolation_spec(const struct probe_isolation *shelter, const char *scratch)
{
	return (struct isolation_spec){
		.kind = shelter->choice.kind,
		.working = shelter->working,
		.scratch = scratch,
		.shared = &shelter->shared,
		.guarded = &shelter->guarded,
	};
}

bool probe_isolation_shares_memory(const struct probe_isolation *shelter)
{
	for (size_t i = 0; i < shelter->shared.count; i++)
		if (path_is_within(ISOLATION_SHARED_MEMORY,
				   shelter->shared.items[i]))
			return false;
	return !shelter->choice.has_own_memory;
}

static int report_written(const struct strlist *paths, size_t count,
			  struct error *err)
{
	struct strbuf names = STRBUF_INIT;

	for (size_t i = 0; i < paths->count; i++)
		strbuf_addf(&names, "%s%s", i ? ", " : "", paths->items[i]);
	if (count > paths->count)
		strbuf_addf(&names, " and %zu more", count - paths->count);
	(void)error_set(err, -EPERM,
			"a probe has written %s, which the real run would "
			"find: nothing more is started. Look at it, then give "
			"probes another folder with {out:FOLDER}, or allow it "
			"with --allow-writes PATH",
			strbuf_text(&names));
	strbuf_release(&names);
	return -EPERM;
}

static int compare(struct probe_isolation *shelter, struct error *err)
{
	bool is_landlock = shelter->choice.kind == ISOLATION_LANDLOCK;
	struct strlist paths = STRLIST_INIT;
	struct snapshot *after = NULL;
	size_t count = 0;
	int result = take_snapshot(shelter, &after, err);

	/* Landlock refuses the rest: that is somebody else's doing. */
	if (result == 0)
		count = (is_landlock ? snapshot_touched : snapshot_differences)(
			&paths, shelter->before, after, SHOWN_MAX);
	if (result == 0 && count)
		result = report_written(&paths, count, err);
	else if (result < 0)
		result = is_landlock ? 0 : (err->code = -EPERM);
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

/* Would the write have gone through without autofit? Then it is ours. */
static bool is_ours(const struct probe_isolation *shelter, const char *path)
{
	char *name = outside_name(path);
	/* A line that names no file: with Landlock it is likely to be ours. */
	bool ours = name ? can_be_written(name)
			 : shelter->choice.kind == ISOLATION_LANDLOCK;

	free(name);
	return ours;
}

int probe_isolation_check(struct probe_isolation *shelter, const char *refused,
			  struct error *err)
{
	if (refused && shelter->choice.kind != ISOLATION_COMPARE &&
	    is_ours(shelter, refused))
		return error_set(
			err, -EPERM,
			"the command writes %s, which probes must not (%s is "
			"in force): give it a folder with {out:FOLDER} in the "
			"command, or allow it with --allow-writes PATH",
			*refused ? refused : "where its log says",
			isolation_name(shelter->choice.kind));
	return shelter->before ? compare(shelter, err) : 0;
}
