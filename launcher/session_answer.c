/* The answer of a session: split, evidence, caveats, record. */
/* SPDX-License-Identifier: MIT */
#include "launcher/session_internal.h"

#include "base/alloc.h"
#include "base/log.h"
#include "launcher/exitcode.h"
#include "search/accumulation.h"
#include "search/memory_line.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

void session_end(struct session *session, enum outcome outcome, int exit_code,
		 char *message)
{
	struct result *result = session->result;

	result->outcome = outcome;
	result->exit_code = exit_code;
	free(result->message);
	result->message = message;
}

void session_set_command(struct result *result, const struct job *job,
			 int64_t micro_batch, int64_t grad_accum)
{
	const struct command_values values = {
		.micro_batch = micro_batch,
		.grad_accum = grad_accum,
	};

	strlist_release(&result->run_argv);
	strlist_release(&result->run_env);
	free(result->flags_text);
	command_rewrite(&job->command, &values, &result->run_argv,
			&result->run_env);
	result->flags_text = command_flags_text(&job->command, &values);
	if (job->options->cuda_index >= 0 && result->record.device_count)
		strlist_addf(&result->run_env, "CUDA_VISIBLE_DEVICES=%s",
			     result->record.devices[0].uuid);
}

/* The trial behind an answer: the last of its size. */
static const struct trial *trial_of(const struct session *session,
				    int64_t micro)
{
	for (size_t i = session->notes->count; i-- > 0;)
		if (session->notes->items[i].trial.micro_batch == micro)
			return &session->notes->items[i].trial;
	return NULL;
}

static void predict(struct session *session, const struct plan_step *step)
{
	struct result *result = session->result;
	struct trial *trials;
	struct memory_line line;
	int64_t micro;

	if (session->plan.mode != PLAN_KEEP)
		return;
	trials = probe_notes_trials(session->notes);
	line = memory_line_fit(trials, session->notes->count);
	free(trials);
	micro = memory_line_micro(&line, session->target->limit_bytes);
	/* One point alone makes the line through the origin: too low, if at
	 * all wrong. */
	if (micro < 2 * step->micro_batch)
		return;
	if (step->smallest_misfit && micro >= step->smallest_misfit)
		micro = step->smallest_misfit - 1;
	if (micro < 2 * step->micro_batch)
		return;
	if (step->final_accum == 1)
		result->predicted_micro_batch = micro;
	else
		result->nearest_effective_batch =
			accumulation_nearest(session->plan.effective_batch,
					     micro, session->plan.world_size);
}

static const char *misfit_name(enum misfit_by misfit_by)
{
	static const char *const names[] = { NULL, "probe", "prediction",
					     "probe" };

	return names[misfit_by];
}

static void fill_split(struct session *session, const struct plan_step *step)
{
	struct record *record = &session->result->record;
	const struct trial *trial = trial_of(session, step->micro_batch);

	record->micro_batch = step->micro_batch;
	record->grad_accum = step->final_accum;
	record->effective_batch =
		step->micro_batch * step->final_accum * record->world_size;
	record->largest_micro_batch = step->largest_micro;
	record->largest_fit =
		step->largest_micro ? step->largest_micro : step->micro_batch;
	record->smallest_misfit = step->smallest_misfit;
	free(record->misfit_by);
	record->misfit_by = misfit_name(step->misfit_by)
				    ? xstrdup(misfit_name(step->misfit_by))
				    : NULL;
	if (trial) {
		record->peak_bytes = trial->peak_bytes;
		record->coverage = trial->coverage;
		record->steps_source = trial->steps_source;
		record->confirmed_steps = trial->confirmed_steps;
	}
	session_set_command(session->result, session->job, step->micro_batch,
			    step->final_accum);
}

/* How much the peak of a GPU is worth: at most one of these. */
static const char a_pool[] =
	"the program divides a pool of device memory by itself, or nothing "
	"could look at it: what it needs was not seen, the sizes were found by "
	"trying";
static const char without_nvml[] =
	"NVML is not there: what the driver itself takes of device memory may "
	"be missing in the peak";
static const char sampled[] =
	"device memory was sampled from outside (a process of the command did "
	"not load autofit's library, or was too short to compare with): short "
	"peaks may have been missed";

static bool is_of_coverage(const char *caveat)
{
	return strcmp(caveat, a_pool) == 0 ||
	       strcmp(caveat, without_nvml) == 0 ||
	       strcmp(caveat, sampled) == 0;
}

static void add_coverage_caveat(struct session *session,
				const struct trial *trial)
{
	struct strlist *caveats = &session->result->record.caveats;

	if (session->target->device != PROBE_CUDA || !trial)
		return;
	if (!trial->peak_bytes)
		strlist_add(caveats, a_pool);
	else if (trial->coverage != COVERAGE_EXACT)
		strlist_add(caveats,
			    session->target->nvml ? sampled : without_nvml);
}

/* What the preset says that probes leave out, less what they did come to. */
static void add_not_exercised(struct session *session,
			      const struct trial *trial)
{
	const struct strlist *list =
		&session->job->command.preset->not_exercised;
	const char *seen = NULL;

	if (trial && trial->phase == PHASE_EVAL)
		seen = "evaluation";
	else if (trial && trial->phase == PHASE_SAVE)
		seen = "saving";
	for (size_t i = 0; i < list->count; i++)
		if (!seen || strcmp(list->items[i], seen) != 0)
			strlist_add(&session->result->record.not_exercised,
				    list->items[i]);
}

