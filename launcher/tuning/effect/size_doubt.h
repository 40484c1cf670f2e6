/* Does a trial that fits run the size that it was given? Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_TUNING_EFFECT_SIZE_DOUBT_H
#define AUTOFIT_LAUNCHER_TUNING_EFFECT_SIZE_DOUBT_H

#include "base/strbuf.h"
#include "base/trial.h"

#include <stddef.h>

enum size_doubt {
	SIZE_TAKEN, /* there is none */
	SIZE_FLAT,  /* its peak no longer follows the size */
	SIZE_CUT,  /* its steps take as many rows, in more and smaller passes */
	SIZE_IDLE, /* its steps found no gradient */
	SIZE_SHORT, /* its passes take fewer rows than it was told */
	SIZE_BRIEF, /* it ended earlier than others, and not by a failure */
};

/*
 * Of all trials before it, and one that fits. FLAT: its peak rose by less than
 * half of what the two smallest sizes promise (and, where these differ by no
 * more than noise, by less than a quarter of what the smallest and the next
 * smaller one do), or fell by more than noise below that of the next smaller
 * size, or, where one smaller size is all there is, did not rise at all while
 * its input rows are neither those of its size nor of the smaller one. Rows
 * that follow the size, as those of the smaller one do, take that doubt away,
 * and where none were seen the time of a micro-step that does. CUT, IDLE,
 * SHORT: a smaller size was seen to make as many passes as it was told. Such a
 * program makes its batch smaller by itself, or has no more data, or leaves
 * out what is too large. Not SHORT: the rows of all smaller sizes, for then
 * the size does nothing, but for one that is less than twice as large and may
 * be rounded; without a loader, an eighth less than was told, unless
 * another size that was told more took the same rows. BRIEF: with each
 * other size that fits it was stopped after more optimizer steps and more
 * samples; neither a limit of steps nor the end of the data explains that.
 * below: the largest of those other trials.
 */
enum size_doubt size_doubt_of(const struct trial *trials, size_t count,
			      const struct trial *trial,
			      const struct trial **below);

/* All but TAKEN: why such a trial is no fit, as part of a line. */
void size_doubt_words(enum size_doubt doubt, const struct trial *below,
		      const struct trial *trial, struct strbuf *out);

#endif
