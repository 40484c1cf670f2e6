/* A tuning: probes until the plan is done, then the record. */
/* SPDX-License-Identifier: MIT */
#include "launcher/tuning/session.h"

#include "base/alloc.h"
#include "base/log.h"
#include "base/strbuf.h"
#include "configs/records/record_split.h"
#include "launcher/command/parts/knob.h"
#include "launcher/command/rewrite/rewrite.h"
#include "launcher/command/text/knob_kind.h"
#include "launcher/options/exitcode.h"
#include "launcher/tuning/session_estimate.h"
#include "launcher/tuning/session_internal.h"
#include "search/accumulation.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define EXACT_UP_TO 64
/* Runs of one command spread by this much on a CPU (measured). */
#define HINT_SHARE 0.04

static void end_with_error(struct session *session, const struct error *err)
{
	session_end(session, OUTCOME_ERROR, EXIT_AUTOFIT_FAILED,
		    xstrdup(err->message));
}

/*
 * By the estimate, or else the user's own size; a record of a similar command
 * knows better than both.
 */
static void set_start(struct session *session, const struct record *hint)
{
	struct search_problem *problem = &session->plan.problem;
	int64_t own = session->request->command.micro_batch;

	problem->start = own > 0 ? own : 1;
	problem->recorded_misfit = 0;
	session_estimate(session->request, session->target, problem,
			 session->result);
	if (!hint)
		return;
	problem->estimated_bytes_per_sample = 0;
	/* With less room than then: the largest that was seen to fit in it. */
	if (hint->peak_bytes > session->target->limit_bytes) {
		const struct trial *trial = record_split_find(
			hint, hint->micro_batch, session->target->limit_bytes);

		if (trial)
			problem->start = trial->micro_batch;
		return;
	}
	problem->start = hint->micro_batch;
	session->hint_peak_bytes = hint->peak_bytes;
	/* What was too large then is so now, unless there is more room. */
	if (hint->limit_bytes >= session->target->limit_bytes &&
	    hint->smallest_misfit > hint->micro_batch)
		problem->recorded_misfit = hint->smallest_misfit;
}

static enum plan_mode mode_of(const struct options *options)
{
	/* Whoever tunes and launches gets one answer: grow comes first. */
	if (options->effective == EFFECTIVE_GROW)
		return PLAN_GROW;
	return options->subcommand == SUBCOMMAND_TUNE ? PLAN_LARGEST
						      : PLAN_KEEP;
}

static void set_plan(struct session *session)
{
	const struct options *options = session->request->options;
	const struct command *command = &session->request->command;
	struct plan *plan = &session->plan;

	plan->mode = mode_of(options);
	plan->strategy = search_strategy_find(options->strategy);
	plan->effective_batch = session->request->effective_batch;
	plan->world_size = command->world_size;
	plan->has_accumulation =
		!command->constraints.one_accum &&
		(command->knobs[KNOB_ACCUM].form != KNOB_ABSENT ||
		 command->knobs[KNOB_GLOBAL].form != KNOB_ABSENT);
	plan->accum_matters = command->preset->memory_grows_with_accum;
	plan->accum_multiple_of = command->constraints.accum_multiple_of;
	plan->effective_multiple_of =
		command->constraints.effective_multiple_of;
	plan->micro_divides = command->constraints.micro_divides;
	plan->problem.multiple_of =
		accumulation_multiple(options->micro_multiple_of,
				      command->constraints.micro_multiple_of);
	if (options->micro_multiple_of == 1)
		plan->problem.free_below =
			command->constraints.micro_free_below;
	plan->problem.max_micro = session->request->max_micro;
	plan->problem.exact_up_to = EXACT_UP_TO;
	plan->problem.tolerance = options->tolerance;
}

void session_note_fit(struct session *session, const struct trial *trial)
{
	if (!trial_fits(trial))
		return;
	if (session->first_good_seconds > 0)
		return;
	session->first_good_seconds = trial->seconds;
	session->first_good_work =
		(double)trial->micro_batch * (double)trial->grad_accum;
}

static struct plan_step next_step(struct session *session)
{
	struct trial *trials = probe_notes_trials(session->notes);
	struct plan_step step =
		plan_next(&session->plan, trials, session->notes->count);

	free(trials);
	session_ask_canary(session, &step);
	return step;
}

static size_t times_disturbed(const struct session *session, int64_t micro)
{
	size_t times = 0;

	for (size_t i = 0; i < session->notes->count; i++) {
		const struct trial *trial = &session->notes->items[i].trial;

		times += trial->micro_batch == micro &&
			 trial->verdict == VERDICT_DISTURBED;
	}
	return times;
}

static bool any_fits(const struct session *session)
{
	for (size_t i = 0; i < session->notes->count; i++)
		if (trial_fits(&session->notes->items[i].trial))
			return true;
	return false;
}

