/* A model's numbers in a file of our own: TOML, YAML, JSON or INI. */
/* SPDX-License-Identifier: MIT */
#include "configs/models/model.h"

#include "base/strbuf.h"
#include "base/units.h"
#include "configs/files/ini.h"
#include "configs/files/json_bounded.h"
#include "configs/models/config/model_hf.h"
#include "configs/settings/settings.h"

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define TABLE "model."
#define NUMBER_MAX 32

/* One line of it, whatever it is written in. */
struct model_text_entry {
	const char *key;
	const char *value;
};

/* The file is read twice: its family comes first, for what that brings. */
struct model_text_reading {
	struct model_facts *facts;
	const char *name;
	bool is_first; /* only the family is taken */
	/* Another program's file, which has more to say than a model. */
	bool is_foreign;
};

/*
 * Other programs' names: AGI2 and nanoGPT-like trainers, and config.json's.
 * Where one of them stands the file is theirs, and keys that are no numbers of
 * a model are noted, not refused.
 */
static const struct {
	const char *theirs, *ours; /* ours NULL: of the run, see below */
	size_t offset;
} foreign_names[] = {
	{ "model_embd", "hidden", 0 },
	{ "model_layer", "layers", 0 },
	{ "model_head", "heads", 0 },
	{ "model_positions", "positions", 0 },
	{ "n_embd", "hidden", 0 },
	{ "n_layer", "layers", 0 },
	{ "n_head", "heads", 0 },
	{ "vocab_size", "vocab", 0 },
	{ "batch_size", NULL, offsetof(struct model_facts, run_batch) },
	{ "seq_len", NULL, offsetof(struct model_facts, run_sequence) },
	{ "block_size", NULL, offsetof(struct model_facts, run_sequence) },
};

static size_t foreign_find(const char *key)
{
	size_t i = 0;
	const char *dot = strrchr(key, '.');

	key = dot ? dot + 1 : key;
	while (i < sizeof(foreign_names) / sizeof(*foreign_names) &&
	       strcmp(foreign_names[i].theirs, key) != 0)
		i++;
	return i;
}

static bool foreign_is(size_t place)
{
	return place < sizeof(foreign_names) / sizeof(*foreign_names);
}

static void foreign_note(struct model_facts *facts, const char *key)
{
	size_t used = strlen(facts->unread);

	assert(used < sizeof(facts->unread));
	(void)snprintf(facts->unread + used, sizeof(facts->unread) - used,
		       "%s%.40s", used ? ", " : "keys of the file: ", key);
}

static int fail_key(const char *key, struct error *err)
{
	struct strbuf names = STRBUF_INIT;
	int result;

	for (const struct model_field *field = model_fields; field->name;
	     field++)
		strbuf_addf(&names, ", %s", field->name);
	result = error_set(err, -EINVAL,
			   "'%.64s' is no field of a model: family, name, "
			   "dtype, params%s",
			   key, strbuf_text(&names));
	strbuf_release(&names);
	return result;
}

/* TOML and Python write 32_000 too. */
static int parse_number(const char *value, int64_t *number, struct error *err)
{
	char text[NUMBER_MAX];
	size_t length = 0;

	for (const char *c = value; *c && length + 1 < sizeof(text); c++)
		if (*c != '_' || c == value)
			text[length++] = *c;
	assert(length < sizeof(text));
	text[length] = '\0';
	return integer_parse(text, number, err);
}

static int parse_flag(const char *value, int64_t *number, struct error *err)
{
	static const struct {
		const char *word;
		int64_t number;
	} words[] = {
		{ "true", 1 },  { "yes", 1 }, { "on", 1 },  { "1", 1 },
		{ "false", 0 }, { "no", 0 },  { "off", 0 }, { "0", 0 },
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		if (strcasecmp(words[i].word, value) != 0)
			continue;
		*number = words[i].number;
		return 0;
	}
	return error_set(err, -EINVAL, "'%.64s' is not true or false", value);
}

