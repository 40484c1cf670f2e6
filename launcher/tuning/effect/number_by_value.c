/* Which number of a command is a size, by its value. Pure. */
/* SPDX-License-Identifier: MIT */
#include "launcher/tuning/effect/number_by_value.h"

#include "launcher/command/text/option_class.h"

#include <string.h>

#define CLASS_OF(class) (1U << (class))
#define SPEAKS_OF_PASSES                                                       \
	(CLASS_OF(OPTION_ACCUM) | CLASS_OF(OPTION_ACCUM_LIKE) |                \
	 CLASS_OF(OPTION_BATCH_LIKE) | CLASS_OF(OPTION_MICRO_LIKE))
#define ANY_NAME UINT32_MAX

/* Of that value, origin and class; the same name again is the same number. */
static const struct command_number *next_number(const struct command *command,
						int64_t value,
						enum number_origin origin,
						uint32_t classes,
						const struct command_number *at)
{
	const struct command_number *end =
		command->numbers + command->number_count;
	const char *before = at ? at->name : "";

	for (at = at ? at + 1 : command->numbers; at < end; at++)
		if (at->value == value && at->origin == origin &&
		    strcmp(at->name, before) != 0 &&
		    (classes &
		     CLASS_OF(option_class_of(at->name, strlen(at->name)))))
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

static bool flag_take(char flag[SEEN_NAME_MAX],
		      const struct command_number *number)
{
	if (!number)
		return false;
	memcpy(flag, number->name, strlen(number->name) + 1);
	return true;
}

bool rows_number_find(const struct command *command, int64_t rows,
		      struct seen_meaning *seen)
{
	if (command->micro_guess != GUESS_OPEN || rows < 1 ||
	    !flag_take(seen->micro_flag, only_number(command, rows)))
		return false;
	seen->micro_guess = GUESS_MADE;
	return true;
}

bool passes_option_find(const struct command *command, int64_t passes,
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

bool numbers_of_value_add(struct strbuf *out, const struct command *command,
			  int64_t value)
{
	size_t count = 0;

	for (int i = 0; i < NUMBER_ORIGINS; i++) {
		const struct command_number *at = NULL;

		while ((at = next_number(command, value, (enum number_origin)i,
					 ANY_NAME, at)))
			strbuf_addf(out, "%s%s", count++ ? " and " : "",
				    at->name);
	}
	return count > 0;
}
