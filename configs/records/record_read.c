/* An INI file to a record, strictly: all there and sound, or an error. */
/* SPDX-License-Identifier: MIT */
#include "configs/records/record.h"

#include "base/alloc.h"
#include "base/strbuf.h"
#include "base/textfile.h"
#include "configs/files/escape.h"
#include "configs/files/ini.h"
#include "configs/files/owned_file.h"
#include "configs/records/record_fields.h"
#include "configs/records/record_files.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SECTION_MAX 64

/* What the entries of one section are put into. */
struct record_read_memory_target {
	const struct field *fields; /* NULL: a section of a later version */
	void *object;
	uint64_t seen; /* a bit per row of fields */
};

struct reader {
	struct record *record;
	struct record_read_memory_target target;
	char section[SECTION_MAX];
	bool any, has_record, has_schema, complete;
	/* A text under way: its row, and how long it will be. */
	const struct field *text_field;
	struct strbuf text;
	size_t text_length;
};

static int section_end(const struct reader *reader, struct error *err)
{
	const struct field *fields = reader->target.fields;

	if (reader->text_field)
		return error_set(err, -EINVAL, "%s has %zu of %zu bytes",
				 reader->text_field->name, reader->text.length,
				 reader->text_length);
	for (size_t i = 0; fields && fields[i].name; i++)
		if (!fields[i].optional && !(reader->target.seen >> i & 1))
			return error_set(err, -EINVAL, "[%s] has no %s",
					 reader->section, fields[i].name);
	return 0;
}

/* "device.3" with prefix "device.": 3; -1 when it is another section. */
static int64_t section_number(const char *section, const char *prefix)
{
	static const struct field number = {
		"", FIELD_INTEGER, 0, 1, 0, false
	};
	size_t length = strlen(prefix);
	int64_t value;

	if (strncmp(section, prefix, length) != 0 ||
	    field_parse(&number, &value, section + length, NULL) < 0)
		return -1;
	return value;
}

static int out_of_order(const char *section, struct error *err)
{
	return error_set(err, -EINVAL, "[%s] is out of order or one too many",
			 section);
}

static int device_begin(struct reader *reader, int64_t number,
			struct error *err)
{
	struct record *record = reader->record;

	if (number != (int64_t)record->device_count + 1 ||
	    record->device_count == RECORD_DEVICES_MAX)
		return out_of_order(reader->section, err);
	reader->target.fields = device_fields;
	reader->target.object = &record->devices[record->device_count++];
	return 0;
}

static int probe_begin(struct reader *reader, int64_t number, struct error *err)
{
	static const struct trial empty = { 0 };
	struct probe_notes *probes = &reader->record->probes;

	if (number != (int64_t)probes->count + 1 ||
	    probes->count == RECORD_PROBES_MAX)
		return out_of_order(reader->section, err);
	probe_notes_add(probes, &empty, NULL, NULL);
	reader->target.fields = probe_fields;
	reader->target.object = &probes->items[probes->count - 1];
	return 0;
}

static int setting_begin(struct reader *reader, int64_t number,
			 struct error *err)
{
	static const struct record_setting_texts empty = { 0 };
	struct record_settings *settings = &reader->record->settings;

	if (number != (int64_t)settings->count + 1 ||
	    settings->count == RECORD_SETTINGS_MAX)
		return out_of_order(reader->section, err);
	record_settings_add(settings, &empty);
	reader->target.fields = setting_fields;
	reader->target.object = &settings->items[settings->count - 1];
	return 0;
}

static int section_begin(struct reader *reader, const char *section,
			 struct error *err)
{
	static const struct {
		const char *prefix;
		int (*begin)(struct reader *reader, int64_t number,
			     struct error *err);
	} sections[] = {
		{ "device.", device_begin },
		{ "probe.", probe_begin },
		{ "setting.", setting_begin },
	};
	int64_t number;

	if (strlen(section) >= sizeof(reader->section))
		return error_set(err, -EINVAL,
				 "the section's name is too long");
	(void)snprintf(reader->section, sizeof(reader->section), "%s", section);
	reader->target = (struct record_read_memory_target){ 0 };
	reader->any = true;
	if (strcmp(section, "record") == 0) {
		if (reader->has_record)
			return out_of_order(section, err);
		reader->has_record = true;
		reader->target.fields = record_fields;
		reader->target.object = reader->record;
		return 0;
	}
	for (size_t i = 0; i < sizeof(sections) / sizeof(*sections); i++) {
		number = section_number(section, sections[i].prefix);
		if (number > 0)
			return sections[i].begin(reader, number, err);
	}
	return 0;
}

static int store_text(struct reader *reader, struct error *err)
{
	const struct field *field = reader->text_field;
	void *at = (char *)reader->target.object + field->offset;
	struct strlist *list = at;

	reader->text_field = NULL;
	if (field->kind == FIELD_TEXT) {
		*(char **)at = strbuf_detach(&reader->text);
		return 0;
	}
	if (field->kind == FIELD_CHARS) {
		if (reader->text.length >= field->most)
			return error_set(err, -EINVAL,
					 "%s is longer than %" PRIu32 " bytes",
					 field->name, field->most - 1);
		memcpy(at, strbuf_text(&reader->text), reader->text.length + 1);
		strbuf_reset(&reader->text);
		return 0;
	}
	if (list->count == field->most)
		return error_set(err, -EINVAL,
				 "%s has more than %" PRIu32 " items",
				 field->name, field->most);
	strlist_take(list, strbuf_detach(&reader->text));
	return 0;
}

static int text_more(struct reader *reader, const char *piece,
		     struct error *err)
{
	const struct field *field = reader->text_field;

