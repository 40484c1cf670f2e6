/* Checks the shape of a profile's lines and sections. */
/* SPDX-License-Identifier: MIT */
#include "configs/profiles/profile_shape.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NUMBER_MOST 1e18
#define SECTION_CHARS "abcdefghijklmnopqrstuvwxyz0123456789-._"

const struct profile_kind_rule profile_kind_rules[PROFILE_KINDS] = {
	[PROFILE_INPUTS] = { .word = "inputs", .shape = SHAPE_NAMED },
	[PROFILE_CHOICES] = { .word = "choices",
			      .is_named = true,
			      .shape = SHAPE_NUMBER },
	[PROFILE_RULES] = { .word = "rules", .shape = SHAPE_NAMED },
	[PROFILE_ANCHORS] = { .word = "anchors",
			      .is_named = true,
			      .shape = SHAPE_POINT },
	[PROFILE_BANDS] = { .word = "bands",
			    .is_named = true,
			    .shape = SHAPE_BAND },
	[PROFILE_ESTIMATE] = { .word = "estimate",
			       .is_named = true,
			       .shape = SHAPE_KEYS,
			       .keys = { { "part", false, true, false },
					 { "total", true, false, false },
					 { "count", false, true, false },
					 { "verdict", false, false, false } } },
	[PROFILE_TABLE] = { .word = "table",
			    .is_named = true,
			    .shape = SHAPE_KEYS,
			    .keys = { { "title", true, false, false },
				      { "columns", true, false, false },
				      { "set", false, true, false },
				      { "row", true, true, false },
				      { "note", false, true, false } } },
	[PROFILE_ADVICE] = { .word = "advice",
			     .is_named = true,
			     .shape = SHAPE_KEYS,
			     .keys = { { "title", true, false, false },
				       { "item", true, true, false } } },
	[PROFILE_DIFFERS] = { .word = "differs",
			      .is_named = true,
			      .shape = SHAPE_KEYS,
			      .keys = { { "tables", true, false, false },
					{ "about", true, false, false },
					{ "claimed", false, false, false },
					{ "physics", false, false, false },
					{ "against", false, false, false },
					{ "unit", false, false, false },
					{ "why", true, false, true } } },
};

const struct profile_key_rule *
profile_key_rule(const struct profile_kind_rule *rule, const char *key)
{
	for (size_t i = 0; i < PROFILE_KEYS_MAX && rule->keys[i].name; i++)
		if (strcmp(rule->keys[i].name, key) == 0)
			return &rule->keys[i];
	return NULL;
}

/* strtod would also take hex, inf and nan. */
int profile_number(const char *text, double *number, struct error *err)
{
	char *end;

	if (strspn(text, "0123456789.eE+-") == strlen(text)) {
		*number = strtod(text, &end);
		if (end != text && !*end && fabs(*number) <= NUMBER_MOST)
			return 0;
	}
	return error_set(err, -EINVAL,
			 "\"%.64s\" is no number up to 1e18: write 7e9 or 0.5",
			 text);
}

/* "a_name": letters, digits and underscores. */
static int profile_name_check(const char *text, struct error *err)
{
	size_t length = strspn(text, "abcdefghijklmnopqrstuvwxyz_0123456789");

	if (length && length <= PROFILE_NAME_MAX && !text[length] &&
	    islower((unsigned char)*text))
		return 0;
	return error_set(err, -EINVAL,
			 "\"%.64s\" is no name: a small letter, then small "
			 "letters, digits and _, at most %d",
			 text, PROFILE_NAME_MAX);
}

int profile_section_parse(const char *text, enum profile_kind *kind,
			  const char **name, struct error *err)
{
	size_t length = strcspn(text, " ");

	*name = text + length + (text[length] == ' ');
	for (int i = 0; i < PROFILE_KINDS; i++) {
		const struct profile_kind_rule *rule = &profile_kind_rules[i];

		if (strlen(rule->word) != length ||
		    strncmp(rule->word, text, length) != 0)
			continue;
		*kind = (enum profile_kind)i;
		if (rule->is_named ? **name && strspn(*name, SECTION_CHARS) ==
						       strlen(*name)
				   : !**name)
			return 0;
		return error_set(err, -EINVAL,
				 rule->is_named
					 ? "[%s]: a name of small letters, "
					   "digits, - and . belongs behind it"
					 : "[%s]: this section has no name",
				 text);
	}
	return error_set(err, -EINVAL, "a profile has no section [%s]", text);
}

int profile_line_parse(const struct profile_kind_rule *rule,
		       struct profile_line *line, struct error *err)
{
	int result = 0;

	switch (rule->shape) {
	case SHAPE_NAMED:
		return profile_name_check(line->key, err);
	case SHAPE_NUMBER:
		return profile_number(line->text, &line->number, err);
	case SHAPE_POINT:
		result = profile_number(line->text, &line->number, err);
		return result < 0 ? result
				  : profile_number(line->key, &line->at, err);
	case SHAPE_BAND:
		line->at = (double)INFINITY;
		return strcmp(line->key, "else") == 0
			       ? 0
			       : profile_number(line->key, &line->at, err);
	case SHAPE_KEYS:
		if (profile_key_rule(rule, line->key))
			return 0;
		return error_set(err, -EINVAL, "[%s NAME] has no key %s",
				 rule->word, line->key);
	}
	return result;
}

