/* Constraints of a framework on every split. Pure. */
/* SPDX-License-Identifier: MIT */

#include "launcher/command/constraints.h"

#include "base/alloc.h"
#include "base/strbuf.h"
#include "launcher/command/parts/setting_value.h"
#include "launcher/command/parts/token.h"
#include "launcher/command/text/names.h"
#include "search/accumulation.h"

#include <stdlib.h>
#include <string.h>

#define REASON " : "
/* Larger divisors than these are no constraint but a mistake. */
#define MULTIPLE_MAX INT64_C(1000000)

/* "micro-batch a multiple of 8 (--required-batch-size-multiple)" */
static void add_words(struct strbuf *words, const char *what, int64_t number,
		      const char *name)
{
	char shown[BRIEF_MAX];

	strbuf_addf(words, "%s%s %lld", words->length ? ", " : "", what,
		    (long long)number);
	if (*name)
		strbuf_addf(words, " (%s)", argument_brief(shown, name));
}

/* The number of "8", "NAME" or "NAME 8"; 0: the command says nothing. */
static int64_t entry_number(const struct recognition *r, const char *entry,
			    char name[NAME_MAX_BYTES])
{
	int64_t number = 0;
	const char *value;

	name[0] = '\0';
	if (count_parse(entry, &number))
		return number;
	value = setting_or_default(r->command, entry, name);
	return value && count_parse(value, &number) ? number : 0;
}

static void multiples_find(const struct recognition *r,
			   const struct strlist *entries, const char *what,
			   int64_t *multiple, struct strbuf *words)
{
	char name[NAME_MAX_BYTES];

	for (size_t i = 0; i < entries->count; i++) {
		int64_t number = entry_number(r, entries->items[i], name);

		if (number < 2 || number > MULTIPLE_MAX ||
		    accumulation_multiple(*multiple, number) > MULTIPLE_MAX)
			continue;
		*multiple = accumulation_multiple(*multiple, number);
		add_words(words, what, number, name);
	}
}

/* Beside another multiple smaller ones are not free. */
static void free_find(const struct recognition *r, struct strbuf *words)
{
	struct command_constraints *constraints = &r->command->constraints;
	bool is_alone = constraints->micro_multiple_of == 1;

	multiples_find(r, &r->command->preset->split.micro_multiple_from,
		       "micro-batch smaller than, or a multiple of",
		       &constraints->micro_multiple_of, words);
	if (is_alone && constraints->micro_multiple_of > 1)
		constraints->micro_free_below = constraints->micro_multiple_of;
}

/* micro x ranks must divide a number that the command names. */
static void divisors_find(const struct recognition *r, struct strbuf *words)
{
	struct command *command = r->command;
	const struct strlist *entries = &command->preset->split.micro_divides;
	char name[NAME_MAX_BYTES];

	for (size_t i = 0; i < entries->count; i++) {
		int64_t number = entry_number(r, entries->items[i], name) /
				 command->batch.world_size;
		int64_t *divides = &command->constraints.micro_divides;

		if (number < 1)
			continue;
		*divides = *divides ? accumulation_divisor(*divides, number)
				    : number;
		add_words(words, "micro-batch a divisor of", number, name);
	}
}

static enum command_outcome effective_check(const struct recognition *r)
{
	struct command *command = r->command;
	const struct strlist *entries =
		&command->preset->split.effective_multiple_of;
	int64_t *multiple = &command->constraints.effective_multiple_of;
	char name[NAME_MAX_BYTES];

	for (size_t i = 0; i < entries->count; i++) {
		int64_t number = entry_number(r, entries->items[i], name);

		if (number < 2 || number > MULTIPLE_MAX)
			continue;
		if (command->batch.effective_batch % number != 0)
			return not_recognised(
				r,
				"the effective batch %lld is no multiple of "
				"%lld (%s), as %s asks: write sizes that are",
				(long long)command->batch.effective_batch,
				(long long)number, name,
				command->preset->description);
		*multiple = accumulation_multiple(*multiple, number);
	}
	return COMMAND_OK;
}

