/* One probe of a session: its command, its scratch, its course. */
/* SPDX-License-Identifier: MIT */
#include "launcher/tuning/probe_setup.h"
#include "launcher/tuning/session_internal.h"

#include "base/alloc.h"
#include "base/log.h"
#include "configs/identity/stamps.h"
#include "launcher/tuning/shared_memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CONFIRM_MS 30000
#define CONFIRM_STEPS_MIN 5
/* Default of --probe-timeout: so many times the first good probe, and more. */
#define TIMEOUT_FACTOR 3
#define TIMEOUT_EXTRA_MS 60000

/* A probe with more samples may take longer, in proportion. */
static int64_t timeout_of(const struct session *session,
			  const struct plan_step *step)
{
	int64_t asked = session->request->options->probe_timeout_ms;
	double work = (double)step->micro_batch * (double)step->probe_accum;
	double factor = 1;

	if (asked || session->first_good_seconds <= 0)
		return asked;
	if (work > session->first_good_work)
		factor = work / session->first_good_work;
	return (int64_t)(TIMEOUT_FACTOR * factor * session->first_good_seconds *
			 1000) +
	       TIMEOUT_EXTRA_MS;
}

/* How the steps of smaller sizes were seen; STEPS_NONE: they made none. */
static enum steps_source smaller_steps(const struct session *session,
				       int64_t micro)
{
	enum steps_source found = STEPS_NONE;

	for (size_t i = 0; i < session->notes->count; i++) {
		const struct trial *trial = &session->notes->items[i].trial;

		if (trial->micro_batch >= micro || !trial->steps)
			continue;
		if (trial->steps_source == STEPS_HOOK && !session->without_hook)
			return STEPS_HOOK;
		found = STEPS_LOG;
	}
	return found;
}

static struct probe_spec make_spec(const struct session *session,
				   const struct plan_step *step,
				   const struct probe_setup *setup)
{
	const struct options *options = session->request->options;
	const struct memory_target *target = session->target;
	struct probe_spec spec = {
		.id = setup->id,
		.command = {
			.argv = &setup->run.argv,
			.environment = &setup->environment,
			.state = session->request->state,
			.cgroup = setup->has_cgroup ? &setup->cgroup : NULL,
			.isolation = &setup->isolation,
			.scratch = setup->scratch,
			.extra_files = &setup->copies,
			.lock_fds = session->guard->fds,
			.lock_count = session->guard->count,
		},
		.scratch_reserve_bytes = session->scratch_reserve_bytes,
		.channel = setup->channel,
		.log_path = setup->log,
		.secrets = &session->secrets,
		.micro_batch = step->micro_batch,
		.grad_accum = step->probe_accum,
		.devices = {
			.device = target->device,
			.may_be_host = target->may_be_host,
			.nvml = target->nvml,
			.gpus = target->probe_gpus,
			.count = target->gpu_count,
			.shared = options->shared,
			.has_preload = setup->preload != NULL,
			.cap_bytes = target->cap_bytes,
		},
		.lines = {
			.signatures = session->signatures,
			.usual = session->usual_line,
			.steps = session->patterns,
			.sizes = session->echoes,
		},
		.limits = {
			.limit_bytes = target->limit_bytes,
			.host_limit_bytes = target->host_limit_bytes,
			.steps_needed = options->probe_steps,
			.startup_timeout_ms = options->startup_timeout_ms,
			.timeout_ms = timeout_of(session, step),
			.timeout_covers_start = options->probe_timeout_ms != 0,
		},
		.steps_needed_compiled = options->probe_steps,
		.grace_ms = options->grace_ms,
		.smaller_steps = smaller_steps(session, step->micro_batch),
	};

	if (spec.steps_needed_compiled < COMPILED_STEPS)
		spec.steps_needed_compiled = COMPILED_STEPS;
	return spec;
}

/* A probe that fits so far: is it the answer, to be run on? */
static void decide(struct session *session, const struct plan_step *step)
{
	const int64_t steps = session->request->options->confirm_steps;
	const struct probe_confirmation confirmation = {
		.steps = steps,
		.steps_min =
			steps < CONFIRM_STEPS_MIN ? steps : CONFIRM_STEPS_MIN,
		.ms = session->request->options->has_confirm_steps
			      ? INT64_MAX / 8
			      : CONFIRM_MS,
	};
	struct trial *trials = probe_notes_trials(session->notes);
	struct probe_view view;
	struct trial running;

	probe_look(session->probe, &view);
	running = (struct trial){
		.micro_batch = step->micro_batch,
		.grad_accum = step->probe_accum,
		.peak_bytes = view.peak_bytes,
		.steps = view.steps,
	};
	if (step->is_confirmation ||
	    plan_wants_confirmed(&session->plan, trials, session->notes->count,
				 &running)) {
		session->doing = "confirming";
		probe_confirm(session->probe, &confirmation);
	} else {
		probe_stop(session->probe);
	}
	free(trials);
}

