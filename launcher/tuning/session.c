/* A tuning: probes until the plan is done, then the record. */
/* SPDX-License-Identifier: MIT */
/*
 * The life of a tuning, from open to answer:
 *
 *  1. Plan (plan.h): what is kept of the command's effective batch, which sizes
 *     its framework takes, and where to start: by the estimate, by a record of
 *     a similar command, else with the user's own size.
 *  2. Open: logs, the isolation of probes (tried out once), patterns for their
 *     output, the journal with the probes of an earlier start that was cut off,
 *     and the loop that watches signals and timers.
 *  3. A record that is near (same device and split, something else differs) is
 *     checked by one probe. If that shows the recorded peak, the record is
 *     renewed, and no more is asked.
 *  4. Turns (session_turn.h): the plan names a step from all finished trials,
 *     one probe runs it, its trial is noted in result and journal; or several
 *     probes side by side, each on a GPU of its own. The first
 *     probe shows whether the command uses a GPU, and may move the limits.
 *     Before an answer counts, sizes must be seen to take effect
 *     (effect_check.h). A turn can end the tuning with a message.
 *  5. Conclude (session_answer.h): the plan's last step becomes split, caveats
 *     and record; or it is said why there is none.
 *
 * A signal or the time limit may come at any time: the loop cancels the probe
 * under way, no other is started, and the largest split that fitted so far is
 * named. Calls go downwards only: nothing below calls this file.
 */
#include "launcher/tuning/session.h"

#include "base/alloc.h"
#include "base/log.h"
#include "launcher/options/exitcode.h"
#include "launcher/tuning/effect/meaning.h"
#include "launcher/tuning/session_answer.h"
#include "launcher/tuning/session_estimate.h"
#include "launcher/tuning/session_lanes.h"
#include "launcher/tuning/session_limits.h"
#include "launcher/tuning/session_meaning.h"
#include "launcher/tuning/session_record.h"
#include "launcher/tuning/session_turn.h"
#include "search/accumulation.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#define EXACT_UP_TO 64
/* No more multiples of a size are tried for one that is legal. */
#define MULTIPLES_MAX 4096
static void set_plan(struct plan *plan, const struct request *request)
{
	const struct options *options = request->options;
	const struct command *command = &request->command;

	/* Without an effective batch to keep, the largest size is all there
	 * is to look for. */
	if (options->batch.choice == EFFECTIVE_GROW)
		plan->mode = PLAN_GROW;
	else if (options->search.largest || !request->asked.effective_batch)
		plan->mode = PLAN_LARGEST;
	else
		plan->mode = PLAN_KEEP;
	plan->takes_fastest = options->search.fastest;
	plan->own_micro = command->batch.micro_batch;
	plan->strategy = search_strategy_find(options->search.strategy);
	assert(plan->strategy && "the options know no other");
	plan->asked = request->asked;
	plan->constraints = command->constraints;
	plan->has_accumulation =
		!command->constraints.one_accum && command_trades(command);
	plan->accum_matters = command->preset->memory_grows_with_accum;
	plan->problem.multiple_of =
		accumulation_multiple(options->batch.micro_multiple_of,
				      command->constraints.micro_multiple_of);
	if (options->batch.micro_multiple_of == 1)
		plan->problem.free_below =
			command->constraints.micro_free_below;
	plan->problem.max_micro = request->max_micro;
	plan->problem.exact_up_to = EXACT_UP_TO;
	plan->problem.tolerance = options->search.tolerance;
	assert(plan->problem.multiple_of >= 1 && plan->problem.max_micro >= 1);
	assert(plan->mode != PLAN_KEEP || plan->asked.world_size >= 1);
}

static void set_start(struct session *session)
{
	const struct record_match *match = session->given.match;
	struct search_problem *problem = &session->plan.problem;
	struct result *result = session->result;
	int64_t own = session->given.request->command.batch.micro_batch;

	problem->start = own > 0 ? own : 1;
	session_estimate_start(&session->given, problem, result);
	if (match->grade == RECORD_NONE)
		return;
	session_record_start(session);
	result->record_grade = record_grade_name(match->grade);
	free(result->difference);
	result->difference =
		xstrdup(match->grade == RECORD_EXACT
				? "it does not answer all that is asked now"
				: match->difference);
}

