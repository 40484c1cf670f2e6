/* May a program start more ranks than are counted? Pure. */
/* SPDX-License-Identifier: MIT */
#include "launcher/command/ranks/ranks_open.h"

#include "base/alloc.h"
#include "launcher/command/files/source_shares.h"
#include "launcher/command/modules/module_files.h"
#include "launcher/command/ranks/ranks_by_words.h"
#include "launcher/command/text/argument.h"
#include "launcher/command/text/option_class.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* "mpirun -np 8" in code, and not in what a text or a comment tells. */
static bool quotes_launcher(const char *text)
{
	static const char *const launchers[] = {
		"mpirun",
		"horovodrun",
		"torchrun",
		"torch.distributed.",
		"python -m torch.distributed.",
		"python3 -m torch.distributed.",
		"accelerate launch"
	};

	for (size_t i = 0; i < sizeof(launchers) / sizeof(*launchers); i++)
		for (const char *at = text; (at = strstr(at, launchers[i]));
		     at++)
			if (at > text && strchr("\"'", at[-1]))
				return true;
	return false;
}

bool ranks_start_launcher(const char *text)
{
	return (strstr(text, "subprocess") || strstr(text, "os.system") ||
		strstr(text, "Popen(")) &&
	       quotes_launcher(text);
}

/* A source_share_visit. */
static void note_times(void *context, const char *name, size_t length,
		       enum source_share share, enum source_accum accum)
{
	enum option_class class = option_class_of(name, length);
	bool *found = context;

	(void)accum;
	*found |= share == SHARE_TIMES &&
		  (class == OPTION_MICRO || class == OPTION_BATCH);
}

/* batch_size_per_gpu * len(gpus): one process feeds several devices. */
static bool multiplies_batch(const char *text)
{
	bool found = false;

	source_shares_visit(text, note_times, &found);
	return found;
}

/* A module_file_visit. */
static void note_starter(void *context, struct named_file *file,
			 const struct source_import *import)
{
	const char *text = strbuf_text(&file->text);
	bool *found = context;

	(void)import;
	*found = *found || ranks_are_started(text) || multiplies_batch(text);
}

/* launch_job(cfg, train) of a module, whose config names several. */
static bool module_starts_ranks(const struct recognition *r)
{
	bool found = false;

	module_files_visit(r, note_starter, &found);
	return found;
}

/* What the words name where a spawn may be, which is not read itself: what else
 * its modules do with the ranks is not known. */
static int64_t ranks_unseen(const struct recognition *r)
{
	const struct command *command = r->command;
	int64_t said = 0;

	if (!command->preset_is_certain && !command->view.launcher &&
	    !(r->text && ranks_are_started(r->text)))
		said = ranks_said(r);
	return said < 2 || !r->text || ranks_start_launcher(r->text) ||
			       multiplies_batch(r->text) ||
			       module_starts_ranks(r)
		       ? said
		       : 0;
}

void ranks_open(const struct recognition *r)
{
	struct command *command = r->command;
	const char *starter = command->view.starter;
	int64_t ranks = ranks_of_variable(r);
	int64_t said = ranks_unseen(r);
	char shown[BRIEF_MAX];

	if (command->open_ranks)
		return;
	if (starter)
		command->open_ranks = xasprintf(
			"how many ranks %s starts is not known until a probe "
			"or a file of launchers tells",
			argument_brief(shown, basename(starter)));
	else if (command->view.launcher)
		return;
	else if (said > command->batch.world_size)
		command->open_ranks = xasprintf(
			"whether it starts the %lld ranks that its words name "
			"is not known until a probe shows it",
			(long long)said);
	else if (ranks > command->batch.world_size)
		command->open_ranks = xasprintf(
			"whether it starts the %lld ranks of NPROC_PER_NODE "
			"is not known until a probe shows it",
			(long long)ranks);
}
