/* What a program that nobody knows may start. Pure. */
/* SPDX-License-Identifier: MIT */
#include "launcher/command/wrappers/unwrap_unknown.h"

#include "base/alloc.h"
#include "base/match.h"
#include "configs/presets/preset.h"
#include "launcher/command/text/argument.h"
#include "launcher/command/text/names.h"
#include "launcher/command/wrappers/launchers.h"

#include <stdlib.h>
#include <string.h>

/* The first word of an entry such as "xtuner train", or a script's name. */
static bool names_program(const struct strlist *entries, const char *program)
{
	for (size_t i = 0; i < entries->count; i++) {
		const char *entry = entries->items[i];
		char name[NAME_MAX_BYTES];
		size_t length = strcspn(entry, " ");

		if (length >= sizeof(name))
			continue;
		memcpy(name, entry, length);
		name[length] = '\0';
		if (glob_matches(basename(name), basename(program)))
			return true;
	}
	return false;
}

/* Entries such as "*.py fit" name no script that starts another. */
static bool is_of_a_preset(const struct wrapper *wrapper, const char *program)
{
	const struct presets *presets = wrapper->presets;

	if (text_ends_with(program, ".py"))
		return false;
	for (size_t i = 0; presets && i < presets->count; i++)
		if (names_program(&presets->items[i].signs.entries, program) ||
		    names_program(&presets->items[i].signs.scripts, program))
			return true;
	return false;
}

/* "python" may be a word like others; with such a one behind it, it is not. */
static bool starts_python(const char *word, const char *next)
{
	return argument_is_python(basename(word)) && next &&
	       (text_ends_with(next, ".py") ||
		(next[0] == '-' && next[1] && strchr("BEIOWXcmu", next[1])));
}

/* A config file may be one of Python, too: this one reads options. */
static bool is_a_script(const struct wrapper *wrapper, const char *word)
{
	struct named_file *file =
		text_ends_with(word, ".py")
			? named_files_get(wrapper->texts, word)
			: NULL;

	return file && !file->error &&
	       (named_file_source(file)->option_count > 0 ||
		strstr(strbuf_text(&file->text), "__main__"));
}

static bool starts_ranks_of(const struct wrapper *wrapper, const char *word,
			    const char *next)
{
	const struct launcher *row = launcher_find(wrapper->launchers, word);

	return row && row->count != COUNT_NOTHING &&
	       (launcher_is_whole(row, word) ||
		(next && launcher_subcommand_after(row->subcommand, next)));
}

/* The first word behind the program and before this one that starts ranks. */
static size_t launcher_before(const struct wrapper *wrapper, size_t end)
{
	const struct strlist *argv = wrapper->argv;

	for (size_t i = wrapper->at + 1; i < end; i++)
		if (starts_ranks_of(wrapper, argv->items[i],
				    argv->items[i + 1]))
			return i;
	return end;
}

/* --use_deepspeed run.py: the word behind may be the option's value, unless the
 * program declares a switch. */
static bool may_be_a_value(const struct wrapper *wrapper, const char *program,
			   const char *before)
{
	const struct source_option *option;
	struct named_file *file;

	if (!argument_is_option(before) || strchr(before, '='))
		return false;
	file = text_ends_with(program, ".py")
		       ? named_files_get(wrapper->texts, program)
		       : NULL;
	option = file && !file->error ? source_resolve(named_file_source(file),
						       before, strlen(before))
				      : NULL;
	return !option || !option->is_switch;
}

bool wrapper_starts_another(struct wrapper *wrapper)
{
	const struct strlist *argv = wrapper->argv;
	const char *program = wrapper_here(wrapper);

	for (size_t i = wrapper->at + 1; i < argv->count; i++) {
		const char *word = argv->items[i], *before = argv->items[i - 1];
		const char *next =
			i + 1 < argv->count ? argv->items[i + 1] : NULL;
		bool is_python = starts_python(word, next);

		if (!is_python && !is_a_script(wrapper, word))
			continue;
		if (is_of_a_preset(wrapper, program))
			return false;
		wrapper->view->starter = program;
		if (!is_python && may_be_a_value(wrapper, program, before))
			continue;
		wrapper->at = launcher_before(wrapper, i);
		return true;
	}
	return false;
}

/* "pkg/launch.py" of pkg.launch; the caller frees. */
static char *module_source(const char *module)
{
	char *path = xasprintf("%s.py", module);
	size_t length = strlen(module);

	for (size_t i = 0; i < length; i++)
		if (path[i] == '.')
			path[i] = '/';
	return path;
}

static bool may_hand_on(struct wrapper *wrapper, bool is_module)
{
	const char *word = wrapper_here(wrapper);
	char *path = is_module ? module_source(word) : xstrdup(word);
	const struct named_file *file = named_files_get(wrapper->texts, path);
	bool is_read = file && !file->error && file->text.length;

	free(path);
	/* A copy of torch.distributed.launch, say: it hands on all that is
	 * left, and a script is in that. */
	return is_read ? strstr(strbuf_text(&file->text), "REMAINDER") != NULL
		       : is_module;
}

bool wrapper_hands_on(struct wrapper *wrapper, bool is_module)
{
	const char *starter = wrapper->view->starter;
	bool does = may_hand_on(wrapper, is_module) &&
		    wrapper_starts_another(wrapper);

	/* Below a launcher it starts one script as one rank. */
	if (!does || wrapper->view->launcher)
		wrapper->view->starter = starter;
	return does;
}
