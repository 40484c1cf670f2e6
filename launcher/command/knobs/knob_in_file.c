/* Knobs that stand in a config file. Pure. */
/* SPDX-License-Identifier: MIT */

#include "launcher/command/knobs/knob_in_file.h"

#include "base/alloc.h"
#include "launcher/command/knobs/by_class.h"
#include "launcher/command/knobs/file_find.h"
#include "launcher/command/knobs/knob_accum.h"
#include "launcher/command/knobs/knob_defaults.h"
#include "launcher/command/knobs/knob_scope.h"
#include "launcher/command/knobs/knob_take.h"
#include "launcher/command/parts/setting_value.h"
#include "launcher/command/parts/token.h"
#include "launcher/command/ranks/ranks_open.h"
#include "launcher/command/text/names.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

bool knob_in_file_is_set(const struct recognition *r, enum knob_kind kind,
			 const struct command_file *file)
{
	struct file_find find;

	file_find_knob(&find, r, kind, file);
	return find.count > 0;
}

static void site_add(struct command *command, enum knob_kind kind,
		     const struct command_file *file,
		     const struct setting *setting)
{
	command->sites = xrealloc(command->sites, command->site_count + 1,
				  sizeof(*command->sites));
	command->sites[command->site_count++] = (struct command_site){
		.kind = kind,
		.file = (size_t)(file - command->files),
		.setting = (size_t)(setting - file->settings->items),
	};
}

static enum command_outcome sites_add(struct recognition *r,
				      enum knob_kind kind,
				      const struct file_find *find)
{
	for (size_t i = 0; i < find->count; i++) {
		if (!find->items[i]->is_scalar)
			return file_find_no_place(r, kind, find,
						  find->items[i]);
		site_add(r->command, kind, find->file, find->items[i]);
	}
	return COMMAND_OK;
}

static char *file_evidence(const struct file_find *find)
{
	return xasprintf("%s:%u", file_find_path(find, find->items[0]),
			 find->items[0]->line);
}

static void knob_stands(struct recognition *r, enum knob_kind kind,
			const struct file_find *find, enum knob_form form,
			int64_t number)
{
	struct knob *knob = &r->command->knobs[kind];

	knob->form = form;
	knob->value = number;
	knob->unit = preset_knob(r->command->preset, kind)->unit;
	knob->name = xstrdup(find->key);
	knob->evidence = file_evidence(find);
}

/* The value stands in the file, and only there. */
static enum command_outcome take_site(struct recognition *r,
				      enum knob_kind kind,
				      const struct file_find *find)
{
	int64_t number = 0;
	enum command_outcome outcome = file_find_number(r, kind, find, &number);

	if (outcome == COMMAND_OK)
		outcome = sites_add(r, kind, find);
	/* A step limit that is none needs no raising. */
	if (outcome != COMMAND_OK)
		return kind == KNOB_STEPS ? COMMAND_OK : outcome;
	knob_stands(r, kind, find, KNOB_FILE, number);
	return COMMAND_OK;
}

/* Words of the command win over the file: "data.batch_size=8". */
static enum command_outcome take_overridden(struct recognition *r,
					    enum knob_kind kind,
					    const struct file_find *find)
{
	int64_t number = 0;
	enum command_outcome outcome = file_find_number(r, kind, find, &number);

	if (outcome == COMMAND_OK && find->count > 1)
		outcome = file_find_several(r, kind, find, 1);
	if (outcome != COMMAND_OK || kind >= KNOB_STEPS)
		return kind >= KNOB_STEPS ? COMMAND_OK : outcome;
	knob_set_default(r, kind, find->key, number, file_evidence(find));
	r->command->knobs[kind].is_said = true;
	return COMMAND_OK;
}

/* What is put together of several files, as it stands in the one of them. */
static const struct setting *setting_in_its_file(const struct named_file *read,
						 const struct setting *setting)
{
	const struct settings *settings = &read->settings;

	for (size_t i = 0; setting->path && i < settings->count; i++)
		if (settings->items[i].line == setting->line &&
		    strcmp(settings->items[i].value, setting->value) == 0)
			return &settings->items[i];
	return setting;
}

/* Only a script names the file, or nothing can be added to its words: a copy is
 * to lie over it. */
