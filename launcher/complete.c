/* `autofit --complete`: what a shell offers for the word at the cursor. */
/* SPDX-License-Identifier: MIT */
#include "launcher/complete.h"

#include "base/alloc.h"
#include "base/log.h"
#include "base/name.h"
#include "configs/files/paths.h"
#include "configs/presets/preset.h"
#include "configs/records/record.h"
#include "launcher/command/text/text.h"
#include "launcher/options/options_complete.h"
#include "launcher/records/records_choose.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void add_presets(struct strbuf *out, const struct paths *paths)
{
	struct presets presets = { .items = NULL };
	char *folder = NULL;

	if (paths->config)
		folder = xasprintf("%s/presets", paths->config);
	(void)presets_load(&presets, folder, NULL);
	for (size_t i = 0; i < presets.count; i++) {
		const struct preset *preset = &presets.items[i];

		if (!name_is_plain(preset->name))
			continue;
		strbuf_addf(out, "%s\t", preset->name);
		text_add_safe(out, preset->description, false);
		strbuf_addch(out, '\n');
	}
	presets_release(&presets);
	free(folder);
}

/* A record is called as its file. */
static void add_records(struct strbuf *out, const char *folder)
{
	struct strlist files = STRLIST_INIT;

	(void)record_list(&files, folder, NULL);
	for (size_t i = 0; i < files.count; i++) {
		char *name = chosen_name(files.items[i]);

		if (name_is_plain(name))
			strbuf_addf(out, "%s\n", name);
		free(name);
	}
	strlist_release(&files);
}

static void add_all_records(struct strbuf *out, const struct paths *paths)
{
	char *of_site = NULL;

	if (paths->records)
		add_records(out, paths->records);
	if (paths->site) {
		of_site = xasprintf("%s/records", paths->site);
		add_records(out, of_site);
	}
	free(of_site);
}

int complete_command(const struct strlist *words,
		     const struct strlist *environment)
{
	struct strbuf out = STRBUF_INIT;
	struct paths paths;

	log_set_level(LOG_LEVEL_QUIET);
	(void)paths_find(&paths, environment, NULL);
	switch (options_complete(words, &out)) {
	case COMPLETION_RECORDS:
		add_all_records(&out, &paths);
		break;
	case COMPLETION_PRESETS:
		add_presets(&out, &paths);
		break;
	case COMPLETION_NO_NAMES:
		break;
	}
	(void)fputs(strbuf_text(&out), stdout);
	(void)fflush(stdout);
	paths_release(&paths);
	strbuf_release(&out);
	return 0;
}
