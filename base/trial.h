/* One finished probe, in the words that every room shares. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_BASE_TRIAL_H
#define AUTOFIT_BASE_TRIAL_H

#include "base/strbuf.h"
#include "base/units.h"

#include <stdbool.h>
#include <stdint.h>

/* What a probe proved. Names as in the JSON result: verdict_name(). */
enum verdict {
	VERDICT_NONE,        /* no evidence either way */
	VERDICT_FITS,        /* all steps done, peak under the limit */
	VERDICT_FITS_BARELY, /* fits; retries only while warming up */
	VERDICT_THRASHES,    /* runs, but frees and retries, or swaps */
	VERDICT_OVER_BUDGET, /* stopped: the peak passed the limit */
	VERDICT_OOM_DEVICE,
	VERDICT_OOM_HOST,
	VERDICT_TOO_BIG, /* a limit that is not memory */
	VERDICT_TIMEOUT,
	VERDICT_FAILED,    /* failed without evidence of memory */
	VERDICT_DISTURBED, /* something outside spoiled it; repeat once */
};

enum phase { PHASE_START, PHASE_TRAIN, PHASE_EVAL, PHASE_SAVE };

/* How the peak was seen. */
enum coverage {
	COVERAGE_NONE,
	COVERAGE_DEVICE_WIDE, /* sampled over a whole GPU */
	COVERAGE_EXACT,       /* every byte of the probe, and no other */
};

enum steps_source {
	STEPS_NONE,
	STEPS_HOOK, /* optimizer steps counted in Python */
	STEPS_LOG,  /* a step counter in the output rose */
	STEPS_EXIT, /* the command ended by itself with 0 */
	STEPS_TIME, /* no growth for long enough */
	/* Backward passes counted in Python, of a program that makes no
	 * optimizer: so many as are accumulated are a step. */
	STEPS_PASSES,
};

struct trial {
	int64_t micro_batch; /* samples per rank and forward/backward */
	int64_t grad_accum;  /* micro-steps per optimizer step, as probed */
	enum verdict verdict;
	enum phase phase;    /* the furthest it came */
	int rank;            /* first rank that failed, -1: not known */
	uint64_t peak_bytes; /* per device; 0: not known */
	/* What of it is held between two optimizer steps, without gradients;
	 * 0: not known. */
	uint64_t rest_bytes;
	/* What a forward pass leaves for its backward pass; 0: not known. */
	uint64_t forward_bytes;
	/* What a micro-step takes for a while above what is held before and
	 * behind it, which no optimizer's step has part in; 0: not known, or
	 * nothing accumulates. */
	uint64_t pass_bytes;
	/* What the peak was judged by: the limit then, or a lower one that its
	 * growth asked for; 0: not known. */
	uint64_t limit_bytes;
	/* The probe was stopped before its steps: the peak is at least this. */
	bool peak_is_lower_bound;
	/* The command was over before a look could tell the pages of files that
	 * it counts from its own: what it used is at most this. */
	bool peak_has_files;
	bool peak_rising;  /* still rose in the last third */
	bool peak_varying; /* differs by more than 2% between steps */
	/* As many rows of other lengths, or other pictures, were seen to go
	 * into the model. */
	bool sizes_differ;
	/* Its data came in their own order, and were seen only in part. */
	bool data_in_order;
	bool is_idle;       /* its first steps found no gradient */
	bool has_evaluated; /* between two of its steps, or behind them */
	/* Its optimizer holds parameters that are not trained yet. */
	bool has_frozen;
	bool has_batch_norm; /* it takes statistics of a micro-batch */
	bool compares;       /* its loss does, the samples of a micro-batch */
	/* It rose by about as much with every step; 0: it did not. */
	uint64_t step_growth_bytes;
	bool ran_to_end; /* the command ended by itself: all of it ran */
	/* Steps of the output were believed only once TIME_ONLY_MS had passed
	 * since the first: what comes before the training is over by then. */
	bool steps_were_awaited;
	/* A copy of a process that had done the imports: no start of its own.
	 * It may fit, and confirms nothing. */
	bool is_forked;
	/* It ran on another GPU of the same model than the command's own: it
	 * may fit there, and confirms nothing. */
	bool is_elsewhere;
	enum coverage coverage;
	enum steps_source steps_source;
	int64_t steps;           /* optimizer steps seen */
	int64_t confirmed_steps; /* steps of the confirmation; 0: not one */
	/* Backward passes after its first step, where those were counted as
	 * steps are; 0: they were not. */
	int64_t later_passes;
	double seconds;          /* wall clock of the whole probe */
	double step_seconds;     /* median, 0: not known */
	double step_mad_seconds; /* median deviation from it; 0: not known */
	/* Of those how much a micro-step takes, beside the optimizer; 0: not
	 * known, or nothing accumulates. */
	double pass_seconds;
	/* At two looks or more the same sizes went into the model, and the peak
	 * rose no more after so many steps, two or more; 0: not so. */
	int64_t alike_after;
	/*
	 * What was seen of the sizes themselves; 0: nothing. Rows: the first
	 * dimension of what goes into the outermost module; columns: the
	 * second, where there are two or three. Echo: what the framework
	 * prints, the effective batch over all ranks.
	 */
	int64_t input_rows, input_columns;
	/*
	 * Micro-steps of one optimizer step, ranks that share the gradients,
	 * samples of one batch of a data loader, and all that one has (of
	 * several the most), as the step hook saw them.
	 */
	int64_t seen_accum, seen_ranks, loader_rows, data_rows;
	int64_t printed_sizes_micro, printed_sizes_accum,
		printed_sizes_effective;
};

