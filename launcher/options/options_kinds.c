/* How the text of an option is read: one kind for each sort of value. */
/* SPDX-License-Identifier: MIT */
#include "launcher/options/options_kinds.h"

#include "base/alloc.h"
#include "base/units.h"
#include "search/search.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* "auto, always or never": the words a value may be. */
static void words_text(struct strbuf *out, const char *const *words)
{
	for (size_t i = 0; words[i]; i++) {
		if (i > 0)
			strbuf_adds(out, words[i + 1] ? ", " : " or ");
		strbuf_adds(out, words[i]);
	}
}

static int options_kinds_no_such_word(const char *value,
				      const char *const *words,
				      struct error *err)
{
	struct strbuf list = STRBUF_INIT;

	words_text(&list, words);
	(void)error_set(err, -EINVAL, "'%.64s' is not %s", value,
			strbuf_text(&list));
	strbuf_release(&list);
	return -EINVAL;
}

int option_word(const char *value, const char *const *words, struct error *err)
{
	for (int i = 0; words[i]; i++)
		if (strcmp(words[i], value) == 0)
			return i;
	return options_kinds_no_such_word(value, words, err);
}

int option_truth(const char *value, bool *truth, struct error *err)
{
	static const struct {
		const char *word;
		bool truth;
	} rows[] = {
		{ "1", true },  { "yes", true },    { "true", true },
		{ "on", true }, { "0", false },     { "no", false },
		{ "", false },  { "false", false }, { "off", false },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		if (strcasecmp(rows[i].word, value) != 0)
			continue;
		*truth = rows[i].truth;
		return 0;
	}
	return error_set(err, -EINVAL, "'%.64s' is not yes or no", value);
}

static int set_flag(const struct option_row *row, struct options *options,
		    const char *value, struct error *err)
{
	return option_truth(value, option_field(row, options), err);
}

static int set_string(const struct option_row *row, struct options *options,
		      const char *value, struct error *err)
{
	char **field = option_field(row, options);

	if (!*value)
		return error_set(err, -EINVAL, "needs a value");
	if (row->words && option_word(value, row->words, err) < 0)
		return -EINVAL;
	free(*field);
	*field = xstrdup(value);
	return 0;
}

static void release_string(const struct option_row *row,
			   struct options *options)
{
	char **field = option_field(row, options);

	free(*field);
	*field = NULL;
}

/* A batch size given where its option's name is asked for: say so early. */
static int set_name(const struct option_row *row, struct options *options,
		    const char *value, struct error *err)
{
	if (isdigit((unsigned char)value[0]))
		return error_set(err, -EINVAL,
				 "'%.64s' is a number: it takes the option's "
				 "name, such as --%s %s",
				 value, row->name, row->hint);
	return set_string(row, options, value, err);
}

static int set_strategy(const struct option_row *row, struct options *options,
			const char *value, struct error *err)
{
	const char *names[16] = { NULL };

	for (size_t i = 0; i < 15 && search_strategies[i]; i++)
		names[i] = search_strategies[i]->name;
	if (option_word(value, names, err) < 0)
		return -EINVAL;
	return set_string(row, options, value, err);
}

static int set_list(const struct option_row *row, struct options *options,
		    const char *value, struct error *err)
{
	(void)err;
	strlist_add(option_field(row, options), value);
	return 0;
}

/* A time of day, "7:00" to "23:59". */
static int set_clock(const struct option_row *row, struct options *options,
		     const char *value, struct error *err)
{
	size_t hours = strspn(value, "0123456789");
	int64_t hour = -1, minute = -1;
	char *first = xstrndup(value, hours);

	if (hours >= 1 && hours <= 2 && value[hours] == ':' &&
	    strlen(value + hours + 1) == 2) {
		(void)integer_parse(first, &hour, NULL);
		(void)integer_parse(value + hours + 1, &minute, NULL);
	}
	free(first);
	if (hour < 0 || hour > 23 || minute < 0 || minute > 59)
		return error_set(err, -EINVAL,
				 "'%.64s' is no time of day: write HH:MM, such "
				 "as 07:00",
				 value);
	return set_string(row, options, value, err);
}

static void release_list(const struct option_row *row, struct options *options)
{
	strlist_release(option_field(row, options));
}

static bool is_variable(const char *text)
{
	size_t length = 0;

	while (isalnum((unsigned char)text[length]) || text[length] == '_')
		length++;
	return length > 0 && !isdigit((unsigned char)text[0]) &&
	       text[length] == '=';
}

static int set_variable(const struct option_row *row, struct options *options,
			const char *value, struct error *err)
{
	if (!is_variable(value))
		return error_set(err, -EINVAL, "'%.64s' is not NAME=value",
				 value);
	return set_list(row, options, value, err);
}

