/* Programs that start a training command: one INI file each. */
/* SPDX-License-Identifier: MIT */
#include "configs/launchers/launcher.h"

#include "base/alloc.h"
#include "configs/files/builtin.h"
#include "configs/files/ini_files.h"
#include "configs/files/ini_keys.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define BUILTIN_FOLDER "configs/launchers/"

static const char *const kind_names[] = {
	[LAUNCHER_WRAPPER] = "wrapper",
	[LAUNCHER_PYTHON] = "python",
	[LAUNCHER_SHELL] = "shell",
	[LAUNCHER_RANKS] = "ranks",
	[LAUNCHER_TASKS] = "tasks",
	[LAUNCHER_OPAQUE] = "opaque",
	[LAUNCHER_REFUSED] = "refused",
	[LAUNCHER_UNKNOWN] = "unknown",
	NULL,
};

static const char *const count_names[] = {
	[COUNT_NOTHING] = "nothing",
	[COUNT_PLAIN] = "plain",
	[COUNT_ACCELERATE] = "accelerate",
	[COUNT_DEEPSPEED] = "deepspeed",
	[COUNT_HOSTS] = "hosts",
	[COUNT_SRUN] = "srun",
	NULL,
};

static const char *const word_names[] = {
	[SAYS_RANKS] = "ranks",
	[SAYS_RANKS_PER_NODE] = "ranks_per_node",
	[SAYS_NODES] = "nodes",
	[SAYS_DEVICES] = "devices",
	[SAYS_MANY] = "many",
	[SAYS_ONE] = "one",
	[SAYS_MODULE] = "module",
	[SAYS_SCRIPT] = "script",
	[SAYS_NO_PYTHON] = "no_python",
	[SAYS_DEEPSPEED] = "deepspeed",
	[SAYS_ACCUM] = "accum",
	[SAYS_DEEPSPEED_FILE] = "deepspeed_file",
	[SAYS_FSDP] = "fsdp",
	[SAYS_STAGE] = "stage",
	[SAYS_STRATEGY] = "strategy",
	[SAYS_OFFLOAD_STATES] = "offload_states",
	[SAYS_OFFLOAD_WEIGHTS] = "offload_weights",
	[SAYS_CONFIG] = "config",
	[SAYS_HOSTS] = "hosts",
	[SAYS_HOSTFILE] = "hostfile",
	[SAYS_INCLUDE] = "include",
	[SAYS_EXCLUDE] = "exclude",
	[SAYS_PORT] = "port",
	[SAYS_ENDPOINT] = "endpoint",
	[SAYS_BACKEND] = "backend",
	[SAYS_OWN_PORT] = "own_port",
	[SAYS_WAIT] = "wait",
	[SAYS_ASSIGN] = "assign",
	[SAYS_EXPORT] = "export",
	[SAYS_UNSET] = "unset",
	[SAYS_CLEAR] = "clear",
	[SAYS_OTHER_DEVICES] = "other_devices",
	[SAYS_FOREIGN] = "foreign",
	[SAYS_UNKNOWN] = "unknown",
	[SAYS_REFUSED] = "refused",
	NULL,
};

#define LAUNCHER_ROW(name, kind, words)                                        \
	{                                                                      \
		"launcher", #name, kind, offsetof(struct launcher, name),      \
			NULL, words                                            \
	}
static const struct ini_key launcher_keys[] = {
	LAUNCHER_ROW(names, INI_WORDS, NULL),
	LAUNCHER_ROW(kind, INI_WORD, kind_names),
	LAUNCHER_ROW(subcommand, INI_TEXT, NULL),
	LAUNCHER_ROW(alone, INI_WORDS, NULL),
	LAUNCHER_ROW(modules, INI_WORDS, NULL),
	LAUNCHER_ROW(command_modules, INI_WORDS, NULL),
	LAUNCHER_ROW(options, INI_TEXT, NULL),
	LAUNCHER_ROW(unknown_has_value, INI_SWITCH, NULL),
	LAUNCHER_ROW(abbreviations, INI_SWITCH, NULL),
	LAUNCHER_ROW(single_dash, INI_SWITCH, NULL),
	LAUNCHER_ROW(digits, INI_SWITCH, NULL),
	LAUNCHER_ROW(assignments, INI_SWITCH, NULL),
	LAUNCHER_ROW(must_wait, INI_SWITCH, NULL),
	LAUNCHER_ROW(colon_joins, INI_SWITCH, NULL),
	LAUNCHER_ROW(operands, INI_COUNT, NULL),
	LAUNCHER_ROW(bad_letters, INI_TEXT, NULL),
	LAUNCHER_ROW(count, INI_WORD, count_names),
	LAUNCHER_ROW(ranks_option, INI_TEXT, NULL),
	LAUNCHER_ROW(many_by_default, INI_SWITCH, NULL),
	LAUNCHER_ROW(port_option, INI_TEXT, NULL),
	LAUNCHER_ROW(default_file, INI_TEXT, NULL),
	LAUNCHER_ROW(task_files, INI_WORDS, NULL),
	LAUNCHER_ROW(outside, INI_SWITCH, NULL),
	LAUNCHER_ROW(advice, INI_TEXT, NULL),
	{ .name = NULL },
};

