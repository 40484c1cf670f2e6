/* What the files of a session share. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_TUNING_SESSION_INTERNAL_H
#define AUTOFIT_LAUNCHER_TUNING_SESSION_INTERNAL_H

#include "configs/presets/printed_sizes.h"
#include "configs/presets/steps.h"
#include "configs/records/journal.h"
#include "configs/signatures/signature.h"
#include "launcher/request/end_signals.h"
#include "launcher/tuning/plan.h"
#include "launcher/tuning/probe_isolation.h"
#include "launcher/tuning/session.h"
#include "probes/probe.h"
#include "probes/verdict/rejudge.h"

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

struct session {
	const struct request *request;
	struct memory_target *target;
	struct device_locks *guard;
	struct lease *lease;
	const struct record_match *match;
	const struct report_style *style;
	struct result *result;
	struct probe_isolation
		shelter; /* what keeps probes from the user's files */
	uint64_t scratch_reserve_bytes; /* of host memory; 0: on a disk */
	struct strlist secrets; /* masked in what is kept of the output */
	struct plan plan;
	struct probe_notes *notes; /* of the result's record */
	struct journal journal;
	struct signatures *signatures;
	struct step_patterns *patterns;
	struct printed_sizes_patterns *echoes;
	char *log_folder;
	uv_loop_t loop;
	uv_signal_t signals[ENDINGS];
	uv_signal_t suspend; /* Ctrl-Z */
	uv_timer_t progress;
	uv_timer_t deadline; /* --time-limit */
	uv_timer_t beat;     /* of the lease */
	size_t open_handles;
	bool loop_is_open;
	struct probe *probe;   /* under way; NULL: none */
	struct plan_step step; /* what it is for */
	const char *doing;     /* "probing", "confirming" */
	bool out_of_time;
	/* Probes without what autofit adds: its first error named that. */
	bool without_hook, without_args, without_preload;
	int64_t frame;
	int64_t probe_number;
	double first_good_seconds; /* of the first probe that fitted */
	double first_good_work;    /* its samples per optimizer step */
	uint64_t hint_peak_bytes;  /* recorded peak of the start */
	/* An out-of-memory line that was survived, at the smallest size so
	 * far; and the one that no longer counts. NULL: none. */
	const struct signature *doubtful_line, *usual_line;
	int64_t doubtful_micro;
	/* The size asked only to see that sizes take effect; 0: none. */
	int64_t effect_check_micro;
	uint64_t started_ns;
};

/* When torch.compile is at work. */
#define COMPILED_STEPS 5

/* session_limits.c: what bounds the search; into plan, result and record. */
void session_set_limits(struct session *session);
/* --shared: what others left since the last probe is the new bound. */
int session_follow_neighbours(struct session *session, struct error *err);
/* auto: the first probe used no GPU, so this is a tuning of host memory. */
int session_become_host(struct session *session, struct error *err);
/* It was not seen exactly: a larger headroom, for all. */
void session_note_coverage(struct session *session, struct trial *trial);
/* trial_rejudge by the limits as they are now; 0: the limit is the same. */
const char *session_rejudge(const struct session *session, struct trial *trial,
			    uint64_t moved_limit_bytes);

/* session.c: the first line of a tuning. */
void session_print_start(struct session *session);

/* session.c: what later time-outs go by. */
void session_note_fit(struct session *session, const struct trial *trial);

/* session.c: run one probe of a plan and note what came of it. */
enum turn { TURN_GO_ON, TURN_AGAIN, TURN_END };
enum turn session_run(struct session *session, const struct plan_step *step);

/*
 * session_check.c: one probe at the split of a near record. True: the answer
 * is renewed; false: its probe is a trial like any, or the session must end.
 */
bool session_check(struct session *session);

/* session_open.c: files in memory are no memory of a probe's. */
int session_reserve(struct session *session, struct error *err);
/* Release whatever came of open. */
int session_open(struct session *session, struct error *err);
void session_release(struct session *session);

/* session_probe.c */
#define PROBE_ID_MAX 33
int session_make_id(char id[PROBE_ID_MAX], struct error *err);
struct probe_report {
	struct trial trial;
	char *why;         /* one line */
	char *log;         /* path */
	char *first_error; /* what the command printed */
	char *hint;        /* NULL: none */
	char *refused;     /* a write that was refused; NULL: none */
	/* It said that it is out of memory, and did not end by that. */
	const struct signature *survived_line;
	int exec_errno;
	int isolation_errno; /* not 0: the command never ran */
	bool host_used;      /* auto: it turned out to use no GPU */
};

/* session_limits.c: a confirmation that shows growth gets more headroom. */
void session_judge_headroom(struct session *session,
			    struct probe_report *report);

/*
 * session_doubts.c: out of memory in the evaluation at two sizes of the
 * training: it is said whose flag to lower, and true.
 */
bool session_evaluation_is_too_big(struct session *session,
				   const struct trial *trial);
/* Remember a line that was survived. */
void session_note_words(struct session *session,
			const struct probe_report *report);
/* Nothing fits, by a line that was survived at the smallest size too: from
 * now on it is no evidence, and what rested on it is asked again. */
bool session_doubts_words(struct session *session);

/* session_canary.c: the sizes written into the command have no effect, or
 * another than they should. */
bool session_sizes_are_idle(const struct session *session);
/* The plan has an answer: is a size to be probed first, to see that sizes take
 * effect at all? Then that is the step. */
void session_ask_canary(struct session *session, struct plan_step *step);
/* It was seen that they do, or the split is the command's own. */
bool session_may_answer(const struct session *session, int64_t micro,
			int64_t accum);
/* They do not, or nothing shows it: that is the end, without an answer. */
void session_end_idle(struct session *session);

/* Run one probe to its end. 0, or a negative errno of autofit's own. */
int session_probe(struct session *session, const struct plan_step *step,
		  struct probe_report *report, struct error *err);
void probe_report_release(struct probe_report *report);

/* session_loop.c: signals, live line, time limit. */
int session_open_loop(struct session *session, struct error *err);
void session_close_loop(struct session *session);
/* Write text to stderr at once. */
void session_print(struct strbuf *text);
/* A probe may not start any more, or must end. */
bool session_must_end(const struct session *session);
/* The same, after a look at what signals and timers brought meanwhile. */
bool session_looks_up(void *session);

/* session_caveats.c */
/* What its split, and the probe that it rests on, leave open. trial: that
 * probe; NULL: none. */
void session_add_caveats(struct session *session, const struct trial *trial);
/* Those of a near match that its check does not answer itself. */
void session_renew_caveats(struct session *session, const struct record *older,
			   const struct trial *check);

/* session_answer.c */
/* How it ended; message is taken. The first end is the one that counts. */
void session_end(struct session *session, enum outcome outcome, int exit_code,
		 char *message);
/* The record of a near match holds for this command too: result, file. */
void session_renew(struct session *session, const struct trial *check);
/* What the plan's last step and all trials mean: result, record on disk. */
void session_conclude(struct session *session, const struct plan_step *step);

#endif
