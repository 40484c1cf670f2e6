/* How a call of autofit ended, as the JSON object of --json. */
/* SPDX-License-Identifier: MIT */
#include "launcher/result.h"

#include "base/log.h"
#include "base/trial.h"
#include "configs/escape.h"
#include "launcher/exitcode.h"
#include "launcher/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

static const char *const outcome_names[] = {
	[OUTCOME_TUNED] = "tuned",
	[OUTCOME_REUSED] = "reused",
	[OUTCOME_AS_GIVEN] = "as_given",
	[OUTCOME_PLANNED] = "planned",
	[OUTCOME_NOTHING_FITS] = "nothing_fits",
	[OUTCOME_COMMAND_FAILED] = "command_failed",
	[OUTCOME_NOT_RECOGNISED] = "not_recognised",
	[OUTCOME_REFUSED] = "refused",
	[OUTCOME_TIME_LIMIT] = "time_limit",
	[OUTCOME_INTERRUPTED] = "interrupted",
	[OUTCOME_DISTURBED] = "disturbed",
	[OUTCOME_ERROR] = "error",
};

const char *outcome_name(enum outcome outcome)
{
	return outcome_names[outcome];
}

void result_release(struct result *result)
{
	free(result->message);
	record_release(&result->record);
	free(result->record_path);
	strlist_release(&result->run_argv);
	strlist_release(&result->run_env);
	free(result->assumption);
	free(result->flags_text);
	free(result->budget_source);
	memset(result, 0, sizeof(*result));
}

double result_samples_per_second(const struct result *result,
				 const struct trial *trial)
{
	int64_t world = result->record.world_size;

	if (!(trial->step_seconds > 0))
		return 0;
	return (double)trial->micro_batch * (double)trial->grad_accum *
	       (double)(world > 0 ? world : 1) / trial->step_seconds;
}

/*
 * jansson answers NULL to what it cannot hold and drops it without a word.
 * All that comes here is valid, so only memory can be short: as xmalloc.
 */
static json_t *checked(json_t *value)
{
	if (!value) {
		log_error("out of memory while writing the JSON result");
		exit(EXIT_AUTOFIT_FAILED);
	}
	return value;
}

static void put(json_t *object, const char *key, json_t *value)
{
	if (json_object_set_new(object, key, checked(value)) < 0)
		(void)checked(NULL);
}

static void append(json_t *array, json_t *value)
{
	if (json_array_append_new(array, checked(value)) < 0)
		(void)checked(NULL);
}

/* NULL and "" are not known: null. */
static json_t *text_json(const char *text)
{
	struct strbuf clean = STRBUF_INIT;
	json_t *value;

	if (!text || !*text)
		return json_null();
	text_add_utf8(&clean, text);
	value = json_string(strbuf_text(&clean));
	strbuf_release(&clean);
	return value;
}

/* An argument may be empty and is still known. */
static json_t *argument_json(const char *text)
{
	return *text ? text_json(text) : json_string("");
}

static json_t *list_json(const struct strlist *list)
{
	json_t *array = checked(json_array());

	for (size_t i = 0; i < list->count; i++)
		append(array, argument_json(list->items[i]));
	return array;
}

/* null when the plain list is exact already. */
static json_t *escaped_json(const struct strlist *list)
{
	bool exact = true;
	json_t *array;

	for (size_t i = 0; i < list->count; i++)
		exact = exact && text_is_utf8(list->items[i]);
	if (exact)
		return json_null();
	array = checked(json_array());
	for (size_t i = 0; i < list->count; i++) {
		struct strbuf text = STRBUF_INIT;

		escape_add(&text, list->items[i]);
		append(array, json_string(strbuf_text(&text)));
		strbuf_release(&text);
	}
	return array;
}

/* A count that is 0 when it is not known. */
static json_t *count_json(int64_t count)
{
	return count > 0 ? json_integer(count) : json_null();
}

static json_t *bytes_json(uint64_t bytes, bool known)
{
	if (!known)
		return json_null();
	return json_integer(bytes > INT64_MAX ? INT64_MAX : (int64_t)bytes);
}

/* JSON has no infinity and no NaN. */
static json_t *number_json(double number, bool known)
{
	return known && isfinite(number) ? json_real(number) : json_null();
}

static json_t *devices_json(const struct record *record)
{
	json_t *array = checked(json_array());

	for (size_t i = 0; i < record->device_count; i++) {
		const struct record_device *device = &record->devices[i];
		json_t *object = checked(json_object());

		put(object, "uuid", text_json(device->uuid));
		put(object, "name", text_json(device->name));
		put(object, "total_bytes",
		    bytes_json(device->total_bytes, device->total_bytes > 0));
		put(object, "free_bytes",
		    bytes_json(device->free_bytes, device->total_bytes > 0));
		put(object, "budget_bytes",
		    bytes_json(device->budget_bytes, device->budget_bytes > 0));
		append(array, object);
	}
	return array;
}

/* NAME=value sets; a NAME alone is taken out of the environment: null. */
static json_t *environment_json(const struct strlist *environment)
{
	json_t *object = checked(json_object());

	for (size_t i = 0; i < environment->count; i++) {
		const char *item = environment->items[i];
		const char *equals = strchr(item, '=');
		size_t length = equals ? (size_t)(equals - item) : strlen(item);
		struct strbuf raw = STRBUF_INIT;
		struct strbuf name = STRBUF_INIT;

		strbuf_add(&raw, item, length);
		text_add_utf8(&name, strbuf_text(&raw));
		put(object, strbuf_text(&name),
		    equals ? argument_json(equals + 1) : json_null());
		strbuf_release(&raw);
		strbuf_release(&name);
	}
	return object;
}

