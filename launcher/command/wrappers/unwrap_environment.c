/* What wrappers change in the environment of what they start. */
/* SPDX-License-Identifier: MIT */
#include "launcher/command/wrappers/launchers.h"

#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

#define DEVICES "CUDA_VISIBLE_DEVICES"

const char *peel_variable(const struct peel *peel, const char *name)
{
	return strlist_env_get(&peel->environment, name);
}

/* How many are listed; CUDA stops at the first that cannot be. */
static int64_t devices_listed(const char *text)
{
	int64_t count = 0;

	while (*text && *text != ',' && *text != '-') {
		count++;
		text += strcspn(text, ",");
		text += *text == ',';
	}
	return count;
}

/*
 * CUDA_VISIBLE_DEVICES=0,1 hides the other devices; but where it was set
 * already, more than it let through may come back.
 */
static void note_devices(const struct peel *peel, const char *value)
{
	int64_t *visible = &peel->view->visible_devices;
	int64_t count = devices_listed(value);

	if (count <= *visible)
		*visible = count;
	else if (peel_variable(peel, DEVICES))
		*visible = 0;
}

static void assign(struct peel *peel, const char *name, const char *value)
{
	if (strcmp(name, DEVICES) == 0)
		note_devices(peel, value);
	strlist_env_set(&peel->environment, name, value);
	strlist_env_set(&peel->view->assignments, name, value);
}

void peel_assign(struct peel *peel, const char *assignment)
{
	size_t length = strcspn(assignment, "=");
	char *name;

	if (length == 0 || assignment[length] == '\0')
		return;
	name = xstrndup(assignment, length);
	assign(peel, name, assignment + length + 1);
	free(name);
}

static void apply_assign(struct peel *peel, const char *value,
			 const char *second)
{
	if (second)
		assign(peel, value, second);
	else
		peel_assign(peel, value);
}

/* Slurm lets what is set already stand. */
static void apply_export(struct peel *peel, const char *value,
			 const char *second)
{
	(void)second;
	while (*value) {
		size_t length = strcspn(value, ",");
		char *word = xstrndup(value, length);
		char *name = xstrndup(word, strcspn(word, "="));

		if (!peel_variable(peel, name))
			peel_assign(peel, word);
		free(name);
		free(word);
		value += length + (value[length] == ',');
	}
}

static void apply_other_devices(struct peel *peel, const char *value,
				const char *second)
{
	(void)value;
	(void)second;
	peel->view->visible_devices = 0;
}

static void apply_unset(struct peel *peel, const char *value,
			const char *second)
{
	if (strcmp(value, DEVICES) == 0 && peel_variable(peel, DEVICES))
		apply_other_devices(peel, value, second);
	strlist_env_unset(&peel->environment, value);
	strlist_env_unset(&peel->view->assignments, value);
}

static void apply_clear(struct peel *peel, const char *value,
			const char *second)
{
	apply_unset(peel, DEVICES, second);
	(void)value;
	strlist_release(&peel->environment);
	strlist_release(&peel->view->assignments);
}

static const struct {
	enum launch_word word;
	void (*apply)(struct peel *peel, const char *value, const char *second);
} actions[] = {
	{ SAYS_ASSIGN, apply_assign },
	{ SAYS_EXPORT, apply_export },
	{ SAYS_UNSET, apply_unset },
	{ SAYS_CLEAR, apply_clear },
	{ SAYS_OTHER_DEVICES, apply_other_devices },
};

void peel_apply(struct peel *peel, enum launch_word word, const char *value,
		const char *second)
{
	for (size_t i = 0; i < sizeof(actions) / sizeof(*actions); i++)
		if (actions[i].word == word)
			actions[i].apply(peel, value, second);
}
