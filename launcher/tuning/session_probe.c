/* One probe of a tuning: its command, its scratch, its course. */
/* SPDX-License-Identifier: MIT */
#include "launcher/tuning/session_probe.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/units.h"
#include "configs/identity/stamps.h"
#include "configs/secrets/secrets.h"
#include "launcher/command/files/named_files.h"
#include "launcher/request/identity.h"
#include "launcher/request/step_ranks.h"
#include "launcher/tuning/session_zygote.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#define CONFIRM_MS 30000
/* For the signal that ended the command to reach autofit as well; a command
 * may make an exit status of it. */
#define KILLED_TOGETHER_MS 1000
#define ENDED_TOGETHER_MS 200
#define LOOK_UP_MS 10
#define CONFIRM_STEPS_MIN 5
/* So long a step is worth not to be waited for again and again. */
#define LONG_STEP_SECONDS 0.5
/* So much more than a peak that has not settled is room enough. */
#define SETTLING_SHARE 0.2
/* Default of --probe-timeout: so many times the first good probe, and more. */
#define TIMEOUT_FACTOR 3
#define TIMEOUT_EXTRA_MS 60000

/* A probe with more samples may take longer, in proportion. */
static int64_t timeout_of(const struct session_trials *trials,
			  const struct plan_step *step, int64_t asked_ms)
{
	double samples = (double)step->micro_batch * (double)step->probe_accum;
	double factor = 1;

	if (asked_ms || trials->first_fit_seconds <= 0)
		return asked_ms;
	assert(trials->first_fit_samples > 0);
	if (samples > trials->first_fit_samples)
		factor = samples / trials->first_fit_samples;
	return (int64_t)(TIMEOUT_FACTOR * factor * trials->first_fit_seconds *
			 1000) +
	       TIMEOUT_EXTRA_MS;
}

static struct lifecycle_limits make_limits(const struct session *session,
					   const struct plan_step *step)
{
	const struct options *options = session->given.request->options;
	const struct memory_target *target = session->given.target;
	int64_t timeout_ms = options->times.probe_timeout_ms;

	return (struct lifecycle_limits){
		.limit_bytes = target->limit_bytes,
		/* Side by side all of them are to have room. */
		.host_limit_bytes =
			target->host_limit_bytes / session->loop.lane_count,
		.steps_needed = options->search.probe_steps,
		.startup_timeout_ms = options->times.startup_timeout_ms,
		.timeout_ms = timeout_of(&session->trials, step, timeout_ms),
		.timeout_covers_start = timeout_ms != 0,
	};
}

/*
 * The earlier probe that lets the passes of this one, after its first whole
 * steps, count as steps do: it saw that they are alike. NULL: there is none, or
 * steps are short, or compared; whole ones tell more.
 */
static const struct trial *alike_trial(const struct session *session,
				       const struct plan_step *step)
{
	const struct options *options = session->given.request->options;
	const struct plan *plan = &session->plan;
	const struct trial *trial = session_trials_alike(&session->trials);
	double share;

	if (!trial || options->search.has_confirm_steps ||
	    plan->takes_fastest || plan->accum_matters ||
	    step->probe_accum < 2 || !(trial_rate(trial) > 0))
		return NULL;
	share = (double)step->micro_batch * (double)step->probe_accum;
	return share / trial_rate(trial) >= LONG_STEP_SECONDS ? trial : NULL;
}

/*
 * What the optimizer keeps from its first step on shows in the passes of the
 * second. A rise that came later is waited for whole.
 */
static int64_t whole_steps_after(const struct trial *alike)
{
	return alike->alike_after > 2 ? alike->alike_after : 1;
}

/* What malloc keeps of freed memory creeps up from pass to pass: by 12% at most
 * from the first step to the 200th pass, in 23 runs. Where the budget has room
 * for more than that nobody waits, nor where the run itself is watched. */
static uint64_t settles_above(const struct session *session)
{
	const struct memory_target *target = session->given.target;

	if (session->given.request->options->reuse.guard)
		return UINT64_MAX;
	return (uint64_t)((double)target->host.budget_bytes /
			  (double)session->loop.lane_count /
			  (1 + SETTLING_SHARE));
}

