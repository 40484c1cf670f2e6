/* Works out micro-batch, accumulation and effective batch of a command. Pure.
 */
/* SPDX-License-Identifier: MIT */

#include "launcher/command/effective_batch.h"

#include "base/alloc.h"
#include "base/strbuf.h"
#include "launcher/command/parts/setting_value.h"
#include "launcher/command/text/names.h"

#include <errno.h>
#include <string.h>

static bool scope_parse(const char *text, enum knob_scope *scope)
{
	static const struct {
		const char *name;
		enum knob_scope scope;
	} names[] = { { "rank", SCOPE_RANK },
		      { "node", SCOPE_NODE },
		      { "global", SCOPE_GLOBAL },
		      { "total", SCOPE_TOTAL } };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (strcmp(names[i].name, text) != 0)
			continue;
		*scope = names[i].scope;
		return true;
	}
	return false;
}

enum command_outcome knob_scopes_set(struct recognition *r)
{
	const struct preset_knobs *preset = &r->command->preset->knobs;
	const struct command_hints *hints = r->hints;
	const struct {
		enum knob_kind kind;
		const char *of_preset, *said, *option;
		enum knob_scope never;
		const char *words;
	} rows[] = {
		{ KNOB_MICRO, preset->micro.scope, hints->micro_scope,
		  "--micro-scope", SCOPE_TOTAL, "rank, node or global" },
		{ KNOB_ACCUM, preset->accum.scope, hints->accum_scope,
		  "--accum-scope", SCOPE_GLOBAL, "rank or total" },
		{ KNOB_GLOBAL, preset->global.scope, hints->global_scope,
		  "--global-scope", SCOPE_TOTAL, "rank or global" },
	};
	char shown[BRIEF_MAX];

	r->command->knobs[KNOB_GLOBAL].scope = SCOPE_GLOBAL;
	r->command->micro_scope_is_said = hints->micro_scope != NULL;
	r->command->micro_guess = hints->micro_guess;
	r->command->accum_guess = hints->accum_guess;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		enum knob_scope *scope = &r->command->knobs[rows[i].kind].scope;

		if (rows[i].of_preset)
			(void)scope_parse(rows[i].of_preset, scope);
		if (!rows[i].said ||
		    (scope_parse(rows[i].said, scope) &&
		     *scope != rows[i].never &&
		     (*scope != SCOPE_NODE || rows[i].kind == KNOB_MICRO)))
			continue;
		(void)error_set(
			r->err, -EINVAL, "%s %s: write %s", rows[i].option,
			argument_brief(shown, rows[i].said), rows[i].words);
		return COMMAND_USAGE;
	}
	return COMMAND_OK;
}

/* What a setting of the command, or its default, says of a unit; 1 where the
 * preset counts in none. */
static enum command_outcome batch_unit_find(const struct recognition *r,
					    const struct strlist *entries,
					    const char *open, int64_t *count)
{
	char name[NAME_MAX_BYTES], shown[BRIEF_MAX];
	const char *value = NULL;

	*count = 1;
	for (size_t i = 0; i < entries->count && !value; i++)
		value = setting_or_default(r->command, entries->items[i], name);
	if (entries->count == 0 || (value && count_parse(value, count)))
		return COMMAND_OK;
	return not_recognised(r,
			      "the batch is counted in %s not known: add %s N",
			      open, argument_brief(shown, name));
}

static enum command_outcome batch_units_find(const struct recognition *r)
{
	struct command *command = r->command;
	const struct preset_split *split = &command->preset->split;
	enum command_outcome outcome =
		batch_unit_find(r, &split->sample_tokens,
				"tokens, and how many a sample has is",
				&command->sample_tokens);

	return outcome == COMMAND_OK
		       ? batch_unit_find(
				 r, &split->group_samples,
				 "groups, and how many samples one has is",
				 &command->group_samples)
		       : outcome;
}

/* The knob's number in samples, micro-steps or steps. */
static enum command_outcome plain_value(const struct recognition *r,
					const struct knob *knob, int64_t *value)
{
	int64_t tokens = r->command->sample_tokens;
	int64_t samples = r->command->group_samples;

	*value = knob->value;
	if (knob->unit == UNIT_GROUPS &&
	    __builtin_mul_overflow(knob->value, samples, value))
		return not_recognised(r,
				      "%s %lld counts groups of %lld samples, "
				      "which is more than 64 bits hold: check "
				      "the sizes",
				      knob->name, (long long)knob->value,
				      (long long)samples);
	if (knob->unit != UNIT_TOKENS)
		return COMMAND_OK;
	*value = knob->value / tokens;
	if (knob->value % tokens == 0)
		return COMMAND_OK;
	return not_recognised(r,
			      "%s %lld counts tokens, but is no multiple of "
			      "the %lld tokens of a sample: write a multiple",
			      knob->name, (long long)knob->value,
			      (long long)tokens);
}

