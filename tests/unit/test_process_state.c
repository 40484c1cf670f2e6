/* What the process came in with is kept, and given back as it was. */
/* SPDX-License-Identifier: MIT */
/* USES base configs probes */
#include "probes/process/process_state.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define LISTED_MAX 4
/* The C library keeps 32 and 33 to itself. */
#define FIRST_OF_LIBRARY 32
#define LAST_OF_LIBRARY 33

struct row {
	const char *name;
	int ignored[LISTED_MAX];
	int blocked[LISTED_MAX];
	int closed[LISTED_MAX]; /* descriptor + 1 */
	int subreaper;
};

static const struct row rows[] = {
	{ .name = "plain" },
	{ .name = "hangup ignored (nohup)", .ignored = { SIGHUP } },
	{ .name = "keys ignored", .ignored = { SIGINT, SIGQUIT, SIGTSTP } },
	{ .name = "broken pipe ignored", .ignored = { SIGPIPE } },
	{ .name = "children not waited for", .ignored = { SIGCHLD } },
	{ .name = "realtime ignored", .ignored = { 40, 64 } },
	{ .name = "some blocked", .blocked = { SIGUSR1, SIGCHLD, 50 } },
	{ .name = "both", .ignored = { SIGTERM }, .blocked = { SIGTERM } },
	{ .name = "subreaper", .subreaper = 1 },
	{ .name = "stdin closed", .closed = { 1 } },
	{ .name = "stdout closed", .closed = { 2 } },
	{ .name = "stderr closed", .closed = { 3 } },
	{ .name = "stdin and stderr closed", .closed = { 1, 3 } },
	{ .name = "all closed", .closed = { 1, 2, 3 } },
	{ .name = "everything",
	  .ignored = { SIGHUP, SIGPIPE, SIGCHLD, SIGTERM },
	  .blocked = { SIGINT, SIGALRM, 64 },
	  .closed = { 1, 2, 3 },
	  .subreaper = 1 },
};

/* What of a process the module is about. */
struct picture {
	bool ignored[PROCESS_SIGNALS];
	bool blocked[PROCESS_SIGNALS];
	bool handled[PROCESS_SIGNALS];
	int subreaper;
	int fd_flags[3]; /* -1: closed */
};

static bool is_listed(const int *list, int number)
{
	for (size_t i = 0; i < LISTED_MAX; i++)
		if (list[i] == number)
			return true;
	return false;
}

static bool of_library(int number)
{
	return number >= FIRST_OF_LIBRARY && number <= LAST_OF_LIBRARY;
}

static struct picture look(void)
{
	struct picture picture;
	struct sigaction action;
	sigset_t mask;

	memset(&picture, 0, sizeof(picture));
	(void)sigprocmask(SIG_SETMASK, NULL, &mask);
	for (int number = 1; number < PROCESS_SIGNALS; number++) {
		if (of_library(number) || sigaction(number, NULL, &action) < 0)
			continue;
		picture.ignored[number] = action.sa_handler == SIG_IGN;
		picture.handled[number] = action.sa_handler != SIG_IGN &&
					  action.sa_handler != SIG_DFL;
		picture.blocked[number] = sigismember(&mask, number) == 1;
	}
	(void)prctl(PR_GET_CHILD_SUBREAPER, &picture.subreaper, 0, 0, 0);
	for (int fd = 0; fd < 3; fd++)
		picture.fd_flags[fd] = fcntl(fd, F_GETFD);
	return picture;
}

static void enter(const struct row *row)
{
	sigset_t mask;

	(void)sigemptyset(&mask);
	for (int number = 1; number < PROCESS_SIGNALS; number++) {
		if (of_library(number))
			continue;
		(void)signal(number, is_listed(row->ignored, number) ? SIG_IGN
								     : SIG_DFL);
		if (is_listed(row->blocked, number))
			(void)sigaddset(&mask, number);
	}
	(void)sigprocmask(SIG_SETMASK, &mask, NULL);
	(void)prctl(PR_SET_CHILD_SUBREAPER, row->subreaper, 0, 0, 0);
	for (int fd = 0; fd < 3; fd++)
		if (is_listed(row->closed, fd + 1))
			(void)close(fd);
}

