/* Numbers as people write them: bytes, durations, percentages. */
/* SPDX-License-Identifier: MIT */
#include "base/units.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct units_unit {
	const char *name;
	double factor;
};

static const struct units_unit byte_units[] = {
	{ "", 1 },
	{ "b", 1 },
	{ "k", 1024.0 },
	{ "kib", 1024.0 },
	{ "kb", 1e3 },
	{ "m", 1024.0 * 1024 },
	{ "mib", 1024.0 * 1024 },
	{ "mb", 1e6 },
	{ "g", 1024.0 * 1024 * 1024 },
	{ "gib", 1024.0 * 1024 * 1024 },
	{ "gb", 1e9 },
	{ "t", 1024.0 * 1024 * 1024 * 1024 },
	{ "tib", 1024.0 * 1024 * 1024 * 1024 },
	{ "tb", 1e12 },
	{ NULL, 0 },
};

static const struct units_unit count_units[] = {
	{ "", 1 },     { "k", 1e3 },  { "m", 1e6 }, { "b", 1e9 },
	{ "bn", 1e9 }, { "t", 1e12 }, { NULL, 0 },
};

static const struct units_unit duration_units[] = {
	{ "ms", 1 },     { "s", 1e3 },    { "sec", 1e3 },       { "m", 60e3 },
	{ "min", 60e3 }, { "h", 3600e3 }, { "d", 24 * 3600e3 }, { NULL, 0 },
};

static const struct units_unit *units_unit_find(const struct units_unit *units,
						const char *name, size_t length)
{
	for (; units->name; units++)
		if (strlen(units->name) == length &&
		    strncasecmp(units->name, name, length) == 0)
			return units;
	return NULL;
}

/* A plain decimal number: strtod would also take hex, inf and nan. */
static int decimal_parse(const char *text, const char **end, double *value)
{
	char *stop;

	if (!isdigit((unsigned char)text[0]) && text[0] != '.')
		return -EINVAL;
	if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X'))
		return -EINVAL;
	errno = 0;
	*value = strtod(text, &stop);
	if (stop == text || errno == ERANGE || !isfinite(*value))
		return -EINVAL;
	assert(*value >= 0 && "no sign was read");
	*end = stop;
	return 0;
}

/* A number and its unit; -EINVAL: no such. */
static int scaled_parse(const char *text, const struct units_unit *units,
			double *value)
{
	const struct units_unit *unit;
	const char *end;

	if (decimal_parse(text, &end, value) < 0)
		return -EINVAL;
	end += strspn(end, " ");
	unit = units_unit_find(units, end, strlen(end));
	if (!unit)
		return -EINVAL;
	*value *= unit->factor;
	return 0;
}

int integer_parse(const char *text, int64_t *value, struct error *err)
{
	char *end;
	long long number;

	errno = 0;
	number = strtoll(text, &end, 10);
	if (end == text || *end || isspace((unsigned char)text[0]))
		return error_set(err, -EINVAL, "'%.64s' is not a whole number",
				 text);
	if (errno == ERANGE)
		return error_set(err, -ERANGE, "'%.64s' is out of range", text);
	*value = number;
	return 0;
}

int bytes_parse(const char *text, uint64_t *bytes, struct error *err)
{
	double number;

	if (scaled_parse(text, byte_units, &number) < 0)
		return error_set(err, -EINVAL,
				 "'%.64s' is not a size such as 8GiB or 600M",
				 text);
	if (number >= 9.2e18)
		return error_set(err, -ERANGE, "size '%.64s' is out of range",
				 text);
	*bytes = (uint64_t)(number + 0.5);
	return 0;
}

int parameters_parse(const char *text, int64_t *count, struct error *err)
{
	double number;

	if (scaled_parse(text, count_units, &number) < 0 || number < 1)
		return error_set(err, -EINVAL,
				 "'%.64s' is not a number of parameters such "
				 "as 7b, 350M or 6738415616",
				 text);
	if (number > 1e15)
		return error_set(err, -ERANGE,
				 "'%.64s' is more parameters than any model "
				 "has",
				 text);
	*count = (int64_t)(number + 0.5);
	return 0;
}

