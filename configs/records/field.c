/* One row per member of a struct: how records and journals write it down. */
/* SPDX-License-Identifier: MIT */
#include "configs/records/field.h"

#include "base/trial.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NANOSECONDS 1000000000
#define NANOSECOND_DIGITS 9
/* More digits than any number here has; bounds what strtoull is given. */
#define NUMBER_TEXT_MAX 24

bool field_is_text(const struct field *field)
{
	return field->kind == FIELD_TEXT || field->kind == FIELD_CHARS ||
	       field->kind == FIELD_LIST;
}

double field_seconds(double seconds)
{
	if (!isfinite(seconds) || seconds < 0 || seconds > FIELD_SECONDS_MAX)
		return 0;
	return seconds;
}

/* printf and strtod would follow the locale's decimal point. */
static void format_seconds(double seconds, struct strbuf *out)
{
	int64_t ns = llround(field_seconds(seconds) * NANOSECONDS);

	strbuf_addf(out, "%" PRId64 ".%09" PRId64, ns / NANOSECONDS,
		    ns % NANOSECONDS);
}

void field_format(const struct field *field, const void *object,
		  struct strbuf *out)
{
	const void *at = (const char *)object + field->offset;

	switch (field->kind) {
	case FIELD_INTEGER:
		strbuf_addf(out, "%" PRId64, *(const int64_t *)at);
		break;
	case FIELD_INT:
		strbuf_addf(out, "%d", *(const int *)at);
		break;
	case FIELD_BYTES:
		strbuf_addf(out, "%" PRIu64, *(const uint64_t *)at);
		break;
	case FIELD_SECONDS:
		format_seconds(*(const double *)at, out);
		break;
	case FIELD_BOOL:
		strbuf_adds(out, *(const bool *)at ? "yes" : "no");
		break;
	case FIELD_VERDICT:
		strbuf_adds(out, verdict_name(*(const enum verdict *)at));
		break;
	case FIELD_PHASE:
		strbuf_adds(out, phase_name(*(const enum phase *)at));
		break;
	case FIELD_COVERAGE:
		strbuf_adds(out, coverage_name(*(const enum coverage *)at));
		break;
	case FIELD_STEPS_SOURCE:
		strbuf_adds(out,
			    steps_source_name(*(const enum steps_source *)at));
		break;
	case FIELD_TEXT:
	case FIELD_CHARS:
	case FIELD_LIST:
		break;
	}
}

static int parse_digits(const char *text, size_t length, uint64_t *value)
{
	char digits[NUMBER_TEXT_MAX];
	char *end;

	if (length == 0 || length >= sizeof(digits) ||
	    strspn(text, "0123456789") < length)
		return -EINVAL;
	memcpy(digits, text, length);
	digits[length] = '\0';
	errno = 0;
	*value = strtoull(digits, &end, 10);
	return errno ? -errno : 0;
}

static int parse_integer(const char *text, int64_t smallest, int64_t largest,
			 int64_t *value)
{
	uint64_t digits;
	bool negative = *text == '-';

	text += negative;
	if (parse_digits(text, strlen(text), &digits) < 0 ||
	    digits > (uint64_t)INT64_MAX)
		return -EINVAL;
	*value = negative ? -(int64_t)digits : (int64_t)digits;
	return *value < smallest || *value > largest ? -EINVAL : 0;
}

static int parse_int(const char *text, int64_t smallest, int *value)
{
	int64_t wide;
	int result = parse_integer(text, smallest, INT_MAX, &wide);

	if (result == 0)
		*value = (int)wide;
	return result;
}

static int parse_seconds(const char *text, double *value)
{
	size_t whole_length = strspn(text, "0123456789");
	const char *rest = text + whole_length;
	uint64_t whole;
	uint64_t ns;

	if (parse_digits(text, whole_length, &whole) < 0 || *rest != '.' ||
	    strlen(rest + 1) != NANOSECOND_DIGITS ||
	    parse_digits(rest + 1, NANOSECOND_DIGITS, &ns) < 0 ||
	    (double)whole > FIELD_SECONDS_MAX)
		return -EINVAL;
	*value = (double)whole + (double)ns / NANOSECONDS;
	return 0;
}

static int parse_bool(const char *text, bool *value)
{
	*value = strcmp(text, "yes") == 0;
	return *value || strcmp(text, "no") == 0 ? 0 : -EINVAL;
}

static int parse_word(const struct field *field, void *at, const char *text)
{
	switch (field->kind) {
	case FIELD_INTEGER:
		return parse_integer(text, field->smallest, INT64_MAX, at);
	case FIELD_INT:
		return parse_int(text, field->smallest, at);
	case FIELD_BYTES:
		return parse_digits(text, strlen(text), at);
	case FIELD_SECONDS:
		return parse_seconds(text, at);
	case FIELD_BOOL:
		return parse_bool(text, at);
	case FIELD_VERDICT:
		return verdict_parse(text, at);
	case FIELD_PHASE:
		return phase_parse(text, at);
	case FIELD_COVERAGE:
		return coverage_parse(text, at);
	case FIELD_STEPS_SOURCE:
		return steps_source_parse(text, at);
	case FIELD_TEXT:
	case FIELD_CHARS:
	case FIELD_LIST:
		break;
	}
	return -EINVAL;
}

int field_parse(const struct field *field, void *object, const char *text,
		struct error *err)
{
	if (parse_word(field, (char *)object + field->offset, text) == 0)
		return 0;
	return error_set(err, -EINVAL, "%s cannot be \"%.40s\"", field->name,
			 text);
}

const struct field *field_find(const struct field *fields, const char *name,
			       size_t *index)
{
	for (size_t i = 0; fields[i].name; i++) {
		if (strcmp(fields[i].name, name) == 0) {
			*index = i;
			return &fields[i];
		}
	}
	return NULL;
}