static enum command_outcome take_covered(struct recognition *r,
					 enum knob_kind kind,
					 const struct file_find *find)
{
	struct knob *knob = &r->command->knobs[kind];
	const struct named_file *read =
		named_files_get(r->texts, file_find_path(find, find->items[0]));
	const struct setting *setting =
		setting_in_its_file(read, find->items[0]);
	int64_t number = 0;
	enum command_outcome outcome = file_find_number(r, kind, find, &number);
	size_t length = strlen(setting->value);
	size_t quotes = setting->end - setting->start > length;

	if (outcome == COMMAND_OK && find->count > 1)
		outcome = file_find_several(r, kind, find, 1);
	if (outcome == COMMAND_OK &&
	    (!setting->is_scalar ||
	     setting->end - setting->start != length + 2 * quotes))
		outcome = file_find_no_place(r, kind, find, setting);
	if (outcome != COMMAND_OK || kind >= KNOB_STEPS)
		return kind >= KNOB_STEPS ? COMMAND_OK : outcome;
	knob_stands(r, kind, find, KNOB_SOURCE, number);
	knob->index = NO_INDEX;
	knob->source = read;
	knob->offset = setting->start + quotes;
	knob->end = knob->offset + length;
	return COMMAND_OK;
}

/* A shell script says the name, or from where it is seen, so that the words of
 * the command cannot say another one. */
static bool is_named_by_script(const struct recognition *r,
			       const struct command_file *file)
{
	const struct shell_expansion *expansion = &r->command->view.expansion;

	return expansion->script && file->index < expansion->argv.count &&
	       (expansion->folder ||
		expansion->words[file->index].origin == WORD_SCRIPT);
}

/* Options can be added to the command. */
static bool takes_options(const struct recognition *r)
{
	return command_append_at(r->command) != NO_INDEX;
}

static enum command_outcome take_found(struct recognition *r,
				       enum knob_kind kind,
				       const struct file_find *find)
{
	const struct command_file *file = find->file;

	if (file->takes_words && takes_options(r))
		return take_overridden(r, kind, find);
	return (file->index == NO_INDEX &&
		(!file->option || !takes_options(r))) ||
			       is_named_by_script(r, file) ||
			       find->items[0]->path
		       ? take_covered(r, kind, find)
		       : take_site(r, kind, find);
}

/* The option that sets what this key does: of the same name, else the first. */
static const char *option_of(const struct recognition *r, enum knob_kind kind,
			     const char *key)
{
	const struct strlist *names =
		&preset_knob(r->command->preset, kind)->names;
	const char *dot = strrchr(key, '.');
	const char *last = dot ? dot + 1 : key;

	for (size_t i = 0; i < names->count; i++) {
		const char *name = names->items[i];
		const char *letters = name + strspn(name, "-");

		if (name_equal(letters, strlen(letters), key, strlen(key)) ||
		    name_equal(letters, strlen(letters), last, strlen(last)))
			return name;
	}
	return names->items[0];
}

/* What the file says becomes an option. */
static void take_default(struct recognition *r, enum knob_kind kind,
			 const struct file_find *find, int64_t number)
{
	knob_set_default(r, kind, option_of(r, kind, find->key), number,
			 file_evidence(find));
	r->command->knobs[kind].is_said = true;
}

/* The last file that has it, of those that win over options or of the rest. */
static bool find_last(const struct recognition *r, enum knob_kind kind,
		      bool wins, struct file_find *find)
{
	const struct command *command = r->command;
	bool any = false;

	for (size_t i = 0; i < command->file_count; i++) {
		struct file_find here;

		if (command->files[i].wins != wins ||
		    command->files[i].is_template)
			continue;
		file_find_knob(&here, r, kind, &command->files[i]);
		if (here.count == 0)
			continue;
		*find = here;
		any = true;
	}
	return any;
}

bool knob_in_winning_file_is_set(const struct recognition *r,
				 enum knob_kind kind)
{
	struct file_find find;

	return find_last(r, kind, true, &find);
}

/* An option that is not given, with the default that the file repeats. */
static bool repeats_default(const struct recognition *r, enum knob_kind kind,
			    int64_t number)
{
	const struct preset_knob *known = preset_knob(r->command->preset, kind);

	return r->command->preset_is_certain && known->names.count > 0 &&
	       known->default_value == number;
}

enum command_outcome knob_in_winning_file_find(struct recognition *r,
					       enum knob_kind kind)
{
	struct knob *knob = &r->command->knobs[kind];
	enum command_outcome outcome;
	struct file_find find;
	int64_t number;

