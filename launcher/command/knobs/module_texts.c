/* The text of modules of the script's own folder. Pure. */
/* SPDX-License-Identifier: MIT */
#include "launcher/command/knobs/module_texts.h"

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
static const char *module_text(const struct recognition *r, const char *folder,
			       const char *name, size_t length)
{
	char *path = xasprintf("%s%.*s.py", folder, (int)length, name);
	struct named_file *file;

	for (char *c = path + strlen(folder); c < path + strlen(path) - 3; c++)
		if (*c == '.')
			*c = '/';
	file = named_files_get(r->texts, path);
	free(path);
	return file && !file->error && file->text.length
		       ? strbuf_text(&file->text)
		       : NULL;
}

/* a.b, or a.b.c where c is a module of the package a.b. */
static const char *import_text(const struct recognition *r,
			       const struct source_import *import)
{
	bool is_relative = *import->module == '.';
	const char *module = import->module + is_relative;
	size_t length = import->module_length - is_relative;
	char *folder = import_folder(r, is_relative);
	const char *text = NULL;
	char *name;

	if (length)
		text = module_text(r, folder, module, length);
	/* PYTHONPATH=. is usual. */
	if (!text && length && *folder && !is_relative)
		text = module_text(r, "", module, length);
	if (!text && import->member_length) {
		name = xasprintf("%.*s%s%.*s", (int)length, module,
				 length ? "." : "", (int)import->member_length,
				 import->member);
		text = module_text(r, folder, name, strlen(name));
		free(name);
	}
	free(folder);
	return text;
}

void module_texts_visit(const struct recognition *r, module_text_visit *visit,
			void *context)
{
	struct source_import imports[SOURCE_IMPORTS_MAX];
	size_t count;

	if (!r->text || r->command->view.expansion.folder)
		return;
	count = source_imports(r->text, imports);
	for (size_t i = 0; i < count; i++) {
		const char *text = import_text(r, &imports[i]);

		if (text)
			visit(context, text);
	}
}
