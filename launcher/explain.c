/* `autofit explain`: what would be done, and why; starts nothing. */
/* SPDX-License-Identifier: MIT */
#include "launcher/explain.h"

#include "base/alloc.h"
#include "base/log.h"
#include "base/units.h"
#include "configs/records/record.h"
#include "launcher/admission/preconditions.h"
#include "launcher/command/parts/knob.h"
#include "launcher/command/text/command_outcome.h"
#include "launcher/command/text/knob_kind.h"
#include "launcher/command/text/text.h"
#include "launcher/explain_plan.h"
#include "launcher/explain_runs.h"
#include "launcher/launch.h"
#include "launcher/options/exitcode.h"
#include "launcher/records/record_answer.h"
#include "launcher/report/report_answer.h"
#include "launcher/report/report_style.h"
#include "launcher/report/result_fill.h"
#include "launcher/request/memory_target.h"
#include "launcher/request/memory_target_words.h"
#include "launcher/tuning/isolation/probe_isolation.h"
#include "launcher/tuning/session.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Where the words behind a label begin. */
#define LABEL_COLUMNS 10

/* What the estimator may learn from the command. */
static void explain_add_model(struct strbuf *out, const struct command *command)
{
	bool any = false;

	for (int field = 0; field < MODEL_FIELDS; field++) {
		if (!command->model[field])
			continue;
		strbuf_addf(out, "%s%s ", any ? ", " : "model     ",
			    preset_model_field_name(
				    (enum preset_model_field)field));
		text_add_safe(out, command->model[field], false);
		any = true;
	}
	if (any)
		strbuf_addch(out, '\n');
}

static void explain_add_launcher(struct strbuf *out,
				 const struct command *command)
{
	long long world = (long long)command->batch.world_size;

	if (command->view.launcher)
		strbuf_addf(out, "launcher  %s, %lld %s\n",
			    command->view.launcher, world,
			    world == 1 ? "rank" : "ranks");
}

static void add_command(struct strbuf *out, const struct request *request)
{
	const struct command *command = &request->command;

	strbuf_addf(out, "preset    %s (%s)\n", command->preset->name,
		    command->preset_evidence ? command->preset_evidence
					     : "no other matches");
	if (request->script) {
		strbuf_adds(out, "script    ");
		text_add_safe(out, request->script, false);
		strbuf_addch(out, '\n');
	}
	explain_add_launcher(out, command);
	for (int kind = 0; kind < KNOB_KINDS; kind++) {
		const struct knob *knob = &command->knobs[kind];

		if (knob->form == KNOB_ABSENT)
			continue;
		strbuf_addf(out,
			    "knob      %s: ", knob_title((enum knob_kind)kind));
		text_add_safe(out, knob->name ? knob->name : "placeholder",
			      false);
		if (knob->value)
			strbuf_addf(out, " = %lld", (long long)knob->value);
		strbuf_addf(out, " (%s)\n",
			    knob->evidence ? knob->evidence : "as given");
	}
	if (command_rows_are_open(command))
		strbuf_addf(out, "open      %s\n", command->open_words);
	if (command->assumption)
		strbuf_addf(out, "meaning   %s\n", command->assumption);
	if (command->view.script != NO_INDEX ||
	    command->view.module != NO_INDEX)
		strbuf_adds(out,
			    request->is_seen
				    ? "seen      read as an earlier probe saw "
				      "it\n"
				    : "seen      not yet: probes of a PyTorch "
				      "program show rows, passes and ranks\n");
	if (command_edits_script(command, request->options->batch.choice ==
						  EFFECTIVE_KEEP))
		strbuf_adds(out,
			    "copy      no argument sets it: `autofit tune` "
			    "tells the line to write, --edit-copy runs a "
			    "copy\n");
	if (command->constraints.words)
		strbuf_addf(out, "rules     %s\n", command->constraints.words);
	for (size_t i = 0; i < command->caveats.count; i++)
		strbuf_addf(out, "caveat    %s\n", command->caveats.items[i]);
	explain_add_model(out, command);
}

