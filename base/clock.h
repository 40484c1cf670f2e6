/* The clock that only goes forward. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_BASE_CLOCK_H
#define AUTOFIT_BASE_CLOCK_H

#include <stdint.h>

/* Milliseconds since some moment: only differences mean something. */
int64_t clock_ms(void);

#endif
