/* Lines of output that are known: out of memory, known causes, last words. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_CONFIGS_SIGNATURES_SIGNATURE_H
#define AUTOFIT_CONFIGS_SIGNATURES_SIGNATURE_H

#include "base/error.h"
#include "base/span.h"
#include "configs/signatures/literals.h"

#include <stdbool.h>
#include <stddef.h>

enum signature_class {
	SIGNATURE_NONE,
	/* What signatures_pick is asked for: by these the first error is found.
	 */
	SIGNATURE_LAUNCHER,    /* a launcher's own line, or frame */
	SIGNATURE_NOISE,       /* before a traceback that Python ignores */
	SIGNATURE_WRAPPER,     /* a launcher's exception: its child failed */
	SIGNATURE_MUTTERED,    /* a line that says "error" */
	SIGNATURE_CONSEQUENCE, /* an exception because others ended before */
	SIGNATURE_SAID,        /* the last words of a program */
	SIGNATURE_ASIDE,       /* before the traceback of a thread */
	SIGNATURE_REFUSED,     /* a write that was refused, maybe */
	/* What signatures_match finds, in the order in which they are asked. */
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
	char *hint; /* what the user can do; NULL: nothing to say */
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

/*
 * Which signatures have a literal in a line; all that is asked about the line
 * and its parts is asked with it. Starts as zeros.
 */
struct signature_found {
	bool any;
	struct literals_found literals;
};

/*
 * The first signature from SIGNATURE_NOT on, by class order, that matches the
 * line, or NULL. What is in the line is added to found (NULL: not needed).
 * Pure; bounded: match limits of PCRE2 apply, a line over them matches nothing.
 * The literals are looked for in one pass before any pattern is run.
 */
const struct signature *signatures_match(const struct signatures *set,
					 const char *line, size_t length,
					 struct signature_found *found);

/*
 * The first signature of the class that matches the text, or NULL: a line of
 * which found tells, or a part of it, of a few KiB at most. Pure.
 */
const struct signature *signatures_pick(const struct signatures *set,
					const struct signature_found *found,
					enum signature_class class,
					struct span text);

#endif
