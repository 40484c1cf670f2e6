/* Did a size take effect? Trials, row by row, and the words for the user. */
/* SPDX-License-Identifier: MIT */
/* USES launcher base */
#include "launcher/tuning/effect/effect_check.h"

#include "tests/unit/effect_trials.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define TRIALS_MAX 6

static const struct {
	const char *name;
	enum effect_check_state state;
	int64_t next;
	struct effect_check_facts facts; /* 0: own_micro 8, world 1, max 4096 */
	struct trial trials[TRIALS_MAX];
} rows[] = {
	{ "nothing ran", EFFECT_SHOWN, 0, { 0 }, { { 0 } } },
	{ "only the command's own size",
	  EFFECT_SHOWN,
	  0,
	  { 0 },
	  { { RAN(8, 100, 1) } } },
	{ "its own, twice",
	  EFFECT_SHOWN,
	  0,
	  { 0 },
	  { { RAN(8, 100, 1) }, { RAN(8, 120, 2) } } },
	{ "its own with another accumulation",
	  EFFECT_SHOWN,
	  0,
	  { 0 },
	  { { ACCUM(8, 1, 1) } } },
	{ "its own is not known",
	  EFFECT_UNKNOWN,
	  32,
	  { .own_micro = -1 },
	  { { RAN(8, 100, 1) } } },

	/* Steps of the output, which may come before the training. */
	{ "its own, by its output",
	  EFFECT_UNKNOWN,
	  32,
	  { 0 },
	  { { BY_OUTPUT(8, 100, 1) } } },
	{ "by its output, and memory follows",
	  EFFECT_SHOWN,
	  0,
	  { 0 },
	  { { BY_OUTPUT(8, 100, 1) }, { BY_OUTPUT(32, 200, 1) } } },
	{ "by its output, and only it fits",
	  EFFECT_SHOWN,
	  0,
	  { 0 },
	  { { BY_OUTPUT(8, 100, 1) }, { MICRO(32, VERDICT_OOM_HOST) } } },
	{ "by its output, and the time follows",
	  EFFECT_SHOWN,
	  0,
	  { 0 },
	  { { BY_OUTPUT(8, 100, 1) }, { BY_OUTPUT(32, 100, 1.3) } } },
	{ "by its output, at another pace",
	  EFFECT_UNKNOWN,
	  128,
	  { 0 },
	  { { BY_OUTPUT(8, 100, 1) }, { BY_OUTPUT(32, 100, 1.2) } } },
	{ "by its output, which names the size",
	  EFFECT_UNKNOWN,
	  64,
	  { 0 },
	  { { BY_OUTPUT(16, 100, 1), .printed_sizes_micro = 16 } } },
	{ "by its output, whatever the size",
	  EFFECT_NO_EFFECT,
	  0,
	  { 0 },
	  { { BY_OUTPUT(8, 100, 1) },
	    { BY_OUTPUT(32, 100, 1) },
	    { BY_OUTPUT(128, 100, 1) } } },

	/* Peaks that count files. */
	{ "more memory, by files perhaps",
	  EFFECT_UNKNOWN,
	  128,
	  { 0 },
	  { { RAN(8, 100, 1) }, { RAN(32, 110, 1), .peak_has_files = true } } },
	{ "less memory, by files perhaps",
	  EFFECT_UNKNOWN,
	  128,
	  { 0 },
	  { { RAN(8, 110, 1), .peak_has_files = true }, { RAN(32, 100, 1) } } },
	{ "more memory, although files count in less",
	  EFFECT_SHOWN,
	  0,
	  { 0 },
	  { { RAN(8, 100, 1), .peak_has_files = true }, { RAN(32, 110, 1) } } },
	{ "more memory, with files in both",
	  EFFECT_SHOWN,
	  0,
	  { 0 },
	  { { RAN(8, 100, 1), .peak_has_files = true },
	    { RAN(32, 110, 1), .peak_has_files = true } } },
	{ "too much memory, by files perhaps",
	  EFFECT_UNKNOWN,
	  128,
	  { 0 },
	  { { RAN(8, 100, 1) },
	    { STOPPED(32, 200), .peak_has_files = true } } },

	/* Called too big for its flat peak. */
	{ "flat, and the same rows went in",
	  EFFECT_NO_EFFECT,
	  0,
	  { .is_host = true },
	  { { RAN(8, 434, 1), .input_rows = 16 },
	    { RAN(128, 436, 1), .input_rows = 16 },
	    { TRIAL(2048, OWN_ACCUM, VERDICT_TOO_BIG, 437, 1),
	      .input_rows = 16 } } },
	{ "flat, and nobody saw rows",
	  EFFECT_UNKNOWN,
	  32,
	  { .is_host = true },
	  { { RAN(8, 434, 1) },
	    { TRIAL(128, OWN_ACCUM, VERDICT_TOO_BIG, 434, 1) } } },
	{ "fewer rows than it was told, and more than a smaller size",
	  EFFECT_SHOWN,
	  0,
	  { .is_host = true },
	  { { RAN(8, 434, 1), .input_rows = 8 },
	    { TRIAL(128, OWN_ACCUM, VERDICT_TOO_BIG, 437, 1),
	      .input_rows = 10 } } },
	{ "too big after steps that made more passes",
	  EFFECT_SHOWN,
	  0,
	  { .is_host = true },
	  { { RAN(8, 434, 1), .input_rows = 8 },
	    { TRIAL(128, OWN_ACCUM, VERDICT_TOO_BIG, 437, 1), .input_rows = 8,
	      .seen_accum = 16 } } },

	/* Rows. */
	{ "rows of another size",
	  EFFECT_SHOWN,
	  0,
	  { 0 },
	  { { RAN(16, 100, 1), .input_rows = 16 } } },
	{ "rows of its own size only",
	  EFFECT_UNKNOWN,
	  64,
	  { 0 },
	  { { RAN(16, 100, 1), .input_rows = 8 } } },
	{ "rows over all ranks",
	  EFFECT_SHOWN,
	  0,
	  { .world_size = 4 },
	  { { RAN(16, 100, 1), .input_rows = 64 } } },
	{ "rows of all pieces, as many as were written",
	  EFFECT_SHOWN,
	  0,
	  { 0 },
	  { { RAN(16, 100, 1), .input_rows = 4, .seen_accum = 8 } } },
	{ "rows of all pieces, as many as of the own step",
	  EFFECT_UNKNOWN,
	  64,
	  { 0 },
	  { { ACCUM(16, 1, 1), .input_rows = 4, .seen_accum = 4 } } },
	{ "the same, and a loader was told the size",
	  EFFECT_SHOWN,
	  0,
	  { 0 },
	  { { ACCUM(16, 1, 1), .input_rows = 4, .seen_accum = 4,
	      .loader_rows = 16 } } },
	{ "the same rows by chance",
	  EFFECT_UNKNOWN,
	  32,
	  { 0 },
	  { { RAN(8, 100, 1), .input_rows = 16 },
	    { RAN(16, 100, 1), .input_rows = 16 } } },
	{ "the same rows and passes by chance, and a loader was told them",
	  EFFECT_NO_EFFECT,
	  0,
	  { 0 },
	  { { RAN(2, 100, 1), .input_rows = 32, .seen_accum = 2,
	      .loader_rows = 32 },
	    { RAN(32, 100, 1), .input_rows = 32, .seen_accum = 2,
	      .loader_rows = 32 },
	    { RAN(128, 100, 1), .input_rows = 32, .seen_accum = 2,
	      .loader_rows = 32 } } },
	{ "rows that rise, twice the size",
	  EFFECT_SHOWN,
	  0,
	  { 0 },
	  { { RAN(8, 100, 1), .input_rows = 24 },
	    { RAN(16, 100, 1), .input_rows = 48 } } },
	{ "rows that rise, nearly the same size",
	  EFFECT_SHOWN,
	  0,
	  { 0 },
	  { { RAN(8, 100, 1), .input_rows = 24 },
	    { RAN(10, 100, 1), .input_rows = 30 } } },
	{ "rows that end at the data",
	  EFFECT_SHOWN,
	  0,
	  { 0 },
	  { { RAN(8, 100, 1), .input_rows = 24 },
	    { RAN(512, 100, 1), .input_rows = 64 } } },
	{ "rows that vary",
	  EFFECT_UNKNOWN,
	  128,
	  { 0 },
	  { { RAN(8, 100, 1), .input_rows = 3012 },
	    { RAN(32, 100, 1), .input_rows = 3240 } } },
	{ "rows that fall",
	  EFFECT_UNKNOWN,
	  128,
	  { 0 },
	  { { RAN(8, 100, 1), .input_rows = 60 },
	    { RAN(32, 100, 1), .input_rows = 20 } } },
	{ "equal rows, another peak by chance",
	  EFFECT_UNKNOWN,
	  128,
	  { 0 },
	  { { RAN(8, 100, 1), .input_rows = 9 },
	    { RAN(32, 104, 1), .input_rows = 9 } } },
	{ "equal rows, clearly another peak",
	  EFFECT_SHOWN,
	  0,
	  { 0 },
	  { { RAN(8, 100, 1), .input_rows = 35 },
	    { RAN(32, 120, 1), .input_rows = 35 } } },
	{ "equal rows, clearly less peak",
	  EFFECT_UNKNOWN,
	  128,
	  { 0 },
	  { { RAN(8, 120, 1), .input_rows = 35 },
	    { RAN(32, 100, 1), .input_rows = 35 } } },
	{ "host memory: noise",
	  EFFECT_UNKNOWN,
	  128,
	  { .is_host = true },
	  { { RAN(8, 100, 1) }, { RAN(32, 104, 1) } } },
	{ "host memory: noise of a small program",
	  EFFECT_UNKNOWN,
	  128,
	  { .is_host = true },
	  { { RAN(8, 35, 1) }, { RAN(32, 38, 1) } } },
	{ "host memory: clearly more in a small program",
	  EFFECT_SHOWN,
	  0,
	  { .is_host = true },
	  { { RAN(8, 10, 1) }, { RAN(16, 12, 1) } } },
	{ "host memory: more samples in less of it",
	  EFFECT_UNKNOWN,
	  128,
	  { .is_host = true },
	  { { RAN(8, 120, 1) }, { RAN(32, 100, 1) } } },
	{ "host memory: clearly more",
	  EFFECT_SHOWN,
	  0,
	  { .is_host = true },
	  { { RAN(8, 100, 1) }, { RAN(32, 110, 1) } } },
	{ "host memory: at the limit by noise",
	  EFFECT_UNKNOWN,
	  128,
	  { .is_host = true },
	  { { RAN(8, 100, 1) }, { STOPPED(32, 102) } } },
	{ "equal rows, another time",
	  EFFECT_UNKNOWN,
	  128,
	  { 0 },
	  { { RAN(8, 100, 1), .input_rows = 35 },
	    { RAN(32, 100, 3), .input_rows = 35 } } },
	{ "equal rows and noise at three sizes",
	  EFFECT_NO_EFFECT,
	  0,
	  { 0 },
	  { { RAN(8, 100, 1), .input_rows = 35 },
	    { RAN(32, 104, 3), .input_rows = 35 },
	    { RAN(128, 98, 2), .input_rows = 35 } } },

	/* Echo. */
	{ "echo of the size",
	  EFFECT_SHOWN,
	  0,
	  { 0 },
	  { { RAN(16, 100, 1), .printed_sizes_micro = 16 } } },
	{ "echo over all ranks",
	  EFFECT_SHOWN,
	  0,
	  { .world_size = 2 },
	  { { RAN(16, 100, 1), .printed_sizes_micro = 32,
	      .printed_sizes_accum = 4 } } },
	{ "echo of its own size",
	  EFFECT_CONTRADICTED,
	  0,
	  { 0 },
	  { { RAN(8, 100, 1), .printed_sizes_micro = 8 },
	    { RAN(16, 200, 2), .printed_sizes_micro = 8, .input_rows = 16 } } },
	{ "another echo, with nothing written",
	  EFFECT_SHOWN,
	  0,
	  { 0 },
	  { { RAN(8, 100, 1), .printed_sizes_micro = 32 } } },
	{ "echo of another accumulation",
	  EFFECT_CONTRADICTED,
	  0,
	  { 0 },
	  { { RAN(16, 100, 1), .printed_sizes_micro = 16,
	      .printed_sizes_accum = 16 } } },
	{ "only accumulation was written",
	  EFFECT_CONTRADICTED,
	  0,
	  { 0 },
	  { { ACCUM(8, 1, 1), .printed_sizes_accum = 2 } } },
	{ "only accumulation was written, and taken",
	  EFFECT_SHOWN,
	  0,
	  { 0 },
	  { { ACCUM(8, 1, 1), .printed_sizes_accum = 1 } } },
	{ "another echo of the size that was not written",
	  EFFECT_SHOWN,
	  0,
	  { 0 },
	  { { ACCUM(8, 1, 1), .printed_sizes_micro = 32,
	      .printed_sizes_accum = 1 } } },
	{ "echo of a new effective batch",
	  EFFECT_SHOWN,
	  0,
	  { 0 },
	  { { RAN(32, 100, 1), .printed_sizes_effective = 64 } } },
	{ "echo of the effective batch that stays",
	  EFFECT_UNKNOWN,
	  16,
	  { 0 },
	  { { ACCUM(4, 4, 1), .printed_sizes_effective = 16 } } },
	{ "echo of another effective batch",
	  EFFECT_CONTRADICTED,
	  0,
	  { 0 },
	  { { RAN(32, 100, 1), .printed_sizes_effective = 16 } } },
	{ "echo of an effective batch of all ranks",
	  EFFECT_SHOWN,
	  0,
	  { .world_size = 2 },
	  { { RAN(32, 100, 1), .printed_sizes_effective = 128 } } },
	{ "echo of one that ran out of memory",
	  EFFECT_CONTRADICTED,
	  0,
	  { 0 },
	  { { MICRO(32, VERDICT_OOM_HOST), .printed_sizes_micro = 8 } } },

	/* Peaks and times. */
	{ "another peak",
	  EFFECT_SHOWN,
	  0,
	  { 0 },
	  { { RAN(8, 100, 1) }, { RAN(16, 102, 1) } } },
	{ "less peak",
	  EFFECT_SHOWN,
	  0,
	  { 0 },
	  { { RAN(8, 102, 1) }, { RAN(16, 100, 1) } } },
	{ "a peak within 1%",
	  EFFECT_UNKNOWN,
	  32,
	  { 0 },
	  { { RAN(8, 1000, 1) }, { RAN(16, 1009, 1) } } },
	{ "a peak over the limit, measured",
	  EFFECT_SHOWN,
	  0,
	  { 0 },
	  { { RAN(8, 100, 1) },
	    { TRIAL(16, OWN_ACCUM, VERDICT_OVER_BUDGET, 102, 1) } } },
	{ "the peak of one that fails",
	  EFFECT_UNKNOWN,
	  32,
	  { 0 },
	  { { RAN(8, 100, 1) },
	    { TRIAL(16, OWN_ACCUM, VERDICT_FAILED, 200, 1) } } },
	{ "a peak that a later trial takes back",
	  EFFECT_UNKNOWN,
	  32,
	  { 0 },
	  { { RAN(8, 100, 1) }, { RAN(16, 150, 1) }, { RAN(16, 100, 1) } } },
	{ "a disturbed trial takes nothing back",
	  EFFECT_SHOWN,
	  0,
	  { 0 },
	  { { RAN(8, 100, 1) },
	    { RAN(16, 150, 1) },
	    { TRIAL(16, OWN_ACCUM, VERDICT_DISTURBED, 100, 1) } } },
	{ "another time",
	  EFFECT_SHOWN,
	  0,
	  { 0 },
	  { { RAN(8, 100, 1) }, { RAN(16, 100, 1.2) } } },
	{ "a time within 5%",
	  EFFECT_UNKNOWN,
	  32,
	  { 0 },
	  { { RAN(8, 100, 1) }, { RAN(16, 100, 1.04) } } },
	{ "a time within what is seen",
	  EFFECT_UNKNOWN,
	  32,
	  { 0 },
	  { { RAN(8, 100, 0.01) }, { RAN(16, 100, 0.025) } } },
	{ "less time",
	  EFFECT_UNKNOWN,
	  32,
	  { 0 },
	  { { RAN(8, 100, 2) }, { RAN(16, 100, 1) } } },
	{ "half the accumulation, half the time",
	  EFFECT_UNKNOWN,
	  32,
	  { 0 },
	  { { RAN(8, 100, 2) }, { ACCUM(16, 1, 1) } } },
	{ "half the accumulation that is not taken",
	  EFFECT_UNKNOWN,
	  32,
	  { 0 },
	  { { RAN(8, 100, 2) }, { ACCUM(16, 1, 2) } } },
	{ "half the accumulation, and more time",
	  EFFECT_SHOWN,
	  0,
	  { 0 },
	  { { RAN(8, 100, 2) }, { ACCUM(64, 1, 8) } } },
	{ "more accumulation, and more time",
	  EFFECT_UNKNOWN,
	  32,
	  { 0 },
	  { { ACCUM(8, 1, 1) }, { RAN(16, 100, 2) } } },

	/* Verdicts. */
	{ "the larger one is out of memory",
	  EFFECT_SHOWN,
	  0,
	  { 0 },
	  { { RAN(8, 0, 0) }, { MICRO(16, VERDICT_OOM_DEVICE) } } },
	{ "the smaller one is out of memory",
	  EFFECT_UNKNOWN,
	  32,
	  { 0 },
	  { { RAN(16, 0, 0) }, { MICRO(8, VERDICT_OOM_HOST) } } },
	{ "both are out of memory",
	  EFFECT_UNKNOWN,
	  64,
	  { 0 },
	  { { MICRO(16, VERDICT_OOM_HOST) },
	    { MICRO(32, VERDICT_OOM_HOST) } } },
	{ "equal rows, over the limit by noise",
	  EFFECT_UNKNOWN,
	  32,
	  { 0 },
	  { { RAN(8, 1000, 1), .input_rows = 9 },
	    { TRIAL(16, OWN_ACCUM, VERDICT_OVER_BUDGET, 1030, 1),
	      .input_rows = 9 } } },
	{ "the larger one is stopped far above",
	  EFFECT_SHOWN,
	  0,
	  { 0 },
	  { { RAN(8, 100, 1) }, { STOPPED(16, 200) } } },
	{ "the larger one is stopped hardly above",
	  EFFECT_UNKNOWN,
	  32,
	  { 0 },
	  { { RAN(8, 1000, 1) }, { STOPPED(16, 1001) } } },
	{ "the larger one is too big for the data",
	  EFFECT_SHOWN,
	  0,
	  { 0 },
	  { { RAN(8, 100, 1) }, { MICRO(16, VERDICT_TOO_BIG) } } },
	{ "the larger one took too long",
	  EFFECT_UNKNOWN,
	  32,
	  { 0 },
	  { { RAN(8, 100, 1) }, { MICRO(16, VERDICT_TIMEOUT) } } },

	/* Flat: what is asked next, and the end. */
	{ "flat, one size",
	  EFFECT_UNKNOWN,
	  64,
	  { 0 },
	  { { RAN(16, 100, 1) } } },
	{ "flat, two sizes",
	  EFFECT_UNKNOWN,
	  128,
	  { 0 },
	  { { RAN(8, 100, 1) }, { RAN(32, 100, 1) } } },
	{ "flat, the outer two",
	  EFFECT_UNKNOWN,
	  32,
	  { 0 },
	  { { RAN(8, 100, 1) }, { RAN(128, 100, 1) } } },
	{ "flat, 1, 4 and 16 times",
	  EFFECT_NO_EFFECT,
	  0,
	  { 0 },
	  { { RAN(8, 100, 1) }, { RAN(32, 100, 1) }, { RAN(128, 100, 1) } } },
	{ "flat, in another order",
	  EFFECT_NO_EFFECT,
	  0,
	  { 0 },
	  { { RAN(128, 100, 1) }, { RAN(32, 100, 1) }, { RAN(8, 100, 1) } } },
	{ "flat, a wide range",
	  EFFECT_NO_EFFECT,
	  0,
	  { 0 },
	  { { RAN(8, 100, 1) }, { RAN(16, 100, 1) }, { RAN(256, 100, 1) } } },
	{ "flat, three in a narrow one",
	  EFFECT_UNKNOWN,
	  64,
	  { 0 },
	  { { RAN(16, 100, 1) },
	    { RAN(32, 100, 1) },
	    { RAN(8, 100, 1) },
	    { RAN(32, 100, 1) },
	    { MICRO(128, VERDICT_FAILED) },
	    { RAN(4, 100, 1) } } },
	{ "flat, times not known",
	  EFFECT_NO_EFFECT,
	  0,
	  { 0 },
	  { { RAN(8, 100, 0) }, { RAN(32, 100, 0) }, { RAN(128, 100, 0) } } },
	{ "flat, with a peak between them",
	  EFFECT_SHOWN,
	  0,
	  { 0 },
	  { { RAN(8, 100, 1) }, { RAN(32, 100, 1) }, { RAN(128, 150, 1) } } },
	{ "flat, no room for 16 times",
	  EFFECT_UNKNOWN,
	  2,
	  { .max_micro = 64 },
	  { { RAN(8, 100, 1) }, { RAN(32, 100, 1) } } },
	{ "flat, no room above",
	  EFFECT_UNKNOWN,
	  4,
	  { .max_micro = 31 },
	  { { RAN(16, 100, 1) } } },
	{ "flat, no room above, once more",
	  EFFECT_UNKNOWN,
	  1,
	  { .max_micro = 31 },
	  { { RAN(16, 100, 1) }, { RAN(4, 100, 1) } } },
	{ "flat, downwards",
	  EFFECT_NO_EFFECT,
	  0,
	  { .max_micro = 31 },
	  { { RAN(16, 100, 1) }, { RAN(4, 100, 1) }, { RAN(1, 100, 1) } } },
	{ "flat, no room at all",
	  EFFECT_UNKNOWN,
	  0,
	  { .max_micro = 3 },
	  { { RAN(2, 100, 1) }, { RAN(1, 100, 1) } } },
	{ "a disturbed size is asked again",
	  EFFECT_UNKNOWN,
	  32,
	  { 0 },
	  { { RAN(8, 100, 1) },
	    { RAN(16, 100, 1) },
	    { MICRO(32, VERDICT_DISTURBED) } } },
	{ "pools are no evidence",
	  EFFECT_UNKNOWN,
	  0,
	  { 0 },
	  { { RAN(8, 0, 1) }, { RAN(32, 0, 1) }, { RAN(128, 0, 1) } } },
	{ "pools, at first",
	  EFFECT_UNKNOWN,
	  32,
	  { 0 },
	  { { RAN(8, 0, 1) }, { RAN(16, 0, 1) } } },
	{ "pools, and another time",
	  EFFECT_SHOWN,
	  0,
	  { 0 },
	  { { RAN(8, 0, 1) }, { RAN(32, 0, 2) } } },
	{ "no size four times as large or as small",
	  EFFECT_UNKNOWN,
	  1,
	  { .max_micro = 3 },
	  { { RAN(2, 100, 1) } } },
	{ "nor any other",
	  EFFECT_UNKNOWN,
	  0,
	  { .max_micro = 3 },
	  { { RAN(1, 100, 1) } } },
	{ "sizes out of this world",
	  EFFECT_UNKNOWN,
	  1,
	  { .world_size = INT64_MAX },
	  { { RAN(INT64_MAX / 2, 100, 1) } } },
};

