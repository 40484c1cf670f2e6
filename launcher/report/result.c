/* How a call of autofit ended, as the JSON object of --json. */
/* SPDX-License-Identifier: MIT */
#include "launcher/report/result.h"

#include "base/alloc.h"
#include "base/log.h"
#include "base/trial.h"
#include "configs/files/escape.h"
#include "configs/secrets/secrets.h"
#include "launcher/command/rewrite/rewrite.h"
#include "launcher/command/text/text.h"
#include "launcher/options/exitcode.h"
#include "launcher/report/json.h"
#include "launcher/report/rates.h"

#include <stdlib.h>
#include <string.h>

#include <jansson.h>

/* JSON's probes are in this order too. */
static json_t *index_of(const struct result *result, const struct trial *trial)
{
	const struct probe_notes *probes = &result->record.probes;
	size_t at = 0;

	while (at < probes->count && &probes->items[at].trial != trial)
		at++;
	return json_integer((json_int_t)at);
}

/* How the split ran; null: no probe ran it. */
static json_t *rate_json(const struct result *result, int64_t micro,
			 int64_t accum)
{
	const struct trial *trial =
		micro > 0 ? rates_trial(result, micro, accum) : NULL;
	double speed, spread;
	json_t *object;

	if (!trial)
		return json_null();
	speed = rates_samples_per_second(result, trial, accum);
	spread = speed > 0 ? speed * rates_spread(trial) : 0;
	object = json_checked(json_object());
	json_put(object, "micro_batch", json_count(micro));
	json_put(object, "grad_accum", json_count(accum));
	json_put(object, "probe", index_of(result, trial));
	json_put(object, "verdict", json_text(verdict_name(trial->verdict)));
	json_put(object, "peak_bytes", json_bytes(trial->peak_bytes));
	json_put(object, "samples_per_second", json_positive(speed));
	json_put(object, "samples_per_second_spread",
		 speed > 0 ? json_real(spread) : json_null());
	return object;
}

static json_t *rates_json(const struct result *result)
{
	const struct record *record = &result->record;
	json_t *object = json_checked(json_object());

	json_put(object, "yours",
		 rate_json(result, record->own_micro_batch,
			   record->own_grad_accum));
	json_put(object, "best",
		 rate_json(result, record->batch.micro_batch,
			   record->batch.grad_accum));
	return object;
}

static json_t *settings_json(const struct record_settings *settings)
{
	json_t *array = json_checked(json_array());

	for (size_t i = 0; i < settings->count; i++) {
		const struct record_setting *setting = &settings->items[i];
		json_t *object = json_checked(json_object());

		json_put(object, "size", json_text(setting->size));
		json_put(object, "name", json_text(setting->name));
		json_put(object, "value", json_text(setting->value));
		json_put(object, "was", json_text(setting->was));
		json_put(object, "where", json_text(setting->where));
		json_append(array, object);
	}
	return array;
}

static json_t *versions_json(const struct strlist *versions)
{
	json_t *object = json_checked(json_object());

	for (size_t i = 0; i < versions->count; i++) {
		const char *item = versions->items[i];
		const char *blank = strchr(item, ' ');
		char *name;

		if (!blank || !text_is_utf8(item))
			continue;
		name = xstrndup(item, (size_t)(blank - item));
		json_put(object, name, json_text(blank + 1));
		free(name);
	}
	return object;
}

/*
 * Puts settings, rates (of the command's own split and the recommended one),
 * created, host and versions into the object of --json.
 */
static void result_settings_put(json_t *root, const struct result *result)
{
	const struct record *record = &result->record;

	json_put(root, "settings", settings_json(&record->settings));
	json_put(root, "rates", rates_json(result));
	json_put(root, "created", json_count(record->created));
	json_put(root, "host", json_text(record->host));
	json_put(root, "versions", versions_json(&record->versions));
}

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
	free(result->difference);
	free(result->resumes);
	rewrite_release(&result->run);
	free(result->assumption);
	free(result->flags_text);
	strlist_release(&result->lines);
	free(result->budget_source);
	free(result->estimate);
	free(result->advice);
	free(result->plan);
	probe_notes_release(&result->earlier.as_given);
	memset(result, 0, sizeof(*result));
}

