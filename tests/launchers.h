/* The launchers that are built in, for the tests that read commands. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_TESTS_LAUNCHERS_H
#define AUTOFIT_TESTS_LAUNCHERS_H

#include "configs/launchers/launcher.h"

#include <stdio.h>
#include <stdlib.h>

/* Loaded once; they stay until the program ends. */
static inline const struct launchers *builtin_launchers(void)
{
	static struct launchers loaded;
	struct error err = ERROR_INIT;

	if (!loaded.count && launchers_load(&loaded, NULL, &err) < 0) {
		(void)fprintf(stderr, "%s\n", err.message);
		exit(1);
	}
	return &loaded;
}

#endif
