/* Knobs that stand in a config file. Pure. */
/* SPDX-License-Identifier: MIT */

#include "launcher/command/knobs/knob_in_file.h"

#include "base/alloc.h"
#include "launcher/command/knobs/by_class.h"
#include "launcher/command/knobs/knob_defaults.h"
#include "launcher/command/knobs/knob_take.h"
#include "launcher/command/parts/setting_value.h"
#include "launcher/command/text/names.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* What one file says of a knob. */
struct find {
	const struct command_file *file;
	const struct setting *items[SETTINGS_SAME_MAX];
	size_t count;
};

static bool is_nothing(const struct setting *setting)
{
	static const char *const words[] = { "",     "~",  "null", "none",
					     "auto", "-1", "0" };

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (strcasecmp(words[i], setting->value) == 0)
			return true;
	return false;
}

static bool says_a_count(const struct setting *setting)
{
	int64_t number;

	return count_parse(setting->value, &number);
}

/* !ref <batch_size>, ${train.batch_size}, of a key that is there too; in
 * Python the variable's name alone, dict(batch_size=batch_size). */
static bool refers_to(const struct setting *setting,
		      const struct setting *other)
{
	const char *dot = strrchr(other->key, '.');
	const char *value = setting->value;

	if (setting == other || !says_a_count(other))
		return false;
	return strcmp(value, other->key) == 0 ||
	       ((*value == '<' || strncmp(value, "${", 2) == 0 ||
		 strncmp(value, "!ref", 4) == 0) &&
		strstr(value, dot ? dot + 1 : other->key));
}

static bool is_reference(const struct find *find, const struct setting *setting)
{
	for (size_t i = 0; i < find->count; i++)
		if (refers_to(setting, find->items[i]))
			return true;
	return false;
}

/* What only repeats a number that is there follows it. */
static void drop_references(struct find *find)
{
	struct find all = *find;

	find->count = 0;
	for (size_t i = 0; i < all.count; i++)
		if (!is_reference(&all, all.items[i]))
			find->items[find->count++] = all.items[i];
}

/* Keeps those that are set, and no evaluation's. */
static void filter(const struct recognition *r, struct find *find)
{
	const struct strlist *decoys = &r->command->preset->knobs.decoys;
	size_t kept = 0;

	for (size_t i = 0; i < find->count; i++) {
		const struct setting *setting = find->items[i];

		if (!is_nothing(setting) &&
		    !name_is_decoy(decoys, setting->key, strlen(setting->key)))
			find->items[kept++] = setting;
	}
	find->count = kept;
	drop_references(find);
}

/* Under the first of the names that the file has. */
static void in_file_look_up(const struct recognition *r,
			    const struct strlist *names, struct find *find)
{
	for (size_t i = 0; i < names->count && !find->count; i++) {
		const char *name = names->items[i];

		name += strspn(name, "-");
		if (strlen(name) < 2)
			continue;
		find->count = settings_find_all(find->file->settings, name,
						find->items, SETTINGS_SAME_MAX);
		if (find->count > SETTINGS_SAME_MAX)
			find->count = SETTINGS_SAME_MAX;
		filter(r, find);
	}
}

/* Numbers under keys whose words say it, where nobody knows the names. */
static void in_file_by_class(const struct recognition *r, unsigned classes,
			     struct find *find)
{
	const struct settings *settings = find->file->settings;

	for (size_t i = 0;
	     i < settings->count && find->count < SETTINGS_SAME_MAX; i++) {
		const struct setting *setting = &settings->items[i];
		enum option_class class = by_class_of_key(settings, i);

		if ((classes & CLASS_BIT(class)) && says_a_count(setting))
			find->items[find->count++] = setting;
	}
	filter(r, find);
}

/* Keys of its own, else the names of its options. */
static void find_in(const struct recognition *r, enum knob_kind kind,
		    const struct command_file *file, struct find *find)
{
	const struct preset_knob *knob = preset_knob(r->command->preset, kind);

	*find = (struct find){ .file = file };
	in_file_look_up(r, knob->keys.count ? &knob->keys : &knob->names, find);
	if (!find->count && by_class_applies(r) && by_class_of_knob(kind))
		in_file_by_class(r, by_class_of_knob(kind), find);
}

bool knob_in_file_is_set(const struct recognition *r, enum knob_kind kind,
			 const struct command_file *file)
{
	struct find find;

	find_in(r, kind, file, &find);
	return find.count > 0;
}

