/* `autofit show --json`: records for programs. */
/* SPDX-License-Identifier: MIT */
#include "launcher/records/show.h"

#include "launcher/report/json.h"

static json_t *split_json(const struct record *record)
{
	json_t *object = json_checked(json_object());

	json_put(object, "micro_batch", json_count(record->batch.micro_batch));
	json_put(object, "grad_accum", json_count(record->batch.grad_accum));
	json_put(object, "world_size", json_count(record->batch.world_size));
	json_put(object, "effective_batch",
		 json_count(record->batch.effective_batch));
	return object;
}

static json_t *show_names_json(const struct record *record)
{
	json_t *array = json_checked(json_array());

	for (size_t i = 0; i < record->device_count; i++)
		json_append(array, json_text(record->devices[i].name));
	return array;
}

static json_t *show_item_json(const struct show_item *item)
{
	const struct record *record = item->record;
	json_t *object = json_checked(json_object());

	json_put(object, "name", json_text(item->name));
	json_put(object, "problem", json_text(item->problem));
	json_put(object, "is_site", json_boolean(item->is_site));
	if (!record)
		return object;
	json_put(object, "mode", json_text(show_mode(record)));
	json_put(object, "command", json_texts(&record->argv));
	json_put(object, "preset", json_text(record->preset));
	json_put(object, "device_kind", json_text(record->device_kind));
	json_put(object, "devices", show_names_json(record));
	json_put(object, "recommended", split_json(record));
	json_put(object, "peak_bytes", json_bytes(record->peak_bytes));
	json_put(object, "limit_bytes", json_bytes(record->limit_bytes));
	json_put(object, "lowered_from", json_count(record->lowered_from));
	json_put(object, "created", json_count(record->created));
	return object;
}

void show_json(struct strbuf *out, const struct show_item *items, size_t count)
{
	json_t *root = json_checked(json_object());
	json_t *array = json_checked(json_array());

	for (size_t i = 0; i < count; i++)
		json_append(array, show_item_json(&items[i]));
	json_put(root, "schema", json_text("autofit.records/1"));
	json_put(root, "records", array);
	json_write(out, root, JSON_INDENT(2));
}
