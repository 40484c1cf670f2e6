/* Modules of the script's own folder. Pure. */
/* SPDX-License-Identifier: MIT */
#include "launcher/command/modules/module_files.h"

#include "base/alloc.h"
#include "launcher/command/modules/source_imports.h"

#include <stdlib.h>
#include <string.h>

/* "a/b/", of a/b/c.py; of "../c" one part less for each dot but the first. */
static char *folder_above(const char *path, size_t dots)
{
	size_t length = strlen(path);

	for (size_t i = 0; i < dots; i++) {
		const char *slash =
			length ? memrchr(path, '/', length - 1) : NULL;

		length = slash ? (size_t)(slash + 1 - path) : 0;
	}
	return xstrndup(path, length);
}

/* package/, of python -m package.main */
static char *folder_of_module(const char *module)
{
	const char *dot = strrchr(module, '.');
	char *folder = xstrndup(module, dot ? (size_t)(dot + 1 - module) : 0);

	for (char *c = folder; *c; c++)
		if (*c == '.')
			*c = '/';
	return folder;
}

/* Where Python looks first: the script's folder, else the working one. */
static char *import_folder(const struct module_user *user, size_t dots)
{
	const struct command_view *view = &user->r->command->view;
	const struct strlist *argv = command_argv(user->r->command);

	if (user->path && dots)
		return folder_above(user->path, dots);
	if (view->script != NO_INDEX)
		return folder_above(argv->items[view->script], 1);
	return dots && view->module != NO_INDEX
		       ? folder_of_module(argv->items[view->module])
		       : xstrdup("");
}

static size_t import_dots(const struct source_import *import)
{
	size_t dots = 0;

	while (dots < import->module_length && import->module[dots] == '.')
		dots++;
	return dots;
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
	file = named_files_get_module(r->texts, path);
	free(path);
	return file && !file->error && file->text.length ? file : NULL;
}

/* a.b, or a.b.c where c is a module of the package a.b. */
static struct named_file *import_file(const struct module_user *user,
				      const struct source_import *import)
{
	size_t dots = import_dots(import);
	const char *module = import->module + dots;
	size_t length = import->module_length - dots;
	char *name = xasprintf("%.*s%s%.*s", (int)length, module,
			       length ? "." : "", (int)import->member_length,
			       import->member ? import->member : "");
	char *folder = import_folder(user, dots);
	/* PYTHONPATH=. is usual. */
	const char *roots[] = { folder, "" };
	struct named_file *file = NULL;

	for (size_t i = 0; !file && i < (dots || !*folder ? 1u : 2u); i++) {
		if (length)
			file = module_file(user->r, roots[i], module, length);
		if (!file && import->member_length)
			file = module_file(user->r, roots[i], name,
					   strlen(name));
	}
	free(folder);
	free(name);
	return file;
}

/* a/b/__init__.py, with folder as a/b/; NULL: none, and folder is any. */
static struct named_file *package_file(const struct recognition *r,
				       char **folder,
				       const struct source_import *import)
{
	size_t dots = import_dots(import);
	const char *module = import->module + dots;
	size_t length = import->module_length - dots;
	const char *roots[] = { *folder, "" };
	struct named_file *init = NULL;
	char *package = NULL;

	for (size_t i = 0; length && !init && i < (dots ? 1u : 2u); i++) {
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

/* Does the one hand on what the other asks for? */
static bool shares_member(const struct source_import *asked,
			  const struct source_import *handed)
{
	struct span wanted[IMPORT_NAMES_MAX], there[IMPORT_NAMES_MAX];
	size_t wanted_count = source_import_names(asked, wanted);
	size_t there_count = source_import_names(handed, there);

	for (size_t i = 0; i < wanted_count; i++)
		for (size_t k = 0; k < there_count; k++)
			if (span_is(there[k], "*") ||
			    (there[k].length == wanted[i].length &&
			     memcmp(there[k].at, wanted[i].at,
				    wanted[i].length) == 0))
				return true;
	return false;
}

/*
 * "from a.b import c" of a package: a/b/__init__.py, and the modules from which
 * that takes c. One step, no further.
 */
static void visit_package(const struct module_user *user,
			  const struct source_import *import,
			  module_file_visit *visit, void *context)
{
	const struct recognition *r = user->r;
	struct source_import inner[SOURCE_IMPORTS_MAX];
	char *folder = import_folder(user, import_dots(import));
	struct named_file *init = package_file(r, &folder, import);
	size_t count =
		init ? source_imports(strbuf_text(&init->text), inner) : 0;

	if (init)
		visit(context, init, import);
	for (size_t i = 0; i < count; i++) {
		struct named_file *file =
			inner[i].module_length > 1 &&
					inner[i].module[0] == '.' &&
					shares_member(import, &inner[i])
				? module_file(r, folder, inner[i].module + 1,
					      inner[i].module_length - 1)
				: NULL;

		if (file)
			visit(context, file, import);
	}
	free(folder);
}

void module_files_visit_of(const struct module_user *user,
			   module_file_visit *visit, void *context)
{
	struct source_import imports[SOURCE_IMPORTS_MAX];
	size_t count = source_imports(user->text, imports);

	for (size_t i = 0; i < count; i++) {
		struct named_file *file = import_file(user, &imports[i]);

		if (file)
			visit(context, file, &imports[i]);
		else if (imports[i].member)
			visit_package(user, &imports[i], visit, context);
	}
}

void module_files_visit(const struct recognition *r, module_file_visit *visit,
			void *context)
{
	struct module_user user = { .r = r, .text = r->text };

	if (r->text && !r->command->view.expansion.folder)
		module_files_visit_of(&user, visit, context);
}
