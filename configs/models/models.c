/* Models that are known by name, read from a table of plain cells. */
/* SPDX-License-Identifier: MIT */
#include "configs/models/models.h"

#include "base/alloc.h"
#include "base/strbuf.h"
#include "base/units.h"
#include "configs/files/csv.h"
#include "configs/models/config/model_steps.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define BUILTIN_FILE "configs/models.csv"
#define BUILTIN_IMAGES_FILE "configs/models_images.csv"
#define STEPS_MAX 512
#define MODELS_MAX 1000
/* Underscores between digits in a builder of torchtune. */
#define BUILDER_POINTS 4
#define KEY_MAX 128
#define NEAR_MAX 4
/* A name that shares less with the one that is looked for is not near. */
#define NEAR_LETTERS 4

enum models_column {
	COLUMN_NAME,
	COLUMN_FAMILY,
	COLUMN_ALSO,
	COLUMN_DTYPE,
	COLUMN_STEPS,
	COLUMN_FIELDS,
};

/* A file under way. */
struct models_reading {
	struct model_table *table;
	size_t before; /* models that were there before this file */
	const char *columns[CSV_COLUMNS_MAX + 1];
	struct error err;
};

/* "instruct" and others as words of a name. */
static bool is_noise(const char *word, size_t length)
{
	static const char *const words[] = { "hf", "instruct", "chat", "it" };

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (strlen(words[i]) == length &&
		    strncasecmp(words[i], word, length) == 0)
			return true;
	return false;
}

/* The letters of a word, behind the used ones; returns how many there are. */
static size_t key_add(char key[KEY_MAX], size_t used, const char *word,
		      const char *end)
{
	for (; word < end && used + 1 < KEY_MAX; word++)
		key[used++] = (char)tolower((unsigned char)*word);
	return used;
}

/* What two names of one model have in common. A name that is too long has a
 * part of it, which no name in the table is. */
static void key_make(char key[KEY_MAX], const char *name, size_t length)
{
	static const char between[] = "-_ /";
	const char *end = name + length;
	size_t used = 0;

	while (name < end) {
		const char *word = name;

		while (name < end && !strchr(between, *name))
			name++;
		if (!is_noise(word, (size_t)(name - word)))
			used = key_add(key, used, word, name);
		name += name < end;
	}
	assert(used < KEY_MAX);
	key[used] = '\0';
}

/* Is key that of the name, of the name without its organisation? */
static bool is_called(const char *name, size_t length, const char *key)
{
	const char *slash = memchr(name, '/', length);
	char own[KEY_MAX] = "";

	key_make(own, name, length);
	if (strcmp(own, key) == 0)
		return true;
	if (!slash)
		return false;
	slash++;
	key_make(own, slash, length - (size_t)(slash - name));
	return strcmp(own, key) == 0;
}

static bool is_model(const struct known_model *model, const char *key)
{
	const char *also = model->also;

	if (is_called(model->facts.name, strlen(model->facts.name), key))
		return true;
	while (*also) {
		size_t length = strcspn(also, " ");

		if (length && is_called(also, length, key))
			return true;
		also += length;
		also += *also == ' ';
	}
	return false;
}

/* As it stands there, but for the case of letters: regnet_x_1_6gf is not
 * regnet_x_16gf. */
static const struct known_model *find_letters(const struct model_table *table,
					      const char *name)
{
	for (size_t i = 0; i < table->count; i++) {
		const char *known = table->items[i].facts.name;

		if (strcasecmp(known, name) == 0 ||
		    strcasecmp(basename(known), name) == 0)
			return &table->items[i];
	}
	return NULL;
}

static const struct known_model *find_key(const struct model_table *table,
					  const char *key)
{
	for (size_t i = 0; *key && i < table->count; i++)
		if (is_model(&table->items[i], key))
			return &table->items[i];
	return NULL;
}

/* As many letters as both end with: "lama-3.1-8b" is near, too. */
static size_t ending_letters(const char *own, const char *key)
{
	size_t left = strlen(own), right = strlen(key), count = 0;

	while (count < left && count < right &&
	       own[left - count - 1] == key[right - count - 1])
		count++;
	return count;
}

static size_t shared_letters(const struct known_model *model, const char *key)
{
	const char *name = basename(model->facts.name);
	char own[KEY_MAX] = "";
	size_t count = 0;

	key_make(own, name, strlen(name));
	while (own[count] && own[count] == key[count])
		count++;
	return count > ending_letters(own, key) ? count
						: ending_letters(own, key);
}

