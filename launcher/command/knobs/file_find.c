/* What a config file says of a knob, and what is said of that. Pure. */
/* SPDX-License-Identifier: MIT */
#include "launcher/command/knobs/file_find.h"

#include "base/alloc.h"
#include "base/span.h"
#include "launcher/command/files/source_shares.h"
#include "launcher/command/knobs/by_class.h"
#include "launcher/command/text/names.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

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

static bool is_reference(const struct file_find *find,
			 const struct setting *setting)
{
	for (size_t i = 0; i < find->count; i++)
		if (refers_to(setting, find->items[i]))
			return true;
	return false;
}

/* What only repeats a number that is there follows it. */
static void drop_references(struct file_find *find)
{
	struct file_find all = *find;

	find->count = 0;
	for (size_t i = 0; i < all.count; i++)
		if (!is_reference(&all, all.items[i]))
			find->items[find->count++] = all.items[i];
}

/* The name in ${bs}, !ref <bs> and <bs>, or in Python the whole of bs; of no
 * length: the value is something else, or more than that. */
static struct span referred_name(enum settings_format format, const char *value)
{
	static const char *const marks[][2] = { { "${", "}" },
						{ "!ref <", ">" },
						{ "<", ">" } };
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz"
				      "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789_.";
	struct span name = { value, strspn(value, letters) };

	if (format == SETTINGS_PYTHON && value[name.length] == '\0')
		return name;
	for (size_t i = 0; i < sizeof(marks) / sizeof(*marks); i++) {
		size_t length = strlen(marks[i][0]);

		if (strncmp(value, marks[i][0], length) != 0)
			continue;
		name.at = value + length;
		name.length = strspn(name.at, letters);
		if (strcmp(name.at + name.length, marks[i][1]) == 0)
			return name;
	}
	return (struct span){ NULL, 0 };
}

/* The one number of the file that bears that name, or NULL. */
static const struct setting *number_named(const struct settings *settings,
					  struct span name)
{
	const struct setting *found[SETTINGS_SAME_MAX], *number = NULL;
	char *key = xstrndup(name.at, name.length);
	size_t count =
		settings_find_all(settings, key, found, SETTINGS_SAME_MAX);

	for (size_t i = 0; i < count && i < SETTINGS_SAME_MAX; i++) {
		if (strcmp(found[i]->key, key) != 0)
			continue;
		if (number || !says_a_count(found[i])) {
			number = NULL;
			break;
		}
		number = found[i];
	}
	free(key);
	return count > SETTINGS_SAME_MAX ? NULL : number;
}

static bool has_item(const struct file_find *find, const struct setting *item)
{
	for (size_t i = 0; i < find->count; i++)
		if (find->items[i] == item)
			return true;
	return false;
}

/* accumulative_counts = 16, and dict(accumulative_counts=accumulative_counts):
 * the number is that of the first. */
static void follow_references(struct file_find *find)
{
	const struct settings *settings = find->file->settings;
	struct file_find all = *find;

	find->key = all.count ? all.items[0]->key : NULL;
	find->count = 0;
	for (size_t i = 0; i < all.count; i++) {
		struct span name =
			referred_name(settings->format, all.items[i]->value);
		const struct setting *number =
			name.length ? number_named(settings, name) : NULL;

		number = number ? number : all.items[i];
		if (!has_item(find, number))
			find->items[find->count++] = number;
	}
}

/* Keeps those that are set, and no evaluation's. */
static void filter(const struct recognition *r, struct file_find *find)
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
	follow_references(find);
}

static void drop_other_steps(struct file_find *find)
{
	size_t kept = 0;

	for (size_t i = 0; i < find->count; i++)
		if (!option_steps_are_aside(find->items[i]->key,
					    strlen(find->items[i]->key)))
			find->items[kept++] = find->items[i];
	find->count = kept;
}

/* Under the first of the names that the file has. */
static void in_file_look_up(const struct recognition *r, enum knob_kind kind,
			    const struct strlist *names, struct file_find *find)
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
		if (kind == KNOB_STEPS && by_class_applies(r))
			drop_other_steps(find);
		filter(r, find);
	}
}

/* Numbers under keys whose words say it, where nobody knows the names. */
static void in_file_by_class(const struct recognition *r, unsigned classes,
			     struct file_find *find)
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

void file_find_knob(struct file_find *find, const struct recognition *r,
		    enum knob_kind kind, const struct command_file *file)
{
	const struct preset_knob *knob = preset_knob(r->command->preset, kind);

	*find = (struct file_find){ .file = file };
	in_file_look_up(r, kind, knob->keys.count ? &knob->keys : &knob->names,
			find);
	if (!find->count && by_class_applies(r) && by_class_of_knob(kind))
		in_file_by_class(r, by_class_of_knob(kind), find);
}

