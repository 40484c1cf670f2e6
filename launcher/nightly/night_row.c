/* What a night found out of one job: a row of the summary. */
/* SPDX-License-Identifier: MIT */
#include "launcher/nightly/night_row.h"

#include "base/alloc.h"
#include "base/textfile.h"
#include "configs/files/json_bounded.h"
#include "launcher/report/json.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char *const state_names[] = {
	[NIGHT_OK] = "ok",
	[NIGHT_FAILING] = "failing",
	[NIGHT_NOT_RUN] = "not_run",
};

static const char *const change_names[] = {
	[CHANGE_NONE] = "",         [CHANGE_SAME] = "same",
	[CHANGE_BETTER] = "better", [CHANGE_WORSE] = "worse",
	[CHANGE_NEW] = "new",       [CHANGE_FAILING] = "failing",
	[CHANGE_GONE] = "gone",
};

#define COUNT_OF(names) (sizeof(names) / sizeof(*(names)))

const char *night_state_name(enum night_state state)
{
	return state_names[state];
}

const char *night_change_name(enum night_change change)
{
	return change_names[change];
}

/* The members that are texts and numbers, for reader, writer and copy. */
static const struct row_text {
	const char *key;
	size_t offset;
} row_texts[] = {
	{ "name", offsetof(struct night_row, name) },
	{ "definition", offsetof(struct night_row, definition) },
	{ "outcome", offsetof(struct night_row, outcome) },
	{ "message", offsetof(struct night_row, message) },
	{ "command", offsetof(struct night_row, command) },
	{ "device", offsetof(struct night_row, device) },
	{ "record", offsetof(struct night_row, record) },
	{ "identity", offsetof(struct night_row, identity) },
	{ "cause", offsetof(struct night_row, cause) },
};

static const struct row_text row_counts[] = {
	{ "micro_batch", offsetof(struct night_row, batch.micro_batch) },
	{ "grad_accum", offsetof(struct night_row, batch.grad_accum) },
	{ "world_size", offsetof(struct night_row, batch.world_size) },
	{ "effective_batch",
	  offsetof(struct night_row, batch.effective_batch) },
	{ "peak_bytes", offsetof(struct night_row, peak_bytes) },
	{ "limit_bytes", offsetof(struct night_row, limit_bytes) },
	{ "probe_count", offsetof(struct night_row, probes) },
};

static const struct row_text row_reals[] = {
	{ "samples_per_second", offsetof(struct night_row, speed) },
	{ "samples_per_second_spread", offsetof(struct night_row, spread) },
	{ "speed_factor", offsetof(struct night_row, factor) },
	{ "seconds", offsetof(struct night_row, seconds) },
};

static void *row_field(struct night_row *row, const struct row_text *field)
{
	return (char *)row + field->offset;
}

static const void *row_value(const struct night_row *row,
			     const struct row_text *field)
{
	return (const char *)row + field->offset;
}

struct night_row *night_add(struct night *night)
{
	struct night_row *row;

	night->rows = xgrow(night->rows, night->count, &night->capacity,
			    sizeof(*night->rows));
	row = &night->rows[night->count++];
	*row = (struct night_row){ .state = NIGHT_NOT_RUN };
	return row;
}

struct night_row *night_find(const struct night *night, const char *name)
{
	for (size_t i = 0; i < night->count; i++)
		if (night->rows[i].name &&
		    strcmp(night->rows[i].name, name) == 0)
			return &night->rows[i];
	return NULL;
}

void night_row_release(struct night_row *row)
{
	for (size_t i = 0; i < COUNT_OF(row_texts); i++)
		free(*(char **)row_field(row, &row_texts[i]));
	strlist_release(&row->versions);
	*row = (struct night_row){ .state = NIGHT_NOT_RUN };
}

void night_release(struct night *night)
{
	for (size_t i = 0; i < night->count; i++)
		night_row_release(&night->rows[i]);
	free(night->rows);
	free(night->host);
	memset(night, 0, sizeof(*night));
}

