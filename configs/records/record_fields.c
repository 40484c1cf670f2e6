/* The fields of a record's file, as tables for its reader and its writer. */
/* SPDX-License-Identifier: MIT */
#include "configs/records/record_fields.h"

#include <errno.h>
#include <string.h>

#define IN_RECORD(member) offsetof(struct record, member)
#define IN_DEVICE(member) offsetof(struct record_device, member)
#define IN_NOTE(member) offsetof(struct probe_note, member)
#define IN_SETTING(member) offsetof(struct record_setting, member)
#define DEVICE_SIZE(member) sizeof(((struct record_device *)0)->member)

/* In the order of the file; a hint is decided by the first few. */
const struct field record_fields[] = {
	{ "id", FIELD_TEXT, IN_RECORD(id), 0, 0, false },
	{ "subject", FIELD_TEXT, IN_RECORD(subject), 0, 0, false },
	{ "created", FIELD_INTEGER, IN_RECORD(created), 0, 0, false },
	{ "autofit_version", FIELD_TEXT, IN_RECORD(autofit_version), 0, 0,
	  true },
	{ "preset", FIELD_TEXT, IN_RECORD(preset), 0, 0, true },
	{ "device_kind", FIELD_TEXT, IN_RECORD(device_kind), 0, 0, false },
	{ "micro_batch", FIELD_INTEGER, IN_RECORD(batch.micro_batch), 1, 0,
	  false },
	{ "grad_accum", FIELD_INTEGER, IN_RECORD(batch.grad_accum), 1, 0,
	  false },
	{ "world_size", FIELD_INTEGER, IN_RECORD(batch.world_size), 1, 0,
	  false },
	{ "effective_batch", FIELD_INTEGER, IN_RECORD(batch.effective_batch), 1,
	  0, false },
	{ "effective_batch_asked", FIELD_INTEGER,
	  IN_RECORD(effective_batch_asked), 0, 0, false },
	{ "largest_micro_batch", FIELD_INTEGER, IN_RECORD(largest_micro_batch),
	  0, 0, false },
	{ "largest_fit", FIELD_INTEGER, IN_RECORD(largest_fit), 0, 0, false },
	{ "smallest_misfit", FIELD_INTEGER, IN_RECORD(smallest_misfit), 0, 0,
	  false },
	{ "misfit_by", FIELD_TEXT, IN_RECORD(misfit_by), 0, 0, true },
	{ "peak_bytes", FIELD_BYTES, IN_RECORD(peak_bytes), 0, 0, false },
	{ "limit_bytes", FIELD_BYTES, IN_RECORD(limit_bytes), 0, 0, false },
	{ "headroom_bytes", FIELD_BYTES, IN_RECORD(headroom_bytes), 0, 0,
	  false },
	{ "budget_bytes", FIELD_BYTES, IN_RECORD(budget_bytes), 0, 0, false },
	{ "coverage", FIELD_COVERAGE, IN_RECORD(coverage), 0, 0, false },
	{ "steps_source", FIELD_STEPS_SOURCE, IN_RECORD(steps_source), 0, 0,
	  false },
	{ "confirmed_steps", FIELD_INTEGER, IN_RECORD(confirmed_steps), 0, 0,
	  false },
	{ "confirmed_passes", FIELD_INTEGER, IN_RECORD(confirmed_passes), 0, 0,
	  true },
	{ "isolation", FIELD_TEXT, IN_RECORD(isolation), 0, 0, true },
	{ "lowered_from", FIELD_INTEGER, IN_RECORD(lowered_from), 0, 0, true },
	{ "not_exercised", FIELD_LIST, IN_RECORD(not_exercised), 0,
	  RECORD_ARGUMENTS_MAX, true },
	{ "caveats", FIELD_LIST, IN_RECORD(caveats), 0, RECORD_ARGUMENTS_MAX,
	  true },
	{ "copies", FIELD_LIST, IN_RECORD(copies), 0, RECORD_ARGUMENTS_MAX,
	  true },
	{ "argv", FIELD_LIST, IN_RECORD(argv), 0, RECORD_ARGUMENTS_MAX, false },
	{ "identity", FIELD_TEXT, IN_RECORD(identity), 0, 0, false },
	{ "stamps", FIELD_LIST, IN_RECORD(stamps), 0, RECORD_ARGUMENTS_MAX,
	  true },
	{ "own_micro_batch", FIELD_INTEGER, IN_RECORD(own_micro_batch), 0, 0,
	  true },
	{ "own_grad_accum", FIELD_INTEGER, IN_RECORD(own_grad_accum), 0, 0,
	  true },
	{ "recommended_argv", FIELD_LIST, IN_RECORD(recommended_argv), 0,
	  RECORD_ARGUMENTS_MAX, true },
	{ "recommended_env", FIELD_LIST, IN_RECORD(recommended_env), 0,
	  RECORD_ARGUMENTS_MAX, true },
	{ "host", FIELD_TEXT, IN_RECORD(host), 0, 0, true },
	{ "versions", FIELD_LIST, IN_RECORD(versions), 0, RECORD_VERSIONS_MAX,
	  true },
	{ 0 }
};

