/* The answer of a tuning: split, evidence, caveats, record. */
/* SPDX-License-Identifier: MIT */
#include "launcher/tuning/session_answer.h"

#include "base/alloc.h"
#include "base/log.h"
#include "configs/records/record_lower.h"
#include "launcher/options/exitcode.h"
#include "launcher/report/result_fill.h"
#include "launcher/request/config_copies.h"
#include "launcher/request/identity.h"
#include "launcher/request/memory_target_words.h"
#include "launcher/request/versions.h"
#include "launcher/tuning/plan/plan_view.h"
#include "launcher/tuning/session_caveats.h"
#include "launcher/tuning/session_estimate.h"
#include "search/accumulation.h"
#include "search/memory_line.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* With the NUL; Linux allows 64 bytes. */
#define HOST_NAME_BYTES 65
/* What a phantom and its card may differ by: see docs/phantom.md. */
#define PHANTOM_SHARE 0.02

enum session_turn session_end(struct session *session, enum outcome outcome,
			      int exit_code, char *message)
{
	struct result *result = session->result;

	result->outcome = outcome;
	result->exit_code = exit_code;
	free(result->message);
	result->message = message;
	return SESSION_END;
}

int64_t session_largest_reach(const struct session *session)
{
	const struct search_problem *problem = &session->plan.problem;
	double most = problem->max_growth *
		      (double)session_trials_largest_fit(&session->trials);

	return problem->max_growth > 0 && most < (double)problem->max_micro
		       ? (int64_t)most
		       : problem->max_micro;
}

/*
 * Of the size that a phantom of the GPU named, the GPU itself shows the same
 * peak: so what was seen of this program there holds, and there sizes took
 * effect, or it would have named none.
 */
static bool phantom_is_right(const struct session *session)
{
	const struct phantom_said *said = &session->phantom;
	const struct trial *trial =
		said->micro_batch ? probe_notes_last(session->trials.notes,
						     said->micro_batch)
				  : NULL;
	double peak = (double)said->peak_bytes;

	return trial && trial_fits(trial) &&
	       fabs((double)trial->peak_bytes - peak) <= PHANTOM_SHARE * peak;
}

struct effect_check session_effect_check(const struct session *session,
					 struct strbuf *words)
{
	const struct command *command = &session->given.request->command;
	const struct knob *knobs = command->knobs;
	const struct knob *knob = knobs[KNOB_MICRO].form == KNOB_ABSENT
					  ? &knobs[KNOB_GLOBAL]
					  : &knobs[KNOB_MICRO];
	const struct effect_check_facts facts = {
		.own_micro = command->batch.micro_batch,
		.own_accum = command->batch.grad_accum,
		.world_size = command->batch.world_size,
		.max_micro = session_largest_reach(session),
		.is_host = session->given.target->device == PROBE_HOST,
	};
	size_t count = session->trials.notes->count;
	struct trial *trials = probe_notes_trials(session->trials.notes);
	struct effect_check check = effect_check_judge(&facts, trials, count);

	if (check.state == EFFECT_UNKNOWN && phantom_is_right(session))
		check.state = EFFECT_SHOWN;
	if (words)
		effect_check_words(&check, trials, count, knob->name, words);
	free(trials);
	check.witness = NULL;
	return check;
}

bool session_is_own(const struct session *session, const struct plan_step *step)
{
	const struct batch *own = &session->given.request->command.batch;

	return step->micro_batch == own->micro_batch &&
	       step->final_accum == own->grad_accum;
}

/* Sizes were seen to take effect, or the split is the command's own. */
static bool is_believed(const struct session *session,
			const struct plan_step *step)
{
	return session_is_own(session, step) ||
	       session_effect_check(session, NULL).state == EFFECT_SHOWN;
}

/* Its steps may be those of what comes before the training, and no other size
 * could be tried that would have told. */
static void add_doubt_of_steps(struct session *session,
			       const struct plan_step *step)
{
	const struct trial *trial =
		probe_notes_last(session->trials.notes, step->micro_batch);

	if (trial && trial->steps_source == STEPS_LOG && !trial->ran_to_end &&
	    session_effect_check(session, NULL).state != EFFECT_SHOWN)
		strlist_add(&session->result->record.caveats,
			    "steps were read from the output, and no other "
			    "size ran that shows them to be the training's");
}

enum session_turn session_end_without_effect(struct session *session)
{
	struct strbuf text = STRBUF_INIT;

