/* Copies of scripts with other literals in them. Pure. */
/* SPDX-License-Identifier: MIT */
#include "launcher/command/rewrite/rewrite_internal.h"

#include "base/alloc.h"
#include "base/hash.h"
#include "base/strbuf.h"
#include "launcher/command/files/named_files.h"

#include <stdlib.h>
#include <string.h>

/* New digits for the literal of a knob. */
struct source_edit {
	const struct knob *knob;
	char *value; /* NULL: as it is */
};

/* Those of one script, in the order of its text. */
struct source_edits {
	struct source_edit items[KNOB_KINDS];
	size_t count;
};

static void edits_add(struct source_edits *edits, const struct knob *knob,
		      char *value)
{
	size_t at = edits->count++;

	for (; at > 0 && edits->items[at - 1].knob->offset > knob->offset; at--)
		edits->items[at] = edits->items[at - 1];
	edits->items[at] = (struct source_edit){ knob, value };
}

static bool is_to_edit(const struct knob *knob,
		       const struct command_values *values)
{
	return knob->form == KNOB_SOURCE &&
	       !(knob->is_computed && values->leaves_computed);
}

static void edits_find(struct source_edits *edits,
		       const struct command *command,
		       const struct command_values *values,
		       const struct named_file *source)
{
	for (int kind = 0; kind <= KNOB_GLOBAL; kind++) {
		const struct knob *knob = &command->knobs[kind];
		char *value;

		if (!is_to_edit(knob, values) || knob->source != source)
			continue;
		value = knob_new_value(command, (enum knob_kind)kind, values);
		if (value)
			edits_add(edits, knob, value);
	}
}

static void edits_release(struct source_edits *edits)
{
	for (size_t i = 0; i < edits->count; i++)
		free(edits->items[i].value);
}

static void edits_write(const struct source_edits *edits,
			const struct named_file *source, struct strbuf *out)
{
	const char *text = strbuf_text(&source->text);
	size_t done = 0;

	for (size_t i = 0; i < edits->count; i++) {
		const struct source_edit *edit = &edits->items[i];

		strbuf_add(out, text + done, edit->knob->offset - done);
		strbuf_adds(out, edit->value);
		done = edit->knob->end;
	}
	strbuf_add(out, text + done, source->text.length - done);
}

static void source_copy_add(struct rewrite *rewrite,
			    const struct named_file *source,
			    struct strbuf *text, const char *copies)
{
	unsigned long long hash = hash_bytes(strbuf_text(text), text->length);
	struct file_copy *copy;

	rewrite->copies = xrealloc(rewrite->copies, rewrite->copy_count + 1,
				   sizeof(*rewrite->copies));
	copy = &rewrite->copies[rewrite->copy_count++];
	*copy = (struct file_copy){
		.original = xstrdup(source->path),
		.path = xasprintf("%s/.autofit-%016llx-%s",
				  copies ? copies : ".", hash,
				  basename(source->path)),
		.covers = true,
		.length = text->length,
	};
	copy->text = strbuf_detach(text);
}

const struct knob *command_source_find(const struct command *command,
				       const char *path)
{
	for (int kind = 0; kind <= KNOB_GLOBAL; kind++) {
		const struct knob *knob = &command->knobs[kind];

		if (knob->source && strcmp(knob->source->path, path) == 0)
			return knob;
	}
	return NULL;
}

static bool is_of_knob(const struct command *command,
		       const struct named_file *source, size_t at)
{
	for (int kind = 0; kind <= KNOB_GLOBAL; kind++) {
		const struct knob *knob = &command->knobs[kind];

		if (knob->form == KNOB_SOURCE && knob->source == source &&
		    at >= knob->offset && at < knob->end)
			return true;
	}
	return false;
}

uint64_t command_source_hash(const struct command *command,
			     const struct named_file *source)
{
	const char *text = strbuf_text(&source->text);
	uint64_t hash = HASH_START;

	for (size_t i = 0; i < source->text.length; i++)
		if (!is_of_knob(command, source, i))
			hash = hash_byte(hash, text[i]);
	return hash;
}

void sources_make(const struct command *command,
		  const struct command_values *values, struct rewrite *rewrite)
{
	for (int kind = 0; kind <= KNOB_GLOBAL; kind++) {
		const struct named_file *source = command->knobs[kind].source;
		struct source_edits edits = { .count = 0 };
		struct strbuf text = STRBUF_INIT;

		if (!source || command_source_find(command, source->path) !=
				       &command->knobs[kind])
			continue;
		edits_find(&edits, command, values, source);
		if (edits.count) {
			edits_write(&edits, source, &text);
			source_copy_add(rewrite, source, &text, values->copies);
		}
		edits_release(&edits);
		strbuf_release(&text);
	}
}

size_t source_line_number(const struct knob *knob)
{
	const char *text = strbuf_text(&knob->source->text);
	size_t number = 1;

	for (size_t i = 0; i < knob->offset; i++)
		number += text[i] == '\n';
	return number;
}

/* "train.py:7: " and the whole line, as it is to be written. */
static char *source_line_of(const struct source_edits *edits,
			    const struct knob *knob)
{
	struct strbuf text = STRBUF_INIT;
	const char *line;
	char *words;
	size_t number = source_line_number(knob);

	edits_write(edits, knob->source, &text);
	line = strbuf_text(&text);
	/* No edit makes a line: the same number is the same line. */
	for (size_t i = 1; i < number; i++)
		line = strchr(line, '\n') + 1;
	line += strspn(line, " \t");
	words = xasprintf("%s:%zu: %.*s", knob->source->path, number,
			  (int)strcspn(line, "\r\n"), line);
	strbuf_release(&text);
	return words;
}

void command_source_lines(const struct command *command,
			  const struct command_values *values,
			  struct strlist *out)
{
	for (int kind = 0; kind <= KNOB_GLOBAL; kind++) {
		const struct knob *knob = &command->knobs[kind];
		struct source_edits edits = { .count = 0 };
		char *line;

		if (!is_to_edit(knob, values))
			continue;
		edits_find(&edits, command, values, knob->source);
		line = source_line_of(&edits, knob);
		/* Two literals on one line are one line to write. */
		if (strlist_find(out, line) == out->count)
			strlist_add(out, line);
		free(line);
		edits_release(&edits);
	}
}

const char *copy_original(const struct command *command,
			  const struct file_copy *copy)
{
	const struct knob *knob =
		copy->covers ? command_source_find(command, copy->original)
			     : NULL;

	if (knob)
		return strbuf_text(&knob->source->text);
	for (size_t i = 0; i < command->file_count; i++)
		if (strcmp(command->files[i].read->path, copy->original) == 0)
			return strbuf_text(&command->files[i].read->text);
	return "";
}
