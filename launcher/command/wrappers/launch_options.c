/* The options of a launcher, up to the program that it starts. */
/* SPDX-License-Identifier: MIT */
#include "launcher/command/wrappers/launch_options.h"

#include "launcher/command/text/argument.h"
#include "launcher/command/text/command_outcome.h"

#include <string.h>

enum takes { TAKES_NOTHING, TAKES_GLUED, TAKES_ONE, TAKES_TWO };

/* An option of launcher.options. */
struct known {
	const char *name; /* NULL: there is none */
	size_t length;
	enum takes takes;
};

/* The option that begins at or behind *at, which is left behind it. */
static bool known_next(const char **at, struct known *known)
{
	const char *text = *at + strspn(*at, " ");
	size_t marks;

	*known = (struct known){ .name = text, .length = strcspn(text, " =?") };
	text += known->length;
	marks = strspn(text, "=");
	if (*text == '?')
		known->takes = TAKES_GLUED;
	else
		known->takes = marks == 0   ? TAKES_NOTHING
			       : marks == 1 ? TAKES_ONE
					    : TAKES_TWO;
	*at = text + strspn(text, "=?");
	return known->length > 0;
}

static bool known_is(const struct known *known, const char *name, size_t length,
		     bool is_beginning)
{
	if (length > known->length || (!is_beginning && length < known->length))
		return false;
	for (size_t i = 0; i < length; i++)
		if (known->name[i] != name[i] &&
		    (known->name[i] != '_' || name[i] != '-'))
			return false;
	return true;
}

/* The one option that name is, or the beginning of; else its name is NULL. */
static struct known known_find(const struct launcher *row, const char *name,
			       size_t length, bool is_beginning)
{
	const char *at = row->options ? row->options : "";
	struct known known, found = { .name = NULL };

	while (length > 0 && known_next(&at, &known)) {
		if (!known_is(&known, name, length, is_beginning))
			continue;
		if (found.name)
			return (struct known){ .name = NULL };
		found = known;
	}
	return found;
}

/* An option as written. */
struct option {
	struct known known;
	const char *value; /* NULL: it has none yet */
	size_t index, offset;
};

static void said_set(struct launch *launch, const struct launch_meaning *says,
		     const struct launch_said *said)
{
	launch->said[says->word] = *said;
	launch->said[says->word].name = says->name;
	launch->said[says->word].why = says->why;
}

static void option_note(struct wrapper *wrapper, struct launch *launch,
			const struct option *option, const char *second)
{
	const struct launch_meanings *all = &launch->row->says;
	struct launch_said said = { .value = option->value ? option->value : "",
				    .index = option->index,
				    .offset = option->offset };

	for (size_t i = 0; i < all->count; i++) {
		const struct launch_meaning *says = &all->items[i];

		if (strlen(says->name) != option->known.length ||
		    !known_is(&option->known, says->name, strlen(says->name),
			      false))
			continue;
		said_set(launch, says, &said);
		wrapper_apply(wrapper, says->word, said.value, second);
	}
}

static enum command_outcome
launch_options_not_understood(const struct wrapper *wrapper,
			      const struct launch *launch)
{
	char text[BRIEF_MAX];

	return launch_fail(wrapper, COMMAND_NOT_RECOGNISED,
			   "%s: the option %s is not understood, so what it "
			   "starts cannot be found: %s",
			   launch->row->names.items[0],
			   argument_brief(text, wrapper_here(wrapper)),
			   launch->row->advice);
}

static enum command_outcome no_value(const struct wrapper *wrapper,
				     const struct launch *launch,
				     const char *option)
{
	char text[BRIEF_MAX];

	return launch_fail(wrapper, COMMAND_NOT_RECOGNISED,
			   "%s: the option %s has no value",
			   launch->row->names.items[0],
			   argument_brief(text, option));
}

/*
 * The option's last word is at wrapper->at, which is left behind its values.
 * text: the option, for messages.
 */
static enum command_outcome option_end(struct wrapper *wrapper,
				       struct launch *launch,
				       struct option *option, const char *text)
{
	const char *second = NULL;

	if (option->known.takes >= TAKES_ONE && !option->value) {
		option->index = ++wrapper->at;
		option->value = wrapper_here(wrapper);
	}
	if (option->known.takes >= TAKES_ONE && !option->value)
		return no_value(wrapper, launch, text);
	/* Hydra's -genv takes NAME=value too. */
	if (option->known.takes == TAKES_TWO && !strchr(option->value, '=')) {
		wrapper->at++;
		second = wrapper_here(wrapper);
		if (!second)
			return no_value(wrapper, launch, text);
	}
	option_note(wrapper, launch, option, second);
	wrapper->at++;
	return COMMAND_OK;
}

/* --quotatype=auto: what nobody knows here, and has its value in it, hides
 * nothing of what is started, if it is no short form of what is known. */