/* A file while it is read. */
struct launcher_reading {
	struct launcher *launcher;
	/* "NAMES : what to do instead", of unknown and refused. */
	struct strlist reasons[LAUNCH_WORDS];
};

static void meanings_add(struct launch_meanings *meanings, const char *names,
			 enum launch_word word, const char *why)
{
	struct strlist list = STRLIST_INIT;

	strlist_add_words(&list, names);
	meanings->items =
		xrealloc(meanings->items, meanings->count + list.count + 1,
			 sizeof(*meanings->items));
	for (size_t i = 0; i < list.count; i++)
		meanings->items[meanings->count++] = (struct launch_meaning){
			.name = xstrdup(list.items[i]),
			.word = word,
			.why = why ? xstrdup(why) : NULL,
		};
	strlist_release(&list);
}

/* [says], [variables]: WORD = names of options or variables. */
static int launcher_on_word(struct launcher_reading *reading,
			    struct launch_meanings *meanings,
			    const struct ini_entry *entry, struct error *err)
{
	int word = ini_word_find(word_names, entry->key);
	struct strlist *reasons;
	char *longer;

	if (word < 0)
		return error_set(err, -EINVAL, "[%s] has no key %s",
				 entry->section, entry->key);
	reasons = &reading->reasons[word];
	if (word < SAYS_UNKNOWN) {
		meanings_add(meanings, entry->value, (enum launch_word)word,
			     NULL);
	} else if (entry->continues) {
		longer = xasprintf("%s %s", reasons->items[reasons->count - 1],
				   entry->value);
		strlist_remove(reasons, reasons->count - 1);
		strlist_take(reasons, longer);
	} else {
		strlist_add(reasons, entry->value);
	}
	return 0;
}

/* An ini_entry_cb. */
static int launcher_on_entry(void *context, const struct ini_entry *entry,
			     struct error *err)
{
	struct launcher_reading *reading = context;
	struct launcher *launcher = reading->launcher;
	const struct ini_key *key =
		ini_key_find(launcher_keys, entry->section, entry->key);

	if (key)
		return ini_key_set(key, launcher, entry, err);
	if (strcmp(entry->section, "says") == 0)
		return launcher_on_word(reading, &launcher->says, entry, err);
	if (strcmp(entry->section, "variables") == 0)
		return launcher_on_word(reading, &launcher->variables, entry,
					err);
	return error_set(err, -EINVAL, "[%s] has no key %s", entry->section,
			 entry->key);
}

/* "NAMES : what to do instead" */
static int split_reason(struct launcher *launcher, const char *text,
			enum launch_word word, const char *path,
			struct error *err)
{
	const char *colon = strstr(text, " : ");
	char *names;

	if (!colon)
		return error_set(err, -EINVAL,
				 "%s: %s = %s: write NAMES : what to do "
				 "instead",
				 path, word_names[word], text);
	names = xstrndup(text, (size_t)(colon - text));
	meanings_add(&launcher->says, names, word, colon + 3);
	free(names);
	return 0;
}

static int launcher_check(const struct launcher *launcher, const char *path,
			  struct error *err)
{
	bool starts_ranks = launcher->kind == LAUNCHER_RANKS ||
			    launcher->kind == LAUNCHER_TASKS;