static void explain_add_split(struct strbuf *out, const struct record *record)
{
	strbuf_addf(out, "micro %lld x accum %lld",
		    (long long)record->batch.micro_batch,
		    (long long)record->batch.grad_accum);
}

/* How a launch would use the record that was found. */
static const char *record_use(const struct request *request,
			      const struct record_match *match, bool is_answer)
{
	if (is_answer)
		return match->grade == RECORD_EXACT
			       ? "exact, used without a probe"
			       : "near, used without a probe: --trust-record";
	if (record_answer_is_checkable(match, request))
		return "near, one probe checks its split";
	return match->grade == RECORD_EXACT
		       ? "it does not answer all that is asked now, and is a "
			 "hint"
		       : "a hint for the search";
}

/* Which record would be used, and why no better one. */
static void add_record(struct strbuf *out, const struct request *request,
		       const struct record_match *match,
		       const struct record *record, bool is_answer)
{
	if (command_rows_are_open(&request->command)) {
		strbuf_adds(out,
			    "record    none of sizes that are not known\n");
		return;
	}
	if (match->grade == RECORD_NONE) {
		strbuf_adds(out, request->options->reuse.fresh
					 ? "record    none used: --fresh\n"
					 : "record    none of this command\n");
		return;
	}
	strbuf_addf(out, "record    %s: %s (", record->id,
		    record_use(request, match, is_answer));
	explain_add_split(out, record);
	strbuf_adds(out, ")\n");
	if (match->difference && *match->difference) {
		strbuf_adds(out, "          differs: ");
		text_add_safe(out, match->difference, false);
		strbuf_addch(out, '\n');
	}
}

static void add_start(struct strbuf *out, const struct result *result)
{
	strbuf_adds(out, "record    not asked: ");
	text_add_safe(out, result->resumes, false);
	strbuf_adds(out, ", so the split of its first start is used (");
	explain_add_split(out, &result->record);
	strbuf_adds(out, ")\n");
}

/* Where a launch would end before it starts anything; 0: nowhere. */
static int add_isolation(struct strbuf *out, const struct request *request)
{
	struct probe_isolation isolation;
	struct error err = ERROR_INIT;
	char *name = xasprintf("explain-%d", (int)getpid());
	int result = probe_isolation_open(&isolation, request, &err);

	if (result == 0)
		result =
			probe_isolation_choose(&isolation, request, name, &err);
	if (isolation.choice.kind != ISOLATION_KINDS) {
		strbuf_addf(out, "writes    %s",
			    isolation_words(isolation.choice.kind));
		if (isolation.choice.why_not[0])
			strbuf_addf(out, "; no stronger way: %s",
				    isolation.choice.why_not);
		strbuf_addch(out, '\n');
	}
	if (result < 0)
		strbuf_addf(out, "writes    would be refused: %s\n",
			    err.message);
	free(name);
	probe_isolation_release(&isolation);
	return result < 0 ? EXIT_REFUSED : 0;
}

/* The same. */
static int add_refusal(struct strbuf *out, const struct request *request)
{
	struct error err = ERROR_INIT;
	enum command_outcome unsafe = preconditions_check_unsafe(request, &err);

	if (request->place.world > 1)
		strbuf_addf(out,
			    "ranks     one of %lld (%s): nothing is probed\n",
			    (long long)request->place.world,
			    request->place.variable);
	if (unsafe != COMMAND_OK)
		strbuf_addf(out, "probing   would be refused: %s\n",
			    err.message);
	if (launch_lacks_copy(request))
		return EXIT_NOT_RECOGNISED;
	return request->place.world > 1 || unsafe != COMMAND_OK ? EXIT_REFUSED
								: 0;
}

/* What a launch would end with; 0: with the command's own. */
static void add_end(struct strbuf *out, const struct request *request, int code,
		    struct result *result)
{
	const struct options *options = request->options;

	if (code == 0 || options->reuse.no_probe ||
	    options->reuse.otherwise_run)
		return;
	result->exit_code = code;
	strbuf_addf(out, "exit      %d, as a launch would\n", code);
}

