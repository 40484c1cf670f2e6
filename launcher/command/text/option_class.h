/* What the words of an option's name say of it. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_COMMAND_TEXT_OPTION_CLASS_H
#define AUTOFIT_LAUNCHER_COMMAND_TEXT_OPTION_CLASS_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Programs spell their sizes as they like: no list has all names, but the
 * words in them are few. LIKE: it speaks of one, beside words that nobody
 * knows, so that it may be something else.
 */
enum option_class {
	OPTION_OTHER,
	OPTION_DECOY,      /* of an evaluation, a norm, a log */
	OPTION_BATCH,      /* a batch size; whose it is, is not said */
	OPTION_MICRO,      /* of one rank, or of one micro-step */
	OPTION_MICRO_NODE, /* of all ranks of a node */
	OPTION_GLOBAL,     /* of all ranks */
	OPTION_ACCUM,      /* micro-steps of one step */
	OPTION_BATCH_LIKE,
	OPTION_MICRO_LIKE,
	OPTION_ACCUM_LIKE,
	OPTION_CLASSES,
};

/* "--gradAccumSteps", "trainer.batch_size", "bsz_per_gpu"; any bytes. */
enum option_class option_class_of(const char *name, size_t length);

/* It speaks of an evaluation, a log, workers, a random seed and their like, or
 * of how long a sample or how wide a model is. */
bool option_name_is_aside(const char *name, size_t length);

/* sampler.num_steps, data.steps: a count of steps in a section of something
 * else than the training. */
bool option_steps_are_aside(const char *name, size_t length);

/* The program is to find the batch size by itself: auto_scale_batch_size,
 * --search_batch_size. */
bool option_seeks_batch(const char *name, size_t length);

/* It counts micro-batches, which may be pieces of a batch, and says nothing of
 * accumulation: num_microbatches. */
bool option_counts_pieces(const char *name, size_t length);

#endif
