/* The options of a script, each once. Pure. */
/* SPDX-License-Identifier: MIT */
#include "launcher/command/files/source_options.h"

#include "base/alloc.h"
#include "base/hash.h"
#include "launcher/command/text/names.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

void source_option_release(struct source_option *option)
{
	strlist_release(&option->names);
	free(option->dest);
	free(option->text);
	free(option->command);
	free(option->help);
}

static bool shares_name(const struct source_option *a,
			const struct source_option *b)
{
	for (size_t i = 0; i < a->names.count; i++)
		if (strlist_find(&b->names, a->names.items[i]) < b->names.count)
			return true;
	return false;
}

void source_option_derive(struct source_option *option, const char *name)
{
	char *dashed = xstrdup(name);

	for (char *c = dashed; *c; c++)
		if (*c == '_')
			*c = '-';
	strlist_add(&option->names, name);
	if (strcmp(dashed, name) != 0)
		strlist_add(&option->names, dashed);
	free(dashed);
}

void source_command_add(struct source *source, const char *name)
{
	if (strlist_find(&source->commands, name) == source->commands.count)
		strlist_add(&source->commands, name);
}

/* The command line names another sub-command than the option's. */
static bool is_of_another(const struct source *source,
			  const struct source_option *option)
{
	return source->command && option->command &&
	       strcmp(source->command, option->command) != 0;
}

void source_positional_add(struct source *source,
			   const struct source_option *argument)
{
	if (!argument->dest || is_of_another(source, argument) ||
	    source->positionals_are_open)
		return;
	strlist_add(&source->positionals, argument->dest);
	source->positionals_are_open = argument->takes_settings;
}

/* Where parsers share an option only equal defaults are known. */
static bool is_repeated(struct source *source,
			const struct source_option *option)
{
	for (size_t i = 0; i < source->option_count; i++) {
		struct source_option *known = &source->options[i];

		uint64_t common = known->name_bits & option->name_bits;

		/* Without two bits in common no name is. */
		if (!(common & (common - 1)) || !shares_name(option, known))
			continue;
		if (known->kind != option->kind ||
		    known->value != option->value)
			known->kind = SOURCE_OTHER;
		if (!known->text || !option->text ||
		    strcmp(known->text, option->text) != 0) {
			free(known->text);
			known->text = NULL;
		}
		return true;
	}
	return false;
}

static uint64_t name_bits(const struct source_option *option)
{
	uint64_t bits = 0;

	for (size_t i = 0; i < option->names.count; i++) {
		const char *name = option->names.items[i];

		uint64_t hash = hash_bytes(name, strlen(name));

		/* An even one and an odd one: two in any case. */
		bits |= UINT64_C(1) << (hash >> 59 << 1);
		bits |= UINT64_C(2) << ((hash >> 54 & 31) << 1);
	}
	return bits;
}

/* It speaks of something else than training, perhaps. */
static bool help_is_aside(const char *help)
{
	static const char *const others[] = { "eval",     "test",  "valid",
					      "infer",    "sampl", "generat",
					      "benchmark" };

	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		if (strcasestr(help, others[i]))
			return true;
	return false;
}

/*
 * --N_rand, "batch size (number of random rays per step)"; --iter_size, whose
 * default is 1, "accumulate gradients for ITER_SIZE iterations".
 */
static enum option_class class_of_help(const struct source_option *option)
{
	const char *help = option->help;

	if (option->kind != SOURCE_INTEGER || option->value < 1 || !help ||
	    help_is_aside(help))
		return OPTION_OTHER;
	if (strncasecmp(help, "batch size", 10) == 0)
		return OPTION_BATCH;
	return option->value == 1 && strcasestr(help, "accumulat") &&
			       strcasestr(help, "gradient")
		       ? OPTION_ACCUM
		       : OPTION_OTHER;
}

/* -g, --ga_steps: what one of its names says is true of all. */
static enum option_class source_option_class(const struct source_option *option)
{
	enum option_class found =
		option->dest
			? option_class_of(option->dest, strlen(option->dest))
			: OPTION_OTHER;

	for (size_t i = 0; i < option->names.count; i++) {
		const char *name = option->names.items[i];
		enum option_class class = option_class_of(name, strlen(name));

		if (class == OPTION_DECOY)
			return class;
		if (found == OPTION_OTHER)
			found = class;
	}
	if (found == OPTION_ACCUM && option->help &&
	    help_is_aside(option->help) && !strcasestr(option->help, "accum"))
		return OPTION_DECOY;
	return found == OPTION_OTHER ? class_of_help(option) : found;
}

void source_option_add(struct source *source, struct source_option *option)
{
	option->name_bits = name_bits(option);
	if (option->command)
		source_command_add(source, option->command);
	if (option->names.count == 0 || is_of_another(source, option) ||
	    source->option_count == SOURCE_OPTIONS_MAX ||
	    is_repeated(source, option)) {
		source_option_release(option);
		return;
	}
	option->class = source_option_class(option);
	source->options =
		xgrow(source->options, source->option_count,
		      &source->option_capacity, sizeof(*source->options));
	source->options[source->option_count++] = *option;
}

/* Its variable: dest, else its first long name. */
static bool option_is_called(const struct source_option *option,
			     const char *name, size_t length)
{
	if (option->dest)
		return name_equal(option->dest, strlen(option->dest), name,
				  length);
	for (size_t i = 0; i < option->names.count; i++) {
		const char *known = option->names.items[i];

		known += strspn(known, "-");
		if (name_equal(known, strlen(known), name, length))
			return true;
	}
	return false;
}

bool source_options_name_batch(const struct source *source)
{
	for (size_t i = 0; i < source->option_count; i++) {
		enum option_class class = source->options[i].class;

		if (class == OPTION_BATCH || class == OPTION_MICRO ||
		    class == OPTION_GLOBAL)
			return true;
	}
	return false;
}

void source_options_set(struct pytext *cursor, struct source *source,
			unsigned line)
{
	size_t indent = strspn(cursor->line_start, " \t");
	struct pytext ahead = *cursor;
	const char *name;
	size_t length;

	do {
		struct source_option set = { .kind = SOURCE_OTHER };

		ahead.at++;
		pytext_skip_blanks(&ahead, true);
		pytext_word(&ahead, &name, &length);
		pytext_skip_blanks(&ahead, true);
		if (length && ahead.at < ahead.end && *ahead.at == '=') {
			ahead.at++;
			pytext_skip_blanks(&ahead, true);
			set.kind = pytext_value(&ahead, true, &set.value);
		}
		for (size_t i = 0; length && i < source->option_count; i++) {
			struct source_option *option = &source->options[i];

			if (!option_is_called(option, name, length))
				continue;
			option->kind = indent > option->indent ? SOURCE_OTHER
							       : set.kind;
			option->value = set.value;
			option->line = line;
		}
		pytext_skip_argument(&ahead);
	} while (ahead.at < ahead.end && *ahead.at == ',');
}