static void scaled_add(struct command *command,
		       const struct command_scaled *scaled)
{
	int64_t accum = command->batch.grad_accum;
	int64_t step = accum / accumulation_divisor(accum, scaled->value);
	int64_t *multiple = &command->constraints.accum_multiple_of;

	command->scaled = xrealloc(command->scaled, command->scaled_count + 1,
				   sizeof(*command->scaled));
	command->scaled[command->scaled_count++] = *scaled;
	*multiple = accumulation_multiple(*multiple, step);
}

/* A setting "NAME" or "NAME DEFAULT" that counts micro-steps. */
static enum command_outcome unit_find(const struct recognition *r,
				      const char *entry, struct strbuf *words)
{
	struct command *command = r->command;
	struct command_scaled scaled = { .form = KNOB_DEFAULT };
	char name[NAME_MAX_BYTES], shown[BRIEF_MAX];
	const char *value = setting_or_default(command, entry, name);
	struct token token;

	/* -1 and fractions of an epoch count something else. */
	if (!value || !count_parse(value, &scaled.value))
		return COMMAND_OK;
	scaled.name = entry;
	if (token_find(command, name, &token) && token.form != KNOB_ABSENT) {
		scaled.form = token.form;
		scaled.index = token.value_index;
		scaled.offset = token.value_offset;
	}
	for (size_t i = 0; i < command->file_count; i++)
		if (scaled.form == KNOB_DEFAULT && command->files[i].wins)
			return not_recognised(
				r,
				"%s of %s counts micro-steps, so it must "
				"change with the accumulation: give it as an "
				"option",
				name,
				argument_brief(shown,
					       command->files[i].read->path));
	scaled_add(command, &scaled);
	add_words(words, "rescaled exactly", scaled.value, name);
	return COMMAND_OK;
}

static enum command_outcome units_find(const struct recognition *r,
				       struct strbuf *words)
{
	const struct command *command = r->command;
	const struct strlist *entries =
		&command->preset->split.micro_step_units;
	const struct knob *steps = &command->knobs[KNOB_STEPS];
	enum command_outcome outcome = COMMAND_OK;
	int64_t *multiple = &r->command->constraints.accum_multiple_of;

	if (!command_accumulates(command))
		return COMMAND_OK;
	if (steps->unit == UNIT_MICRO_STEPS && steps->value > 0)
		*multiple = accumulation_multiple(
			*multiple,
			command->batch.grad_accum /
				accumulation_divisor(command->batch.grad_accum,
						     steps->value));
	for (size_t i = 0; outcome == COMMAND_OK && i < entries->count; i++)
		outcome = unit_find(r, entries->items[i], words);
	return outcome;
}

/* "CONDITION : text", or the text alone: the text where it holds. */
static const char *text_if_holds(const struct recognition *r, const char *entry)
{
	const char *reason = strstr(entry, REASON);
	char *condition;
	bool holds;

	if (!reason)
		return entry;
	condition = xstrndup(entry, (size_t)(reason - entry));
	holds = condition_holds(r, condition);
	free(condition);
	return holds ? reason + strlen(REASON) : NULL;
}

/* What is always refused wants a knob, and the user may show where one is. Of
 * options a preset must be certain, of what stands in a file ("@NAME") not. */
enum command_outcome refusals_find(struct recognition *r)
{
	const struct strlist *entries = &r->command->preset->refuse;
	enum knob_form form = r->command->knobs[KNOB_MICRO].form;
	bool is_shown = form == KNOB_PLACEHOLDER || form == KNOB_ENVIRONMENT;

	for (size_t i = 0; i < entries->count; i++) {
		const char *entry = entries->items[i];
		const char *text =
			r->command->preset_is_certain || *entry == '@'
				? text_if_holds(r, entry)
				: NULL;

		if (text && !(is_shown && text == entry))
			return not_recognised(r, "%s", text);
	}
	return COMMAND_OK;
}

static void caveats_find(const struct recognition *r)
{
	const struct strlist *entries = &r->command->preset->caveats;

	for (size_t i = 0; i < entries->count; i++) {
		const char *text = text_if_holds(r, entries->items[i]);

		if (text)
			strlist_add(&r->command->caveats, text);
	}
	if (r->is_open && r->command->knobs[KNOB_ACCUM].form == KNOB_ABSENT &&
	    r->command->knobs[KNOB_GLOBAL].form == KNOB_ABSENT)
		strlist_add(&r->command->caveats,
			    "what Hydra composes is not known, and may hold an "
			    "accumulation, taken as 1: add its key with the "
			    "present value");
}