static const struct model_field *find_field(const char *key)
{
	const struct model_field *field = model_fields;

	while (field->name && strcmp(field->name, key) != 0)
		field++;
	return field->name ? field : NULL;
}

static int model_text_set_field(struct model_facts *facts,
				const struct model_text_entry *entry,
				struct error *err)
{
	const struct model_field *field = find_field(entry->key);
	int64_t number = 0;
	int result;

	if (!field)
		return fail_key(entry->key, err);
	if (field->is_flag)
		result = parse_flag(entry->value, &number, err);
	else if (strcmp(entry->key, "parameters") == 0)
		result = parameters_parse(entry->value, &number, err);
	else
		result = parse_number(entry->value, &number, err);
	if (result < 0)
		return error_prefix(err, "%s", entry->key);
	if (number == 0 && !field->is_flag)
		return error_set(err, -EINVAL,
				 "%s is 0: give a number from 1, or leave it "
				 "out",
				 entry->key);
	return model_facts_set(facts, entry->key, number, err);
}

static int set_family(struct model_facts *facts, const char *name,
		      struct error *err)
{
	enum model_family family;

	if (model_family_parse(name, &family) < 0)
		return error_set(err, -EINVAL, "family: '%.64s' is none of %s",
				 name, MODEL_FAMILY_NAMES);
	model_facts_init(facts, family);
	return 0;
}

static int set_words(char *text, size_t size,
		     const struct model_text_entry *entry, struct error *err)
{
	for (const char *c = entry->value; *c; c++)
		if (*c < ' ' || *c > '~')
			return error_set(err, -EINVAL,
					 "%s: only printable ASCII",
					 entry->key);
	if (strlen(entry->value) >= size)
		return error_set(err, -EINVAL, "%s: longer than %zu bytes",
				 entry->key, size - 1);
	(void)snprintf(text, size, "%s", entry->value);
	return 0;
}

/* What is no number of a model is noted. */
static int model_text_take_foreign(struct model_facts *facts, size_t place,
				   struct model_text_entry *entry,
				   struct error *err)
{
	int64_t number = 0;

	if (foreign_is(place) && foreign_names[place].ours) {
		entry->key = foreign_names[place].ours;
		return model_text_set_field(facts, entry, err);
	}
	if (foreign_is(place) &&
	    parse_number(entry->value, &number, NULL) == 0 && number > 0)
		*(int64_t *)((char *)facts + foreign_names[place].offset) =
			number;
	else if (find_field(entry->key))
		return model_text_set_field(facts, entry, err);
	else
		foreign_note(facts, entry->key);
	return 0;
}

static int model_text_take(struct model_text_reading *reading,
			   struct model_text_entry entry, struct error *err)
{
	struct model_facts *facts = reading->facts;
	size_t place = foreign_find(entry.key);

	if (strncmp(entry.key, TABLE, strlen(TABLE)) == 0)
		entry.key += strlen(TABLE);
	if (foreign_is(place) && reading->is_first)
		reading->is_foreign = true;
	else if (reading->is_foreign && !reading->is_first)
		return model_text_take_foreign(facts, place, &entry, err);
	if (strcmp(entry.key, "family") == 0)
		return reading->is_first ? set_family(facts, entry.value, err)
					 : 0;
	if (reading->is_first)
		return 0;
	if (strcmp(entry.key, "name") == 0)
		return set_words(facts->name, sizeof(facts->name), &entry, err);
	if (strcmp(entry.key, "dtype") == 0)
		return set_words(facts->dtype, sizeof(facts->dtype), &entry,
				 err);
	if (strcmp(entry.key, "params") == 0)
		entry.key = "parameters";
	return model_text_set_field(facts, &entry, err);
}

static int take_settings(struct model_text_reading *reading,
			 const struct settings *settings, struct error *err)
{
	for (size_t i = 0; i < settings->count; i++) {
		const struct setting *item = &settings->items[i];
		struct model_text_entry entry = { item->key, item->value };
		int result = model_text_take(reading, entry, err);

		if (result < 0)
			return error_prefix(err, "%s:%u", reading->name,
					    item->line);
	}
	return 0;
}

