/* Lines of output that are known: out of memory, known causes, last words. */
/* SPDX-License-Identifier: MIT */
#include "configs/signatures/signature.h"

#include "base/alloc.h"
#include "base/strlist.h"
#include "configs/files/ini.h"
#include "configs/files/ini_files.h"
#include "configs/files/ini_keys.h"
#include "configs/signatures/pattern.h"

#include <assert.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define BUILTIN_FOLDER "configs/signatures/"
#define SIGNATURES_MAX LITERAL_OWNERS_MAX

/*
 * A longer line is matched in overlapping windows: a match of up to the
 * overlap is always found, and no pattern ever meets more than a window.
 */
#define WINDOW_BYTES 4096
#define OVERLAP_BYTES 2048

/* For one line, so that a line made to annoy costs milliseconds at most. */
#define RUNS_MAX 512

/* A section of a file. */
struct rule {
	struct signature shown; /* stands first: see signature_group */
	char *where; /* "path:line" of its first entry, for messages */
	char *text;  /* of the pattern; NULL: the literals alone decide */
	struct pattern *pattern;
	struct strlist contains, examples;
	size_t number; /* in the order of loading */
};

struct signatures {
	struct rule *rules; /* in the order in which they are asked */
	size_t count, capacity;
	size_t first_match; /* the first that signatures_match asks */
	struct literals *literals;
};

/* In the order of enum signature_class. */
static const char *const class_words[] = {
	"none",        "launcher", "noise",    "wrapper", "muttered",
	"consequence", "said",     "aside",    "refused", "not",
	"rmm",         "host",     "shm",      "gpu",     "ambiguous",
	"killed",      "too_big",  "no_batch", "cause",   NULL,
};

static const struct ini_key rule_keys[] = {
	{ "", "class", INI_WORD, offsetof(struct rule, shown.class), NULL,
	  class_words },
	{ "", "contains", INI_LIST, offsetof(struct rule, contains), NULL,
	  NULL },
	{ "", "pattern", INI_TEXT, offsetof(struct rule, text), NULL, NULL },
	{ "", "example", INI_LIST, offsetof(struct rule, examples), NULL,
	  NULL },
	{ "", "hint", INI_TEXT, offsetof(struct rule, shown.hint), NULL, NULL },
	{ 0 },
};

static void rule_release(struct rule *rule)
{
	ini_keys_release(rule_keys, rule);
	free(rule->shown.name);
	free(rule->where);
	pattern_free(rule->pattern);
	memset(rule, 0, sizeof(*rule));
}

void signatures_free(struct signatures *set)
{
	if (!set)
		return;
	for (size_t i = 0; i < set->count; i++)
		rule_release(&set->rules[i]);
	free(set->rules);
	literals_free(set->literals);
	free(set);
}

/* What is known while a file is read. */
struct rule_reading {
	struct signatures *set;
	const struct ini_file *file;
	struct rule *rule; /* of the section under way */
	size_t first;      /* number of the first section of this file */
	size_t next_number;
};

static size_t rule_find(const struct signatures *set, const char *name)
{
	size_t i = 0;

	while (i < set->count && strcmp(set->rules[i].shown.name, name) != 0)
		i++;
	return i;
}

/* A section of the same name from an earlier file is replaced. */
static int rule_begin(struct rule_reading *reading,
		      const struct ini_entry *entry, struct error *err)
{
	struct signatures *set = reading->set;
	char *name = xasprintf("%s/%s", reading->file->name, entry->section);
	size_t index = rule_find(set, name);
	int result = 0;

	if (index < set->count && set->rules[index].number >= reading->first)
		result = error_set(err, -EINVAL, "section [%s] is there twice",
				   entry->section);
	else if (index == SIGNATURES_MAX)
		result = error_set(err, -E2BIG, "more than %d signatures",
				   SIGNATURES_MAX);
	if (result < 0) {
		free(name);
		return result;
	}
	if (index < set->count)
		rule_release(&set->rules[index]);
	else
		set->rules = xgrow(set->rules, set->count++, &set->capacity,
				   sizeof(*set->rules));
	reading->rule = &set->rules[index];
	*reading->rule = (struct rule){
		.shown.name = name,
		.where = xasprintf("%s:%u", reading->file->path, entry->line),
		.number = reading->next_number++,
	};
	return 0;
}