/* What the launcher says where the program does not. */
static const char *launcher_says(const struct command_view *view,
				 enum preset_model_field field)
{
	if (field == MODEL_SHARDING)
		return view->sharding;
	if (field == MODEL_OFFLOAD_WEIGHTS)
		return view->offloads_weights ? "true" : NULL;
	if (field == MODEL_OFFLOAD_OPTIMIZER)
		return view->offloads_optimizer ? "true" : NULL;
	return NULL;
}

static void model_find(const struct recognition *r)
{
	struct command *command = r->command;

	for (size_t field = 0; field < MODEL_FIELDS; field++) {
		const struct strlist *names = &command->preset->model[field];
		const char *value = NULL;

		for (size_t i = 0; i < names->count && !value; i++)
			value = setting_value(command, names->items[i]);
		if (!value)
			value = launcher_says(&command->view,
					      (enum preset_model_field)field);
		command->model[field] = value ? xstrdup(value) : NULL;
	}
}

static bool does(const struct recognition *r, const struct preset_phase *phase)
{
	return phase->when.count == 0 || any_condition_holds(r, &phase->when);
}

/* Where there can be no accumulation, the command must have none. */
static enum command_outcome one_accum_find(const struct recognition *r,
					   struct strbuf *words)
{
	const struct command *command = r->command;
	const struct strlist *conditions = &command->preset->split.one_accum;
	size_t i = 0;

	while (i < conditions->count &&
	       !condition_holds(r, conditions->items[i]))
		i++;
	if (i == conditions->count)
		return COMMAND_OK;
	r->command->constraints.one_accum = true;
	strbuf_addf(words, "%sno accumulation", words->length ? ", " : "");
	if (command->batch.grad_accum == 1)
		return COMMAND_OK;
	return not_recognised(r,
			      "%s allows no accumulation, and here it is %lld: "
			      "write 1, with the batch size that is wanted",
			      conditions->items[i],
			      (long long)command->batch.grad_accum);
}

/* Hydra and its like start one run after another. */
enum command_outcome sweep_check(struct recognition *r)
{
	const struct command *command = r->command;
	bool is_hydra = uses_hydra(r);
	char shown[BRIEF_MAX];

	for (size_t i = command->view.args; i < command->view.end; i++) {
		const char *text = command_argv(command)->items[i];

		if (strcmp(text, "--multirun") == 0 ||
		    (is_hydra && strcmp(text, "-m") == 0))
			return not_recognised(
				r,
				"%s starts a sweep, many runs with several "
				"settings: tune one of them, without %s",
				argument_brief(shown, text), shown);
	}
	return COMMAND_OK;
}

enum command_outcome constraints_find(struct recognition *r)
{
	struct command *command = r->command;
	struct command_constraints *constraints = &command->constraints;
	struct strbuf words = STRBUF_INIT;
	enum command_outcome outcome = COMMAND_OK;

	*constraints =
		(struct command_constraints){ .micro_multiple_of = 1,
					      .nominal = command->nominal,
					      .accum_multiple_of = 1,
					      .effective_multiple_of = 1 };
	caveats_find(r);
	model_find(r);
	if (!command->preset_is_certain)
		return outcome;
	outcome = effective_check(r);
	multiples_find(r, &command->preset->split.micro_multiple_of,
		       "micro-batch a multiple of",
		       &constraints->micro_multiple_of, &words);
	free_find(r, &words);
	divisors_find(r, &words);
	if (outcome == COMMAND_OK)
		outcome = one_accum_find(r, &words);
	if (outcome == COMMAND_OK)
		outcome = units_find(r, &words);
	if (words.length)
		constraints->words = xstrdup(strbuf_text(&words));
	strbuf_release(&words);
	command->evaluates = does(r, &command->preset->probe.evaluation);
	command->saves = does(r, &command->preset->probe.saving);
	return outcome;
}
