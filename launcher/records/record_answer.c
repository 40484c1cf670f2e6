/* What is recorded for a command, and whether it holds here and now. */
/* SPDX-License-Identifier: MIT */
#include "launcher/records/record_answer.h"

#include "base/alloc.h"
#include "base/log.h"
#include "base/units.h"
#include "configs/records/record_split.h"
#include "launcher/options/exitcode.h"
#include "launcher/records/first_split.h"
#include "launcher/request/visible_gpus.h"
#include "launcher/tuning/session.h"
#include "probes/observers/host/host.h"

#include <stdlib.h>
#include <string.h>

int recall_find(struct record_match *match, const struct job *job,
		struct error *err)
{
	char *site = job->paths.site ? xasprintf("%s/records", job->paths.site)
				     : NULL;
	const struct record_folders folders = { .own = job->paths.records,
						.site = site };
	int result = 0;

	memset(match, 0, sizeof(*match));
	if (job->options->from)
		result = record_match_file(match, job->options->from,
					   job->paths.site, job->identity,
					   job->subject, err);
	else if (!job->options->fresh)
		record_search(match, &folders, job->identity, job->subject);
	free(site);
	return result;
}

/* A file can be edited: what it says is checked against what is asked. */
bool recall_keeps_batch(const struct job *job, const struct record *record)
{
	const struct options *options = job->options;
	int64_t micro = record->micro_batch;
	int64_t effective;

	if (micro < 1 || record->grad_accum < 1 || record->world_size < 1 ||
	    micro > job->max_micro || micro % options->micro_multiple_of != 0 ||
	    record->world_size != job->command.world_size ||
	    __builtin_mul_overflow(micro, record->grad_accum, &effective) ||
	    __builtin_mul_overflow(effective, record->world_size, &effective))
		return false;
	return options->subcommand == SUBCOMMAND_TUNE ||
	       options->effective == EFFECTIVE_GROW || !job->effective_batch ||
	       effective == job->effective_batch;
}

/* `tune` also wants the largest size, which a launch may not know. */
static bool answers(const struct job *job, const struct record *record)
{
	/* Without a peak nobody can tell whether it fits now. */
	return record->peak_bytes > 0 && record_split_is_tested(record) &&
	       recall_keeps_batch(job, record) &&
	       (job->options->subcommand != SUBCOMMAND_TUNE ||
		record->largest_micro_batch);
}

bool recall_is_checkable(const struct record_match *match,
			 const struct job *job)
{
	return match->grade == RECORD_NEAR && answers(job, &match->record);
}

/* What a run could use of this kind of memory now; UINT64_MAX: not known. */
static uint64_t free_now(const struct job *job, const char *device_kind)
{
	const struct host_roots roots = { "/proc", "/sys/fs/cgroup" };
	struct gpu_device gpus[GPU_MAX];
	struct host_budget budget;
	uint64_t bytes;

	if (strcmp(device_kind, "host") == 0) {
		if (host_budget_read(&budget, job->options->memory_bytes,
				     &roots, NULL) < 0)
			return 0;
		return budget.budget_bytes;
	}
	bytes = visible_free_bytes(gpus,
				   visible_gpus(gpus, &job->environment,
						job->options->cuda_index));
	if (job->options->memory_bytes && job->options->memory_bytes < bytes)
		bytes = job->options->memory_bytes;
	return bytes;
}

/* The split as recorded, or the largest that fits now. False: none does. */
static bool fit_now(struct record *record, const struct job *job)
{
	uint64_t free_bytes = free_now(job, record->device_kind);
	const struct trial *trial;
	char needed[BYTES_TEXT_MAX];
	char free_text[BYTES_TEXT_MAX];

	if (record->peak_bytes <= free_bytes)
		return true;
	trial = record_split_find(record, record->micro_batch, free_bytes);
	if (!trial)
		return false;
	log_warning("micro %lld needs %s and %s are free now: the next "
		    "smaller tested split is used",
		    (long long)record->micro_batch,
		    bytes_format(needed, record->peak_bytes),
		    bytes_format(free_text, free_bytes));
	record_split_use(record, trial);
	return true;
}

/* --device cuda:N is a card of this machine, whichever the record's was. */
static void set_visible(struct result *result, const struct job *job)
{
	struct gpu_device gpus[GPU_MAX];
	int index = job->options->cuda_index;

	strlist_env_unset(&result->run.environment, "CUDA_VISIBLE_DEVICES");
	if (index < 0)
		return;
	if (visible_gpus(gpus, &job->environment, index) == 1 &&
	    gpus[0].uuid[0])
		strlist_addf(&result->run.environment,
			     "CUDA_VISIBLE_DEVICES=%s", gpus[0].uuid);
	else
		strlist_addf(&result->run.environment,
			     "CUDA_VISIBLE_DEVICES=%d", index);
}

static void set_reused(struct result *result, const struct job *job)
{
	const struct record *record = &result->record;

	result->outcome = OUTCOME_REUSED;
	result->exit_code = EXIT_DONE;
	session_set_command(result, job, record->micro_batch,
			    record->grad_accum);
	set_visible(result, job);
}

int recall_use(struct result *result, struct record_match *match,
	       const struct job *job)
{
	if (match->grade != RECORD_EXACT &&
	    !(match->grade == RECORD_NEAR && job->options->trust_record))
		return 0;
	if (!answers(job, &match->record) || !fit_now(&match->record, job))
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
	set_reused(result, job);
	return 1;
}

int recall_answer(struct result *result, const struct job *job)
{
	struct record_match match;
	int found = recall_find(&match, job, NULL) == 0 &&
		    recall_use(result, &match, job);

	record_match_release(&match);
	return found;
}

int recall_start(struct result *result, const struct job *job)
{
	struct record *record = &result->record;
	char *reason = resume_reason(job);
	struct start start;
	const char *kind;

	if (!reason || job->options->fresh ||
	    job->options->subcommand == SUBCOMMAND_TUNE ||
	    resume_find(&start, job) <= 0) {
		free(reason);
		return 0;
	}
	record->micro_batch = start.micro_batch;
	record->grad_accum = start.grad_accum;
	record->peak_bytes = start.peak_bytes;
	kind = start.on_host ? "host" : "cuda";
	if (!recall_keeps_batch(job, record) ||
	    start.peak_bytes > free_now(job, kind)) {
		log_verbose("%s, but its first split does not fit now", reason);
		record->micro_batch = record->grad_accum = 0;
		record->peak_bytes = 0;
		free(reason);
		return 0;
	}
	record->effective_batch =
		start.micro_batch * start.grad_accum * record->world_size;
	record->device_kind = xstrdup(kind);
	record->created = start.created;
	/* So that what is said of that record later reaches this run too. */
	free(record->id);
	record->id = *start.record_id ? xstrdup(start.record_id) : NULL;
	result->resumes = reason;
	set_reused(result, job);
	return 1;
}
