/* The recommended setting as data: what to write where, and how it compares. */
/* SPDX-License-Identifier: MIT */
#include "launcher/report/result_settings.h"

#include "base/alloc.h"
#include "launcher/command/text/text.h"
#include "launcher/report/json.h"
#include "launcher/report/rates.h"

#include <stdlib.h>
#include <string.h>

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
	json_put(object, "peak_bytes", json_count((int64_t)trial->peak_bytes));
	json_put(object, "samples_per_second",
		 speed > 0 ? json_real(speed) : json_null());
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

void result_settings_put(json_t *root, const struct result *result)
{
	const struct record *record = &result->record;

	json_put(root, "settings", settings_json(&record->settings));
	json_put(root, "rates", rates_json(result));
	json_put(root, "created", json_count(record->created));
	json_put(root, "host", json_text(record->host));
	json_put(root, "versions", versions_json(&record->versions));
}
