/* DeepSpeed's own file, where another file names it. Pure. */
/* SPDX-License-Identifier: MIT */
#include "launcher/command/wrappers/launchers.h"

#include "base/alloc.h"
#include "launcher/command/parts/command_internal.h"

#include <stdlib.h>
#include <string.h>

/* A number; "auto" is what the program that starts it says. */
static const struct setting *find_size(const struct settings *settings)
{
	static const char *const keys[] = {
		"train_micro_batch_size_per_gpu",
		"gradient_accumulation_steps",
		"train_batch_size",
	};

	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		const struct setting *found;
		int64_t number;

		if (settings_find_all(settings, keys[i], &found, 1) &&
		    strcmp(found->key, keys[i]) == 0 &&
		    count_parse(found->value, &number))
			return found;
	}
	return NULL;
}

char *deepspeed_fault(const struct settings *settings, const char *path)
{
	const struct setting *size = find_size(settings);
	char shown[BRIEF_MAX], value[BRIEF_MAX];

	if (!size)
		return NULL;
	return xasprintf("%s sets %s = %s for DeepSpeed, and another size "
			 "would contradict it: write \"auto\" there",
			 argument_brief(shown, path), size->key,
			 argument_brief(value, size->value));
}

static enum command_outcome check_file(struct recognition *r, const char *path)
{
	enum command_outcome outcome = COMMAND_OK;
	struct named_file *file;
	char *fault;

	/* As seen from where a shell has gone. */
	if (r->command->view.expansion.folder && *path != '/')
		return COMMAND_OK;
	file = named_files_get(r->texts, path);
	/* Else DeepSpeed itself says what is wrong with it. */
	if (!file || file->error)
		return COMMAND_OK;
	fault = deepspeed_fault(named_file_settings(file, SETTINGS_JSON), path);
	if (fault)
		outcome = not_recognised(r, "%s", fault);
	free(fault);
	return outcome;
}

enum command_outcome deepspeed_check(struct recognition *r)
{
	const struct command *command = r->command;
	enum command_outcome outcome = COMMAND_OK;

	for (size_t i = 0; outcome == COMMAND_OK && i < command->file_count;
	     i++) {
		const char *path =
			launch_setting(command->files[i].settings, "deepspeed");
		enum settings_format format;

		if (path && settings_format_of(path, &format) &&
		    format == SETTINGS_JSON)
			outcome = check_file(r, path);
	}
	return outcome;
}