int amount_parse(const char *text, struct amount *amount, struct error *err)
{
	const char *end;

	memset(amount, 0, sizeof(*amount));
	if (decimal_parse(text, &end, &amount->percent) == 0 &&
	    strcmp(end, "%") == 0) {
		amount->is_percent = true;
		if (amount->percent > 100)
			return error_set(err, -ERANGE, "'%.64s' is over 100%%",
					 text);
		return 0;
	}
	return bytes_parse(text, &amount->bytes, err);
}

uint64_t amount_of(const struct amount *amount, uint64_t whole_bytes)
{
	if (!amount->is_percent)
		return amount->bytes;
	assert(amount->percent >= 0 && amount->percent <= 100);
	return (uint64_t)((double)whole_bytes * amount->percent / 100);
}

int duration_parse(const char *text, int64_t *ms, struct error *err)
{
	const char *rest = text;
	double total = 0;

	do {
		const struct units_unit *unit = NULL;
		double number;

		if (decimal_parse(rest, &rest, &number) == 0) {
			size_t length = 0;

			while (isalpha((unsigned char)rest[length]))
				length++;
			unit = units_unit_find(duration_units,
					       length ? rest : "s",
					       length ? length : 1);
			rest += length;
		}
		if (!unit)
			return error_set(err, -EINVAL,
					 "'%.64s' is not a duration such as "
					 "90s, 10m or 1h30m",
					 text);
		total += number * unit->factor;
	} while (*rest);
	if (total > 1e14)
		return error_set(err, -ERANGE,
				 "duration '%.64s' is out of range", text);
	*ms = (int64_t)(total + 0.5);
	return 0;
}

const char *bytes_format(char text[BYTES_TEXT_MAX], uint64_t bytes)
{
	static const char *const names[] = { "B",   "KiB", "MiB",
					     "GiB", "TiB", "PiB" };
	double number = (double)bytes;
	size_t step = 0;
	int digits;

	while (number >= 999.5 && step + 1 < sizeof(names) / sizeof(*names)) {
		number /= 1024;
		step++;
	}
	digits = step == 0 || number >= 99.95 ? 0 : number >= 9.995 ? 1 : 2;
	(void)snprintf(text, BYTES_TEXT_MAX, "%.*f %s", digits, number,
		       names[step]);
	return text;
}

const char *decimal_format(char text[DECIMAL_TEXT_MAX], double number,
			   int digits)
{
	int64_t scale = digits == 2 ? 100 : 10;
	int64_t whole;

	text[0] = '\0';
	if (!(number > 0) || number > 1e15)
		return text;
	whole = (int64_t)(number * (double)scale + 0.5);
	(void)snprintf(text, DECIMAL_TEXT_MAX, "%" PRId64 ".%0*" PRId64,
		       whole / scale, digits, whole % scale);
	return text;
}

const char *duration_format(char text[DURATION_TEXT_MAX], double seconds)
{
	int64_t whole = (int64_t)(seconds + 0.5);

	if (seconds < 9.95)
		(void)snprintf(text, DURATION_TEXT_MAX, "%.1f s",
			       seconds < 0 ? 0 : seconds);
	else if (whole < 60)
		(void)snprintf(text, DURATION_TEXT_MAX, "%d s", (int)whole);
	else if (whole < 3600)
		(void)snprintf(text, DURATION_TEXT_MAX, "%d min %02d s",
			       (int)(whole / 60), (int)(whole % 60));
	else
		(void)snprintf(text, DURATION_TEXT_MAX, "%lld h %02d min",
			       (long long)(whole / 3600),
			       (int)(whole / 60 % 60));
	return text;
}