/* {micro} or {micro:8}: with a value behind a colon. */
static bool has_placeholder(const char *text, const char *placeholder)
{
	size_t length = strlen(placeholder) - 1;

	for (; *text; text++)
		if (strncmp(text, placeholder, length) == 0 &&
		    (text[length] == '}' || text[length] == ':'))
			return true;
	return false;
}

static int set_template(const struct option_row *row, struct options *options,
			const char *value, struct error *err)
{
	bool found = false;

	for (size_t i = 0; row->words[i]; i++)
		found = found || has_placeholder(value, row->words[i]);
	if (!is_variable(value) || !found)
		return error_set(err, -EINVAL,
				 "'%.64s' is not NAME={micro}; a fixed value "
				 "goes before autofit: NAME=value autofit ...",
				 value);
	return set_list(row, options, value, err);
}

static int check_range(const struct option_row *row, int64_t number,
		       const char *value, struct error *err)
{
	if (number >= row->min && number <= row->max)
		return 0;
	return error_set(err, -ERANGE,
			 "'%.64s' is not between %" PRId64 " and %" PRId64,
			 value, row->min, row->max);
}

static int set_integer(const struct option_row *row, struct options *options,
		       const char *value, struct error *err)
{
	int64_t number;

	if (integer_parse(value, &number, err) < 0 ||
	    check_range(row, number, value, err) < 0)
		return -EINVAL;
	*(int64_t *)option_field(row, options) = number;
	return 0;
}

static int set_duration(const struct option_row *row, struct options *options,
			const char *value, struct error *err)
{
	char text[DURATION_TEXT_MAX];
	int64_t ms;

	if (duration_parse(value, &ms, err) < 0)
		return -EINVAL;
	if (ms < row->min)
		return error_set(err, -ERANGE, "'%.64s' is shorter than %s",
				 value,
				 duration_format(text, (double)row->min / 1e3));
	if (row->max && ms > row->max)
		return error_set(err, -ERANGE, "'%.64s' is longer than %s",
				 value,
				 duration_format(text, (double)row->max / 1e3));
	*(int64_t *)option_field(row, options) = ms;
	return 0;
}

/* "8" was hardly meant as eight bytes. */
static int options_kinds_check_bytes(const struct option_row *row,
				     uint64_t bytes, const char *value,
				     struct error *err)
{
	char text[BYTES_TEXT_MAX];

	if (bytes >= (uint64_t)row->min)
		return 0;
	if (value[strspn(value, "0123456789.")])
		return error_set(err, -ERANGE, "'%.64s' is less than %s", value,
				 bytes_format(text, (uint64_t)row->min));
	return error_set(err, -ERANGE,
			 "'%.64s' would be bytes; write %.16sG or %.16sM%s",
			 value, value, value,
			 row->kind == &kind_amount ? ", or a share such as 5%"
						   : "");
}

static int options_kinds_set_bytes(const struct option_row *row,
				   struct options *options, const char *value,
				   struct error *err)
{
	uint64_t bytes;

	if (bytes_parse(value, &bytes, err) < 0 ||
	    options_kinds_check_bytes(row, bytes, value, err) < 0)
		return -EINVAL;
	*(uint64_t *)option_field(row, options) = bytes;
	return 0;
}

static int set_amount(const struct option_row *row, struct options *options,
		      const char *value, struct error *err)
{
	struct amount amount;

	if (amount_parse(value, &amount, err) < 0)
		return -EINVAL;
	if (amount.is_percent && amount.percent > (double)row->max)
		return error_set(err, -ERANGE,
				 "'%.64s' is more than %" PRId64 "%%", value,
				 row->max);
	if (!amount.is_percent && amount.bytes &&
	    options_kinds_check_bytes(row, amount.bytes, value, err) < 0)
		return -EINVAL;
	*(struct amount *)option_field(row, options) = amount;
	return 0;
}

/* "2" and "2%" are the same share. */
static int set_percent(const struct option_row *row, struct options *options,
		       const char *value, struct error *err)
{
	size_t length = strlen(value);
	struct amount amount;
	char *text;
	int result;

	if (length > 0 && value[length - 1] == '%')
		length--;
	text = xasprintf("%.*s%%", (int)(length < 64 ? length : 64), value);
	result = amount_parse(text, &amount, NULL);
	free(text);
	if (result < 0 || amount.percent < (double)row->min ||
	    amount.percent > (double)row->max)
		return error_set(err, -EINVAL,
				 "'%.64s' is not a share between %" PRId64
				 "%% and %" PRId64 "%%",
				 value, row->min, row->max);
	*(double *)option_field(row, options) = amount.percent / 100;
	return 0;
}

static int set_color(const struct option_row *row, struct options *options,
		     const char *value, struct error *err)
{
	int index = option_word(value, row->words, err);

	if (index >= 0)
		options->output.color = (enum color_choice)index;
	return index < 0 ? index : 0;
}

#define PHANTOM "phantom:"