/* NULL and "" are not known: null. */
static json_t *text_json(const char *text)
{
	return text && *text ? json_text(text) : json_null();
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
	array = json_checked(json_array());
	for (size_t i = 0; i < list->count; i++) {
		struct strbuf text = STRBUF_INIT;

		escape_add(&text, list->items[i]);
		json_append(array, json_string(strbuf_text(&text)));
		strbuf_release(&text);
	}
	return array;
}

static json_t *bytes_json(uint64_t bytes, bool known)
{
	if (!known)
		return json_null();
	return json_integer(bytes > INT64_MAX ? INT64_MAX : (int64_t)bytes);
}

static json_t *result_devices_json(const struct record *record)
{
	json_t *array = json_checked(json_array());

	for (size_t i = 0; i < record->device_count; i++) {
		const struct record_device *device = &record->devices[i];
		json_t *object = json_checked(json_object());

		json_put(object, "uuid", text_json(device->uuid));
		json_put(object, "name", text_json(device->name));
		json_put(object, "total_bytes",
			 bytes_json(device->total_bytes,
				    device->total_bytes > 0));
		json_put(object, "free_bytes",
			 bytes_json(device->free_bytes,
				    device->total_bytes > 0));
		json_put(object, "budget_bytes",
			 bytes_json(device->budget_bytes,
				    device->budget_bytes > 0));
		json_put(object, "emulated_as", text_json(device->emulated_as));
		json_append(array, object);
	}
	return array;
}

/* NAME=value sets; a NAME alone is taken out of the environment: null. */
static json_t *environment_json(const struct strlist *environment)
{
	json_t *object = json_checked(json_object());

	for (size_t i = 0; i < environment->count; i++) {
		const char *item = environment->items[i];
		const char *equals = strchr(item, '=');
		size_t length = equals ? (size_t)(equals - item) : strlen(item);
		struct strbuf raw = STRBUF_INIT;
		struct strbuf name = STRBUF_INIT;

		strbuf_add(&raw, item, length);
		text_add_utf8(&name, strbuf_text(&raw));
		json_put(object, strbuf_text(&name),
			 equals ? json_text(equals + 1) : json_null());
		strbuf_release(&raw);
		strbuf_release(&name);
	}
	return object;
}

static json_t *recommended_json(const struct result *result)
{
	const struct record *record = &result->record;
	struct rate_factor rate;
	struct strlist argv = STRLIST_INIT;
	json_t *object;

	(void)rates_answer_is_slower(result, &rate);
	if (record->batch.micro_batch <= 0)
		return json_null();
	object = json_checked(json_object());
	json_put(object, "micro_batch",
		 json_integer(record->batch.micro_batch));
	json_put(object, "grad_accum", json_count(record->batch.grad_accum));
	json_put(object, "world_size", json_count(record->batch.world_size));
	json_put(object, "effective_batch",
		 json_count(record->batch.effective_batch));
	json_put(object, "speed_factor", json_positive(rate.factor));
	json_put(object, "speed_noise",
		 rate.factor > 0 ? json_number(rate.noise) : json_null());
	secrets_mask_argv(&argv, &result->run.argv);
	json_put(object, "write", json_texts(&result->lines));
	json_put(object, "argv", json_texts(&argv));
	json_put(object, "argv_escaped", escaped_json(&argv));
	strlist_release(&argv);
	json_put(object, "env", environment_json(&result->run.environment));
	return object;
}

/* What is seen exactly on a phantom is a phantom's all the same. */
static json_t *coverage_json(const struct record *record,
			     enum coverage coverage)
{
	if (coverage != COVERAGE_NONE && record_is_phantom(record))
		return text_json("phantom");
	return coverage == COVERAGE_NONE ? json_null()
					 : text_json(coverage_name(coverage));
}

