/* The files of signatures, read to rules: built-in ones, then the user's. */
/* SPDX-License-Identifier: MIT */
#include "configs/signatures/signature_rules.h"

#include "base/alloc.h"
#include "base/strbuf.h"
#include "base/textfile.h"
#include "configs/files/builtin.h"
#include "configs/files/ini.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define BUILTIN_FOLDER "configs/signatures/"
#define FILE_MAX_BYTES ((size_t)1024 * 1024)

/* What is known while a file is read. */
struct loading {
	struct signatures *set;
	const char *stem; /* file name without .ini */
	const char *path;
	size_t current; /* the section under way, SIZE_MAX: none */
	size_t first;   /* sections of this file have at least this number */
	size_t next_number;
};

static const struct {
	const char *name;
	enum signature_class class;
} class_names[] = {
	{ "not", SIGNATURE_NOT },
	{ "rmm", SIGNATURE_RMM },
	{ "host", SIGNATURE_HOST },
	{ "shm", SIGNATURE_SHM },
	{ "gpu", SIGNATURE_GPU },
	{ "ambiguous", SIGNATURE_AMBIGUOUS },
	{ "killed", SIGNATURE_KILLED },
	{ "too_big", SIGNATURE_TOO_BIG },
	{ "no_batch", SIGNATURE_NO_BATCH },
	{ "cause", SIGNATURE_CAUSE },
};

void rule_release(struct rule *rule)
{
	free(rule->shown.name);
	free(rule->shown.hint);
	free(rule->shown.example);
	free(rule->where);
	free(rule->text);
	free(rule->literals);
	pattern_free(rule->pattern);
	strlist_release(&rule->contains);
	strlist_release(&rule->examples);
	memset(rule, 0, sizeof(*rule));
}

static struct rule *add_rule(struct signatures *set)
{
	set->rules = xgrow(set->rules, set->count, &set->capacity,
			   sizeof(*set->rules));
	memset(&set->rules[set->count], 0, sizeof(*set->rules));
	return &set->rules[set->count++];
}

static size_t find_rule(const struct signatures *set, const char *name)
{
	size_t i = 0;

	while (i < set->count && strcmp(set->rules[i].shown.name, name) != 0)
		i++;
	return i;
}

/* A section of the same name from an earlier file is replaced. */
static int begin_rule(struct loading *loading, const struct ini_entry *entry,
		      struct error *err)
{
	struct signatures *set = loading->set;
	char *name = xasprintf("%s/%s", loading->stem, entry->section);
	size_t index = find_rule(set, name);
	struct rule *rule;

	if (index < set->count && set->rules[index].number >= loading->first) {
		free(name);
		return error_set(err, -EINVAL, "section [%s] is there twice",
				 entry->section);
	}
	if (index == set->count && set->count == SIGNATURES_MAX) {
		free(name);
		return error_set(err, -E2BIG, "more than %d signatures",
				 SIGNATURES_MAX);
	}
	if (index < set->count) {
		rule = &set->rules[index];
		rule_release(rule);
	} else {
		rule = add_rule(set);
	}
	rule->shown.name = name;
	rule->where = xasprintf("%s:%u", loading->path, entry->line);
	rule->number = loading->next_number++;
	loading->current = index;
	return 0;
}

static int set_class(struct rule *rule, const char *value, struct error *err)
{
	if (rule->shown.class != SIGNATURE_NONE)
		return error_set(err, -EINVAL, "class is given twice");
	for (size_t i = 0; i < sizeof(class_names) / sizeof(*class_names); i++)
		if (strcmp(class_names[i].name, value) == 0)
			rule->shown.class = class_names[i].class;
	if (rule->shown.class == SIGNATURE_NONE)
		return error_set(err, -EINVAL,
				 "class \"%s\" is unknown: use not, rmm, host, "
				 "shm, gpu, ambiguous, killed, too_big, "
				 "no_batch or cause",
				 value);
	return 0;
}

static int set_once(char **text, const struct ini_entry *entry,
		    struct error *err)
{
	if (*text)
		return error_set(err, -EINVAL,
				 "%s is given twice: it is one line",
				 entry->key);
	*text = xstrdup(entry->value);
	return 0;
}

/* An indented line goes on with the sentence. */
static void add_hint(char **hint, const char *value)
{
	char *whole = *hint ? xasprintf("%s %s", *hint, value) : xstrdup(value);

	free(*hint);
	*hint = whole;
}