	if (!find_last(r, kind, true, &find))
		return COMMAND_OK;
	if (kind > KNOB_GLOBAL)
		return knob->form == KNOB_ABSENT && kind == KNOB_STEPS
			       ? take_site(r, kind, &find)
			       : COMMAND_OK;
	outcome = file_find_number(r, kind, &find, &number);
	if (outcome != COMMAND_OK)
		return outcome;
	if (knob->form == KNOB_ABSENT && repeats_default(r, kind, number))
		take_default(r, kind, &find, number);
	if (knob->form != KNOB_ABSENT && knob->value == number)
		return sites_add(r, kind, &find);
	knob_forget(knob);
	return take_found(r, kind, &find);
}

static bool has_option(const struct recognition *r, enum knob_kind kind)
{
	const struct preset_knob *knob = preset_knob(r->command->preset, kind);

	return r->command->preset_is_certain && knob->names.count > 0 &&
	       (knob->names.items[0][0] == '-' || knob->bare ||
		r->command->preset->words.pairs);
}

/* ml_collections: --config=x.py, and --config.batch_size=8 sets what its
 * function does. */
static bool is_config_flags(const struct recognition *r,
			    const struct file_find *find)
{
	return find->file->settings->format == SETTINGS_PYTHON &&
	       find->file->index < r->command->view.end && r->text &&
	       strstr(r->text, "config_flags") && strchr(find->key, '.');
}

static enum command_outcome take_config_flag(struct recognition *r,
					     enum knob_kind kind,
					     const struct file_find *find)
{
	const struct command *command = r->command;
	const char *key = strchr(find->key, '.');
	size_t at = find->file->index - (find->file->offset ? 0 : 1);
	const char *option = command_argv(command)->items[at];
	int64_t number = 0;
	enum command_outcome outcome = file_find_number(r, kind, find, &number);
	char *name;

	if (kind == KNOB_STEPS || outcome != COMMAND_OK)
		return kind == KNOB_STEPS ? COMMAND_OK : outcome;
	name = xasprintf("%.*s%s", (int)strcspn(option, "="), option, key);
	knob_set_default(r, kind, name, number, file_evidence(find));
	r->command->knobs[kind].is_said = true;
	r->command->knobs[kind].joined_only = true;
	free(name);
	return COMMAND_OK;
}

/* What is the effective batch already, by a word or in the file. */
static bool is_the_global(const struct recognition *r, enum knob_kind kind,
			  const struct file_find *find)
{
	const struct knob *global = &r->command->knobs[KNOB_GLOBAL];

	return kind == KNOB_MICRO && by_class_applies(r) && global->name &&
	       strcmp(global->name + strspn(global->name, "-+~"), find->key) ==
		       0;
}

/* The program starts a launcher of its own, and what trains there is another:
 * a batch of the file may be what that takes, or a part of it. */
static bool trains_elsewhere(const struct recognition *r, enum knob_kind kind)
{
	return kind == KNOB_MICRO && by_class_applies(r) && r->text &&
	       ranks_start_launcher(r->text);
}

static enum command_outcome of_another(const struct recognition *r,
				       const struct file_find *find)
{
	char key[BRIEF_MAX], path[BRIEF_MAX];

	(void)argument_brief(key, find->key);
	return not_recognised(
		r,
		"%s:%u sets %s to %s, and what the training that %s starts "
		"does with it is not known: if it is the batch size of one "
		"pass, add --micro-flag %s",
		argument_brief(path, file_find_path(find, find->items[0])),
		find->items[0]->line, key, find->items[0]->value,
		r->source_name, key);
}

/* ${div_up:${loader.global_batch_size}, ...}: an accumulation that follows from
 * an effective batch, which the words of the command say. */
static bool follows_global(const struct recognition *r, enum knob_kind kind,
			   const struct file_find *find)
{
	const char *value = find->items[0]->value;
	const struct setting *global;
	struct file_keys keys;
	struct token token;

	if (kind != KNOB_ACCUM || !by_class_applies(r) ||
	    strncmp(value, "${", 2) != 0)
		return false;
	file_keys_find(&keys, r);
	global = keys.first[OPTION_GLOBAL];
	return global && keys.count[OPTION_GLOBAL] == 1 &&
	       strstr(value, global->key) &&
	       token_find(r->command, global->key, &token);
}

enum command_outcome knob_in_file_find(struct recognition *r,
				       enum knob_kind kind)
{
	enum command_outcome outcome;
	struct file_find find;
	int64_t number = 0;

