/* Do the sizes mean what the words of the command say? Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_TUNING_EFFECT_MEANING_H
#define AUTOFIT_LAUNCHER_TUNING_EFFECT_MEANING_H

#include "base/batch.h"
#include "base/strbuf.h"
#include "base/trial.h"
#include "launcher/command/parts/command.h"
#include "launcher/command/text/seen_meaning.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * The step hook sees the rows of a forward pass, the passes of an optimizer
 * step and the ranks that share gradients. With the sizes that the probe was
 * given these say whether the command was read aright:
 *
 *	rows == micro, passes == accumulation, ranks == world     as read
 *	rows x ranks == micro                                     global batch
 *	rows x passes (x ranks) == micro                          whole batch
 *	columns x passes (x ranks) == micro                       the same
 *	a whole batch, and one number of its passes or rows       a guess
 *	rows == micro x ranks, read as a global batch             per rank
 *	passes x ranks == accumulation                            total
 *	passes == accumulation x ranks, read as a total           per rank
 *	other passes, and an option of that value                 second knob
 *	other passes, and one number of that value                a guess
 *	other passes, and one number of their rows' value         a guess
 *	other passes than that guess was given                    no such knob
 *	no known batch size, and one number of the rows' value    a guess
 *	the own rows, with another number for that guess          no such knob
 *	fewer ranks, or ranks that nothing starts                 the ranks
 *	sizes that nobody gave, and others are seen               defaults
 *	and given ones make more or less than they are, too       as read
 *	the own size, and a loader made for fewer rows            no sense
 *	a whole batch, and a loader and passes for less of it     no sense
 *
 * Rows that stand in no such relation (packed samples, time before the batch,
 * two views of each) say nothing by themselves.
 */
enum meaning_state {
	MEANING_UNSEEN, /* nothing that tells */
	MEANING_AGREES,
	MEANING_OTHER,    /* seen: what the command is to be read with */
	MEANING_NO_SENSE, /* not as read, and in no way that is known */
};

/* NO_SENSE: which sizes do not hold together. */
enum meaning_nonsense {
	NONSENSE_OTHER,  /* what seen says, or the passes */
	NONSENSE_WHOLE,  /* a step takes fewer rows than its whole batch */
	NONSENSE_ROWS,   /* the loader is made for fewer than the micro-batch */
	NONSENSE_MARKED, /* all passes together take what {micro} stands for */
};

struct size_meaning {
	enum meaning_state state;
	enum meaning_nonsense nonsense;
	struct seen_meaning seen;
};

/* An option that nobody gave: what it is then, only the command as given
 * shows. */
bool meaning_is_default(const struct command *command, enum knob_kind kind);

/* written: the sizes that the trial ran with, as the command was read. */
struct size_meaning meaning_judge(const struct command *command,
				  const struct batch *written,
				  const struct trial *trial);

/*
 * Both made as many passes for each that they were told, which was not the
 * same: the option counts them, however often each is made.
 */
bool meaning_passes_follow(const struct trial *one, const struct trial *other);

/*
 * All passes of a step that accumulates were seen to take as many rows as both
 * numbers say together, which proves how both are read, in whatever pieces the
 * program takes them. Where another size then takes other rows than it was
 * told, the program has made it another one by itself.
 */
bool meaning_is_proved(const struct trial *by, const struct trial *other);

/* What was read, what was seen, and the option that settles it: one line. */
void meaning_add_words(struct strbuf *out, const struct command *command,
		       const struct size_meaning *meaning,
		       const struct batch *written, const struct trial *trial);

#endif
