/* `autofit estimate --phantom`: the largest split on many phantom cards. */
/* SPDX-License-Identifier: MIT */
/*
 * The cards come in groups on which PyTorch allocates the same bytes
 * (survey_cards.h). Of each group the largest card becomes a phantom, and
 * stands for the others one after the other, from the largest down: a size runs
 * once in a group, and is held against the limit of each card (session_survey).
 */
#include "launcher/survey/survey.h"

#include "base/alloc.h"
#include "base/log.h"
#include "launcher/admission/preconditions.h"
#include "launcher/admission/tuning_lease.h"
#include "launcher/options/exitcode.h"
#include "launcher/phantom/phantom_folder.h"
#include "launcher/phantom/phantom_report.h"
#include "launcher/report/json.h"
#include "launcher/report/report_answer.h"
#include "launcher/report/report_style.h"
#include "launcher/report/result_fill.h"
#include "launcher/request/end_signals.h"
#include "launcher/survey/survey_answer.h"
#include "launcher/survey/survey_cards.h"
#include "probes/phantom/phantom.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

/* Of one call. */
struct survey {
	struct options options; /* those given, of a tuning on phantom cards */
	struct request request;
	struct gpu_catalogue catalogue;
	struct survey_cards cards;
	struct session_card *found; /* one for each of the cards */
	struct result result;       /* of the last group; why it ended */
	struct strlist notes;
	size_t probes;
};

static void survey_add_note(struct strlist *notes, const char *text)
{
	if (strlist_find(notes, text) == notes->count)
		strlist_add(notes, text);
}

/* What was seen on the cards of a group goes with them. */
static void note_convolutions(struct survey *survey)
{
	struct phantom_seen *seen = xcalloc(1, sizeof(*seen));

	(void)phantom_look(survey->options.target.phantom_folder, seen, NULL);
	if (phantom_report_more(seen))
		survey_add_note(&survey->notes, phantom_report_more(seen));
	free(seen);
}

static int64_t context_more(const struct gpu_model *card,
			    const struct gpu_model *phantom)
{
	return (int64_t)card->context_bytes - (int64_t)phantom->context_bytes;
}

/* The phantom is there, and nobody else asks for it. */
static void run_group(struct survey *survey, struct session_setup *setup,
		      struct session_card *found, size_t count)
{
	const struct request *request = setup->request;
	struct result *result = &survey->result;
	struct error err = ERROR_INIT;
	bool waited = false;
	int code = memory_target_open(setup->target, request->options,
				      request->command.batch.world_size, &err);

	if (code == 0)
		code = device_locks_take(setup->guard, request, setup->target,
					 &waited, &err);
	if (code < 0)
		result_refuse(result, COMMAND_USAGE, err.message);
	else if (preconditions_check_outside(request, setup->target->device,
					     &err) != COMMAND_OK)
		result_refuse(result, COMMAND_REFUSED, err.message);
	else
		session_survey(setup, result, found, count);
	survey->probes += result->probes_run;
}

/* Cards first to first + count - 1; false: result says why not. */
static bool ask_group(struct survey *survey, struct lease *lease, size_t first,
		      size_t count)
{
	const struct gpu_model *card = &survey->cards.items[first];
	struct report_style style = report_style_choose(&survey->options);
	struct device_locks *guard = xcalloc(1, sizeof(*guard));
	struct memory_target *target = xcalloc(1, sizeof(*target));
	struct record_match match = { .grade = RECORD_NONE };
	struct session_setup setup = { .request = &survey->request,
				       .target = target,
				       .guard = guard,
				       .lease = lease,
				       .match = &match,
				       .style = &style };
	struct error err = ERROR_INIT;
	int64_t world = survey->request.command.batch.world_size;

	result_release(&survey->result);
	survey->result = (struct result)RESULT_INIT;
	result_begin(&survey->result, &survey->request);
	survey->options.target.card = *card;
	survey->options.target.card_count = world > 1 ? (int)world : 1;
	for (size_t i = 0; i < count; i++) {
		survey->found[first + i].usable_bytes = card[i].usable_bytes;
		survey->found[first + i].more_bytes =
			context_more(&card[i], card);
	}
	if (phantom_change(survey->options.target.phantom_folder, card,
			   survey->options.target.card_count, &err) < 0)
		result_refuse(&survey->result, COMMAND_USAGE, err.message);
	else
		run_group(survey, &setup, &survey->found[first], count);
	note_convolutions(survey);
	device_locks_release(guard);
	memory_target_release(target);
	free(guard);
	free(target);
	return survey->result.outcome == OUTCOME_TUNED;
}