static struct probe_confirmation
make_confirmation(const struct session *session, const struct plan_step *step)
{
	const struct options *options = session->given.request->options;
	const int64_t steps = options->search.confirm_steps;
	const struct trial *alike = alike_trial(session, step);

	return (struct probe_confirmation){
		.steps = steps,
		.draws_passes = !options->search.has_confirm_steps &&
				!session->plan.takes_fastest &&
				!session->plan.accum_matters,
		.steps_same = probe_setup_same_steps(options),
		.whole_steps = alike ? whole_steps_after(alike) : 0,
		.update_seconds = alike ? trial_update_seconds(alike) : 0,
		.settles_above_bytes = settles_above(session),
		.counts_may_be_passes = !options->search.has_confirm_steps,
		.steps_min =
			steps < CONFIRM_STEPS_MIN ? steps : CONFIRM_STEPS_MIN,
		.ms = options->search.has_confirm_steps ? INT64_MAX / 8
							: CONFIRM_MS,
	};
}

/* Of several lanes each has one GPU: the command's own is the target's first,
 * the others are lent. */
static struct probe_devices devices_of(const struct session *session,
				       const struct session_lane *lane)
{
	const struct memory_target *target = session->given.target;
	struct probe_devices devices = {
		.device = target->device,
		.may_be_host = target->may_be_host,
		.nvml = target->nvml,
		.gpus = target->probe_gpus,
		.count = target->gpu_count,
		.is_unified = target->is_unified,
		.shared = session->given.request->options->probe.shared,
		.has_preload = lane->setup.preload != NULL,
		.cap_bytes = target->cap_bytes,
	};

	if (session->loop.lane_count > 1)
		devices.count = 1;
	if (lane->gpu) {
		devices.nvml = session->spare.nvml;
		devices.gpus = &lane->gpu->before;
	}
	return devices;
}

static struct probe_spec make_spec(const struct session *session,
				   const struct session_lane *lane)
{
	const struct options *options = session->given.request->options;
	const struct plan_step *step = &lane->step;
	const struct probe_setup *setup = &lane->setup;
	const struct probe_kit *kit = &session->kit;
	const struct session_trials *trials = &session->trials;
	enum steps_source smaller =
		session_trials_smaller_steps(trials, step->micro_batch);

	return (struct probe_spec){
		.id = setup->id,
		.command = { .argv = &setup->run.argv,
			     .environment = &setup->environment,
			     .state = session->given.request->state,
			     .cgroup =
				     setup->has_cgroup ? &setup->cgroup : NULL,
			     .isolation = &setup->isolation,
			     .scratch = setup->scratch,
			     .extra_files = &setup->copies,
			     .lock_fds = session->given.guard->fds,
			     .lock_count = session->given.guard->count },
		.scratch_reserve_bytes = kit->scratch_reserve_bytes,
		.channel = setup->channel,
		.ranks = setup->ranks,
		.rank_count = step_ranks_count(session->given.request),
		.log_path = lane->report.log,
		.secrets = &kit->secrets,
		.micro_batch = step->micro_batch,
		.grad_accum = step->probe_accum,
		.devices = devices_of(session, lane),
		.lines = { .signatures = kit->signatures,
			   .usual = trials->usual_line,
			   .steps = kit->steps,
			   .sizes = kit->sizes },
		.limits = make_limits(session, step),
		.steps_needed_compiled =
			options->search.probe_steps > COMPILED_STEPS
				? options->search.probe_steps
				: COMPILED_STEPS,
		.confirmation = make_confirmation(session, step),
		.grace_ms = options->times.grace_ms,
		.awaits_steps = session->awaits_steps,
		.shims = &setup->shims,
		.began = session->loop.began,
		/* Without the hook they are seen less exactly from now on. */
		.smaller_steps = smaller == STEPS_HOOK && kit->without_hook
					 ? STEPS_LOG
					 : smaller,
	};
}

/* A probe that fits so far: is it the answer, to be run on? On another GPU
 * than the command's own nothing is confirmed. */
