/* Helpers of the steps of recognition: their words for failure. Pure. */
/* SPDX-License-Identifier: MIT */
#include "launcher/command/parts/recognition.h"

#include "launcher/command/parts/token.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *option_file(const struct recognition *r,
			const struct source_option *option)
{
	return option->path ? option->path : r->source_name;
}

char *path_seen(const struct recognition *r, const char *path)
{
	return shell_path(r->command->view.expansion.folder, path);
}

struct named_file *file_seen(const struct recognition *r, const char *path)
{
	char *seen = path_seen(r, path);
	struct named_file *file = seen ? named_files_get(r->texts, seen) : NULL;

	free(seen);
	return file;
}

bool file_is_read(const struct recognition *r, const char *path)
{
	const struct named_file *file = file_seen(r, path);
	bool is_read = false;

	for (size_t i = 0; file && i < r->command->file_count; i++)
		is_read |= r->command->files[i].read == file;
	return is_read;
}

const struct source_option *option_of_token(const struct recognition *r,
					    const struct token *token)
{
	return token->bare ? NULL
			   : source_resolve(r->source, token->name,
					    token->name_length);
}

const struct preset_knob *preset_knob(const struct preset *preset,
				      enum knob_kind kind)
{
	const struct preset_knob *knobs[KNOB_KINDS] = { &preset->knobs.micro,
							&preset->knobs.accum,
							&preset->knobs.global,
							&preset->knobs.steps,
							&preset->knobs.output };

	return knobs[kind];
}

const char *knob_words(enum knob_kind kind)
{
	static const char *const words[KNOB_KINDS] = {
		"batch size", "gradient accumulation", "effective batch",
		"number of steps", "output folder"
	};

	return words[kind];
}

const char *way_out(enum knob_kind kind)
{
	static const char *const ways[KNOB_KINDS] = {
		"write {micro} where the value belongs, or name the option "
		"with --micro-flag NAME",
		"write {accum} where the value belongs, or name the option "
		"with --accum-flag NAME",
		"name the option with --global-flag NAME", "", ""
	};

	return ways[kind];
}

enum command_outcome not_recognised(const struct recognition *recognition,
				    const char *format, ...)
{
	char message[sizeof(recognition->err->message)];
	va_list args;

	va_start(args, format);
	(void)vsnprintf(message, sizeof(message), format, args);
	va_end(args);
	(void)error_set(recognition->err, -EINVAL, "%s", message);
	return COMMAND_NOT_RECOGNISED;
}

/* env BS=4 in the command comes after the environment that autofit sets. */
/* export BS=${BS:-8}: what it was before wins. */
static bool is_kept(const struct command *command, const char *name,
		    size_t length)
{
	const struct shell_expansion *expansion = &command->view.expansion;

	for (size_t i = 0; i < expansion->inner; i++) {
		const char *variable = expansion->words[i].variable;

		if (variable && strlen(variable) == length &&
		    memcmp(variable, name, length) == 0 &&
		    expansion->words[i].variable_offset == length + 1)
			return true;
	}
	return false;
}

enum command_outcome variable_check(const struct recognition *recognition,
				    const char *name, size_t length)
{
	const struct strlist *set = &recognition->command->view.assignments;
	char shown[BRIEF_MAX];

	for (size_t i = 0; i < set->count; i++) {
		if (strncmp(set->items[i], name, length) != 0 ||
		    set->items[i][length] != '=' ||
		    is_kept(recognition->command, name, length))
			continue;
		return not_recognised(recognition,
				      "the command itself sets %s, which wins "
				      "over what autofit sets: put it in front "
				      "of autofit instead, %s autofit -- ...",
				      argument_brief(shown, set->items[i]),
				      shown);
	}
	return COMMAND_OK;
}
