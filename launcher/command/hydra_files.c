/* The config files that Hydra puts together. Pure. */
/* SPDX-License-Identifier: MIT */
/*
 * "defaults: [data: cifar, _self_]" of conf/config.yaml puts what
 * conf/data/cifar.yaml holds below "data", and then what config.yaml itself
 * holds over it; "data=imagenet" of the command chooses another. Where a word
 * of Hydra's that is not followed here may decide (override of a group in a
 * group, @package, interpolation, a file that is not there), nothing is said of
 * any of it.
 */
#include "launcher/command/hydra_files.h"

#include "base/alloc.h"
#include "launcher/command/command_files.h"
#include "launcher/command/hydra_main.h"
#include "launcher/command/parts/setting_value.h"
#include "launcher/command/parts/token.h"
#include "launcher/command/text/names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A group in a group, and so on. */
#define HYDRA_DEPTH_MAX 4
#define HYDRA_FILES_MAX 24
/* Choices that an experiment overrides; one of more is not known. */
#define HYDRA_OVERRIDES_MAX 16

/* "override /data: cifar" */
struct hydra_override {
	const char *group, *choice;
};

struct hydra_files {
	struct recognition *r;
	const char *folder;
	struct settings *settings;
	unsigned count, depth;
	bool self_is_last;
	struct hydra_override overrides[HYDRA_OVERRIDES_MAX];
	size_t override_count;
};

/* One file of it, and whether it may be missing. */
struct hydra_file {
	const char *group; /* "" for the primary */
	const char *name;
	bool is_optional;
};

static bool hydra_file_put(struct hydra_files *files,
			   const struct hydra_file *file);

static char *hydra_path(const struct hydra_files *files,
			const struct hydra_file *file)
{
	size_t length = strlen(file->name);
	bool has_ending =
		length > 5 && strcmp(file->name + length - 5, ".yaml") == 0;

	return xasprintf("%s%s%s%s%s", files->folder, file->group,
			 *file->group ? "/" : "", file->name,
			 has_ending ? "" : ".yaml");
}

/* A plain name of a file, in words of Hydra's. */
static bool hydra_is_plain(const char *name)
{
	return *name && *name != '/' && *name != '.' && !strstr(name, "..") &&
	       strcspn(name, "$?@,:[]{}'\"\\ ") == strlen(name);
}

/* "# @package _global_": the group's name, or none. NULL: another. */
static char *hydra_package(const char *text, const char *group)
{
	static const char mark[] = "@package";
	const char *found = strstr(text, mark);
	char *package;

	if (found) {
		found += strlen(mark);
		found += strspn(found, ": ");
		if (strncmp(found, "_global_", 8) == 0)
			return xstrdup("");
		if (strncmp(found, "_group_", 7) != 0)
			return NULL;
	}
	package = xstrdup(group);
	for (char *c = package; *c; c++)
		if (*c == '/')
			*c = '.';
	return package;
}

static bool is_of_list(const struct setting *setting)
{
	return strncmp(setting->key, "defaults", 8) == 0 &&
	       strchr(".[", setting->key[8]);
}

/* The word of the command that chooses of this group; NULL: none. */
static const char *choice_typed(const struct command *command,
				const char *group)
{
	const char *value = NULL;
	struct token token;

	for (size_t i = command->view.args; token_next(&token, command, &i);
	     i++)
		if (token.bare && token.form == KNOB_JOINED &&
		    token.name_length == strlen(group) &&
		    memcmp(token.name, group, token.name_length) == 0)
			value = token_value(&token, command_argv(command));
	return value;
}

static const char override_mark[] = "override /";

/* The command's choice of the group, an experiment's, else the list's. */
static const char *choice_made(const struct hydra_files *files,
			       const char *group, const char *listed)
{
	const char *typed = choice_typed(files->r->command, group);

	for (size_t i = 0; !typed && i < files->override_count; i++)
		if (strcmp(files->overrides[i].group, group) == 0)
			listed = files->overrides[i].choice;
	return typed ? typed : listed;
}

/* It says how Hydra runs, which no size is. */
static bool says_how_to_run(const char *key)
{
	size_t mark = strlen(override_mark) - 1;

	key += strncmp(key, override_mark, mark) == 0 ? mark : 0;
	key += *key == '/';
	return strcmp(key, "hydra") == 0 || strncmp(key, "hydra/", 6) == 0;
}

/* "group: choice", "optional group: choice" of the list. */
static bool choice_put(struct hydra_files *files, const char *parent,
		       const char *key, const char *choice)
{
	static const char optional[] = "optional ";
	bool is_optional = strncmp(key, optional, strlen(optional)) == 0;
	char *group;
	bool result;

	key += is_optional ? strlen(optional) : 0;
	if (says_how_to_run(key))
		return true;
	key += *key == '/' && !*parent;
	if (!hydra_is_plain(key))
		return false;
	group = xasprintf("%s%s%s", parent, *parent ? "/" : "", key);
	choice = choice_made(files, group, choice);
	if (!*choice || strcmp(choice, "null") == 0)
		result = true;
	else
		result = hydra_is_plain(choice) &&
			 hydra_file_put(files,
					&(struct hydra_file){ group, choice,
							      is_optional });
	free(group);
	return result;
}