static int open_session(struct session *session, struct error *err)
{
	struct probe_kit *kit = &session->kit;
	struct record *record = &session->result->record;
	struct session_trials *trials = &session->trials;
	int result = probe_kit_open(kit, &session->given, err);

	if (result < 0)
		return result;
	free(record->isolation);
	record->isolation = xstrdup(isolation_name(kit->isolation.choice.kind));
	result = session_trials_open(trials, session->given.request, err);
	if (result < 0)
		return result;
	session_meaning_take_earlier(session);
	session_limits_rejudge_all(session);
	for (size_t i = 0; i < trials->notes->count; i++)
		session_trials_learn(trials, &trials->notes->items[i].trial,
				     NULL);
	return session_loop_open(&session->loop, &session->given, err);
}

/* The first size from this one on that the framework takes; 0: none. */
static int64_t legal_size(const struct plan *plan, int64_t micro, int64_t most)
{
	int64_t size = problem_ceiling(&plan->problem, micro);
	int64_t divides = plan->constraints.micro_divides;

	assert(micro >= 1);
	for (int i = 0; i < MULTIPLES_MAX && size && size <= most; i++) {
		if (divides <= 0 || divides % size == 0)
			return size;
		size = problem_ceiling(&plan->problem, size + 1);
	}
	return 0;
}

/* For the command's own split nothing is written. But steps that the output
 * alone tells must follow the size. */
static bool needs_no_effect(const struct session *session,
			    const struct plan_step *step)
{
	const struct trial *trial =
		probe_notes_last(session->trials.notes, step->micro_batch);

	return step->action == PLAN_DONE && session_is_own(session, step) &&
	       !effect_check_rests_on_output(trial);
}

/*
 * The plan is at its end: is a size to be probed first, to see that sizes take
 * effect at all? Then that is the step.
 */
static void ask_for_effect(struct session *session, struct plan_step *step)
{
	const struct plan *plan = &session->plan;
	const struct probe_notes *notes = session->trials.notes;
	struct effect_check check;
	int64_t micro;

	session->effect_check_micro = 0;
	if (step->action == PLAN_PROBE ||
	    !session_trials_largest_fit(&session->trials) ||
	    needs_no_effect(session, step))
		return;
	check = session_effect_check(session, NULL);
	if (check.state != EFFECT_UNKNOWN || !check.next_micro)
		return;
	micro = legal_size(plan, check.next_micro,
			   session_largest_reach(session));
	if (!micro)
		return;
	for (size_t i = 0; i < notes->count; i++)
		if (notes->items[i].trial.micro_batch == micro &&
		    notes->items[i].trial.verdict != VERDICT_DISTURBED)
			return;
	*step = plan_probe(plan, micro);
	assert(step->action == PLAN_PROBE && step->probe_accum >= 1);
	session->effect_check_micro = micro;
}

/*
 * Sizes that nobody gave are read from a preset or a script: a probe of the
 * command as it is shows them, before one with others is believed.
 */
static bool asks_for_defaults(const struct session *session,
			      struct plan_step *step)
{
	const struct command *command = &session->given.request->command;
	bool accum = meaning_is_default(command, KNOB_ACCUM);
	const struct batch *own = &command->batch;

	if (!own->micro_batch ||
	    (!accum && !meaning_is_default(command, KNOB_MICRO)) ||
	    session_trials_has(&session->trials, own->micro_batch,
			       accum ? own->grad_accum : 0))
		return false;
	*step = plan_probe(&session->plan, own->micro_batch);
	if (accum)
		step->probe_accum = own->grad_accum;
	return true;
}

/* What the phantom said is tried once, where that is still open. */
static bool asks_phantoms_answer(const struct session *session,
				 struct plan_step *step)
{
	const struct probe_notes *notes = session->trials.notes;
	int64_t micro = session->phantom.micro_batch;

	if (!micro || step->action != PLAN_PROBE || step->is_confirmation ||
	    micro <= session_trials_largest_fit(&session->trials) ||
	    session_trials_has(&session->trials, micro, 0))
		return false;
	for (size_t i = 0; i < notes->count; i++)
		if (trial_is_misfit(&notes->items[i].trial) &&
		    notes->items[i].trial.micro_batch <= micro)
			return false;
	*step = plan_probe(&session->plan, micro);
	step->probe_accum = step->final_accum;
	return true;
}