static json_t *evidence_json(const struct record *record)
{
	json_t *object = json_checked(json_object());
	bool has_limit = record->limit_bytes > 0;

	json_put(object, "largest_fit", json_count(record->largest_fit));
	json_put(object, "smallest_misfit",
		 json_count(record->smallest_misfit));
	json_put(object, "misfit_by", text_json(record->misfit_by));
	json_put(object, "peak_bytes",
		 bytes_json(record->peak_bytes, record->peak_bytes > 0));
	json_put(object, "limit_bytes",
		 bytes_json(record->limit_bytes, has_limit));
	json_put(object, "headroom_bytes",
		 bytes_json(record->headroom_bytes, has_limit));
	json_put(object, "coverage", coverage_json(record, record->coverage));
	json_put(object, "steps_source",
		 record->steps_source == STEPS_NONE
			 ? json_null()
			 : text_json(steps_source_name(record->steps_source)));
	json_put(object, "confirmed_steps",
		 json_count(record->confirmed_steps));
	json_put(object, "confirmed_passes",
		 json_count(record->confirmed_passes));
	json_put(object, "not_exercised", json_texts(&record->not_exercised));
	return object;
}

static json_t *record_json(const struct result *result)
{
	json_t *object = json_checked(json_object());

	json_put(object, "id", text_json(result->record.id));
	json_put(object, "grade", text_json(result->record_grade));
	json_put(object, "difference", text_json(result->difference));
	json_put(object, "path", text_json(result->record_path));
	return object;
}

static void put_memory(json_t *object, const struct trial *trial)
{
	json_put(object, "peak_bytes",
		 bytes_json(trial->peak_bytes, trial->peak_bytes > 0));
	json_put(object, "rest_bytes",
		 bytes_json(trial->rest_bytes, trial->rest_bytes > 0));
	json_put(object, "forward_bytes",
		 bytes_json(trial->forward_bytes, trial->forward_bytes > 0));
	json_put(object, "pass_bytes",
		 bytes_json(trial->pass_bytes, trial->pass_bytes > 0));
	json_put(object, "limit_bytes",
		 bytes_json(trial->limit_bytes, trial->limit_bytes > 0));
	json_put(object, "peak_is_lower_bound",
		 trial->peak_bytes ? json_boolean(trial->peak_is_lower_bound)
				   : json_null());
	json_put(object, "peak_has_files",
		 trial->peak_bytes ? json_boolean(trial->peak_has_files)
				   : json_null());
	json_put(object, "step_growth_bytes",
		 bytes_json(trial->step_growth_bytes, true));
}

static void put_seen_sizes(json_t *object, const struct trial *trial)
{
	json_put(object, "input_rows", json_count(trial->input_rows));
	json_put(object, "input_columns", json_count(trial->input_columns));
	json_put(object, "seen_accum", json_count(trial->seen_accum));
	json_put(object, "seen_ranks", json_count(trial->seen_ranks));
	json_put(object, "loader_rows", json_count(trial->loader_rows));
	json_put(object, "data_rows", json_count(trial->data_rows));
	json_put(object, "echo_micro", json_count(trial->printed_sizes_micro));
	json_put(object, "echo_accum", json_count(trial->printed_sizes_accum));
	json_put(object, "echo_effective",
		 json_count(trial->printed_sizes_effective));
}

