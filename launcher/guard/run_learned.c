/* What a guarded run teaches the record that its sizes came from. */
/* SPDX-License-Identifier: MIT */
#include "launcher/guard/run_learned.h"

#include "base/alloc.h"
#include "base/log.h"
#include "configs/records/record_lower.h"
#include "configs/records/record_split.h"
#include "launcher/records/record_lowered.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* The user's own file of it as it is now; false: there is none that is. */
static bool read_now(struct record *now, const struct record *record,
		     const struct request *request)
{
	char *path = xasprintf("%s/%s.ini", request->paths.records, record->id);
	bool found = record_trust(path, RECORD_OWN, NULL, NULL) == 0 &&
		     record_read(now, path, NULL) == 0;

	free(path);
	if (found && strcmp(now->identity, record->identity) == 0 &&
	    now->batch.world_size == record->batch.world_size &&
	    now->batch.effective_batch == record->batch.effective_batch)
		return true;
	if (found)
		record_release(now);
	return false;
}

/* The run's split was not this record's: the next one below the run's. */
static int use_below(struct record *record, int64_t micro, struct error *err)
{
	const struct trial *trial =
		record_split_find(record, micro, UINT64_MAX);

	if (!trial)
		return error_set(err, -ENOENT,
				 "no smaller split of its effective batch was "
				 "tested and fits");
	record_split_use(record, trial);
	return 0;
}

static int write_lowered(struct record *record, const struct request *request,
			 struct error *err)
{
	int result = record_lower(record, err);
	struct error not_written = ERROR_INIT;

	if (result == 0 &&
	    record_lowered_write(record, &request->paths, &not_written) < 0)
		log_warning("the next start has to learn it anew: %s",
			    not_written.message);
	return result;
}

int run_learned_lower(struct record *record, const struct request *request,
		      struct error *err)
{
	int64_t micro = record->batch.micro_batch;
	struct record now = RECORD_INIT;
	int result = 0;

	if (!read_now(&now, record, request))
		return write_lowered(record, request, err);
	if (now.batch.micro_batch == micro)
		result = write_lowered(&now, request, err);
	else if (now.batch.micro_batch > micro || !record_split_is_tested(&now))
		result = use_below(&now, micro, err);
	if (result < 0) {
		record_release(&now);
		return result;
	}
	record_release(record);
	*record = now;
	return 0;
}

void run_learned_confirm(const struct record *record,
			 const struct request *request)
{
	struct record now = RECORD_INIT;
	struct error err = ERROR_INIT;

	if (!read_now(&now, record, request))
		return;
	if (now.batch.micro_batch == record->batch.micro_batch &&
	    record_confirm_by_run(&now) &&
	    record_write(&now, request->paths.records, &err) < 0)
		log_warning("the run confirms its sizes, but: %s", err.message);
	record_release(&now);
}