/* "callbacks: [a, b]" are several choices of one group. */
static bool choice_of_list_put(struct hydra_files *files, const char *parent,
			       const char *key, const char *choice)
{
	const char *bracket = strchr(key, '[');
	char *group;
	bool result;

	if (!bracket ||
	    strspn(bracket + 1, "0123456789") + 2 != strlen(bracket))
		return choice_put(files, parent, key, choice);
	group = xstrndup(key, (size_t)(bracket - key));
	/* A word that chooses others would stand for all of them. */
	result = !choice_typed(files->r->command, group + (*group == '/')) &&
		 choice_put(files, parent, group, choice);
	free(group);
	return result;
}

/* One entry of the list of defaults. */
static bool entry_put(struct hydra_files *files, const char *group,
		      const struct setting *setting)
{
	const char *after = strchr(setting->key, ']');

	if (!after)
		return false;
	if (after[1] == '.')
		return choice_of_list_put(files, group, after + 2,
					  setting->value);
	/* Another config of the same group. */
	return after[1] == '\0' && hydra_is_plain(setting->value) &&
	       !strchr(setting->value, '/') &&
	       hydra_file_put(files, &(struct hydra_file){
					     group, setting->value, false });
}

/* What the file itself holds. An order that is not said must not matter. */
static bool self_put(struct hydra_files *files, const struct named_file *read,
		     const char *package, bool has_order)
{
	const struct settings *settings = &read->settings;

	for (size_t i = 0; i < settings->count; i++) {
		struct setting setting = settings->items[i];
		enum settings_put put;

		if (is_of_list(&setting) ||
		    strncmp(setting.key, "hydra.", 6) == 0)
			continue;
		/* What is merged in is not known here. */
		if (strstr(setting.key, "<<"))
			return false;
		setting.path = read->path;
		put = settings_put(files->settings, package, &setting);
		if (put == SETTINGS_PUT_FULL ||
		    (put == SETTINGS_PUT_OVER && !has_order))
			return false;
	}
	return true;
}

static bool is_self(const struct setting *setting)
{
	return is_of_list(setting) && strcmp(setting->value, "_self_") == 0;
}

/* The group behind "override /" in an entry of the list; NULL: another. */
static const char *override_of(const struct setting *setting)
{
	const char *after = strchr(setting->key, ']');
	size_t length = strlen(override_mark);

	if (!is_of_list(setting) || !after || after[1] != '.' ||
	    strncmp(after + 2, override_mark, length) != 0 ||
	    says_how_to_run(after + 2))
		return NULL;
	return after + 2 + length;
}

static bool overrides_take(struct hydra_files *files,
			   const struct settings *settings)
{
	for (size_t i = 0; i < settings->count; i++) {
		const char *group = override_of(&settings->items[i]);

		if (!group)
			continue;
		if (files->override_count == HYDRA_OVERRIDES_MAX ||
		    !hydra_is_plain(group))
			return false;
		files->overrides[files->override_count++] =
			(struct hydra_override){ group,
						 settings->items[i].value };
	}
	return true;
}

/* What the choices of the first list override in it: experiment=cifar. Later
 * ones win. False: more than are known. */
static bool overrides_find(struct hydra_files *files,
			   const struct settings *list)
{
	for (size_t i = 0; i < list->count; i++) {
		const struct setting *entry = &list->items[i];
		const char *group = strchr(entry->key, ']');
		struct hydra_file file = { .is_optional = true };
		struct named_file *read;
		char *path;

		if (!is_of_list(entry) || !group || group[1] != '.')
			continue;
		file.group = group + 2;
		file.name = choice_made(files, file.group, entry->value);
		if (!hydra_is_plain(file.group) || !hydra_is_plain(file.name))
			continue;
		path = hydra_path(files, &file);
		read = named_files_get(files->r->texts, path);
		free(path);
		if (!read || read->error)
			continue;
		if (!overrides_take(files,
				    named_file_settings(read, SETTINGS_YAML)))
			return false;
	}
	return true;
}

/* The list of defaults in its order, the file itself among them. */
static bool hydra_list_put(struct hydra_files *files,
			   const struct hydra_file *file,
			   const struct named_file *read, const char *package)
{
	const struct settings *settings = &read->settings;
	size_t groups = 0, selves = 0;

	for (size_t i = 0; i < settings->count; i++) {
		const struct setting *setting = &settings->items[i];

		if (!is_of_list(setting))
			continue;
		if (is_self(setting)) {
			selves++;
			if (!self_put(files, read, package, true))
				return false;
			continue;
		}
		/* Of the first list, whose groups it speaks of, it is taken. */
		if (*file->group && files->depth <= 2 && override_of(setting))
			continue;
		groups++;
		/* Of a package of its own it would be another's group. */
		if ((!*package && *file->group) ||
		    !entry_put(files, file->group, setting))
			return false;
	}
	return selves < 2 &&
	       (selves || self_put(files, read, package,
				   files->self_is_last || groups == 0));
}

