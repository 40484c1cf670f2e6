/* `autofit explain`: what would be done, and why; starts nothing. */
/* SPDX-License-Identifier: MIT */
#include "launcher/explain.h"

#include "base/log.h"
#include "base/units.h"
#include "configs/record.h"
#include "launcher/exitcode.h"
#include "launcher/launch.h"
#include "launcher/plan.h"
#include "launcher/session.h"
#include "launcher/target.h"
#include "launcher/text.h"
#include "probes/environment.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHOWN_ARGUMENT_MAX 200

static const char *const knob_titles[KNOB_KINDS] = {
	[KNOB_MICRO] = "micro-batch",      [KNOB_ACCUM] = "accumulation",
	[KNOB_GLOBAL] = "effective batch", [KNOB_STEPS] = "step limit",
	[KNOB_OUTPUT] = "output folder",
};

static void add_argument(struct strbuf *out, const char *sign,
			 const char *argument)
{
	char *quoted = shell_quote(argument);
	size_t cut = text_cut(quoted, SHOWN_ARGUMENT_MAX);

	strbuf_addf(out, "    %s ", sign);
	if (quoted[cut]) {
		quoted[cut] = '\0';
		text_add_safe(out, quoted, false);
		strbuf_adds(out, "...");
	} else {
		text_add_safe(out, quoted, false);
	}
	strbuf_addch(out, '\n');
	free(quoted);
}

/* Arguments are inserted, dropped or replaced, never moved. */
static void add_difference(struct strbuf *out, const struct strlist *before,
			   const struct strlist *after)
{
	size_t first = 0;
	size_t b = before->count;
	size_t a = after->count;

	while (first < b && first < a &&
	       strcmp(before->items[first], after->items[first]) == 0)
		first++;
	while (b > first && a > first &&
	       strcmp(before->items[b - 1], after->items[a - 1]) == 0) {
		b--;
		a--;
	}
	if (first == b && first == a)
		strbuf_adds(out, "    (exactly as given)\n");
	for (size_t i = first; i < b; i++)
		add_argument(out, "-", before->items[i]);
	for (size_t i = first; i < a; i++)
		add_argument(out, "+", after->items[i]);
}

static void add_command(struct strbuf *out, const struct job *job)
{
	const struct command *command = &job->command;

	strbuf_addf(out, "preset    %s (%s)\n", command->preset->name,
		    command->preset_evidence ? command->preset_evidence
					     : "no other matches");
	if (job->script) {
		strbuf_adds(out, "script    ");
		text_add_safe(out, job->script, false);
		strbuf_addch(out, '\n');
	}
	if (command->view.launcher)
		strbuf_addf(out, "launcher  %s, %lld ranks\n",
			    command->view.launcher,
			    (long long)command->world_size);
	for (int kind = 0; kind < KNOB_KINDS; kind++) {
		const struct knob *knob = &command->knobs[kind];

		if (knob->form == KNOB_ABSENT)
			continue;
		strbuf_addf(out, "knob      %s: ", knob_titles[kind]);
		text_add_safe(out, knob->name ? knob->name : "placeholder",
			      false);
		if (knob->value)
			strbuf_addf(out, " = %lld", (long long)knob->value);
		strbuf_addf(out, " (%s)\n",
			    knob->evidence ? knob->evidence : "as given");
	}
	if (command->assumption)
		strbuf_addf(out, "meaning   %s\n", command->assumption);
}

static void add_record(struct strbuf *out, const struct job *job,
		       const struct result *result, const struct record *hint)
{
	if (result->outcome == OUTCOME_REUSED) {
		strbuf_addf(out,
			    "record    %s: exact, used without a probe "
			    "(micro %lld x accum %lld)\n",
			    result->record.id,
			    (long long)result->record.micro_batch,
			    (long long)result->record.grad_accum);
		return;
	}
	if (job->options->fresh)
		strbuf_adds(out, "record    none used: --fresh\n");
	else if (hint)
		strbuf_addf(out,
			    "record    %s: a hint, its size is probed first "
			    "(micro %lld); command, files, device or options "
			    "differ\n",
			    hint->id, (long long)hint->micro_batch);
	else
		strbuf_adds(out, "record    none of this command\n");
}

/* Most probes accumulate twice at most; see launcher/plan.h. */
static int64_t probe_accum(int64_t accum)
{
	return accum < 2 ? accum : 2;
}

