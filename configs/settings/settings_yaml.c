/* The scalars of YAML, and of JSON, and the bytes they are in. */
/* SPDX-License-Identifier: MIT */
#include "base/alloc.h"
#include "base/strlist.h"
#include "configs/settings/settings.h"
#include "configs/settings/settings_internal.h"

#include <assert.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <yaml.h>

/* An anchor's items, from first to before end. */
struct settings_anchor {
	char *name;
	size_t first, end;
};

struct settings_anchors {
	struct settings_anchor *items;
	size_t count, capacity;
	struct strlist aliases; /* the names that were asked for */
};

#define NO_ANCHOR SIZE_MAX

/* The node that begins has this anchor, or none (NULL). For the end of it. */
static size_t settings_anchor_begin(struct settings_anchors *anchors,
				    const char *name, size_t first)
{
	if (!name)
		return NO_ANCHOR;
	anchors->items = xgrow(anchors->items, anchors->count,
			       &anchors->capacity, sizeof(*anchors->items));
	anchors->items[anchors->count] = (struct settings_anchor){
		.name = xstrdup(name),
		.first = first,
	};
	return anchors->count++;
}

static void settings_anchor_end(struct settings_anchors *anchors, size_t anchor,
				size_t end)
{
	if (anchor != NO_ANCHOR)
		anchors->items[anchor].end = end;
}

static int yaml_compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* What an aliased anchor names is no scalar of its own. */
static void settings_mark_aliased(struct settings *settings,
				  struct settings_anchors *anchors)
{
	struct strlist *aliases = &anchors->aliases;

	if (!aliases->count)
		return;
	qsort(aliases->items, aliases->count, sizeof(*aliases->items),
	      yaml_compare_names);
	for (size_t i = 0; i < anchors->count; i++) {
		const struct settings_anchor *anchor = &anchors->items[i];

		if (!bsearch(&anchor->name, aliases->items, aliases->count,
			     sizeof(*aliases->items), yaml_compare_names))
			continue;
		for (size_t j = anchor->first; j < anchor->end; j++)
			settings->items[j].is_scalar = false;
	}
}

static void settings_anchors_release(struct settings_anchors *anchors)
{
	for (size_t i = 0; i < anchors->count; i++)
		free(anchors->items[i].name);
	free(anchors->items);
	strlist_release(&anchors->aliases);
}

/* A mapping or sequence that is not at its end. */
struct frame {
	bool is_mapping;
	bool wants_key;
	/* No value in it is certain: of this key; of any. */
	bool is_key_doubtful, is_doubtful;
	size_t path_length;
	size_t index;
	size_t anchor;
};

struct yaml {
	struct settings_reader *reader;
	/* The character of the text that begins at a byte. */
	size_t character, byte, end;
	struct frame frames[SETTINGS_DEPTH_MAX];
	size_t depth;
	size_t key_depth; /* of what is inside a key, and not read */
	struct settings_anchors anchors;
	unsigned documents;
};

/* Is the byte inside a character? UTF-8 was checked by libyaml. */
static bool continues(const struct yaml *yaml, size_t byte)
{
	return ((unsigned char)yaml->reader->text[byte] & 0xc0) == 0x80;
}

/* libyaml's marks count characters. They are asked for mostly in order. */
static size_t byte_of(struct yaml *yaml, size_t character)
{
	while (yaml->character < character && yaml->byte < yaml->end) {
		yaml->byte++;
		while (yaml->byte < yaml->end && continues(yaml, yaml->byte))
			yaml->byte++;
		yaml->character++;
	}
	while (yaml->character > character) {
		yaml->byte--;
		while (continues(yaml, yaml->byte))
			yaml->byte--;
		yaml->character--;
	}
	return yaml->byte;
}

/* Behind a tag or an anchor, which the event begins with. */
static bool is_apart(const char *text, size_t start, const yaml_event_t *event)
{
	return (event->data.scalar.tag || event->data.scalar.anchor) &&
	       strchr(" \t\r\n", text[start - 1]);
}

static bool is_quoted_by(const char *text, const struct settings_piece *piece,
			 char quote)
{
	return text[piece->start] == quote && text[piece->end - 1] == quote;
}

/*
 * The event's mark is before its tag and anchor, so the value is looked for
 * from its end. Only bytes that are the value as they stand are certain.
 */
