/* Which record a sub-command speaks of: by its name, or by its command. */
/* SPDX-License-Identifier: MIT */
#include "launcher/records/records_choose.h"

#include "base/alloc.h"
#include "base/log.h"
#include "configs/records/record_fields.h"
#include "configs/records/record_files.h"
#include "launcher/command/text/command_outcome.h"
#include "launcher/options/exitcode.h"
#include "launcher/report/result_fill.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int chosen_open(struct chosen *chosen)
{
	struct strlist environment = STRLIST_INIT;
	struct error err = ERROR_INIT;
	int result;

	memset(chosen, 0, sizeof(*chosen));
	for (char **item = environ; item && *item; item++)
		strlist_add(&environment, *item);
	result = paths_find(&chosen->paths, &environment, &err);
	strlist_release(&environment);
	if (result < 0) {
		log_error("%s", err.message);
		return EXIT_AUTOFIT_FAILED;
	}
	if (chosen->paths.site)
		chosen->site_records =
			xasprintf("%s/records", chosen->paths.site);
	return EXIT_DONE;
}

void chosen_release(struct chosen *chosen)
{
	if (chosen->has_job)
		request_release(&chosen->request);
	paths_release(&chosen->paths);
	free(chosen->site_records);
	free(chosen->path);
	free(chosen->name);
	record_release(&chosen->record);
	memset(chosen, 0, sizeof(*chosen));
}

char *chosen_name(const char *path)
{
	const char *file = basename(path);
	size_t length = strlen(file);

	if (length > RECORD_SUFFIX_LENGTH &&
	    strcmp(file + length - RECORD_SUFFIX_LENGTH, RECORD_SUFFIX) == 0)
		length -= RECORD_SUFFIX_LENGTH;
	return xstrndup(file, length);
}

static const char *records_choose_folder_of(const struct chosen *chosen,
					    enum record_place place)
{
	return place == RECORD_SITE ? chosen->site_records
				    : chosen->paths.records;
}

int chosen_read(struct record *record, const char *path,
		const struct chosen *chosen, enum record_place place,
		struct error *err)
{
	int fd = record_open(path, place, chosen->paths.site, err);
	int result = fd;

	memset(record, 0, sizeof(*record));
	if (fd >= 0)
		result = record_read_open(record, fd, path, err);
	if (result < 0)
		return result;
	/* It goes by its file's name, whatever stands in the file. */
	free(record->id);
	record->id = chosen_name(path);
	return 0;
}

static bool has_identity(const char *path, const char *identity)
{
	struct record found;
	bool same;

	/* A damaged file has no identity. */
	if (record_read(&found, path, NULL) < 0)
		return false;
	same = strcmp(found.identity, identity) == 0;
	record_release(&found);
	return same;
}

void chosen_files(struct strlist *paths, const struct chosen *chosen,
		  enum record_place place, const char *identity)
{
	const char *folder = records_choose_folder_of(chosen, place);
	struct strlist files = STRLIST_INIT;

	/* Without a folder there are no records. */
	if (folder)
		(void)record_list_fitting(&files, folder, identity, NULL);
	for (size_t i = 0; i < files.count; i++)
		if (has_identity(files.items[i], identity))
			strlist_add(paths, files.items[i]);
	strlist_release(&files);
}

int chosen_by_identity(struct record *record, char **path,
		       const struct chosen *chosen, enum record_place place,
		       const char *identity)
{
	struct strlist paths = STRLIST_INIT;
	struct record found;

	*path = NULL;
	memset(record, 0, sizeof(*record));
	chosen_files(&paths, chosen, place, identity);
	for (size_t i = 0; i < paths.count; i++) {
		struct error err = ERROR_INIT;

		if (chosen_read(&found, paths.items[i], chosen, place, &err) <
		    0) {
			log_warning("record passed over: %s", err.message);
		} else if (*path && found.created <= record->created) {
			record_release(&found);
		} else {
			record_release(record);
			*record = found;
			free(*path);
			*path = xstrdup(paths.items[i]);
		}
	}
	strlist_release(&paths);
	return *path ? 1 : 0;
}

static bool take_name(struct chosen *chosen, enum record_place place,
		      const char *name)
{
	const char *folder = records_choose_folder_of(chosen, place);
	struct stat info;
	char *path;

	if (!folder)
		return false;
	path = xasprintf("%s/%s" RECORD_SUFFIX, folder, name);
	if (lstat(path, &info) < 0) {
		free(path);
		return false;
	}
	chosen->path = path;
	chosen->name = xstrdup(name);
	chosen->place = place;
	(void)chosen_read(&chosen->record, path, chosen, place,
			  &chosen->problem);
	return true;
}

bool chosen_take_name(struct chosen *chosen, const char *name)
{
	return record_id_is_valid(name) &&
	       (take_name(chosen, RECORD_OWN, name) ||
		take_name(chosen, RECORD_SITE, name));
}

static int records_choose_by_name(struct chosen *chosen, const char *name)
{
	if (chosen_take_name(chosen, name))
		return EXIT_DONE;
	log_error("no record is called '%s'; autofit show lists them", name);
	return EXIT_AUTOFIT_FAILED;
}

static int by_command(struct chosen *chosen, const struct options *options,
		      const struct process_state *state)
{
	static const enum record_place places[] = { RECORD_OWN, RECORD_SITE };
	struct result result = RESULT_INIT;
	struct error err = ERROR_INIT;
	enum command_outcome outcome;
	int code;

	chosen->has_job = true;
	outcome = request_prepare(&chosen->request, options, state, &err);
	if (outcome != COMMAND_OK) {
		result_refuse(&result, outcome, err.message);
		log_error("%s", err.message);
		code = result.exit_code;
		result_release(&result);
		return code;
	}
	for (size_t i = 0; i < 2 && !chosen->path; i++) {
		chosen->place = places[i];
		(void)chosen_by_identity(&chosen->record, &chosen->path, chosen,
					 places[i], chosen->request.identity);
	}
	if (chosen->path)
		chosen->name = chosen_name(chosen->path);
	return EXIT_DONE;
}

int chosen_find(struct chosen *chosen, const struct options *options,
		const struct process_state *state)
{
	int code = chosen_open(chosen);

	if (code != EXIT_DONE)
		return code;
	if (options->command.count)
		return by_command(chosen, options, state);
	if (options->record_name)
		return records_choose_by_name(chosen, options->record_name);
	log_error("which record? give its name, or -- and the command; "
		  "autofit show lists them");
	return EXIT_AUTOFIT_FAILED;
}

int chosen_need(struct chosen *chosen, const struct options *options,
		const struct process_state *state)
{
	int code = chosen_find(chosen, options, state);

	if (code != EXIT_DONE)
		return code;
	if (chosen->record.id)
		return EXIT_DONE;
	if (chosen->path)
		log_error("%s", chosen->problem.message);
	else
		log_error("there is no record of this command with these "
			  "options; autofit show lists what there is");
	return EXIT_AUTOFIT_FAILED;
}

void chosen_add_split(struct strbuf *out, int64_t micro_batch,
		      int64_t grad_accum)
{
	strbuf_addf(out, "micro %" PRId64 " x accum %" PRId64, micro_batch,
		    grad_accum);
}
