/* Answers from records: finds the record, checks that it holds here and now. */
/* SPDX-License-Identifier: MIT */
#include "launcher/records/record_answer.h"

#include "base/alloc.h"
#include "base/log.h"
#include "base/strlist.h"
#include "base/units.h"
#include "configs/records/record_lower.h"
#include "configs/records/record_split.h"
#include "launcher/options/exitcode.h"
#include "launcher/records/first_split.h"
#include "launcher/report/result_fill.h"
#include "probes/observers/host/host.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int record_answer_find(struct record_match *match,
		       const struct request *request, struct error *err)
{
	char *site = request->paths.site
			     ? xasprintf("%s/records", request->paths.site)
			     : NULL;
	const struct record_folders folders = { .own = request->paths.records,
						.site = site };
	int result = 0;

	memset(match, 0, sizeof(*match));
	if (request->options->reuse.from)
		result = record_match_file(match, request->options->reuse.from,
					   request->paths.site,
					   request->identity, request->subject,
					   err);
	else if (!request->options->reuse.fresh)
		record_search(match, &folders, request->identity,
			      request->subject);
	free(site);
	return result;
}

/* A file can be edited: what it says is checked against what is asked. */
static bool record_answer_keeps_batch(const struct request *request,
				      const struct record *record)
{
	const struct options *options = request->options;
	int64_t micro = record->batch.micro_batch;
	int64_t effective;

	if (micro < 1 || record->batch.grad_accum < 1 ||
	    record->batch.world_size < 1 || micro > request->max_micro ||
	    micro % options->batch.micro_multiple_of != 0 ||
	    record->batch.world_size != request->command.batch.world_size ||
	    __builtin_mul_overflow(micro, record->batch.grad_accum,
				   &effective) ||
	    __builtin_mul_overflow(effective, record->batch.world_size,
				   &effective))
		return false;
	return options->batch.choice == EFFECTIVE_GROW ||
	       !request->asked.effective_batch ||
	       effective == request->asked.effective_batch;
}

/* --largest also wants the largest size, which not every record knows. */
static bool answers(const struct request *request, const struct record *record)
{
	/* Without a peak nobody can tell whether it fits now. */
	return record->peak_bytes > 0 && record_split_is_tested(record) &&
	       record_answer_keeps_batch(request, record) &&
	       (!request->options->search.largest ||
		record->largest_micro_batch);
}

bool record_answer_is_checkable(const struct record_match *match,
				const struct request *request)
{
	return match->grade == RECORD_NEAR && answers(request, &match->record);
}

/* What a run could use of this kind of memory now; UINT64_MAX: not known. */
static uint64_t free_now(const struct request *request, const char *device_kind)
{
	struct host_budget budget;
	uint64_t bytes;

	if (strcmp(device_kind, "host") == 0) {
		if (host_budget_read(&budget,
				     request->options->target.memory_bytes,
				     &host_roots_here, NULL) < 0)
			return 0;
		return budget.budget_bytes;
	}
	bytes = visible_gpus_free_bytes(request->gpus);
	if (request->options->target.memory_bytes &&
	    request->options->target.memory_bytes < bytes)
		bytes = request->options->target.memory_bytes;
	return bytes;
}

/* The split as recorded, or the largest that fits now. False: none does. */
static bool fit_now(struct record *record, const struct request *request)
{
	uint64_t free_bytes = free_now(request, record->device_kind);
	const struct trial *trial;
	char needed[BYTES_TEXT_MAX];
	char free_text[BYTES_TEXT_MAX];

	if (record->peak_bytes <= free_bytes)
		return true;
	trial = record_split_find(record, record->batch.micro_batch,
				  free_bytes);
	if (!trial)
		return false;
	log_warning("micro %lld needs %s and %s are free now: the next "
		    "smaller tested split is used",
		    (long long)record->batch.micro_batch,
		    bytes_format(needed, record->peak_bytes),
		    bytes_format(free_text, free_bytes));
	record_split_use(record, trial);
	return true;
}

/* --device cuda:N, in the user's own words for it. */
static void set_visible(struct result *result, const struct request *request)
{
	const char *variable = visible_gpus_variable(request->gpus);
	int index = request->options->target.cuda_index;
	char *word;

	strlist_env_unset(&result->run.environment, variable);
	if (index < 0)
		return;
	word = visible_gpus_word(request->gpus, index);
	/* Without a word for it CUDA sees none, and neither does the run. */
	strlist_addf(&result->run.environment, "%s=%s", variable,
		     word ? word : "");
	free(word);
}

/* --device cuda:N may be another card now, or none. */
static bool is_of_this_card(const struct record *record,
			    const struct request *request)
{
	const struct record_device *device = &record->devices[0];

	if (strcmp(record->device_kind, "host") == 0)
		return true;
	return visible_gpus_fit(request->gpus,
				record->device_count ? device->name : NULL,
				record->device_count ? device->total_bytes : 0);
}

static void set_reused(struct result *result, const struct request *request)
{
	const struct record *record = &result->record;

	result->outcome = OUTCOME_REUSED;
	result->exit_code = EXIT_DONE;
	result_set_command(result, request, record->batch.micro_batch,
			   record->batch.grad_accum);
	set_visible(result, request);
}

int record_answer_use(struct result *result, struct record_match *match,
		      const struct request *request)
{
	if (match->grade != RECORD_EXACT &&
	    !(match->grade == RECORD_NEAR &&
	      request->options->reuse.trust_record))
		return 0;
	if ((record_awaits_run(&match->record) &&
	     !request->options->reuse.guard) ||
	    !answers(request, &match->record) ||
	    !is_of_this_card(&match->record, request) ||
	    !fit_now(&match->record, request))
		return 0;
	record_release(&result->record);
	result->record = match->record;
	memset(&match->record, 0, sizeof(match->record));
	result->record_grade = record_grade_name(match->grade);
	free(result->record_path);
	result->record_path = match->path;
	match->path = NULL;
	if (match->grade == RECORD_NEAR)
		result->difference = xstrdup(match->difference);
	set_reused(result, request);
	return 1;
}

int record_answer_fill(struct result *result, const struct request *request)
{
	struct record_match match;
	int found = record_answer_find(&match, request, NULL) == 0 &&
		    record_answer_use(result, &match, request);

	record_match_release(&match);
	return found;
}

int record_answer_start(struct result *result, const struct request *request)
{
	struct record *record = &result->record;
	char *reason = first_split_reason(request);
	struct start start;
	const char *kind;

	if (!reason || request->options->reuse.fresh ||
	    request->options->subcommand == SUBCOMMAND_TUNE ||
	    first_split_find(&start, request) <= 0) {
		free(reason);
		return 0;
	}
	record->batch.micro_batch = start.batch.micro_batch;
	record->batch.grad_accum = start.batch.grad_accum;
	record->peak_bytes = start.peak_bytes;
	kind = start.on_host ? "host" : "cuda";
	if (!record_answer_keeps_batch(request, record) ||
	    start.peak_bytes > free_now(request, kind)) {
		log_verbose("%s, but its first split does not fit now", reason);
		record->batch.micro_batch = record->batch.grad_accum = 0;
		record->peak_bytes = 0;
		free(reason);
		return 0;
	}
	record->batch.effective_batch = start.batch.micro_batch *
					start.batch.grad_accum *
					record->batch.world_size;
	record->device_kind = xstrdup(kind);
	record->created = start.created;
	/* So that what is said of that record later reaches this run too. */
	free(record->id);
	record->id = *start.record_id ? xstrdup(start.record_id) : NULL;
	result->resumes = reason;
	set_reused(result, request);
	return 1;
}
