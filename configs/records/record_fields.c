/* The fields of a record's file, as tables for its reader and its writer. */
/* SPDX-License-Identifier: MIT */
#include "configs/records/record_fields.h"

#include <errno.h>
#include <string.h>

#define ROW(type, name, kind, member, least, most, optional)                   \
	{                                                                      \
		name, FIELD_##kind, offsetof(struct type, member), least,      \
			most, optional                                         \
	}
/* What every file has, and what it may have. */
#define MUST(type, name, kind, member)                                         \
	ROW(type, name, kind, member, 0, 0, false)
#define MAY(type, name, kind, member) ROW(type, name, kind, member, 0, 0, true)
#define SIZE(type, name, member) ROW(type, name, INTEGER, member, 1, 0, false)
#define LIST(type, name, member, most, optional)                               \
	ROW(type, name, LIST, member, 0, most, optional)
#define CHARS(type, name, member, optional)                                    \
	ROW(type, name, CHARS, member, 0, sizeof(((struct type *)0)->member),  \
	    optional)

/* In the order of the file; a hint is decided by the first few. */
const struct field record_fields[] = {
	MUST(record, "id", TEXT, id),
	MUST(record, "subject", TEXT, subject),
	MUST(record, "created", INTEGER, created),
	MAY(record, "autofit_version", TEXT, autofit_version),
	MAY(record, "preset", TEXT, preset),
	MUST(record, "device_kind", TEXT, device_kind),
	SIZE(record, "micro_batch", batch.micro_batch),
	SIZE(record, "grad_accum", batch.grad_accum),
	SIZE(record, "world_size", batch.world_size),
	SIZE(record, "effective_batch", batch.effective_batch),
	MUST(record, "effective_batch_asked", INTEGER, effective_batch_asked),
	MUST(record, "largest_micro_batch", INTEGER, largest_micro_batch),
	MUST(record, "largest_fit", INTEGER, largest_fit),
	MUST(record, "smallest_misfit", INTEGER, smallest_misfit),
	MAY(record, "misfit_by", TEXT, misfit_by),
	MUST(record, "peak_bytes", BYTES, peak_bytes),
	MUST(record, "limit_bytes", BYTES, limit_bytes),
	MUST(record, "headroom_bytes", BYTES, headroom_bytes),
	MUST(record, "budget_bytes", BYTES, budget_bytes),
	MUST(record, "coverage", COVERAGE, coverage),
	MUST(record, "steps_source", STEPS_SOURCE, steps_source),
	MUST(record, "confirmed_steps", INTEGER, confirmed_steps),
	MAY(record, "confirmed_passes", INTEGER, confirmed_passes),
	MAY(record, "isolation", TEXT, isolation),
	MAY(record, "lowered_from", INTEGER, lowered_from),
	LIST(record, "not_exercised", not_exercised, RECORD_ARGUMENTS_MAX,
	     true),
	LIST(record, "caveats", caveats, RECORD_ARGUMENTS_MAX, true),
	LIST(record, "copies", copies, RECORD_ARGUMENTS_MAX, true),
	LIST(record, "argv", argv, RECORD_ARGUMENTS_MAX, false),
	MUST(record, "identity", TEXT, identity),
	LIST(record, "stamps", stamps, RECORD_ARGUMENTS_MAX, true),
	MAY(record, "own_micro_batch", INTEGER, own_micro_batch),
	MAY(record, "own_grad_accum", INTEGER, own_grad_accum),
	LIST(record, "recommended_argv", recommended_argv, RECORD_ARGUMENTS_MAX,
	     true),
	LIST(record, "recommended_env", recommended_env, RECORD_ARGUMENTS_MAX,
	     true),
	MAY(record, "host", TEXT, host),
	LIST(record, "versions", versions, RECORD_VERSIONS_MAX, true),
	{ 0 }
};

const struct field device_fields[] = {
	CHARS(record_device, "uuid", uuid, false),
	CHARS(record_device, "name", name, false),
	MUST(record_device, "total_bytes", BYTES, total_bytes),
	MUST(record_device, "free_bytes", BYTES, free_bytes),
	MUST(record_device, "budget_bytes", BYTES, budget_bytes),
	CHARS(record_device, "emulated_as", emulated_as, true),
	{ 0 }
};

