/* Knobs that are literals of the script, or of a module of it. Pure. */
/* SPDX-License-Identifier: MIT */
/*
 * Where no option, no variable and no config file says a size, the script may
 * say it itself: BATCH_SIZE = 32. Then a copy of the script can be run instead,
 * in which only these digits are others. The same of a module that it imports
 * from its own folder, where the user names the place: what else uses that is
 * not known.
 */
#include "launcher/command/knobs/knob_literal.h"

#include "base/alloc.h"
#include "base/strbuf.h"
#include "launcher/command/files/source_literals.h"
#include "launcher/command/knobs/by_class.h"
#include "launcher/command/modules/module_files.h"
#include "launcher/command/text/command_outcome.h"
#include "launcher/command/text/names.h"

#include <stdlib.h>
#include <string.h>

/* More than these are not told apart in one line anyway. */
#define LITERALS_MAX 8

struct knob_literals {
	const struct recognition *r;
	unsigned classes;
	const char *name; /* as the user names it; NULL: by the words */
	const struct named_file *file; /* that is looked into now */
	const struct named_file *files[LITERALS_MAX];
	struct source_literal items[LITERALS_MAX];
	bool is_aside[LITERALS_MAX];
	size_t count;
	bool any_of_other; /* some train nothing: an evaluation, data.map() */
};

/* "train.py:7", of the name that messages give the file. */
static bool is_at_line(const struct named_file *file,
		       const struct source_literal *literal, const char *name)
{
	const char *path = file->path;
	char *place = xasprintf("%s:%u", path, literal->line);
	bool found =
		strcmp(place, name) == 0 || strcmp(basename(place), name) == 0;

	free(place);
	return found;
}

static bool literal_is_wanted(const struct knob_literals *found,
			      const struct source_literal *literal)
{
	const struct strlist *decoys = &found->r->command->preset->knobs.decoys;

	bool may_be =
		(found->classes & CLASS_BIT(literal->class)) &&
		!name_is_decoy(decoys, literal->name, literal->name_length);

	if (!found->name)
		return may_be;
	return (may_be && is_at_line(found->file, literal, found->name)) ||
	       name_equal(literal->name, literal->name_length, found->name,
			  strlen(found->name));
}

/* A source_literal_visit. */
static void literal_note(void *context, const struct source_literal *literal)
{
	struct knob_literals *found = context;

	if (found->count == LITERALS_MAX || !literal_is_wanted(found, literal))
		return;
	if (!found->name && source_literal_is_of_other(literal)) {
		found->any_of_other = true;
		return;
	}
	found->is_aside[found->count] = source_literal_is_aside(literal);
	found->files[found->count] = found->file;
	found->items[found->count++] = *literal;
}

typedef bool literal_is_out(const struct knob_literals *found, size_t at);

static void literals_drop(struct knob_literals *found, literal_is_out *is_out)
{
	bool out[LITERALS_MAX];
	size_t kept = 0;

	for (size_t i = 0; i < found->count; i++)
		out[i] = is_out(found, i);
	for (size_t i = 0; i < found->count; i++) {
		if (out[i])
			continue;
		found->files[kept] = found->files[i];
		found->is_aside[kept] = found->is_aside[i];
		found->items[kept++] = found->items[i];
	}
	found->count = kept;
}

static bool literal_stands_aside(const struct knob_literals *found, size_t at)
{
	return found->is_aside[at];
}

/* One that stands in an evaluation counts where the user names it alone. */
static void literals_drop_aside(struct knob_literals *found)
{
	size_t count = found->count;

	if (found->name && count < 2)
		return;
	literals_drop(found, literal_stands_aside);
	found->any_of_other |= found->count < count;
}

/* A default of the same name as a number that the file gives elsewhere: of def
 * f(batch_size=16), called as f(batch_size=4), the call counts. */
static bool literal_is_overridden(const struct knob_literals *found, size_t at)
{
	const struct source_literal *literal = &found->items[at];
	bool is_given = false;

	for (size_t i = 0; literal->is_parameter && i < found->count; i++)
		is_given |= !found->items[i].is_parameter &&
			    found->files[i] == found->files[at] &&
			    name_equal(literal->name, literal->name_length,
				       found->items[i].name,
				       found->items[i].name_length);
	return is_given;
}

/* A "virtual" batch that is smaller than the batch: a norm's, say. */
static bool literal_is_part(const struct knob_literals *found, size_t at)
{
	const struct source_literal *literal = &found->items[at];
	bool is_part = false;

	for (size_t i = 0; literal->class == OPTION_GLOBAL && i < found->count;
	     i++)
		is_part |= found->items[i].class == OPTION_BATCH &&
			   found->items[i].value > literal->value;
	return is_part && literal->value;
}