	(void)session_effect_check(session, &text);
	/* What sets the size instead may be changed in a file that no journal
	 * knows of. */
	journal_finish(&session->trials.journal);
	return session_end(session, OUTCOME_NOT_RECOGNISED, EXIT_NOT_RECOGNISED,
			   strbuf_detach(&text));
}

/* keep: the size predicted to fit beyond the split, or an effective batch that
 * would use it. */
static void predict(struct session *session, const struct plan_step *step)
{
	const struct plan *plan = &session->plan;
	const struct probe_notes *notes = session->trials.notes;
	struct result *result = session->result;
	const struct trial *trial = probe_notes_last(notes, step->micro_batch);
	struct trial *trials;
	struct memory_line line;
	int64_t micro, most;

	if (plan->mode != PLAN_KEEP || !trial || !trial->steps ||
	    session_rows_differ(&session->given.request->command, trial))
		return;
	trials = probe_notes_trials(notes);
	line = memory_line_fit(trials, notes->count);
	most = plan_view_max_micro(plan, trials, notes->count);
	free(trials);
	/* One point alone makes the line through the origin: too low, if at
	 * all wrong. */
	micro = memory_line_micro(&line, plan->problem.limit_bytes);
	if (step->smallest_misfit && micro >= step->smallest_misfit)
		micro = step->smallest_misfit - 1;
	if (micro > most)
		micro = most;
	if (micro < 2 * step->micro_batch)
		return;
	if (step->final_accum == 1)
		result->predicted_micro_batch = micro;
	else
		result->nearest_effective_batch =
			accumulation_nearest(plan->asked.effective_batch, micro,
					     plan->asked.world_size);
}

static void set_misfit_by(struct record *record, const char *name)
{
	free(record->misfit_by);
	record->misfit_by = name ? xstrdup(name) : NULL;
}

static void set_evidence(struct record *record, const struct trial *trial)
{
	assert(trial_fits(trial));
	record->peak_bytes = trial->peak_bytes;
	record->coverage = trial->coverage;
	record->steps_source = trial->steps_source;
	record->confirmed_steps = trial->confirmed_steps;
	record->confirmed_passes = trial->later_passes;
}

static void fill_split(struct session *session, const struct plan_step *step)
{
	/* In the order of enum misfit_by. */
	static const char *const names[] = { NULL, "probe", "prediction",
					     "probe" };
	struct record *record = &session->result->record;
	const struct trial *trial =
		probe_notes_last(session->trials.notes, step->micro_batch);

	assert(step->micro_batch >= 1 && step->final_accum >= 1);
	assert((size_t)step->misfit_by < sizeof(names) / sizeof(*names));
	assert(trial && trial_fits(trial) && "nothing else is said to fit");
	record->batch.micro_batch = step->micro_batch;
	record->batch.grad_accum = step->final_accum;
	record->batch.effective_batch = step->micro_batch * step->final_accum *
					record->batch.world_size;
	assert(session->plan.mode != PLAN_KEEP ||
	       record->batch.effective_batch ==
		       session->plan.asked.effective_batch);
	record->largest_micro_batch = step->largest_micro;
	record->largest_fit =
		step->largest_micro ? step->largest_micro : step->micro_batch;
	record->smallest_misfit = step->smallest_misfit;
	set_misfit_by(record, names[step->misfit_by]);
	/* A phantom is no card. */
	if (step->misfit_by == MISFIT_BY_RECORD && session->phantom.micro_batch)
		set_misfit_by(record, names[MISFIT_BY_PREDICTION]);
	if (trial)
		set_evidence(record, trial);
	result_set_command(session->result, session->given.request,
			   step->micro_batch, step->final_accum);
}

/* With more samples in its data loader a larger size would be tried. */
static void add_end_of_data(struct session *session,
			    const struct plan_step *step)
{
	const struct probe_notes *notes = session->trials.notes;
	struct trial *trials = probe_notes_trials(notes);
	struct plan_step more;
	int64_t data = 0;

	for (size_t i = 0; i < notes->count; i++) {
		int64_t rows = plan_view_data(&trials[i]);

		if (rows && (!data || rows < data))
			data = rows;
		trials[i].data_rows = 0;
	}
	more = plan_next(&session->plan, trials, notes->count);
	free(trials);
	if (data && more.action == PLAN_PROBE &&
	    more.micro_batch > step->micro_batch)
		strlist_addf(&session->result->record.caveats,
			     "larger than %lld was not used: its data loader "
			     "has %lld samples",
			     (long long)step->micro_batch, (long long)data);
}

