/* DeepSpeed's own file, where another file names it. Pure. */
/* SPDX-License-Identifier: MIT */
#include "launcher/command/constraints.h"
#include "launcher/command/files/deepspeed_file.h"
#include "launcher/command/files/named_files.h"
#include "launcher/command/parts/recognition.h"
#include "launcher/command/text/command_outcome.h"
#include "launcher/command/wrappers/ranks.h"

#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

static enum command_outcome check_file(struct recognition *r, const char *path)
{
	enum command_outcome outcome = COMMAND_OK;
	struct named_file *file;
	char *fault;

	file = file_seen(r, path);
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