static struct settings_piece yaml_locate(struct yaml *yaml,
					 const yaml_event_t *event)
{
	const char *value = (const char *)event->data.scalar.value;
	yaml_scalar_style_t style = event->data.scalar.style;
	size_t length = event->data.scalar.length;
	size_t quotes = style == YAML_PLAIN_SCALAR_STYLE ? 0 : 1;
	size_t whole = length + 2 * quotes;
	struct settings_piece piece = {
		.start = byte_of(yaml, event->start_mark.index),
		.end = byte_of(yaml, event->end_mark.index),
	};
	struct settings_piece inner = piece;

	if (length == 0 || whole > piece.end - piece.start ||
	    strcspn(value, "'\"\\\r\n") != length)
		return piece;
	inner.start = piece.end - whole;
	if (memcmp(yaml->reader->text + inner.start + quotes, value, length) !=
		    0 ||
	    (inner.start != piece.start &&
	     !is_apart(yaml->reader->text, inner.start, event)))
		return piece;
	inner.is_scalar = style == YAML_PLAIN_SCALAR_STYLE ||
			  (style == YAML_SINGLE_QUOTED_SCALAR_STYLE &&
			   is_quoted_by(yaml->reader->text, &inner, '\'')) ||
			  (style == YAML_DOUBLE_QUOTED_SCALAR_STYLE &&
			   is_quoted_by(yaml->reader->text, &inner, '"'));
	return inner.is_scalar ? inner : piece;
}

static size_t anchor_begin(struct yaml *yaml, const yaml_char_t *name)
{
	return settings_anchor_begin(&yaml->anchors, (const char *)name,
				     yaml->reader->settings->count);
}

static void anchor_end(struct yaml *yaml, size_t anchor)
{
	settings_anchor_end(&yaml->anchors, anchor,
			    yaml->reader->settings->count);
}

/* The collection that is open; there is one. */
static struct frame *top(struct yaml *yaml)
{
	assert(yaml->depth);
	return &yaml->frames[yaml->depth - 1];
}

static bool awaits_key(struct yaml *yaml)
{
	return yaml->key_depth || (yaml->depth && top(yaml)->wants_key);
}

static int take_key(struct yaml *yaml, const char *key, size_t length,
		    bool is_doubtful)
{
	struct frame *frame = top(yaml);
	bool is_merge = length == 2 && memcmp(key, "<<", 2) == 0;

	settings_path_cut(&yaml->reader->path, frame->path_length);
	settings_path_key(&yaml->reader->path, key, length);
	frame->wants_key = false;
	frame->is_key_doubtful = is_doubtful || is_merge;
	return 0;
}

/* Before a value that is no key: its path. */
static bool begin_value(struct yaml *yaml)
{
	struct frame *frame;

	if (!yaml->depth)
		return false;
	frame = top(yaml);
	if (!frame->is_mapping) {
		settings_path_cut(&yaml->reader->path, frame->path_length);
		settings_path_index(&yaml->reader->path, frame->index++);
	}
	return frame->is_doubtful || frame->is_key_doubtful;
}

static void end_value(struct yaml *yaml)
{
	if (yaml->depth && top(yaml)->is_mapping)
		top(yaml)->wants_key = true;
}

static int on_key_scalar(struct yaml *yaml, const yaml_event_t *event)
{
	const char *key = (const char *)event->data.scalar.value;
	size_t length = event->data.scalar.length;

	if (memchr(key, '\0', length))
		return settings_fail(yaml->reader,
				     byte_of(yaml, event->start_mark.index),
				     "there is a NUL byte in a key");
	return take_key(yaml, key, length, false);
}

static int on_scalar(struct yaml *yaml, const yaml_event_t *event)
{
	const char *value = (const char *)event->data.scalar.value;
	const char *tag = (const char *)event->data.scalar.tag;
	size_t length = event->data.scalar.length;
	bool is_plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
	struct settings_piece piece;
	size_t anchor;
	int result;

	if (yaml->key_depth)
		return 0;
	if (awaits_key(yaml))
		return on_key_scalar(yaml, event);
	piece = yaml_locate(yaml, event);
	if (begin_value(yaml) || (tag && !settings_is_yaml_number_tag(tag)) ||
	    (is_plain && settings_is_yaml_octal(value)))
		piece.is_scalar = false;
	anchor = anchor_begin(yaml, event->data.scalar.anchor);
	if (is_plain && !tag && settings_is_yaml_null(value))
		length = 0;
	result = settings_add(yaml->reader, &piece, value, length);
	anchor_end(yaml, anchor);
	end_value(yaml);
	return result;
}

static int on_alias(struct yaml *yaml, const yaml_event_t *event)
{
	size_t start = byte_of(yaml, event->start_mark.index);
	size_t end = byte_of(yaml, event->end_mark.index);
	int result;

	strlist_add(&yaml->anchors.aliases,
		    (const char *)event->data.alias.anchor);
	if (yaml->key_depth)
		return 0;
	if (awaits_key(yaml))
		return take_key(yaml, yaml->reader->text + start, end - start,
				true);
	(void)begin_value(yaml);
	result = settings_add_source(yaml->reader, start, end, false);
	end_value(yaml);
	return result;
}

