/* Where the probes of a tuning write, and what keeps them from the rest. */
/* SPDX-License-Identifier: MIT */
#include "launcher/shelter.h"

#include "base/alloc.h"
#include "probes/mounts.h"
#include "probes/shared_paths.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define SHOWN_MAX 3

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

static void find_guarded(struct shelter *shelter, const struct job *job)
{
	const struct knob *output = &job->command.knobs[KNOB_OUTPUT];

	strlist_add(&shelter->guarded, shelter->working);
	if (job->script)
		add_folder(&shelter->guarded, job->script);
	if (output->text && *output->text)
		add_folder(&shelter->guarded, output->text);
}

/* What the user allows is not guarded, nor what lies in it. */
static void allow(struct shelter *shelter, char *path)
{
	struct strlist *guarded = &shelter->guarded;

	for (size_t i = guarded->count; i-- > 0;)
		if (path_is_within(guarded->items[i], path))
			strlist_remove(guarded, i);
	strlist_take(&shelter->shared, path);
}

static int find_shared(struct shelter *shelter, const struct job *job,
		       struct error *err)
{
	const struct strlist *allowed = &job->options->allow_writes;

	shared_paths_find(&shelter->shared, &job->environment, geteuid());
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

/* What autofit itself writes meanwhile may lie in a folder that is compared. */
static void add_own_folders(struct shelter *shelter, const struct job *job)
{
	const struct paths *paths = &job->paths;
	const char *own[] = { paths->records, paths->journals,
			      paths->locks,   paths->leases,
			      paths->starts,  paths->logs,
			      paths->scratch, shelter->space.folder };

	strlist_add_all(&shelter->excluded,
			(const char *const *)shelter->shared.items,
			shelter->shared.count);
	for (size_t i = 0; i < sizeof(own) / sizeof(*own); i++) {
		char *real = realpath(own[i], NULL);

		if (real)
			strlist_take(&shelter->excluded, real);
	}
}

static int look_before(struct shelter *shelter, const struct job *job,
		       struct error *err)
{
	const char *checkpoint;
	int result;

	add_own_folders(shelter, job);
	result = snapshot_take(&shelter->before, &shelter->guarded,
			       &shelter->excluded, err);
	if (result < 0) {
		(void)error_prefix(err,
				   "probes cannot be kept from writing "
				   "here (%s)",
				   shelter->choice.why_not);
		return error_set(err, -EPERM, "%s", err->message);
	}
	checkpoint = snapshot_checkpoint(shelter->before);
	if (!checkpoint)
		return 0;
	return error_set(err, -EPERM,
			 "%s is there, and nothing here keeps a probe from "
			 "overwriting it (%s): give the probes another output "
			 "folder with {out:FOLDER} in the command, or allow it "
			 "with --allow-writes PATH",
			 checkpoint, shelter->choice.why_not);
}

int shelter_open(struct shelter *shelter, const struct job *job,
		 struct error *err)
{
	char folder[PATH_MAX];
	int result;

	memset(shelter, 0, sizeof(*shelter));
	if (!getcwd(folder, sizeof(folder)))
		return error_set_errno(err, -errno,
				       "cannot name the working folder");
	shelter->working = xstrdup(folder);
	result = scratch_space_choose(&shelter->space, job->options->scratch,
				      job->paths.scratch, &job->environment,
				      err);
	if (result < 0)
		return result;
	find_guarded(shelter, job);
	return find_shared(shelter, job, err);
}

int shelter_choose(struct shelter *shelter, const struct job *job,
		   const char *trial, struct error *err)
{
	struct isolation_spec spec = shelter_spec(shelter, trial);

	spec.kind = job->options->isolation;
	isolation_choose(&shelter->choice, &spec);
	return shelter->choice.kind == ISOLATION_COMPARE
		       ? look_before(shelter, job, err)
		       : 0;
}

void shelter_release(struct shelter *shelter)
{
	snapshot_free(shelter->before);
	strlist_release(&shelter->guarded);
	strlist_release(&shelter->shared);
	strlist_release(&shelter->excluded);
	free(shelter->space.folder);
	free(shelter->working);
	memset(shelter, 0, sizeof(*shelter));
}

struct isolation_spec shelter_spec(const struct shelter *shelter,
				   const char *scratch)
{
	return (struct isolation_spec){
		.kind = shelter->choice.kind,
		.working = shelter->working,
		.scratch = scratch,
		.shared = &shelter->shared,
		.guarded = &shelter->guarded,
	};
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

static int compare(struct shelter *shelter, struct error *err)
{
	struct strlist paths = STRLIST_INIT;
	struct snapshot *after = NULL;
	size_t count = 0;
	int result =
		snapshot_take(&after, &shelter->guarded, &shelter->shared, err);

	if (result == 0)
		count = snapshot_differences(&paths, shelter->before, after,
					     SHOWN_MAX);
	if (result == 0 && count)
		result = report_written(&paths, count, err);
	else if (result < 0)
		result = error_set(err, -EPERM, "%s", err->message);
	snapshot_free(after);
	strlist_release(&paths);
	return result;
}

/* Would the write have gone through without autofit? Then it is ours. */
static bool is_ours(const struct shelter *shelter, const char *path)
{
	char *folder;
	char *slash;
	bool ours;

	/* A line that names no file: with Landlock it is likely to be ours. */
	if (!*path)
		return shelter->choice.kind == ISOLATION_LANDLOCK;
	if (access(path, F_OK) == 0)
		return access(path, W_OK) == 0;
	folder = xstrdup(path);
	slash = strrchr(folder, '/');
	if (slash)
		slash[slash == folder] = '\0';
	ours = access(slash ? folder : ".", W_OK) == 0;
	free(folder);
	return ours;
}

int shelter_check(struct shelter *shelter, const char *refused,
		  struct error *err)
{
	if (shelter->choice.kind == ISOLATION_COMPARE)
		return compare(shelter, err);
	if (!refused || !is_ours(shelter, refused))
		return 0;
	return error_set(err, -EPERM,
			 "the command writes %s, which probes must not (%s is "
			 "in force): give it a folder with {out:FOLDER} in the "
			 "command, or allow it with --allow-writes PATH",
			 *refused ? refused : "where its log says",
			 isolation_name(shelter->choice.kind));
}