const struct field probe_fields[] = {
	SIZE(probe_note, "micro_batch", trial.micro_batch),
	SIZE(probe_note, "grad_accum", trial.grad_accum),
	MUST(probe_note, "verdict", VERDICT, trial.verdict),
	MUST(probe_note, "phase", PHASE, trial.phase),
	{ "rank", FIELD_INT, offsetof(struct probe_note, trial.rank), -1, 0,
	  false },
	MUST(probe_note, "peak_bytes", BYTES, trial.peak_bytes),
	MAY(probe_note, "rest_bytes", BYTES, trial.rest_bytes),
	MAY(probe_note, "forward_bytes", BYTES, trial.forward_bytes),
	MAY(probe_note, "pass_bytes", BYTES, trial.pass_bytes),
	MAY(probe_note, "limit_bytes", BYTES, trial.limit_bytes),
	MUST(probe_note, "peak_is_lower_bound", BOOL,
	     trial.peak_is_lower_bound),
	MAY(probe_note, "peak_has_files", BOOL, trial.peak_has_files),
	MUST(probe_note, "peak_rising", BOOL, trial.peak_rising),
	MUST(probe_note, "peak_varying", BOOL, trial.peak_varying),
	MAY(probe_note, "sizes_differ", BOOL, trial.sizes_differ),
	MAY(probe_note, "data_in_order", BOOL, trial.data_in_order),
	MAY(probe_note, "is_idle", BOOL, trial.is_idle),
	MAY(probe_note, "has_frozen", BOOL, trial.has_frozen),
	MAY(probe_note, "step_growth_bytes", BYTES, trial.step_growth_bytes),
	MAY(probe_note, "ran_to_end", BOOL, trial.ran_to_end),
	MAY(probe_note, "steps_were_awaited", BOOL, trial.steps_were_awaited),
	MAY(probe_note, "is_forked", BOOL, trial.is_forked),
	MAY(probe_note, "is_elsewhere", BOOL, trial.is_elsewhere),
	CHARS(probe_note, "gpu", gpu, true),
	MAY(probe_note, "round", INTEGER, round),
	MUST(probe_note, "coverage", COVERAGE, trial.coverage),
	MUST(probe_note, "steps_source", STEPS_SOURCE, trial.steps_source),
	MUST(probe_note, "steps", INTEGER, trial.steps),
	MUST(probe_note, "confirmed_steps", INTEGER, trial.confirmed_steps),
	MAY(probe_note, "later_passes", INTEGER, trial.later_passes),
	MUST(probe_note, "seconds", SECONDS, trial.seconds),
	MUST(probe_note, "step_seconds", SECONDS, trial.step_seconds),
	MAY(probe_note, "step_mad_seconds", SECONDS, trial.step_mad_seconds),
	MAY(probe_note, "pass_seconds", SECONDS, trial.pass_seconds),
	MAY(probe_note, "alike_after", INTEGER, trial.alike_after),
	MAY(probe_note, "input_rows", INTEGER, trial.input_rows),
	MAY(probe_note, "input_columns", INTEGER, trial.input_columns),
	MAY(probe_note, "seen_accum", INTEGER, trial.seen_accum),
	MAY(probe_note, "seen_ranks", INTEGER, trial.seen_ranks),
	MAY(probe_note, "loader_rows", INTEGER, trial.loader_rows),
	MAY(probe_note, "data_rows", INTEGER, trial.data_rows),
	MAY(probe_note, "echo_micro", INTEGER, trial.printed_sizes_micro),
	MAY(probe_note, "echo_accum", INTEGER, trial.printed_sizes_accum),
	MAY(probe_note, "echo_effective", INTEGER,
	    trial.printed_sizes_effective),
	MAY(probe_note, "why", TEXT, why),
	MAY(probe_note, "log", TEXT, log),
	{ 0 }
};

const struct field setting_fields[] = {
	MUST(record_setting, "size", TEXT, size),
	MAY(record_setting, "name", TEXT, name),
	MAY(record_setting, "value", TEXT, value),
	MAY(record_setting, "was", TEXT, was),
	MAY(record_setting, "where", TEXT, where),
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