	if (!find_last(r, kind, false, &find) || is_the_global(r, kind, &find))
		return COMMAND_OK;
	if (follows_global(r, kind, &find))
		return COMMAND_OK;
	if (trains_elsewhere(r, kind))
		return of_another(r, &find);
	/* No copy names another folder: what it writes there is shielded. */
	if (kind == KNOB_OUTPUT) {
		if (has_option(r, kind))
			take_default(r, kind, &find, 0);
		return COMMAND_OK;
	}
	if (is_config_flags(r, &find))
		return take_config_flag(r, kind, &find);
	if (!has_option(r, kind) ||
	    (!takes_options(r) && is_named_by_script(r, find.file)))
		return take_found(r, kind, &find);
	outcome = file_find_number(r, kind, &find, &number);
	if (outcome == COMMAND_OK)
		take_default(r, kind, &find, number);
	/* A step limit that is none needs no raising. */
	return kind == KNOB_STEPS ? COMMAND_OK : outcome;
}

enum command_outcome knob_by_key_find(struct recognition *r,
				      enum knob_kind kind, const char *key)
{
	struct command *command = r->command;
	struct file_find find;

	for (size_t i = command->file_count; i > 0; i--) {
		file_find_key(&find, r, key, &command->files[i - 1]);
		if (find.count)
			return take_found(r, kind, &find);
	}
	return COMMAND_OK;
}

/* A key alone, beside an accumulation that is part of it. */
static enum command_outcome alone_of_file(struct recognition *r,
					  const struct setting *batch)
{
	const struct knob *knobs = r->command->knobs;
	enum knob_scope *scope = &r->command->knobs[KNOB_GLOBAL].scope;

	if (knobs[KNOB_ACCUM].form == KNOB_ABSENT ||
	    !(knob_scope_holds_accum(r, batch->key) || knob_accum_splits(r)))
		return COMMAND_OK;
	if (!r->hints->global_scope)
		(void)knob_scope_said(r, batch->key, scope);
	return knob_by_key_find(r, KNOB_GLOBAL, batch->key);
}

/* Of a larger batch alone; like: what may be one of another domain; NULL. */
static enum command_outcome global_of_file(struct recognition *r,
					   const struct setting *global,
					   const struct setting *like)
{
	char name[BRIEF_MAX], other[BRIEF_MAX];

	if (!like || !name_is_counterpart(global->key, like->key))
		return alone_of_file(r, global);
	(void)argument_brief(name, global->key);
	(void)argument_brief(other, like->key);
	return not_recognised(r,
			      "both %s %s and %s %s of a config file may be "
			      "the batch size: add --micro-flag %s or "
			      "--micro-flag %s",
			      other, like->value, name, global->value, other,
			      name);
}

enum command_outcome knob_pair_in_file_find(struct recognition *r)
{
	const struct setting *micro, *batch, *global;
	size_t micros, batches, globals;
	enum command_outcome outcome;
	struct file_keys keys;

	file_keys_find(&keys, r);
	micros = keys.count[OPTION_MICRO] + keys.count[OPTION_MICRO_NODE];
	micro = keys.first[OPTION_MICRO] ? keys.first[OPTION_MICRO]
					 : keys.first[OPTION_MICRO_NODE];
	batches = keys.count[OPTION_BATCH];
	batch = keys.first[OPTION_BATCH];
	globals = keys.count[OPTION_GLOBAL];
	global = keys.first[OPTION_GLOBAL];
	if (globals == 1 && micros + batches == 0) {
		micro = file_keys_divisor(&keys, r);
		micros += micro != NULL;
	}
	if (micros == 0 && batches == 1 &&
	    (globals == 0 ||
	     (globals == 1 && knob_scope_is_part(global->value, batch->value))))
		return alone_of_file(r, batch);
	if (globals == 1 && micros + batches == 0)
		return global_of_file(r, global, keys.first[OPTION_BATCH_LIKE]);
	if (micros + batches + globals != 2 || micros == 2 || batches == 2 ||
	    globals == 2)
		return COMMAND_OK;
	if (!micro)
		micro = batch;
	if (!global) {
		global = batch;
		outcome = knob_scope_of_larger(r, micro->key, global->key,
					       global->value);
		if (outcome != COMMAND_OK)
			return outcome;
	}
	outcome = knob_by_key_find(r, KNOB_MICRO, micro->key);
	return outcome == COMMAND_OK
		       ? knob_by_key_find(r, KNOB_GLOBAL, global->key)
		       : outcome;
}
