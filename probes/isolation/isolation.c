/* A probe never feeds the real run: what it may write, and how that is kept. */
/* SPDX-License-Identifier: MIT */
#include "probes/isolation/isolation.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "configs/files/paths.h"
#include "probes/isolation/landlock.h"
#include "probes/isolation/places.h"
#include "probes/isolation/view.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define TRIAL_MS 10000
#define TRIAL_END_MS 2000
/* Between two looks for a signal. */
#define TRIAL_LOOK_MS 50
#define TRIAL_NAME ".autofit-trial"

static const struct {
	const char *name, *words;
} kinds[ISOLATION_KINDS] = {
	[ISOLATION_VIEW] = { "view", "probes write into a copy-on-write view" },
	[ISOLATION_LANDLOCK] = { "landlock",
				 "probes may write only to scratch and caches "
				 "(Landlock)" },
	[ISOLATION_COMPARE] = { "compare",
				"nothing keeps probes from writing; the "
				"folders are compared before and after" },
};

const char *isolation_name(enum isolation_kind kind)
{
	assert(kind < ISOLATION_KINDS);
	return kinds[kind].name;
}

int isolation_parse(const char *name, enum isolation_kind *kind)
{
	for (int i = 0; name && i < ISOLATION_KINDS; i++) {
		if (strcmp(name, kinds[i].name) != 0)
			continue;
		*kind = (enum isolation_kind)i;
		return 0;
	}
	return -EINVAL;
}

const char *isolation_words(enum isolation_kind kind)
{
	return kinds[kind].words;
}

int isolation_enter(const struct isolation_spec *spec, struct error *err)
{
	switch (spec->kind) {
	case ISOLATION_VIEW:
		return view_enter(spec, err);
	case ISOLATION_LANDLOCK:
		return landlock_enter(spec, err);
	case ISOLATION_COMPARE:
	case ISOLATION_KINDS:
		break;
	}
	return 0;
}

/* ------------------------------------------------------------- the trial */

/* A file that no command has; the number keeps apart two that try at once. */
static char *trial_file(const char *folder, pid_t owner)
{
	return xasprintf("%s/%s-%d", folder, TRIAL_NAME, (int)owner);
}

static int write_file(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	int result = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, "x", 1) != 1)
		result = errno ? -errno : -EIO;
	(void)close(fd);
	return result;
}

/* The view is layered, with Landlock it is refused: in every guarded folder. */
static int try_guarded(const struct isolation_spec *spec, const char *folder,
		       pid_t owner, struct error *err)
{
	char *path = trial_file(folder, owner);
	int result = write_file(path);

	free(path);
	if (spec->kind == ISOLATION_VIEW && result < 0)
		return error_set(err, result, "no writing to %s in a view (%s)",
				 folder, strerror(-result));
	if (spec->kind == ISOLATION_LANDLOCK && result == 0)
		return error_set(err, -EEXIST,
				 "Landlock does not keep %s from writes",
				 folder);
	return 0;
}

/* Which guarded folders can be written at all: asked before it is built. */
struct isolation_trial {
	const struct isolation_spec *spec;
	struct places places;
	bool *writable;
	pid_t owner;
};

static void trial_init(struct isolation_trial *trial,
		       const struct isolation_spec *spec)
{
	trial->spec = spec;
	trial->owner = getpid();
	places_make(&trial->places, spec->shared, spec->guarded);
	trial->writable =
		xcalloc(trial->places.count, sizeof(*trial->writable));
	for (size_t i = 0; i < trial->places.count; i++)
		trial->writable[i] =
			!trial->places.items[i].shared &&
			faccessat(AT_FDCWD, trial->places.items[i].path,
				  W_OK | X_OK, AT_EACCESS) == 0;
}

static void trial_release(struct isolation_trial *trial)
{
	places_release(&trial->places);
	free(trial->writable);
}

/* Where there is none, or none for this user, nothing will be in it. */
static void write_shared_memory(const struct isolation_trial *trial)
{
	char *path = trial_file(ISOLATION_SHARED_MEMORY, trial->owner);

	if (trial->spec->kind == ISOLATION_VIEW)
		(void)write_file(path);
	free(path);
}

static bool has_own_memory(const struct isolation_trial *trial)
{
	char *path = trial_file(ISOLATION_SHARED_MEMORY, trial->owner);
	bool found = unlink(path) == 0;

	free(path);
	return trial->spec->kind == ISOLATION_VIEW && !found;
}

static int trial_run(const struct isolation_trial *trial, struct error *err)
{
	int result = isolation_enter(trial->spec, err);
	char *path = trial_file(trial->spec->scratch, trial->owner);

	assert(trial->owner > 0);
	for (size_t i = 0; i < trial->places.count && result == 0; i++)
		if (trial->writable[i])
			result = try_guarded(trial->spec,
					     trial->places.items[i].path,
					     trial->owner, err);
	if (result == 0)
		result = write_file(path);
	if (result == 0)
		write_shared_memory(trial);
	if (result < 0 && err->code == 0)
		(void)error_set(err, result, "no writing to %s (%s)",
				trial->spec->scratch, strerror(-result));
	free(path);
	return result;
}

static void trial_child(const struct isolation_trial *trial, int report,
			pid_t parent) __attribute__((noreturn));