static int on_start(struct yaml *yaml, const yaml_event_t *event,
		    bool is_mapping, const yaml_char_t *anchor)
{
	struct settings_reader *reader = yaml->reader;
	size_t start = byte_of(yaml, event->start_mark.index);
	struct frame frame = { .is_mapping = is_mapping };
	int result;

	if (awaits_key(yaml)) {
		if (yaml->depth + ++yaml->key_depth > SETTINGS_DEPTH_MAX)
			return settings_fail(reader, start,
					     "it is nested too deep");
		return 0;
	}
	frame.is_doubtful = begin_value(yaml);
	result = settings_enter(reader, start);
	if (result < 0)
		return result;
	frame.wants_key = is_mapping;
	frame.path_length = reader->path.length;
	frame.anchor = anchor_begin(yaml, anchor);
	yaml->frames[yaml->depth++] = frame;
	return 0;
}

static int yaml_on_end(struct yaml *yaml)
{
	struct frame *frame = top(yaml);

	if (yaml->key_depth) {
		if (--yaml->key_depth == 0)
			return take_key(yaml, "?", 1, true);
		return 0;
	}
	settings_path_cut(&yaml->reader->path, frame->path_length);
	anchor_end(yaml, frame->anchor);
	settings_leave(yaml->reader);
	yaml->depth--;
	end_value(yaml);
	return 0;
}

static int on_event(struct yaml *yaml, const yaml_event_t *event)
{
	switch (event->type) {
	case YAML_SCALAR_EVENT:
		return on_scalar(yaml, event);
	case YAML_ALIAS_EVENT:
		return on_alias(yaml, event);
	case YAML_MAPPING_START_EVENT:
		return on_start(yaml, event, true,
				event->data.mapping_start.anchor);
	case YAML_SEQUENCE_START_EVENT:
		return on_start(yaml, event, false,
				event->data.sequence_start.anchor);
	case YAML_MAPPING_END_EVENT:
	case YAML_SEQUENCE_END_EVENT:
		return yaml_on_end(yaml);
	case YAML_DOCUMENT_START_EVENT:
		yaml->documents++;
		settings_path_cut(&yaml->reader->path, 0);
		return 0;
	case YAML_NO_EVENT:
	case YAML_STREAM_START_EVENT:
	case YAML_STREAM_END_EVENT:
	case YAML_DOCUMENT_END_EVENT:
		break;
	}
	return 0;
}

static int fail_parser(struct yaml *yaml, const yaml_parser_t *parser,
		       size_t start)
{
	size_t at = parser->error == YAML_READER_ERROR
			    ? start + parser->problem_offset
			    : byte_of(yaml, parser->problem_mark.index);

	if (parser->error == YAML_MEMORY_ERROR)
		return error_set_errno(yaml->reader->err, -ENOMEM,
				       "cannot read %s", yaml->reader->name);
	return settings_fail(yaml->reader, at,
			     parser->problem ? parser->problem
					     : "it is not YAML");
}

static int yaml_parse(struct yaml *yaml, yaml_parser_t *parser, size_t start)
{
	bool is_end = false;
	int result = 0;

	while (result == 0 && !is_end) {
		yaml_event_t event;

		if (!yaml_parser_parse(parser, &event))
			return fail_parser(yaml, parser, start);
		is_end = event.type == YAML_STREAM_END_EVENT ||
			 event.type == YAML_NO_EVENT;
		result = on_event(yaml, &event);
		yaml_event_delete(&event);
	}
	return result;
}

/* From byte start on. Its first character is then number 0. */
static int parse_input(struct yaml *yaml, size_t start, size_t end)
{
	yaml_parser_t parser;
	int result;

	yaml->byte = start;
	yaml->end = end;
	if (!yaml_parser_initialize(&parser))
		return error_set_errno(yaml->reader->err, -ENOMEM,
				       "cannot read %s", yaml->reader->name);
	yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(
		&parser, (const unsigned char *)yaml->reader->text + start,
		end - start);
	result = yaml_parse(yaml, &parser, start);
	yaml_parser_delete(&parser);
	return result;
}

/* Which document counts is up to the program. */
static void mark_documents(struct yaml *yaml)
{
	struct settings *settings = yaml->reader->settings;

	for (size_t i = 0; yaml->documents > 1 && i < settings->count; i++)
		settings->items[i].is_scalar = false;
}

int settings_read_yaml(struct settings_reader *reader)
{
	struct yaml yaml = { .reader = reader };
	int result = settings_check_directives(reader);

	if (result < 0)
		return result;
	settings_skip_bom(reader);
	result = parse_input(&yaml, reader->at, reader->length);
	settings_mark_aliased(reader->settings, &yaml.anchors);
	mark_documents(&yaml);
	settings_anchors_release(&yaml.anchors);
	return result;
}
