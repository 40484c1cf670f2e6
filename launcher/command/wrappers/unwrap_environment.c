/* What wrappers change in the environment of what they start. */
/* SPDX-License-Identifier: MIT */
#include "launcher/command/wrappers/launchers.h"

#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

#define DEVICES "CUDA_VISIBLE_DEVICES"

const char *wrapper_variable(const struct wrapper *wrapper, const char *name)
{
	return strlist_env_get(&wrapper->environment, name);
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
static void note_devices(const struct wrapper *wrapper, const char *value)
{
	int64_t *visible = &wrapper->view->visible_devices;
	int64_t count = devices_listed(value);

	if (count <= *visible)
		*visible = count;
	else if (wrapper_variable(wrapper, DEVICES))
		*visible = 0;
}

static void assign(struct wrapper *wrapper, const char *name, const char *value)
{
	if (strcmp(name, DEVICES) == 0)
		note_devices(wrapper, value);
	strlist_env_set(&wrapper->environment, name, value);
	strlist_env_set(&wrapper->view->assignments, name, value);
}

void wrapper_assign(struct wrapper *wrapper, const char *assignment)
{
	size_t length = strcspn(assignment, "=");
	char *name;

	if (length == 0 || assignment[length] == '\0')
		return;
	name = xstrndup(assignment, length);
	assign(wrapper, name, assignment + length + 1);
	free(name);
}

static void apply_assign(struct wrapper *wrapper, const char *value,
			 const char *second)
{
	if (second)
		assign(wrapper, value, second);
	else
		wrapper_assign(wrapper, value);
}

/* Slurm lets what is set already stand. */
static void apply_export(struct wrapper *wrapper, const char *value,
			 const char *second)
{
	(void)second;
	while (*value) {
		size_t length = strcspn(value, ",");
		char *word = xstrndup(value, length);
		char *name = xstrndup(word, strcspn(word, "="));

		if (!wrapper_variable(wrapper, name))
			wrapper_assign(wrapper, word);
		free(name);
		free(word);
		value += length + (value[length] == ',');
	}
}

static void apply_other_devices(struct wrapper *wrapper, const char *value,
				const char *second)
{
	(void)value;
	(void)second;
	wrapper->view->visible_devices = 0;
}

static void apply_unset(struct wrapper *wrapper, const char *value,
			const char *second)
{
	if (strcmp(value, DEVICES) == 0 && wrapper_variable(wrapper, DEVICES))
		apply_other_devices(wrapper, value, second);
	strlist_env_unset(&wrapper->environment, value);
	strlist_env_unset(&wrapper->view->assignments, value);
}

static void apply_clear(struct wrapper *wrapper, const char *value,
			const char *second)
{
	apply_unset(wrapper, DEVICES, second);
	(void)value;
	strlist_release(&wrapper->environment);
	strlist_release(&wrapper->view->assignments);
}

static const struct {
	enum launch_word word;
	void (*apply)(struct wrapper *wrapper, const char *value,
		      const char *second);
} actions[] = {
	{ SAYS_ASSIGN, apply_assign },
	{ SAYS_EXPORT, apply_export },
	{ SAYS_UNSET, apply_unset },
	{ SAYS_CLEAR, apply_clear },
	{ SAYS_OTHER_DEVICES, apply_other_devices },
};

void wrapper_apply(struct wrapper *wrapper, enum launch_word word,
		   const char *value, const char *second)
{
	for (size_t i = 0; i < sizeof(actions) / sizeof(*actions); i++)
		if (actions[i].word == word)
			actions[i].apply(wrapper, value, second);
}