/* Those that begin with as many of its letters as any does. */
static int models_fail_unknown(const struct model_table *table,
			       const char *name, const char *key,
			       struct error *err)
{
	struct strbuf near = STRBUF_INIT;
	size_t most = NEAR_LETTERS, named = 0;
	int result;

	for (size_t i = 0; i < table->count; i++)
		if (shared_letters(&table->items[i], key) > most)
			most = shared_letters(&table->items[i], key);
	for (size_t i = 0; i < table->count && named < NEAR_MAX; i++)
		if (shared_letters(&table->items[i], key) == most)
			strbuf_addf(&near, "%s%s",
				    named++ ? ", " : "; near it: ",
				    table->items[i].facts.name);
	assert(named <= NEAR_MAX && most >= NEAR_LETTERS);
	result = error_set(err, -ENOENT, "'%.64s' is no model autofit knows%s",
			   name, strbuf_text(&near));
	strbuf_release(&near);
	return result;
}

/* timm says behind a dot how a model was trained: "resnet50.a1_in1k". */
static const struct known_model *find_trained(const struct model_table *table,
					      const char *name)
{
	const char *dot = strrchr(name, '.');
	char key[KEY_MAX] = "";

	if (!dot || !strchr(dot, '_'))
		return NULL;
	key_make(key, name, (size_t)(dot - name));
	return find_key(table, key);
}

/* Letter by letter again, with what may be a point for some underscores between
 * digits: of llama3_1_8b the first, of qwen2_5_0_5b the first and the last. */
static const struct known_model *find_pointed(const struct model_table *table,
					      const char *name)
{
	size_t places[BUILDER_POINTS], count = 0;
	const struct known_model *model = NULL;

	for (size_t i = 0; name[i] && count < BUILDER_POINTS; i++)
		if (i > 0 && name[i] == '_' &&
		    isdigit((unsigned char)name[i - 1]) &&
		    isdigit((unsigned char)name[i + 1]))
			places[count++] = i;
	assert(count <= BUILDER_POINTS);
	for (unsigned points = 0; !model && points < 1U << count; points++) {
		char key[KEY_MAX] = "", *text = xstrdup(name);

		for (size_t i = 0; i < count; i++)
			if (points & 1U << i)
				text[places[i]] = '.';
		key_make(key, text, strlen(text));
		model = find_key(table, key);
		free(text);
	}
	return model;
}

/* torchtune.models.qwen2_5.qlora_qwen2_5_1_5b_instruct: what is behind the last
 * point, without the method before it and the training behind it. */
static const struct known_model *find_builder(const struct model_table *table,
					      const char *name)
{
	static const char package[] = "torchtune.models.";
	const struct known_model *model;
	char *text, *end;

	if (strncmp(name, package, strlen(package)) != 0)
		return NULL;
	name = strrchr(name, '.') + 1;
	name += *name == 'q' && strncmp(name + 1, "lora_", 5) == 0;
	name += strncmp(name, "lora_", 5) == 0 ? 5 : 0;
	text = xstrdup(name);
	end = strstr(text, "_base");
	if (end)
		*end = '\0';
	model = find_pointed(table, text);
	free(text);
	return model;
}

const struct model_facts *model_table_find(const struct model_table *table,
					   const char *name, struct error *err)
{
	const char *slash = strchr(name, '/');
	const struct known_model *model;
	char key[KEY_MAX] = "";

	key_make(key, name, strlen(name));
	model = find_letters(table, name);
	if (!model)
		model = find_key(table, key);
	if (!model && slash) {
		key_make(key, slash + 1, strlen(slash + 1));
		model = find_key(table, key);
	}
	if (!model)
		model = find_trained(table, slash ? slash + 1 : name);
	if (!model)
		model = find_builder(table, name);
	if (model)
		return &model->facts;
	(void)models_fail_unknown(table, name, key, err);
	return NULL;
}

static int read_field(struct model_facts *facts, const char *name,
		      struct csv_cell cell, struct error *err)
{
	char *text;
	int64_t value;
	int result;

	if (!cell.length)
		return 0;
	text = xstrndup(cell.text, cell.length);
	result = integer_parse(text, &value, err);
	free(text);
	if (result < 0)
		return error_prefix(err, "%s", name);
	return model_facts_set(facts, name, value, err);
}

static int models_read_family(struct model_facts *facts, struct csv_cell cell,
			      struct error *err)
{
	enum model_family family;
	char name[32];

