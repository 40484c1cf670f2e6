/* Did the sizes that were written into the command take effect? Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_TUNING_EFFECT_EFFECT_CHECK_H
#define AUTOFIT_LAUNCHER_TUNING_EFFECT_EFFECT_CHECK_H

#include "base/strbuf.h"
#include "base/trial.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Peaks within this share, and step times within that, are the same. */
#define EFFECT_SAME_PEAK 0.01
#define EFFECT_SAME_TIME 0.05
/* The same in host memory, and where the same rows went in: runs of one command
 * on a CPU spread by nearly as much, and those of a small one, whose bytes
 * these are few, by up to the larger share. */
#define EFFECT_NOISY_PEAK 0.05
#define EFFECT_NOISY_BYTES (UINT64_C(4) << 20)
#define EFFECT_NOISY_SMALL_PEAK 0.15
/* Of steps that the output alone tells: what prepares data, at its own pace,
 * may count its rounds there as well. */
#define EFFECT_NOISY_TIME 0.25
/* Steps are looked for in this interval: no time is known better. */
#define EFFECT_TICK_SECONDS 0.02

enum effect_check_state {
	EFFECT_UNKNOWN,      /* nothing shows it yet; next_micro would tell */
	EFFECT_SHOWN,        /* it did, or nothing was written */
	EFFECT_NO_EFFECT,    /* 1x, 4x and 16x are the same in every respect */
	EFFECT_CONTRADICTED, /* the framework says another size than written */
};

struct effect_check {
	enum effect_check_state state;
	/* UNKNOWN: a size 4x or 16x the smallest that ran, or that divided, or
	 * 1; 0: none is left within max_micro. */
	int64_t next_micro;
	const struct trial *witness; /* CONTRADICTED: the trial that says so */
};

struct effect_check_facts {
	int64_t own_micro; /* what the command itself says; 0: not known */
	int64_t own_accum; /* per rank; probes write theirs */
	int64_t world_size;
	int64_t max_micro;
	bool is_host; /* peaks are of host memory */
};

/*
 * What all trials say together. A size that differs from the command's own was
 * written; without such a trial nothing is in doubt, but for steps that the
 * output alone tells. These may be rounds of what comes before the training,
 * which takes no notice of the size: then two sizes must differ. Shown by any
 * of: the framework's echo of the size written; input rows equal to it, or that
 * rise with it (x world: DataParallel); as many rows in all passes of a step as
 * both numbers written make, of a loader that was told the size or where they
 * are not the own step's; two sizes, both measured to their end, whose peaks or
 * median step times differ by more than the shares above; more samples in less
 * host memory is noise; two sizes with different verdicts about memory, or the
 * larger of which is too big for the data, but not one that is called so for
 * its flat peak alone, while the same rows went in. A pool that is taken at the
 * start (peak 0) is no evidence, nor is the larger peak of two where it alone
 * has files. Echo lines that name another size contradict, of micro-batch,
 * accumulation or effective batch; what counts over all ranks is the same size.
 * Where input rows of two sizes are known and equal, a difference of times
 * alone shows nothing, and one of peaks only above noise, as in host memory.
 */
struct effect_check effect_check_judge(const struct effect_check_facts *facts,
				       const struct trial *trials,
				       size_t count);

/* It fits by steps that were read from the output, and was stopped soon. */
bool effect_check_rests_on_output(const struct trial *trial);

/* The last of several trials of one size counts, if it has a verdict. */
bool effect_check_counts(const struct trial *trials, size_t count,
			 size_t index);

/*
 * All but SHOWN: one line for the user: which option, what was seen, the way
 * out. option: as the command names the knob; NULL: it has no name.
 */
void effect_check_words(const struct effect_check *check,
			const struct trial *trials, size_t count,
			const char *option, struct strbuf *out);

#endif