/* Does another one stand in its line? */
static bool literal_shares_line(const struct knob_literals *found, size_t at)
{
	bool shares = false;

	for (size_t i = 0; i < found->count; i++)
		shares |= i != at &&
			  found->items[i].line == found->items[at].line;
	return shares;
}

static const char *literal_flag(enum knob_kind kind)
{
	return kind == KNOB_ACCUM    ? "--accum-flag"
	       : kind == KNOB_GLOBAL ? "--global-flag"
				     : "--micro-flag";
}

/* One of two is a larger batch, by its name: the way that names both. NULL:
 * they are no pair, or share a line. The caller frees. */
static char *literal_pair(const struct knob_literals *found)
{
	const struct source_literal *a = &found->items[0],
				    *b = &found->items[1];
	bool is_first = a->class == OPTION_GLOBAL;
	const struct source_literal *micro = is_first ? b : a;
	const struct source_literal *global = is_first ? a : b;

	if (found->count != 2 || global->class != OPTION_GLOBAL ||
	    micro->class == OPTION_GLOBAL || a->line == b->line)
		return NULL;
	return xasprintf("--micro-flag %s:%u --global-flag %s:%u",
			 basename(found->files[is_first]->path), micro->line,
			 basename(found->files[!is_first]->path), global->line);
}

static enum command_outcome literal_ask(const struct knob_literals *found,
					enum knob_kind kind)
{
	const struct recognition *r = found->r;
	struct strbuf places = STRBUF_INIT, ways = STRBUF_INIT;
	enum command_outcome outcome;
	char *pair = kind == KNOB_MICRO ? literal_pair(found) : NULL;

	for (size_t i = 0; i < found->count; i++) {
		const struct source_literal *literal = &found->items[i];
		const char *script = basename(found->files[i]->path);
		bool is_last = i + 1 == found->count;

		strbuf_adds(&places, i == 0 ? "" : is_last ? " and " : ", ");
		strbuf_addf(&places, "%s:%u %.*s", script, literal->line,
			    (int)literal->name_length, literal->name);
		strbuf_addf(&ways, "%s%s ", i == 0 ? "" : " or ",
			    literal_flag(kind));
		if (literal_shares_line(found, i))
			strbuf_add(&ways, literal->name, literal->name_length);
		else
			strbuf_addf(&ways, "%s:%u", script, literal->line);
	}
	outcome = not_recognised(
		r, "each of %s may be the %s, and no argument sets it: add %s",
		strbuf_text(&places), knob_words(kind),
		pair ? pair : strbuf_text(&ways));
	free(pair);
	strbuf_release(&places);
	strbuf_release(&ways);
	return outcome;
}

/* The one that was found. */
static enum command_outcome literal_take(struct recognition *r,
					 enum knob_kind kind,
					 const struct knob_literals *found)
{
	struct knob *knob = &r->command->knobs[kind];
	const struct source_literal *literal = &found->items[0];
	const struct named_file *file = found->files[0];
	char path[BRIEF_MAX];

	(void)argument_brief(path, file->path);
	if (literal->value == 0)
		return not_recognised(
			r,
			"%s:%u sets %.*s to more than a plain whole number, so "
			"the %s is not known: write the number",
			path, literal->line, (int)literal->name_length,
			literal->name, knob_words(kind));
	if (file->text.length >= SOURCE_BYTES_MAX)
		return not_recognised(
			r,
			"%s:%u sets %.*s, and %s is too long to be copied: "
			"let %.*s be an option of it",
			path, literal->line, (int)literal->name_length,
			literal->name, path, (int)literal->name_length,
			literal->name);
	*knob = (struct knob){
		.form = KNOB_SOURCE,
		.scope = knob->scope,
		.index = NO_INDEX,
		.source = file,
		.offset = literal->start,
		.end = literal->end,
		.value = literal->value,
		.unit = preset_knob(r->command->preset, kind)->unit
	};
	knob->name = xstrndup(literal->name, literal->name_length);
	knob->evidence = xasprintf("%s:%u", path, literal->line);
	return COMMAND_OK;
}

static void literals_visit_file(struct knob_literals *found,
				const struct named_file *file)
{
	found->file = file;
	source_literals_visit(strbuf_text(&file->text), literal_note, found);
}

/* A module_file_visit. */
static void literals_visit_module(void *context, struct named_file *file,
				  const struct source_import *import)
{
	(void)import;
	literals_visit_file(context, file);
}

static void literals_collect_modules(struct knob_literals *found)
{
	module_files_visit(found->r, literals_visit_module, found);
	literals_drop_aside(found);
}

