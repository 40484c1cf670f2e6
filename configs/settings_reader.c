/* What a reader of config files has found so far. */
/* SPDX-License-Identifier: MIT */
#include "configs/settings_internal.h"

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
static unsigned line_of(struct settings_reader *reader, size_t at)
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
			 line_of(reader, at), problem);
}

static bool has_expression(const char *value)
{
	const char *brace = strchr(value, '{');

	return (brace && strstr(brace, "{{")) || strchr(value, '$');
}

/* Of a path and a value that are to be kept. Only what is hostile fails. */
static int count_bytes(struct settings_reader *reader, size_t at, size_t value)
{
	reader->bytes += reader->path.length + value;
	if (reader->bytes > BYTES_MAX)
		return settings_fail(reader, at, "its keys are too long");
	return 0;
}

int settings_add(struct settings_reader *reader,
		 const struct settings_piece *piece, const char *value,
		 size_t length)
{
	struct settings *settings = reader->settings;
	struct setting *setting;
	int result;

	if (settings->count == SETTINGS_ITEMS_MAX)
		return settings_fail(reader, piece->start,
				     "it has too many values for a config");
	result = count_bytes(reader, piece->start, length);
	if (result < 0)
		return result;
	settings->items = xgrow(settings->items, settings->count,
				&settings->capacity, sizeof(*settings->items));
	setting = &settings->items[settings->count++];
	*setting = (struct setting){
		.key = xstrdup(strbuf_text(&reader->path)),
		.value = xstrndup(value, length),
		.start = piece->start,
		.end = piece->end,
		.line = line_of(reader, piece->start),
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
	strbuf_addf(path, "[%zu]", index);
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
	int result = count_bytes(reader, at, 0);

	if (result < 0)
		return result;
	reader->places =
		xgrow(reader->places, reader->place_count,
		      &reader->place_capacity, sizeof(*reader->places));
	reader->places[reader->place_count++] = (struct settings_place){
		.path = xstrdup(strbuf_text(&reader->path)),
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

void settings_truncate(struct settings *settings, size_t count)
{
	while (settings->count > count) {
		struct setting *setting = &settings->items[--settings->count];

		free(setting->key);
		free(setting->value);
	}
}

/* A path, and where it last got a value. */
struct spot {
	const char *path;
	size_t length;
	size_t at;
};

static int compare_paths(const struct spot *a, const struct spot *b)
{
	size_t shorter = a->length < b->length ? a->length : b->length;
	int order = shorter ? memcmp(a->path, b->path, shorter) : 0;

	if (order)
		return order;
	return (a->length > b->length) - (a->length < b->length);
}

static int compare_spots(const void *a, const void *b)
{
	const struct spot *one = a, *other = b;
	int order = compare_paths(one, other);

	if (order)
		return order;
	return (one->at > other->at) - (one->at < other->at);
}

/* Sorted, of each path the last. */
static size_t collect_spots(const struct settings_reader *reader,
			    struct spot *spots)
{
	const struct settings *settings = reader->settings;
	size_t count = 0, kept = 0;

	for (size_t i = 0; i < settings->count; i++) {
		const struct setting *setting = &settings->items[i];

		spots[count++] =
			(struct spot){ setting->key, strlen(setting->key),
				       setting->start };
	}
	for (size_t i = 0; i < reader->place_count; i++) {
		const struct settings_place *place = &reader->places[i];

		spots[count++] =
			(struct spot){ place->path, strlen(place->path),
				       place->at };
	}
	qsort(spots, count, sizeof(*spots), compare_spots);
	for (size_t i = 0; i < count; i++) {
		if (kept && compare_paths(&spots[kept - 1], &spots[i]) == 0)
			kept--;
		spots[kept++] = spots[i];
	}
	return kept;
}

static size_t last_value_at(const struct spot *spots, size_t count,
			    const char *path, size_t length)
{
	struct spot wanted = { path, length, 0 };
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int order = compare_paths(&spots[middle], &wanted);

		if (order == 0)
			return spots[middle].at;
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return 0;
}

/* Deeper than a value can be, dots are of the key itself. */
static bool is_gone(const struct spot *spots, size_t count,
		    const struct setting *setting)
{
	unsigned parts = 0;

	for (size_t i = 1; setting->key[i] && parts < 2 * SETTINGS_DEPTH_MAX;
	     i++) {
		if (setting->key[i] != '.' && setting->key[i] != '[')
			continue;
		parts++;
		if (last_value_at(spots, count, setting->key, i) >
		    setting->start)
			return true;
	}
	return false;
}

void settings_mark_gone(struct settings_reader *reader)
{
	struct settings *settings = reader->settings;
	struct spot *spots;
	size_t count;

	spots = xcalloc(settings->count + reader->place_count, sizeof(*spots));
	count = collect_spots(reader, spots);
	for (size_t i = 0; i < settings->count; i++) {
		struct setting *setting = &settings->items[i];

		if (setting->key[0] && is_gone(spots, count, setting))
			setting->is_scalar = false;
	}
	free(spots);
}

void settings_reader_release(struct settings_reader *reader)
{
	for (size_t i = 0; i < reader->place_count; i++)
		free(reader->places[i].path);
	free(reader->places);
	strbuf_release(&reader->path);
}
