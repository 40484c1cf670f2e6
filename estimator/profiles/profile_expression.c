/* Expressions of a profile: numbers, names, + - * /, comparisons, calls. */
/* SPDX-License-Identifier: MIT */
#include "estimator/profiles/profile.h"

#include "base/name.h"

#include <errno.h>
#include <math.h>
#include <string.h>

/*
 * No general language: no assignment, loop or recursion. A rule sees inputs
 * and rules above it, which are computed before it, so that a text of n bytes
 * costs n steps.
 */
#define DEPTH_MAX 16
#define ARGUMENTS_MAX 2

struct profile_expression_parsing {
	const struct profile_scope *scope;
	const char *at, *end;
	struct profile_text whole; /* for messages */
	int depth;
	bool is_looked_up, is_computed;
	struct error *err;
};

static int comparison(struct profile_expression_parsing *parsing,
		      double *value);

static int profile_expression_fail(struct profile_expression_parsing *parsing,
				   int code, const char *what)
{
	return error_set(parsing->err, code, "%.*s: %s",
			 (int)parsing->whole.length, parsing->whole.text, what);
}

static void
profile_expression_skip_blanks(struct profile_expression_parsing *parsing)
{
	while (parsing->at < parsing->end && *parsing->at == ' ')
		parsing->at++;
}

static char peek(struct profile_expression_parsing *parsing)
{
	profile_expression_skip_blanks(parsing);
	if (parsing->at == parsing->end)
		return '\0';
	return *parsing->at;
}

static bool profile_expression_take(struct profile_expression_parsing *parsing,
				    char c)
{
	if (peek(parsing) != c)
		return false;
	parsing->at++;
	return true;
}

static bool profile_expression_is_word(char c)
{
	return (c >= 'a' && c <= 'z') || c == '_' || name_is_digit(c);
}

static double
profile_expression_digits(struct profile_expression_parsing *parsing,
			  int *count)
{
	double value = 0;

	for (; parsing->at < parsing->end && name_is_digit(*parsing->at);
	     parsing->at++, ++*count)
		value = value * 10 + (*parsing->at - '0');
	return value;
}

/* Few digits and a power of ten that a double holds: rounded once. */
static int profile_expression_number(struct profile_expression_parsing *parsing,
				     double *value)
{
	int count = 0, decimals = 0, ignored = 0;
	double whole = profile_expression_digits(parsing, &count), exponent = 0;
	double fraction = 0;

	if (parsing->at < parsing->end && *parsing->at == '.') {
		parsing->at++;
		fraction = profile_expression_digits(parsing, &decimals);
	}
	if (count + decimals == 0 || count + decimals > 15)
		return profile_expression_fail(parsing, -EINVAL,
					       "a number has 1 to 15 digits");
	if (parsing->at < parsing->end && *parsing->at == 'e') {
		parsing->at++;
		exponent = profile_expression_digits(parsing, &ignored);
		if (!ignored || exponent > 18)
			return profile_expression_fail(
				parsing, -EINVAL,
				"after e comes a number up to 18");
	}
	*value = (whole * pow(10, decimals) + fraction);
	*value = exponent >= decimals ? *value * pow(10, exponent - decimals)
				      : *value / pow(10, decimals - exponent);
	return 0;
}

static struct profile_text word(struct profile_expression_parsing *parsing)
{
	struct profile_text name = { parsing->at, 0 };

	while (parsing->at < parsing->end &&
	       profile_expression_is_word(*parsing->at))
		parsing->at++;
	name.length = (size_t)(parsing->at - name.text);
	return name;
}

static bool profile_expression_is_same(const char *name,
				       struct profile_text text)
{
	return strlen(name) == text.length &&
	       strncmp(name, text.text, text.length) == 0;
}

/* Index of the line of that key; count: there is none. */
static size_t line_index(const struct profile_section *section,
			 struct profile_text name)
{
	size_t i = 0;

	while (i < section->count &&
	       !profile_expression_is_same(section->lines[i].key, name))
		i++;
	return i;
}

