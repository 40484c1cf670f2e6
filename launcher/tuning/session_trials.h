/* The finished probes of a tuning, and what they teach beside their verdicts.
 */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_TUNING_SESSION_TRIALS_H
#define AUTOFIT_LAUNCHER_TUNING_SESSION_TRIALS_H

#include "base/error.h"
#include "configs/records/journal.h"
#include "configs/signatures/signature.h"
#include "launcher/request/request.h"
#include "probes/probe.h"

#include <stdbool.h>
#include <stdint.h>

struct session_trials {
	struct probe_notes *notes; /* of the result's record */
	struct journal journal;
	/* The first probe that fitted, and its samples per optimizer step:
	 * later time-outs go by them. 0: none fitted yet. */
	double first_fit_seconds, first_fit_samples;
	/* An out-of-memory line that was survived, at the smallest size so
	 * far; and the one that no longer counts. NULL: none. */
	const struct signature *doubtful_line, *usual_line;
	int64_t doubtful_micro;
};

/*
 * Goes on from the journal of an earlier run that was cut off, unless --fresh
 * says no. Their verdicts are those of that run. Closed by journal_close.
 */
int session_trials_open(struct session_trials *trials,
			const struct request *request, struct error *err);

/* One more, into notes and journal; its texts are copied. */
const struct probe_note *session_trials_add(struct session_trials *trials,
					    const struct probe_note *said);

/* A finished probe, once its verdict stands. */
void session_trials_learn(struct session_trials *trials,
			  const struct trial *trial,
			  const struct evidence *evidence);

/*
 * Nothing fits, by a line that was survived at the smallest size too: the
 * program may say that whatever happens. From now on the words alone are no
 * evidence, and what rested on them is asked again.
 */
bool session_trials_doubt_words(struct session_trials *trials);

/* How many probes of this size were disturbed. */
size_t session_trials_disturbed(const struct session_trials *trials,
				int64_t micro);

/* Does a smaller size fit for longer than this failure took? */
bool session_trials_outlive(const struct session_trials *trials,
			    const struct trial *failure);

/* Sizes that failed, and not for want of memory, are too big once a smaller
 * one fits. */
void session_trials_settle_failures(struct session_trials *trials);

/*
 * Sizes took no effect: fits by steps that were read from the output may be of
 * what comes before the training, and are taken back. False: there are none, or
 * one probe ran to its end, with all that there is.
 */
bool session_trials_doubt_output(struct session_trials *trials);

/* A probe has run these sizes; accumulation 0: whatever it was. */
bool session_trials_has(const struct session_trials *trials,
			int64_t micro_batch, int64_t grad_accum);

int64_t session_trials_largest_fit(const struct session_trials *trials);

/* Another size that ran out of memory in the evaluation; NULL: none. */
const struct trial *
session_trials_evaluation(const struct session_trials *trials, int64_t micro);

/*
 * Of the probes that fitted, whose steps became alike, and in which as many
 * micro-steps were counted as they were told, the last of those in which that
 * took most steps. NULL: there is none, or a size varied, grew, or failed after
 * its first step.
 */
const struct trial *session_trials_alike(const struct session_trials *trials);

/* How the steps of smaller sizes were seen; STEPS_NONE: they made none. */
enum steps_source
session_trials_smaller_steps(const struct session_trials *trials,
			     int64_t micro);

/* Sizes that had another value than the command's own in a probe that went
 * well, and were seen as they were written. */
struct proved_sizes {
	bool micro, accum;
};

struct proved_sizes session_trials_proved(const struct session_trials *trials,
					  const struct batch *own);

#endif
