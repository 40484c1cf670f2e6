/* Notes of "key=value" lines in lock files: hostile until read by a table. */
/* SPDX-License-Identifier: MIT */
#include "probes/locks/note.h"

#include "base/textfile.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

void note_copy_words(char *to, size_t size, const char *from)
{
	size_t i = 0;

	assert(size > 0);
	for (; from[i] && i < size - 1; i++)
		to[i] = (char)(from[i] < ' ' || from[i] > '~' ? '?' : from[i]);
	to[i] = '\0';
	if (from[i] && size > 4)
		memcpy(to + size - 4, "...", 4);
}

/* An id is compared with others: all of it, or nothing. */
static void note_copy_id(char *to, size_t size, const char *from)
{
	size_t length = strlen(from);

	if (length >= size || strspn(from, NOTE_ID_BYTES) != length)
		length = 0;
	memcpy(to, from, length);
	to[length] = '\0';
}

static uint64_t note_number(const char *text, uint64_t largest)
{
	uint64_t number;

	if (!*text || text[strspn(text, "0123456789")])
		return 0;
	errno = 0;
	number = strtoull(text, NULL, 10);
	return errno || number > largest ? 0 : number;
}

static void note_set(const struct note_field *field, void *note,
		     const char *value)
{
	char *at = (char *)note + field->offset;

	switch (field->kind) {
	case NOTE_ID:
		note_copy_id(at, field->size, value);
		break;
	case NOTE_WORDS:
	case NOTE_PATH:
		note_copy_words(at, field->size, value);
		break;
	case NOTE_PID:
		*(pid_t *)at = (pid_t)note_number(value, INT32_MAX);
		break;
	case NOTE_COUNT:
		*(uint64_t *)at = note_number(value, UINT64_MAX);
		break;
	}
}

bool note_parse(const struct note_field *fields, void *note, char *text)
{
	char *rest = text;
	bool is_whole = true;
	char *line;

	for (const struct note_field *field = fields; field->key; field++)
		memset((char *)note + field->offset, 0, field->size);
	while ((line = strsep(&rest, "\n")) && strcmp(line, "end") != 0) {
		char *equals = strchr(line, '=');

		/* The last line without its end may be cut. */
		is_whole = is_whole && rest && equals;
		if (!rest || !equals)
			continue;
		*equals = '\0';
		for (const struct note_field *field = fields; field->key;
		     field++)
			if (strcmp(field->key, line) == 0)
				note_set(field, note, equals + 1);
	}
	return is_whole && line && rest;
}

void note_format(const struct note_field *fields, const void *note,
		 struct strbuf *out)
{
	char clean[1024];

	for (const struct note_field *field = fields; field->key; field++) {
		const char *at = (const char *)note + field->offset;

		assert(field->size <= sizeof(clean));
		if (field->kind == NOTE_PID) {
			strbuf_addf(out, "%s=%ld\n", field->key,
				    (long)*(const pid_t *)at);
			continue;
		}
		if (field->kind == NOTE_COUNT) {
			strbuf_addf(out, "%s=%" PRIu64 "\n", field->key,
				    *(const uint64_t *)at);
			continue;
		}
		if (field->kind == NOTE_ID)
			note_copy_id(clean, field->size, at);
		else
			note_copy_words(clean, field->size, at);
		/* A path that does not round-trip would name another one. */
		if (field->kind != NOTE_PATH || strcmp(clean, at) == 0)
			strbuf_addf(out, "%s=%s\n", field->key, clean);
	}
	strbuf_adds(out, "end\n");
}

void note_boot_id(char boot_id[NOTE_BOOT_ID_MAX])
{
	struct strbuf text = STRBUF_INIT;
	char line[64];

	(void)textfile_read("/proc/sys/kernel/random/boot_id", sizeof(line) - 1,
			    &text, NULL);
	(void)snprintf(line, sizeof(line), "%s", strbuf_text(&text));
	line[strcspn(line, "\n")] = '\0';
	note_copy_id(boot_id, NOTE_BOOT_ID_MAX, line);
	strbuf_release(&text);
}