static void trial_child(const struct isolation_trial *trial, int report,
			pid_t parent)
{
	struct error err = ERROR_INIT;
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	/* Held fast, it may outlive autofit: nobody should wait for its end. */
	for (int fd = 0; fd <= 2; fd++)
		(void)dup2(null, fd);
	if (getppid() == parent) {
		err.code = trial_run(trial, &err);
		(void)!write(report, &err, sizeof(err));
	}
	_exit(0);
}

static bool is_interrupted(const struct isolation_spec *spec)
{
	return spec->interrupted && spec->interrupted();
}

/* The pipe tells of the answer, and of the end: it is closed with it. */
static bool wait_for_pipe(const struct isolation_spec *spec, int fd, int64_t ms)
{
	struct pollfd waiting = { .fd = fd, .events = POLLIN };
	int64_t end = clock_ms() + ms;

	while (clock_ms() < end) {
		int got = poll(&waiting, 1, TRIAL_LOOK_MS);

		if (got > 0)
			return true;
		if ((got < 0 && errno != EINTR) || is_interrupted(spec))
			return false;
	}
	return false;
}

/*
 * By its pid and at once, so that no loop of the caller's learns of it. One
 * that a dead file server holds fast is left to whoever inherits it.
 */
static void end_child(const struct isolation_spec *spec, pid_t pid, int report)
{
	char rest[64];
	bool ended = false;

	assert(pid > 0 && report >= 0);
	(void)kill(pid, SIGKILL);
	while (!ended && wait_for_pipe(spec, report, TRIAL_END_MS))
		ended = read(report, rest, sizeof(rest)) <= 0;
	while (waitpid(pid, NULL, ended ? 0 : WNOHANG) < 0 && errno == EINTR)
		;
}

static void isolation_read_answer(const struct isolation_spec *spec, int report,
				  struct error *err)
{
	if (!wait_for_pipe(spec, report, TRIAL_MS)) {
		(void)error_set(err, -ETIMEDOUT, "no answer within %d s",
				TRIAL_MS / 1000);
		return;
	}
	if (read(report, err, sizeof(*err)) != (ssize_t)sizeof(*err))
		(void)error_set(err, -ECHILD, "it was killed while trying");
}

static int isolation_start_child(const struct isolation_trial *trial,
				 pid_t *pid, int *answer)
{
	pid_t parent = getpid();
	sigset_t before, all;
	int report[2];
	int result;

	if (pipe2(report, O_CLOEXEC) < 0)
		return -errno;
	/* No handler of autofit's may run in the child. */
	(void)sigfillset(&all);
	(void)sigprocmask(SIG_SETMASK, &all, &before);
	*pid = fork();
	if (*pid == 0)
		trial_child(trial, report[1], parent);
	result = *pid < 0 ? -errno : 0;
	(void)sigprocmask(SIG_SETMASK, &before, NULL);
	(void)close(report[1]);
	*answer = report[0];
	if (result < 0)
		(void)close(report[0]);
	return result;
}

/* What the child wrote is to be there for real, or not. It is removed. */
static void check_for_real(const struct isolation_trial *trial,
			   const char *folder, bool wanted, struct error *err)
{
	char *path = trial_file(folder, trial->owner);
	bool found = unlink(path) == 0;

	free(path);
	if (err->code == 0 && found != wanted)
		(void)error_set(err, -EXDEV,
				wanted ? "%s is not written for real"
				       : "%s is written for real",
				folder);
}

static int isolation_try_kind(const struct isolation_spec *spec,
			      struct isolation_choice *choice,
			      struct error *err)
{
	char *layers = xasprintf("%s/view", spec->scratch);
	struct isolation_trial trial;
	pid_t pid = -1;
	int report = -1;
	int result;

	trial_init(&trial, spec);
	result = isolation_start_child(&trial, &pid, &report);
	if (result < 0) {
		(void)error_set_errno(err, result, "cannot start a process");
	} else {
		isolation_read_answer(spec, report, err);
		end_child(spec, pid, report);
		(void)close(report);
	}
	for (size_t i = 0; i < trial.places.count; i++)
		if (trial.writable[i])
			check_for_real(&trial, trial.places.items[i].path,
				       false, err);
	check_for_real(&trial, spec->scratch, true, err);
	choice->has_own_memory = has_own_memory(&trial);
	paths_remove_tree(layers);
	trial_release(&trial);
	free(layers);
	return err->code;
}

void isolation_choose(struct isolation_choice *choice,
		      const struct isolation_spec *spec)
{
	struct isolation_spec asked = *spec;

	assert(spec->kind <= ISOLATION_COMPARE);
	memset(choice, 0, sizeof(*choice));
	for (; asked.kind < ISOLATION_COMPARE; asked.kind++) {
		struct error err = ERROR_INIT;

		if (!is_interrupted(spec) &&
		    isolation_try_kind(&asked, choice, &err) == 0)
			break;
		choice->has_own_memory = false;
		if (!choice->why_not[0])
			(void)snprintf(choice->why_not, sizeof(choice->why_not),
				       "%s", err.message);
	}
	assert(asked.kind < ISOLATION_KINDS);
	choice->kind = asked.kind;
}
