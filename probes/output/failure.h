/* The first error a command printed, for the user to read. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_PROBES_OUTPUT_FAILURE_H
#define AUTOFIT_PROBES_OUTPUT_FAILURE_H

#include "base/strbuf.h"

#include <stdbool.h>
#include <stddef.h>

#define FAILURE_TAIL_LINES 8
#define FAILURE_FRAME_LINES 6
#define FAILURE_LINE_MAX 400
/* Of an exception's message: those after its first. */
#define FAILURE_MESSAGE_LINES 2
/* Ranks whose tracebacks are told apart while they are printed at once. */
#define FAILURE_SOURCES 8
#define FAILURE_PREFIX_MAX 64

/* What an error is worth: the best of a log is shown, the first of equals. */
enum failure_kind {
	FAILURE_NONE,
	FAILURE_NOISE,        /* Python ignored it itself */
	FAILURE_WRAPPER,      /* a launcher's, that its child failed */
	FAILURE_CUT,          /* a traceback without its end */
	FAILURE_BEFORE_USAGE, /* what a usage text is printed for, if no error
			       * follows that */
	FAILURE_MUTTERED,     /* a line that says "error" */
	FAILURE_CONSEQUENCE,  /* of another rank's end, or of one that is shown
			       */
	FAILURE_SAID,         /* a line that ends a program: usage, crash */
	FAILURE_ASIDE,        /* of a thread, or logged as a warning */
	FAILURE_OWN,
};

/* One traceback. */
struct failure_trace {
	enum failure_kind kind;
	unsigned chain;    /* the same: one was raised because of the other */
	int rank;          /* -1: not known */
	bool rank_is_told; /* by the launcher, of an exception that is the same
			    */
	bool is_group;
	bool by_launcher; /* frames of a launcher's own code */
	char frames[FAILURE_FRAME_LINES][FAILURE_LINE_MAX];
	size_t frame_count; /* all seen; the ring keeps the last */
	char exception[FAILURE_LINE_MAX];
	char more[FAILURE_MESSAGE_LINES][FAILURE_LINE_MAX];
	size_t more_count;
	char outer[FAILURE_LINE_MAX]; /* what it led to; "": nothing else */
};

/* Lines with one prefix: those of one rank, or all that have none. */
struct failure_source {
	char prefix[FAILURE_PREFIX_MAX];
	size_t prefix_length;
	bool is_guess; /* the prefix, until a second line has it */
	enum { FAILURE_LOOKING, FAILURE_IN_TRACEBACK } state;
	/* Tracebacks begun here and not ended: two, and nobody knows whose a
	 * frame is. */
	unsigned open;
	bool is_mixed;
	bool boxed, grouped, headless;
	bool is_linked; /* the next belongs to the chain of the last */
	bool is_sub;    /* an exception of a group comes next */
	bool is_weak;   /* an exception, unless its traceback goes on */
	size_t width;   /* in columns, of its box; 0: it had none */
	unsigned noise; /* lines within that are none of it */
	unsigned more_left;
	size_t indent;
	enum failure_kind at_most; /* the next one; FAILURE_NONE: anything */
	int next_rank;             /* of the next one, plus 1; 0: not known */
	struct failure_trace trace;
};

/* What launchers tell of their children. */
struct failure_told {
	char line[FAILURE_LINE_MAX]; /* the first such line */
	char note[FAILURE_LINE_MAX]; /* which rank ended how */
	int note_rank;               /* -1: not known */
	bool note_is_odd;            /* not by exit code 1, as Python does */
	size_t ranks;                /* told of, that failed by themselves */
	int rank;                    /* the first of them */
	int entry_rank, entry_code;  /* torchrun's, under way */
	bool after_rule;             /* the line before was "======" */
};

/* Fed with every line of output; starts as zeros. */
struct failure {
	struct failure_source sources[FAILURE_SOURCES + 1]; /* 0: no prefix */
	size_t source_count; /* of those with a prefix, used so far */
	unsigned chains;
	struct failure_trace hooked; /* the best that step hooks told */
	struct failure_trace best;
	size_t best_source;
	unsigned long since_best; /* lines of no traceback */
	enum failure_kind said_kind;
	char said[FAILURE_LINE_MAX];
	size_t said_at; /* its number in the tail */
	int said_rank;
	struct failure_told told;
	/* Lines of no traceback and no launcher. */
	char tail[FAILURE_TAIL_LINES][FAILURE_LINE_MAX];
	size_t tail_count;
	bool tail_is_last; /* the line before went there */
};

void failure_line(struct failure *failure, const char *line, size_t length);

/*
 * An exception that ended a process, as its step hook told it: what Python
 * prints of it. Those of several processes come in the order of time. It is
 * preferred to what the output shows, where that may be mixed or cut. One that
 * was not printed counts only where a launcher blames its rank (-1: not known)
 * and the output has no exception: processes may fail unseen, and no harm done.
 */
void failure_add_hooked(struct failure *failure, const char *text, int rank,
			bool is_printed);

/*
 * The first error of the first rank that failed: its last frames and its
 * exception, and what that led to; else the last lines. A launcher's own
 * error only where the log has nothing of its child's. Control bytes become
 * '?'.
 */
void failure_text(const struct failure *failure, struct strbuf *out);

/*
 * Is the text a traceback of the failing rank itself? Then a known cause that
 * is named elsewhere in the output is not this one's.
 */
bool failure_is_certain(const struct failure *failure);

#endif
