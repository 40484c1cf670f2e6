/* The exceptions that ended processes of a probe, as its step hook told them.
 */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_PROBES_CHANNEL_LAST_ERRORS_H
#define AUTOFIT_PROBES_CHANNEL_LAST_ERRORS_H

#include <stddef.h>
#include <stdint.h>

struct last_error {
	int64_t time_ns; /* of CLOCK_MONOTONIC, when it was raised */
	int rank;        /* -1: not known */
	char *key;  /* the beginning of its line in the output, "Type: text" */
	char *text; /* what Python prints of it, from "Traceback" on */
};

struct last_errors {
	struct last_error *items; /* the first in time stands first */
	size_t count, capacity;
};

#define LAST_ERRORS_INIT                                                       \
	{                                                                      \
		0                                                              \
	}
#define LAST_ERRORS_MAX 256

/*
 * Adds what the files folder/error.<pid> hold to empty errors: one line "time
 * rank key", then the text. A file that is not such a one is passed over; any
 * process of the command could have written it.
 */
void last_errors_read(struct last_errors *errors, const char *folder);
void last_errors_release(struct last_errors *errors);

#endif
