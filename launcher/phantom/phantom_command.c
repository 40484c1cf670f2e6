/* `autofit phantom CARD -- command`: once, untouched, on a phantom card. */
/* SPDX-License-Identifier: MIT */
#include "launcher/phantom/phantom_command.h"

#include "base/alloc.h"
#include "base/log.h"
#include "base/strbuf.h"
#include "base/strlist.h"
#include "launcher/options/exitcode.h"
#include "launcher/phantom/phantom_report.h"
#include "launcher/request/exec_command.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* The child's own end; as exec would have given it. */
static void become_the_command(const struct options *options,
			       const struct process_state *state)
{
	struct strlist environment = STRLIST_INIT;
	const struct strlist nothing = STRLIST_INIT;

	for (char **item = environ; *item; item++)
		strlist_add(&environment, *item);
	phantom_environment(options->target.phantom_folder, &environment);
	environ = environment.items;
	_exit(exec_command(state, &options->command, &nothing));
}

/* As a shell tells it. */
static int code_of(int status)
{
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status)
				   : WEXITSTATUS(status);
}

/* Ctrl-C is the command's: this process lives to say what it saw. */
static int run(const struct options *options, const struct process_state *state)
{
	void (*interrupt)(int) = signal(SIGINT, SIG_IGN);
	void (*quit)(int) = signal(SIGQUIT, SIG_IGN);
	int status = 0;
	pid_t pid;
	pid_t ended;

	(void)fflush(NULL);
	pid = fork();
	if (pid == 0)
		become_the_command(options, state);
	do
		ended = pid < 0 ? -1 : waitpid(pid, &status, 0);
	while (ended < 0 && pid > 0 && errno == EINTR);
	(void)signal(SIGINT, interrupt);
	(void)signal(SIGQUIT, quit);
	if (ended < 0) {
		log_error("cannot start the command: %s", strerror(errno));
		return -1;
	}
	return code_of(status);
}

/* A command that could not be started has had its message. */
static bool was_started(int code)
{
	return code != EXIT_CANNOT_EXECUTE && code != EXIT_NOT_FOUND;
}

static int tell_seen(const struct options *options, int code)
{
	const struct options_target *target = &options->target;
	struct phantom_seen *seen = xcalloc(1, sizeof(*seen));
	struct strbuf text = STRBUF_INIT;
	char *refusal;
	int result;

	(void)phantom_look(target->phantom_folder, seen, NULL);
	result = phantom_report_code(target, seen, code);
	refusal = phantom_report_refusal(seen, code != 0);
	if (seen->usage_count) {
		phantom_report(&text, target, seen, code);
		(void)fputs(strbuf_text(&text), stderr);
	}
	if (!seen->usage_count && !was_started(code))
		result = code;
	/* Whatever ended the program has said why. */
	else if (refusal && !seen->notes[SIM_NOTE_REFUSED].count)
		log_error("%s", refusal);
	strbuf_release(&text);
	free(refusal);
	free(seen);
	return result;
}

int phantom_command(const struct options *options,
		    const struct process_state *state)
{
	int code = run(options, state);

	return code < 0 ? EXIT_AUTOFIT_FAILED : tell_seen(options, code);
}