	if (unescape_add(&reader->text, piece) < 0)
		return error_set(err, -EINVAL, "%s has a broken escape",
				 field->name);
	if (reader->text.length > reader->text_length)
		return error_set(err, -EINVAL,
				 "%s is longer than its %zu bytes", field->name,
				 reader->text_length);
	if (reader->text.length < reader->text_length)
		return 0;
	return store_text(reader, err);
}

/* "12:first-piece" */
static int text_begin(struct reader *reader, const struct field *field,
		      const char *value, struct error *err)
{
	size_t digits = strspn(value, "0123456789");
	char *end;

	if (digits == 0 || digits > 9 || value[digits] != ':')
		return error_set(err, -EINVAL,
				 "%s does not begin with its length",
				 field->name);
	reader->text_field = field;
	reader->text_length = strtoull(value, &end, 10);
	strbuf_reset(&reader->text);
	return text_more(reader, end + 1, err);
}

/* "autofit.record/2" and above: what it means is not known here. */
static int check_schema(const char *value, struct error *err)
{
	static const char name[] = "autofit.record/";
	const char *number = value + sizeof(name) - 1;

	if (strcmp(value, RECORD_SCHEMA) == 0)
		return 0;
	if (strncmp(value, name, sizeof(name) - 1) == 0 && *number >= '1' &&
	    *number <= '9' && number[strspn(number, "0123456789")] == '\0')
		return error_set(err, -EINVAL,
				 "written by a later autofit (schema %.40s, "
				 "this one reads " RECORD_SCHEMA ")",
				 value);
	return error_set(err, -EINVAL, "schema is not " RECORD_SCHEMA);
}

static int special_entry(struct reader *reader, const struct ini_entry *entry,
			 struct error *err)
{
	if (strcmp(entry->section, "record") == 0 &&
	    strcmp(entry->key, "schema") == 0) {
		reader->has_schema = true;
		return check_schema(entry->value, err);
	}
	if (strcmp(entry->section, "end") == 0 &&
	    strcmp(entry->key, "complete") == 0)
		reader->complete = strcmp(entry->value, "yes") == 0;
	return 0;
}

static int field_entry(struct reader *reader, const struct ini_entry *entry,
		       struct error *err)
{
	struct record_read_memory_target *target = &reader->target;
	const struct field *field;
	size_t index;

	field = target->fields ? field_find(target->fields, entry->key, &index)
			       : NULL;
	if (!field)
		return special_entry(reader, entry, err);
	assert(index < FIELDS_MAX);
	if (field->kind != FIELD_LIST && (target->seen >> index & 1))
		return error_set(err, -EINVAL, "%s is given twice",
				 field->name);
	target->seen |= UINT64_C(1) << index;
	if (field_is_text(field))
		return text_begin(reader, field, entry->value, err);
	return field_parse(field, target->object, entry->value, err);
}

static int record_read_on_entry(void *context, const struct ini_entry *entry,
				struct error *err)
{
	struct reader *reader = context;
	int result = 0;

	if (!reader->any || strcmp(entry->section, reader->section) != 0) {
		result = section_end(reader, err);
		if (result == 0)
			result = section_begin(reader, entry->section, err);
	}
	if (result < 0)
		return result;
	if (!reader->text_field)
		return field_entry(reader, entry, err);
	if (strcmp(entry->key, reader->text_field->name) != 0)
		return section_end(reader, err);
	return text_more(reader, entry->value, err);
}

static int reader_finish(const struct reader *reader, struct error *err)
{
	int result = section_end(reader, err);

	if (result < 0)
		return result;
	if (!reader->has_record || !reader->has_schema)
		return error_set(err, -EINVAL, "there is no schema = %s",
				 RECORD_SCHEMA);
	if (!reader->complete)
		return error_set(err, -EINVAL,
				 "the file was cut short: no complete = yes");
	return record_check(reader->record, err);
}

static size_t line_count(const struct strbuf *text)
{
	size_t lines = 0;
	const char *at = strbuf_text(text);
	const char *end = at + text->length;

	while (at < end) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));

		lines++;
		at = newline ? newline + 1 : end;
	}
	return lines;
}

int record_parse(struct record *record, const char *name,
		 const struct strbuf *text, struct error *err)
{
	struct reader reader = { .record = record };
	int result;

	memset(record, 0, sizeof(*record));
	result = ini_read(name, strbuf_text(text), text->length,
			  record_read_on_entry, &reader, err);
	if (result == 0) {
		result = reader_finish(&reader, err);
		if (result < 0)
			(void)error_prefix(err, "%s:%zu", name,
					   line_count(text));
	}
	strbuf_release(&reader.text);
	if (result < 0)
		record_release(record);
	return result;
}

/* What reading the file gave: -errno, 0, or 1 when it was cut. */
static int take_text(struct record *record, const char *path,
		     const struct strbuf *text, int result, struct error *err)
{
	memset(record, 0, sizeof(*record));
	if (result > 0)
		result = error_set(err, -EINVAL,
				   "%s:1: the file is larger than %zu MiB",
				   path, RECORD_FILE_MAX >> 20);
	else if (result == 0)
		result = record_parse(record, path, text, err);
	if (result < 0)
		record_release(record);
	return result;
}

int record_read(struct record *record, const char *path, struct error *err)
{
	struct strbuf text = STRBUF_INIT;
	int result = textfile_read(path, RECORD_FILE_MAX, &text, err);

	result = take_text(record, path, &text, result, err);
	strbuf_release(&text);
	return result;
}

int record_read_open(struct record *record, int fd, const char *path,
		     struct error *err)
{
	struct strbuf text = STRBUF_INIT;
	int result = textfile_read_open(fd, path, RECORD_FILE_MAX, &text, err);

	result = take_text(record, path, &text, result, err);
	strbuf_release(&text);
	return result;
}
