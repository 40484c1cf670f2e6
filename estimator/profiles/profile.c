/* Works out a run's memory by the rules of a published guide. */
/* SPDX-License-Identifier: MIT */
#include "estimator/profiles/profile.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

/* The largest input: more is a mistake, and what follows stays finite. */
#define INPUT_MOST 1e15
/* Names in a message. */
#define KNOWN_MAX 6

#define NUMBER(member)                                                         \
	{                                                                      \
#		member, offsetof(struct profile_inputs, member)               \
	}

/* Inputs of a profile that a caller can say, by their names there. */
static const struct input {
	const char *name;
	size_t offset;
} caller_inputs[] = {
	NUMBER(params),   NUMBER(model_gb),  NUMBER(hidden), NUMBER(layers),
	NUMBER(vocab),    NUMBER(positions), NUMBER(bytes),  NUMBER(batch),
	NUMBER(sequence), NUMBER(gpu_gb),    NUMBER(gpus),
};

/* Names for a message, as far as it has room for them. */
struct profile_eval_known {
	const char *names[KNOWN_MAX];
	size_t count;
};

static void know(struct profile_eval_known *known, const char *name)
{
	if (known->count < KNOWN_MAX)
		known->names[known->count++] = name;
}

static int profile_eval_unknown(const char *what, struct profile_text name,
				const struct profile_eval_known *known,
				struct error *err)
{
	const char *names[KNOWN_MAX];

	for (size_t i = 0; i < KNOWN_MAX; i++)
		names[i] = i < known->count ? known->names[i] : "";
	(void)error_set(err, -EINVAL,
			"the guide has no %s \"%.*s\"; it has %s %s %s %s %s "
			"%s",
			what, (int)name.length, name.text, names[0], names[1],
			names[2], names[3], names[4], names[5]);
	/* Without the blanks of names that are not there. */
	for (size_t i = err ? strlen(err->message) : 0;
	     i > 0 && err->message[i - 1] == ' '; i--)
		err->message[i - 1] = '\0';
	return -EINVAL;
}

static int unknown_method(const struct profile *profile, const char *name,
			  struct error *err)
{
	struct profile_eval_known known = { .count = 0 };

	for (size_t i = 0; i < profile->count; i++)
		if (profile->sections[i].kind == PROFILE_ESTIMATE)
			know(&known, profile->sections[i].name);
	return profile_eval_unknown("estimate",
				    (struct profile_text){ name, strlen(name) },
				    &known, err);
}

static int profile_eval_choose(const struct profile_section *choices,
			       struct profile_text text, double *value,
			       struct error *err)
{
	struct profile_eval_known known = { .count = 0 };

	for (size_t i = 0; i < choices->count; i++) {
		const struct profile_line *line = &choices->lines[i];

		know(&known, line->key);
		if (strlen(line->key) != text.length ||
		    strncmp(line->key, text.text, text.length) != 0)
			continue;
		*value = line->number;
		return 0;
	}
	return profile_eval_unknown(choices->name, text, &known, err);
}

/* A number, "?" for none, or a word of the [choices] of that name. */
static int input_value(const struct profile *profile, const char *name,
		       struct profile_text text, double *value,
		       struct error *err)
{
	const struct profile_section *choices =
		profile_section(profile, PROFILE_CHOICES, name);
	struct profile_scope constants = { .profile = profile };
	struct profile_figure figure;
	int result;

	*value = (double)NAN;
	if (text.length == 1 && *text.text == '?')
		return 0;
	if (choices)
		return profile_eval_choose(choices, text, value, err);
	/* A number: an expression that works nothing out, and has no name. */
	result = profile_value(&constants, text, &figure, NULL);
	if (result < 0 || figure.source != PROFILE_LITERAL)
		return error_set(err, -EINVAL, "%s = %.*s: write a number",
				 name, (int)text.length, text.text);
	*value = figure.value;
	return 0;
}

/* What the caller says of an input; false: nothing. */
static bool caller_value(const struct profile_inputs *inputs, const char *name,
			 double *value)
{
	for (size_t i = 0; i < sizeof(caller_inputs) / sizeof(*caller_inputs);
	     i++) {
		if (strcmp(caller_inputs[i].name, name) != 0)
			continue;
		memcpy(value, (const char *)inputs + caller_inputs[i].offset,
		       sizeof(*value));
		return fabs(*value) > 0 || isnan(*value);
	}
	return false;
}

static int take_inputs(struct profile_scope *scope,
		       const struct profile_section *section,
		       const struct profile_inputs *inputs, struct error *err)
{
	for (size_t i = 0; i < section->count; i++) {
		const char *name = section->lines[i].key;
		const char *text = section->lines[i].text;
		struct profile_text value = { text, strlen(text) };
		int result;

		if (inputs && caller_value(inputs, name, &scope->inputs[i])) {
			if (scope->inputs[i] > 0 &&
			    scope->inputs[i] <= INPUT_MOST)
				continue;
			return error_set(err, -ERANGE,
					 "%s is %g, which is not above 0 and "
					 "up to 1e15",
					 name, scope->inputs[i]);
		}
		if (inputs && inputs->optimizer &&
		    strcmp(name, "optimizer") == 0)
			value = (struct profile_text){
				inputs->optimizer, strlen(inputs->optimizer)
			};
		result = input_value(scope->profile, name, value,
				     &scope->inputs[i], err);
		if (result < 0)
			return result;
	}
	return 0;
}