static void add_target(struct strbuf *out, const struct request *request,
		       const struct memory_target *target,
		       const struct error *err)
{
	char budget[BYTES_TEXT_MAX];
	char limit[BYTES_TEXT_MAX];

	strbuf_adds(out, "device    ");
	if (*err->message) {
		strbuf_addf(out, "%s\n", err->message);
		return;
	}
	memory_target_words(target, out);
	strbuf_addf(out, ", budget %s (%s), limit %s\n",
		    bytes_format(budget, target->budget_bytes),
		    memory_target_budget_source(target, request->options),
		    bytes_format(limit, target->limit_bytes));
}

/* The answer of a record, or what a tuning would begin with. */
static void explain_decide(struct explained *explained,
			   const struct session_setup *setup,
			   const struct record *answer)
{
	struct plan_step winner;

	if (answer) {
		explained->micro_batch = answer->batch.micro_batch;
		explained->grad_accum = answer->batch.grad_accum;
		explained->first.action = PLAN_DONE;
		return;
	}
	explained->first = session_first_step(setup, &winner);
	if (explained->first.action != PLAN_PROBE)
		return;
	explained->micro_batch = winner.micro_batch;
	explained->grad_accum = winner.final_accum;
}

static void explain(struct strbuf *out, const struct request *request,
		    struct result *result)
{
	const struct batch *own = &request->command.batch;
	struct explained explained = {
		.request = request,
		.micro_batch = own->micro_batch > 0 ? own->micro_batch : 1,
		.grad_accum = own->grad_accum > 0 ? own->grad_accum : 1,
	};
	struct record_match match = { .grade = RECORD_NONE };
	struct error err = ERROR_INIT, no_target = ERROR_INIT;
	struct memory_target target;
	const struct session_setup setup = { .request = request,
					     .target = &target,
					     .match = &match };
	bool resumed = record_answer_start(result, request) > 0;
	bool is_answer;
	int code = 0, refused, unwritable;

	(void)memory_target_open(&target, request->options, own->world_size,
				 &no_target);
	if (!resumed && !command_rows_are_open(&request->command) &&
	    record_answer_find(&match, request, &err) < 0) {
		strbuf_addf(out, "record    %s\n", err.message);
		code = EXIT_AUTOFIT_FAILED;
	}
	is_answer = resumed || record_answer_use(result, &match, request) > 0;
	add_command(out, request);
	add_target(out, request, &target, &no_target);
	if (resumed)
		add_start(out, result);
	else
		add_record(out, request, &match,
			   is_answer ? &result->record : &match.record,
			   is_answer);
	refused = add_refusal(out, request);
	unwritable = add_isolation(out, request);
	if (!code && !is_answer)
		code = refused              ? refused
		       : *no_target.message ? EXIT_AUTOFIT_FAILED
					    : unwritable;
	add_end(out, request, code, result);
	explain_decide(&explained, &setup, is_answer ? &result->record : NULL);
	explain_runs_add(out, &explained);
	result->plan = explain_plan(&explained);
	result->outcome = OUTCOME_PLANNED;
	result->record_grade = record_grade_name(match.grade);
	free(result->difference);
	result->difference =
		match.difference ? xstrdup(match.difference) : NULL;
	record_match_release(&match);
	memory_target_release(&target);
}

int explain_command(const struct options *options,
		    const struct process_state *state)
{
	struct result result = RESULT_INIT;
	struct strbuf out = STRBUF_INIT, shown = STRBUF_INIT;
	struct error err = ERROR_INIT;
	struct request request;
	enum command_outcome outcome =
		request_prepare(&request, options, state, &err);
	int code;

	if (outcome == COMMAND_OK) {
		result_begin(&result, &request);
		explain(&out, &request, &result);
	} else {
		result_refuse(&result, outcome, err.message);
		log_error("%s", err.message);
	}
	text_add_lines(&shown, strbuf_text(&out), LABEL_COLUMNS,
		       report_width() - 1);
	code = result.exit_code;
	if (result_write_json(options, &result) < 0)
		code = EXIT_AUTOFIT_FAILED;
	if (!options->output.json || strcmp(options->output.json, "-") != 0)
		code = report_print(&shown, code);
	strbuf_release(&shown);
	strbuf_release(&out);
	result_release(&result);
	request_release(&request);
	return code;
}
