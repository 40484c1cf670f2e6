/* A task of a project's file, where a program could stand. Pure. */
/* SPDX-License-Identifier: MIT */
#include "launcher/command/wrappers/unwrap_task.h"

#include "launcher/command/text/argument.h"

#include <string.h>

/* "tasks.train", "tool.pdm.scripts.train.cmd"; entry points are programs. */
static bool is_key_of(const char *key, const char *word)
{
	static const char *const tables[] = { "tasks.", "scripts." };
	static const char *const others[] = { "project.", "tool.poetry." };
	size_t length = strlen(word);

	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		if (strncmp(key, others[i], strlen(others[i])) == 0)
			return false;
	for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++) {
		const char *at = strstr(key, tables[i]);
		const char *name = at ? at + strlen(tables[i]) : "";

		if (at && (at == key || at[-1] == '.') &&
		    strncmp(name, word, length) == 0 &&
		    (name[length] == '\0' || strchr(".[", name[length])))
			return true;
	}
	return false;
}

/* The file that has the task, or NULL. */
static const char *task_file(const struct wrapper *wrapper,
			     const struct launcher *row)
{
	const char *word = wrapper_here(wrapper);

	for (size_t i = 0; i < row->task_files.count; i++) {
		const char *path = row->task_files.items[i];
		struct named_file *file = named_files_get(wrapper->texts, path);
		const struct settings *settings =
			file && !file->error
				? named_file_settings(file, SETTINGS_TOML)
				: NULL;

		for (size_t k = 0; settings && k < settings->count; k++)
			if (is_key_of(settings->items[k].key, word))
				return path;
	}
	return NULL;
}

bool wrapper_is_task(const struct wrapper *wrapper, const struct launcher *row)
{
	return task_file(wrapper, row) != NULL;
}

enum command_outcome wrapper_task(struct wrapper *wrapper,
				  const struct launcher *row)
{
	const char *word = wrapper_here(wrapper);
	char shown[BRIEF_MAX];

	if (!wrapper_has_placeholders(wrapper))
		return launch_fail(
			wrapper, COMMAND_NOT_RECOGNISED,
			"%s is a task of %s, which hides the "
			"training command: write {micro} where its "
			"batch size belongs, or put autofit in front "
			"of the command there (%s %s autofit -- ...)",
			argument_brief(shown, word), task_file(wrapper, row),
			row->names.items[0], row->subcommand);
	wrapper->view->starter = word;
	return wrapper_as_it_stands(wrapper);
}