const struct field device_fields[] = {
	{ "uuid", FIELD_CHARS, IN_DEVICE(uuid), 0, DEVICE_SIZE(uuid), false },
	{ "name", FIELD_CHARS, IN_DEVICE(name), 0, DEVICE_SIZE(name), false },
	{ "total_bytes", FIELD_BYTES, IN_DEVICE(total_bytes), 0, 0, false },
	{ "free_bytes", FIELD_BYTES, IN_DEVICE(free_bytes), 0, 0, false },
	{ "budget_bytes", FIELD_BYTES, IN_DEVICE(budget_bytes), 0, 0, false },
	{ "emulated_as", FIELD_CHARS, IN_DEVICE(emulated_as), 0,
	  DEVICE_SIZE(emulated_as), true },
	{ 0 }
};

const struct field probe_fields[] = {
	{ "micro_batch", FIELD_INTEGER, IN_NOTE(trial.micro_batch), 1, 0,
	  false },
	{ "grad_accum", FIELD_INTEGER, IN_NOTE(trial.grad_accum), 1, 0, false },
	{ "verdict", FIELD_VERDICT, IN_NOTE(trial.verdict), 0, 0, false },
	{ "phase", FIELD_PHASE, IN_NOTE(trial.phase), 0, 0, false },
	{ "rank", FIELD_INT, IN_NOTE(trial.rank), -1, 0, false },
	{ "peak_bytes", FIELD_BYTES, IN_NOTE(trial.peak_bytes), 0, 0, false },
	{ "rest_bytes", FIELD_BYTES, IN_NOTE(trial.rest_bytes), 0, 0, true },
	{ "forward_bytes", FIELD_BYTES, IN_NOTE(trial.forward_bytes), 0, 0,
	  true },
	{ "pass_bytes", FIELD_BYTES, IN_NOTE(trial.pass_bytes), 0, 0, true },
	{ "limit_bytes", FIELD_BYTES, IN_NOTE(trial.limit_bytes), 0, 0, true },
	{ "peak_is_lower_bound", FIELD_BOOL, IN_NOTE(trial.peak_is_lower_bound),
	  0, 0, false },
	{ "peak_has_files", FIELD_BOOL, IN_NOTE(trial.peak_has_files), 0, 0,
	  true },
	{ "peak_rising", FIELD_BOOL, IN_NOTE(trial.peak_rising), 0, 0, false },
	{ "peak_varying", FIELD_BOOL, IN_NOTE(trial.peak_varying), 0, 0,
	  false },
	{ "sizes_differ", FIELD_BOOL, IN_NOTE(trial.sizes_differ), 0, 0, true },
	{ "data_in_order", FIELD_BOOL, IN_NOTE(trial.data_in_order), 0, 0,
	  true },
	{ "is_idle", FIELD_BOOL, IN_NOTE(trial.is_idle), 0, 0, true },
	{ "has_frozen", FIELD_BOOL, IN_NOTE(trial.has_frozen), 0, 0, true },
	{ "step_growth_bytes", FIELD_BYTES, IN_NOTE(trial.step_growth_bytes), 0,
	  0, true },
	{ "ran_to_end", FIELD_BOOL, IN_NOTE(trial.ran_to_end), 0, 0, true },
	{ "steps_were_awaited", FIELD_BOOL, IN_NOTE(trial.steps_were_awaited),
	  0, 0, true },
	{ "is_forked", FIELD_BOOL, IN_NOTE(trial.is_forked), 0, 0, true },
	{ "is_elsewhere", FIELD_BOOL, IN_NOTE(trial.is_elsewhere), 0, 0, true },
	{ "gpu", FIELD_CHARS, IN_NOTE(gpu), 0,
	  sizeof(((struct probe_note *)0)->gpu), true },
	{ "round", FIELD_INTEGER, IN_NOTE(round), 0, 0, true },
	{ "coverage", FIELD_COVERAGE, IN_NOTE(trial.coverage), 0, 0, false },
	{ "steps_source", FIELD_STEPS_SOURCE, IN_NOTE(trial.steps_source), 0, 0,
	  false },
	{ "steps", FIELD_INTEGER, IN_NOTE(trial.steps), 0, 0, false },
	{ "confirmed_steps", FIELD_INTEGER, IN_NOTE(trial.confirmed_steps), 0,
	  0, false },
	{ "later_passes", FIELD_INTEGER, IN_NOTE(trial.later_passes), 0, 0,
	  true },
	{ "seconds", FIELD_SECONDS, IN_NOTE(trial.seconds), 0, 0, false },
	{ "step_seconds", FIELD_SECONDS, IN_NOTE(trial.step_seconds), 0, 0,
	  false },
	{ "step_mad_seconds", FIELD_SECONDS, IN_NOTE(trial.step_mad_seconds), 0,
	  0, true },
	{ "pass_seconds", FIELD_SECONDS, IN_NOTE(trial.pass_seconds), 0, 0,
	  true },
	{ "alike_after", FIELD_INTEGER, IN_NOTE(trial.alike_after), 0, 0,
	  true },
	{ "input_rows", FIELD_INTEGER, IN_NOTE(trial.input_rows), 0, 0, true },
	{ "input_columns", FIELD_INTEGER, IN_NOTE(trial.input_columns), 0, 0,
	  true },
	{ "seen_accum", FIELD_INTEGER, IN_NOTE(trial.seen_accum), 0, 0, true },
	{ "seen_ranks", FIELD_INTEGER, IN_NOTE(trial.seen_ranks), 0, 0, true },
	{ "loader_rows", FIELD_INTEGER, IN_NOTE(trial.loader_rows), 0, 0,
	  true },
	{ "echo_micro", FIELD_INTEGER, IN_NOTE(trial.printed_sizes_micro), 0, 0,
	  true },
	{ "echo_accum", FIELD_INTEGER, IN_NOTE(trial.printed_sizes_accum), 0, 0,
	  true },
	{ "echo_effective", FIELD_INTEGER,
	  IN_NOTE(trial.printed_sizes_effective), 0, 0, true },
	{ "why", FIELD_TEXT, IN_NOTE(why), 0, 0, true },
	{ "log", FIELD_TEXT, IN_NOTE(log), 0, 0, true },
	{ 0 }
};

