/* A probe as a JSON object of the journal, and back. */
/* SPDX-License-Identifier: MIT */
#include "configs/records/journal_line.h"

#include "base/alloc.h"
#include "base/strbuf.h"
#include "configs/files/escape.h"
#include "configs/records/record_fields.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

/* The words of a probe are cut to this, so that its line stays in bounds. */
#define WORDS_MAX ((size_t)16 << 10)
/* The key of a text that is not UTF-8: its bytes, percent-escaped. */
#define ESCAPED_KEY "%s_escaped"
#define KEY_MAX 64

static void put_text(json_t *line, const struct field *field, const char *text)
{
	struct strbuf escaped = STRBUF_INIT;
	char key[KEY_MAX];
	char *cut;
	json_t *value;

	if (!text) {
		(void)json_object_set_new(line, field->name, json_null());
		return;
	}
	cut = xstrndup(text, WORDS_MAX);
	value = json_string(cut);
	(void)snprintf(key, sizeof(key), value ? "%s" : ESCAPED_KEY,
		       field->name);
	if (!value) {
		escape_add(&escaped, cut);
		value = json_string(strbuf_text(&escaped));
	}
	(void)json_object_set_new(line, key, value);
	strbuf_release(&escaped);
	free(cut);
}

/* JSON's integers end where int64_t does; no memory has that many bytes. */
static json_int_t bytes_value(uint64_t bytes)
{
	return bytes > INT64_MAX ? INT64_MAX : (json_int_t)bytes;
}

static void put_field(json_t *line, const struct field *field,
		      const struct probe_note *note)
{
	const void *at = (const char *)note + field->offset;
	struct strbuf word = STRBUF_INIT;
	json_t *value = NULL;

	if (field->kind == FIELD_TEXT) {
		put_text(line, field, *(char *const *)at);
		return;
	}
	if (field->kind == FIELD_INTEGER)
		value = json_integer(*(const int64_t *)at);
	else if (field->kind == FIELD_INT)
		value = json_integer(*(const int *)at);
	else if (field->kind == FIELD_BYTES)
		value = json_integer(bytes_value(*(const uint64_t *)at));
	else if (field->kind == FIELD_SECONDS)
		value = json_real(field_seconds(*(const double *)at));
	else if (field->kind == FIELD_BOOL)
		value = json_boolean(*(const bool *)at);
	if (!value) {
		field_format(field, note, &word);
		value = json_string(strbuf_text(&word));
	}
	(void)json_object_set_new(line, field->name, value);
	strbuf_release(&word);
}

json_t *journal_line_make(const struct probe_note *note)
{
	json_t *line = json_object();

	for (size_t i = 0; probe_fields[i].name; i++)
		put_field(line, &probe_fields[i], note);
	return line;
}

/* A number as the text that the field's own parser judges. */
static int get_number(const struct field *field, const json_t *value,
		      void *note)
{
	void *at = (char *)note + field->offset;
	char text[32];
	double seconds;

	if (field->kind == FIELD_SECONDS) {
		seconds = json_number_value(value);
		*(double *)at = field_seconds(seconds);
		return json_is_number(value) && seconds >= 0 &&
				       seconds <= FIELD_SECONDS_MAX
			       ? 0
			       : -EINVAL;
	}
	if (!json_is_integer(value))
		return -EINVAL;
	(void)snprintf(text, sizeof(text), "%" JSON_INTEGER_FORMAT,
		       json_integer_value(value));
	return field_parse(field, note, text, NULL);
}

static int get_text(const json_t *line, const struct field *field, void *note)
{
	const json_t *value = json_object_get(line, field->name);
	struct strbuf text = STRBUF_INIT;
	char key[KEY_MAX];
	int result = 0;

	if (json_is_null(value))
		return 0;
	if (json_is_string(value)) {
		strbuf_adds(&text, json_string_value(value));
	} else {
		(void)snprintf(key, sizeof(key), ESCAPED_KEY, field->name);
		value = json_object_get(line, key);
		result = json_is_string(value)
				 ? unescape_add(&text, json_string_value(value))
				 : -EINVAL;
	}
	*(char **)((char *)note + field->offset) = strbuf_detach(&text);
	return result;
}

static int get_field(const json_t *line, const struct field *field, void *note)
{
	const json_t *value = json_object_get(line, field->name);

	/* Older versions did not know it. */
	if (!value && field->optional && !field_is_text(field))
		return 0;
	switch (field->kind) {
	case FIELD_INTEGER:
	case FIELD_INT:
	case FIELD_BYTES:
	case FIELD_SECONDS:
		return get_number(field, value, note);
	case FIELD_BOOL:
		*(bool *)((char *)note + field->offset) = json_is_true(value);
		return json_is_boolean(value) ? 0 : -EINVAL;
	case FIELD_VERDICT:
	case FIELD_PHASE:
	case FIELD_COVERAGE:
	case FIELD_STEPS_SOURCE:
		return json_is_string(value)
			       ? field_parse(field, note,
					     json_string_value(value), NULL)
			       : -EINVAL;
	case FIELD_TEXT:
		return get_text(line, field, note);
	case FIELD_CHARS:
	case FIELD_LIST:
		break;
	}
	return -EINVAL;
}

int journal_line_read(const json_t *line, struct probe_notes *notes)
{
	struct probe_note note = { 0 };
	int result = 0;

	for (size_t i = 0; probe_fields[i].name && result == 0; i++)
		result = get_field(line, &probe_fields[i], &note);
	if (result == 0)
		probe_notes_add(notes, &note.trial, note.why, note.log);
	free(note.why);
	free(note.log);
	return result;
}
