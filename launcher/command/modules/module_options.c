/* Options that modules of the script declare. Pure. */
/* SPDX-License-Identifier: MIT */
#include "launcher/command/modules/module_options.h"

#include "base/strbuf.h"
#include "launcher/command/files/source_fields.h"
#include "launcher/command/files/source_options.h"
#include "launcher/command/modules/module_files.h"
#include "launcher/command/modules/source_reach.h"
#include "launcher/command/parts/subcommand.h"

#include <string.h>

/* Modules whose text is read with the script's; and in how many steps. */
#define PARTS_MAX 8
#define STEPS_MAX 3

/* A module's part of the text. */
struct module_part {
	const struct named_file *file;
	unsigned line; /* the first of it */
};

struct module_parts {
	const struct recognition *r;
	struct strbuf text; /* the script's, then that of each part */
	struct module_part items[PARTS_MAX];
	size_t count;
	const char *user; /* whose imports are followed now */
	size_t step;
	bool has_classes; /* their parameters, or fields, may be options */
	bool declares;    /* something was added that may be an option */
};

static unsigned lines_of(const char *text)
{
	unsigned lines = 0;

	for (; *text; text++)
		lines += *text == '\n';
	return lines;
}

static bool part_is_there(const struct module_parts *parts,
			  const struct named_file *file)
{
	for (size_t i = 0; i < parts->count; i++)
		if (parts->items[i].file == file)
			return true;
	return file == parts->r->script;
}

static void part_follow(struct module_parts *parts,
			const struct named_file *file, const char *reached);

/* A module_file_visit. */
static void part_add(void *context, struct named_file *file,
		     const struct source_import *import)
{
	struct module_parts *parts = context;
	struct strbuf reached = STRBUF_INIT;
	const char *text;

	if (parts->count == PARTS_MAX || part_is_there(parts, file) ||
	    !source_reach(&reached, strbuf_text(&file->text), parts->user,
			  import))
		goto out;
	text = strbuf_text(&reached);
	strbuf_adds(&parts->text, "\n");
	parts->items[parts->count++] = (struct module_part){
		.file = file,
		.line = lines_of(strbuf_text(&parts->text)) + 1,
	};
	strbuf_add(&parts->text, text, reached.length);
	parts->has_classes |= source_fields_are_options(text);
	parts->declares |= parts->has_classes || strstr(text, "add_argument(");
	part_follow(parts, file, text);
out:
	strbuf_release(&reached);
}

static void part_follow(struct module_parts *parts,
			const struct named_file *file, const char *reached)
{
	const struct module_user user = { .r = parts->r,
					  .text = strbuf_text(&file->text),
					  .path = file->path };
	const char *before = parts->user;

	if (parts->step == STEPS_MAX)
		return;
	parts->user = reached;
	parts->step++;
	module_files_visit_of(&user, part_add, parts);
	parts->step--;
	parts->user = before;
}

/* The lines of its parts are those of their files. */
static void places_set(struct source *source, const struct module_parts *parts)
{
	for (size_t i = 0; i < source->option_count; i++) {
		struct source_option *option = &source->options[i];
		const struct module_part *part = NULL;

		for (size_t k = 0; k < parts->count; k++)
			if (parts->items[k].line <= option->line)
				part = &parts->items[k];
		if (!part)
			continue;
		option->path = part->file->path;
		option->line -= part->line - 1;
	}
}

static void parts_read(struct recognition *r, struct module_parts *parts)
{
	struct source *source = &r->command->source;
	const char *text = strbuf_text(&parts->text);
	unsigned end = parts->items[0].line;
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
	places_set(source, parts);
	source_drop_values(source, end);
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
	struct module_parts parts = { .r = r, .user = r->text };

	if (!r->text || r->command->view.has_shell)
		return COMMAND_OK;
	strbuf_adds(&parts.text, r->text);
	parts.has_classes = source_fields_are_options(r->text);
	module_files_visit(r, part_add, &parts);
	if (parts.declares)
		parts_read(r, &parts);
	strbuf_release(&parts.text);
	if (r->source->option_count == 0)
		module_files_visit(r, options_take, r);
	return COMMAND_OK;
}
