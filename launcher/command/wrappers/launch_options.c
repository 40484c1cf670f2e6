/* The options of a launcher, up to the program that it starts. */
/* SPDX-License-Identifier: MIT */
#include "launcher/command/wrappers/launchers.h"

#include "launcher/command/parts/command_internal.h"

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

static void option_note(struct peel *peel, struct launch *launch,
			const struct option *option, const char *second)
{
	const struct launch_meaning *says = launch->row->meanings;
	struct launch_said said = { .value = option->value ? option->value : "",
				    .index = option->index,
				    .offset = option->offset };

	for (; says && says->name; says++) {
		if (strlen(says->name) != option->known.length ||
		    !known_is(&option->known, says->name, strlen(says->name),
			      false))
			continue;
		said_set(launch, says, &said);
		peel_apply(peel, says->word, said.value, second);
	}
}

static enum command_outcome not_understood(const struct peel *peel,
					   const struct launch *launch)
{
	char text[BRIEF_MAX];

	return launch_fail(peel, COMMAND_NOT_RECOGNISED,
			   "%s: the option %s is not understood, so what it "
			   "starts cannot be found: %s",
			   launch->row->names[0], brief(text, peel_here(peel)),
			   launch->row->advice);
}

static enum command_outcome no_value(const struct peel *peel,
				     const struct launch *launch,
				     const char *option)
{
	char text[BRIEF_MAX];

	return launch_fail(peel, COMMAND_NOT_RECOGNISED,
			   "%s: the option %s has no value",
			   launch->row->names[0], brief(text, option));
}

/*
 * The option's last word is at peel->at, which is left behind its values.
 * text: the option, for messages.
 */
static enum command_outcome option_end(struct peel *peel, struct launch *launch,
				       struct option *option, const char *text)
{
	const char *second = NULL;

	if (option->known.takes >= TAKES_ONE && !option->value) {
		option->index = ++peel->at;
		option->value = peel_here(peel);
	}
	if (option->known.takes >= TAKES_ONE && !option->value)
		return no_value(peel, launch, text);
	/* Hydra's -genv takes NAME=value too. */
	if (option->known.takes == TAKES_TWO && !strchr(option->value, '=')) {
		peel->at++;
		second = peel_here(peel);
		if (!second)
			return no_value(peel, launch, text);
	}
	option_note(peel, launch, option, second);
	peel->at++;
	return COMMAND_OK;
}

/* --name, --name=value; with one dash where the row says so. */
static enum command_outcome peel_long(struct peel *peel, struct launch *launch)
{
	const struct launcher *row = launch->row;
	const char *text = peel_here(peel);
	const char *name = text + (text[1] == '-' ? 2 : 1);
	size_t length = strcspn(name, "=");
	struct option option = { .known = known_find(row, name, length, false),
				 .index = peel->at };

	if (!option.known.name && row->abbreviations)
		option.known = known_find(row, name, length, true);
	if (!option.known.name && row->unknown_has_value)
		option.known = (struct known){ .name = name,
					       .length = length,
					       .takes = TAKES_ONE };
	if (!option.known.name ||
	    (name[length] && option.known.takes == TAKES_NOTHING))
		return not_understood(peel, launch);
	if (name[length]) {
		option.value = name + length + 1;
		option.offset = (size_t)(option.value - text);
	}
	return option_end(peel, launch, &option, text);
}

/* -abc, -n5 */
static enum command_outcome peel_short(struct peel *peel, struct launch *launch)
{
	const char *text = peel_here(peel);

	for (const char *letter = text + 1; *letter; letter++) {
		struct option option = {
			.known = known_find(launch->row, letter, 1, false),
			.index = peel->at,
		};

		if (!option.known.name)
			return not_understood(peel, launch);
		if (option.known.takes == TAKES_NOTHING && letter[1]) {
			option_note(peel, launch, &option, NULL);
			continue;
		}
		if (letter[1]) {
			option.value = letter + 1;
			option.offset = (size_t)(option.value - text);
		}
		return option_end(peel, launch, &option, text);
	}
	return not_understood(peel, launch);
}

/* nice -5, nice --5 */
static bool is_digits_option(const struct launcher *row, const char *text)
{
	size_t dashes = strspn(text, "-+");

	return row->digits && text[dashes] &&
	       text[dashes + strspn(text + dashes, "0123456789")] == '\0';
}

static enum command_outcome peel_option(struct peel *peel,
					struct launch *launch)
{
	const char *text = peel_here(peel);

	if (is_digits_option(launch->row, text)) {
		peel->at++;
		return COMMAND_OK;
	}
	if (text[1] == '-' || launch->row->single_dash)
		return peel_long(peel, launch);
	return peel_short(peel, launch);
}

/* env takes "-" and NAME=value among its options. */
static bool peel_variable_word(struct peel *peel)
{
	const char *text = peel_here(peel);

	if (strcmp(text, "-") == 0)
		peel_apply(peel, SAYS_CLEAR, "", NULL);
	else if (*text != '-' && strchr(text, '='))
		peel_assign(peel, text);
	else
		return false;
	peel->at++;
	return true;
}

/* Of --name=$X at least the name is known. */
static enum command_outcome check_option_known(const struct peel *peel)
{
	const char *text = peel_here(peel);

	if (text[0] == '-' && text[strcspn(text, "=$`")] == '=')
		return COMMAND_OK;
	return peel_check_known(peel);
}

enum command_outcome launch_options_read(struct peel *peel,
					 struct launch *launch)
{
	enum command_outcome outcome = COMMAND_OK;
	const char *text;

	while (outcome == COMMAND_OK && (text = peel_here(peel))) {
		outcome = check_option_known(peel);
		if (outcome != COMMAND_OK)
			break;
		if (launch->row->assignments && peel_variable_word(peel))
			continue;
		if (text[0] != '-' || text[1] == '\0')
			break;
		if (strcmp(text, "--") == 0) {
			peel->at++;
			break;
		}
		outcome = peel_option(peel, launch);
	}
	/* After "--" env still takes assignments. */
	while (outcome == COMMAND_OK && launch->row->assignments &&
	       peel_here(peel) && peel_variable_word(peel))
		;
	return outcome;
}

/* "0" switches off what "1" switches on. */
void launch_variables_read(const struct peel *peel, struct launch *launch)
{
	const struct launch_meaning *says = launch->row->variables;

	for (; says && says->name; says++) {
		struct launch_said said = {
			.value = peel_variable(peel, says->name),
			.index = NO_INDEX,
		};

		if (!said.value || !*said.value || strcmp(said.value, "0") == 0)
			continue;
		if (!launch->said[says->word].value)
			said_set(launch, says, &said);
	}
}
