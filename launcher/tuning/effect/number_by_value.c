/* Which number of a command is a size, by its value. Pure. */
/* SPDX-License-Identifier: MIT */
#include "launcher/tuning/effect/number_by_value.h"

#include "launcher/command/command_numbers.h"
#include "launcher/command/text/option_class.h"

#include <assert.h>
#include <string.h>

#define CLASS_OF(class) (1U << (class))
#define SPEAKS_OF_PASSES                                                       \
	(CLASS_OF(OPTION_ACCUM) | CLASS_OF(OPTION_ACCUM_LIKE) |                \
	 CLASS_OF(OPTION_BATCH_LIKE) | CLASS_OF(OPTION_MICRO_LIKE))
#define SPEAKS_OF_A_BATCH                                                      \
	(CLASS_OF(OPTION_BATCH) | CLASS_OF(OPTION_MICRO) |                     \
	 CLASS_OF(OPTION_MICRO_NODE) | CLASS_OF(OPTION_GLOBAL) |               \
	 CLASS_OF(OPTION_BATCH_LIKE) | CLASS_OF(OPTION_MICRO_LIKE))
#define ANY_NAME UINT32_MAX

static bool is_same_name(const struct command_number *a,
			 const struct command_number *b)
{
	return a->name_length == b->name_length &&
	       memcmp(a->name, b->name, a->name_length) == 0;
}

/* Of that value, origin and class; the same name again is the same number. */
static const struct command_number *next_number(const struct command *command,
						int64_t value,
						enum number_origin origin,
						uint32_t classes,
						const struct command_number *at)
{
	const struct command_number *end =
		command->numbers + command->number_count;
	const struct command_number *before = at;

	for (at = at ? at + 1 : command->numbers; at < end; at++)
		if (at->value == value && at->origin == origin &&
		    !(before && is_same_name(at, before)) &&
		    (classes &
		     CLASS_OF(option_class_of(at->name, at->name_length))) &&
		    command_number_may_be_size(at))
			return at;
	return NULL;
}

/* The only one of the first origin that has any; NULL. */
static const struct command_number *only_number(const struct command *command,
						int64_t value)
{
	for (int i = 0; i < NUMBER_ORIGINS; i++) {
		enum number_origin origin = (enum number_origin)i;
		const struct command_number *one =
			next_number(command, value, origin, ANY_NAME, NULL);

		if (one)
			return next_number(command, value, origin, ANY_NAME,
					   one)
				       ? NULL
				       : one;
	}
	return NULL;
}

static bool speaks_of_a_batch(const struct command_number *number)
{
	return SPEAKS_OF_A_BATCH &
	       CLASS_OF(option_class_of(number->name, number->name_length));
}

static bool any_speaks_of_a_batch(const struct command *command)
{
	for (size_t i = 0; i < command->number_count; i++)
		if (command_number_may_be_size(&command->numbers[i]) &&
		    speaks_of_a_batch(&command->numbers[i]))
			return true;
	return false;
}

/* Its name is silent where another's says batch: a pass may take one of several
 * parts of that batch. */
static bool another_is_the_batch(const struct command *command, int64_t rows)
{
	const struct command_number *one = only_number(command, rows);

	return one && !speaks_of_a_batch(one) && any_speaks_of_a_batch(command);
}

static bool flag_take(char flag[SEEN_NAME_MAX],
		      const struct command_number *number)
{
	if (!number)
		return false;
	assert(number->name_length < SEEN_NAME_MAX);
	memcpy(flag, number->name, number->name_length);
	flag[number->name_length] = '\0';
	return true;
}

static bool is_a_number(const struct command *command, int64_t value)
{
	for (size_t i = 0; i < command->number_count; i++)
		if (command->numbers[i].value == value &&
		    command_number_may_be_size(&command->numbers[i]))
			return true;
	return false;
}

bool rows_number_find(const struct command *command, const struct trial *trial,
		      struct seen_meaning *seen)
{
	int64_t rows = trial->input_rows, columns = trial->input_columns;

	return (columns <= 1 || columns == rows ||
		!is_a_number(command, columns)) &&
	       !another_is_the_batch(command, rows) &&
	       part_number_find(command, rows, seen);
}

bool part_number_find(const struct command *command, int64_t rows,
		      struct seen_meaning *seen)
{
	if (command->micro_guess != GUESS_OPEN || rows < 1 ||
	    !flag_take(seen->micro_flag, only_number(command, rows)))
		return false;
	seen->micro_guess = GUESS_MADE;
	return true;
}

/* An argument whose words speak of them. */
static bool passes_option_find(const struct command *command, int64_t passes,
			       struct seen_meaning *seen)
{
	const struct command_number *one = next_number(
		command, passes, NUMBER_GIVEN, SPEAKS_OF_PASSES, NULL);

	return one &&
	       !next_number(command, passes, NUMBER_GIVEN, SPEAKS_OF_PASSES,
			    one) &&
	       flag_take(seen->accum_flag, one);
}

bool passes_number_find(const struct command *command, int64_t passes,
			struct seen_meaning *seen)
{
	if (passes_option_find(command, passes, seen))
		return true;
	if (command->accum_guess != GUESS_OPEN || passes < 2 ||
	    !flag_take(seen->accum_flag, only_number(command, passes)))
		return false;
	seen->accum_guess = GUESS_MADE;
	return true;
}

bool whole_number_find(const struct command *command, int64_t whole,
		       struct seen_meaning *seen)
{
	if (command->accum_guess != GUESS_OPEN ||
	    !flag_take(seen->global_flag, only_number(command, whole)))
		return false;
	seen->accum_guess = GUESS_MADE;
	return true;
}

bool numbers_of_value_add(struct strbuf *out, const struct command *command,
			  int64_t value)
{
	size_t count = 0;

	for (int i = 0; i < NUMBER_ORIGINS; i++) {
		const struct command_number *at = NULL;

		while ((at = next_number(command, value, (enum number_origin)i,
					 ANY_NAME, at)))
			strbuf_addf(out, "%s%.*s", count++ ? " and " : "",
				    (int)at->name_length, at->name);
	}
	return count > 0;
}
