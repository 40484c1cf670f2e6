/* Step counters in log lines, by the regexes of a preset. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_CONFIGS_PRESETS_STEPS_H
#define AUTOFIT_CONFIGS_PRESETS_STEPS_H

#include "base/error.h"
#include "base/strlist.h"

#include <stddef.h>
#include <stdint.h>

/* Patterns of a preset: where each finds its counter, what to pass over. */
struct step_patterns;

/*
 * patterns: PCRE2, the counter is the group named "step" or else group 1.
 * ignore: literals of bars that are not training ("Validation", "Map").
 * On failure *set is NULL. The caller frees the set.
 */
int step_patterns_make(struct step_patterns **set,
		       const struct strlist *patterns,
		       const struct strlist *ignore, struct error *err);
void step_patterns_free(struct step_patterns *set);

/* Digits with commas between thousands; anything else is no counter: -1. */
int64_t counter_parse(const char *text, size_t length);

/* The counter that the line shows, or -1. */
int64_t step_patterns_match(const struct step_patterns *set, const char *line,
			    size_t length);

#endif