/* Why larger sizes are out, where it is not memory. */
static void add_end_of_climb(struct session *session,
			     const struct plan_step *step)
{
	const struct probe_notes *notes = session->trials.notes;
	struct strlist *caveats = &session->result->record.caveats;

	for (size_t i = notes->count; i-- > 0;) {
		const struct probe_note *note = &notes->items[i];

		/* Data that end bound the sizes, and no search. */
		if (step->smallest_misfit
			    ? note->trial.micro_batch != step->smallest_misfit
			    : note->trial.micro_batch <= step->micro_batch ||
				      note->trial.verdict != VERDICT_TOO_BIG)
			continue;
		if (note->trial.verdict == VERDICT_TOO_BIG && note->why)
			strlist_addf(caveats,
				     "larger than %lld was not used: "
				     "micro-batch %lld %s",
				     (long long)step->micro_batch,
				     (long long)note->trial.micro_batch,
				     note->why);
		return;
	}
	add_end_of_data(session, step);
}

/* Where, and with which frameworks and driver. */
static void session_answer_note_place(struct record *record)
{
	char host[HOST_NAME_BYTES] = "";

	free(record->host);
	record->host = NULL;
	if (gethostname(host, sizeof(host) - 1) == 0 && *host)
		record->host = xstrdup(host);
	strlist_release(&record->versions);
	versions_find(&record->stamps, &record->versions);
}

/* `tune` has failed then: a record is what it is for. A launch has its sizes.
 */
static void not_recorded(struct session *session, const char *why)
{
	struct result *result = session->result;
	char *message = xasprintf("the answer is not recorded: %s", why);

	if (session->given.request->options->subcommand != SUBCOMMAND_TUNE) {
		log_warning("%s", message);
		free(message);
		return;
	}
	log_error("%s", message);
	(void)session_end(session, result->outcome, EXIT_AUTOFIT_FAILED,
			  message);
}

static void session_answer_write_record(struct session *session)
{
	const struct request *request = session->given.request;
	const char *folder = request->paths.records;
	struct result *result = session->result;
	struct record *record = &result->record;
	struct error err = ERROR_INIT;

	record->created = (int64_t)time(NULL);
	session_answer_note_place(record);
	strlist_release(&record->copies);
	config_copies_paths(&result->run, &record->copies);
	record_set_id(record, identity_name(request), record->devices[0].name);
	if (paths_make(folder, &err) < 0 ||
	    record_write(record, folder, &err) < 0) {
		not_recorded(session, err.message);
		return;
	}
	free(result->record_path);
	result->record_path = xasprintf("%s/%s.ini", folder, record->id);
	journal_finish(&session->trials.journal);
}

/* Not the older probes: their sizes did not run with this command. */
void session_answer_renew(struct session *session, const struct trial *check)
{
	const struct record *older = &session->given.match->record;
	struct record *record = &session->result->record;

	assert(check->micro_batch == older->batch.micro_batch);
	record->batch = older->batch;
	record->largest_micro_batch = older->largest_micro_batch;
	record->largest_fit = older->largest_fit;
	record->smallest_misfit = older->smallest_misfit;
	record->lowered_from = older->lowered_from;
	set_misfit_by(record, older->misfit_by);
	set_evidence(record, check);
	strlist_add_all(&record->not_exercised,
			(const char *const *)older->not_exercised.items,
			older->not_exercised.count);
	session_caveats_renew(session, older, check);
	result_set_command(session->result, session->given.request,
			   record->batch.micro_batch, record->batch.grad_accum);
	(void)session_end(session, OUTCOME_REUSED, EXIT_DONE, NULL);
	session_answer_write_record(session);
}

/* What is asked of the sizes leaves none: that is no matter of memory. */
static void no_size_is_left(struct session *session)
{
	const struct plan *plan = &session->plan;

	(void)session_end(
		session, OUTCOME_REFUSED, EXIT_REFUSED,
		xasprintf("no split of effective batch %lld over %lld rank%s "
			  "has a micro-batch of at most %lld that %lld "
			  "divides, so nothing was tried",
			  (long long)plan->asked.effective_batch,
			  (long long)plan->asked.world_size,
			  plan->asked.world_size == 1 ? "" : "s",
			  (long long)plan->problem.max_micro,
			  (long long)plan->problem.multiple_of));
}