/* A rule that could not be computed says itself what it lacks. */
static int rule_value(struct profile_expression_parsing *parsing,
		      const struct profile_section *rules, size_t index,
		      double *value)
{
	struct profile_text text = { rules->lines[index].text,
				     strlen(rules->lines[index].text) };
	struct profile_scope above;
	struct profile_figure figure;

	parsing->is_computed = true;
	if (index >= parsing->scope->rule_count)
		return profile_expression_fail(parsing, -EINVAL,
					       "a rule stands above its use");
	parsing->is_looked_up |= parsing->scope->is_looked_up[index];
	*value = parsing->scope->rules[index];
	if (!isnan(*value))
		return 0;
	above = *parsing->scope;
	above.rule_count = index;
	return profile_value(&above, text, &figure, parsing->err);
}

static int
profile_expression_name_value(struct profile_expression_parsing *parsing,
			      struct profile_text name, double *value)
{
	const struct profile *profile = parsing->scope->profile;
	const struct profile_section *inputs =
		profile_section(profile, PROFILE_INPUTS, NULL);
	const struct profile_section *rules =
		profile_section(profile, PROFILE_RULES, NULL);
	size_t index;

	*value = profile->unit_bytes;
	if (profile_expression_is_same("unit", name))
		return 0;
	index = inputs ? line_index(inputs, name) : 0;
	if (inputs && index < inputs->count) {
		*value = parsing->scope->inputs[index];
		if (!isnan(*value))
			return 0;
		return error_set(parsing->err, -ENODATA,
				 "%.*s is not known, and the guide has no "
				 "figure without it",
				 (int)name.length, name.text);
	}
	index = rules ? line_index(rules, name) : 0;
	if (rules && index < rules->count)
		return rule_value(parsing, rules, index, value);
	return profile_expression_fail(parsing, -EINVAL,
				       "there is no such input or rule");
}

/* Between two anchors on the line through them. */
static int
profile_expression_look_up(struct profile_expression_parsing *parsing,
			   const struct profile_section *anchors, double at,
			   double *value)
{
	const struct profile_line *line = anchors->lines;
	const struct profile_line *last = line + anchors->count - 1;

	parsing->is_looked_up = true;
	if (!(at >= line->at && at <= last->at))
		return error_set(parsing->err, -ERANGE,
				 "%s: the guide has figures from %g to %g, "
				 "none for %g",
				 anchors->name, line->at, last->at, at);
	while (line < last && at > line[1].at)
		line++;
	*value = line->number;
	if (line < last && at > line->at)
		*value += (at - line->at) / (line[1].at - line->at) *
			  (line[1].number - line->number);
	return 0;
}

static double minimum(double a, double b)
{
	return a < b ? a : b;
}

static double maximum(double a, double b)
{
	return a > b ? a : b;
}

static const struct function {
	const char *name;
	int arguments;
	double (*one)(double a);
	double (*two)(double a, double b);
} functions[] = {
	{ "abs", 1, fabs, NULL },    { "floor", 1, floor, NULL },
	{ "round", 1, round, NULL }, { "min", 2, NULL, minimum },
	{ "max", 2, NULL, maximum },
};

static int arguments(struct profile_expression_parsing *parsing,
		     double values[ARGUMENTS_MAX], int *count)
{
	int result = 0;

	for (*count = 0; result == 0; ++*count) {
		if (*count == ARGUMENTS_MAX)
			return profile_expression_fail(parsing, -EINVAL,
						       "too many arguments");
		result = comparison(parsing, &values[*count]);
		if (result == 0 && profile_expression_take(parsing, ')')) {
			++*count;
			return 0;
		}
		if (result == 0 && !profile_expression_take(parsing, ','))
			return profile_expression_fail(parsing, -EINVAL,
						       ") is missing");
	}
	return result;
}

static int call(struct profile_expression_parsing *parsing,
		struct profile_text name, double *value)
{
	const struct profile *profile = parsing->scope->profile;
	double values[ARGUMENTS_MAX] = { 0 };
	int count, result = arguments(parsing, values, &count);