static void confirm_or_stop(struct session *session,
			    const struct session_lane *lane)
{
	struct session_under_way *under_way = &session->loop.lanes[lane->place];
	const struct plan_step *step = &lane->step;
	const struct probe_notes *notes = session->trials.notes;
	struct trial *trials = probe_notes_trials(notes);
	struct probe_view view;
	struct trial running;

	assert(under_way->probe);
	probe_look(under_way->probe, &view);
	running = (struct trial){
		.micro_batch = step->micro_batch,
		.grad_accum = step->probe_accum,
		.peak_bytes = view.peak_bytes,
		.rest_bytes = view.rest_bytes,
		.forward_bytes = view.forward_bytes,
		.pass_bytes = view.pass_bytes,
		.steps = view.steps,
	};
	if (!under_way->is_forked && !lane->gpu &&
	    (step->is_confirmation ||
	     plan_wants_confirmed(&session->plan, trials, notes->count,
				  &running))) {
		under_way->doing = "confirming";
		probe_confirm(under_way->probe);
	} else {
		probe_stop(under_way->probe);
	}
	free(trials);
}

/* Its sizes are none of what makes it the same: see the identity. */
static bool session_probe_is_edited(const struct command *command,
				    const char *path)
{
	bool found = false;

	for (int kind = 0; !found && kind <= KNOB_GLOBAL; kind++) {
		const struct named_file *source = command->knobs[kind].source;
		char *real = source ? realpath(source->path, NULL) : NULL;

		found = real && strcmp(real, path) == 0;
		free(real);
	}
	return found;
}

/* Every probe's: one may import late what another does not reach. */
static void note_files(struct strlist *stamps, const struct strlist *files,
		       const struct command *command)
{
	for (size_t i = 0; files && i < files->count; i++) {
		struct strlist one = STRLIST_INIT;

		if (session_probe_is_edited(command, files->items[i]) ||
		    identity_has_file(command, files->items[i]))
			continue;
		stamps_add(&one, files->items[i]);
		if (strlist_find(stamps, one.items[0]) == stamps->count)
			strlist_add(stamps, one.items[0]);
		strlist_release(&one);
	}
}

static void fill_report(struct probe_report *report, struct probe *probe)
{
	struct probe_outcome *outcome = &report->outcome;

	assert(!report->probe && !report->why);
	report->probe = probe;
	probe_outcome(probe, outcome);
	report->why = outcome->memory_text ? xasprintf("%s: %s", outcome->why,
						       outcome->memory_text)
					   : xstrdup(outcome->why);
	if (outcome->unhooked)
		log_warning("%zu Python processes with torch run without the "
			    "step hook (python -I, -S or -E?)",
			    outcome->unhooked);
}

/*
 * Who ends a whole job, as Slurm does, sends the signal to each process of it,
 * and a probe's may die before autofit hears of it. Then that says nothing of
 * the size, and must not stand in the journal as if it did.
 */
static void await_end_signal(struct session *session,
			     struct probe_report *report)
{
	const struct evidence_end *end = &report->outcome.evidence.end;
	int64_t until_ms = clock_ms() + (WIFSIGNALED(end->wait_status)
						 ? KILLED_TOGETHER_MS
						 : ENDED_TOGETHER_MS);

	if (!end->ended || end->wait_status == 0)
		return;
	while (!session_loop_look_up(&session->loop)) {
		if (clock_ms() >= until_ms)
			return;
		(void)poll(NULL, 0, LOOK_UP_MS);
	}
	report->outcome.trial.verdict = VERDICT_DISTURBED;
	free(report->why);
	report->why = xstrdup("it was ended together with autofit");
}

/* By a fork of the zygote, or where that fails afresh. */
static int start_probe(struct session *session, const struct session_lane *lane,
		       struct error *err)
{
	struct session_under_way *under_way = &session->loop.lanes[lane->place];
	struct probe_spec spec = make_spec(session, lane);
	int result;

	assert(!under_way->probe && "one at a time in each lane");
	spec.command.zygote =
		session_zygote_for(session, &lane->step, &lane->setup);
	if (spec.command.zygote)
		spec.launcher_bytes = session->preloaded.launcher_bytes;
	result = probe_start(&under_way->probe, &spec, &session->loop.uv, err);
	if (result == -EPROTO && spec.command.zygote) {
		spec.command.zygote = NULL;
		spec.launcher_bytes = 0;
		result = probe_start(&under_way->probe, &spec,
				     &session->loop.uv, err);
	}
	if (result < 0)
		return result;
	under_way->is_forked = spec.command.zygote != NULL;
	under_way->step = lane->step;
	under_way->doing =
		lane->step.is_confirmation ? "confirming" : "probing";
	/* A signal may have come before there was a probe to cancel. */
	if (session_loop_must_end(&session->loop))
		probe_cancel(under_way->probe);
	return 0;
}

