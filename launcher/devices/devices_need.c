/* The memory that a recorded command needs, for `devices --watch`. */
/* SPDX-License-Identifier: MIT */
#include "launcher/devices/devices_need.h"

#include "base/alloc.h"
#include "base/log.h"
#include "launcher/command/text/command_outcome.h"
#include "launcher/records/record_answer.h"
#include "launcher/records/records_choose.h"
#include "launcher/report/result_fill.h"
#include "launcher/request/request.h"

#include <stdlib.h>
#include <string.h>

/* Records of each folder: a crowded one must not delay the first look. */
#define RECORDS_READ_MAX 200

static const char *const kind_names[] = {
	[NEED_NONE] = "none",
	[NEED_EXACT] = "exact",
	[NEED_NEAR] = "near",
	[NEED_NEWEST] = "newest",
};

const char *devices_need_name(enum need_kind kind)
{
	return kind_names[kind];
}

uint64_t devices_need_bytes(const struct devices_need *need)
{
	uint64_t bytes = need->peak_bytes;

	if (need->kind == NEED_EXACT &&
	    __builtin_add_overflow(bytes, need->headroom_bytes, &bytes))
		return UINT64_MAX;
	return bytes;
}

static void devices_need_set(struct devices_need *need, enum need_kind kind,
			     const struct record *record)
{
	free(need->record);
	need->kind = kind;
	need->record = xstrdup(record->id ? record->id : "-");
	need->peak_bytes = record->peak_bytes;
	need->headroom_bytes = record->headroom_bytes;
}

static bool is_of_model(const struct record *record, const char *name)
{
	for (size_t i = 0; i < record->device_count; i++)
		if (strcmp(record->devices[i].name, name) == 0)
			return true;
	return false;
}

static bool devices_need_is_of(const struct record *record, const char *kind)
{
	/* Without a peak it says nothing about memory. */
	return record->peak_bytes > 0 && record->device_kind &&
	       strcmp(record->device_kind, kind) == 0;
}

/* Wherever the record is of such a device. False: none of them is. */
static bool set_all(struct devices_needs *needs, const struct devices *devices,
		    const struct record *record, enum need_kind kind)
{
	bool is_set = devices_need_is_of(record, "host");

	if (is_set)
		devices_need_set(&needs->host, kind, record);
	for (size_t i = 0;
	     i < devices->gpu_count && devices_need_is_of(record, "cuda"); i++)
		if (is_of_model(record, devices->gpus[i].gpu.name)) {
			devices_need_set(&needs->gpus[i], kind, record);
			is_set = true;
		}
	return is_set;
}

static void find_of_job(struct devices_needs *needs,
			const struct devices *devices,
			const struct request *request)
{
	struct record_match match = { .grade = RECORD_NONE };
	struct error err = ERROR_INIT;
	const char *name;

	if (record_answer_find(&match, request, &err) < 0)
		needs->words = xstrdup(err.message);
	name = match.record.id ? match.record.id : "-";
	if (match.grade == RECORD_EXACT || match.grade == RECORD_NEAR) {
		enum need_kind kind =
			match.grade == RECORD_EXACT ? NEED_EXACT : NEED_NEAR;

		if (!set_all(needs, devices, &match.record, kind))
			needs->words = xasprintf(
				"the record of this command (%s) is of another "
				"device",
				name);
		else if (kind == NEED_NEAR)
			needs->words = xasprintf(
				"only a similar command is recorded (%s); "
				"differs: %s",
				name, match.difference);
	} else if (!needs->words) {
		needs->words = xstrdup(
			"nothing is recorded for this command on these "
			"devices: autofit tune -- ... finds what it needs");
	}
	record_match_release(&match);
}

static int find_of_command(struct devices_needs *needs,
			   const struct devices *devices,
			   const struct options *options,
			   const struct process_state *state)
{
	/* Asked of a tuning: no effective batch has to be known. */
	struct options asked = *options;
	struct result result = RESULT_INIT;
	struct error err = ERROR_INIT;
	enum command_outcome outcome;
	struct request request;
	int code = 0;

	asked.subcommand = SUBCOMMAND_TUNE;
	outcome = request_prepare(&request, &asked, state, &err);
	if (outcome == COMMAND_OK) {
		find_of_job(needs, devices, &request);
	} else {
		result_refuse(&result, outcome, err.message);
		log_error("%s", err.message);
		code = result.exit_code;
		result_release(&result);
	}
	request_release(&request);
	return code;
}

/* The newest so far, of which only created is looked at. */
struct newest {
	int64_t gpus[GPU_MAX], host;
};

static void devices_need_consider(struct devices_needs *needs,
				  struct newest *newest,
				  const struct devices *devices,
				  const struct record *record)
{
	if (devices_need_is_of(record, "host") &&
	    record->created > newest->host) {
		newest->host = record->created;
		devices_need_set(&needs->host, NEED_NEWEST, record);
	}
	for (size_t i = 0;
	     i < devices->gpu_count && devices_need_is_of(record, "cuda");
	     i++) {
		if (record->created <= newest->gpus[i] ||
		    !is_of_model(record, devices->gpus[i].gpu.name))
			continue;
		newest->gpus[i] = record->created;
		devices_need_set(&needs->gpus[i], NEED_NEWEST, record);
	}
}

static int find_newest(struct devices_needs *needs,
		       const struct devices *devices)
{
	static const enum record_place places[] = { RECORD_OWN, RECORD_SITE };
	struct newest newest = { .host = 0 };
	struct chosen chosen;
	int code = chosen_open(&chosen);

	for (size_t place = 0; place < 2 && code == 0; place++) {
		const char *folder = places[place] == RECORD_SITE
					     ? chosen.site_records
					     : chosen.paths.records;
		struct strlist files = STRLIST_INIT;
		struct record record;

		/* Without a folder there are no records. */
		if (folder)
			(void)record_list(&files, folder, NULL);
		for (size_t i = 0; i < files.count && i < RECORDS_READ_MAX;
		     i++) {
			if (chosen_read(&record, files.items[i], &chosen,
					places[place], NULL) < 0)
				continue;
			devices_need_consider(needs, &newest, devices, &record);
			record_release(&record);
		}
		strlist_release(&files);
	}
	chosen_release(&chosen);
	return code;
}

int devices_needs_find(struct devices_needs *needs,
		       const struct devices *devices,
		       const struct options *options,
		       const struct process_state *state)
{
	memset(needs, 0, sizeof(*needs));
	return options->command.count
		       ? find_of_command(needs, devices, options, state)
		       : find_newest(needs, devices);
}

void devices_needs_release(struct devices_needs *needs)
{
	for (size_t i = 0; i < GPU_MAX; i++)
		free(needs->gpus[i].record);
	free(needs->host.record);
	free(needs->words);
	memset(needs, 0, sizeof(*needs));
}