static bool hydra_file_put(struct hydra_files *files,
			   const struct hydra_file *file)
{
	char *path = hydra_path(files, file);
	struct named_file *read = named_files_get(files->r->texts, path);
	char *package = NULL;
	bool result = false;

	free(path);
	if (!read || (read->error && read->error != ENOENT) ||
	    ++files->count > HYDRA_FILES_MAX ||
	    ++files->depth > HYDRA_DEPTH_MAX)
		return false;
	if (read->error)
		result = file->is_optional;
	else
		package = hydra_package(strbuf_text(&read->text), file->group);
	if (package) {
		(void)named_file_settings(read, SETTINGS_YAML);
		result = !read->why_not &&
			 (files->depth > 1 ||
			  overrides_find(files, &read->settings)) &&
			 hydra_list_put(files, file, read, package);
	}
	free(package);
	files->depth--;
	return result;
}

/* What is done with the file of a group that a word adds; false: not known. */
typedef bool hydra_added_visit(struct hydra_files *files,
			       const struct hydra_file *file,
			       struct named_file *read);

static bool added_take(struct hydra_files *files, const struct hydra_file *file,
		       struct named_file *read)
{
	(void)file;
	return overrides_take(files, named_file_settings(read, SETTINGS_YAML));
}

static bool added_put(struct hydra_files *files, const struct hydra_file *file,
		      struct named_file *read)
{
	(void)read;
	return hydra_file_put(files, file);
}

/* "+group=choice", where that is a file. */
static bool added_visit(struct hydra_files *files, const struct token *token,
			hydra_added_visit *visit)
{
	const char *value = token_value(token, command_argv(files->r->command));
	char *group = xstrndup(token->name + 1, token->name_length - 1);
	struct hydra_file file = { group, value, false };
	struct named_file *read = NULL;
	bool result = true;
	char *path;

	if (hydra_is_plain(group) && hydra_is_plain(value)) {
		path = hydra_path(files, &file);
		read = named_files_get(files->r->texts, path);
		free(path);
	}
	if (read && !read->error)
		result = visit(files, &file, read);
	free(group);
	return result;
}

/* Words that add a group, or take one away. */
static bool words_visit_added(struct hydra_files *files,
			      hydra_added_visit *visit)
{
	const struct command *command = files->r->command;
	struct token token;

	for (size_t i = command->view.args; i < command->view.end; i++) {
		const char *word = command_argv(command)->items[i];
		const char *slash = strchr(word, '/');
		const char *equals = strchr(word, '=');

		/* a/b=c is of a group in a group. */
		if (*word == '~' ||
		    (*word != '-' && equals && slash && slash < equals &&
		     strncmp(word, "hydra/", 6) != 0))
			return false;
		if (token_read(&token, command_argv(command), &command->view,
			       i) &&
		    token.bare && token.form == KNOB_JOINED && *word == '+' &&
		    word[1] != '+' && !added_visit(files, &token, visit))
			return false;
	}
	return true;
}

/* What Hydra's own options name is read here, or not at all. */
static void drop_named(struct command *command)
{
	static const char *const names[] = { "--config-name", "-cn" };
	struct token token;
	size_t kept = 0;

	for (size_t i = 0; i < command->file_count; i++) {
		bool is_named = false;

		for (size_t k = 0; k < sizeof(names) / sizeof(*names); k++)
			is_named |=
				token_find(command, names[k], &token) &&
				token.value_index == command->files[i].index;
		if (!is_named || command->files[i].is_template)
			command->files[kept++] = command->files[i];
	}
	command->file_count = kept;
}

static bool hydra_put(struct recognition *r, const struct hydra_main *main)
{
	struct hydra_files files = { .r = r,
				     .folder = main->folder,
				     .settings = r->command->composed,
				     .self_is_last = main->self_is_last };
	struct hydra_file primary = { "", main->name, false };
	struct command_file *file;
	char *path;

	if (!hydra_is_plain(main->name) || strchr(main->name, '/') ||
	    !words_visit_added(&files, added_take) ||
	    !hydra_file_put(&files, &primary) ||
	    !words_visit_added(&files, added_put))
		return false;
	path = hydra_path(&files, &primary);
	file = file_add_unnamed(r, named_files_get(r->texts, path));
	free(path);
	if (!file)
		return false;
	settings_put_end(files.settings);
	file->settings = files.settings;
	file->takes_words = true;
	return true;
}

enum command_outcome hydra_files_find(struct recognition *r)
{
	struct hydra_main main;

	if (r->command->preset_is_certain || !uses_hydra(r))
		return COMMAND_OK;
	drop_named(r->command);
	r->command->composed = xcalloc(1, sizeof(*r->command->composed));
	r->is_open = !hydra_main_read(&main, r) || !hydra_put(r, &main);
	hydra_main_release(&main);
	return COMMAND_OK;
}