static json_t *probe_json(const struct result *result,
			  const struct probe_note *note)
{
	const struct trial *trial = &note->trial;
	/* Of the command as it is, nobody knows which numbers these are. */
	bool is_open = result->rows_are_open;
	double speed =
		rates_samples_per_second(result, trial, trial->grad_accum);
	json_t *object = json_checked(json_object());

	json_put(object, "micro_batch",
		 json_count(is_open ? 0 : trial->micro_batch));
	json_put(object, "grad_accum",
		 json_count(is_open ? 0 : trial->grad_accum));
	json_put(object, "verdict", text_json(verdict_name(trial->verdict)));
	json_put(object, "why", text_json(note->why));
	json_put(object, "phase", text_json(phase_name(trial->phase)));
	json_put(object, "rank",
		 trial->rank < 0 ? json_null() : json_integer(trial->rank));
	put_memory(object, trial);
	json_put(object, "ran_to_end", json_boolean(trial->ran_to_end));
	json_put(object, "is_forked", json_boolean(trial->is_forked));
	json_put(object, "gpu", text_json(*note->gpu ? note->gpu : NULL));
	json_put(object, "round", json_count(note->round));
	json_put(object, "coverage",
		 coverage_json(&result->record, trial->coverage));
	json_put(object, "steps", json_integer(trial->steps));
	json_put(object, "seconds", json_number(trial->seconds));
	json_put(object, "samples_per_second", json_positive(speed));
	json_put(object, "step_seconds", json_positive(trial->step_seconds));
	json_put(object, "step_mad_seconds",
		 json_positive(trial->step_mad_seconds));
	json_put(object, "later_passes", json_count(trial->later_passes));
	json_put(object, "pass_seconds", json_positive(trial->pass_seconds));
	put_seen_sizes(object, trial);
	json_put(object, "log", text_json(note->log));
	return object;
}

static json_t *probes_json(const struct result *result)
{
	const struct probe_notes *probes = &result->record.probes;
	json_t *array = json_checked(json_array());

	for (size_t i = 0; i < probes->count; i++)
		json_append(array, probe_json(result, &probes->items[i]));
	return array;
}

static json_t *phantom_start_json(const struct result *result)
{
	json_t *object;

	if (!result->phantom_micro)
		return json_null();
	object = json_checked(json_object());
	json_put(object, "micro_batch", json_integer(result->phantom_micro));
	json_put(object, "probes", json_integer(result->phantom_probes));
	json_put(object, "seconds", json_real(result->phantom_seconds));
	return object;
}

static void put_head(json_t *root, const struct result *result)
{
	const struct record *record = &result->record;

	json_put(root, "schema", json_string("autofit.result/1"));
	json_put(root, "autofit_version", json_string(AUTOFIT_VERSION));
	json_put(root, "outcome", text_json(outcome_name(result->outcome)));
	json_put(root, "exit_code", json_integer(result->exit_code));
	json_put(root, "message", text_json(result->message));
	json_put(root, "estimate", text_json(result->estimate));
	json_put(root, "phantom_start", phantom_start_json(result));
	json_put(root, "advice", text_json(result->advice));
	json_put(root, "starts", text_json(result->starts));
	json_put(root, "command", json_texts(&record->argv));
	json_put(root, "argv_escaped", escaped_json(&record->argv));
	json_put(root, "preset", text_json(record->preset));
	json_put(root, "device_kind", text_json(record->device_kind));
	json_put(root, "devices", result_devices_json(record));
	json_put(root, "budget_source", text_json(result->budget_source));
	json_put(root, "isolation", text_json(record->isolation));
	json_put(root, "effective_batch_asked",
		 json_count(record->effective_batch_asked));
}

void result_json(const struct result *result, struct strbuf *out)
{
	const struct record *record = &result->record;
	json_t *root = json_checked(json_object());

	put_head(root, result);
	json_put(root, "recommended", recommended_json(result));
	json_put(root, "largest_micro_batch",
		 json_count(record->largest_micro_batch));
	json_put(root, "predicted_micro_batch",
		 json_count(result->predicted_micro_batch));
	json_put(root, "nearest_effective_batch",
		 json_count(result->nearest_effective_batch));
	json_put(root, "evidence", evidence_json(record));
	json_put(root, "record", record_json(result));
	result_settings_put(root, result);
	json_put(root, "caveats", json_texts(&record->caveats));
	json_put(root, "probe_count",
		 json_integer((json_int_t)result->probes_run));
	json_put(root, "seconds", json_number(result->seconds));
	json_put(root, "probes", probes_json(result));
	json_put(root, "plan",
		 result->plan ? json_checked(json_loads(result->plan, 0, NULL))
			      : json_null());
	json_write(out, root, JSON_INDENT(2) | JSON_REAL_PRECISION(9));
}
