/* What follows from the outcome of a probe. */
/* SPDX-License-Identifier: MIT */
#include "launcher/tuning/session_turn.h"

#include "base/alloc.h"
#include "launcher/options/exitcode.h"
#include "launcher/phantom/phantom_trial.h"
#include "launcher/report/report_style.h"
#include "launcher/request/memory_target_words.h"
#include "launcher/tuning/effect/size_doubt.h"
#include "launcher/tuning/isolation/probe_writes.h"
#include "launcher/tuning/session_answer.h"
#include "launcher/tuning/session_failure.h"
#include "launcher/tuning/session_limits.h"
#include "launcher/tuning/session_meaning.h"
#include "launcher/tuning/session_probe.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Runs of one command spread by this much on a CPU (measured). */
#define HINT_SHARE 0.04

void session_turn_print_start(const struct session *session)
{
	struct strbuf words = STRBUF_INIT;
	struct strbuf text = STRBUF_INIT;

	if (session->given.request->options->output.quiet)
		return;
	memory_target_words(session->given.target, &words);
	report_start(&text, session->given.style, session->result,
		     strbuf_text(&words));
	session_print(&text);
	strbuf_release(&text);
	strbuf_release(&words);
}

/* One line to the user. */
static void session_say(const struct session *session, const char *words)
{
	if (!session->given.request->options->output.quiet)
		(void)fprintf(stderr, "autofit: %s\n", words);
}

/* It says that it fits, and did not run the size that it was given. */
static void doubt_size(struct session *session, struct trial *trial, char **why)
{
	struct probe_notes *notes = session->trials.notes;
	struct trial *trials = probe_notes_trials(notes);
	struct strbuf words = STRBUF_INIT;
	const struct trial *below;
	enum size_doubt doubt =
		size_doubt_of(trials, notes->count, trial, &below);

	/* A size that is read as another one is not short of data. */
	if (doubt == SIZE_SHORT && session_meaning_differs(session, trial))
		doubt = SIZE_TAKEN;
	if (doubt != SIZE_TAKEN) {
		free(*why);
		size_doubt_words(doubt, below, trial, &words);
		*why = strbuf_detach(&words);
		trial->verdict = VERDICT_TOO_BIG;
	}
	free(trials);
}

/* Another peak at the recorded size: the record's misfit says nothing of this
 * command. */
static void doubt_hint(struct session *session, const struct trial *trial)
{
	double ratio = (double)trial->peak_bytes /
		       ((double)session->hint_peak_bytes + 1);

	if (trial->micro_batch == session->plan.problem.start &&
	    (ratio < 1 - HINT_SHARE || ratio > 1 + HINT_SHARE))
		session->plan.problem.recorded_misfit = 0;
}

/* "--per_device_eval_batch_size" and its like: as the user writes it, else as
 * the framework calls it; NULL. */
static const char *evaluation_flag(const struct command *command)
{
	const struct strlist *lists[] = { command_argv(command),
					  &command->preset->knobs.decoys };

	for (size_t i = 0; i < 2; i++)
		for (size_t j = 0; j < lists[i]->count; j++) {
			const char *name = lists[i]->items[j];

			if (name[0] == '-' && strstr(name, "batch") &&
			    (strstr(name, "eval") || strstr(name, "valid") ||
			     strstr(name, "test")))
				return name;
		}
	return NULL;
}

/* An evaluation needs the same whatever the training's size. */
static enum session_turn end_by_evaluation(struct session *session,
					   const struct trial *trial,
					   const struct trial *other)
{
	const char *flag = evaluation_flag(&session->given.request->command);

	return session_end(
		session, OUTCOME_NOTHING_FITS, EXIT_NOTHING_FITS,
		xasprintf("memory ran out in the evaluation, with micro-batch "
			  "%lld and %lld alike: it is the evaluation that does "
			  "not fit; lower %.*s",
			  (long long)other->micro_batch,
			  (long long)trial->micro_batch,
			  flag ? (int)strcspn(flag, "=") : 100,
			  flag ? flag : "its batch size"));
}

/*
 * A write where a probe must not write ends all: the next would write, too. One
 * that was done keeps the command from its start, whatever was asked for.
 */
