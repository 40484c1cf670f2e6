/* What a script divides among its ranks, or multiplies by them. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_COMMAND_FILES_SOURCE_SHARES_H
#define AUTOFIT_LAUNCHER_COMMAND_FILES_SOURCE_SHARES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum source_share {
	SHARE_NONE,
	SHARE_TIMES,   /* batch_size * world_size: one rank's */
	SHARE_OF_NODE, /* batch_size // ngpus_per_node */
	SHARE_OF_ALL,  /* batch_size //= dist.get_world_size(), and "%" */
};

/* What is done with it and an accumulation, too or only. */
enum source_accum {
	ACCUM_NONE,
	ACCUM_DIVIDES, /* batch_size // accum: it counts all passes */
	ACCUM_TIMES,   /* batch_size * accum: one pass's */
};

/* The name of inputs.shape[0]: rows that a pass was to have. */
#define SHARE_ROWS "*"

/* Of "args.batch_size // world" the name is batch_size. */
typedef void source_share_visit(void *context, const char *name, size_t length,
				enum source_share share,
				enum source_accum accum);
/* Each place in the code where a name is shared so, up to the bound of
 * scripts. */
void source_shares_visit(const char *text, source_share_visit *visit,
			 void *context);
/* The same, with the variable of an accumulation that no word says; or NULL. */
void source_shares_visit_by(const char *text, const char *accum,
			    source_share_visit *visit, void *context);

/* Is there a line "name = exact_div(args.variable, parts)"? */
bool source_is_made_of(const char *text, const char *name, size_t length,
		       const char *variable);
/* Is there a line "name = config.data.variable", with nothing else in it? */
bool source_is_copy(const char *text, const char *name, size_t length,
		    const char *variable);

/*
 * The first line that computes an accumulation by a division, as in accum_steps
 * = total // micro, or in f(accum_steps=total // micro), or for a name that is
 * handed on so; 0: none. The name is in the text.
 */
unsigned source_accum_computed(const char *text, const char **name,
			       size_t *length);

/* Is what that line divides by the variable: steps = total / cfg.variable? */
bool source_accum_divides_by(const char *text, const char *variable);

/* An accumulation that the script derives from a number in it. */
struct source_nominal {
	int64_t batch;
	bool rounds;   /* to the nearest, as round(); else down */
	bool is_total; /* divided by a name that says the batch of all ranks */
};

/*
 * Is one computed as max(round(N / batch), 1), N // batch or their like, where
 * batch is the variable and N a number, by itself or by a name that has one?
 */
bool source_accum_nominal(struct source_nominal *nominal, const char *text,
			  const char *variable);

/*
 * The first line that gives an option's variable another value, whatever the
 * command says: args.batch_size = a * b, or, is_number, = 64; 0: none.
 */
unsigned source_overwrites(const char *text, const char *variable,
			   bool *is_number);

/* Is there the variable as a word of code: args.batch, f(batch)? */
bool source_reads(const char *text, const char *variable);

#endif
