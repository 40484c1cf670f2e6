/* The words of AUTOFIT_SIM_FAULT; sim_state.h lists them. */
/* SPDX-License-Identifier: MIT */
#include "sim_fault.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

const char *sim_fault_next(const char *key, const char **place)
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

bool sim_fault(const char *word)
{
	const char *place = NULL;
	const char *rest = sim_fault_next(word, &place);

	while (rest && *rest != '\0' && *rest != ',')
		rest = sim_fault_next(word, &place);
	return rest != NULL;
}

bool sim_fault_number(const char *key, uint64_t *number)
{
	const char *place = NULL;
	const char *rest = sim_fault_next(key, &place);

	if (!rest)
		return false;
	*number = sim_size(rest, NULL);
	return true;
}

uint64_t sim_size(const char *text, char **end)
{
	char *unit = NULL;
	uint64_t size = strtoull(text, &unit, 10);
	int shift = 0;

	if (*unit == 'K')
		shift = 10;
	else if (*unit == 'M')
		shift = 20;
	else if (*unit == 'G')
		shift = 30;
	if (end)
		*end = unit + (shift != 0);
	return size << shift;
}

void sim_delay(const char *key)
{
	struct timespec pause = { 0, 0 };
	uint64_t ms = 0;

	if (!sim_fault_number(key, &ms))
		return;
	pause.tv_sec = (time_t)(ms / 1000);
	pause.tv_nsec = (long)(ms % 1000) * 1000000;
	(void)nanosleep(&pause, NULL);
}

void sim_hang(void)
{
	const char *told = getenv("AUTOFIT_SIM_HANGS");

	/* Held open for as long as the process lives. */
	if (told)
		(void)open(told, O_WRONLY | O_CLOEXEC);
	for (;;)
		(void)pause();
}