static bool is_of_rule(const struct rule_reading *reading,
		       const struct ini_entry *entry)
{
	size_t stem = strlen(reading->file->name) + 1;

	return reading->rule &&
	       strcmp(reading->rule->shown.name + stem, entry->section) == 0;
}

static int rule_entry(void *context, const struct ini_entry *entry,
		      struct error *err)
{
	struct rule_reading *reading = context;
	const struct ini_key *key = ini_key_find(rule_keys, "", entry->key);
	int result = 0;

	if (*entry->section == '\0')
		return error_set(err, -EINVAL,
				 "an entry before the first [section]");
	if (!is_of_rule(reading, entry))
		result = rule_begin(reading, entry, err);
	if (result < 0)
		return result;
	if (!key)
		return error_set(err, -EINVAL,
				 "unknown key \"%s\": a signature has class, "
				 "contains, pattern, example and hint",
				 entry->key);
	if (*entry->value == '\0')
		return error_set(err, -EINVAL, "%s is empty", entry->key);
	if ((key->kind == INI_WORD && reading->rule->shown.class) ||
	    (strcmp(key->name, "pattern") == 0 && reading->rule->text))
		return error_set(err, -EINVAL,
				 "%s is given twice: it is one line",
				 entry->key);
	return ini_key_set(key, reading->rule, entry, err);
}

static int rules_file(void *context, const struct ini_file *file,
		      struct error *err)
{
	struct rule_reading *reading = context;

	reading->file = file;
	reading->rule = NULL;
	reading->first = reading->next_number;
	return ini_read(file->path, file->text, file->length, rule_entry,
			reading, err);
}

static bool has_literal(const struct rule *rule, struct span text)
{
	for (size_t i = 0; i < rule->contains.count; i++)
		if (span_find(text, rule->contains.items[i]))
			return true;
	return false;
}

/* An example must be found by the way that lines are: literal, pattern. */
static int check_examples(const struct rule *rule, struct error *err)
{
	for (size_t i = 0; i < rule->examples.count; i++) {
		const char *line = rule->examples.items[i];
		struct pattern_window window = { line, 0, strlen(line), false };

		if (!has_literal(rule, (struct span){ line, window.to }))
			return error_set(err, -EINVAL,
					 "no \"contains\" is in its example "
					 "\"%s\"",
					 line);
		if (rule->pattern &&
		    !pattern_match(rule->pattern, &window, 0, NULL))
			return error_set(err, -EINVAL,
					 "its pattern does not match its "
					 "example \"%s\"",
					 line);
	}
	return 0;
}

static int compile_rule(struct rule *rule, struct error *err)
{
	int result = 0;

	if (rule->shown.class == SIGNATURE_NONE)
		return error_set(err, -EINVAL, "class is missing");
	if (rule->contains.count == 0)
		return error_set(err, -EINVAL,
				 "contains is missing: a literal that every "
				 "match has in it");
	if (rule->examples.count == 0)
		return error_set(err, -EINVAL,
				 "example is missing: a line that it matches");
	if (rule->text)
		result = pattern_make(&rule->pattern, rule->text, err);
	if (result < 0)
		return result;
	if (rule->text && !pattern_needs(rule->text, &rule->contains))
		return error_set(err, -EINVAL,
				 "pattern \"%s\" can match without a literal "
				 "of \"contains\": each of its alternatives "
				 "must have one",
				 rule->text);
	return check_examples(rule, err);
}

static int compare_rules(const void *left, const void *right)
{
	const struct rule *a = left;
	const struct rule *b = right;

	if (a->shown.class != b->shown.class)
		return a->shown.class < b->shown.class ? -1 : 1;
	return a->number < b->number ? -1 : a->number > b->number;
}