static struct effect_check_facts
facts_of(const struct effect_check_facts *given)
{
	struct effect_check_facts facts = *given;

	if (!facts.own_micro)
		facts.own_micro = 8;
	if (facts.own_micro < 0)
		facts.own_micro = 0;
	facts.own_accum = OWN_ACCUM;
	if (!facts.world_size)
		facts.world_size = 1;
	if (!facts.max_micro)
		facts.max_micro = 4096;
	return facts;
}

static size_t trials_in(const struct trial *trials)
{
	size_t count = 0;

	while (count < TRIALS_MAX && trials[count].micro_batch)
		count++;
	return count;
}

static void every_row_is_judged(void **state)
{
	size_t wrong = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct effect_check_facts facts = facts_of(&rows[i].facts);
		size_t count = trials_in(rows[i].trials);
		struct effect_check check =
			effect_check_judge(&facts, rows[i].trials, count);

		if (check.state == rows[i].state &&
		    check.next_micro == rows[i].next &&
		    (check.witness != NULL) ==
			    (rows[i].state == EFFECT_CONTRADICTED))
			continue;
		print_error("%s: state %d, next %" PRId64 "\n", rows[i].name,
			    (int)check.state, check.next_micro);
		wrong++;
	}
	assert_int_equal(wrong, 0);
}

