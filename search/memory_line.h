/* The memory line: peak bytes as fixed + per_sample x micro-batch. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_SEARCH_MEMORY_LINE_H
#define AUTOFIT_SEARCH_MEMORY_LINE_H

#include "base/trial.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The line goes through the two largest measured peaks that are farther apart
 * than the noise; the larger is taken for the largest size's. With one usable
 * point it goes through the origin, which can only over-estimate what larger
 * sizes need.
 */
struct memory_line {
	size_t points; /* 0: nothing measured, 1: through the origin, 2 */
	double fixed_bytes;
	double bytes_per_sample;
};

struct memory_line memory_line_fit(const struct trial *trials, size_t count);

/* The same, but any two peaks make a line, and one point never does. */
struct memory_line memory_line_guess(const struct trial *trials, size_t count);

/* The same, with the noise taken off the rise between its two peaks. */
struct memory_line memory_line_cautious(const struct trial *trials,
					size_t count);

/*
 * The same, with the noise added to that rise: larger sizes need no more. Where
 * no two peaks are farther apart than it, the rise that it may hide between the
 * smallest and the largest size.
 */
struct memory_line memory_line_steep(const struct trial *trials, size_t count);

/* Through the peak of the largest size that has one, with this slope. */
struct memory_line memory_line_sloped(const struct trial *trials, size_t count,
				      double bytes_per_sample);

/*
 * From what one probe showed, the largest that fits and says so: its bytes at
 * rest are the fixed ones, and its peak gives the rise. What a step needs for a
 * while whatever its size makes that rise too steep; so it is at most what the
 * samples of a pass took or MEMORY_LINE_BACKWARD times what the forward pass
 * left, whichever is more, unless a larger size was over its limit though this
 * let it fit. What malloc keeps adds to the first passes later, so that what
 * they took is too little by itself. Larger sizes mostly need no more than this
 * says.
 */
struct memory_line memory_line_rest(const struct trial *trials, size_t count);

/*
 * Of the same probe, the least that larger sizes need: what is at rest and what
 * their forward pass leaves, which is there when their backward pass begins; or
 * MEMORY_LINE_PASS times what the samples of a pass took, if that is more.
 */
struct memory_line memory_line_least(const struct trial *trials, size_t count);

/*
 * Of the smallest size that is too large though it made MEMORY_LINE_LATE steps:
 * they stayed under its limit, so that its peak is little more than that. The
 * other point are its bytes at rest or, where they are not known, the largest
 * size that fits.
 */
struct memory_line memory_line_late(const struct trial *trials, size_t count);

/* After the first step the optimizer holds what it will hold. */
#define MEMORY_LINE_LATE 2

/*
 * A sample raises the peak by more than what the forward pass and the loss
 * leave of it for the backward pass: 2.3 to 2.9 times that much in transformers
 * and a convolution net, 6 times where a small model has a large vocabulary,
 * whose logits are copied on the way (tests/bench/peers/programs.py,
 * examples/charlm and tests/data/frameworks/hf_trainer.py, torch 1.13 on a
 * CPU).
 */
#define MEMORY_LINE_BACKWARD 3

/* A pass of a small size takes up to so much more for a sample than one of a
 * large size: a sixth of it may be a gradient, see Rest in probes/python. */
#define MEMORY_LINE_PASS 0.85

/*
 * Two peaks of this order that are no farther apart may be equal. PyTorch's
 * allocator takes device memory in blocks of up to 20 MiB, and repeated runs of
 * one command differ by one or two percent.
 */
#define MEMORY_LINE_NOISE_BYTES (UINT64_C(16) << 20)
#define MEMORY_LINE_NOISE_SHARE 0.02
uint64_t memory_line_noise(uint64_t peak_bytes);

/*
 * By how much the next size's peak may miss the line: by the noise or, where
 * three sizes and more are on it, by four times as much as they miss it, but
 * never less than MEMORY_LINE_NOISE_BYTES. Sizes up to a bend do not count.
 */
uint64_t memory_line_doubt(const struct memory_line *line,
			   const struct trial *trials, size_t count,
			   uint64_t noise);

/* Predicted peak of a size, never negative; 0 when points is 0. */
uint64_t memory_line_peak(const struct memory_line *line, int64_t micro_batch);

/* The largest size predicted to stay within limit; 0 when none or unknown. */
int64_t memory_line_micro(const struct memory_line *line, uint64_t limit_bytes);

#endif