/* Of every probe: what one imports late, another may not reach. */
static void note_modules(struct session *session, const struct strlist *modules)
{
	struct strlist *stamps = &session->result->record.stamps;

	for (size_t i = 0; modules && i < modules->count; i++) {
		struct strlist one = STRLIST_INIT;

		stamps_add(&one, modules->items[i]);
		if (strlist_find(stamps, one.items[0]) == stamps->count)
			strlist_add(stamps, one.items[0]);
		strlist_release(&one);
	}
}

static const struct signature *survived_line(const struct evidence *evidence)
{
	bool ended_well = evidence->end.ended && evidence->end.wait_status == 0;

	/* The driver, or torch, bears the words out. */
	if (evidence->memory.ooms ||
	    evidence->gpu.allocations.end >= ALLOCATIONS_SURVIVED)
		return NULL;
	return ended_well || evidence->end.stopped == STOP_SIGNATURE
		       ? evidence->output.memory_line
		       : NULL;
}

static void fill_report(struct session *session,
			const struct probe_setup *setup,
			struct probe_report *report)
{
	struct probe_outcome outcome;

	probe_outcome(session->probe, &outcome);
	report->trial = outcome.trial;
	report->why = outcome.memory_text ? xasprintf("%s: %s", outcome.why,
						      outcome.memory_text)
					  : xstrdup(outcome.why);
	report->log = xstrdup(setup->log);
	report->first_error = xstrdup(outcome.first_error);
	report->hint = outcome.hint ? xstrdup(outcome.hint) : NULL;
	report->refused =
		outcome.refused_path ? xstrdup(outcome.refused_path) : NULL;
	report->survived_line = survived_line(&outcome.evidence);
	report->exec_errno = outcome.evidence.end.exec_errno;
	report->isolation_errno = outcome.evidence.end.isolation_errno;
	note_modules(session, outcome.modules);
	report->host_used =
		session->target->may_be_host &&
		outcome.evidence.memory.device == PROBE_HOST &&
		outcome.trial.verdict != VERDICT_OOM_DEVICE &&
		(trial_fits(&outcome.trial) || trial_is_misfit(&outcome.trial));
	if (outcome.unhooked)
		log_warning("%zu Python processes with torch run without the "
			    "step hook (python -I, -S or -E?)",
			    outcome.unhooked);
}

static void run_to_its_end(struct session *session,
			   const struct plan_step *step)
{
	session->doing = step->is_confirmation ? "confirming" : "probing";
	while (probe_wait(session->probe) != PROBE_OVER)
		decide(session, step);
}

int session_probe(struct session *session, const struct plan_step *step,
		  struct probe_report *report, struct error *err)
{
	bool is_watched = probe_isolation_shares_memory(&session->shelter);
	struct strlist memory = STRLIST_INIT;
	struct probe_setup setup = { .has_cgroup = false };
	struct probe_spec spec;
	int result = session_make_id(setup.id, err);

	if (is_watched)
		shared_memory_list(&memory);
	if (result == 0)
		result = session_follow_neighbours(session, err);

	/* First of all: by the note the next start cleans up after a killed
	 * one, so it stands from before the folders until after them. */
	if (result == 0)
		result = device_locks_note_probe(session->guard, setup.id,
						 session->shelter.space.folder,
						 err);
	if (result == 0)
		result = probe_setup_folders(session, &setup, err);
	if (result == 0)
		result = probe_setup_command(session, step, &setup, err);
	if (result < 0)
		goto out;
	probe_setup_cgroup(session, &setup);
	spec = make_spec(session, step, &setup);
	session->step = *step;
	result = probe_start(&session->probe, &spec, &session->loop, err);
	if (result < 0)
		goto out;
	/* A signal may have come before there was a probe to cancel. */
	if (session_must_end(session))
		probe_cancel(session->probe);
	run_to_its_end(session, step);
	fill_report(session, &setup, report);
	probe_free(session->probe);
	session->probe = NULL;
out:
	probe_setup_release(&setup);
	if (is_watched)
		shared_memory_warn(&memory);
	strlist_release(&memory);
	if (result == 0)
		result = device_locks_note_probe(session->guard, "", "", err);
	return result;
}

void probe_report_release(struct probe_report *report)
{
	free(report->why);
	free(report->log);
	free(report->first_error);
	free(report->hint);
	free(report->refused);
}
