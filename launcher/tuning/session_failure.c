/* A probe whose command failed: whose failure that is, and what follows. */
/* SPDX-License-Identifier: MIT */
#include "launcher/tuning/session_failure.h"

#include "base/alloc.h"
#include "launcher/options/exitcode.h"
#include "launcher/tuning/session_answer.h"
#include "probes/verdict/verdict_memory.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The line of an error that names it: its last. The caller frees. */
static char *error_line(const char *error)
{
	size_t end = strlen(error);
	size_t start;

	while (end && error[end - 1] == '\n')
		end--;
	start = end;
	while (start && error[start - 1] != '\n')
		start--;
	assert(start <= end);
	return xasprintf("%.*s", (int)(end - start), error + start);
}

/* Its words may speak of memory without being known: that is not denied. */
static bool may_be_memory(const struct probe_outcome *outcome)
{
	return verdict_shows_memory(&outcome->evidence) ||
	       strcasestr(outcome->first_error, "memory");
}

/*
 * Another size than the user's own fails, and not for want of memory, where a
 * smaller one fits: the climb ends there. Of the user's own size, and where
 * nothing fits, a failure is the command's.
 */
static void end_climb(struct session *session, struct probe_report *report)
{
	struct session_trials *trials = &session->trials;
	const struct command *command = &session->given.request->command;
	struct trial *trial = &report->outcome.trial;
	char *line, *text;

	assert(trial->verdict == VERDICT_FAILED);
	if (trial->micro_batch == command->batch.micro_batch ||
	    !session_trials_outlive(trials, trial))
		return;
	line = error_line(report->outcome.first_error);
	text = xasprintf("fails%s: %s%s%s",
			 may_be_memory(&report->outcome)
				 ? ""
				 : ", but not for want of memory",
			 report->why, *line ? ": " : "", line);
	free(line);
	free(report->why);
	report->why = text;
	trial->verdict = VERDICT_TOO_BIG;
}

/*
 * Does the first error name something that only a probe has? Then the next
 * one does without that, and only that: whatever keeps a probe from the user's
 * files and accounts stays.
 */
static bool drop_an_addition(struct probe_kit *kit,
			     const struct command *command, const char *error)
{
	/* An address sanitizer that must come first names the variable. */
	if (!kit->without_preload &&
	    (strstr(error, "autofit_preload") || strstr(error, "LD_PRELOAD")))
		return kit->without_preload = true;
	if (!kit->without_hook &&
	    (strstr(error, "sitecustomize") || strstr(error, "autofit_hook") ||
	     strstr(error, "AUTOFIT_")))
		return kit->without_hook = true;
	/* In a view its own folder of results is as safe. */
	if (!kit->without_output &&
	    kit->isolation.choice.kind == ISOLATION_VIEW &&
	    (strstr(error, kit->isolation.space.folder) ||
	     command_names_output(command, error)))
		return kit->without_output = true;
	if (kit->without_args)
		return false;
	return kit->without_args = command_names_addition(command, error);
}

/* The command ran, and failed: neither autofit nor the exec did. */
static bool is_of_command(const struct probe_outcome *outcome)
{
	const struct evidence_end *end = &outcome->evidence.end;

	return outcome->trial.verdict == VERDICT_FAILED &&
	       !end->isolation_errno && !end->exec_errno;
}

/* It failed by what autofit added, which the next probe goes without. */
static bool fails_by_addition(struct session *session,
			      const struct probe_outcome *outcome)
{
	return is_of_command(outcome) && outcome->trial.steps == 0 &&
	       drop_an_addition(&session->kit, &session->given.request->command,
				outcome->first_error);
}

/*
 * It had fewer passes than the run is to have, which a program may refuse, as
 * one that asks for some samples a step: from here on probes have all of them.
 */
static bool may_fail_by_passes(struct session *session,
			       const struct probe_outcome *outcome)
{
	struct plan *plan = &session->plan;
	const struct trial *trial = &outcome->trial;

	if (!is_of_command(outcome) || trial->steps > 0 ||
	    plan->accum_matters ||
	    trial->grad_accum >=
		    plan_probe(plan, trial->micro_batch).final_accum)
		return false;
	return plan->accum_matters = true;
}