/*
 * Does the first error name something that only a probe has? Then the next
 * one does without that, and only that: whatever keeps a probe from the user's
 * files and accounts stays.
 */
static bool drop_an_addition(struct session *session, const char *error)
{
	/* An address sanitizer that must come first names the variable. */
	if (!session->without_preload &&
	    (strstr(error, "autofit_preload") || strstr(error, "LD_PRELOAD")))
		return session->without_preload = true;
	if (!session->without_hook &&
	    (strstr(error, "sitecustomize") || strstr(error, "AUTOFIT_")))
		return session->without_hook = true;
	if (session->without_args)
		return false;
	session->without_args =
		command_names_addition(&session->request->command, error);
	return session->without_args;
}

static enum turn after_failure(struct session *session,
			       const struct probe_report *report)
{
	struct strbuf message = STRBUF_INIT;

	if (report->isolation_errno) {
		session_end(session, OUTCOME_ERROR, EXIT_AUTOFIT_FAILED,
			    xasprintf("a probe was not started: %s%s%s",
				      strerror(report->isolation_errno),
				      *report->first_error ? "\n" : "",
				      report->first_error));
		return TURN_END;
	}
	if (report->exec_errno) {
		session_end(session, OUTCOME_COMMAND_FAILED,
			    report->exec_errno == ENOENT ? EXIT_NOT_FOUND
							 : EXIT_CANNOT_EXECUTE,
			    xasprintf("cannot run '%s': %s",
				      session->request->command.given.items[0],
				      strerror(report->exec_errno)));
		return TURN_END;
	}
	if (report->trial.steps == 0 &&
	    drop_an_addition(session, report->first_error))
		return TURN_AGAIN;
	strbuf_addf(&message, "%s, with micro-batch %lld\n", report->why,
		    (long long)report->trial.micro_batch);
	/* What it printed is of use only when it broke by itself. */
	if (report->trial.peak_is_lower_bound || !report->trial.steps)
		strbuf_adds(&message, report->first_error);
	if (report->hint)
		strbuf_addf(&message, "hint: %s\n", report->hint);
	session_end(session, OUTCOME_COMMAND_FAILED, EXIT_COMMAND_FAILED,
		    strbuf_detach(&message));
	return TURN_END;
}

/* Another peak at the recorded size: its misfit says nothing of this command.
 */
static void doubt_hint(struct session *session, const struct trial *trial)
{
	double ratio = (double)trial->peak_bytes /
		       ((double)session->hint_peak_bytes + 1);

	if (trial->micro_batch == session->plan.problem.start &&
	    (ratio < 1 - HINT_SHARE || ratio > 1 + HINT_SHARE))
		session->plan.problem.recorded_misfit = 0;
}

/* What a probe wrote where it must not ends all: more would, too. */
static bool has_written(struct session *session,
			const struct probe_report *report)
{
	struct error err = ERROR_INIT;

	if (probe_isolation_check(&session->shelter, report->refused, &err) ==
	    0)
		return false;
	/* No file is named: its own words have to do. */
	session_end(session, OUTCOME_REFUSED, EXIT_REFUSED,
		    report->refused && !*report->refused
			    ? xasprintf("%s\n%slog: %s", err.message,
					report->first_error, report->log)
			    : xstrdup(err.message));
	return true;
}

static enum turn after_probe(struct session *session,
			     const struct probe_report *report)
{
	const struct trial *trial = &report->trial;

	if (has_written(session, report) || session_must_end(session))
		return TURN_END;
	/* A size that nobody asked for may be one that the program refuses. */
	if (trial->verdict == VERDICT_FAILED && session->effect_check_micro &&
	    !report->isolation_errno)
		return TURN_GO_ON;
	if (trial->verdict == VERDICT_FAILED)
		return after_failure(session, report);
	if (trial->verdict == VERDICT_DISTURBED) {
		if (times_disturbed(session, trial->micro_batch) < 2)
			return TURN_AGAIN;
		session_end(session, OUTCOME_DISTURBED, EXIT_REFUSED,
			    xasprintf("a probe was disturbed twice: %s",
				      report->why));
		return TURN_END;
	}
	if (trial->verdict == VERDICT_TIMEOUT && !any_fits(session)) {
		session_end(
			session, OUTCOME_COMMAND_FAILED, EXIT_COMMAND_FAILED,
			xasprintf("the first probe did not come to a verdict: "
				  "%s\n%slog: %s",
				  report->why, report->first_error,
				  report->log));
		return TURN_END;
	}
	if (session_evaluation_is_too_big(session, trial))
		return TURN_END;
	if (session_sizes_are_idle(session)) {
		session_end_idle(session);
		return TURN_END;
	}
	session_note_words(session, report);
	doubt_hint(session, trial);
	session_note_fit(session, trial);
	return TURN_GO_ON;
}