static int shape_wrong(const struct profile_line *line, struct error *err,
		       const char *what)
{
	return error_set(err, -EINVAL, "%s:%u: %s", line->path, line->line,
			 what);
}

static size_t count_key(const struct profile_section *section, const char *key)
{
	size_t count = 0;

	for (size_t i = 0; i < section->count; i++)
		count += strcmp(section->lines[i].key, key) == 0;
	return count;
}

static int check_keys(const struct profile_section *section, struct error *err)
{
	const struct profile_kind_rule *rule =
		&profile_kind_rules[section->kind];

	for (size_t i = 0; i < PROFILE_KEYS_MAX && rule->keys[i].name; i++) {
		const struct profile_key_rule *key = &rule->keys[i];
		size_t count = count_key(section, key->name);

		if (key->is_needed && !count)
			return error_set(
				err, -EINVAL, "%s:%u: [%s %s] has no %s",
				section->lines->path, section->lines->line,
				rule->word, section->name, key->name);
		if (!key->is_repeated && count > 1)
			return error_set(err, -EINVAL,
					 "%s:%u: [%s %s] has %s more than once",
					 section->lines->path,
					 section->lines->line, rule->word,
					 section->name, key->name);
	}
	return 0;
}

static size_t fields_of(const char *text)
{
	size_t count = 1;

	for (; (text = strchr(text, '|')); text++)
		count++;
	return count;
}

static int check_rows(const struct profile_section *section, struct error *err)
{
	size_t columns = 0;

	for (size_t i = 0; i < section->count; i++)
		if (strcmp(section->lines[i].key, "columns") == 0)
			columns = fields_of(section->lines[i].text);
	for (size_t i = 0; i < section->count; i++) {
		const struct profile_line *line = &section->lines[i];

		if (strcmp(line->key, "columns") == 0 &&
		    columns > PROFILE_COLUMNS_MAX)
			return shape_wrong(line, err, "more than 8 columns");
		if (strcmp(line->key, "row") == 0 &&
		    fields_of(line->text) != columns)
			return shape_wrong(
				line, err,
				"the row has another number of fields "
				"than columns names; \"|\" divides them");
	}
	return 0;
}

static int check_items(const struct profile_section *section, struct error *err)
{
	for (size_t i = 0; i < section->count; i++) {
		const struct profile_line *line = &section->lines[i];
		size_t fields = fields_of(line->text);

		if (strcmp(line->key, "verdict") == 0)
			continue;
		if (fields < 2 || fields > 3)
			return shape_wrong(
				line, err,
				"write label | value, or label | from | "
				"to");
	}
	return 0;
}

static int check_figures(const struct profile_section *section,
			 struct error *err)
{
	size_t count = count_key(section, "claimed") +
		       count_key(section, "physics") +
		       count_key(section, "unit");

	if (count == 0 || count == 3)
		return 0;
	return shape_wrong(section->lines, err,
			   "claimed, physics and unit belong together");
}

/* Both are looked up from one end to the other. */
static int check_ascending(const struct profile_section *section,
			   struct error *err)
{
	const struct profile_line *last = &section->lines[section->count - 1];

	for (size_t i = 1; i < section->count; i++)
		if (section->lines[i].at <= section->lines[i - 1].at)
			return shape_wrong(&section->lines[i], err,
					   "not above the line before");
	if (section->kind == PROFILE_BANDS && !isinf(last->at))
		return shape_wrong(last, err,
				   "the last line of bands is else = ...");
	return 0;
}

typedef int section_check(const struct profile_section *section,
			  struct error *err);

/* Beside what the keys of the kind say. */
static section_check *const section_checks[PROFILE_KINDS] = {
	[PROFILE_ANCHORS] = check_ascending, [PROFILE_BANDS] = check_ascending,
	[PROFILE_ESTIMATE] = check_items,    [PROFILE_TABLE] = check_rows,
	[PROFILE_DIFFERS] = check_figures,
};

int profile_shape_check(const struct profile *profile, struct error *err)
{
	bool has_estimate = false;

	for (size_t i = 0; i < profile->count; i++) {
		const struct profile_section *section = &profile->sections[i];
		section_check *check = section_checks[section->kind];
		int result = check_keys(section, err);

		if (result == 0 && check)
			result = check(section, err);
		if (result < 0)
			return result;
		has_estimate |= section->kind == PROFILE_ESTIMATE;
	}
	if (!profile->description || !profile->unit || !has_estimate)
		return error_set(err, -EINVAL,
				 "%s: [profile] needs description, unit and "
				 "unit_bytes, and there must be an [estimate "
				 "NAME]",
				 profile->name);
	return 0;
}
