/* One probe of a tuning: its command, its scratch, its course. */
/* SPDX-License-Identifier: MIT */
#include "launcher/tuning/session_probe.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "configs/identity/stamps.h"
#include "configs/secrets/secrets.h"
#include "launcher/command/files/named_files.h"
#include "launcher/command/text/text.h"
#include "launcher/request/step_ranks.h"
#include "launcher/tuning/probe_setup.h"
#include "launcher/tuning/session_limits.h"
#include "launcher/tuning/session_zygote.h"
#include "probes/isolation/isolation.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define CONFIRM_MS 30000
/* For the signal that ended the command to reach autofit as well; a command
 * may make an exit status of it. */
#define KILLED_TOGETHER_MS 1000
#define ENDED_TOGETHER_MS 200
#define LOOK_UP_MS 10
#define CONFIRM_STEPS_MIN 5
/* So long a step is worth not to be waited for again and again. */
#define LONG_STEP_SECONDS 0.5
/* Default of --probe-timeout: so many times the first good probe, and more. */
#define TIMEOUT_FACTOR 3
#define TIMEOUT_EXTRA_MS 60000
/* Entries of /dev/shm that are compared, and named. */
#define SHARED_ENTRIES_MAX 1024
#define SHARED_SHOWN_MAX 3

/* "INODE/NAME": what took the name of another is not what was there. */
static void add_shared_entry(struct strlist *entries, int folder,
			     const char *name)
{
	struct stat info;

	if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 ||
	    fstatat(folder, name, &info, AT_SYMLINK_NOFOLLOW) < 0 ||
	    info.st_uid != geteuid())
		return;
	strlist_addf(entries, "%ju/%s", (uintmax_t)info.st_ino, name);
}

static void list_shared_memory(struct strlist *entries)
{
	DIR *folder = opendir(ISOLATION_SHARED_MEMORY);
	const struct dirent *entry;

	if (!folder)
		return;
	while (entries->count < SHARED_ENTRIES_MAX && (entry = readdir(folder)))
		add_shared_entry(entries, dirfd(folder), entry->d_name);
	(void)closedir(folder);
}

static void warn_of_shared_memory(const struct strlist *before)
{
	struct strlist now = STRLIST_INIT;
	struct strbuf names = STRBUF_INIT;
	size_t count = 0;

	/* Among so many nobody knows which are new. */
	if (before->count < SHARED_ENTRIES_MAX)
		list_shared_memory(&now);
	for (size_t i = 0; i < now.count; i++) {
		if (strlist_find(before, now.items[i]) < before->count ||
		    ++count > SHARED_SHOWN_MAX)
			continue;
		strbuf_adds(&names, count > 1 ? ", " : "");
		strbuf_adds(&names, ISOLATION_SHARED_MEMORY);
		text_add_safe(&names, strchr(now.items[i], '/'), false);
	}
	if (count > SHARED_SHOWN_MAX)
		strbuf_addf(&names, " and %zu more", count - SHARED_SHOWN_MAX);
	if (count)
		log_warning("new since the probe began and not removed: %s. If "
			    "the probe made it, the real run will find it",
			    strbuf_text(&names));
	strbuf_release(&names);
	strlist_release(&now);
}

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
		.host_limit_bytes = target->host_limit_bytes,
		.steps_needed = options->search.probe_steps,
		.startup_timeout_ms = options->times.startup_timeout_ms,
		.timeout_ms = timeout_of(&session->trials, step, timeout_ms),
		.timeout_covers_start = timeout_ms != 0,
	};
}

/*
 * The earlier probe that lets the passes of this one, after its first step,
 * count as steps do: it saw that they are alike. NULL: there is none, or steps
 * are short, or compared; whole ones tell more.
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

static struct probe_confirmation
make_confirmation(const struct session *session, const struct plan_step *step)
{
	const struct options *options = session->given.request->options;
	const int64_t steps = options->search.confirm_steps;
	const struct trial *alike = alike_trial(session, step);

	return (struct probe_confirmation){
		.steps = steps,
		.steps_same = probe_setup_same_steps(options),
		.counts_passes = alike != NULL,
		.update_seconds = alike ? trial_update_seconds(alike) : 0,
		.steps_min =
			steps < CONFIRM_STEPS_MIN ? steps : CONFIRM_STEPS_MIN,
		.ms = options->search.has_confirm_steps ? INT64_MAX / 8
							: CONFIRM_MS,
	};
}

static struct probe_spec make_spec(const struct session *session,
				   const struct plan_step *step,
				   const struct probe_setup *setup,
				   const char *log_path)
{
	const struct options *options = session->given.request->options;
	const struct memory_target *target = session->given.target;
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
		.log_path = log_path,
		.secrets = &kit->secrets,
		.micro_batch = step->micro_batch,
		.grad_accum = step->probe_accum,
		.devices = { .device = target->device,
			     .may_be_host = target->may_be_host,
			     .nvml = target->nvml,
			     .gpus = target->probe_gpus,
			     .count = target->gpu_count,
			     .is_unified = target->is_unified,
			     .shared = options->probe.shared,
			     .has_preload = setup->preload != NULL,
			     .cap_bytes = target->cap_bytes },
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
		.shims = &setup->shims,
		/* Without the hook they are seen less exactly from now on. */
		.smaller_steps = smaller == STEPS_HOOK && kit->without_hook
					 ? STEPS_LOG
					 : smaller,
	};
}

