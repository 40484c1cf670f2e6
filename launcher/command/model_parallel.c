/* Ranks that hold pieces of one model train one batch together. Pure. */
/* SPDX-License-Identifier: MIT */

#include "launcher/command/effective_batch.h"

#include "base/alloc.h"
#include "base/span.h"
#include "base/strbuf.h"
#include "launcher/command/parts/setting_value.h"
#include "launcher/command/parts/token.h"
#include "launcher/command/ranks/ranks_by_words.h"
#include "launcher/command/text/argument.h"
#include "launcher/command/text/names.h"

#include <stdlib.h>
#include <string.h>

/* By what ranks differ. DATA: each has a batch of its own. */
enum axis { TENSOR, PIPELINE, CONTEXT, DATA, AXES };

static const struct {
	const char *stem; /* tp, tp_size, tp_degree, ... */
	enum axis axis;
} axis_names[] = {
	{ "tp", TENSOR },
	{ "mp_size", TENSOR },
	{ "model_parallel", TENSOR },
	{ "tensor_parallel", TENSOR },
	{ "tensor_model_parallel", TENSOR },
	{ "pp", PIPELINE },
	{ "pipeline_stages", PIPELINE },
	{ "num_pipeline_stages", PIPELINE },
	{ "pipe_parallel", PIPELINE },
	{ "pipeline_parallel", PIPELINE },
	{ "pipeline_model_parallel", PIPELINE },
	{ "cp", CONTEXT },
	{ "sp_size", CONTEXT },
	{ "sp_degree", CONTEXT },
	{ "context_parallel", CONTEXT },
	{ "sequence_parallel", CONTEXT },
	{ "ulysses_sequence_parallel", CONTEXT },
	{ "dp", DATA },
	{ "data_parallel", DATA },
};

/* The settings of an engine that only generates are not the training's. */
static bool is_of_another_engine(const char *key)
{
	static const char *const words[] = { "rollout", "vllm", "sglang",
					     "infer",   "eval", "generat" };

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (strstr(key, words[i]))
			return true;
	return false;
}

static bool ends_as_a_size(const char *rest)
{
	static const char *const ends[] = { "", "_size", "_world_size", "_dim",
					    "_degree" };

	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++)
		if (strcmp(rest, ends[i]) == 0)
			return true;
	return false;
}

/* Of "--tp_size", "parallelism.pp"; AXES: it is none. */
static enum axis axis_of(const char *typed, size_t length)
{
	char key[NAME_MAX_BYTES];
	const char *dot, *last;

	if (!name_normalise(key, typed, length) || is_of_another_engine(key))
		return AXES;
	dot = strrchr(key, '.');
	last = dot ? dot + 1 : key;
	for (size_t i = 0; i < sizeof(axis_names) / sizeof(*axis_names); i++) {
		const char *stem = axis_names[i].stem;

		if (strncmp(last, stem, strlen(stem)) == 0 &&
		    ends_as_a_size(last + strlen(stem)))
			return axis_names[i].axis;
	}
	return AXES;
}

/* What the command says of each axis. */
struct layout {
	int64_t counts[AXES]; /* 0: nothing */
	char names[AXES][NAME_MAX_BYTES];
};

/* What is taken later wins. -1 and auto are the rest, which is seen so. */
static void layout_take(struct layout *layout, struct span name, int64_t count)
{
	enum axis axis = axis_of(name.at, name.length);

	if (axis == AXES || name.length >= NAME_MAX_BYTES)
		return;
	layout->counts[axis] = count;
	memcpy(layout->names[axis], name.at, name.length);
	layout->names[axis][name.length] = '\0';
}

static int64_t count_or_none(const char *text)
{
	int64_t count;

	return count_parse(text, &count) ? count : 0;
}

