/* What the mathematical libraries of a phantom card share. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_PROBES_PHANTOM_MATHS_MATHS_H
#define AUTOFIT_PROBES_PHANTOM_MATHS_MATHS_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/*
 * These libraries compute nothing. A function that only computes answers 0;
 * those are made of a list of names (probes/phantom/phantom.cmake). A function
 * that hands something back is written down here, or the program ends with a
 * sentence as soon as it calls it. Names and values are those of the public
 * headers, own declarations.
 */
#define EXPORT __attribute__((visibility("default")))

enum maths_status { MATHS_OK = 0, MATHS_NO_MEMORY = 2 };

/* Zeroed; the answer of a function that makes a thing. */
static inline int maths_make(void **made, size_t bytes)
{
	*made = calloc(1, bytes);
	return *made ? MATHS_OK : MATHS_NO_MEMORY;
}

static inline int maths_free(void *made)
{
	free(made);
	return MATHS_OK;
}

/* A descriptor of which only its being there matters. */
#define MATHS_THING_BYTES 512
#define MATHS_THING(create, destroy)                                           \
	EXPORT int create(void **made)                                         \
	{                                                                      \
		return maths_make(made, MATHS_THING_BYTES);                    \
	}                                                                      \
	EXPORT int destroy(void *made)                                         \
	{                                                                      \
		return maths_free(made);                                       \
	}

#endif