static struct plan_step next_step(struct session *session)
{
	struct trial *trials = probe_notes_trials(session->trials.notes);
	struct plan_step step =
		plan_next(&session->plan, trials, session->trials.notes->count);

	free(trials);
	if (session->confirms_all && step.action == PLAN_PROBE) {
		step.is_confirmation = true;
		step.probe_accum = step.final_accum;
	}
	if (asks_for_defaults(session, &step))
		return step;
	if (session->asks_own) {
		step = plan_probe(
			&session->plan,
			session->given.request->command.batch.micro_batch);
		step.probe_accum = step.final_accum;
		step.is_confirmation = true;
		return step;
	}
	if (!asks_phantoms_answer(session, &step))
		ask_for_effect(session, &step);
	return step;
}

/*
 * By the probes of this tuning, and those of a record of a similar command: so
 * long a phantom may be asked; 0: it does not pay.
 */
static int64_t phantom_limit_ms(struct session *session)
{
	const struct record_match *match = session->given.match;
	struct trial *trials = probe_notes_trials(session->trials.notes);
	int64_t limit_ms =
		phantom_start_limit_ms(trials, session->trials.notes->count);

	free(trials);
	/* Where its answer counts here there is nothing to ask. */
	if (!limit_ms && match->grade != RECORD_NONE &&
	    match->record.limit_bytes != session->given.target->limit_bytes) {
		trials = probe_notes_trials(&match->record.probes);
		limit_ms = phantom_start_limit_ms(trials,
						  match->record.probes.count);
		free(trials);
	}
	return limit_ms;
}

/* As if a record said it: a start, and a size that is too large. */
static void start_from_phantom(struct session *session)
{
	const struct phantom_said *said = &session->phantom;
	struct search_problem *problem = &session->plan.problem;
	struct result *result = session->result;

	assert(said->micro_batch >= 1);
	assert(!said->smallest_misfit ||
	       said->smallest_misfit > said->micro_batch);
	problem->estimated_bytes_per_sample = 0;
	problem->start = said->micro_batch;
	problem->recorded_misfit = said->smallest_misfit;
	session->hint_peak_bytes = said->peak_bytes;
	result->phantom_micro = said->micro_batch;
	result->phantom_probes = said->probes;
	result->phantom_seconds = said->seconds;
}

static void tell_phantom(const struct session *session, bool is_asked)
{
	const struct phantom_said *said = &session->phantom;
	struct strbuf text = STRBUF_INIT;

	if (session->given.request->options->output.quiet)
		return;
	if (!is_asked)
		strbuf_adds(&text, "  asking a phantom of the GPU where to go "
				   "on, which takes no time of the GPU\n");
	else if (said->micro_batch)
		strbuf_addf(&text,
			    "  the phantom says micro %lld (%lld probes there, "
			    "%.0f s): the GPU is asked that next\n",
			    (long long)said->micro_batch,
			    (long long)said->probes, said->seconds);
	else
		strbuf_adds(&text, "  the phantom says nothing of it\n");
	session_print(&text);
	strbuf_release(&text);
}

/*
 * Before a real probe: is there more to search than a phantom costs? It is
 * asked once, and what it says is where the search goes on, never an answer.
 */
static void consider_phantom(struct session *session)
{
	const struct session_setup *given = &session->given;
	const struct options *options = given->request->options;
	struct phantom_question question = {
		.request = given->request,
		.target = given->target,
		.must_end = session_loop_look_up,
		.context = &session->loop,
	};
	struct plan_step step;
	struct error err = ERROR_INIT;

	if (session->phantom_is_settled ||
	    !phantom_start_can(given->request, given->target)) {
		session->phantom_is_settled = true;
		return;
	}
	step = next_step(session);
	if (!options->search.phantom_start)
		question.limit_ms = phantom_limit_ms(session);
	if (step.action != PLAN_PROBE || step.is_confirmation ||
	    (!options->search.phantom_start && !question.limit_ms))
		return;
	session->phantom_is_settled = true;
	tell_phantom(session, false);
	if (phantom_start_ask(&question, &session->phantom, &err) < 0)
		log_verbose("no phantom was asked: %s", err.message);
	else if (session->phantom.micro_batch)
		start_from_phantom(session);
	tell_phantom(session, true);
}