void file_find_key(struct file_find *find, const struct recognition *r,
		   const char *key, const struct command_file *file)
{
	*find = (struct file_find){ .file = file };
	find->count = settings_find_all(file->settings, key, find->items,
					SETTINGS_SAME_MAX);
	if (find->count > SETTINGS_SAME_MAX)
		find->count = SETTINGS_SAME_MAX;
	for (size_t i = 0; i < find->count; i++) {
		if (!name_equal(find->items[i]->key,
				strlen(find->items[i]->key), key, strlen(key)))
			continue;
		find->items[0] = find->items[i];
		find->count = 1;
		follow_references(find);
		return;
	}
	filter(r, find);
}

const char *file_find_path(const struct file_find *find,
			   const struct setting *setting)
{
	return setting->path ? setting->path : find->file->read->path;
}

enum command_outcome file_find_several(const struct recognition *r,
				       enum knob_kind kind,
				       const struct file_find *find,
				       size_t other)
{
	const struct setting *a = find->items[0], *b = find->items[other];
	bool is_accum = kind == KNOB_ACCUM;
	char first[BRIEF_MAX], second[BRIEF_MAX], path[BRIEF_MAX];
	char *way;
	enum command_outcome outcome;

	(void)argument_brief(first, a->key);
	/* Of several data sets none is the batch size alone. */
	if (!strchr(a->key, '[') && kind <= KNOB_ACCUM)
		way = xasprintf("name the key that is, as in %s %s",
				is_accum ? "--accum-flag" : "--micro-flag",
				first);
	else
		way = xasprintf("write {%s} into a copy of it, have the "
				"command name that, and give it with "
				"--template too",
				is_accum ? "accum" : "micro");
	outcome = not_recognised(
		r,
		"%s sets both %s to %s (line %u) and %s to %s (line %u), and "
		"either may be the %s: %s",
		argument_brief(path, file_find_path(find, a)), first, a->value,
		a->line, argument_brief(second, b->key), b->value, b->line,
		knob_words(kind), way);
	free(way);
	return outcome;
}

static enum command_outcome file_find_no_number(const struct recognition *r,
						enum knob_kind kind,
						const struct file_find *find)
{
	const struct setting *setting = find->items[0];
	char key[BRIEF_MAX], value[BRIEF_MAX], path[BRIEF_MAX];

	return not_recognised(
		r,
		"%s:%u sets %s to \"%s\", which is not a plain whole number, "
		"so the %s is not known: write the number",
		argument_brief(path, file_find_path(find, setting)),
		setting->line, argument_brief(key, setting->key),
		argument_brief(value, setting->value), knob_words(kind));
}

/* What may make a number that stands there another one, or more of it. */
static const char *file_find_doubt(const struct settings *settings)
{
	static const char *const words[] = {
		[SETTINGS_YAML] =
			"an anchor, a merge, a tag or a leading 0 decides",
		[SETTINGS_JSON] = "its key stands there twice",
		[SETTINGS_TOML] = "its key stands there twice",
		[SETTINGS_PYTHON] = "the code around it decides",
		[SETTINGS_ARGS] = "its key stands there twice",
	};

	return words[settings->format];
}

enum command_outcome file_find_no_place(const struct recognition *r,
					enum knob_kind kind,
					const struct file_find *find,
					const struct setting *setting)
{
	char key[BRIEF_MAX], path[BRIEF_MAX];

	if (!says_a_count(setting))
		return file_find_no_number(r, kind, find);
	return not_recognised(
		r,
		"%s:%u sets %s to %s, but another number cannot just be "
		"written there (%s): write {%s} into a copy of the file, have "
		"the command name that, and give it with --template too",
		argument_brief(path, file_find_path(find, setting)),
		setting->line, argument_brief(key, setting->key),
		setting->value, file_find_doubt(find->file->settings),
		kind == KNOB_ACCUM ? "accum" : "micro");
}

enum command_outcome file_find_number(const struct recognition *r,
				      enum knob_kind kind,
				      const struct file_find *find,
				      int64_t *number)
{
	const struct preset_knob *knob = preset_knob(r->command->preset, kind);

	for (size_t i = 1; i < find->count; i++)
		if (strcmp(find->items[i]->value, find->items[0]->value) != 0)
			return file_find_several(r, kind, find, i);
	if (count_parse(find->items[0]->value, number) ||
	    (knob->fraction && fraction_parse(find->items[0]->value, number)))
		return COMMAND_OK;
	return file_find_no_number(r, kind, find);
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

const struct setting *file_keys_divisor(const struct file_keys *keys,
					const struct recognition *r)
{
	const struct setting *like = keys->first[OPTION_BATCH_LIKE];
	const char *dot = like ? strrchr(like->key, '.') : NULL;

	return like && keys->count[OPTION_BATCH_LIKE] == 1 && r->text &&
			       source_accum_divides_by(r->text, dot ? dot + 1
								    : like->key)
		       ? like
		       : NULL;
}
