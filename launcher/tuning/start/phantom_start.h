/* Asks a phantom of the GPU where a tuning is to start. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_TUNING_START_PHANTOM_START_H
#define AUTOFIT_LAUNCHER_TUNING_START_PHANTOM_START_H

#include "base/error.h"
#include "base/trial.h"
#include "launcher/request/memory_target.h"
#include "launcher/request/request.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What it said; micro_batch 0: nothing. */
struct phantom_said {
	int64_t micro_batch;     /* the answer of a tuning there */
	int64_t smallest_misfit; /* seen there; 0: none was */
	uint64_t peak_bytes;     /* of the answer */
	int64_t probes;
	double seconds;
};

/*
 * Does a tuning of this command on a phantom cost less than the real probes it
 * saves, as far as these finished trials of the command show? A phantom probe
 * costs about what a real one costs up to its first step; see docs/phantom.md.
 * 0: it does not; else what it may take at most, which is two of those probes:
 * a program whose steps are dear on the host is no faster on a phantom. Pure.
 */
int64_t phantom_start_limit_ms(const struct trial *trials, size_t count);

/* May this request be asked so: its GPU is one card, or several, that the
 * catalogue knows, and its options mean the same there. */
bool phantom_start_can(const struct request *request,
		       const struct memory_target *target);

/* All is the caller's. */
struct phantom_question {
	const struct request *request;
	const struct memory_target *target;
	/* So long at most; 0: as long as it takes. */
	int64_t limit_ms;
	/* Asked again and again meanwhile; true: give up. */
	bool (*must_end)(void *context);
	void *context;
};

/*
 * Tunes the command on phantoms of the target's GPUs, within its budget, in an
 * autofit of its own that records nothing and leaves nothing behind. Nothing is
 * said where that comes to no answer, for whatever reason. -EINTR: must_end
 * said so; else 0.
 */
int phantom_start_ask(const struct phantom_question *question,
		      struct phantom_said *said, struct error *err);

#endif