void night_row_copy(struct night_row *to, const struct night_row *from)
{
	struct night_row copy = *from;

	for (size_t i = 0; i < COUNT_OF(row_texts); i++) {
		char **text = row_field(&copy, &row_texts[i]);

		*text = *text ? xstrdup(*text) : NULL;
	}
	copy.versions = (struct strlist)STRLIST_INIT;
	strlist_add_all(&copy.versions,
			(const char *const *)from->versions.items,
			from->versions.count);
	night_row_release(to);
	*to = copy;
}

static void night_row_take_text(char **text, json_t *json)
{
	const char *value = json_string_value(json);

	free(*text);
	*text = value ? xstrdup(value) : NULL;
}

static double real_of(json_t *json)
{
	double value = json_number_value(json);

	return value > 0 && value < 1e15 ? value : 0;
}

static int64_t count_of(json_t *json)
{
	int64_t value = 0;

	return json_whole(json, &value) && value > 0 ? value : 0;
}

static void take_versions(struct strlist *versions, json_t *object)
{
	const char *name;
	json_t *version;

	strlist_release(versions);
	json_object_foreach(object, name, version) if (json_is_string(version))
		strlist_addf(versions, "%s %s", name,
			     json_string_value(version));
}

static json_t *night_versions_json(const struct strlist *versions)
{
	json_t *object = json_checked(json_object());

	for (size_t i = 0; i < versions->count; i++) {
		char *name = xstrdup(versions->items[i]);
		char *blank = strchr(name, ' ');

		if (blank) {
			*blank = '\0';
			json_put(object, name, json_text(blank + 1));
		}
		free(name);
	}
	return object;
}

void night_row_take_result(struct night_row *row, json_t *result)
{
	json_t *recommended = json_object_get(result, "recommended");
	json_t *best =
		json_object_get(json_object_get(result, "rates"), "best");
	json_t *device = json_array_get(json_object_get(result, "devices"), 0);
	json_t *evidence = json_object_get(result, "evidence");

	night_row_take_text(&row->outcome, json_object_get(result, "outcome"));
	night_row_take_text(&row->message, json_object_get(result, "message"));
	/* The rest of it is in the result itself. */
	if (row->message)
		row->message[strcspn(row->message, "\n")] = '\0';
	night_row_take_text(&row->device, json_object_get(device, "name"));
	take_versions(&row->versions, json_object_get(result, "versions"));
	for (size_t i = 0; i < 4; i++)
		*(int64_t *)row_field(row, &row_counts[i]) = count_of(
			json_object_get(recommended, row_counts[i].key));
	row->peak_bytes = count_of(json_object_get(evidence, "peak_bytes"));
	row->limit_bytes = count_of(json_object_get(evidence, "limit_bytes"));
	row->probes = count_of(json_object_get(result, "probe_count"));
	row->seconds = real_of(json_object_get(result, "seconds"));
	row->speed = real_of(json_object_get(best, "samples_per_second"));
	row->spread =
		real_of(json_object_get(best, "samples_per_second_spread"));
	row->factor = real_of(json_object_get(recommended, "speed_factor"));
	row->state = row->outcome && (strcmp(row->outcome, "tuned") == 0 ||
				      strcmp(row->outcome, "reused") == 0)
			     ? NIGHT_OK
			     : NIGHT_FAILING;
}

void night_row_take_record(struct night_row *row, const struct record *record)
{
	free(row->record);
	row->record = record->id ? xstrdup(record->id) : NULL;
	free(row->identity);
	row->identity = record->identity ? xstrdup(record->identity) : NULL;
}

static json_t *night_row_row_json(const struct night_row *row)
{
	json_t *object = json_checked(json_object());

	for (size_t i = 0; i < COUNT_OF(row_texts); i++)
		json_put(object, row_texts[i].key,
			 json_text(*(char *const *)row_value(row,
							     &row_texts[i])));
	json_put(object, "required", json_boolean(row->is_required));
	json_put(object, "state", json_string(night_state_name(row->state)));
	json_put(
		object, "change",
		json_text(row->change ? night_change_name(row->change) : NULL));
	for (size_t i = 0; i < COUNT_OF(row_counts); i++)
		json_put(object, row_counts[i].key,
			 json_count(*(const int64_t *)row_value(
				 row, &row_counts[i])));
	for (size_t i = 0; i < COUNT_OF(row_reals); i++)
		json_put(object, row_reals[i].key,
			 json_positive(*(const double *)row_value(
				 row, &row_reals[i])));
	json_put(object, "versions", night_versions_json(&row->versions));
	return object;
}

