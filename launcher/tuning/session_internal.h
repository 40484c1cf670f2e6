/* A tuning under way: made of what each of its files holds. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_TUNING_SESSION_INTERNAL_H
#define AUTOFIT_LAUNCHER_TUNING_SESSION_INTERNAL_H

#include "launcher/admission/spare_gpus.h"
#include "launcher/tuning/plan/plan.h"
#include "launcher/tuning/session.h"
#include "launcher/tuning/session_loop.h"
#include "launcher/tuning/session_trials.h"
#include "launcher/tuning/setup/probe_kit.h"
#include "launcher/tuning/start/phantom_start.h"
#include "launcher/tuning/zygote/preloaded.h"

/* What follows from a probe. */
enum session_turn {
	SESSION_GO_ON, /* its trial is noted: ask the plan again */
	SESSION_AGAIN, /* the same step once more */
	SESSION_END,   /* the result says why */
};

struct session {
	struct session_setup given;   /* request, target, locks, record */
	struct result *result;        /* the answer, as far as it is known */
	struct plan plan;             /* what is asked next */
	struct session_trials trials; /* what was answered */
	struct probe_kit kit;         /* what all probes share */
	struct preloaded preloaded;   /* the process that forks some of them */
	struct session_loop loop;     /* signals, timers, probes under way */
	/* --parallel: the GPUs beside the command's own, once it is settled
	 * whether there are any, and how many rounds ran on them. */
	struct spare_gpus spare;
	bool spare_is_settled;
	int64_t rounds;
	uint64_t host_peak_bytes; /* of the probes so far */
	/* How the GPUs of the last size that fitted differed. */
	struct gpu_spread spread;
	int64_t spread_micro;
	uint64_t hint_peak_bytes; /* recorded peak of the start; 0: none */
	/* The size asked only to see that sizes take effect; 0: none. */
	int64_t effect_check_micro;
	/* What a phantom of the GPU said; once it was asked, or it is sure that
	 * it will not be, that is settled. */
	struct phantom_said phantom;
	bool phantom_is_settled;
	/* Each probe is to be enough for an answer. */
	bool confirms_all;
	/* Another size failed, and not for want of memory: the own one is
	 * next, to tell whose failure that is. */
	bool asks_own;
	/* Steps of the output took no notice of the size: from now on they
	 * count only after a while. */
	bool awaits_steps;
};

/* As it begins: the plan, where it starts, the limits. */
struct session session_of(const struct session_setup *setup,
			  struct result *result);

/* Opens it, calls search with it, and closes it: from the first look at what
 * there is until all of it is gone. */
void session_run(struct session *session,
		 void (*search)(struct session *session, void *context),
		 void *context);

/* Turns until the plan is at its end, or the session is; the plan's last step.
 */
struct plan_step session_run_all(struct session *session);

#endif