	if (launcher->names.count == 0)
		return error_set(err, -EINVAL, "%s: [launcher] has no names",
				 path);
	if (!launcher->advice && launcher->kind != LAUNCHER_PYTHON &&
	    launcher->kind != LAUNCHER_SHELL)
		return error_set(err, -EINVAL, "%s: [launcher] has no advice",
				 path);
	if (starts_ranks != (launcher->count != COUNT_NOTHING) ||
	    starts_ranks != (launcher->ranks_option != NULL))
		return error_set(err, -EINVAL,
				 "%s: count and ranks_option go with kind = "
				 "ranks or tasks, and with no other",
				 path);
	return 0;
}

static void meanings_release(struct launch_meanings *meanings)
{
	for (size_t i = 0; i < meanings->count; i++) {
		free(meanings->items[i].name);
		free(meanings->items[i].why);
	}
	free(meanings->items);
}

static void launcher_release(struct launcher *launcher)
{
	ini_keys_release(launcher_keys, launcher);
	meanings_release(&launcher->says);
	meanings_release(&launcher->variables);
	free(launcher->file);
}

/* A file of the same name takes the place of the one before. */
static void launcher_keep(struct launchers *launchers,
			  const struct launcher *launcher)
{
	for (size_t i = 0; i < launchers->count; i++) {
		if (strcmp(launchers->items[i].file, launcher->file) == 0) {
			launcher_release(&launchers->items[i]);
			launchers->items[i] = *launcher;
			return;
		}
	}
	launchers->items =
		xgrow(launchers->items, launchers->count, &launchers->capacity,
		      sizeof(*launchers->items));
	launchers->items[launchers->count++] = *launcher;
}

/* On failure the launcher is released. */
static int launcher_read_whole(struct launcher *launcher, const char *path,
			       const char *text, size_t length,
			       struct error *err)
{
	struct launcher_reading reading = { .launcher = launcher };
	int result =
		ini_read(path, text, length, launcher_on_entry, &reading, err);

	for (int word = SAYS_UNKNOWN; word < LAUNCH_WORDS; word++) {
		const struct strlist *reasons = &reading.reasons[word];

		for (size_t i = 0; result == 0 && i < reasons->count; i++)
			result =
				split_reason(launcher, reasons->items[i],
					     (enum launch_word)word, path, err);
		strlist_release(&reading.reasons[word]);
	}
	if (result == 0)
		result = launcher_check(launcher, path, err);
	if (result < 0)
		launcher_release(launcher);
	return result;
}

/* Its names and modules, which stand before its kind. */
static int launcher_read_beginning(struct launcher *launcher,
				   const struct ini_file *file,
				   struct error *err)
{
	static const char mark[] = "\nkind =";
	const char *end = memmem(file->text, file->length, mark, strlen(mark));
	size_t length = end ? (size_t)(end - file->text) + 1 : file->length;
	struct launcher_reading reading = { .launcher = launcher };

	launcher->unread = builtin_find(file->path);
	return ini_read(file->path, file->text, length, launcher_on_entry,
			&reading, err);
}

/* An ini_file_cb. */
static int launcher_on_file(void *context, const struct ini_file *file,
			    struct error *err)
{
	struct launcher launcher = { .file = xstrdup(file->name) };
	int result;

	if (file->is_users)
		result = launcher_read_whole(&launcher, file->path, file->text,
					     file->length, err);
	else
		result = launcher_read_beginning(&launcher, file, err);
	if (result == 0)
		launcher_keep(context, &launcher);
	return result;
}

const struct launcher *launchers_whole(const struct launchers *launchers,
				       const struct launcher *launcher)
{
	struct launcher *row = &launchers->items[launcher - launchers->items];
	const struct builtin_file *file = row->unread;
	struct launcher whole = { .file = NULL };
	struct error err = ERROR_INIT;
	int result;

	if (!file)
		return launcher;
	whole.file = xstrdup(row->file);
	result = launcher_read_whole(&whole, file->path, file->data, file->size,
				     &err);
	/* Tests read each of them. */
	assert(result == 0);
	(void)result;
	launcher_release(row);
	*row = whole;
	return launcher;
}

int launchers_load(struct launchers *launchers, const char *folder,
		   struct error *err)
{
	*launchers = (struct launchers){ 0 };
	return ini_files_read(BUILTIN_FOLDER, folder, launcher_on_file,
			      launchers, err);
}

void launchers_release(struct launchers *launchers)
{
	for (size_t i = 0; i < launchers->count; i++)
		launcher_release(&launchers->items[i]);
	free(launchers->items);
	*launchers = (struct launchers){ 0 };
}