static int add_line(struct strlist *list, const struct ini_entry *entry,
		    struct error *err)
{
	if (*entry->value == '\0')
		return error_set(err, -EINVAL, "%s is empty", entry->key);
	strlist_add(list, entry->value);
	return 0;
}

static int on_entry(void *context, const struct ini_entry *entry,
		    struct error *err)
{
	struct loading *loading = context;
	struct rule *rule = NULL;
	const char *section;
	int result = 0;

	if (*entry->section == '\0')
		return error_set(err, -EINVAL,
				 "an entry before the first [section]");
	if (loading->current < loading->set->count) {
		rule = &loading->set->rules[loading->current];
		section = rule->shown.name + strlen(loading->stem) + 1;
		if (strcmp(section, entry->section) != 0)
			rule = NULL;
	}
	if (!rule) {
		result = begin_rule(loading, entry, err);
		if (result < 0)
			return result;
		rule = &loading->set->rules[loading->current];
	}
	if (strcmp(entry->key, "class") == 0)
		return set_class(rule, entry->value, err);
	if (strcmp(entry->key, "contains") == 0)
		return add_line(&rule->contains, entry, err);
	if (strcmp(entry->key, "example") == 0)
		return add_line(&rule->examples, entry, err);
	if (strcmp(entry->key, "pattern") == 0)
		return set_once(&rule->text, entry, err);
	if (strcmp(entry->key, "hint") == 0) {
		add_hint(&rule->shown.hint, entry->value);
		return 0;
	}
	return error_set(err, -EINVAL,
			 "unknown key \"%s\": a signature has class, contains, "
			 "pattern, example and hint",
			 entry->key);
}

static int read_text(struct loading *loading, const char *path,
		     const struct strbuf *text, struct error *err)
{
	const char *name = basename(path);
	char *stem = xstrndup(name, strlen(name) - strlen(".ini"));
	int result;

	loading->stem = stem;
	loading->path = path;
	loading->current = SIZE_MAX;
	loading->first = loading->next_number;
	result = ini_read(path, strbuf_text(text), text->length, on_entry,
			  loading, err);
	free(stem);
	return result;
}

static bool is_ini(const char *name)
{
	size_t length = strlen(name);

	return length > 4 && *name != '.' &&
	       strcmp(name + length - 4, ".ini") == 0;
}

static int read_builtins(struct loading *loading, struct error *err)
{
	size_t skip = strlen(BUILTIN_FOLDER);
	int result = 0;

	for (const struct builtin_file *file = builtin_files;
	     file->path && result >= 0; file++) {
		struct strbuf text = STRBUF_INIT;

		if (strncmp(file->path, BUILTIN_FOLDER, skip) != 0)
			continue;
		strbuf_add(&text, file->data, file->size);
		result = read_text(loading, file->path, &text, err);
		strbuf_release(&text);
	}
	return result;
}

static int read_file(struct loading *loading, const char *path,
		     struct error *err)
{
	struct strbuf text = STRBUF_INIT;
	int result = textfile_read(path, FILE_MAX_BYTES, &text, err);

	if (result > 0)
		result = error_set(err, -EFBIG,
				   "%s is larger than 1 MiB: split it", path);
	else if (result == 0)
		result = read_text(loading, path, &text, err);
	strbuf_release(&text);
	return result;
}

static int ini_filter(const struct dirent *entry)
{
	return is_ini(entry->d_name);
}

static int read_folder(struct loading *loading, const char *folder,
		       struct error *err)
{
	struct dirent **entries = NULL;
	int count = scandir(folder, &entries, ini_filter, alphasort);
	int result = 0;

	if (count < 0)
		return errno == ENOENT
			       ? 0
			       : error_set_errno(err, -errno, "cannot list %s",
						 folder);
	for (int i = 0; i < count; i++) {
		char *path = xasprintf("%s/%s", folder, entries[i]->d_name);

		if (result >= 0)
			result = read_file(loading, path, err);
		free(path);
		free(entries[i]);
	}
	free(entries);
	return result;
}

int rules_read(struct signatures *set, const char *folder, struct error *err)
{
	struct loading loading = { .set = set };
	int result = read_builtins(&loading, err);

	if (result >= 0 && folder)
		result = read_folder(&loading, folder, err);
	return result;
}
