/* Building JSON for programs: nothing is dropped without a word. */
/* SPDX-License-Identifier: MIT */
#include "launcher/report/json.h"

#include "base/log.h"
#include "launcher/command/text/text.h"
#include "launcher/options/exitcode.h"

#include <math.h>
#include <stdlib.h>

json_t *json_checked(json_t *value)
{
	if (!value) {
		log_error("out of memory while writing JSON");
		exit(EXIT_AUTOFIT_FAILED);
	}
	return value;
}

void json_put(json_t *object, const char *key, json_t *value)
{
	if (json_object_set_new(object, key, json_checked(value)) < 0)
		(void)json_checked(NULL);
}

void json_append(json_t *array, json_t *value)
{
	if (json_array_append_new(array, json_checked(value)) < 0)
		(void)json_checked(NULL);
}

json_t *json_text(const char *text)
{
	struct strbuf clean = STRBUF_INIT;
	json_t *value;

	if (!text)
		return json_null();
	text_add_utf8(&clean, text);
	value = json_checked(json_stringn(strbuf_text(&clean), clean.length));
	strbuf_release(&clean);
	return value;
}

json_t *json_texts(const struct strlist *list)
{
	json_t *array = json_checked(json_array());

	for (size_t i = 0; i < list->count; i++)
		json_append(array, json_text(list->items[i]));
	return array;
}

json_t *json_count(int64_t number)
{
	return number > 0 ? json_integer(number) : json_null();
}

json_t *json_bytes(uint64_t bytes)
{
	return bytes <= INT64_MAX ? json_count((int64_t)bytes) : json_null();
}

json_t *json_number(double number)
{
	return isfinite(number) ? json_real(number) : json_null();
}

json_t *json_positive(double number)
{
	return number > 0 ? json_number(number) : json_null();
}

void json_write(struct strbuf *out, json_t *root, size_t flags)
{
	char *text = json_dumps(root, flags);

	if (!text)
		(void)json_checked(NULL);
	json_decref(root);
	strbuf_adds(out, text);
	strbuf_addch(out, '\n');
	free(text);
}
