/* What is told of the memory that is tuned for. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_REQUEST_MEMORY_TARGET_WORDS_H
#define AUTOFIT_LAUNCHER_REQUEST_MEMORY_TARGET_WORDS_H

#include "base/strbuf.h"
#include "base/strlist.h"
#include "launcher/request/memory_target.h"

/* "host memory", "1x NVIDIA H200", "1x NVIDIA H200 as Tesla T4". */
void memory_target_words(const struct memory_target *target,
			 struct strbuf *out);

/*
 * With --as: that it was no such card, and what differs on one. With several
 * GPUs: which of them has much less to give than the others.
 */
void memory_target_add_caveat(const struct memory_target *target,
			      struct strlist *caveats);

/* What bounds the budget, for the JSON: "--memory", "--as", "free at start". */
const char *memory_target_budget_source(const struct memory_target *target,
					const struct options *options);

#endif