static enum command_outcome several(const struct recognition *r,
				    enum knob_kind kind,
				    const struct find *find, size_t other)
{
	const struct setting *a = find->items[0], *b = find->items[other];
	char first[BRIEF_MAX], second[BRIEF_MAX], path[BRIEF_MAX];

	/* Of several data sets none is the batch size alone. */
	if (!strchr(a->key, '[') && kind <= KNOB_ACCUM)
		return not_recognised(
			r,
			"%s sets both %s to %s (line %u) and %s to %s (line "
			"%u), and either may be the %s: name the key that is, "
			"as in %s %s",
			argument_brief(path, find->file->read->path),
			argument_brief(first, a->key), a->value, a->line,
			argument_brief(second, b->key), b->value, b->line,
			knob_words(kind),
			kind == KNOB_ACCUM ? "--accum-flag" : "--micro-flag",
			first);
	return not_recognised(
		r,
		"%s sets both %s to %s (line %u) and %s to %s (line %u), and "
		"either may be the %s: write {%s} into a copy of it, have the "
		"command name that, and give it with --template too",
		argument_brief(path, find->file->read->path),
		argument_brief(first, a->key), a->value, a->line,
		argument_brief(second, b->key), b->value, b->line,
		knob_words(kind), kind == KNOB_ACCUM ? "accum" : "micro");
}

static enum command_outcome no_number(const struct recognition *r,
				      enum knob_kind kind,
				      const struct find *find)
{
	const struct setting *setting = find->items[0];
	char key[BRIEF_MAX], value[BRIEF_MAX], path[BRIEF_MAX];

	return not_recognised(
		r,
		"%s:%u sets %s to \"%s\", which is not a plain whole number, "
		"so the %s is not known: write the number",
		argument_brief(path, find->file->read->path), setting->line,
		argument_brief(key, setting->key),
		argument_brief(value, setting->value), knob_words(kind));
}

