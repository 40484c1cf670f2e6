/* A run that goes on keeps the split it was started with. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_RECORDS_FIRST_SPLIT_H
#define AUTOFIT_LAUNCHER_RECORDS_FIRST_SPLIT_H

#include "configs/records/starts.h"
#include "launcher/report/result.h"
#include "launcher/request/request.h"

/*
 * This start continues an earlier one: a requeued job, or a command with an
 * option that resumes. In words for the user ("job 123 was requeued"), or
 * NULL; the caller frees.
 */
char *first_split_reason(const struct request *request);

/* The split of the first start. 1 when there is one of this very run. */
int first_split_find(struct start *start, const struct request *request);

/* The command is about to start with this result's split: keep it, unless it
 * continues a run whose first split is known already. */
void first_split_keep(const struct request *request,
		      const struct result *result);

#endif