/* It ran within the limit: fits or fits_barely. */
static inline bool trial_fits(const struct trial *trial)
{
	return trial->verdict == VERDICT_FITS ||
	       trial->verdict == VERDICT_FITS_BARELY;
}

/*
 * How often memory was used as a whole step uses it. Where the micro-steps of
 * an accumulation are alike, each after the first step shows as much as a step.
 */
static inline int64_t trial_rounds_of(int64_t steps, int64_t later_passes)
{
	return steps && later_passes >= steps ? 1 + later_passes : steps;
}

static inline int64_t trial_rounds(const struct trial *trial)
{
	return trial_rounds_of(trial->steps, trial->later_passes);
}

/* All passes of a step were seen to take as many rows as were written, in
 * whatever pieces the program takes them. */
static inline bool trial_step_is_whole(const struct trial *trial)
{
	int64_t seen = count_product(trial->input_rows, trial->seen_accum);

	return seen > 0 &&
	       seen == count_product(trial->micro_batch, trial->grad_accum);
}

/* The micro-steps of its steps: fewer than were asked for where a script has a
 * smaller accumulation at first. */
static inline int64_t trial_step_passes(const struct trial *trial)
{
	return trial->seen_accum && trial->seen_accum < trial->grad_accum &&
			       !trial_step_is_whole(trial)
		       ? trial->seen_accum
		       : trial->grad_accum;
}

/* A counter in the output may be one of micro-steps. */
static inline bool trial_may_count_passes(const struct trial *trial)
{
	return trial->steps_source == STEPS_LOG && trial->grad_accum > 1;
}

/* Samples of one rank in a second; 0: not known. */
static inline double trial_rate(const struct trial *trial)
{
	return trial->step_seconds > 0
		       ? (double)trial->micro_batch *
				 (double)trial_step_passes(trial) /
				 trial->step_seconds
		       : 0;
}

/* What a step takes beside its micro-steps: the optimizer; 0: not known. */
static inline double trial_update_seconds(const struct trial *trial)
{
	double passes = trial->pass_seconds * (double)trial->grad_accum;

	return trial->pass_seconds > 0 && trial->step_seconds > passes
		       ? trial->step_seconds - passes
		       : 0;
}

/* It ran long enough to be recommended, or to its own end. */
static inline bool trial_is_confirmed(const struct trial *trial)
{
	return !trial->is_forked && !trial->is_elsewhere &&
	       (trial->confirmed_steps > 0 ||
		trial->steps_source == STEPS_EXIT ||
		trial->steps_source == STEPS_TIME);
}

static inline bool trial_is_out_of_memory(const struct trial *trial)
{
	return trial->verdict == VERDICT_OOM_DEVICE ||
	       trial->verdict == VERDICT_OOM_HOST;
}

/* This size must not be used: an upper bound for the search. */
static inline bool trial_is_misfit(const struct trial *trial)
{
	return trial->verdict >= VERDICT_THRASHES &&
	       trial->verdict <= VERDICT_TIMEOUT;
}

/* It ended in a way that says something of its size. */
static inline bool trial_has_verdict(const struct trial *trial)
{
	return trial_fits(trial) || trial_is_misfit(trial);
}

/* Its peak may stand on the memory line. */
static inline bool trial_is_point(const struct trial *trial)
{
	return trial->peak_bytes && !trial->peak_is_lower_bound &&
	       (trial_fits(trial) || trial->verdict == VERDICT_OVER_BUDGET ||
		trial->verdict == VERDICT_THRASHES);
}

/* The names of JSON, records and journal; NULL-safe parse: -EINVAL. */
const char *verdict_name(enum verdict verdict);
int verdict_parse(const char *name, enum verdict *verdict);
const char *phase_name(enum phase phase);
int phase_parse(const char *name, enum phase *phase);
const char *coverage_name(enum coverage coverage);
int coverage_parse(const char *name, enum coverage *coverage);
const char *steps_source_name(enum steps_source source);
int steps_source_parse(const char *name, enum steps_source *source);
/* Appends "16 rows x 4 passes x 2 ranks"; nothing where the hook saw no
 * rows. */
void trial_seen_format(const struct trial *trial, struct strbuf *out);

#endif
