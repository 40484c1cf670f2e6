/* Where the answer comes from: a record, probes, or the command itself. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_ANSWER_SOURCE_H
#define AUTOFIT_LAUNCHER_ANSWER_SOURCE_H

#include "launcher/options/options.h"
#include "launcher/report/result.h"
#include "launcher/request/request.h"
#include "probes/process/process_state.h"

/*
 * In this order: the split of a run that is resumed, a record that holds here
 * and now, the command as it is (--no-probe), probes. Fills in job and result,
 * which the caller releases. Every process of every probe is gone then.
 */
void answer_source_find(const struct options *options,
			const struct process_state *state,
			struct request *request, struct result *result);

#endif
