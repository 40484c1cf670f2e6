/* Modules of the script's own folder. Pure. */
/* SPDX-License-Identifier: MIT */
#include "launcher/command/knobs/module_files.h"

#include "base/alloc.h"
#include "launcher/command/files/source_imports.h"

#include <stdlib.h>
#include <string.h>

/* Where Python looks first: the script's folder, else the working one. */
static char *import_folder(const struct recognition *r, bool is_relative)
{
	const struct command_view *view = &r->command->view;
	const char *path, *slash;
	char *folder;

	if (view->script != NO_INDEX) {
		path = command_argv(r->command)->items[view->script];
		slash = strrchr(path, '/');
		return xstrndup(path, slash ? (size_t)(slash + 1 - path) : 0);
	}
	if (!is_relative || view->module == NO_INDEX)
		return xstrdup("");
	/* from .train import x, in the package of python -m package.main */
	folder = xstrdup(command_argv(r->command)->items[view->module]);
	slash = strrchr(folder, '.');
	folder[slash ? (size_t)(slash + 1 - folder) : 0] = '\0';
	for (char *c = folder; *c; c++)
		if (*c == '.')
			*c = '/';
	return folder;
}

/* NULL: it is none of the command's own files. */
static struct named_file *module_file(const struct recognition *r,
				      const char *folder, const char *name,
				      size_t length)
{
	char *path = xasprintf("%s%.*s.py", folder, (int)length, name);
	struct named_file *file;

	for (char *c = path + strlen(folder); c < path + strlen(path) - 3; c++)
		if (*c == '.')
			*c = '/';
	file = named_files_get(r->texts, path);
	free(path);
	return file && !file->error && file->text.length ? file : NULL;
}

/* a.b, or a.b.c where c is a module of the package a.b. */
static struct named_file *import_file(const struct recognition *r,
				      const struct source_import *import)
{
	bool is_relative = *import->module == '.';
	const char *module = import->module + is_relative;
	size_t length = import->module_length - is_relative;
	char *folder = import_folder(r, is_relative);
	struct named_file *file = NULL;
	char *name;

	if (length)
		file = module_file(r, folder, module, length);
	/* PYTHONPATH=. is usual. */
	if (!file && length && *folder && !is_relative)
		file = module_file(r, "", module, length);
	if (!file && import->member_length) {
		name = xasprintf("%.*s%s%.*s", (int)length, module,
				 length ? "." : "", (int)import->member_length,
				 import->member);
		file = module_file(r, folder, name, strlen(name));
		free(name);
	}
	free(folder);
	return file;
}

void module_files_visit(const struct recognition *r, module_file_visit *visit,
			void *context)
{
	struct source_import imports[SOURCE_IMPORTS_MAX];
	size_t count;

	if (!r->text || r->command->view.expansion.folder)
		return;
	count = source_imports(r->text, imports);
	for (size_t i = 0; i < count; i++) {
		struct named_file *file = import_file(r, &imports[i]);

		if (file)
			visit(context, file);
	}
}

static bool declares_sizes(const struct source *source)
{
	for (size_t i = 0; i < source->option_count; i++) {
		enum option_class class = source->options[i].class;

		if (class == OPTION_BATCH || class == OPTION_MICRO ||
		    class == OPTION_GLOBAL)
			return true;
	}
	return false;
}

static void options_take(void *context, struct named_file *file)
{
	struct recognition *r = context;
	const struct source *source = named_file_source(file);

	/* Fields and parameters are options of whoever makes them so. */
	if (r->source->option_count || !declares_sizes(source) ||
	    !strstr(strbuf_text(&file->text), "add_argument("))
		return;
	r->source = source;
	(void)argument_brief(r->source_name, file->path);
}

enum command_outcome module_options_find(struct recognition *r)
{
	if (r->source->option_count == 0 && !r->command->view.has_shell)
		module_files_visit(r, options_take, r);
	return COMMAND_OK;
}