void session_failure_place(struct session *session, struct probe_report *report)
{
	struct probe_outcome *outcome = &report->outcome;

	report->drops_addition = fails_by_addition(session, outcome) ||
				 may_fail_by_passes(session, outcome);
	if (is_of_command(outcome) && !report->drops_addition)
		end_climb(session, report);
}

/*
 * Another size than the user's own fails: is it the command's failure, or the
 * size's? The own size tells, unless it has told.
 */
static bool own_may_tell(const struct session *session,
			 const struct trial *failure)
{
	int64_t own = session->given.request->command.batch.micro_batch;
	const struct trial *last =
		own ? probe_notes_last(session->trials.notes, own) : NULL;

	return own && failure->micro_batch != own &&
	       (!last || (trial_fits(last) && !trial_is_confirmed(last)));
}

/* A refusal that names no file, as of who binds a socket to a path. */
static bool is_nameless_refusal(const char *error)
{
	const char *words = strerror(EACCES);
	const char *at = strstr(error, words);

	return at && (at[strlen(words)] == '\n' || !at[strlen(words)]);
}

/* Data that somebody gave autofit for the command, as by a pipe. */
static bool input_is_waiting(void)
{
	struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };
	struct stat info;

	if (fstat(STDIN_FILENO, &info) < 0)
		return false;
	if (S_ISREG(info.st_mode))
		return lseek(STDIN_FILENO, 0, SEEK_CUR) < info.st_size;
	return S_ISFIFO(info.st_mode) && poll(&input, 1, 0) == 1 &&
	       (input.revents & POLLIN);
}

static const char *hint_for(const struct session *session,
			    const struct probe_outcome *outcome)
{
	if (session->kit.isolation.choice.kind == ISOLATION_LANDLOCK &&
	    is_nameless_refusal(outcome->first_error))
		return "probes make files and sockets only in scratch and "
		       "caches (Landlock): --allow-writes PATH names another "
		       "folder";
	if (!outcome->hint && outcome->trial.steps == 0 && input_is_waiting())
		return "if it reads standard input: probes have none, data "
		       "must come from a file";
	return outcome->hint;
}

enum session_turn session_failure_follow(struct session *session,
					 const struct probe_report *report)
{
	const struct command *command = &session->given.request->command;
	const struct probe_outcome *outcome = &report->outcome;
	const struct evidence_end *end = &outcome->evidence.end;
	const struct trial *trial = &outcome->trial;
	const char *hint = hint_for(session, outcome);
	struct strbuf message = STRBUF_INIT;

	assert(trial->verdict == VERDICT_FAILED);
	if (end->isolation_errno)
		return session_end(session, OUTCOME_ERROR, EXIT_AUTOFIT_FAILED,
				   xasprintf("a probe was not started: %s%s%s",
					     strerror(end->isolation_errno),
					     *outcome->first_error ? "\n" : "",
					     outcome->first_error));
	if (end->exec_errno)
		return session_end(session, OUTCOME_COMMAND_FAILED,
				   end->exec_errno == ENOENT
					   ? EXIT_NOT_FOUND
					   : EXIT_CANNOT_EXECUTE,
				   xasprintf("cannot run '%s': %s",
					     command->given->items[0],
					     strerror(end->exec_errno)));
	if (report->drops_addition)
		return SESSION_AGAIN;
	if (own_may_tell(session, trial)) {
		session->asks_own = true;
		return SESSION_GO_ON;
	}
	session->result->is_not_memory = !may_be_memory(outcome);
	strbuf_adds(&message, report->why);
	if (!command_rows_are_open(command))
		strbuf_addf(&message, ", with micro-batch %lld",
			    (long long)trial->micro_batch);
	strbuf_addch(&message, '\n');
	/* What it printed is of use only when it broke by itself. */
	if (trial->peak_is_lower_bound || !trial->steps)
		strbuf_adds(&message, outcome->first_error);
	if (hint)
		strbuf_addf(&message, "hint: %s\n", hint);
	return session_end(session, OUTCOME_COMMAND_FAILED, EXIT_COMMAND_FAILED,
			   strbuf_detach(&message));
}