static void add_caveats(struct session *session, const struct plan_step *step)
{
	struct record *record = &session->result->record;
	const struct trial *trial = trial_of(session, step->micro_batch);

	add_not_exercised(session, trial);
	add_coverage_caveat(session, trial);
	if (trial && trial->peak_varying)
		strlist_add(&record->caveats,
			    "the peak varies from step to step: the data "
			    "vary, a longer batch may need more");
	else if (trial && trial->peak_rising)
		strlist_add(&record->caveats,
			    "the peak still rose at the end of the "
			    "confirmation");
	if (trial && trial->steps_source == STEPS_TIME)
		strlist_add(&record->caveats,
			    "no step was seen: judged by time without growth");
	if (session->without_hook || session->without_args)
		strlist_add(&record->caveats,
			    "probes ran without autofit's additions, which "
			    "the command does not take");
}

static void write_record(struct session *session)
{
	struct result *result = session->result;
	struct record *record = &result->record;
	struct error err = ERROR_INIT;

	record->created = (int64_t)time(NULL);
	record_set_id(record, job_name(session->job), record->devices[0].name);
	if (paths_make(session->job->paths.records, &err) < 0 ||
	    record_write(record, session->job->paths.records, &err) < 0) {
		log_warning("the answer is not recorded: %s", err.message);
		return;
	}
	free(result->record_path);
	result->record_path =
		xasprintf("%s/%s.ini", session->job->paths.records, record->id);
	journal_finish(&session->journal);
}

static void copy_text(char **to, const char *from)
{
	free(*to);
	*to = from ? xstrdup(from) : NULL;
}

/* Not the older probes: their sizes did not run with this command. */
void session_renew(struct session *session, const struct trial *check)
{
	const struct record *older = &session->match->record;
	struct record *record = &session->result->record;

	record->micro_batch = older->micro_batch;
	record->grad_accum = older->grad_accum;
	record->effective_batch = older->effective_batch;
	record->largest_micro_batch = older->largest_micro_batch;
	record->largest_fit = older->largest_fit;
	record->smallest_misfit = older->smallest_misfit;
	record->lowered_from = older->lowered_from;
	copy_text(&record->misfit_by, older->misfit_by);
	record->peak_bytes = check->peak_bytes;
	record->coverage = check->coverage;
	record->steps_source = check->steps_source;
	record->confirmed_steps = check->confirmed_steps;
	strlist_add_all(&record->not_exercised,
			(const char *const *)older->not_exercised.items,
			older->not_exercised.count);
	for (size_t i = 0; i < older->caveats.count; i++)
		if (!is_of_coverage(older->caveats.items[i]))
			strlist_add(&record->caveats, older->caveats.items[i]);
	add_coverage_caveat(session, check);
	session_set_command(session->result, session->job, record->micro_batch,
			    record->grad_accum);
	session_end(session, OUTCOME_REUSED, EXIT_DONE, NULL);
	write_record(session);
}

static void nothing_fits(struct session *session, const struct plan_step *step)
{
	struct record *record = &session->result->record;
	int64_t needed;
	int64_t usable;

	record->largest_fit = step->largest_micro;
	record->smallest_misfit = step->smallest_misfit;
	record->misfit_by = xstrdup("probe");
	if (!step->largest_micro) {
		session_end(session, OUTCOME_NOTHING_FITS, EXIT_NOTHING_FITS,
			    xstrdup("no micro-batch fits"));
		return;
	}
	needed = session->plan.effective_batch / session->plan.world_size;
	usable = step->largest_micro * session->plan.world_size;
	session_end(session, OUTCOME_NOTHING_FITS, EXIT_NOTHING_FITS,
		    xasprintf("effective batch %lld needs micro-batch %lld, "
			      "which does not fit, and the command has no "
			      "gradient accumulation to trade; micro-batch "
			      "%lld fits: --effective-batch %lld would use it",
			      (long long)session->plan.effective_batch,
			      (long long)needed, (long long)step->largest_micro,
			      (long long)usable));
}

/* The largest split that ran and fitted, confirmed or not. */
static bool best_tested(const struct session *session, struct plan_step *best)
{
	*best = (struct plan_step){ .action = PLAN_DONE };
	for (size_t i = 0; i < session->notes->count; i++) {
		const struct trial *trial = &session->notes->items[i].trial;
		int64_t micro = trial->micro_batch;
		int64_t accum = plan_final_accum(&session->plan, micro);
		const struct trial *last = trial_of(session, micro);

		if (!last || !trial_fits(last) || micro <= best->micro_batch)
			continue;
		if (session->plan.mode != PLAN_GROW &&
		    micro * accum * session->plan.world_size !=
			    session->plan.effective_batch)
			continue;
		best->micro_batch = micro;
		best->final_accum = accum;
	}
	return best->micro_batch > 0;
}

static void cut_short(struct session *session)
{
	struct plan_step best;
	bool found = best_tested(session, &best);

	if (found) {
		fill_split(session, &best);
		strlist_add(&session->result->record.caveats,
			    "unconfirmed: the tuning was cut short");
	}
	if (session->result->signal_number)
		session_end(session, OUTCOME_INTERRUPTED,
			    128 + session->result->signal_number,
			    xstrdup("the same command again goes on from "
				    "here"));
	else
		session_end(session, OUTCOME_TIME_LIMIT, EXIT_TIME_LIMIT,
			    xstrdup("the limit of time or probes is reached; "
				    "the same "
				    "command again goes on from here"));
}

void session_conclude(struct session *session, const struct plan_step *step)
{
	if (session->result->message)
		return; /* it ended on the way */
	target_add_caveat(session->target, &session->result->record.caveats);
	if (session_must_end(session)) {
		cut_short(session);
	} else if (step->action == PLAN_NOTHING_FITS) {
		nothing_fits(session, step);
		journal_finish(&session->journal);
	} else {
		fill_split(session, step);
		add_caveats(session, step);
		predict(session, step);
		session_end(session, OUTCOME_TUNED, EXIT_DONE, NULL);
		write_record(session);
	}
}