static bool has_written(struct session *session,
			const struct probe_report *report)
{
	const char *refused = report->outcome.refused_path;
	struct error err = ERROR_INIT;
	int code = probe_writes_check(&session->kit.isolation, refused, &err);

	guardian_note(&session->kit.guardian, "");
	if (code == 0)
		return false;
	session->result->has_written = code == -EUCLEAN;
	/* No file is named: its own words have to do. */
	(void)session_end(session, OUTCOME_REFUSED, EXIT_REFUSED,
			  refused && !*refused
				  ? xasprintf("%s\n%slog: %s", err.message,
					      report->outcome.first_error,
					      report->log)
				  : xstrdup(err.message));
	return true;
}

/* Nothing of it was started, but the run's would be, and no probe shows it. */
static bool would_have_left(struct session *session,
			    const struct probe_report *report)
{
	if (!report->called)
		return false;
	(void)session_end(
		session, OUTCOME_REFUSED, EXIT_REFUSED,
		xasprintf("the command calls '%s', which does its work outside "
			  "of a probe; it was not started. Put autofit in "
			  "front of what trains, and the call around it; or "
			  "--no-probe starts the command as it is",
			  report->called));
	return true;
}

/* A write that was only refused may be of what was called. */
bool session_turn_has_left(struct session *session,
			   const struct probe_report *report)
{
	bool has_ended = has_written(session, report);

	if (session->result->has_written)
		return true;
	return would_have_left(session, report) || has_ended;
}

static enum session_turn after_probe(struct session *session,
				     const struct probe_report *report)
{
	const struct probe_outcome *outcome = &report->outcome;
	const struct trial *trial = &outcome->trial;
	struct session_trials *trials = &session->trials;
	const struct trial *other;
	enum effect_check_state effect;

	if (session_turn_has_left(session, report) ||
	    session_loop_must_end(&session->loop))
		return SESSION_END;
	session->asks_own = false;
	if (session_meaning_ends(session, trial, outcome->opened))
		return SESSION_END;
	/* A size that nobody asked for may be one that the program refuses. */
	if (trial->verdict == VERDICT_FAILED && session->effect_check_micro &&
	    !outcome->evidence.end.isolation_errno)
		return SESSION_GO_ON;
	if (trial->verdict == VERDICT_FAILED)
		return session_failure_follow(session, report);
	if (trial->verdict == VERDICT_DISTURBED) {
		if (session_trials_disturbed(trials, trial->micro_batch) < 2)
			return SESSION_AGAIN;
		return session_end(session, OUTCOME_DISTURBED, EXIT_REFUSED,
				   xasprintf("a probe was disturbed twice: %s",
					     report->why));
	}
	if (trial->verdict == VERDICT_TIMEOUT &&
	    !session_trials_largest_fit(trials))
		return session_end(
			session, OUTCOME_COMMAND_FAILED, EXIT_COMMAND_FAILED,
			xasprintf("the first probe did not come to a verdict: "
				  "%s\n%s",
				  report->why, outcome->first_error));
	other = session_trials_evaluation(trials, trial->micro_batch);
	if (other && trial_is_out_of_memory(trial) &&
	    trial->phase == PHASE_EVAL)
		return end_by_evaluation(session, trial, other);
	effect = session_effect_check(session, NULL).state;
	if (effect == EFFECT_NO_EFFECT && session_trials_doubt_output(trials)) {
		session->awaits_steps = true;
		session_say(session, "sizes made no difference, so that steps "
				     "of the output may come before the "
				     "training: each size is watched for "
				     "longer");
		return SESSION_GO_ON;
	}
	if (effect == EFFECT_CONTRADICTED || effect == EFFECT_NO_EFFECT)
		return session_end_without_effect(session);
	doubt_hint(session, trial);
	session_trials_learn(trials, trial, &outcome->evidence);
	return SESSION_GO_ON;
}

/*
 * GPUs that the command does not use bound it no longer. One that was stopped
 * at their limit is asked again: it showed nothing of its own.
 */
static bool note_used(struct session *session, struct probe_report *report)
{
	struct memory_target *target = session->given.target;
	struct trial *trial = &report->outcome.trial;
	uint64_t before = target->limit_bytes;

	if (!memory_target_note_used(target, session->given.request->options,
				     report->outcome.evidence.gpu.used_places))
		return false;
	if (target->limit_bytes <= before ||
	    trial->verdict != VERDICT_OVER_BUDGET)
		return true;
	trial->verdict = VERDICT_DISTURBED;
	free(report->why);
	report->why = xstrdup("it was stopped at the limit of a GPU that it "
			      "does not use");
	return true;
}

