/* The answer of a session: split, evidence, record. */
/* SPDX-License-Identifier: MIT */
#include "launcher/report/result_fill.h"
#include "launcher/request/identity.h"
#include "launcher/tuning/session_estimate.h"
#include "launcher/tuning/session_internal.h"

#include "base/alloc.h"
#include "base/log.h"
#include "launcher/options/exitcode.h"
#include "launcher/request/config_copies.h"
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
	result_set_command(session->result, session->request, step->micro_batch,
			   step->final_accum);
}

static void write_record(struct session *session)
{
	struct result *result = session->result;
	struct record *record = &result->record;
	struct error err = ERROR_INIT;

	record->created = (int64_t)time(NULL);
	strlist_release(&record->copies);
	config_copies_paths(&result->run, &record->copies);
	record_set_id(record, identity_name(session->request),
		      record->devices[0].name);
	if (paths_make(session->request->paths.records, &err) < 0 ||
	    record_write(record, session->request->paths.records, &err) < 0) {
		log_warning("the answer is not recorded: %s", err.message);
		return;
	}
	free(result->record_path);
	result->record_path = xasprintf(
		"%s/%s.ini", session->request->paths.records, record->id);
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
	session_renew_caveats(session, older, check);
	result_set_command(session->result, session->request,
			   record->micro_batch, record->grad_accum);
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
	session_advise(session->request, session->target, session->result);
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
	bool found =
		best_tested(session, &best) &&
		session_may_answer(session, best.micro_batch, best.final_accum);

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
	memory_target_add_caveat(session->target,
				 &session->result->record.caveats);
	if (session_must_end(session)) {
		cut_short(session);
	} else if (step->action == PLAN_NOTHING_FITS) {
		nothing_fits(session, step);
		journal_finish(&session->journal);
	} else if (!session_may_answer(session, step->micro_batch,
				       step->final_accum)) {
		session_end_idle(session);
	} else {
		fill_split(session, step);
		session_add_caveats(session,
				    trial_of(session, step->micro_batch));
		predict(session, step);
		session_end(session, OUTCOME_TUNED, EXIT_DONE, NULL);
		write_record(session);
	}
}