static void add_probe_environment(struct strbuf *out, const struct job *job)
{
	const struct probe_environment additions = {
		.id = "<id>",
		.micro_batch = job->command.micro_batch,
		.grad_accum = probe_accum(job->command.grad_accum),
		.scratch = "<scratch>",
		.channel = "<scratch>/channel",
		.hook = "<scratch>/hook",
		.probe_env = &job->options->probe_env,
	};
	struct strlist environment = STRLIST_INIT;

	probe_environment_make(&environment, &job->environment, &additions);
	strbuf_adds(out, "probes    run with\n");
	for (size_t i = 0; i < environment.count; i++)
		if (strlist_find(&job->environment, environment.items[i]) ==
		    job->environment.count)
			add_argument(out, "+", environment.items[i]);
	strlist_release(&environment);
}

static void add_runs(struct strbuf *out, const struct job *job, int64_t micro,
		     int64_t accum)
{
	const struct command_values probe = {
		.micro_batch = micro,
		.grad_accum = probe_accum(accum),
		.steps = 2 * job->options->confirm_steps,
		.output = "<scratch>/out",
		.is_probe = true,
	};
	const struct command_values final = {
		.micro_batch = micro,
		.grad_accum = accum,
	};
	struct strlist argv = STRLIST_INIT;
	struct strlist changes = STRLIST_INIT;

	strbuf_addf(out,
		    "first probe (micro %lld), as a change of the "
		    "command\n",
		    (long long)micro);
	command_rewrite(&job->command, &probe, &argv, &changes);
	add_difference(out, &job->command.argv, &argv);
	strlist_release(&argv);
	strlist_release(&changes);
	strbuf_addf(out,
		    "final command, were micro %lld the answer, as a "
		    "change\n",
		    (long long)micro);
	command_rewrite(&job->command, &final, &argv, &changes);
	add_difference(out, &job->command.argv, &argv);
	for (size_t i = 0; i < changes.count; i++)
		add_argument(out, "+", changes.items[i]);
	strlist_release(&argv);
	strlist_release(&changes);
}

static void add_target(struct strbuf *out, const struct job *job)
{
	struct error err = ERROR_INIT;
	struct target target;
	char budget[BYTES_TEXT_MAX];
	char limit[BYTES_TEXT_MAX];

	if (target_open(&target, job->options, job->command.world_size, &err) <
	    0) {
		strbuf_addf(out, "device    %s\n", err.message);
	} else {
		strbuf_adds(out, "device    ");
		target_words(&target, out);
		strbuf_addf(out, ", budget %s (%s), limit %s\n",
			    bytes_format(budget, target.budget_bytes),
			    target_budget_source(&target, job->options),
			    bytes_format(limit, target.limit_bytes));
	}
	target_release(&target);
}

static void explain(struct strbuf *out, const struct job *job,
		    struct result *result)
{
	struct record hint = RECORD_INIT;
	bool has_hint = false;
	int64_t micro = job->command.micro_batch;
	int64_t accum = job->command.grad_accum;

	if (launch_find_record(job, result)) {
		micro = result->record.micro_batch;
		accum = result->record.grad_accum;
	} else {
		has_hint = !job->options->fresh &&
			   record_find_hint(&hint, job->paths.records,
					    job->subject, job->identity) > 0;
		result->outcome = OUTCOME_PLANNED;
	}
	add_command(out, job);
	add_target(out, job);
	add_record(out, job, result, has_hint ? &hint : NULL);
	add_runs(out, job, micro > 0 ? micro : 1, accum > 0 ? accum : 1);
	add_probe_environment(out, job);
	result->outcome = OUTCOME_PLANNED;
	record_release(&hint);
}

int explain_command(const struct options *options,
		    const struct process_state *state)
{
	struct result result = RESULT_INIT;
	struct strbuf out = STRBUF_INIT;
	struct error err = ERROR_INIT;
	struct job job;
	enum command_outcome outcome = job_prepare(&job, options, state, &err);
	int code;

	if (outcome == COMMAND_OK) {
		launch_begin_result(&result, &job);
		explain(&out, &job, &result);
	} else {
		launch_refuse(&result, outcome, err.message);
		log_error("%s", err.message);
	}
	code = result.exit_code;
	if (launch_write_json(options, &result) < 0)
		code = EXIT_AUTOFIT_FAILED;
	if (!options->json || strcmp(options->json, "-") != 0)
		(void)fwrite(strbuf_text(&out), 1, out.length, stdout);
	if (fflush(stdout) != 0)
		code = EXIT_AUTOFIT_FAILED;
	strbuf_release(&out);
	result_release(&result);
	job_release(&job);
	return code;
}
