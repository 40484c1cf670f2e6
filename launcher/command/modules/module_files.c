/* Modules of the script's own folder. Pure. */
/* SPDX-License-Identifier: MIT */
#include "launcher/command/modules/module_files.h"

#include "base/alloc.h"
#include "launcher/command/modules/source_imports.h"

#include <stdlib.h>
#include <string.h>

/* Names of one import that are looked for as modules. */
#define MEMBERS_MAX 8
/* Folders that a script adds to those where Python looks; of more not. */
#define ADDED_MAX 2

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

/* Where Python looks first: the script's folder, else the working one. */
static char *import_folder(const struct module_user *user, size_t dots)
{
	const struct recognition *r = user->r;
	const struct command_view *view = &r->command->view;

	if (user->path && dots)
		return folder_above(user->path, dots);
	if (r->script && (dots || view->script != NO_INDEX))
		return folder_above(r->script->path, dots ? dots : 1);
	return path_seen(r, "");
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

/* "src/" of src/package/tools/train.py, which imports package.a: such a package
 * is installed so that it is found there. NULL: it stands in none. */
static char *package_root(const struct module_user *user,
			  const struct source_import *import)
{
	const struct named_file *script = user->r->script;
	size_t length = 0;
	const char *path, *at;

	while (length < import->module_length && import->module[length] != '.')
		length++;
	if (!script || !length)
		return NULL;
	path = script->path;
	for (at = path; *at; at += strcspn(at, "/"), at += *at == '/')
		if (strncmp(at, import->module, length) == 0 &&
		    at[length] == '/')
			return xstrndup(path, (size_t)(at - path));
	return NULL;
}

/* "../" of train.py, which imports package.a and stands in package itself, as
 * the same file by that way shows. NULL: it does not. */
static char *package_above(const struct module_user *user,
			   const struct source_import *import)
{
	const struct named_file *script = user->r->script;
	struct named_file *same;
	size_t length = 0;
	char *folder, *root, *path;

	while (length < import->module_length && import->module[length] != '.')
		length++;
	if (!script || !length || length == import->module_length)
		return NULL;
	folder = folder_above(script->path, 1);
	root = xasprintf("%s../", folder);
	path = xasprintf("%s%.*s/%s", root, (int)length, import->module,
			 script->path + strlen(folder));
	same = named_files_get_module(user->r->texts, path);
	if (!same || same->error || same->text.length != script->text.length ||
	    memcmp(strbuf_text(&same->text), strbuf_text(&script->text),
		   script->text.length) != 0) {
		free(root);
		root = NULL;
	}
	free(folder);
	free(path);
	return root;
}

/* Folders in which it is looked for. */
struct import_roots {
	char *items[3 + ADDED_MAX];
	size_t count;
};

/* The folder in append("core") and insert(0, "core"), of no length: none. */
static struct span added_folder(const char *call)
{
	static const char *const begins[] = { "append(", "insert(0, " };
	struct span folder = { call, 0 };

	for (size_t i = 0; i < sizeof(begins) / sizeof(*begins); i++) {
		char quote = '\0';

		if (strncmp(call, begins[i], strlen(begins[i])) == 0)
			quote = call[strlen(begins[i])];
		if (quote != '"' && quote != '\'')
			continue;
		folder.at = call + strlen(begins[i]) + 1;
		folder.length = strcspn(folder.at, "\"'\n");
		if (strncmp(span_end(folder), (char[]){ quote, ')', '\0' },
			    2) != 0)
			folder.length = 0;
		break;
	}
	return folder;
}

/* What the script adds to sys.path by its name. */
static void added_roots(struct import_roots *roots, const char *here,
			const char *text)
{
	static const char path[] = "sys.path.";
	size_t most = roots->count + ADDED_MAX;

	while (text && roots->count < most && (text = strstr(text, path))) {
		struct span folder;

		text += strlen(path);
		folder = added_folder(text);
		if (folder.length)
			roots->items[roots->count++] = xasprintf(
				"%s%.*s/", here, (int)folder.length, folder.at);
	}
}

static void import_roots_find(struct import_roots *roots,
			      const struct module_user *user,
			      const struct source_import *import)
{
	size_t dots = import_dots(import);
	char *first = import_folder(user, dots), *root;
	char *here = dots ? NULL : path_seen(user->r, "");

	*roots = (struct import_roots){ .count = 0 };
	if (first)
		roots->items[roots->count++] = first;
	if (!here)
		return;
	root = package_root(user, import);
	if (!root)
		root = package_above(user, import);
	if (root)
		roots->items[roots->count++] = root;
	/* PYTHONPATH=. is usual. */
	roots->items[roots->count++] = here;
	added_roots(roots, here, user->r->text);
}

static void import_roots_release(struct import_roots *roots)
{
	for (size_t i = 0; i < roots->count; i++)
		free(roots->items[i]);
}

/* name: a.b */
static struct named_file *import_file(const struct recognition *r,
				      const struct import_roots *roots,
				      struct span name)
{
	struct named_file *file = NULL;

	for (size_t i = 0; name.length && !file && i < roots->count; i++)
		file = module_file(r, roots->items[i], name.at, name.length);
	return file;
}

/* a/b/__init__.py, with folder as a/b/, which the caller frees; NULL: none, and
 * any folder. name: a.b */
static struct named_file *package_file(const struct recognition *r,
				       const struct import_roots *roots,
				       struct span name, char **folder)
{
	struct named_file *init = NULL;

	*folder = NULL;
	for (size_t i = 0; name.length && !init && i < roots->count; i++) {
		const char *root = roots->items[i];

		free(*folder);
		*folder = xasprintf("%s%.*s/", root, (int)name.length, name.at);
		for (char *c = *folder + strlen(root); *c; c++)
			if (*c == '.')
				*c = '/';
		init = module_file(r, *folder, "__init__", 8);
	}
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

/* What one import is looked for with, and what is told of each file found. */
struct import_search {
	const struct recognition *r;
	const struct source_import *import;
	struct import_roots roots;
	module_file_visit *visit;
	void *context;
};

static void search_found(const struct import_search *search,
			 struct named_file *file)
{
	if (file)
		search->visit(search->context, file, search->import);
}

/*
 * A package, and the modules from which its __init__.py takes what is asked
 * for, one step and no further. Of a package that is imported by its name that
 * is all. False: there is no such package.
 */
static bool visit_package(const struct import_search *search, struct span name)
{
	const struct source_import *import = search->import;
	bool is_whole =
		span_end(name) != import->module + import->module_length;
	struct source_import inner[SOURCE_IMPORTS_MAX];
	char *folder;
	struct named_file *init =
		package_file(search->r, &search->roots, name, &folder);
	size_t count =
		init ? source_imports(strbuf_text(&init->text), inner) : 0;

	search_found(search, init);
	for (size_t i = 0; i < count; i++)
		if (inner[i].module_length > 1 && inner[i].module[0] == '.' &&
		    (is_whole || shares_member(import, &inner[i])))
			search_found(search,
				     module_file(search->r, folder,
						 inner[i].module + 1,
						 inner[i].module_length - 1));
	free(folder);
	return init != NULL;
}

/* "a.b" of the import, without its dots. */
static struct span module_name(const struct source_import *import)
{
	size_t dots = import_dots(import);

	return (struct span){ import->module + dots,
			      import->module_length - dots };
}

/* "from a.b import c": c may be a module of a.b, or a package. */
static bool visit_member(const struct import_search *search, struct span member)
{
	struct span module = module_name(search->import);
	char *text = xasprintf("%.*s%s%.*s", (int)module.length, module.at,
			       module.length ? "." : "", (int)member.length,
			       member.at);
	struct span name = { text, strlen(text) };
	struct named_file *file = import_file(search->r, &search->roots, name);
	bool found = file || visit_package(search, name);

	search_found(search, file);
	free(text);
	return found;
}

/* The module a.b, else what is imported of the package a.b. */
static void import_visit(struct import_search *search,
			 const struct module_user *user)
{
	const struct source_import *import = search->import;
	struct span name = module_name(import);
	struct span names[IMPORT_NAMES_MAX];
	struct named_file *file;
	size_t count;
	bool found;

	import_roots_find(&search->roots, user, import);
	file = import_file(user->r, &search->roots, name);
	found = file != NULL;
	search_found(search, file);
	count = file || !import->member ? 0
					: source_import_names(import, names);
	for (size_t i = 0; i < count && i < MEMBERS_MAX; i++)
		found |= visit_member(search, names[i]);
	if (!found)
		(void)visit_package(search, name);
	import_roots_release(&search->roots);
}

void module_files_visit_of(const struct module_user *user,
			   module_file_visit *visit, void *context)
{
	struct source_import imports[SOURCE_IMPORTS_MAX];
	size_t count = source_imports(user->text, imports);

	for (size_t i = 0; i < count; i++) {
		struct import_search search = { .r = user->r,
						.import = &imports[i],
						.visit = visit,
						.context = context };

		import_visit(&search, user);
	}
}

void module_files_visit(const struct recognition *r, module_file_visit *visit,
			void *context)
{
	struct module_user user = { .r = r, .text = r->text };

	if (r->text)
		module_files_visit_of(&user, visit, context);
}