/* A rule that lacks an input stays NAN: it may not be asked for. */
static void compute_rules(struct profile_scope *scope)
{
	const struct profile_section *rules =
		profile_section(scope->profile, PROFILE_RULES, NULL);
	size_t count = rules ? rules->count : 0;

	for (size_t i = 0; i < count; i++) {
		const char *text = rules->lines[i].text;
		struct profile_text expression = { text, strlen(text) };
		struct profile_figure figure;

		scope->rule_count = i;
		scope->rules[i] = (double)NAN;
		if (profile_value(scope, expression, &figure, NULL) < 0)
			continue;
		scope->rules[i] = figure.value;
		scope->is_looked_up[i] = figure.source == PROFILE_LOOKED_UP;
	}
	scope->rule_count = count;
}

int profile_scope_init(struct profile_scope *scope,
		       const struct profile *profile,
		       const struct profile_inputs *inputs, struct error *err)
{
	const struct profile_section *section =
		profile_section(profile, PROFILE_INPUTS, NULL);
	int result = 0;

	memset(scope, 0, sizeof(*scope));
	scope->profile = profile;
	if (section)
		result = take_inputs(scope, section, inputs, err);
	if (result == 0)
		compute_rules(scope);
	return result;
}

static int set_one(struct profile_scope *scope, struct profile_text text,
		   struct error *err)
{
	const struct profile_section *inputs =
		profile_section(scope->profile, PROFILE_INPUTS, NULL);
	const char *equals = memchr(text.text, '=', text.length);
	size_t length = equals ? (size_t)(equals - text.text) : 0;

	for (size_t i = 0; equals && inputs && i < inputs->count; i++) {
		const char *name = inputs->lines[i].key;
		struct profile_text value = { equals + 1,
					      text.length - length - 1 };

		if (strlen(name) == length &&
		    strncmp(name, text.text, length) == 0)
			return input_value(scope->profile, name, value,
					   &scope->inputs[i], err);
	}
	return error_set(err, -EINVAL,
			 "set = %.*s: write NAME=VALUE, and a name of [inputs]",
			 (int)text.length, text.text);
}

int profile_scope_set(struct profile_scope *scope, const char *text,
		      struct error *err)
{
	int result = 0;

	while (*text && result == 0) {
		const char *end = strchr(text, ' ');
		size_t length = end ? (size_t)(end - text) : strlen(text);

		if (length)
			result = set_one(scope,
					 (struct profile_text){ text, length },
					 err);
		text += length + (end != NULL);
	}
	compute_rules(scope);
	return result;
}

/* "label | value", "label | from | to" */
static int add_item(const struct profile_scope *scope,
		    enum profile_item_kind kind, const char *line,
		    struct profile_result *result, struct error *err)
{
	struct profile_text fields[PROFILE_COLUMNS_MAX];
	size_t count = profile_fields(line, fields), length;
	struct profile_item *item = &result->items[result->count];
	struct profile_figure low, high;
	int failed;

	if (result->count == PROFILE_ITEMS_MAX || count < 2)
		return error_set(err, -EINVAL,
				 "%s: at most 16 lines \"label | value\"",
				 line);
	failed = profile_value(scope, fields[1], &low, err);
	high = low;
	if (failed == 0 && count > 2)
		failed = profile_value(scope, fields[2], &high, err);
	if (failed < 0)
		return failed;
	result->count++;
	*item = (struct profile_item){ .kind = kind,
				       .low = low.value,
				       .high = high.value };
	length = fields[0].length < PROFILE_LABEL_MAX - 1
			 ? fields[0].length
			 : PROFILE_LABEL_MAX - 1;
	memcpy(item->label, fields[0].text, length);
	return 0;
}

static int profile_eval_add_verdict(const struct profile_scope *scope,
				    const char *text,
				    struct profile_result *result,
				    struct error *err)
{
	const char *mark = strrchr(text, '@');
	struct profile_text expression = { text, 0 }, band = { "", 0 };
	struct profile_figure figure;
	int failed;

	if (!mark)
		return error_set(err, -EINVAL,
				 "verdict = %s: write VALUE@BANDS", text);
	expression.length = (size_t)(mark - text);
	band = (struct profile_text){ mark + 1, strlen(mark + 1) };
	failed = profile_value(scope, expression, &figure, err);
	/* There is nothing to say about a GPU that nobody named. */
	if (failed == -ENODATA)
		return 0;
	if (failed < 0)
		return failed;
	return profile_band(scope->profile, band, figure.value,
			    &result->verdict, err);
}

static int profile_eval_add_line(const struct profile_scope *scope,
				 const struct profile_line *line,
				 struct profile_result *result,
				 struct error *err)
{
	static const struct {
		const char *key;
		enum profile_item_kind kind;
	} kinds[] = {
		{ "part", PROFILE_PART },
		{ "total", PROFILE_TOTAL },
		{ "count", PROFILE_COUNT },
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (strcmp(kinds[i].key, line->key) == 0)
			return add_item(scope, kinds[i].kind, line->text,
					result, err);
	return profile_eval_add_verdict(scope, line->text, result, err);
}

int profile_estimate(const struct profile *profile,
		     const struct profile_inputs *inputs,
		     struct profile_result *result, struct error *err)
{
	const struct profile_section *section =
		profile_section(profile, PROFILE_ESTIMATE, inputs->method);
	struct profile_scope scope;
	int failed;

	memset(result, 0, sizeof(*result));
	if (!section)
		return unknown_method(
			profile, inputs->method ? inputs->method : "", err);
	result->method = section->name;
	failed = profile_scope_init(&scope, profile, inputs, err);
	for (size_t i = 0; failed == 0 && i < section->count; i++)
		failed = profile_eval_add_line(&scope, &section->lines[i],
					       result, err);
	for (size_t i = 0; i < result->count; i++) {
		if (result->items[i].kind != PROFILE_TOTAL)
			continue;
		result->low = result->items[i].low;
		result->high = result->items[i].high;
	}
	return failed;
}