json_t *night_json(const struct night *night)
{
	json_t *root = json_checked(json_object());
	json_t *jobs = json_checked(json_array());

	for (size_t i = 0; i < night->count; i++)
		json_append(jobs, night_row_row_json(&night->rows[i]));
	json_put(root, "schema", json_string(NIGHT_SCHEMA));
	json_put(root, "autofit_version", json_string(AUTOFIT_VERSION));
	json_put(root, "started", json_count(night->started));
	json_put(root, "finished", json_count(night->finished));
	json_put(root, "host", json_text(night->host));
	json_put(root, "jobs", jobs);
	return root;
}

static size_t night_row_name_index(const char *const *names, size_t count,
				   json_t *json, size_t otherwise)
{
	const char *text = json_string_value(json);

	for (size_t i = 0; text && i < count; i++)
		if (strcmp(names[i], text) == 0)
			return i;
	return otherwise;
}

static void row_parse(struct night_row *row, json_t *object)
{
	for (size_t i = 0; i < COUNT_OF(row_texts); i++)
		night_row_take_text(row_field(row, &row_texts[i]),
				    json_object_get(object, row_texts[i].key));
	for (size_t i = 0; i < COUNT_OF(row_counts); i++)
		*(int64_t *)row_field(row, &row_counts[i]) =
			count_of(json_object_get(object, row_counts[i].key));
	for (size_t i = 0; i < COUNT_OF(row_reals); i++)
		*(double *)row_field(row, &row_reals[i]) =
			real_of(json_object_get(object, row_reals[i].key));
	take_versions(&row->versions, json_object_get(object, "versions"));
	row->is_required = !json_is_false(json_object_get(object, "required"));
	row->state = (enum night_state)night_row_name_index(
		state_names, COUNT_OF(state_names),
		json_object_get(object, "state"), NIGHT_NOT_RUN);
	row->change = (enum night_change)night_row_name_index(
		change_names, COUNT_OF(change_names),
		json_object_get(object, "change"), CHANGE_NONE);
}

static int night_parse(struct night *night, json_t *root, const char *name,
		       struct error *err)
{
	const char *schema = json_string_value(json_object_get(root, "schema"));
	json_t *jobs = json_object_get(root, "jobs");
	size_t index;
	json_t *object;

	memset(night, 0, sizeof(*night));
	if (!schema || strcmp(schema, NIGHT_SCHEMA) != 0 ||
	    !json_is_array(jobs))
		return error_set(err, -EINVAL,
				 "%s: no summary that autofit nightly wrote",
				 name);
	night->started = count_of(json_object_get(root, "started"));
	night->finished = count_of(json_object_get(root, "finished"));
	night_row_take_text(&night->host, json_object_get(root, "host"));
	json_array_foreach(jobs, index, object)
	{
		struct night_row row = { .state = NIGHT_NOT_RUN };

		row_parse(&row, object);
		if (row.name)
			*night_add(night) = row;
		else
			night_row_release(&row);
	}
	return 0;
}

int night_read(struct night *night, const char *path, struct error *err)
{
	struct strbuf text = STRBUF_INIT;
	json_t *root = NULL;
	int result = textfile_read(path, NIGHT_FILE_MAX, &text, err);

	memset(night, 0, sizeof(*night));
	if (result > 0)
		result = error_set(err, -EFBIG, "%s: larger than %zu MiB", path,
				   NIGHT_FILE_MAX >> 20);
	if (result == 0) {
		root = json_bounded(path, strbuf_text(&text), text.length,
				    false, err);
		result = root ? night_parse(night, root, path, err) : -EINVAL;
	}
	json_decref(root);
	strbuf_release(&text);
	return result;
}