static int read_settings(struct model_text_reading *reading,
			 enum settings_format format,
			 const struct model_text *text, struct error *err)
{
	struct settings settings = { 0 };
	int result = settings_read(&settings, format, text->name, text->text,
				   text->length, err);

	reading->is_first = true;
	if (result == 0)
		result = take_settings(reading, &settings, err);
	reading->is_first = false;
	if (reading->is_foreign && reading->facts->family == MODEL_UNKNOWN)
		model_facts_init(reading->facts, MODEL_GPT2);
	if (result == 0)
		result = take_settings(reading, &settings, err);
	settings_release(&settings);
	return result;
}

/* ini_read says the line. */
static int model_text_on_entry(void *context, const struct ini_entry *ini,
			       struct error *err)
{
	struct model_text_entry entry = { ini->key, ini->value };

	if (*ini->section && strcmp(ini->section, "model") != 0)
		return error_set(err, -EINVAL,
				 "[%.64s] is no section of a model: [model]",
				 ini->section);
	return model_text_take(context, entry, err);
}

static int read_ini(struct model_text_reading *reading,
		    const struct model_text *text, struct error *err)
{
	int result;

	reading->is_first = true;
	result = ini_read(text->name, text->text, text->length,
			  model_text_on_entry, reading, err);
	reading->is_first = false;
	if (result < 0)
		return result;
	return ini_read(text->name, text->text, text->length,
			model_text_on_entry, reading, err);
}

/* Hugging Face's, whatever the file is called. */
static int read_json(struct model_text_reading *reading,
		     const struct model_text *text, struct error *err)
{
	json_t *root =
		json_bounded(text->name, text->text, text->length, false, err);
	struct hf_config config;
	bool is_hf;
	int result;

	if (!root)
		return err ? err->code : -EINVAL;
	is_hf = hf_config_is(root);
	result = is_hf ? hf_config_take(&config, text->name, root, err) : 0;
	json_decref(root);
	if (!is_hf)
		return read_settings(reading, SETTINGS_JSON, text, err);
	*reading->facts = config.facts;
	return result;
}

static bool is_ini(const char *name)
{
	static const char *const ends[] = { ".ini", ".cfg", ".conf" };
	const char *dot = strrchr(name, '.');

	for (size_t i = 0; dot && i < sizeof(ends) / sizeof(*ends); i++)
		if (strcasecmp(dot, ends[i]) == 0)
			return true;
	return false;
}

static int read_any(struct model_text_reading *reading,
		    const struct model_text *text, struct error *err)
{
	enum settings_format format;

	if (is_ini(text->name))
		return read_ini(reading, text, err);
	if (!settings_format_of(text->name, &format) ||
	    format == SETTINGS_PYTHON || format == SETTINGS_ARGS)
		return error_set(err, -EINVAL,
				 "%s: a model is a folder, or a file that ends "
				 "in .safetensors, .json, .yaml, .toml or .ini",
				 text->name);
	if (format == SETTINGS_JSON)
		return read_json(reading, text, err);
	return read_settings(reading, format, text, err);
}

/* As GPT-2 has it, and as many positions as a sample has tokens. */
static void foreign_complete(struct model_facts *facts)
{
	if (!facts->vocab)
		facts->vocab = 50257;
	if (!facts->positions)
		facts->positions =
			facts->run_sequence ? facts->run_sequence : 1024;
	if (!facts->heads && facts->hidden % 64 == 0)
		facts->heads = facts->hidden / 64;
}

int model_read_text(struct model_facts *facts, const struct model_text *text,
		    struct error *err)
{
	struct model_text_reading reading = { .facts = facts,
					      .name = text->name };
	int result;

	model_facts_init(facts, MODEL_UNKNOWN);
	result = read_any(&reading, text, err);
	if (result < 0)
		return result;
	if (reading.is_foreign && facts->family == MODEL_GPT2)
		foreign_complete(facts);
	model_facts_complete(facts);
	if (model_facts_check(facts, err) < 0)
		return error_prefix(err, "%s", text->name);
	return 0;
}