static int set_device(const struct option_row *row, struct options *options,
		      const char *value, struct error *err)
{
	static const char *const names[] = { "auto", "cuda", "host", NULL };
	char *phantom = NULL;
	int64_t number = -1;
	int index;

	if (strncmp(value, PHANTOM, strlen(PHANTOM)) == 0 &&
	    value[strlen(PHANTOM)]) {
		index = DEVICE_PHANTOM;
		phantom = xstrdup(value + strlen(PHANTOM));
	} else if (strncmp(value, "cuda:", 5) == 0) {
		if (!isdigit((unsigned char)value[5]) ||
		    integer_parse(value + 5, &number, NULL) < 0 ||
		    number > row->max)
			return options_kinds_no_such_word(value, row->words,
							  err);
		index = DEVICE_CUDA;
	} else {
		index = option_word(value, names, NULL);
		if (index < 0)
			return options_kinds_no_such_word(value, row->words,
							  err);
	}
	options->target.device = (enum device_choice)index;
	options->target.cuda_index = (int)number;
	free(options->target.phantom);
	options->target.phantom = phantom;
	return 0;
}

static int set_effective(const struct option_row *row, struct options *options,
			 const char *value, struct error *err)
{
	static const char *const names[] = { "keep", "grow", NULL };
	int index = option_word(value, names, NULL);
	int64_t number = 0;

	if (index < 0) {
		if (!isdigit((unsigned char)value[0]))
			return options_kinds_no_such_word(value, row->words,
							  err);
		if (integer_parse(value, &number, err) < 0 ||
		    check_range(row, number, value, err) < 0)
			return -EINVAL;
		index = EFFECTIVE_NUMBER;
	}
	options->batch.choice = (enum effective_choice)index;
	options->batch.effective_batch = number;
	return 0;
}

static int set_grow(const struct option_row *row, struct options *options,
		    const char *value, struct error *err)
{
	bool grow = false;

	if (option_truth(value, &grow, err) < 0)
		return -EINVAL;
	return grow ? set_effective(row, options, "grow", err) : 0;
}

static int set_explain(const struct option_row *row, struct options *options,
		       const char *value, struct error *err)
{
	bool explain = false;

	(void)row;
	if (option_truth(value, &explain, err) < 0)
		return -EINVAL;
	if (explain)
		options->subcommand = SUBCOMMAND_EXPLAIN;
	return 0;
}

static int set_isolation(const struct option_row *row, struct options *options,
			 const char *value, struct error *err)
{
	/* In the order of the row's words; auto is the strongest. */
	static const enum isolation_kind kinds[] = {
		ISOLATION_VIEW,
		ISOLATION_VIEW,
		ISOLATION_LANDLOCK,
		ISOLATION_COMPARE,
	};
	int index = option_word(value, row->words, err);

	if (index < 0)
		return index;
	options->probe.isolation = kinds[index];
	return 0;
}

static int set_second(const struct option_row *row, struct options *options,
		      const char *value, struct error *err)
{
	int index = option_word(value, row->words, err);

	if (index < 0)
		return index;
	*(bool *)option_field(row, options) = index == 1;
	return 0;
}

static int set_path(const struct option_row *row, struct options *options,
		    const char *value, struct error *err)
{
	if (!*value)
		return error_set(err, -EINVAL, "needs a value");
	return set_list(row, options, value, err);
}

/* The parser sees row->print and stops; there is no field. */
static int set_print(const struct option_row *row, struct options *options,
		     const char *value, struct error *err)
{
	(void)options;
	return row->words && option_word(value, row->words, err) < 0 ? -EINVAL
								     : 0;
}

#define KIND(name, ...) const struct option_kind kind_##name = { __VA_ARGS__ }

KIND(flag, .set = set_flag, .is_flag = true);
KIND(string, .set = set_string, .release = release_string);
KIND(name, .set = set_name, .release = release_string);
KIND(strategy, .set = set_strategy, .release = release_string);
KIND(list, .set = set_list, .release = release_list, .grows = true);
KIND(variable, .set = set_variable, .release = release_list, .grows = true);
KIND(template, .set = set_template, .release = release_list, .grows = true);
KIND(clock, .set = set_clock, .release = release_string);
KIND(path, .set = set_path, .release = release_list, .grows = true);
KIND(integer, .set = set_integer);
KIND(bytes, .set = options_kinds_set_bytes);
KIND(amount, .set = set_amount);
KIND(percent, .set = set_percent);
KIND(duration, .set = set_duration);
KIND(color, .set = set_color);
KIND(device, .set = set_device);
KIND(effective, .set = set_effective);
KIND(grow, .set = set_grow, .is_flag = true);
KIND(explain, .set = set_explain, .is_flag = true);
KIND(isolation, .set = set_isolation);
KIND(second, .set = set_second);
KIND(print, .set = set_print, .is_flag = true);
KIND(print_for, .set = set_print);
