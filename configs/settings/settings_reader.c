/* Collects the settings that a reader of config files finds. */
/* SPDX-License-Identifier: MIT */
#include "configs/settings/settings_internal.h"

#include "base/alloc.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/*
 * Keys inside keys inside keys, all of them long, or one value of many names
 * would else take a thousand times the memory of the file.
 */
#define BYTES_MAX (8 * SETTINGS_BYTES_MAX)

/* Line ends: LF, CRLF, and CR as YAML has it too. */
static unsigned settings_line_of(struct settings_reader *reader, size_t at)
{
	const char *text = reader->text;

	if (at < reader->line_at) {
		reader->line_at = 0;
		reader->line = 1;
	}
	for (; reader->line_at < at; reader->line_at++) {
		size_t i = reader->line_at;
		bool is_crlf = text[i] == '\r' && i + 1 < reader->length &&
			       text[i + 1] == '\n';

		if (text[i] == '\n' || (text[i] == '\r' && !is_crlf))
			reader->line++;
	}
	return reader->line;
}

int settings_fail(struct settings_reader *reader, size_t at,
		  const char *problem)
{
	if (at > reader->length)
		at = reader->length;
	return error_set(reader->err, -EINVAL, "%s:%u: %s", reader->name,
			 settings_line_of(reader, at), problem);
}

static bool has_expression(const char *value)
{
	const char *brace = strchr(value, '{');

	return (brace && strstr(brace, "{{")) || strchr(value, '$');
}

/* One more, of so many bytes and its path, is to be kept. */
static int count_value(struct settings_reader *reader, size_t at, size_t value)
{
	const struct settings *settings = reader->settings;
	size_t most = settings->format == SETTINGS_JSON
			      ? SETTINGS_JSON_VALUES_MAX
			      : SETTINGS_VALUES_MAX;

	if (settings->count + reader->place_count == most)
		return settings_fail(reader, at,
				     "it has too many values for a config");
	reader->bytes += reader->path.length + value;
	if (reader->bytes > BYTES_MAX)
		return settings_fail(reader, at, "its keys are too long");
	return 0;
}

static const char *keep_path(struct settings_reader *reader)
{
	return pool_add(&reader->settings->texts, strbuf_text(&reader->path),
			reader->path.length);
}

int settings_add(struct settings_reader *reader,
		 const struct settings_piece *piece, const char *value,
		 size_t length)
{
	struct settings *settings = reader->settings;
	struct setting *setting;
	int result;

	result = count_value(reader, piece->start, length);
	if (result < 0)
		return result;
	settings->items = xgrow(settings->items, settings->count,
				&settings->capacity, sizeof(*settings->items));
	setting = &settings->items[settings->count++];
	*setting = (struct setting){
		.key = keep_path(reader),
		.value = pool_add(&settings->texts, value, length),
		.start = piece->start,
		.end = piece->end,
		.line = settings_line_of(reader, piece->start),
	};
	setting->is_scalar = piece->is_scalar && setting->key[0] &&
			     !has_expression(setting->value);
	return 0;
}

int settings_add_source(struct settings_reader *reader, size_t start,
			size_t end, bool is_scalar)
{
	struct settings_piece piece = { start, end, is_scalar };

	return settings_add(reader, &piece, reader->text + start, end - start);
}

/* A key without a letter would be no part of the path. */
void settings_path_key(struct strbuf *path, const char *key, size_t length)
{
	if (path->length)
		strbuf_addch(path, '.');
	if (length)
		strbuf_add(path, key, length);
	else
		strbuf_adds(path, "\"\"");
}

void settings_path_index(struct strbuf *path, size_t index)
{
	strbuf_addch(path, '[');
	strbuf_addu(path, index);
	strbuf_addch(path, ']');
}

void settings_path_cut(struct strbuf *path, size_t length)
{
	if (length >= path->length)
		return;
	path->length = length;
	path->data[length] = '\0';
}

int settings_supersede(struct settings_reader *reader, size_t at)
{
	int result = count_value(reader, at, 0);

	if (result < 0)
		return result;
	reader->places =
		xgrow(reader->places, reader->place_count,
		      &reader->place_capacity, sizeof(*reader->places));
	reader->places[reader->place_count++] = (struct settings_place){
		.path = keep_path(reader),
		.at = at,
	};
	return 0;
}

int settings_enter(struct settings_reader *reader, size_t at)
{
	if (reader->depth == SETTINGS_DEPTH_MAX)
		return settings_fail(reader, at, "it is nested too deep");
	reader->depth++;
	return reader->path.length ? settings_supersede(reader, at) : 0;
}

void settings_leave(struct settings_reader *reader)
{
	reader->depth--;
}

void settings_reader_release(struct settings_reader *reader)
{
	free(reader->places);
	strbuf_release(&reader->path);
}