/* Beside others a probe is not as fast as it is alone. */
static void note_round(const struct session *session,
		       const struct session_lane *lane, struct trial *trial)
{
	if (session->loop.lane_count < 2)
		return;
	trial->step_seconds = trial->step_mad_seconds = 0;
	trial->pass_seconds = 0;
	trial->is_elsewhere = lane->gpu != NULL;
}

/* None of its processes is left. */
static void take_outcome(struct session *session, struct session_lane *lane)
{
	struct session_under_way *under_way = &session->loop.lanes[lane->place];
	struct probe_report *report = &lane->report;
	const struct probe_outcome *outcome = &report->outcome;

	fill_report(report, under_way->probe);
	under_way->probe = NULL;
	if (!lane->gpu)
		preloaded_learn(&session->preloaded, outcome,
				&lane->setup.run.argv,
				&lane->setup.environment);
	session->host_peak_bytes =
		bytes_max(session->host_peak_bytes,
			  outcome->evidence.memory.host_peak_bytes);
	await_end_signal(session, report);
	note_files(&session->result->record.stamps, outcome->modules,
		   &session->given.request->command);
	note_files(&session->result->record.stamps, outcome->opened,
		   &session->given.request->command);
	note_round(session, lane, &report->outcome.trial);
}

static void note_called(const struct probe_kit *kit, const struct shims *shims,
			struct probe_report *report)
{
	char *called = shims_called(shims);
	struct strbuf text = STRBUF_INIT;

	if (!called)
		return;
	secrets_mask_text(&text, called, &kit->secrets);
	report->called = strbuf_detach(&text);
	free(called);
}

/*
 * By this note the next start cleans up after a killed one: it stands from
 * before the folders are made until they are removed.
 */
static int note_begin(struct session *session, const struct session_lane *lane,
		      struct error *err)
{
	struct device_locks *locks = session->given.guard;
	const char *folder = session->kit.isolation.space.folder;

	return lane->gpu
		       ? device_locks_note_beside(locks, lane->gpu->device.uuid,
						  lane->setup.id, folder, err)
		       : device_locks_note_probe(locks, lane->setup.id, folder,
						 err);
}

int session_probe_begin(struct session *session, struct session_lane *lane,
			struct error *err)
{
	struct session_loop *loop = &session->loop;
	int result = probe_kit_make_id(lane->setup.id, err);

	assert(lane->step.micro_batch >= 1 && lane->step.probe_accum >= 1);
	if (result == 0)
		result = note_begin(session, lane, err);
	if (result < 0)
		return result;
	guardian_note(&session->kit.guardian, lane->setup.id);
	loop->started++;
	lane->report.log =
		xasprintf("%s/probe-%lld.log", session->kit.log_folder,
			  (long long)session->result->earlier.probes_run +
				  (long long)loop->started);
	lane->setup.only_gpu = lane->gpu ? lane->gpu->only : NULL;
	lane->step.probe_accum =
		session->plan.accum_matters
			? lane->step.final_accum
			: session_zygote_accum(session, &lane->step,
					       lane->gpu != NULL);
	result = probe_setup_make(&lane->setup, &session->kit, &session->given,
				  &lane->step, err);
	return result < 0 ? result : start_probe(session, lane, err);
}

bool session_probe_look(struct session *session, struct session_lane *lane)
{
	struct probe *probe = session->loop.lanes[lane->place].probe;
	enum probe_state state = probe ? probe_take(probe) : PROBE_OVER;

	if (state == PROBE_DECIDED)
		confirm_or_stop(session, lane);
	if (state == PROBE_OVER && probe)
		take_outcome(session, lane);
	return state != PROBE_OVER;
}

void session_probe_end(struct session *session, struct session_lane *lane)
{
	if (lane->report.probe)
		probe_await_gpus(lane->report.probe);
	note_called(&session->kit, &lane->setup.shims, &lane->report);
	if (lane->setup.scratch)
		probe_isolation_adopt(&session->kit.isolation,
				      lane->setup.scratch);
	probe_setup_release(&lane->setup);
}

void probe_report_release(struct probe_report *report)
{
	probe_free(report->probe);
	free(report->why);
	free(report->log);
	free(report->called);
}