static bool is_of_a_plugin(const struct launcher *row, const char *text)
{
	const char *at = row->options ? row->options : "";
	size_t length = strcspn(text, "=");
	struct known known;

	if (text[1] != '-' || !text[length])
		return false;
	while (known_next(&at, &known))
		if (known_is(&known, text + 2, length - 2, true))
			return false;
	return true;
}

/* --name, --name=value; with one dash where the row says so. */
static enum command_outcome wrapper_long(struct wrapper *wrapper,
					 struct launch *launch)
{
	const struct launcher *row = launch->row;
	const char *text = wrapper_here(wrapper);
	const char *name = text + (text[1] == '-' ? 2 : 1);
	size_t length = strcspn(name, "=");
	struct option option = { .known = known_find(row, name, length, false),
				 .index = wrapper->at };

	if (!option.known.name && row->abbreviations)
		option.known = known_find(row, name, length, true);
	if (!option.known.name &&
	    (row->unknown_has_value || is_of_a_plugin(row, text)))
		option.known = (struct known){ .name = name,
					       .length = length,
					       .takes = TAKES_ONE };
	if (!option.known.name ||
	    (name[length] && option.known.takes == TAKES_NOTHING))
		return launch_options_not_understood(wrapper, launch);
	if (name[length]) {
		option.value = name + length + 1;
		option.offset = (size_t)(option.value - text);
	}
	return option_end(wrapper, launch, &option, text);
}

/* -abc, -n5 */
static enum command_outcome wrapper_short(struct wrapper *wrapper,
					  struct launch *launch)
{
	const char *text = wrapper_here(wrapper);

	for (const char *letter = text + 1; *letter; letter++) {
		struct option option = {
			.known = known_find(launch->row, letter, 1, false),
			.index = wrapper->at,
		};

		if (!option.known.name)
			return launch_options_not_understood(wrapper, launch);
		if (option.known.takes == TAKES_NOTHING && letter[1]) {
			option_note(wrapper, launch, &option, NULL);
			continue;
		}
		if (letter[1]) {
			option.value = letter + 1;
			option.offset = (size_t)(option.value - text);
		}
		return option_end(wrapper, launch, &option, text);
	}
	return launch_options_not_understood(wrapper, launch);
}

/* nice -5, nice --5 */
static bool is_digits_option(const struct launcher *row, const char *text)
{
	size_t dashes = strspn(text, "-+");

	return row->digits && text[dashes] &&
	       text[dashes + strspn(text + dashes, "0123456789")] == '\0';
}

static enum command_outcome wrapper_option(struct wrapper *wrapper,
					   struct launch *launch)
{
	const char *text = wrapper_here(wrapper);

	if (is_digits_option(launch->row, text)) {
		wrapper->at++;
		return COMMAND_OK;
	}
	if (text[1] == '-' || launch->row->single_dash)
		return wrapper_long(wrapper, launch);
	return wrapper_short(wrapper, launch);
}

/* env takes "-" and NAME=value among its options. */
static bool wrapper_variable_word(struct wrapper *wrapper)
{
	const char *text = wrapper_here(wrapper);

	if (strcmp(text, "-") == 0)
		wrapper_apply(wrapper, SAYS_CLEAR, "", NULL);
	else if (*text != '-' && strchr(text, '='))
		wrapper_assign(wrapper, text);
	else
		return false;
	wrapper->at++;
	return true;
}

/* In --name=$X at least the name is known. */
static enum command_outcome check_option_known(const struct wrapper *wrapper)
{
	const char *text = wrapper_here(wrapper);

	if (text[0] == '-' && text[strcspn(text, "=$`")] == '=')
		return COMMAND_OK;
	return wrapper_check_known(wrapper);
}

enum command_outcome launch_options_read(struct wrapper *wrapper,
					 struct launch *launch)
{
	enum command_outcome outcome = COMMAND_OK;
	const char *text;

	while (outcome == COMMAND_OK && (text = wrapper_here(wrapper))) {
		outcome = check_option_known(wrapper);
		if (outcome != COMMAND_OK)
			break;
		if (launch->row->assignments && wrapper_variable_word(wrapper))
			continue;
		if (text[0] != '-' || text[1] == '\0')
			break;
		if (strcmp(text, "--") == 0) {
			wrapper->at++;
			break;
		}
		outcome = wrapper_option(wrapper, launch);
	}
	/* After "--" env still takes assignments. */
	while (outcome == COMMAND_OK && launch->row->assignments &&
	       wrapper_here(wrapper) && wrapper_variable_word(wrapper))
		;
	return outcome;
}

/* "0" switches off what "1" switches on. */
void launch_variables_read(const struct wrapper *wrapper, struct launch *launch)
{
	const struct launch_meanings *all = &launch->row->variables;

	for (size_t i = 0; i < all->count; i++) {
		const struct launch_meaning *says = &all->items[i];
		struct launch_said said = {
			.value = wrapper_variable(wrapper, says->name),
			.index = NO_INDEX,
		};

		if (!said.value || !*said.value || strcmp(said.value, "0") == 0)
			continue;
		if (!launch->said[says->word].value)
			said_set(launch, says, &said);
	}
}
