/* Modules of the script's own folder. Pure. */
/* SPDX-License-Identifier: MIT */
#include "launcher/command/parts/module_files.h"

#include "base/alloc.h"
#include "launcher/command/files/source_imports.h"
#include "launcher/command/files/source_options.h"
#include "launcher/command/parts/subcommand.h"

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

/* a/b/__init__.py, with folder as a/b/; NULL: none, and folder is any. */
static struct named_file *package_file(const struct recognition *r,
				       char **folder,
				       const struct source_import *import)
{
	bool is_relative = *import->module == '.';
	const char *module = import->module + is_relative;
	size_t length = import->module_length - is_relative;
	const char *roots[] = { *folder, "" };
	struct named_file *init = NULL;
	char *package = NULL;

	for (size_t i = 0; length && !init && i < (is_relative ? 1u : 2u);
	     i++) {
		free(package);
		package = xasprintf("%s%.*s/", roots[i], (int)length, module);
		for (char *c = package + strlen(roots[i]); *c; c++)
			if (*c == '.')
				*c = '/';
		init = module_file(r, package, "__init__", 8);
	}
	free(*folder);
	*folder = package ? package : xstrdup("");
	return init;
}

/* Is the name one of those that are imported? What stands in several lines
 * may have any. */
static bool names_member(const struct source_import *import, const char *name,
			 size_t length)
{
	const char *at = import->member;
	size_t here = import->member_length;

	if (!at || here == 0)
		return true;
	for (;;) {
		if (here == length && memcmp(at, name, length) == 0)
			return true;
		at += here;
		at += strspn(at, " ,");
		here = strcspn(at, " ,\n#\\()");
		if (here == 0)
			return false;
	}
}

/* Does the one hand on what the other asks for? */
static bool shares_member(const struct source_import *asked,
			  const struct source_import *handed)
{
	const char *at = asked->member;
	size_t length = asked->member_length;

	while (at && length) {
		if (names_member(handed, at, length))
			return true;
		at += length;
		at += strspn(at, " ,");
		length = strcspn(at, " ,\n#\\()");
	}
	return false;
}

/*
 * "from a.b import c" of a package: the modules from which a/b/__init__.py
 * takes c. One step, no further.
 */
static void visit_package(const struct recognition *r,
			  const struct source_import *import,
			  module_file_visit *visit, void *context)
{
	struct source_import inner[SOURCE_IMPORTS_MAX];
	char *folder = import_folder(r, *import->module == '.');
	struct named_file *init = package_file(r, &folder, import);
	size_t count =
		init ? source_imports(strbuf_text(&init->text), inner) : 0;

	for (size_t i = 0; i < count; i++) {
		struct named_file *file =
			inner[i].module_length > 1 &&
					inner[i].module[0] == '.' &&
					shares_member(import, &inner[i])
				? module_file(r, folder, inner[i].module + 1,
					      inner[i].module_length - 1)
				: NULL;

		if (file)
			visit(context, file);
	}
	free(folder);
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
		else if (imports[i].member_length)
			visit_package(r, &imports[i], visit, context);
	}
}

static void options_take(void *context, struct named_file *file)
{
	struct recognition *r = context;
	const struct source *source = named_file_source(file);

	/* Fields and parameters are options of whoever makes them so. */
	if (r->source->option_count || !source_options_name_batch(source) ||
	    !strstr(strbuf_text(&file->text), "add_argument("))
		return;
	subcommand_source(r, source, strbuf_text(&file->text));
	(void)argument_brief(r->source_name, file->path);
}

enum command_outcome module_options_find(struct recognition *r)
{
	if (r->source->option_count == 0 && !r->command->view.has_shell)
		module_files_visit(r, options_take, r);
	return COMMAND_OK;
}
