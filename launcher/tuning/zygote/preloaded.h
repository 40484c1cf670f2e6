/* The zygote of a tuning: started when it pays, with what was seen imported. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_TUNING_ZYGOTE_PRELOADED_H
#define AUTOFIT_LAUNCHER_TUNING_ZYGOTE_PRELOADED_H

#include "base/strlist.h"
#include "probes/channel/started.h"
#include "probes/keeper/zygote.h"
#include "probes/probe.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * All bytes 0: nothing is known yet. A first probe is a fresh start and shows
 * what the command imports, and how its launchers start Python. To import that
 * once more takes as long as a fresh start, so the zygote is started only with
 * the third probe: a tuning of two has no use for it.
 */
struct preloaded {
	struct zygote *zygote;
	struct strlist imports;
	/* What that probe was started with, and its interpreter behind the
	 * launchers; what those hold, which copies go without. */
	struct strlist argv, environment;
	struct started started;
	uint64_t launcher_bytes;
	size_t fresh_starts; /* that came to steps */
	bool is_settled;     /* it was started, or it was said why it is not */
};

/* After each probe, with what it was started with. */
void preloaded_learn(struct preloaded *preloaded,
		     const struct probe_outcome *outcome,
		     const struct strlist *argv,
		     const struct strlist *environment);

/* What the zygote is told, all of the probe that it is first wanted for. */
struct preloaded_start {
	const struct strlist *argv, *environment; /* as the probe's */
	const struct process_state *state;
	const char *scratch; /* its files are put there */
	const char *hook;    /* the folder of the step hook */
	const char
		*why_not; /* the command wants none, in words; NULL: it may */
	bool has_size_in_environment;
	/* Called while the imports are under way; true: give up. */
	bool (*must_end)(void *context);
	void *context;
};

/*
 * The zygote, once its imports are done; NULL: the probe is to be a fresh
 * start. It is the caller's only until the next call.
 */
struct zygote *preloaded_zygote(struct preloaded *preloaded,
				const struct preloaded_start *start);

/* Is there one, or will the next call start one, as far as is known? */
bool preloaded_can_serve(const struct preloaded *preloaded);

void preloaded_release(struct preloaded *preloaded);

#endif
