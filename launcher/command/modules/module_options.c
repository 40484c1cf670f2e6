/* Options that modules of the script declare. Pure. */
/* SPDX-License-Identifier: MIT */
#include "launcher/command/modules/module_options.h"

#include "base/match.h"
#include "base/strbuf.h"
#include "launcher/command/files/source_options.h"
#include "launcher/command/files/source_parsers.h"
#include "launcher/command/modules/module_files.h"
#include "launcher/command/modules/source_reach.h"
#include "launcher/command/parts/subcommand.h"

#include <string.h>

/* Modules that are looked into; and in how many steps from the script. */
#define PARTS_MAX 32
#define STEPS_MAX 3
/* Bytes that are looked through for that. */
#define LOOKED_BYTES_MAX ((size_t)2 << 20)

/* What is reached of a module. */
struct module_part {
	const struct named_file *file;
	struct strbuf reached;
	unsigned step;
	unsigned line; /* the first of it in all text; 0: it is not there */
};

struct module_parts {
	const struct recognition *r;
	struct module_part items[PARTS_MAX];
	size_t count;
	const char *user; /* whose imports are followed now */
	unsigned step;    /* of what it imports */
	size_t looked_bytes;
};

static bool part_is_there(const struct module_parts *parts,
			  const struct named_file *file)
{
	for (size_t i = 0; i < parts->count; i++)
		if (parts->items[i].file == file)
			return true;
	return file == parts->r->script;
}

/* A module_file_visit. */
static void part_add(void *context, struct named_file *file,
		     const struct source_import *import)
{
	struct module_parts *parts = context;
	struct strbuf reached = STRBUF_INIT;

	if (parts->count == PARTS_MAX || part_is_there(parts, file) ||
	    parts->looked_bytes > LOOKED_BYTES_MAX)
		return;
	parts->looked_bytes += file->text.length + strlen(parts->user);
	if (source_reach(&reached, strbuf_text(&file->text), parts->user,
			 import))
		parts->items[parts->count++] = (struct module_part){
			.file = file, .reached = reached, .step = parts->step
		};
	else
		strbuf_release(&reached);
}

/* Step by step: what the script imports first. */
static void parts_find(struct module_parts *parts)
{
	parts->user = parts->r->text;
	parts->step = 1;
	module_files_visit(parts->r, part_add, parts);
	for (size_t i = 0; i < parts->count; i++) {
		const struct module_part *part = &parts->items[i];
		const struct module_user user = {
			.r = parts->r,
			.text = strbuf_text(&part->file->text),
			.path = part->file->path,
		};

		if (part->step == STEPS_MAX)
			continue;
		parts->user = strbuf_text(&part->reached);
		parts->step = part->step + 1;
		module_files_visit_of(&user, part_add, parts);
	}
}

/* Are fields and parameters of classes options for one of them? */
static bool parts_have_classes(const struct module_parts *parts)
{
	bool found = source_parsers_take_fields(parts->r->text);

	for (size_t i = 0; !found && i < parts->count; i++)
		found = source_parsers_take_fields(
			strbuf_text(&parts->items[i].reached));
	return found;
}

static bool parses_words(const char *text)
{
	return strstr(text, ".parse_args(") ||
	       strstr(text, ".parse_known_args(");
}

/* May it declare options of the script? What parses words itself has a parser
 * of its own, where the script has one. */
static bool part_declares(const struct module_parts *parts, const char *reached,
			  bool has_classes)
{
	/* Flags are those of any module, where the script has some at all. */
	if (strstr(reached, "DEFINE_") && strstr(parts->r->text, "app.run("))
		return true;
	return (has_classes || strstr(reached, "add_argument(") ||
		strstr(reached, ".option(")) &&
	       !(parses_words(parts->r->text) && parses_words(reached));
}

/* Each part that may declare an option, and behind them the script, which may
 * change what they declared: the first line of that; 0: there is no such part.
 * The script is never cut for them. */
static unsigned parts_join(struct strbuf *text, struct module_parts *parts)
{
	size_t left = strnlen(parts->r->text, SOURCE_BYTES_MAX);
	bool has_classes = parts_have_classes(parts);
	unsigned line = 2;

	left = SOURCE_BYTES_MAX - left;
	/* A name is looked for at the beginning of a line. */
	strbuf_adds(text, "\n");
	for (size_t i = 0; i < parts->count; i++) {
		struct module_part *part = &parts->items[i];
		const char *reached = strbuf_text(&part->reached);

		if (!part_declares(parts, reached, has_classes) ||
		    part->reached.length >= left)
			continue;
		left -= part->reached.length + 1;
		strbuf_adds(text, reached);
		strbuf_adds(text, "\n");
		part->line = line;
		line += (unsigned)text_newlines(reached) + 1;
	}
	strbuf_adds(text, parts->r->text);
	return line > 2 ? line : 0;
}

/* The lines of its parts are those of their files; script: its first one. */
static void places_set(struct source *source, const struct module_parts *parts,
		       unsigned script)
{
	for (size_t i = 0; i < source->option_count; i++) {
		struct source_option *option = &source->options[i];
		unsigned start = script;

		for (size_t k = 0; k < parts->count && option->line < script;
		     k++) {
			const struct module_part *part = &parts->items[k];

			if (!part->line || part->line > option->line)
				continue;
			start = part->line;
			option->path = part->file->path;
		}
		option->line -= start - 1;
	}
}

static void parts_read(struct recognition *r, const struct module_parts *parts,
		       const char *text, unsigned script)
{
	struct source *source = &r->command->source;
	struct source read;

	source_release(source);
	source_read(&read, text);
	subcommand_source(r, &read, text);
	if (r->source == &read)
		*source = read;
	else
		source_release(&read);
	r->source = source;
	source->text = NULL;
	places_set(source, parts, script);
	source_begin_at(source, script);
}

static void parts_take(struct recognition *r)
{
	struct module_parts parts = { .r = r };
	struct strbuf text = STRBUF_INIT;
	unsigned script = 0;

	parts_find(&parts);
	if (parts.count)
		script = parts_join(&text, &parts);
	if (script)
		parts_read(r, &parts, strbuf_text(&text), script);
	for (size_t i = 0; i < parts.count; i++)
		strbuf_release(&parts.items[i].reached);
	strbuf_release(&text);
}

static void options_take(void *context, struct named_file *file,
			 const struct source_import *import)
{
	struct recognition *r = context;
	const struct source *source = named_file_source(file);

	(void)import;
	/* Fields and parameters are options of whoever makes them so. */
	if (r->source->option_count || !source_options_name_batch(source) ||
	    !strstr(strbuf_text(&file->text), "add_argument("))
		return;
	subcommand_source(r, source, strbuf_text(&file->text));
	(void)argument_brief(r->source_name, file->path);
}

enum command_outcome module_options_find(struct recognition *r)
{
	if (!r->text || r->command->view.has_shell)
		return COMMAND_OK;
	parts_take(r);
	if (r->source->option_count == 0)
		module_files_visit(r, options_take, r);
	return COMMAND_OK;
}