static void nothing_fits(struct session *session, const struct plan_step *step)
{
	const struct plan *plan = &session->plan;
	struct record *record = &session->result->record;
	int64_t micro = step->largest_micro;

	assert(!session->result->message);
	if (!session->trials.notes->count && plan->asked.effective_batch) {
		no_size_is_left(session);
		return;
	}
	record->largest_fit = micro;
	record->smallest_misfit = step->smallest_misfit;
	set_misfit_by(record, "probe");
	session_estimate_advise(&session->given, session->result);
	journal_finish(&session->trials.journal);
	(void)session_end(
		session, OUTCOME_NOTHING_FITS, EXIT_NOTHING_FITS,
		!micro ? xstrdup("no micro-batch fits")
		       : xasprintf("effective batch %lld needs micro-batch "
				   "%lld, which does not fit, and the command "
				   "has no gradient accumulation to trade; "
				   "micro-batch %lld fits: --effective-batch "
				   "%lld would use it",
				   (long long)plan->asked.effective_batch,
				   (long long)(plan->asked.effective_batch /
					       plan->asked.world_size),
				   (long long)micro,
				   (long long)micro *
					   (long long)plan->asked.world_size));
}

/* The largest split that ran and fitted, confirmed or not; micro 0: none. */
static struct plan_step best_tested(const struct session *session)
{
	const struct probe_notes *notes = session->trials.notes;
	const struct plan *plan = &session->plan;
	struct plan_step best = { .action = PLAN_DONE };
	struct trial *trials = probe_notes_trials(notes);
	bool only_confirmed = plan_doubts_short_fits(trials, notes->count);

	free(trials);
	for (size_t i = 0; i < notes->count; i++) {
		int64_t micro = notes->items[i].trial.micro_batch;
		int64_t accum = plan_final_accum(plan, micro);
		const struct trial *last = probe_notes_last(notes, micro);

		if (micro <= best.micro_batch || !trial_fits(last) ||
		    (only_confirmed && !trial_is_confirmed(last)) ||
		    (plan->mode != PLAN_GROW &&
		     micro * accum * plan->asked.world_size !=
			     plan->asked.effective_batch))
			continue;
		best.micro_batch = micro;
		best.final_accum = accum;
	}
	return best;
}

/* Which of the limits ended it. */
static char *limit_words(const struct session *session)
{
	const struct options *options = session->given.request->options;
	int64_t started = session_loop_probes(&session->loop);

	const char *unit = started == 1 ? "probe" : "probes";

	return started >= options->search.max_probes
		       ? xasprintf("stopped after %lld %s (--max-probes %lld)",
				   (long long)started, unit,
				   (long long)options->search.max_probes)
		       : xasprintf("stopped after %lld %s (--time-limit)",
				   (long long)started, unit);
}

static void cut_short(struct session *session)
{
	struct plan_step best = best_tested(session);
	int number = session->loop.signal_number;

	assert(number || session->loop.out_of_time);
	if (best.micro_batch && is_believed(session, &best)) {
		fill_split(session, &best);
		strlist_add(&session->result->record.caveats,
			    trial_is_confirmed(probe_notes_last(
				    session->trials.notes, best.micro_batch))
				    ? "the tuning was cut short: more may fit"
				    : "unconfirmed: the tuning was cut short");
		add_doubt_of_steps(session, &best);
	}
	(void)session_end(
		session, number ? OUTCOME_INTERRUPTED : OUTCOME_TIME_LIMIT,
		number ? 128 + number : EXIT_TIME_LIMIT,
		number ? xstrdup("by a signal") : limit_words(session));
}

void session_answer_conclude(struct session *session,
			     const struct plan_step *step)
{
	const struct options *options = session->given.request->options;
	struct record *record = &session->result->record;

	if (session->result->message)
		return; /* it ended on the way */
	memory_target_add_caveat(session->given.target, &record->caveats);
	if (session_loop_must_end(&session->loop)) {
		cut_short(session);
	} else if (step->action == PLAN_NOTHING_FITS) {
		nothing_fits(session, step);
	} else if (!is_believed(session, step)) {
		(void)session_end_without_effect(session);
	} else {
		assert(step->action == PLAN_DONE);
		fill_split(session, step);
		session_caveats_add(session,
				    probe_notes_last(session->trials.notes,
						     step->micro_batch));
		add_doubt_of_steps(session, step);
		add_end_of_climb(session, step);
		predict(session, step);
		/* Of all else so many steps were asked for. */
		if (options->reuse.guard && !options->search.has_confirm_steps)
			record_await_run(record);
		(void)session_end(session, OUTCOME_TUNED, EXIT_DONE, NULL);
		session_answer_write_record(session);
	}
}