/* By the script's defaults, by config files, by options. */
static void layout_find(const struct recognition *r, struct layout *layout)
{
	const struct command *command = r->command;
	struct token token;

	for (size_t i = 0; i < r->source->option_count; i++) {
		const struct source_option *option = &r->source->options[i];
		const char *name = option->names.items[0];

		if (option->kind == SOURCE_INTEGER)
			layout_take(layout, (struct span){ name, strlen(name) },
				    option->value > 0 ? option->value : 0);
	}
	for (size_t i = 0; i < command->file_count; i++) {
		const struct settings *settings = command->files[i].settings;

		for (size_t k = 0; k < settings->count; k++) {
			const struct setting *setting = &settings->items[k];

			layout_take(layout,
				    (struct span){ setting->key,
						   strlen(setting->key) },
				    count_or_none(setting->value));
		}
	}
	for (size_t i = command->view.args; token_next(&token, command, &i);
	     i++)
		layout_take(layout,
			    (struct span){ token.name, token.name_length },
			    count_or_none(token_value(&token,
						      command_argv(command))));
}

static void layout_add_words(const struct layout *layout, struct strbuf *out)
{
	const char *glue = "";
	char shown[BRIEF_MAX];

	for (size_t i = 0; i < AXES; i++) {
		if (layout->counts[i] == 0)
			continue;
		strbuf_addf(out, "%s%s %lld", glue,
			    argument_brief(shown, layout->names[i]),
			    (long long)layout->counts[i]);
		glue = ", ";
	}
}

/* What an option is called says it in any program. */
static void divide_by_words(const struct recognition *r)
{
	struct command *command = r->command;
	struct layout layout = { .counts = { 0 } };
	struct strbuf words = STRBUF_INIT;
	int64_t ranks = command->batch.world_size;
	int64_t pieces = 1;

	if (ranks == 1)
		return;
	layout_find(r, &layout);
	for (size_t i = 0; i < DATA; i++)
		if (layout.counts[i] &&
		    __builtin_mul_overflow(pieces, layout.counts[i], &pieces))
			pieces = INT64_MAX;
	if (ranks % pieces == 0)
		command->batch.world_size = ranks / pieces;
	if (ranks % pieces == 0 &&
	    (!layout.counts[DATA] || layout.counts[DATA] * pieces == ranks))
		return;
	strbuf_addf(&words,
		    "which of %lld ranks have a batch of their own is not "
		    "known: they do not agree with ",
		    (long long)ranks);
	layout_add_words(&layout, &words);
	free(command->open_ranks);
	command->open_ranks = strbuf_detach(&words);
}

/* The ranks of which groups of so many can be made: where those that are known
 * are too few, those of a variable, which a program starts by itself. */
static int64_t ranks_for_groups(const struct recognition *r, int64_t pieces)
{
	struct command *command = r->command;
	int64_t ranks = command->batch.world_size;
	int64_t named = ranks_of_variable(r);

	if (ranks % pieces == 0 || command->view.launcher || named < ranks ||
	    named % pieces != 0)
		return ranks;
	free(command->open_ranks);
	command->open_ranks = NULL;
	return named;
}

/* By the options that a preset names. */
static enum command_outcome divide_by_preset(const struct recognition *r)
{
	struct command *command = r->command;
	const struct strlist *entries = &command->preset->ranks.model_parallel;
	char name[NAME_MAX_BYTES], shown[BRIEF_MAX];
	int64_t pieces = 1;
	int64_t ranks, size;

	for (size_t i = 0; i < entries->count; i++) {
		const char *value =
			setting_or_default(command, entries->items[i], name);

		if (!value)
			continue;
		if (!count_parse(value, &size) ||
		    __builtin_mul_overflow(pieces, size, &pieces))
			return not_recognised(
				r, "%s %s is not understood: write a number",
				name, argument_brief(shown, value));
	}
	ranks = ranks_for_groups(r, pieces);
	if (ranks % pieces != 0)
		return not_recognised(r,
				      "%lld ranks cannot be divided into "
				      "model-parallel groups of %lld",
				      (long long)ranks, (long long)pieces);
	command->batch.world_size = ranks / pieces;
	return COMMAND_OK;
}

enum command_outcome model_parallel_divide(const struct recognition *r)
{
	if (r->command->preset_is_certain &&
	    r->command->preset->ranks.model_parallel.count)
		return divide_by_preset(r);
	divide_by_words(r);
	return COMMAND_OK;
}
