/* The words of AUTOFIT_SIM_FAULT; sim_state.h lists them. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_TESTS_SIM_FAULT_H
#define AUTOFIT_TESTS_SIM_FAULT_H

#include <stdbool.h>
#include <stdint.h>

/* A word of its own: "hang"; or what follows "init=" in it. */
bool sim_fault(const char *word);
bool sim_fault_number(const char *key, uint64_t *number);

/*
 * What follows the next word that begins with the key, from *place on, which
 * moves behind it; NULL: there is none. *place NULL: from the first one.
 */
const char *sim_fault_next(const char *key, const char **place);

/* "20M": the bytes; end may be NULL. */
uint64_t sim_size(const char *text, char **end);

/* The milliseconds that the word asks for; none without it. */
void sim_delay(const char *key);

/* For ever, until a signal ends the process. */
void sim_hang(void);

#endif
