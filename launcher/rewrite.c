/* Writes sizes into a command; every other byte stays as it is. Pure. */
/* SPDX-License-Identifier: MIT */
#include "launcher/command_internal.h"

#include "base/alloc.h"
#include "base/strbuf.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static int64_t product(int64_t a, int64_t b)
{
	int64_t result;

	return __builtin_mul_overflow(a, b, &result) ? INT64_MAX : result;
}

int64_t knob_written(const struct command *command, enum knob_kind kind,
		     const struct command_values *values)
{
	const struct knob *knob = &command->knobs[kind];
	int64_t micro = values->micro_batch, accum = values->grad_accum;
	int64_t ranks = knob->scope == SCOPE_RANK ? 1 : command->world_size;

	if (kind == KNOB_MICRO && micro > 0)
		return product(micro, ranks);
	if (kind == KNOB_ACCUM && accum > 0)
		return product(accum, ranks);
	if (kind == KNOB_GLOBAL && micro > 0 && accum > 0)
		return product(product(micro, accum), command->world_size);
	if (kind == KNOB_STEPS && values->steps > knob->value)
		return values->steps;
	return knob->value;
}

/* A program that writes one file gets it inside the fresh folder. */
static char *output_path(const char *folder, const char *old)
{
	static const char *const suffixes[] = { ".pt",  ".pth",         ".ckpt",
						".bin", ".safetensors", ".json",
						".csv", ".txt",         ".log",
						".h5",  ".jsonl",       ".npz",
						".pkl", ".onnx",        NULL };
	const char *slash = old ? strrchr(old, '/') : NULL;
	const char *base = slash ? slash + 1 : old;
	const char *dot = base ? strrchr(base, '.') : NULL;

	for (size_t i = 0; dot && dot != base && suffixes[i]; i++)
		if (strcmp(suffixes[i], dot) == 0)
			return xasprintf("%s/%s", folder, base);
	return xstrdup(folder);
}

/* What the knob is to say now, or NULL: as it does. The caller frees. */
static char *new_value(const struct command *command, enum knob_kind kind,
		       const struct command_values *values)
{
	const struct knob *knob = &command->knobs[kind];
	int64_t number;

	if (kind == KNOB_OUTPUT)
		return values->output ? output_path(values->output, knob->text)
				      : NULL;
	number = knob_written(command, kind, values);
	if (number == knob->value)
		return NULL;
	return xasprintf("%lld", (long long)number);
}

/* The argument with the values of the knobs in it; the caller frees. */
static char *rewrite_argument(const struct command *command,
			      const struct command_values *values, size_t index)
{
	const char *old = command->argv.items[index];
	char *text = NULL, *replaced;

	for (size_t kind = 0; kind < KNOB_KINDS; kind++) {
		const struct knob *knob = &command->knobs[kind];
		struct strbuf joined = STRBUF_INIT;
		char *value;

		if ((knob->form != KNOB_SEPARATE &&
		     knob->form != KNOB_JOINED) ||
		    knob->index != index)
			continue;
		value = new_value(command, (enum knob_kind)kind, values);
		if (!value)
			break;
		strbuf_add(&joined, old, knob->offset);
		strbuf_adds(&joined, value);
		free(value);
		text = strbuf_detach(&joined);
		break;
	}
	if (!text)
		text = xstrdup(old);
	replaced = placeholders_replace(command, values, text);
	if (!replaced)
		return text;
	free(text);
	return replaced;
}

/* A knob that was left at its default gets an option of its own. */
static void add_option(const struct command *command, enum knob_kind kind,
		       const struct command_values *values,
		       struct strlist *argv)
{
	const struct knob *knob = &command->knobs[kind];
	char *value;

	if (knob->form != KNOB_DEFAULT)
		return;
	value = new_value(command, kind, values);
	if (!value)
		return;
	if (knob->joined_only || knob->name[0] != '-') {
		strlist_addf(argv, "%s=%s", knob->name, value);
	} else {
		strlist_add(argv, knob->name);
		strlist_add(argv, value);
	}
	free(value);
}

/* What stands behind the arguments of the program, before a "--". */
static void add_options(const struct command *command,
			const struct command_values *values,
			struct strlist *argv)
{
	const struct strlist *extra = &command->preset->probe_args;

	for (size_t kind = 0; kind < KNOB_KINDS; kind++)
		add_option(command, (enum knob_kind)kind, values, argv);
	if (values->is_probe && command->preset_is_certain)
		strlist_add_all(argv, (const char *const *)extra->items,
				extra->count);
}

