/* What whole numbers, names and signs come to, as a shell computes it. Pure. */
/* SPDX-License-Identifier: MIT */
#include "launcher/command/text/arithmetic.h"

#include <string.h>

#define ARITHMETIC_DEPTH_MAX 32

struct arithmetic {
	arithmetic_name *name;
	void *context;
	const char *at, *end;
	unsigned depth;
	bool is_known;
};

static char next_sign(struct arithmetic *sum)
{
	while (sum->at < sum->end && strchr(" \t\n", *sum->at))
		sum->at++;
	if (sum->at == sum->end)
		return '\0';
	return *sum->at;
}

static int64_t arithmetic_sum(struct arithmetic *sum);

static int64_t digits_value(struct arithmetic *sum, const char *digits,
			    size_t length)
{
	int64_t value = 0;

	if (length == 0 || length > 18 || (length > 1 && *digits == '0'))
		sum->is_known = false;
	for (size_t i = 0; sum->is_known && i < length; i++)
		value = value * 10 + (digits[i] - '0');
	return value;
}

static int64_t number_or_name(struct arithmetic *sum)
{
	size_t length = (size_t)(sum->end - sum->at);
	size_t digits = 0;
	const char *text = sum->at;

	while (digits < length && text[digits] >= '0' && text[digits] <= '9')
		digits++;
	if (digits) {
		sum->at += digits;
		return digits_value(sum, text, digits);
	}
	text = sum->name(sum->context, text, length, &length);
	sum->at += length;
	if (text && text[strspn(text, "0123456789")] == '\0')
		return digits_value(sum, text, strlen(text));
	sum->is_known = false;
	return 0;
}

static int64_t arithmetic_factor(struct arithmetic *sum)
{
	int64_t value;

	if (next_sign(sum) != '(')
		return number_or_name(sum);
	if (++sum->depth > ARITHMETIC_DEPTH_MAX) {
		sum->is_known = false;
		return 0;
	}
	sum->at++;
	value = arithmetic_sum(sum);
	sum->is_known = sum->is_known && next_sign(sum) == ')';
	sum->at += sum->is_known;
	sum->depth--;
	return value;
}

static int64_t arithmetic_product(struct arithmetic *sum)
{
	int64_t value = arithmetic_factor(sum);

	for (;;) {
		char sign = next_sign(sum);
		int64_t other;

		if (!sum->is_known || !sign || !strchr("*/%", sign))
			return value;
		sum->at++;
		other = arithmetic_factor(sum);
		if (sign == '*')
			sum->is_known =
				sum->is_known &&
				!__builtin_mul_overflow(value, other, &value);
		else if (!sum->is_known || other == 0 ||
			 (other == -1 && value == INT64_MIN))
			sum->is_known = false;
		else
			value = sign == '/' ? value / other : value % other;
	}
}

static int64_t arithmetic_sum(struct arithmetic *sum)
{
	int64_t value = arithmetic_product(sum);

	for (;;) {
		char sign = next_sign(sum);
		int64_t other;

		if (!sum->is_known || (sign != '+' && sign != '-'))
			return value;
		sum->at++;
		other = arithmetic_product(sum);
		if (sign == '+' ? __builtin_add_overflow(value, other, &value)
				: __builtin_sub_overflow(value, other, &value))
			sum->is_known = false;
	}
}

bool arithmetic_value(const char *text, size_t length, arithmetic_name *name,
		      void *context, int64_t *value)
{
	struct arithmetic sum = { .name = name,
				  .context = context,
				  .at = text,
				  .end = text + length,
				  .is_known = true };

	*value = arithmetic_sum(&sum);
	return sum.is_known && next_sign(&sum) == '\0';
}

/* A number, $N, ${N} or "$N"; false: it is none. */
static bool expr_operand(const char *word, size_t length, struct strbuf *out)
{
	size_t digits = 0;

	if (length > 2 && *word == '"' && word[length - 1] == '"') {
		word++;
		length -= 2;
	}
	while (digits < length && word[digits] >= '0' && word[digits] <= '9')
		digits++;
	strbuf_add(out, word, length);
	return length && (*word == '$' || digits == length);
}

/* +, \*, '*'; false: it is none. */
static bool expr_sign(const char *word, size_t length, struct strbuf *out)
{
	char sign = '\0';
	bool is_bare = length == 1 && sign != '*';
	bool is_escaped =
		(length == 2 && *word == '\\') ||
		(length == 3 && strchr("\"'", *word) && word[2] == *word);

	if (length)
		sign = word[length > 1];
	strbuf_addf(out, " %c ", sign);
	return sign && strchr("+-*/%", sign) && (is_bare || is_escaped);
}

bool arithmetic_of_expr(const char *text, size_t length, struct strbuf *out)
{
	static const char name[] = "expr ";
	const char *end = text + length;
	bool is_operand = false;

	if (length < strlen(name) || memcmp(text, name, strlen(name)) != 0)
		return false;
	text += strlen(name);
	while (text < end) {
		const char *word = text;

		while (text < end && *text != ' ')
			text++;
		if (word < text) {
			is_operand = !is_operand;
			if (!(is_operand ? expr_operand : expr_sign)(
				    word, (size_t)(text - word), out))
				return false;
		}
		text += text < end;
	}
	return is_operand;
}
