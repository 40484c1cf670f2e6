/* The words of AUTOFIT_SIM_FAULT; sim_script.h lists them. */
/* SPDX-License-Identifier: MIT */
#include "sim_script.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

const char *sim_words_next(const char *key, const char **place)
{
	const char *next = *place ? *place : getenv("AUTOFIT_SIM_FAULT");
	size_t length = strlen(key);

	while (next && *next) {
		const char *word = next;

		next = strchr(next, ',');
		next = next ? next + 1 : word + strlen(word);
		if (strncmp(word, key, length) == 0) {
			*place = next;
			return word + length;
		}
	}
	return NULL;
}

void sim_tell_hang(void)
{
	const char *told = getenv("AUTOFIT_SIM_HANGS");

	/* Held open for as long as the process lives. */
	if (told)
		(void)open(told, O_WRONLY | O_CLOEXEC);
}
