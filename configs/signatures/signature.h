/* Lines that say why a command failed: out of memory, and known causes. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_CONFIGS_SIGNATURES_SIGNATURE_H
#define AUTOFIT_CONFIGS_SIGNATURES_SIGNATURE_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

/* In the order in which they are asked; the first that matches decides. */
enum signature_class {
	SIGNATURE_NONE,
	SIGNATURE_NOT,       /* looks like memory and is not */
	SIGNATURE_RMM,       /* GPU, before the std::bad_alloc of the host */
	SIGNATURE_HOST,      /* host memory */
	SIGNATURE_SHM,       /* /dev/shm is full */
	SIGNATURE_GPU,       /* device memory */
	SIGNATURE_AMBIGUOUS, /* device or host: other evidence decides */
	SIGNATURE_KILLED,    /* a report of SIGKILL: a hint, never evidence */
	SIGNATURE_TOO_BIG,   /* a limit that is not memory */
	SIGNATURE_NO_BATCH,  /* maybe: no whole batch of data was found */
	SIGNATURE_CAUSE,     /* a known cause that is not memory: its hint */
};

struct signature {
	char *name; /* "file/section" */
	enum signature_class class;
	char *hint;    /* what the user can do; NULL: nothing to say */
	char *example; /* a line that it matches */
};

struct signatures;

/*
 * The built-in files of configs/signatures/, then every *.ini of the folder
 * (NULL: none). A section holds class, contains (a literal that every match
 * has in it; one per line, any of them), pattern (PCRE2), example, hint.
 * On failure *set is NULL. The caller frees the set.
 */
int signatures_load(struct signatures **set, const char *folder,
		    struct error *err);
void signatures_free(struct signatures *set);

/* The rows, for tests and lists: NULL past the end. */
const struct signature *signatures_at(const struct signatures *set,
				      size_t index);

/*
 * The first signature (by class order) that matches the line, or NULL. Pure;
 * bounded: match limits of PCRE2 apply, a line over them matches nothing.
 * The literals are looked for in one pass before any pattern is run.
 */
const struct signature *signatures_match(const struct signatures *set,
					 const char *line, size_t length);

#endif