static json_t *recommended_json(const struct result *result)
{
	const struct record *record = &result->record;
	json_t *object;

	if (record->micro_batch <= 0)
		return json_null();
	object = checked(json_object());
	put(object, "micro_batch", json_integer(record->micro_batch));
	put(object, "grad_accum", count_json(record->grad_accum));
	put(object, "world_size", count_json(record->world_size));
	put(object, "effective_batch", count_json(record->effective_batch));
	put(object, "argv", list_json(&result->run_argv));
	put(object, "argv_escaped", escaped_json(&result->run_argv));
	put(object, "env", environment_json(&result->run_env));
	return object;
}

static json_t *coverage_json(enum coverage coverage)
{
	return coverage == COVERAGE_NONE ? json_null()
					 : text_json(coverage_name(coverage));
}

static json_t *evidence_json(const struct record *record)
{
	json_t *object = checked(json_object());
	bool has_limit = record->limit_bytes > 0;

	put(object, "largest_fit", count_json(record->largest_fit));
	put(object, "smallest_misfit", count_json(record->smallest_misfit));
	put(object, "misfit_by", text_json(record->misfit_by));
	put(object, "peak_bytes",
	    bytes_json(record->peak_bytes, record->peak_bytes > 0));
	put(object, "limit_bytes", bytes_json(record->limit_bytes, has_limit));
	put(object, "headroom_bytes",
	    bytes_json(record->headroom_bytes, has_limit));
	put(object, "coverage", coverage_json(record->coverage));
	put(object, "steps_source",
	    record->steps_source == STEPS_NONE
		    ? json_null()
		    : text_json(steps_source_name(record->steps_source)));
	put(object, "confirmed_steps", count_json(record->confirmed_steps));
	put(object, "not_exercised", list_json(&record->not_exercised));
	return object;
}

static json_t *record_json(const struct result *result)
{
	json_t *object = checked(json_object());

	put(object, "id", text_json(result->record.id));
	put(object, "grade", text_json(result->record_grade));
	put(object, "path", text_json(result->record_path));
	return object;
}

static json_t *probe_json(const struct result *result,
			  const struct probe_note *note)
{
	const struct trial *trial = &note->trial;
	double speed = result_samples_per_second(result, trial);
	json_t *object = checked(json_object());

	put(object, "micro_batch", count_json(trial->micro_batch));
	put(object, "grad_accum", count_json(trial->grad_accum));
	put(object, "verdict", text_json(verdict_name(trial->verdict)));
	put(object, "why", text_json(note->why));
	put(object, "phase", text_json(phase_name(trial->phase)));
	put(object, "rank",
	    trial->rank < 0 ? json_null() : json_integer(trial->rank));
	put(object, "peak_bytes",
	    bytes_json(trial->peak_bytes, trial->peak_bytes > 0));
	put(object, "peak_is_lower_bound",
	    trial->peak_bytes ? json_boolean(trial->peak_is_lower_bound)
			      : json_null());
	put(object, "coverage", coverage_json(trial->coverage));
	put(object, "steps", json_integer(trial->steps));
	put(object, "seconds", number_json(trial->seconds, true));
	put(object, "samples_per_second", number_json(speed, speed > 0));
	put(object, "log", text_json(note->log));
	return object;
}

static json_t *probes_json(const struct result *result)
{
	const struct probe_notes *probes = &result->record.probes;
	json_t *array = checked(json_array());

	for (size_t i = 0; i < probes->count; i++)
		append(array, probe_json(result, &probes->items[i]));
	return array;
}

static void put_head(json_t *root, const struct result *result)
{
	const struct record *record = &result->record;

	put(root, "schema", json_string("autofit.result/1"));
	put(root, "autofit_version", json_string(AUTOFIT_VERSION));
	put(root, "outcome", text_json(outcome_name(result->outcome)));
	put(root, "exit_code", json_integer(result->exit_code));
	put(root, "message", text_json(result->message));
	put(root, "command", list_json(&record->argv));
	put(root, "argv_escaped", escaped_json(&record->argv));
	put(root, "preset", text_json(record->preset));
	put(root, "device_kind", text_json(record->device_kind));
	put(root, "devices", devices_json(record));
	put(root, "budget_source", text_json(result->budget_source));
	put(root, "effective_batch_asked",
	    count_json(record->effective_batch_asked));
}

void result_json(const struct result *result, struct strbuf *out)
{
	const struct record *record = &result->record;
	json_t *root = checked(json_object());
	char *text;

	put_head(root, result);
	put(root, "recommended", recommended_json(result));
	put(root, "largest_micro_batch",
	    count_json(record->largest_micro_batch));
	put(root, "predicted_micro_batch",
	    count_json(result->predicted_micro_batch));
	put(root, "nearest_effective_batch",
	    count_json(result->nearest_effective_batch));
	put(root, "evidence", evidence_json(record));
	put(root, "record", record_json(result));
	put(root, "caveats", list_json(&record->caveats));
	put(root, "probe_count",
	    json_integer((json_int_t)record->probes.count));
	put(root, "seconds", number_json(result->seconds, true));
	put(root, "probes", probes_json(result));
	text = json_dumps(root, JSON_INDENT(2) | JSON_REAL_PRECISION(9));
	json_decref(root);
	if (!text)
		(void)checked(NULL);
	strbuf_adds(out, text);
	strbuf_addch(out, '\n');
	free(text);
}