struct plan_step session_run_all(struct session *session)
{
	const struct options *options = session->given.request->options;
	struct session_loop *loop = &session->loop;
	struct plan_step step = next_step(session);
	enum session_turn turn = SESSION_GO_ON;

	while (step.action == PLAN_PROBE && turn != SESSION_END &&
	       !session_loop_must_end(loop)) {
		/* Probes of this run count: an earlier one that was cut short
		 * goes on. */
		if (session_loop_probes(loop) >= options->search.max_probes ||
		    session->trials.notes->count >= SEARCH_TRIALS_MAX) {
			loop->out_of_time = true;
			break;
		}
		turn = session_lanes_take(session, &step);
		if (turn != SESSION_GO_ON)
			continue;
		consider_phantom(session);
		step = next_step(session);
		if (step.action == PLAN_NOTHING_FITS &&
		    session_trials_doubt_words(&session->trials))
			step = next_step(session);
	}
	return step;
}

static void search_answer(struct session *session, void *nothing)
{
	struct plan_step step = next_step(session);

	(void)nothing;
	session->result->first_micro = step.micro_batch;
	session_turn_print_start(session);
	step = (struct plan_step){ .action = PLAN_NOTHING_FITS };
	if (session_record_check(session))
		return;
	if (!session->result->message) {
		consider_phantom(session);
		step = session_run_all(session);
	}
	session->given.guard->must_end = NULL;
	(void)session_loop_look_up(&session->loop);
	session_answer_conclude(session, &step);
}

struct session session_of(const struct session_setup *setup,
			  struct result *result)
{
	struct session session = {
		.given = *setup,
		.result = result,
		.trials = { .notes = &result->record.probes,
			    .journal = { .fd = -1 } },
	};

	set_plan(&session.plan, setup->request);
	session_limits_set(&session);
	set_start(&session);
	return session;
}

struct plan_step session_first_step(const struct session_setup *setup,
				    struct plan_step *winner)
{
	struct result result = RESULT_INIT;
	struct session session = session_of(setup, &result);
	struct plan_step step =
		session_record_can_check(setup)
			? session_record_step(&setup->match->record)
			: next_step(&session);
	int64_t split = step.micro_batch;

	*winner = step;
	if (step.action == PLAN_PROBE)
		split = plan_split_at_most(&session.plan, split);
	if (split < step.micro_batch)
		*winner = plan_probe(&session.plan, split);
	result_release(&result);
	return step;
}

void session_run(struct session *session,
		 void (*search)(struct session *session, void *context),
		 void *context)
{
	struct device_locks *locks = session->given.guard;
	struct result *result = session->result;
	uint64_t started_ns = uv_hrtime();
	struct error err = ERROR_INIT;
	int code = open_session(session, &err);

	if (code == 0) {
		locks->context = &session->loop;
		locks->must_end = session_loop_look_up;
		search(session, context);
		locks->must_end = NULL;
	} else {
		(void)session_end(
			session,
			code == -EPERM ? OUTCOME_REFUSED : OUTCOME_ERROR,
			code == -EPERM ? EXIT_REFUSED : EXIT_AUTOFIT_FAILED,
			xstrdup(err.message));
	}
	assert(!session->loop.lanes[0].probe);
	preloaded_release(&session->preloaded);
	spare_gpus_release(&session->spare);
	session_loop_close(&session->loop);
	result->signal_number = session->loop.signal_number;
	result->probes_run = result->earlier.probes_run +
			     (size_t)session_loop_probes(&session->loop);
	result->seconds = result->earlier.seconds +
			  (double)(uv_hrtime() - started_ns) / 1e9;
	journal_close(&session->trials.journal);
	probe_kit_release(&session->kit);
}

void session_tune(const struct session_setup *setup, struct result *result)
{
	struct session session = session_of(setup, result);

	session_run(&session, search_answer, NULL);
}
