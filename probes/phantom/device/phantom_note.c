/* What any library of a phantom card tells autofit, and the end of a program
 * that asks for what such a card has not. */
/* SPDX-License-Identifier: MIT */
#include "probes/phantom/device/phantom_note.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The process's exit status: as autofit's own for "not safe here". */
#define REFUSED 123

void phantom_note(enum sim_note_kind kind, const char *text, uint64_t number)
{
	int (*take)(int, const char *, uint64_t) = NULL;
	void *driver = dlopen("libcuda.so.1", RTLD_NOW);
	void *function = driver ? dlsym(driver, SIM_NOTE_FUNCTION) : NULL;

	if (!function)
		return;
	memcpy(&take, &function, sizeof(take));
	(void)take((int)kind, text, number);
}

void phantom_end(const char *who, const char *what)
{
	char why[SIM_NOTE_TEXT_MAX];
	char line[2 * SIM_NOTE_TEXT_MAX];
	int length;

	(void)snprintf(why, sizeof(why), "%s%s", who, what);
	phantom_note(SIM_NOTE_REFUSED, why, 1);
	length = snprintf(line, sizeof(line),
			  "autofit: %s: only a real card can tell\n", why);
	if (length > 0)
		(void)!write(STDERR_FILENO, line, (size_t)length);
	_exit(REFUSED);
}

int phantom_refuse(const char *name)
{
	char what[SIM_NOTE_TEXT_MAX];

	(void)snprintf(what, sizeof(what), "%.64s, which the program calls",
		       name);
	phantom_end("a phantom card has no ", what);
}