/* Whatever comes out of its own questions, they end, and soon. */
static void questions_end(void **state)
{
	(void)state;
	for (int64_t own = 1; own <= 4096; own *= 2)
		for (int64_t most = own; most <= 8192; most *= 2)
			for (uint64_t peak = 0; peak < 2; peak++) {
				const struct effect_check_facts facts = {
					.own_accum = OWN_ACCUM,
					.world_size = 1,
					.max_micro = most,
				};
				struct trial trials[8] = { { RAN(own, peak,
								 1) } };
				struct effect_check check;
				size_t count = 1;

				check = effect_check_judge(&facts, trials,
							   count);
				while (check.next_micro && count < 8) {
					assert_true(check.next_micro <= most);
					trials[count++] = (struct trial){ RAN(
						check.next_micro, peak, 1) };
					check = effect_check_judge(
						&facts, trials, count);
				}
				assert_int_equal(check.next_micro, 0);
				assert_true(count <= 5);
				if (peak && (own * 16 <= most || own >= 16 ||
					     (own >= 4 && own * 4 <= most)))
					assert_int_equal(check.state,
							 EFFECT_NO_EFFECT);
			}
}

static const struct {
	const char *name;
	const char *option;
	struct trial trials[TRIALS_MAX];
	const char *words;
} words[] = {
	{ "no effect",
	  "--batch-size",
	  { { RAN(8, 100, 1) }, { RAN(32, 100, 1) }, { RAN(128, 100, 1) } },
	  "--batch-size: the flag had no effect: 8, 32 and 128 took the same "
	  "memory and time; a config file or another option may set it; name "
	  "that one with --micro-flag NAME, or write {micro} where the number "
	  "belongs" },
	{ "rows",
	  "-b",
	  { { RAN(8, 100, 1), .input_rows = 9 },
	    { RAN(8, 100, 1), .input_rows = 9 },
	    { RAN(32, 100, 1), .input_rows = 9 },
	    { RAN(128, 100, 1), .input_rows = 9 } },
	  "-b: the flag had no effect: 8, 32 and 128 took the same memory and "
	  "time, with a batch of 9 each time; a config" },
	{ "without a step",
	  "-b",
	  { { MICRO(8, VERDICT_FITS), .peak_bytes = 100 * MIB },
	    { MICRO(32, VERDICT_FITS), .peak_bytes = 100 * MIB },
	    { MICRO(128, VERDICT_FITS), .peak_bytes = 100 * MIB } },
	  "-b: the flag had no effect: 8, 32 and 128 took the same memory and "
	  "time, and no step was seen (does it train at all?); a config" },
	{ "no effect on steps of the output",
	  "-b",
	  { { BY_OUTPUT(8, 100, 1) },
	    { BY_OUTPUT(32, 100, 1) },
	    { BY_OUTPUT(128, 100, 1) } },
	  "took the same memory and time; steps were read from the output, and "
	  "may be those of what comes before the training: --probe-steps N "
	  "watches for longer; a config" },
	{ "not known",
	  NULL,
	  { { RAN(16, 0, 1) } },
	  "nothing showed that the micro-batch takes effect, with size 16 "
	  "alone, which nothing that may be tried can be compared with; a "
	  "config" },
	{ "not known of two",
	  NULL,
	  { { RAN(16, 0, 1) }, { RAN(64, 0, 1) } },
	  "nothing showed that the micro-batch takes effect, with size 16 and "
	  "64: neither memory nor step time differed; a config" },
	{ "echo of the micro-batch",
	  "bs",
	  { { RAN(16, 100, 1), .printed_sizes_micro = 4 } },
	  "bs 16 with accumulation 2 was written, but the program itself names "
	  "micro-batch 4: a config" },
	{ "echo of the accumulation",
	  "bs",
	  { { RAN(16, 100, 1), .printed_sizes_micro = 16,
	      .printed_sizes_accum = 4 } },
	  "the program itself names accumulation 4: " },
	{ "echo of the effective batch",
	  "bs",
	  { { RAN(16, 100, 1), .printed_sizes_micro = 16,
	      .printed_sizes_effective = 16 } },
	  "the program itself names effective batch 16: " },
	{ "nothing to say", "bs", { { RAN(8, 100, 1) } }, "" },
};

