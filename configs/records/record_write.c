/* A record to its INI file: escaped pieces, written as one replacement. */
/* SPDX-License-Identifier: MIT */
#include "configs/records/record.h"

#include "base/alloc.h"
#include "base/strbuf.h"
#include "base/textfile.h"
#include "configs/files/escape.h"
#include "configs/records/record_fields.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define PIECE_MAX 160
/* The name's own, then b to z for other identities with the same hash. */
#define NAMES_MAX 26

static void record_write_put_text(struct strbuf *out, const char *key,
				  const char *text)
{
	size_t used;

	strbuf_addf(out, "%s = %zu:", key, strlen(text));
	for (;;) {
		used = escape_piece(out, text, PIECE_MAX);
		strbuf_addch(out, '\n');
		text += used;
		if (!*text)
			return;
		strbuf_addch(out, '\t');
	}
}

static int put_list(struct strbuf *out, const struct field *field,
		    const struct strlist *list, struct error *err)
{
	if (list->count > field->most)
		return error_set(err, -EINVAL,
				 "%s has more than %" PRIu32 " items",
				 field->name, field->most);
	if (list->count == 0 && !field->optional)
		return error_set(err, -EINVAL, "%s is empty", field->name);
	for (size_t i = 0; i < list->count; i++)
		record_write_put_text(out, field->name, list->items[i]);
	return 0;
}

static int record_write_put_field(struct strbuf *out, const struct field *field,
				  const void *object, struct error *err)
{
	const void *at = (const char *)object + field->offset;
	const char *text;

	if (field->kind == FIELD_LIST)
		return put_list(out, field, at, err);
	if (!field_is_text(field)) {
		strbuf_addf(out, "%s = ", field->name);
		field_format(field, object, out);
		strbuf_addch(out, '\n');
		return 0;
	}
	text = field->kind == FIELD_CHARS ? at : *(char *const *)at;
	if (field->kind == FIELD_CHARS && field->optional && !*text)
		return 0;
	if (text)
		record_write_put_text(out, field->name, text);
	else if (!field->optional)
		return error_set(err, -EINVAL, "%s is missing", field->name);
	return 0;
}

static int put_fields(struct strbuf *out, const struct field *fields,
		      const void *object, struct error *err)
{
	int result = 0;

	for (size_t i = 0; fields[i].name && result == 0; i++)
		result = record_write_put_field(out, &fields[i], object, err);
	return result;
}

int record_format(const struct record *record, struct strbuf *out,
		  struct error *err)
{
	int result;

	assert(record->device_count <=
	       sizeof(record->devices) / sizeof(*record->devices));
	strbuf_adds(out, "; Made by autofit from probes of the command below."
			 " Of this file only numbers are used.\n[record]\n"
			 "schema = " RECORD_SCHEMA "\n");
	result = put_fields(out, record_fields, record, err);
	for (size_t i = 0; i < record->device_count && result == 0; i++) {
		strbuf_addf(out, "\n[device.%zu]\n", i + 1);
		result = put_fields(out, device_fields, &record->devices[i],
				    err);
	}
	for (size_t i = 0; i < record->probes.count && result == 0; i++) {
		strbuf_addf(out, "\n[probe.%zu]\n", i + 1);
		result = put_fields(out, probe_fields, &record->probes.items[i],
				    err);
	}
	for (size_t i = 0; i < record->settings.count && result == 0; i++) {
		strbuf_addf(out, "\n[setting.%zu]\n", i + 1);
		result = put_fields(out, setting_fields,
				    &record->settings.items[i], err);
	}
	/* A file that was cut short has no such line. */
	strbuf_adds(out, "\n[end]\ncomplete = yes\n");
	if (result == 0 && out->length > RECORD_FILE_MAX)
		result = error_set(err, -EFBIG, "it is larger than %zu MiB",
				   RECORD_FILE_MAX >> 20);
	return result;
}

enum holder { HOLDER_NOBODY, HOLDER_SAME, HOLDER_OTHER };

/* Whose is the file at path? A damaged one is nobody's and is replaced. */
static enum holder holder_of(const char *path, const char *identity)
{
	struct record there = RECORD_INIT;
	enum holder holder = HOLDER_NOBODY;
	struct stat info;

	if (lstat(path, &info) < 0)
		return HOLDER_NOBODY;
	if (!S_ISREG(info.st_mode))
		return HOLDER_OTHER;
	if (record_read(&there, path, NULL) == 0)
		holder = strcmp(there.identity, identity) == 0 ? HOLDER_SAME
							       : HOLDER_OTHER;
	record_release(&there);
	return holder;
}

static char *name_at(const char *id, size_t index)
{
	assert(index < NAMES_MAX);
	if (index == 0)
		return xstrdup(id);
	return xasprintf("%s%c", id, (char)('a' + index));
}

/*
 * The name this identity has already, else the first free one; NULL when all
 * are taken. The caller frees it.
 */
static char *choose_name(const struct record *record, const char *folder)
{
	char *chosen = NULL;

	for (size_t i = 0; i < NAMES_MAX; i++) {
		char *name = name_at(record->id, i);
		char *path = xasprintf("%s/%s" RECORD_SUFFIX, folder, name);
		enum holder holder = holder_of(path, record->identity);

		free(path);
		if (holder == HOLDER_SAME ||
		    (holder == HOLDER_NOBODY && !chosen)) {
			free(chosen);
			chosen = name;
		} else {
			free(name);
		}
		if (holder == HOLDER_SAME)
			break;
	}
	return chosen;
}

static int write_as(const struct record *record, const char *folder, char *name,
		    mode_t mode, struct error *err)
{
	/* A copy of the struct, not of what it owns: only the id differs. */
	struct record named = *record;
	struct strbuf text = STRBUF_INIT;
	char *path = xasprintf("%s/%s" RECORD_SUFFIX, folder, name);
	int result;

	named.id = name;
	result = record_format(&named, &text, err);
	if (result < 0)
		(void)error_prefix(err, "cannot write %s", path);
	else
		result = textfile_replace(path, mode, text.data, text.length,
					  err);
	strbuf_release(&text);
	free(path);
	return result;
}

/* A folder that all may enter holds files that all may read. */
static int write_into(const struct record *record, const char *folder,
		      mode_t folder_mode, struct error *err)
{
	char *name;
	int result;

	if (!record->id || !record->identity || !record->device_kind)
		return error_set(err, -EINVAL,
				 "cannot write a record without id, identity "
				 "and device_kind");
	result = record_check(record, err);
	if (result < 0) {
		(void)error_prefix(err, "cannot write record %s", record->id);
		return result;
	}
	result = folder_make(folder, folder_mode, err);
	if (result < 0)
		return result;
	assert(result >= 0 && *record->id);
	name = choose_name(record, folder);
	if (!name)
		return error_set(err, -EEXIST,
				 "cannot write %s/%s" RECORD_SUFFIX
				 ": all its names are taken",
				 folder, record->id);
	result = write_as(record, folder, name, folder_mode & 0666, err);
	free(name);
	return result;
}

int record_write(const struct record *record, const char *folder,
		 struct error *err)
{
	return write_into(record, folder, 0700, err);
}

int record_publish(const struct record *record, const char *folder,
		   struct error *err)
{
	return write_into(record, folder, 0755, err);
}
