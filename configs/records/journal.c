/* One JSON line per finished probe, so that a killed tuning can go on. */
/* SPDX-License-Identifier: MIT */
#include "configs/records/journal.h"

#include "base/alloc.h"
#include "base/hash.h"
#include "base/strbuf.h"
#include "base/textfile.h"
#include "configs/files/escape.h"
#include "configs/files/paths.h"
#include "configs/records/record.h"
#include "configs/records/record_fields.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <jansson.h>

/* The words of a probe are cut to this, so that its line stays in bounds. */
#define WORDS_MAX ((size_t)16 << 10)
/* The key of a text that is not UTF-8: its bytes, percent-escaped. */
#define ESCAPED_KEY "%s_escaped"
#define KEY_MAX 64

static void journal_put_text(json_t *line, const struct field *field,
			     const char *text)
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

static void journal_put_field(json_t *line, const struct field *field,
			      const struct probe_note *note)
{
	const void *at = (const char *)note + field->offset;
	struct strbuf word = STRBUF_INIT;
	json_t *value = NULL;

	if (field_is_text(field)) {
		journal_put_text(
			line, field,
			field->kind == FIELD_CHARS ? at : *(char *const *)at);
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

/* The caller owns the object. */
static json_t *journal_line_make(const struct probe_note *note)
{
	json_t *line = json_object();

	for (size_t i = 0; probe_fields[i].name; i++)
		journal_put_field(line, &probe_fields[i], note);
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

static int get_chars(const json_t *value, const struct field *field, void *note)
{
	const char *text = json_string_value(value);

	if (!text || strlen(text) >= field->most)
		return -EINVAL;
	memcpy((char *)note + field->offset, text, strlen(text) + 1);
	return 0;
}

static int get_field(const json_t *line, const struct field *field, void *note)
{
	const json_t *value = json_object_get(line, field->name);

	/* Older versions did not know it. */
	if (!value && field->optional && field->kind != FIELD_TEXT)
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
		return get_chars(value, field, note);
	case FIELD_LIST:
		break;
	}
	return -EINVAL;
}

/* Adds the probe to notes; -EINVAL when anything in the object is wrong. */
static int journal_line_read(const json_t *line, struct probe_notes *notes)
{
	struct probe_note note = { 0 };
	int result = 0;

	assert(notes->count < RECORD_PROBES_MAX);
	for (size_t i = 0; probe_fields[i].name && result == 0; i++)
		result = get_field(line, &probe_fields[i], &note);
	if (result == 0)
		probe_notes_copy(notes, &note);
	free(note.why);
	free(note.log);
	return result;
}

#define JOURNAL_SCHEMA "autofit.journal/1"
#define JOURNAL_FILE_MAX ((size_t)64 << 20)
#define LINE_BYTES_MAX ((size_t)256 << 10)
#define HASH_TEXT_MAX 17

static const char *hash_text(char text[HASH_TEXT_MAX], const char *identity)
{
	(void)snprintf(text, HASH_TEXT_MAX, "%016" PRIx64,
		       hash_bytes(identity, strlen(identity)));
	return text;
}

static char *journal_path_of(const char *folder, const char *identity)
{
	char hash[HASH_TEXT_MAX];

	return xasprintf("%s/%s.jsonl", folder, hash_text(hash, identity));
}

/* The object as one line; takes the object. */
static void put_line(struct strbuf *out, json_t *line)
{
	char *text = json_dumps(line, JSON_COMPACT | JSON_PRESERVE_ORDER);

	if (text)
		strbuf_adds(out, text);
	strbuf_addch(out, '\n');
	free(text);
	json_decref(line);
}

static int header_line(const json_t *line, const char *identity)
{
	const char *schema = json_string_value(json_object_get(line, "schema"));
	const char *escaped =
		json_string_value(json_object_get(line, "identity"));
	struct strbuf text = STRBUF_INIT;
	int result = -EINVAL;

	if (schema && escaped && strcmp(schema, JOURNAL_SCHEMA) == 0 &&
	    unescape_add(&text, escaped) == 0 &&
	    strcmp(strbuf_text(&text), identity) == 0)
		result = 0;
	strbuf_release(&text);
	return result;
}

static int journal_read_line(const char *line, size_t length,
			     const char *identity, struct probe_notes *notes)
{
	json_t *object = json_loadb(line, length, JSON_REJECT_DUPLICATES, NULL);
	int result;

	if (!json_is_object(object))
		result = -EINVAL;
	else if (identity)
		result = header_line(object, identity);
	else
		result = journal_line_read(object, notes);
	json_decref(object);
	return result;
}

/*
 * Reads every line that has its end into notes; good_bytes is where the last
 * of them ends. Anything wrong before that is -EINVAL.
 */
static int journal_read_lines(const struct strbuf *text, const char *identity,
			      struct probe_notes *notes, size_t *good_bytes)
{
	const char *at = strbuf_text(text);
	const char *end = at + text->length;
	const char *newline;
	bool first = true;

	while ((newline = memchr(at, '\n', (size_t)(end - at)))) {
		size_t length = (size_t)(newline - at);

		if ((!first && length > LINE_BYTES_MAX) ||
		    notes->count == RECORD_PROBES_MAX ||
		    journal_read_line(at, length, first ? identity : NULL,
				      notes) < 0)
			return -EINVAL;
		at = newline + 1;
		first = false;
	}
	assert(at <= end);
	*good_bytes = text->length - (size_t)(end - at);
	return first ? -EINVAL : 0;
}

/* -EINVAL when there is nothing to go on with. */
static int resume(const struct journal *journal, const char *identity,
		  struct probe_notes *resumed)
{
	struct strbuf text = STRBUF_INIT;
	size_t good_bytes = 0;
	int result = -EINVAL;

	if (textfile_read(journal->path, JOURNAL_FILE_MAX, &text, NULL) == 0)
		result = journal_read_lines(&text, identity, resumed,
					    &good_bytes);
	assert(result < 0 || good_bytes <= text.length);
	if (result == 0 && good_bytes < text.length &&
	    ftruncate(journal->fd, (off_t)good_bytes) < 0)
		result = -EINVAL;
	if (result < 0)
		probe_notes_release(resumed);
	strbuf_release(&text);
	return result;
}

/* One write, so that no line of another is mixed in; then to the disk. */
static int write_line(int fd, const struct strbuf *line)
{
	ssize_t done;

	assert(line->length && line->data[line->length - 1] == '\n');
	do
		done = write(fd, line->data, line->length);
	while (done < 0 && errno == EINTR);
	if (done >= 0 && (size_t)done < line->length)
		return -ENOSPC;
	return done < 0 || fsync(fd) < 0 ? -errno : 0;
}

/*
 * What a full disk left of a line is taken away again: the file ends with a
 * whole line.
 */
static int journal_append(const struct journal *journal,
			  const struct strbuf *line, struct error *err)
{
	off_t before = lseek(journal->fd, 0, SEEK_END);
	int result;

	assert(journal->fd >= 0);
	result = before < 0 ? -errno : write_line(journal->fd, line);
	if (result == 0)
		return 0;
	if (before >= 0)
		(void)!ftruncate(journal->fd, before); /* it failed already */
	return error_set_errno(err, result, "cannot write %s", journal->path);
}

static int start_afresh(const struct journal *journal, const char *identity,
			struct error *err)
{
	struct strbuf text = STRBUF_INIT;
	struct strbuf line = STRBUF_INIT;
	char hash[HASH_TEXT_MAX];
	json_t *header = json_object();
	int result;

	escape_add(&text, identity);
	(void)json_object_set_new(header, "schema",
				  json_string(JOURNAL_SCHEMA));
	(void)json_object_set_new(header, "identity_hash",
				  json_string(hash_text(hash, identity)));
	(void)json_object_set_new(header, "identity",
				  json_string(strbuf_text(&text)));
	(void)json_object_set_new(header, "created", json_integer(time(NULL)));
	put_line(&line, header);
	result = ftruncate(journal->fd, 0) < 0 ? -errno : 0;
	if (result < 0)
		(void)error_set_errno(err, result, "cannot empty %s",
				      journal->path);
	else
		result = journal_append(journal, &line, err);
	strbuf_release(&line);
	strbuf_release(&text);
	return result;
}

static int open_at(const char *path, int flags)
{
	struct stat info;
	int fd;

	/* Neither a link's target nor a FIFO's reader is waited for. */
	fd = open(path,
		  flags | O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW |
			  O_NONBLOCK,
		  0600);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode) &&
	    fchmod(fd, 0600) == 0)
		return fd;
	(void)close(fd);
	return -EINVAL;
}

