/* The clock that only goes forward. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_BASE_CLOCK_H
#define AUTOFIT_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

/* Milliseconds since some moment: only differences mean something. */
static inline int64_t clock_ms(void)
{
	struct timespec now = { 0 };

	(void)clock_gettime(CLOCK_MONOTONIC, &now); /* always there on Linux */
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

#endif
