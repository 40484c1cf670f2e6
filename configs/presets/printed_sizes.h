/* Lines in which a framework names its batch sizes, by regexes of a preset. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_CONFIGS_PRESETS_PRINTED_SIZES_H
#define AUTOFIT_CONFIGS_PRESETS_PRINTED_SIZES_H

#include "base/error.h"
#include "base/strlist.h"

#include <stddef.h>
#include <stdint.h>

struct printed_sizes_patterns;

/* As the lines name them; 0: not named. */
struct printed_sizes {
	int64_t micro, accum, effective;
};

/*
 * patterns: PCRE2 with any of the groups micro, accum, effective. On failure
 * *set is NULL. The caller frees the set.
 */
int printed_sizes_patterns_make(struct printed_sizes_patterns **set,
				const struct strlist *patterns,
				struct error *err);
void printed_sizes_patterns_free(struct printed_sizes_patterns *set);

/*
 * What the line names replaces what an earlier one named; the rest of sizes
 * stays. What is no count, or 0, names nothing.
 */
void printed_sizes_patterns_match(const struct printed_sizes_patterns *set,
				  const char *line, size_t length,
				  struct printed_sizes *sizes);

#endif