/* The number that the settings agree on. */
static enum command_outcome in_file_number_of(const struct recognition *r,
					      enum knob_kind kind,
					      const struct find *find,
					      int64_t *number)
{
	const struct preset_knob *knob = preset_knob(r->command->preset, kind);

	for (size_t i = 1; i < find->count; i++)
		if (strcmp(find->items[i]->value, find->items[0]->value) != 0)
			return several(r, kind, find, i);
	if (count_parse(find->items[0]->value, number) ||
	    (knob->fraction && fraction_parse(find->items[0]->value, number)))
		return COMMAND_OK;
	return no_number(r, kind, find);
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

static enum command_outcome
sites_add(struct recognition *r, enum knob_kind kind, const struct find *find)
{
	for (size_t i = 0; i < find->count; i++) {
		if (!find->items[i]->is_scalar)
			return no_number(r, kind, find);
		site_add(r->command, kind, find->file, find->items[i]);
	}
	return COMMAND_OK;
}

static char *file_evidence(const struct find *find)
{
	return xasprintf("%s:%u", find->file->read->path, find->items[0]->line);
}

/* The value stands in the file, and only there. */
static enum command_outcome
take_site(struct recognition *r, enum knob_kind kind, const struct find *find)
{
	struct knob *knob = &r->command->knobs[kind];
	const struct preset_knob *known = preset_knob(r->command->preset, kind);
	int64_t number = 0;
	enum command_outcome outcome =
		in_file_number_of(r, kind, find, &number);

	if (outcome == COMMAND_OK)
		outcome = sites_add(r, kind, find);
	/* A step limit that is none needs no raising. */
	if (outcome != COMMAND_OK)
		return kind == KNOB_STEPS ? COMMAND_OK : outcome;
	knob->form = KNOB_FILE;
	knob->value = number;
	knob->unit = known->unit;
	knob->name = xstrdup(find->items[0]->key);
	knob->evidence = file_evidence(find);
	return COMMAND_OK;
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
			 const struct find *find, int64_t number)
{
	knob_set_default(r, kind, option_of(r, kind, find->items[0]->key),
			 number, file_evidence(find));
	r->command->knobs[kind].is_said = true;
}

/* The last file that has it, of those that win over options or of the rest. */
static bool find_last(const struct recognition *r, enum knob_kind kind,
		      bool wins, struct find *find)
{
	const struct command *command = r->command;
	bool any = false;

	for (size_t i = 0; i < command->file_count; i++) {
		struct find here;

		if (command->files[i].wins != wins ||
		    command->files[i].is_template)
			continue;
		find_in(r, kind, &command->files[i], &here);
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
	struct find find;

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
	struct find find;
	int64_t number;

	if (!find_last(r, kind, true, &find))
		return COMMAND_OK;
	if (kind > KNOB_GLOBAL)
		return knob->form == KNOB_ABSENT && kind == KNOB_STEPS
			       ? take_site(r, kind, &find)
			       : COMMAND_OK;
	outcome = in_file_number_of(r, kind, &find, &number);
	if (outcome != COMMAND_OK)
		return outcome;
	if (knob->form == KNOB_ABSENT && repeats_default(r, kind, number))
		take_default(r, kind, &find, number);
	if (knob->form != KNOB_ABSENT && knob->value == number)
		return sites_add(r, kind, &find);
	knob_forget(knob);
	return take_site(r, kind, &find);
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
			    const struct find *find)
{
	return find->file->settings->format == SETTINGS_PYTHON &&
	       find->file->index < r->command->view.end && r->text &&
	       strstr(r->text, "config_flags") &&
	       strchr(find->items[0]->key, '.');
}

static enum command_outcome take_config_flag(struct recognition *r,
					     enum knob_kind kind,
					     const struct find *find)
{
	const struct command *command = r->command;
	const char *key = strchr(find->items[0]->key, '.');
	size_t at = find->file->index - (find->file->offset ? 0 : 1);
	const char *option = command_argv(command)->items[at];
	int64_t number = 0;
	enum command_outcome outcome =
		in_file_number_of(r, kind, find, &number);
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

enum command_outcome knob_in_file_find(struct recognition *r,
				       enum knob_kind kind)
{
	enum command_outcome outcome;
	struct find find;
	int64_t number = 0;

	if (!find_last(r, kind, false, &find))
		return COMMAND_OK;
	/* No copy names another folder: what it writes there is shielded. */
	if (kind == KNOB_OUTPUT) {
		if (has_option(r, kind))
			take_default(r, kind, &find, 0);
		return COMMAND_OK;
	}
	if (is_config_flags(r, &find))
		return take_config_flag(r, kind, &find);
	if (!has_option(r, kind))
		return take_site(r, kind, &find);
	outcome = in_file_number_of(r, kind, &find, &number);
	if (outcome == COMMAND_OK)
		take_default(r, kind, &find, number);
	/* A step limit that is none needs no raising. */
	return kind == KNOB_STEPS ? COMMAND_OK : outcome;
}

/* The very key, where there is one, else all that are so called. */
static void prefer_exact(const struct recognition *r, const char *key,
			 struct find *find)
{
	for (size_t i = 0; i < find->count; i++) {
		if (!name_equal(find->items[i]->key,
				strlen(find->items[i]->key), key, strlen(key)))
			continue;
		find->items[0] = find->items[i];
		find->count = 1;
		return;
	}
	filter(r, find);
}

enum command_outcome knob_by_key_find(struct recognition *r,
				      enum knob_kind kind, const char *key)
{
	struct command *command = r->command;
	struct find find;

	for (size_t i = command->file_count; i > 0; i--) {
		find = (struct find){ .file = &command->files[i - 1] };
		find.count = settings_find_all(find.file->settings, key,
					       find.items, SETTINGS_SAME_MAX);
		if (find.count > SETTINGS_SAME_MAX)
			find.count = SETTINGS_SAME_MAX;
		prefer_exact(r, key, &find);
		if (find.count)
			return take_site(r, kind, &find);
	}
	return COMMAND_OK;
}

void file_keys_find(struct file_keys *keys, const struct recognition *r)
{
	const struct command *command = r->command;
	const struct strlist *decoys = &command->preset->knobs.decoys;

	*keys = (struct file_keys){ 0 };
	for (size_t i = 0; i < command->file_count; i++) {
		const struct settings *settings = command->files[i].settings;
		struct file_keys here = { 0 };

		if (command->files[i].is_template)
			continue;
		for (size_t k = 0; k < settings->count; k++) {
			const struct setting *setting = &settings->items[k];
			size_t length = strlen(setting->key);
			enum option_class class = by_class_of_key(settings, k);

			if (class == OPTION_OTHER || !says_a_count(setting) ||
			    name_is_decoy(decoys, setting->key, length))
				continue;
			if (!here.count[class]++)
				here.first[class] = setting;
		}
		for (size_t k = 0; k < OPTION_CLASSES; k++) {
			if (!here.count[k])
				continue;
			keys->count[k] = here.count[k];
			keys->first[k] = here.first[k];
		}
	}
}
