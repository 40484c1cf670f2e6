/* The options of a launcher, up to the program that it starts. */
/* SPDX-License-Identifier: MIT */
#include "launcher/launchers.h"

#include "launcher/command_internal.h"

#include <errno.h>
#include <string.h>

static const char *here(const struct peel *peel)
{
	return peel->at < peel->argv->count ? peel->argv->items[peel->at]
					    : NULL;
}

/* "-" and "_" are one; length bytes of name against all of known. */
static bool option_equal(const char *known, const char *name, size_t length,
			 bool prefix)
{
	for (size_t i = 0; i < length; i++) {
		bool same = known[i] == name[i] ||
			    (known[i] == '_' && name[i] == '-');

		if (known[i] == '\0' || !same)
			return false;
	}
	return prefix || known[length] == '\0';
}

/* The one option that name is, or is the beginning of; else NULL. */
static const char *option_find(const char *const *lists[2], const char *name,
			       size_t length, bool prefix)
{
	const char *found = NULL;

	for (size_t i = 0; i < 2; i++) {
		for (const char *const *known = lists[i]; known && *known;
		     known++) {
			if (!option_equal(*known, name, length, prefix))
				continue;
			if (found)
				return NULL;
			found = *known;
		}
	}
	return found;
}

static bool is_listed(const char *const *list, const char *option)
{
	for (; list && *list; list++)
		if (strcmp(*list, option) == 0)
			return true;
	return false;
}

static bool same(const char *a, const char *b)
{
	return a && b && strcmp(a, b) == 0;
}

static void launch_note(struct launch *launch, const char *option,
			const char *value)
{
	const struct launcher *row = launch->row;

	if (same(row->ranks, option))
		launch->ranks = value;
	else if (same(row->nodes, option))
		launch->nodes = value;
	else if (same(row->all_devices, option))
		launch->all_devices = true;
	else if (same(row->one_rank, option))
		launch->one_rank = true;
	else if (same("m", option) || same("module", option))
		launch->module = true;
	else if (same("no_python", option))
		launch->no_python = true;
	if (is_listed(row->files, option))
		launch->file = option;
	if (is_listed(row->foreign, option))
		launch->foreign = option;
}

static enum command_outcome not_understood(const struct peel *peel,
					   const struct launch *launch)
{
	char text[BRIEF_MAX];

	(void)error_set(peel->err, -EINVAL,
			"%s: the option %s is not understood, so what it "
			"starts cannot be found",
			launch->row->name, brief(text, here(peel)));
	return COMMAND_NOT_RECOGNISED;
}

static enum command_outcome no_value(const struct peel *peel,
				     const struct launch *launch)
{
	char text[BRIEF_MAX];

	(void)error_set(peel->err, -EINVAL, "%s: the option %s has no value",
			launch->row->name, brief(text, here(peel)));
	return COMMAND_NOT_RECOGNISED;
}

static bool is_digits(const char *text)
{
	return *text && text[strspn(text, "0123456789")] == '\0';
}

/* One option at peel->at, which is left behind it. */
static enum command_outcome peel_option(struct peel *peel,
					struct launch *launch)
{
	const struct launcher *row = launch->row;
	const char *const *lists[2] = { row->values, row->switches };
	const char *text = here(peel);
	bool is_long = text[1] == '-';
	const char *name = text + (is_long ? 2 : 1);
	size_t length = is_long ? strcspn(name, "=") : 1;
	const char *option = option_find(lists, name, length, false);
	const char *value = NULL;

	if (!option && is_long && row->abbreviations)
		option = option_find(lists, name, length, true);
	if (!option && row->digits && is_digits(text + 1)) {
		peel->at++;
		return COMMAND_OK;
	}
	if (!option && !(is_long && row->unknown_has_value))
		return not_understood(peel, launch);
	if (name[length])
		value = name + length + (is_long ? 1 : 0);
	if (option && is_listed(row->switches, option)) {
		if (!is_long && name[length])
			return not_understood(peel, launch);
	} else if (!value) {
		if (peel->at + 1 >= peel->argv->count)
			return no_value(peel, launch);
		value = peel->argv->items[++peel->at];
	}
	if (option)
		launch_note(launch, option, value);
	peel->at++;
	return COMMAND_OK;
}

/* env CUDA_VISIBLE_DEVICES=0,1 hides the other devices. */
static void note_assignment(const struct peel *peel, const char *text)
{
	static const char name[] = "CUDA_VISIBLE_DEVICES=";
	int64_t *visible = &peel->view->visible_devices;
	int64_t count = 1;

	if (strncmp(text, name, strlen(name)) != 0)
		return;
	text += strlen(name);
	if (*text == '\0')
		count = 0;
	for (; *text; text++)
		count += *text == ',';
	*visible = count < *visible ? count : *visible;
}

/* Leaves peel->at on the first argument that is no option of the launcher. */
enum command_outcome launch_options_read(struct peel *peel,
					 struct launch *launch)
{
	enum command_outcome outcome;
	const char *text;
	char brief_text[BRIEF_MAX];

	while ((text = here(peel))) {
		if (strcmp(text, "--") == 0) {
			peel->at++;
			break;
		}
		if (launch->row->assignments &&
		    (strcmp(text, "-") == 0 ||
		     (*text != '-' && strchr(text, '=')))) {
			note_assignment(peel, text);
			peel->at++;
			continue;
		}
		if (text[0] != '-' || text[1] == '\0')
			break;
		outcome = peel_option(peel, launch);
		if (outcome != COMMAND_OK)
			return outcome;
	}
	/* After "--" env still takes assignments. */
	while (launch->row->assignments && here(peel) &&
	       strchr(here(peel), '='))
		note_assignment(peel, peel->argv->items[peel->at++]);
	if (here(peel))
		return COMMAND_OK;
	(void)error_set(peel->err, -EINVAL, "%s names no program to start",
			brief(brief_text, launch->row->name));
	return COMMAND_NOT_RECOGNISED;
}