/* What one rank has of a knob's value; its ranks must share it evenly. */
static enum command_outcome per_rank(const struct recognition *r,
				     enum knob_kind kind, int64_t *value)
{
	const struct knob *knob = &r->command->knobs[kind];
	int64_t world = r->command->batch.world_size;
	enum command_outcome outcome = plain_value(r, knob, value);

	if (outcome != COMMAND_OK || knob->scope == SCOPE_RANK)
		return outcome;
	if (*value % world != 0)
		return not_recognised(r,
				      "%s %lld counts over all ranks, but %lld "
				      "ranks cannot share it evenly: write a "
				      "multiple of %lld",
				      knob->name, (long long)knob->value,
				      (long long)world, (long long)world);
	*value /= world;
	return COMMAND_OK;
}

/* Accumulation that the framework derives from the effective batch. */
static enum command_outcome
effective_batch_from_global(const struct recognition *r, int64_t global,
			    int64_t step)
{
	struct command *command = r->command;
	const struct knob *knob = &command->knobs[KNOB_GLOBAL];
	bool has_accum = command->knobs[KNOB_ACCUM].form != KNOB_ABSENT;

	if (command->preset->knobs.global.rounds && !has_accum) {
		command->batch.grad_accum =
			accumulation_derived(global, step, true);
		return COMMAND_OK;
	}
	if (global % step == 0 &&
	    !(has_accum && global / step != command->batch.grad_accum)) {
		command->batch.grad_accum = global / step;
		return COMMAND_OK;
	}
	return not_recognised(
		r,
		"%s %lld is not %lld x a whole number x %lld ranks%s: write "
		"sizes that agree",
		knob->name, (long long)knob->value,
		(long long)command->batch.micro_batch,
		(long long)command->batch.world_size,
		has_accum ? ", nor what the accumulation gives" : "");
}

/* The micro-batch is what effective batch and accumulation leave. */
static enum command_outcome micro_from_global(const struct recognition *r,
					      int64_t global, int64_t ranks)
{
	struct command *command = r->command;
	int64_t step;

	if (!__builtin_mul_overflow(command->batch.grad_accum, ranks, &step) &&
	    global % step == 0) {
		command->batch.micro_batch = global / step;
		return COMMAND_OK;
	}
	return not_recognised(r,
			      "%s %lld is not a whole number x accumulation "
			      "%lld x %lld ranks: write sizes that agree",
			      command->knobs[KNOB_GLOBAL].name,
			      (long long)command->knobs[KNOB_GLOBAL].value,
			      (long long)command->batch.grad_accum,
			      (long long)command->batch.world_size);
}

static enum command_outcome
effective_batch_derive_global(const struct recognition *r)
{
	struct command *command = r->command;
	const struct knob *global = &command->knobs[KNOB_GLOBAL];
	enum command_outcome outcome;
	int64_t ranks = command->batch.world_size;
	int64_t value, step;

	if (global->scope == SCOPE_RANK)
		ranks = 1;
	outcome = plain_value(r, global, &value);
	if (outcome != COMMAND_OK || value == 0)
		return outcome;
	if (command->batch.micro_batch == 0)
		return command->knobs[KNOB_MICRO].form == KNOB_ABSENT
			       ? micro_from_global(r, value, ranks)
			       : COMMAND_OK;
	if (__builtin_mul_overflow(command->batch.micro_batch, ranks, &step))
		step = INT64_MAX;
	return effective_batch_from_global(r, value, step);
}

static enum command_outcome multiply(const struct recognition *r)
{
	struct command *command = r->command;

	if (!__builtin_mul_overflow(command->batch.micro_batch,
				    command->batch.grad_accum,
				    &command->batch.effective_batch) &&
	    !__builtin_mul_overflow(command->batch.effective_batch,
				    command->batch.world_size,
				    &command->batch.effective_batch))
		return COMMAND_OK;
	return not_recognised(r,
			      "the effective batch %lld x %lld x %lld "
			      "does not fit in 64 bits: check the sizes",
			      (long long)command->batch.micro_batch,
			      (long long)command->batch.grad_accum,
			      (long long)command->batch.world_size);
}