/* A probe that fits so far: is it the answer, to be run on? */
static void confirm_or_stop(struct session *session,
			    const struct plan_step *step)
{
	struct session_under_way *under_way = &session->loop.under_way;
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
		.steps = view.steps,
	};
	if (!under_way->is_forked &&
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
static void note_modules(struct strlist *stamps, const struct strlist *modules,
			 const struct command *command)
{
	for (size_t i = 0; modules && i < modules->count; i++) {
		struct strlist one = STRLIST_INIT;

		if (session_probe_is_edited(command, modules->items[i]))
			continue;
		stamps_add(&one, modules->items[i]);
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

/* From its start until none of its processes is left. */
static int run_to_its_end(struct session *session, const struct plan_step *step,
			  const struct probe_setup *setup,
			  struct probe_report *report, struct error *err)
{
	struct session_under_way *under_way = &session->loop.under_way;
	struct probe_spec spec = make_spec(session, step, setup, report->log);
	int result;

	assert(!under_way->probe && "one at a time");
	spec.command.zygote = session_zygote_for(session, step, setup);
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
	under_way->step = *step;
	under_way->doing = step->is_confirmation ? "confirming" : "probing";
	/* A signal may have come before there was a probe to cancel. */
	if (session_loop_must_end(&session->loop))
		probe_cancel(under_way->probe);
	while (probe_wait(under_way->probe) != PROBE_OVER)
		confirm_or_stop(session, step);
	fill_report(report, under_way->probe);
	preloaded_learn(&session->preloaded, &report->outcome, &setup->run.argv,
			&setup->environment);
	under_way->probe = NULL;
	await_end_signal(session, report);
	note_modules(&session->result->record.stamps, report->outcome.modules,
		     &session->given.request->command);
	return 0;
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

int session_probe_run(struct session *session, const struct plan_step *step,
		      struct probe_report *report, struct error *err)
{
	struct probe_isolation *isolation = &session->kit.isolation;
	bool is_watched = probe_isolation_shares_memory(isolation);
	struct device_locks *locks = session->given.guard;
	struct strlist memory = STRLIST_INIT;
	struct probe_setup setup = { .has_cgroup = false };
	int result = probe_kit_make_id(setup.id, err);

	assert(step->micro_batch >= 1 && step->probe_accum >= 1);
	if (result == 0)
		result = session_limits_share_again(session, err);
	if (result < 0)
		return result;
	if (is_watched)
		list_shared_memory(&memory);
	/* By this note the next start cleans up after a killed one: it stands
	 * from before the folders are made until they are removed. */
	result = device_locks_note_probe(locks, setup.id,
					 isolation->space.folder, err);
	if (result < 0)
		goto out;
	guardian_note(&session->kit.guardian, setup.id);
	session->loop.under_way.started++;
	report->log = xasprintf("%s/probe-%lld.log", session->kit.log_folder,
				(long long)session->loop.under_way.started);
	result = probe_setup_make(&setup, &session->kit, &session->given, step,
				  err);
	if (result == 0)
		result = run_to_its_end(session, step, &setup, report, err);
	note_called(&session->kit, &setup.shims, report);
	probe_isolation_adopt(isolation, setup.scratch);
out:
	probe_setup_release(&setup);
	if (is_watched)
		warn_of_shared_memory(&memory);
	strlist_release(&memory);
	if (result == 0)
		result = device_locks_note_probe(locks, "", "", err);
	return result;
}

void probe_report_release(struct probe_report *report)
{
	probe_free(report->probe);
	free(report->why);
	free(report->log);
	free(report->called);
}
