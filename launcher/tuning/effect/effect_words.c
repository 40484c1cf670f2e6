/* What is told of sizes that were not seen to take effect. Pure. */
/* SPDX-License-Identifier: MIT */
#include "launcher/tuning/effect/effect_check.h"

#include <inttypes.h>

#define SIZES_NAMED 6
#define WAY_OUT                                                                \
	"a config file or another option may set it; name that one with "      \
	"--micro-flag NAME, or write {micro} where the number belongs"

/* The smallest size above this one; 0: none. */
static int64_t size_above(const struct trial *trials, size_t count,
			  int64_t below)
{
	int64_t next = 0;

	for (size_t i = 0; i < count; i++)
		if (trial_has_verdict(&trials[i]) &&
		    trials[i].micro_batch > below &&
		    (!next || trials[i].micro_batch < next))
			next = trials[i].micro_batch;
	return next;
}

/* "8, 32 and 128"; of many the first few and the last. */
static void add_tried_sizes(struct strbuf *out, const struct trial *trials,
			    size_t count)
{
	int64_t size = size_above(trials, count, 0);
	int64_t next = size_above(trials, count, size);
	size_t named = 0;

	for (; next; next = size_above(trials, count, size)) {
		if (named < SIZES_NAMED)
			strbuf_addf(out, "%s%" PRId64, named ? ", " : "", size);
		named++;
		size = next;
	}
	strbuf_addf(out, "%s%s%" PRId64, named > SIZES_NAMED ? ", ..." : "",
		    named ? " and " : "", size);
}

/* The rows that all of them saw; 0: they did not, or differ. */
static int64_t common_rows(const struct trial *trials, size_t count)
{
	int64_t rows = 0;

	for (size_t i = 0; i < count; i++) {
		if (!trial_has_verdict(&trials[i]))
			continue;
		if (!trials[i].input_rows ||
		    (rows && trials[i].input_rows != rows))
			return 0;
		rows = trials[i].input_rows;
	}
	return rows;
}

/* Steps that the output alone tells may be those of what prepares the data. */
static void add_way_out(struct strbuf *out, const struct trial *trials,
			size_t count)
{
	bool by_output = false;

	for (size_t i = 0; i < count; i++)
		by_output |= effect_check_rests_on_output(&trials[i]);
	if (by_output)
		strbuf_adds(out,
			    "; steps were read from the output, and may be "
			    "those of what comes before the training: "
			    "--probe-steps N watches for longer");
	strbuf_adds(out, "; " WAY_OUT);
}

static void add_stepless(struct strbuf *out, const struct trial *trials,
			 size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (trials[i].steps || trials[i].steps_source == STEPS_TIME)
			return;
	strbuf_adds(out, ", and no step was seen (does it train at all?)");
}

static void add_no_effect(struct strbuf *out, const struct trial *trials,
			  size_t count, const char *option)
{
	int64_t rows = common_rows(trials, count);

	strbuf_addf(out, "%s: the flag had no effect: ", option);
	add_tried_sizes(out, trials, count);
	strbuf_adds(out, " took the same memory and time");
	if (rows)
		strbuf_addf(out, ", with a batch of %" PRId64 " each time",
			    rows);
	add_stepless(out, trials, count);
	add_way_out(out, trials, count);
}

static void add_contradiction(struct strbuf *out, const struct trial *trial,
			      const char *option)
{
	strbuf_addf(out,
		    "%s %" PRId64 " with accumulation %" PRId64
		    " was written, but the program itself names ",
		    option, trial->micro_batch, trial->grad_accum);
	if (trial->printed_sizes_micro &&
	    trial->printed_sizes_micro != trial->micro_batch)
		strbuf_addf(out, "micro-batch %" PRId64,
			    trial->printed_sizes_micro);
	else if (trial->printed_sizes_accum &&
		 trial->printed_sizes_accum != trial->grad_accum)
		strbuf_addf(out, "accumulation %" PRId64,
			    trial->printed_sizes_accum);
	else
		strbuf_addf(out, "effective batch %" PRId64,
			    trial->printed_sizes_effective);
	strbuf_adds(out, ": " WAY_OUT);
}

void effect_check_words(const struct effect_check *check,
			const struct trial *trials, size_t count,
			const char *option, struct strbuf *out)
{
	const char *name = option ? option : "the micro-batch";

	switch (check->state) {
	case EFFECT_NO_EFFECT:
		add_no_effect(out, trials, count, name);
		break;
	case EFFECT_CONTRADICTED:
		add_contradiction(out, check->witness, name);
		break;
	case EFFECT_UNKNOWN:
		strbuf_addf(out,
			    "nothing showed that %s takes effect, with size ",
			    name);
		add_tried_sizes(out, trials, count);
		if (size_above(trials, count, size_above(trials, count, 0)))
			strbuf_adds(out,
				    ": neither memory nor step time differed");
		else
			strbuf_adds(out, " alone, which nothing that may be "
					 "tried can be compared with");
		add_stepless(out, trials, count);
		add_way_out(out, trials, count);
		break;
	case EFFECT_SHOWN:
		break;
	}
}