static int make_literals(struct signatures *set, struct error *err)
{
	struct literal *items = NULL;
	size_t capacity = 0;
	size_t count = 0;
	int result;

	for (size_t i = 0; i < set->count; i++) {
		const struct strlist *contains = &set->rules[i].contains;

		for (size_t j = 0; j < contains->count; j++) {
			items = xgrow(items, count, &capacity, sizeof(*items));
			items[count++] =
				(struct literal){ contains->items[j], i };
		}
	}
	result = literals_make(&set->literals, items, count, err);
	free(items);
	return result;
}

static int compile_rules(struct signatures *set, struct error *err)
{
	for (size_t i = 0; i < set->count; i++) {
		struct rule *rule = &set->rules[i];
		int result = compile_rule(rule, err);

		if (result < 0)
			return error_prefix(err, "%s: %s", rule->where,
					    rule->shown.name);
	}
	if (set->count > 0)
		qsort(set->rules, set->count, sizeof(*set->rules),
		      compare_rules);
	while (set->first_match < set->count &&
	       set->rules[set->first_match].shown.class < SIGNATURE_NOT)
		set->first_match++;
	return make_literals(set, err);
}

int signatures_load(struct signatures **set, const char *folder,
		    struct error *err)
{
	struct signatures *made = xcalloc(1, sizeof(*made));
	struct rule_reading reading = { .set = made };
	int result = ini_files_read(BUILTIN_FOLDER, folder, rules_file,
				    &reading, err);

	if (result == 0)
		result = compile_rules(made, err);
	if (result < 0) {
		signatures_free(made);
		made = NULL;
	}
	*set = made;
	return result;
}

/* The first rule before `best` that matches in the window, or best. */
static size_t match_window(const struct signatures *set,
			   const struct pattern_window *window,
			   const struct literals_found *found, size_t best,
			   unsigned *runs_left)
{
	for (size_t i = set->first_match; i < best; i++) {
		const struct rule *rule = &set->rules[i];

		if (!literals_found_has(found, i))
			continue;
		if (!rule->pattern)
			return i;
		if (*runs_left == 0)
			return best;
		--*runs_left;
		if (pattern_match(rule->pattern, window, 0, NULL))
			return i;
	}
	return best;
}

static void add_found(struct signature_found *all,
		      const struct literals_found *found)
{
	all->any = true;
	for (size_t i = 0; i < LITERAL_OWNERS_MAX / 64; i++)
		all->literals.words[i] |= found->words[i];
}

const struct signature *signatures_match(const struct signatures *set,
					 const char *line, size_t length,
					 struct signature_found *found)
{
	struct pattern_window window = { .text = line, .cut = true };
	struct literals_found seen = { 0 };
	unsigned runs_left = RUNS_MAX;
	size_t best = set->count;

	while (window.cut) {
		window.cut = length - window.from > WINDOW_BYTES;
		window.to = window.cut ? window.from + WINDOW_BYTES : length;
		if (literals_find(set->literals, line + window.from,
				  window.to - window.from, &seen)) {
			best = match_window(set, &window, &seen, best,
					    &runs_left);
			if (found)
				add_found(found, &seen);
			seen = (struct literals_found){ 0 };
		}
		window.from += WINDOW_BYTES - OVERLAP_BYTES;
	}
	return best < set->count ? &set->rules[best].shown : NULL;
}

static bool rule_matches(const struct rule *rule, struct span text)
{
	const struct pattern_window window = { .text = text.at,
					       .to = text.length };

	return rule->pattern ? pattern_match(rule->pattern, &window, 0, NULL)
			     : has_literal(rule, text);
}

const struct signature *signatures_pick(const struct signatures *set,
					const struct signature_found *found,
					enum signature_class class,
					struct span text)
{
	assert(class < SIGNATURE_NOT);
	if (!found->any)
		return NULL;
	for (size_t i = 0; i < set->first_match; i++) {
		const struct rule *rule = &set->rules[i];

		if (rule->shown.class == class &&
		    literals_found_has(&found->literals, i) &&
		    rule_matches(rule, text))
			return &rule->shown;
	}
	return NULL;
}