static void keep_report(struct session *session, struct probe_report *report)
{
	struct strbuf text = STRBUF_INIT;
	struct error err = ERROR_INIT;

	probe_notes_add(session->notes, &report->trial, report->why,
			report->log);
	/* A probe without verdict is nothing to resume from. */
	if (report->trial.verdict != VERDICT_DISTURBED &&
	    report->trial.verdict != VERDICT_FAILED &&
	    journal_add(&session->journal,
			&session->notes->items[session->notes->count - 1],
			&err) < 0)
		log_warning("%s", err.message);
	if (session->request->options->quiet)
		return;
	report_probe(&text, session->style, session->result,
		     &session->notes->items[session->notes->count - 1]);
	session_print(&text);
	strbuf_release(&text);
}

void session_print_start(struct session *session)
{
	struct strbuf words = STRBUF_INIT;
	struct strbuf text = STRBUF_INIT;

	if (session->request->options->quiet)
		return;
	memory_target_words(session->target, &words);
	report_start(&text, session->style, session->result,
		     strbuf_text(&words));
	session_print(&text);
	strbuf_release(&text);
	strbuf_release(&words);
}

enum turn session_run(struct session *session, const struct plan_step *step)
{
	struct probe_report report = { .why = NULL };
	struct error err = ERROR_INIT;
	enum turn turn;
	int result = session_probe(session, step, &report, &err);

	if (result == 0 && report.host_used) {
		result = session_become_host(session, &err);
		/* It ran under the limits of a GPU training. */
		(void)session_rejudge(session, &report.trial,
				      session->target->limit_bytes);
	}
	if (result < 0) {
		if (!session_must_end(session))
			end_with_error(session, &err);
		probe_report_release(&report);
		return TURN_END;
	}
	/* A failure tells nothing of the device. */
	if (report.trial.verdict != VERDICT_FAILED &&
	    report.trial.verdict != VERDICT_DISTURBED)
		session->target->may_be_host = false;
	session_note_coverage(session, &report.trial);
	session_set_limits(session);
	session_judge_headroom(session, &report);
	keep_report(session, &report);
	turn = after_probe(session, &report);
	probe_report_release(&report);
	return turn;
}

static struct plan_step run_all(struct session *session)
{
	struct plan_step step = next_step(session);
	enum turn turn = TURN_GO_ON;

	while (step.action == PLAN_PROBE && turn != TURN_END &&
	       !session_must_end(session)) {
		/* Of this run: an earlier one that was cut short goes on. */
		if (session->probe_number >=
			    session->request->options->max_probes ||
		    session->notes->count >= SEARCH_TRIALS_MAX) {
			session->out_of_time = true;
			break;
		}
		turn = session_run(session, &step);
		if (turn == TURN_GO_ON)
			step = next_step(session);
		if (turn == TURN_GO_ON && step.action == PLAN_NOTHING_FITS &&
		    session_doubts_words(session))
			step = next_step(session);
	}
	return step;
}

static void search(struct session *session)
{
	struct plan_step step = { .action = PLAN_NOTHING_FITS };

	if (session_check(session))
		return;
	if (!session->result->message)
		step = run_all(session);
	session->guard->must_end = NULL;
	(void)session_looks_up(session);
	session_conclude(session, &step);
}

void session_tune(const struct session_setup *setup, struct result *result)
{
	struct session session = {
		.request = setup->request,
		.target = setup->target,
		.guard = setup->guard,
		.lease = setup->lease,
		.match = setup->match,
		.style = setup->style,
		.result = result,
		.notes = &result->record.probes,
		.journal = { .fd = -1 },
		.doing = "probing",
	};
	bool has_hint = setup->match->grade != RECORD_NONE;
	struct error err = ERROR_INIT;
	int code;

	session.started_ns = uv_hrtime();
	set_plan(&session);
	session_set_limits(&session);
	set_start(&session, has_hint ? &setup->match->record : NULL);
	if (has_hint) {
		result->record_grade = record_grade_name(setup->match->grade);
		free(result->difference);
		result->difference = xstrdup(
			setup->match->grade == RECORD_EXACT
				? "it does not answer all that is asked now"
				: setup->match->difference);
	}
	code = session_open(&session, &err);
	if (code < 0 && !result->message) {
		if (code == -EPERM)
			session_end(&session, OUTCOME_REFUSED, EXIT_REFUSED,
				    xstrdup(err.message));
		else
			end_with_error(&session, &err);
	} else if (code == 0) {
		session_print_start(&session);
		session.guard->context = &session;
		session.guard->must_end = session_looks_up;
		search(&session);
		session.guard->must_end = NULL;
	}
	result->probes_run = (size_t)session.probe_number;
	result->seconds = (double)(uv_hrtime() - session.started_ns) / 1e9;
	session_release(&session);
}