/*
 * Of the script; beside a batch size that is named of a module of that as well.
 */
static void literals_collect(struct knob_literals *found, enum knob_kind kind)
{
	const struct recognition *r = found->r;
	const struct knob *micro = &r->command->knobs[KNOB_MICRO];
	enum settings_format format;

	if (r->script && r->text) {
		found->file = r->script;
		source_literals_visit(r->text, literal_note, found);
	}
	if (kind == KNOB_ACCUM && micro->form == KNOB_SOURCE &&
	    micro->source != r->script &&
	    settings_format_of(micro->source->path, &format) &&
	    format == SETTINGS_PYTHON)
		literals_visit_file(found, micro->source);
	literals_drop_aside(found);
	literals_drop(found, literal_is_overridden);
	if (!found->name)
		literals_drop(found, literal_is_part);
}

/* Nothing but accumulations of 1: there is none. */
static bool says_nothing(const struct knob_literals *found)
{
	for (size_t i = 0; i < found->count; i++)
		if (found->items[i].value != 1)
			return false;
	return true;
}

enum command_outcome knob_literal_find(struct recognition *r,
				       enum knob_kind kind, bool *all_of_other)
{
	struct knob_literals found = { .r = r,
				       .classes = by_class_of_knob(kind) };
	bool is_beside = r->command->knobs[KNOB_MICRO].form == KNOB_SOURCE;

	literals_collect(&found, kind);
	*all_of_other = found.count == 0 && found.any_of_other;
	if (found.count == 0 ||
	    (kind == KNOB_ACCUM && !is_beside && says_nothing(&found)))
		return COMMAND_OK;
	return found.count > 1 ? literal_ask(&found, kind)
			       : literal_take(r, kind, &found);
}

enum command_outcome knob_literal_by_name(struct recognition *r,
					  enum knob_kind kind, const char *name)
{
	enum knob_kind like = kind == KNOB_GLOBAL ? KNOB_MICRO : kind;
	struct knob_literals found = { .r = r,
				       .classes = by_class_of_knob(like),
				       .name = name };

	literals_collect(&found, kind);
	if (found.count == 0)
		literals_collect_modules(&found);
	if (found.count == 0)
		return COMMAND_OK;
	return found.count > 1 ? literal_ask(&found, kind)
			       : literal_take(r, kind, &found);
}

char *knob_literals_of_modules(const struct recognition *r, enum knob_kind kind)
{
	struct knob_literals found = { .r = r,
				       .classes = by_class_of_knob(kind) };
	struct strbuf words = STRBUF_INIT;
	char path[BRIEF_MAX];

	literals_collect_modules(&found);
	if (found.count == 0)
		return NULL;
	for (size_t i = 0; i < found.count; i++)
		strbuf_addf(&words, "%s%s:%u %.*s", i == 0 ? "" : " or ",
			    argument_brief(path, found.files[i]->path),
			    found.items[i].line,
			    (int)found.items[i].name_length,
			    found.items[i].name);
	strbuf_addf(&words, ", add %s %s:%u", literal_flag(kind),
		    argument_brief(path, found.files[0]->path),
		    found.items[0].line);
	return strbuf_detach(&words);
}

static unsigned line_at(const char *text, size_t at)
{
	unsigned line = 1;

	for (size_t i = 0; i < at; i++)
		line += text[i] == '\n';
	return line;
}

bool knob_literal_of_shell(struct recognition *r, enum knob_kind kind)
{
	struct command *command = r->command;
	const struct shell_expansion *expansion = &command->view.expansion;
	struct knob *knob = &command->knobs[kind];
	const struct word *word = &expansion->words[knob->index];
	const struct named_file *script =
		named_files_get(r->texts, expansion->script);
	const char *value =
		command_argv(command)->items[knob->index] + knob->offset;
	size_t start =
		word->literal_start + knob->offset - word->literal_offset;

	if (word->literal_end == 0 || knob->offset < word->literal_offset ||
	    !script || script->text.length >= SOURCE_BYTES_MAX ||
	    word->literal_end > script->text.length)
		return false;
	/* As a whole what is computed gives way to a number. */
	if (word->is_computed
		    ? knob->offset != word->literal_offset
		    : word->literal_end - start != strlen(value) ||
			      memcmp(strbuf_text(&script->text) + start, value,
				     strlen(value)) != 0)
		return false;
	knob->form = KNOB_SOURCE;
	knob->source = script;
	knob->is_computed = word->is_computed;
	knob->offset = start;
	knob->end = word->literal_end;
	free(knob->evidence);
	knob->evidence = xasprintf("%s:%u", expansion->script,
				   line_at(strbuf_text(&script->text), start));
	return true;
}