static void words_name_what_was_seen(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		struct effect_check_facts facts = facts_of(&rows[0].facts);
		size_t count = trials_in(words[i].trials);
		struct effect_check check =
			effect_check_judge(&facts, words[i].trials, count);
		struct strbuf text = STRBUF_INIT;

		effect_check_words(&check, words[i].trials, count,
				   words[i].option, &text);
		if (!strstr(strbuf_text(&text), words[i].words) ||
		    (text.length > 0) != (*words[i].words != '\0') ||
		    strchr(strbuf_text(&text), '\n'))
			fail_msg("%s: %s", words[i].name, strbuf_text(&text));
		strbuf_release(&text);
	}
}

static void many_sizes_are_not_all_named(void **state)
{
	struct effect_check check = { .state = EFFECT_NO_EFFECT };
	struct strbuf text = STRBUF_INIT;
	struct trial trials[40];

	(void)state;
	for (size_t i = 0; i < 40; i++)
		trials[i] = (struct trial){ RAN((int64_t)(40 - i), 100, 1) };
	effect_check_words(&check, trials, 40, "bs", &text);
	assert_non_null(strstr(strbuf_text(&text),
			       ": 1, 2, 3, 4, 5, 6, ... and 40 took"));
	strbuf_release(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_row_is_judged),
		cmocka_unit_test(questions_end),
		cmocka_unit_test(words_name_what_was_seen),
		cmocka_unit_test(many_sizes_are_not_all_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