	if (!csv_cell_name(cell, name, sizeof(name)) ||
	    model_family_parse(name, &family) < 0 || family == MODEL_UNKNOWN)
		return error_set(err, -EINVAL, "the family is none of %s",
				 MODEL_FAMILY_NAMES);
	model_facts_init(facts, family);
	return 0;
}

static int models_read_steps(struct model_facts *facts, struct csv_cell cell,
			     struct error *err)
{
	char steps[STEPS_MAX];

	if (!cell.length)
		return 0;
	if (!csv_cell_name(cell, steps, sizeof(steps)))
		return error_set(err, -EINVAL,
				 "steps is too long or not ASCII");
	return model_steps_read(facts, steps, err);
}

static int models_read_model(struct models_reading *reading,
			     const struct csv_cell *cells,
			     struct known_model *model)
{
	struct model_facts *facts = &model->facts;
	int result =
		models_read_family(facts, cells[COLUMN_FAMILY], &reading->err);

	if (result == 0 && !csv_cell_name(cells[COLUMN_NAME], facts->name,
					  sizeof(facts->name)))
		result = error_set(&reading->err, -EINVAL,
				   "the name is empty, too long or not ASCII");
	if (result == 0 && cells[COLUMN_ALSO].length &&
	    !csv_cell_name(cells[COLUMN_ALSO], model->also,
			   sizeof(model->also)))
		result = error_set(&reading->err, -EINVAL,
				   "also is too long or not ASCII");
	if (result == 0 && cells[COLUMN_DTYPE].length &&
	    !csv_cell_name(cells[COLUMN_DTYPE], facts->dtype,
			   sizeof(facts->dtype)))
		result = error_set(&reading->err, -EINVAL,
				   "dtype is too long or not ASCII");
	if (result == 0)
		result = models_read_steps(facts, cells[COLUMN_STEPS],
					   &reading->err);
	for (size_t i = COLUMN_FIELDS; result == 0 && reading->columns[i]; i++)
		result = read_field(facts, reading->columns[i], cells[i],
				    &reading->err);
	model_facts_complete(facts);
	return result < 0 ? result : model_facts_check(facts, &reading->err);
}

static void models_take(struct models_reading *reading,
			const struct known_model *model)
{
	struct model_table *table = reading->table;

	for (size_t i = 0; i < reading->before; i++) {
		if (strcasecmp(table->items[i].facts.name, model->facts.name) !=
		    0)
			continue;
		table->items[i] = *model;
		return;
	}
	table->items = xgrow(table->items, table->count, &table->capacity,
			     sizeof(*table->items));
	table->items[table->count++] = *model;
}

static const char *models_on_row(void *context, const struct csv_cell *cells)
{
	struct models_reading *reading = context;
	struct known_model model = { .also = "" };

	if (models_read_model(reading, cells, &model) < 0)
		return reading->err.message;
	if (reading->table->count == MODELS_MAX)
		return "too many models";
	models_take(reading, &model);
	return NULL;
}

/* name, family, also, dtype, steps, and every field of a model. */
static void models_name_columns(struct models_reading *reading)
{
	size_t count = COLUMN_FIELDS;

	reading->columns[COLUMN_NAME] = "name";
	reading->columns[COLUMN_FAMILY] = "family";
	reading->columns[COLUMN_ALSO] = "also";
	reading->columns[COLUMN_DTYPE] = "dtype";
	reading->columns[COLUMN_STEPS] = "steps";
	for (size_t i = 0; model_fields[i].name && count < CSV_COLUMNS_MAX; i++)
		reading->columns[count++] = model_fields[i].name;
}

void model_table_load(struct model_table *table, const char *path,
		      struct strlist *warnings)
{
	struct models_reading reading = { .table = table };
	const struct csv_table csv = {
		.columns = reading.columns,
		.expects = "name and family",
		.needed = COLUMN_FAMILY + 1,
		.on_row = models_on_row,
		.context = &reading,
	};

	memset(table, 0, sizeof(*table));
	models_name_columns(&reading);
	csv_read_builtin(&csv, BUILTIN_FILE, warnings);
	csv_read_builtin(&csv, BUILTIN_IMAGES_FILE, warnings);
	reading.before = table->count;
	if (path)
		csv_read_file(&csv, path, warnings);
}

void model_table_release(struct model_table *table)
{
	free(table->items);
	memset(table, 0, sizeof(*table));
}