static bool is_truth_word(const char *text)
{
	static const char *const words[] = { "true", "false", "yes",
					     "no",   "1",     "0" };

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (strcasecmp(words[i], text) == 0)
			return true;
	return false;
}

/* How many arguments from index on a probe does without. */
static size_t dropped_count(const struct command *command, size_t index)
{
	const struct strlist *drop = &command->preset->probe_drop;
	struct token token;

	if (!token_read(&token, &command->argv, &command->view, index) ||
	    token.bare)
		return 0;
	for (size_t i = 0; i < drop->count; i++) {
		const char *entry = drop->items[i];
		size_t length = strcspn(entry, " ");
		bool has_value = entry[length] != '\0';

		if (!name_equal(entry, length, token.name, token.name_length))
			continue;
		if (token.form != KNOB_SEPARATE)
			return 1;
		return has_value || is_truth_word(
					    token_value(&token, &command->argv))
			       ? 2
			       : 1;
	}
	return 0;
}

static void rewrite_environment(const struct command *command,
				const struct command_values *values,
				struct strlist *environment)
{
	const struct strlist *extra = &command->preset->probe_env;

	for (size_t i = 0; i < command->env_templates.count; i++) {
		char *item = placeholders_replace(
			command, values, command->env_templates.items[i]);

		if (item)
			strlist_take(environment, item);
	}
	if (values->is_probe)
		strlist_add_all(environment, (const char *const *)extra->items,
				extra->count);
}

void command_rewrite(const struct command *command,
		     const struct command_values *values, struct strlist *argv,
		     struct strlist *environment)
{
	const struct command_view *view = &command->view;
	size_t skip_to = 0;

	for (size_t i = 0; i < command->argv.count; i++) {
		bool is_own = i >= view->args && i < view->end;

		if (i == view->end)
			add_options(command, values, argv);
		if (values->is_probe && is_own && i >= skip_to)
			skip_to = i + dropped_count(command, i);
		if (i >= skip_to)
			strlist_take(argv,
				     rewrite_argument(command, values, i));
	}
	if (view->end == command->argv.count)
		add_options(command, values, argv);
	rewrite_environment(command, values, environment);
}

static void flags_add(struct strbuf *out, const char *text)
{
	char *quoted = shell_quote(text);

	if (out->length > 0)
		strbuf_addch(out, ' ');
	strbuf_adds(out, quoted);
	free(quoted);
}

static void flags_add_knob(struct strbuf *out, const struct command *command,
			   enum knob_kind kind,
			   const struct command_values *values)
{
	const struct knob *knob = &command->knobs[kind];
	struct strlist added = STRLIST_INIT;
	char *text;

	if (knob->form == KNOB_DEFAULT)
		add_option(command, kind, values, &added);
	for (size_t i = 0; i < added.count; i++)
		flags_add(out, added.items[i]);
	strlist_release(&added);
	if (knob->form != KNOB_SEPARATE && knob->form != KNOB_JOINED)
		return;
	if (knob->form == KNOB_SEPARATE)
		flags_add(out, knob->name);
	text = rewrite_argument(command, values, knob->index);
	flags_add(out, text);
	free(text);
}

/* Arguments with a placeholder of the split, with the option before them. */
static void flags_add_placeholders(struct strbuf *out,
				   const struct command *command,
				   const struct command_values *values)
{
	const struct strlist *argv = &command->argv;

	for (size_t i = 0; i < argv->count; i++) {
		char *text;

		if (!placeholders_in(argv->items[i]))
			continue;
		if (i > 0 && argv->items[i][0] == '{' &&
		    argv->items[i - 1][0] == '-')
			flags_add(out, argv->items[i - 1]);
		text = placeholders_replace(command, values, argv->items[i]);
		flags_add(out, text ? text : argv->items[i]);
		free(text);
	}
	for (size_t i = 0; i < command->env_templates.count; i++) {
		const char *item = command->env_templates.items[i];
		char *text =
			placeholders_in(item)
				? placeholders_replace(command, values, item)
				: NULL;

		if (text)
			flags_add(out, text);
		free(text);
	}
}

char *command_flags_text(const struct command *command,
			 const struct command_values *values)
{
	struct strbuf out = STRBUF_INIT;

	/* Gives "" and not NULL when every knob stays at its default. */
	strbuf_adds(&out, "");
	flags_add_placeholders(&out, command, values);
	for (size_t kind = 0; kind <= KNOB_GLOBAL; kind++)
		flags_add_knob(&out, command, (enum knob_kind)kind, values);
	return strbuf_detach(&out);
}