static void on_signal(int number)
{
	(void)number;
}

/* What a tuning does in between: handlers, a full mask, a subreaper. */
static void make_a_mess(const struct row *row)
{
	sigset_t all;

	for (int number = 1; number < PROCESS_SIGNALS; number++)
		if (!of_library(number))
			(void)signal(number, number % 2 ? on_signal : SIG_IGN);
	(void)sigfillset(&all);
	(void)sigprocmask(SIG_SETMASK, &all, NULL);
	(void)prctl(PR_SET_CHILD_SUBREAPER, !row->subreaper, 0, 0, 0);
}

static bool is_null_device(int fd)
{
	struct stat info;

	return fstat(fd, &info) == 0 && S_ISCHR(info.st_mode) &&
	       info.st_rdev == makedev(1, 3);
}

static const char *check_saved(const struct row *row,
			       const struct process_state *state,
			       const struct picture *before)
{
	struct picture now = look();

	for (int number = 1; number < PROCESS_SIGNALS; number++)
		if (process_state_ignores(state, number) !=
		    before->ignored[number])
			return "an ignored signal is not told";
	if (!now.ignored[SIGPIPE])
		return "a broken pipe would end autofit";
	for (int fd = 0; fd < 3; fd++) {
		if (!is_listed(row->closed, fd + 1)) {
			if (now.fd_flags[fd] != before->fd_flags[fd])
				return "an open descriptor was changed";
		} else if (now.fd_flags[fd] != FD_CLOEXEC ||
			   !is_null_device(fd)) {
			return "a closed descriptor is not filled";
		}
	}
	return NULL;
}

static const char *check_restored(const struct picture *before)
{
	struct picture now = look();

	if (memcmp(now.handled, before->handled, sizeof(now.handled)) != 0)
		return "a handler is left";
	if (memcmp(now.ignored, before->ignored, sizeof(now.ignored)) != 0)
		return "the ignored signals differ";
	if (memcmp(now.blocked, before->blocked, sizeof(now.blocked)) != 0)
		return "the mask differs";
	if (now.subreaper != before->subreaper)
		return "the subreaper flag differs";
	return NULL;
}

static const char *save_and_restore(const struct row *row)
{
	struct process_state state;
	struct picture before;
	const char *wrong;

	enter(row);
	before = look();
	if (process_state_save(&state, NULL) != 0)
		return "cannot save";
	wrong = check_saved(row, &state, &before);
	if (wrong)
		return wrong;
	make_a_mess(row);
	process_state_restore(&state);
	return check_restored(&before);
}

/* In a child, as the test itself needs its signals and descriptors. */
static void what_came_in_is_given_back(void **unused)
{
	(void)unused;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		int report = dup(STDERR_FILENO);
		int status;
		pid_t pid = fork();

		assert_true(pid >= 0);
		if (pid == 0) {
			const char *wrong = save_and_restore(&rows[i]);

			if (wrong)
				(void)dprintf(report, "%s: %s\n", rows[i].name,
					      wrong);
			_exit(wrong ? 1 : 0);
		}
		(void)close(report);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFEXITED(status));
		assert_int_equal(WEXITSTATUS(status), 0);
	}
}

/* No descriptor can be had: told, instead of a file landing on number 0. */
static void a_descriptor_that_cannot_be_filled_is_an_error(void **unused)
{
	const struct rlimit none = { 0, 0 };
	int status;
	pid_t pid;

	(void)unused;
	pid = fork();
	if (pid == 0) {
		struct process_state state;
		struct error err = ERROR_INIT;

		(void)close(0);
		(void)setrlimit(RLIMIT_NOFILE, &none);
		_exit(process_state_save(&state, &err) == -EMFILE &&
				      strncmp(err.message,
					      "cannot open /dev/null", 21) == 0
			      ? 0
			      : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_came_in_is_given_back),
		cmocka_unit_test(
			a_descriptor_that_cannot_be_filled_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