/* The first probe shows the device, each the limits; then its verdict stands.
 */
static int settle_limits(struct session *session, struct probe_report *report,
			 struct error *err)
{
	struct memory_target *target = session->given.target;
	struct trial *trial = &report->outcome.trial;
	enum limit_change change = LIMIT_SAME;
	bool has_verdict = trial->verdict != VERDICT_FAILED &&
			   trial->verdict != VERDICT_DISTURBED;
	const char *why;

	/* It ran under the limits of a GPU training, and used none. */
	if (target->may_be_host && has_verdict &&
	    report->outcome.evidence.memory.device == PROBE_HOST &&
	    trial->verdict != VERDICT_OOM_DEVICE &&
	    (trial_fits(trial) || trial_is_misfit(trial))) {
		int result = session_limits_become_host(session, err);

		if (result < 0)
			return result;
		change = LIMIT_MOVED;
		session_say(session, "the first probe used no GPU, so this "
				     "tunes host memory");
		session_turn_print_start(session);
	}
	/* A failure tells nothing of the device. */
	if (has_verdict)
		target->may_be_host = false;
	if (session_limits_note_coverage(session, trial))
		change = LIMIT_MOVED;
	if (has_verdict && !report->gpu && note_used(session, report))
		change = LIMIT_MOVED;
	session_limits_set(session);
	why = session_limits_rejudge(session, trial, change);
	if (why) {
		free(report->why);
		report->why = xstrdup(why);
	}
	return 0;
}

/* Whoever cancels a probe knows why it has no verdict. */
static void print_note(struct session *session, const struct probe_note *note,
		       const struct trial *trial)
{
	struct strbuf text = STRBUF_INIT;

	if (session->given.request->options->output.quiet ||
	    (session_loop_must_end(&session->loop) &&
	     trial->verdict == VERDICT_DISTURBED))
		return;
	report_style_measure(session->given.style);
	report_probe(&text, session->given.style, session->result, note);
	session_print(&text);
	strbuf_release(&text);
}

enum session_turn session_turn_fail(struct session *session,
				    const struct probe_report *report,
				    const struct error *err)
{
	if (!has_written(session, report) &&
	    !session_loop_must_end(&session->loop))
		(void)session_end(session, OUTCOME_ERROR, EXIT_AUTOFIT_FAILED,
				  xstrdup(err->message));
	return SESSION_END;
}

/* Into result and journal, and onto the terminal. */
static void note_trial(struct session *session,
		       const struct probe_report *report)
{
	const struct trial *trial = &report->outcome.trial;
	const struct evidence_end *end = &report->outcome.evidence.end;
	struct probe_note said = {
		.trial = *trial,
		.why = report->why,
		.log = report->log,
		.round = report->round,
	};
	const struct probe_note *note;

	if (report->gpu)
		(void)snprintf(said.gpu, sizeof(said.gpu), "%s", report->gpu);
	if (trial_fits(trial) && !report->gpu) {
		session->spread = report->outcome.evidence.gpu.spread;
		session->spread_micro = trial->micro_batch;
	}
	note = session_trials_add(&session->trials, &said);
	/* One that was not started says nothing of its size. */
	if (!end->exec_errno && !end->isolation_errno)
		session_trials_settle_failures(&session->trials);
	print_note(session, note, trial);
}

enum session_turn session_turn_conclude(struct session *session,
					struct probe_report *report)
{
	struct probe_outcome *outcome = &report->outcome;
	enum session_turn turn;
	struct error err = ERROR_INIT;
	char *doubt = phantom_trial_judge(
		&session->given.request->options->target, outcome);

	if (settle_limits(session, report, &err) < 0) {
		free(doubt);
		return session_turn_fail(session, report, &err);
	}
	session_failure_place(session, report);
	doubt_size(session, &outcome->trial, &report->why);
	note_trial(session, report);
	if (doubt && !report->drops_addition)
		return session_end(session, OUTCOME_REFUSED, EXIT_REFUSED,
				   doubt);
	turn = after_probe(session, report);
	free(doubt);
	return turn;
}