	if (result < 0)
		return result;
	for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++) {
		const struct function *function = &functions[i];

		if (!profile_expression_is_same(function->name, name) ||
		    function->arguments != count)
			continue;
		parsing->is_computed = true;
		*value = function->one ? function->one(values[0])
				       : function->two(values[0], values[1]);
		return 0;
	}
	for (size_t i = 0; i < profile->count; i++)
		if (profile->sections[i].kind == PROFILE_ANCHORS &&
		    profile_expression_is_same(profile->sections[i].name,
					       name) &&
		    count == 1)
			return profile_expression_look_up(parsing,
							  &profile->sections[i],
							  values[0], value);
	return profile_expression_fail(
		parsing, -EINVAL,
		"there is no such function or list of anchors, or it takes "
		"another number of arguments");
}

static int atom(struct profile_expression_parsing *parsing, double *value)
{
	char c = peek(parsing);
	struct profile_text name;

	if (name_is_digit(c) || c == '.')
		return profile_expression_number(parsing, value);
	if (profile_expression_take(parsing, '(')) {
		int result = comparison(parsing, value);

		if (result == 0 && !profile_expression_take(parsing, ')'))
			return profile_expression_fail(parsing, -EINVAL,
						       ") is missing");
		return result;
	}
	name = word(parsing);
	if (!name.length)
		return profile_expression_fail(
			parsing, -EINVAL,
			"a number, a name or ( should come next");
	return profile_expression_take(parsing, '(')
		       ? call(parsing, name, value)
		       : profile_expression_name_value(parsing, name, value);
}

static int unary(struct profile_expression_parsing *parsing, double *value)
{
	bool is_negative = profile_expression_take(parsing, '-');
	int result = atom(parsing, value);

	if (is_negative)
		*value = -*value;
	return result;
}

static int
profile_expression_product(struct profile_expression_parsing *parsing,
			   double *value)
{
	int result = unary(parsing, value);
	double right = 0;
	bool divides;

	while (result == 0) {
		divides = peek(parsing) == '/';
		if (!divides && peek(parsing) != '*')
			return 0;
		parsing->at++;
		parsing->is_computed = true;
		result = unary(parsing, &right);
		if (result == 0 && divides && fabs(right) < 1e-30)
			return profile_expression_fail(parsing, -ERANGE,
						       "divided by 0");
		if (result == 0)
			*value = divides ? *value / right : *value * right;
	}
	return result;
}

static int sum(struct profile_expression_parsing *parsing, double *value)
{
	int result = profile_expression_product(parsing, value);
	double right = 0;
	bool is_minus;

	while (result == 0) {
		is_minus = peek(parsing) == '-';
		if (!is_minus && peek(parsing) != '+')
			return 0;
		parsing->at++;
		parsing->is_computed = true;
		result = profile_expression_product(parsing, &right);
		if (result == 0)
			*value += is_minus ? -right : right;
	}
	return result;
}

/* 1 where it holds, 0 where not. */
static int comparison(struct profile_expression_parsing *parsing, double *value)
{
	double right = 0;
	bool is_less;
	int result;

	if (++parsing->depth > DEPTH_MAX)
		return profile_expression_fail(parsing, -EINVAL,
					       "too many parentheses");
	result = sum(parsing, value);
	is_less = peek(parsing) == '<';
	if (result == 0 && (is_less || peek(parsing) == '>')) {
		parsing->at++;
		if (!profile_expression_take(parsing, '='))
			return profile_expression_fail(parsing, -EINVAL,
						       "write <= or >=");
		parsing->is_computed = true;
		result = sum(parsing, &right);
		*value = is_less ? *value <= right : *value >= right;
	}
	parsing->depth--;
	return result;
}

int profile_value(const struct profile_scope *scope,
		  struct profile_text expression, struct profile_figure *figure,
		  struct error *err)
{
	struct profile_expression_parsing parsing = { .scope = scope,
						      .at = expression.text,
						      .end = expression.text +
							     expression.length,
						      .whole = expression,
						      .err = err };
	int result = comparison(&parsing, &figure->value);

	if (result == 0 && peek(&parsing))
		return profile_expression_fail(
			&parsing, -EINVAL,
			"an operator should stand between two values");
	if (result == 0 && !isfinite(figure->value))
		return profile_expression_fail(&parsing, -ERANGE,
					       "the result is no number");
	figure->source = parsing.is_looked_up  ? PROFILE_LOOKED_UP
			 : parsing.is_computed ? PROFILE_COMPUTED
					       : PROFILE_LITERAL;
	return result;
}