/* As a tuning takes its command, and one group after the other. */
static void ask_all(struct survey *survey)
{
	const struct survey_cards *cards = &survey->cards;
	int before = survey->request.state->subreaper;
	struct error err = ERROR_INIT;
	struct lease lease;
	bool goes_on = true;
	size_t count;

	memset(&lease, 0, sizeof(lease));
	end_signals_hold();
	(void)prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	if (survey->request.command.batch.world_size > OPTIONS_CARDS_MAX)
		result_refuse(&survey->result, COMMAND_REFUSED,
			      "more ranks than cards that one phantom node "
			      "has");
	else if (preconditions_check_unsafe(&survey->request, &err) !=
			 COMMAND_OK ||
		 tuning_lease_join(&lease, &survey->request, &err) < 0)
		result_refuse(&survey->result, COMMAND_REFUSED, err.message);
	else
		for (size_t i = 0; i < cards->count && goes_on; i += count) {
			count = survey_cards_group(cards, i);
			goes_on = ask_group(survey, &lease, i, count);
		}
	lease_release(&lease);
	(void)prctl(PR_SET_CHILD_SUBREAPER, before, 0, 0, 0);
	survey->result.signal_number = end_signals_waiting();
	if (!survey->result.signal_number)
		end_signals_let(survey->request.state);
}

static int print_cards(struct survey *survey)
{
	struct estimate_case formula;
	const struct survey_answer answer = { .cards = &survey->cards,
					      .found = survey->found,
					      .formula = &formula,
					      .notes = &survey->notes };
	struct strbuf text = STRBUF_INIT;
	struct strbuf json = STRBUF_INIT;
	struct error err = ERROR_INIT;
	int code;

	if (estimate_case_of_command(&formula, &survey->request.command,
				     &survey->options,
				     &survey->request.environment, &err) < 0) {
		formula.has_model = false;
		strlist_addf(&survey->notes, "no formula: %s", err.message);
	}
	survey_answer_print(&text, &answer);
	json_write(&json, survey_answer_json(&answer), JSON_INDENT(2));
	code = report_answer(&survey->options, &text, &json);
	estimate_case_release(&formula);
	strbuf_release(&text);
	strbuf_release(&json);
	return code;
}

static int survey_tell(struct survey *survey, const struct process_state *state)
{
	struct result *result = &survey->result;

	if (result->signal_number)
		end_signals_die(state, result->signal_number);
	if (result->outcome != OUTCOME_TUNED) {
		log_error("%s", result->message);
		return result->exit_code;
	}
	strlist_addf(&survey->notes,
		     "by real allocations in %zu probes, not run on the cards; "
		     "left: beside the peak, of what programs can have",
		     survey->probes);
	return print_cards(survey);
}

/* The cards, the first of them as a phantom, and the command. */
static int survey_open(struct survey *survey, const struct process_state *state,
		       struct error *err)
{
	struct options *options = &survey->options;
	struct strlist environment = STRLIST_INIT;
	enum command_outcome outcome;
	int result;

	for (char **item = environ; item && *item; item++)
		strlist_add(&environment, *item);
	gpu_catalogue_of_user(&survey->catalogue, &environment, NULL);
	result = survey_cards_choose(&survey->cards, &survey->catalogue,
				     options->estimate.cards, err);
	if (result == 0) {
		options->target.card = survey->cards.items[0];
		options->target.phantom = survey->cards.items[0].name;
		result = phantom_folder_open(options, &environment, err);
	}
	strlist_release(&environment);
	if (result < 0) {
		result_refuse(&survey->result, COMMAND_USAGE, err->message);
		return result;
	}
	survey->found = xcalloc(survey->cards.count, sizeof(*survey->found));
	outcome = request_prepare(&survey->request, options, state, err);
	if (outcome != COMMAND_OK)
		result_refuse(&survey->result, outcome, err->message);
	return outcome == COMMAND_OK ? 0 : -EINVAL;
}

int survey_command(const struct options *options,
		   const struct process_state *state)
{
	struct survey *survey = xcalloc(1, sizeof(*survey));
	struct error err = ERROR_INIT;
	int code;

	survey->options = *options;
	survey->options.subcommand = SUBCOMMAND_TUNE;
	survey->options.target.device = DEVICE_PHANTOM;
	survey->options.target.card_count = 1;
	survey->options.reuse.fresh = true;
	survey->result = (struct result)RESULT_INIT;
	if (survey_open(survey, state, &err) == 0)
		ask_all(survey);
	code = survey_tell(survey, state);
	/* All else is the caller's. */
	phantom_folder_close(&survey->options);
	free(survey->options.target.phantom_folder);
	request_release(&survey->request);
	result_release(&survey->result);
	survey_cards_release(&survey->cards);
	gpu_catalogue_release(&survey->catalogue);
	strlist_release(&survey->notes);
	free(survey->found);
	free(survey);
	return code;
}