static int journal_open_file(struct journal *journal, struct error *err)
{
	journal->fd = open_at(journal->path, 0);
	if (journal->fd < 0) {
		/* Not a file of ours: out of the way with it. */
		(void)unlink(journal->path);
		journal->fd = open_at(journal->path, O_EXCL);
	}
	if (journal->fd < 0)
		return error_set_errno(err, journal->fd, "cannot open %s",
				       journal->path);
	return 0;
}

/* A new file is on disk only once its folder is; best effort, as on NFS. */
static void sync_folder(const char *folder)
{
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return;
	(void)fsync(fd);
	(void)close(fd);
}

int journal_open(struct journal *journal, const char *folder,
		 const char *identity, struct probe_notes *resumed,
		 struct error *err)
{
	int result;

	journal->fd = -1;
	journal->is_empty = false;
	journal->path = journal_path_of(folder, identity);
	result = paths_make(folder, err);
	if (result == 0)
		paths_remove_old(folder, JOURNAL_DAYS);
	if (result == 0)
		result = journal_open_file(journal, err);
	if (result == 0 && resume(journal, identity, resumed) < 0) {
		result = start_afresh(journal, identity, err);
		sync_folder(folder);
	}
	journal->is_empty = result == 0 && !resumed->count;
	/* It is young again: nobody removes it while it is in use. */
	if (result == 0)
		(void)futimens(journal->fd, NULL);
	else
		journal_close(journal);
	return result;
}

int journal_add(struct journal *journal, const struct probe_note *note,
		struct error *err)
{
	struct strbuf line = STRBUF_INIT;
	int result;

	put_line(&line, journal_line_make(note));
	result = journal_append(journal, &line, err);
	journal->is_empty = journal->is_empty && result < 0;
	strbuf_release(&line);
	return result;
}

void journal_finish(struct journal *journal)
{
	journal->is_empty = true;
	journal_close(journal);
}

void journal_close(struct journal *journal)
{
	if (journal->path && journal->is_empty)
		(void)unlink(journal->path);
	if (journal->fd >= 0)
		(void)close(journal->fd);
	free(journal->path);
	journal->fd = -1;
	journal->path = NULL;
}

int journal_forget(const char *folder, const char *identity, struct error *err)
{
	char *path = journal_path_of(folder, identity);
	int result = 1;

	if (unlink(path) < 0)
		result = errno == ENOENT
				 ? 0
				 : error_set_errno(err, -errno,
						   "cannot remove %s", path);
	free(path);
	return result;
}