const struct field setting_fields[] = {
	{ "size", FIELD_TEXT, IN_SETTING(size), 0, 0, false },
	{ "name", FIELD_TEXT, IN_SETTING(name), 0, 0, true },
	{ "value", FIELD_TEXT, IN_SETTING(value), 0, 0, true },
	{ "was", FIELD_TEXT, IN_SETTING(was), 0, 0, true },
	{ "where", FIELD_TEXT, IN_SETTING(where), 0, 0, true },
	{ 0 }
};

bool record_id_is_valid(const char *id)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyz"
				      "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789._-";
	size_t length = strlen(id);

	return length > 0 && length <= RECORD_ID_MAX && id[0] != '.' &&
	       id[0] != '-' && strspn(id, allowed) == length;
}

/* A word of a report; which words there are may grow. */
static bool record_fields_is_word(const char *text)
{
	size_t length = strlen(text);

	return length > 0 && length <= 32 &&
	       strspn(text, "abcdefghijklmnopqrstuvwxyz_-") == length;
}

static bool split_is_exact(const struct record *record)
{
	int64_t product;

	return !__builtin_mul_overflow(record->batch.micro_batch,
				       record->batch.grad_accum, &product) &&
	       !__builtin_mul_overflow(product, record->batch.world_size,
				       &product) &&
	       product == record->batch.effective_batch;
}

bool record_is_phantom(const struct record *record)
{
	return record->device_kind &&
	       strcmp(record->device_kind, "phantom") == 0;
}

int record_check(const struct record *record, struct error *err)
{
	if (!record_id_is_valid(record->id))
		return error_set(err, -EINVAL, "id is no name of a record");
	if (strcmp(record->device_kind, "cuda") != 0 &&
	    strcmp(record->device_kind, "host") != 0 &&
	    !record_is_phantom(record))
		return error_set(err, -EINVAL,
				 "device_kind is neither cuda nor host nor "
				 "phantom");
	if (record->misfit_by && !record_fields_is_word(record->misfit_by))
		return error_set(err, -EINVAL, "misfit_by is no word");
	if (!split_is_exact(record))
		return error_set(err, -EINVAL,
				 "effective_batch is not micro_batch x "
				 "grad_accum x world_size");
	if (record->device_count > RECORD_DEVICES_MAX)
		return error_set(err, -EINVAL, "more than %d devices",
				 RECORD_DEVICES_MAX);
	if (record->probes.count > RECORD_PROBES_MAX)
		return error_set(err, -EINVAL, "more than %d probes",
				 RECORD_PROBES_MAX);
	return 0;
}