enum command_outcome effective_batch_derive(struct recognition *r)
{
	struct command *command = r->command;
	const struct knob *accum = &command->knobs[KNOB_ACCUM];
	enum command_outcome outcome = batch_units_find(r);

	if (outcome == COMMAND_OK)
		outcome = per_rank(r, KNOB_MICRO, &command->batch.micro_batch);
	if (outcome == COMMAND_OK)
		outcome = per_rank(r, KNOB_ACCUM, &command->batch.grad_accum);
	if (outcome != COMMAND_OK)
		return outcome;
	if (command->batch.grad_accum == 0)
		command->batch.grad_accum = 1;
	if (command_rows_are_open(command)) {
		command->batch.micro_batch = 1;
		return COMMAND_OK;
	}
	outcome = effective_batch_derive_global(r);
	if (command->knobs[KNOB_MICRO].scope != SCOPE_RANK)
		command->nominal.is_total = true;
	if (command->nominal.batch && command->batch.micro_batch)
		command->batch.grad_accum = command_nominal_accum(
			&command->nominal, command->batch.micro_batch,
			command->batch.world_size);
	if (outcome != COMMAND_OK || command->batch.micro_batch == 0 ||
	    (accum->form != KNOB_ABSENT && accum->value == 0))
		return outcome;
	return multiply(r);
}

static void assume_knob(struct strbuf *out, const struct knob *knob,
			const char *glue)
{
	static const char *const scopes[] = { "per rank", "per node",
					      "over all ranks",
					      "over all ranks" };

	if (knob->form == KNOB_ABSENT)
		return;
	strbuf_addf(out, "%s%s ", glue, knob->name);
	if (knob->form == KNOB_DEFAULT && knob->is_said)
		strbuf_addf(out, "%lld, from %s, ", (long long)knob->value,
			    knob->evidence);
	else if (knob->form == KNOB_DEFAULT)
		strbuf_addf(out, "not given, %s, ", knob->evidence);
	strbuf_addf(out, "taken as %s", scopes[knob->scope]);
}

/* Accumulation is spoken of where it is not simply written per rank. */
enum command_outcome effective_batch_describe(struct recognition *r)
{
	struct command *command = r->command;
	const struct knob *accum = &command->knobs[KNOB_ACCUM];
	struct strbuf out = STRBUF_INIT;

	if (command_rows_are_open(command)) {
		command->assumption =
			xstrdup("the batch size is not known by its name: one "
				"run of the command as it is shows the rows of "
				"a pass");
		return COMMAND_OK;
	}
	if (command->open_ranks && command->batch.effective_batch > 0)
		strbuf_addf(&out,
			    "effective batch not known: %lld x %lld on each of "
			    "its ranks (%s; ",
			    (long long)command->batch.micro_batch,
			    (long long)command->batch.grad_accum,
			    command->open_ranks);
	else if (command->batch.effective_batch > 0)
		strbuf_addf(&out, "effective batch %lld = %lld x %lld x %lld (",
			    (long long)command->batch.effective_batch,
			    (long long)command->batch.micro_batch,
			    (long long)command->batch.grad_accum,
			    (long long)command->batch.world_size);
	else
		strbuf_adds(&out, "effective batch not known (");
	assume_knob(&out, &command->knobs[KNOB_MICRO], "");
	if (command->knobs[KNOB_MICRO].form == KNOB_ABSENT)
		assume_knob(&out, &command->knobs[KNOB_GLOBAL], "");
	if (command->sample_tokens > 1)
		strbuf_addf(&out, ", %lld tokens a sample",
			    (long long)command->sample_tokens);
	if (command->group_samples > 1)
		strbuf_addf(&out, ", %lld samples a group",
			    (long long)command->group_samples);
	if (command->nominal.batch)
		strbuf_addf(&out, "; the script accumulates up to %lld",
			    (long long)command->nominal.batch);
	if (accum->form == KNOB_DEFAULT || accum->scope != SCOPE_RANK)
		assume_knob(&out, accum, "; ");
	strbuf_addch(&out, ')');
	command->assumption = strbuf_detach(&out);
	return COMMAND_OK;
}
