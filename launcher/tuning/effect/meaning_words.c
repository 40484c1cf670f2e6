/* What was read and what was seen, in words, with the way out. Pure. */
/* SPDX-License-Identifier: MIT */
#include "launcher/tuning/effect/meaning.h"

#include "launcher/tuning/effect/number_by_value.h"

#include <inttypes.h>

/* One pass may be that of a model that trains before. */
static void add_uncounted(struct strbuf *out, const char *accum, int64_t passes)
{
	strbuf_addf(out,
		    "%s does not count them: name the option that "
		    "does with --accum-flag NAME, or write "
		    "{accum:%" PRId64 "} where that number belongs",
		    accum ? accum : "the accumulation", passes);
	if (accum && passes == 1)
		strbuf_adds(out, "; if these were steps before the training, "
				 "such as a search for the learning rate, "
				 "leave them out of probes with --probe-arg; "
				 "if one backward pass takes the losses of all "
				 "micro-steps, each step holds the memory of "
				 "all, and no split saves any");
}

/* The whole batch of a step: what was read as the micro-batch, or a number that
 * is as large. */
static void add_whole(struct strbuf *out, const struct seen_meaning *seen,
		      const char *micro)
{
	if (seen->accum_guess == GUESS_MADE && !seen->accum_flag[0])
		strbuf_addf(out,
			    "%s is as many as the rows of all passes, and may "
			    "be the batch of a step (--global-flag %s)",
			    seen->global_flag, seen->global_flag);
	else
		strbuf_addf(out,
			    "%s is the whole batch of a step "
			    "(--global-flag %s%s%s%s%s)",
			    micro, micro,
			    seen->accum_flag[0] ? " --accum-flag " : "",
			    seen->accum_flag,
			    seen->micro_flag[0] ? " --micro-flag " : "",
			    seen->micro_flag);
}

static void add_defaults(struct strbuf *out, const struct knob *knobs,
			 const struct seen_meaning *seen)
{
	bool are_as_read = (!seen->micro_default ||
			    knobs[KNOB_MICRO].as_read == seen->micro_default) &&
			   (!seen->accum_default ||
			    knobs[KNOB_ACCUM].as_read == seen->accum_default);

	strbuf_adds(out,
		    are_as_read ? "what is given makes more or less than it "
				  "says, as do the defaults, which are as they "
				  "were read first"
				: "the program has other defaults");
}

/* "--batch-size counts over all ranks: --micro-scope global" */
static void add_settlement(struct strbuf *out, const struct command *command,
			   const struct seen_meaning *seen, int64_t passes)
{
	const struct knob *knobs = command->knobs;
	const char *micro = knobs[KNOB_MICRO].name;
	const char *accum = knobs[KNOB_ACCUM].name;

	if (seen->micro_is_global)
		strbuf_addf(out,
			    "%s counts over all ranks (--micro-scope "
			    "global)",
			    micro);
	else if (seen->micro_is_rank)
		strbuf_addf(out, "%s counts per rank (--micro-scope rank)",
			    micro);
	else if (seen->global_flag[0])
		add_whole(out, seen, micro);
	else if (seen->accum_is_total)
		strbuf_addf(out,
			    "%s counts over all ranks (--accum-scope "
			    "total)",
			    accum);
	else if (seen->accum_is_rank)
		strbuf_addf(out, "%s counts per rank (--accum-scope rank)",
			    accum);
	else if (seen->accum_guess == GUESS_MADE)
		strbuf_addf(out,
			    "%s is %" PRId64
			    ", too, and may count the passes (--accum-flag "
			    "%s)",
			    seen->accum_flag, passes, seen->accum_flag);
	else if (seen->micro_guess == GUESS_FAILED)
		strbuf_addf(out, "%s does not set the rows of a pass", micro);
	else if (seen->accum_guess == GUESS_FAILED)
		strbuf_addf(out, "%s does not count the passes",
			    accum ? accum : knobs[KNOB_GLOBAL].name);
	else if (seen->accum_flag[0])
		strbuf_addf(out, "%s counts the passes (--accum-flag %s)",
			    seen->accum_flag, seen->accum_flag);
	else if (seen->ranks)
		strbuf_addf(out, "it trains with %" PRId64 " %s", seen->ranks,
			    seen->ranks == 1 ? "rank" : "ranks");
	else if (seen->micro_default || seen->accum_default)
		add_defaults(out, knobs, seen);
	else
		add_uncounted(out, accum, passes);
}

static const char *name_or(const struct knob *knob, const char *words)
{
	return knob->name ? knob->name : words;
}

/* The numbers that were seen stand somewhere, or are parts of what was read. */
static void add_rows_settlement(struct strbuf *out, const struct knob *micro,
				const struct trial *trial)
{
	strbuf_addf(out,
		    "%s is not the rows of a pass: name the option "
		    "that is with --micro-flag NAME, or write "
		    "{micro:%" PRId64 "} where that number belongs",
		    name_or(micro, "the batch size"), trial->input_rows);
}

static void add_marked_settlement(struct strbuf *out, const struct knob *micro,
				  const struct batch *written)
{
	strbuf_addf(out,
		    "all passes of a step take %" PRId64
		    ": if these are the whole batch, write that number "
		    "in place of %s and name its option with "
		    "--global-flag NAME",
		    written->micro_batch, name_or(micro, "{micro}"));
}

static void add_whole_settlement(struct strbuf *out,
				 const struct command *command,
				 const struct trial *trial)
{
	strbuf_addf(out,
		    "these are fewer rows than %s says of a step, so that it "
		    "is not the whole batch: write {micro:%" PRId64
		    "} and {accum:%" PRId64 "} where the numbers belong",
		    name_or(&command->knobs[KNOB_GLOBAL], "the global batch"),
		    trial->input_rows, trial->seen_accum);
	if (command->knobs[KNOB_MICRO].form == KNOB_ABSENT)
		strbuf_adds(out, "; where a pass takes a part of it, give "
				 "--micro-scope rank and no --global-flag");
}

/* names: the numbers that are the rows, and may be the batch size. */
static void add_several(struct strbuf *out, const struct command *command,
			const struct trial *trial, const char *names)
{
	struct strbuf others = STRBUF_INIT;
	int64_t columns = trial->input_columns;

	strbuf_addf(out, " (a pass takes %" PRId64 " rows, the value of %s",
		    trial->input_rows, names);
	if (columns > 1 && columns != trial->input_rows &&
	    numbers_of_value_add(&others, command, columns))
		strbuf_addf(
			out,
			"; but the second dimension of its input is %" PRId64
			", the value of %s, and may be the batch",
			columns, strbuf_text(&others));
	strbuf_addch(out, ')');
	strbuf_release(&others);
}

/* Nothing was read; what was seen says which number it is, or does not. */
static void add_open_settlement(struct strbuf *out,
				const struct command *command,
				const struct seen_meaning *seen,
				const struct trial *trial)
{
	struct strbuf names = STRBUF_INIT;

	if (seen->micro_flag[0]) {
		strbuf_addf(out,
			    "a pass takes %" PRId64
			    " rows, and %s is that number: it may be the batch "
			    "size (--micro-flag %s)",
			    trial->input_rows, seen->micro_flag,
			    seen->micro_flag);
		if (seen->accum_flag[0])
			strbuf_addf(out,
				    "; %" PRId64
				    " passes make a step, as %s says, which "
				    "may count them (--accum-flag %s)",
				    trial->seen_accum, seen->accum_flag,
				    seen->accum_flag);
		return;
	}
	if (seen->accum_flag[0]) {
		strbuf_addf(out,
			    "%" PRId64 " passes of %" PRId64
			    " rows make the whole batch of a step, and %s is "
			    "the number of these (--accum-flag %s)",
			    trial->seen_accum, trial->input_rows,
			    seen->accum_flag, seen->accum_flag);
		return;
	}
	strbuf_adds(out, command->open_words);
	if (!trial->input_rows)
		strbuf_addf(out, " (a run of it as it is %s)",
			    trial_fits(trial)
				    ? "does not show how many rows a pass takes"
				    : "ran out of memory");
	else if (trial->loader_rows && trial->loader_rows != trial->input_rows)
		strbuf_addf(out,
			    " (a pass takes %" PRId64
			    " rows, and its loader gives %" PRId64 ")",
			    trial->input_rows, trial->loader_rows);
	else if (numbers_of_value_add(&names, command, trial->input_rows))
		add_several(out, command, trial, strbuf_text(&names));
	else
		strbuf_addf(out,
			    " (a pass takes %" PRId64
			    " %s, and no named number of the command has that "
			    "value)",
			    trial->input_rows,
			    trial->input_rows == 1 ? "row" : "rows");
	strbuf_release(&names);
}

void meaning_add_words(struct strbuf *out, const struct command *command,
		       const struct size_meaning *meaning,
		       const struct batch *written, const struct trial *trial)
{
	const struct knob *micro = &command->knobs[KNOB_MICRO];

	if (meaning->seen.config_file[0]) {
		strbuf_addf(out,
			    "a pass takes %" PRId64
			    " rows, and %s, which the command opens, names a "
			    "batch size of as many",
			    trial->input_rows, meaning->seen.config_file);
		return;
	}
	if (command_rows_are_open(command)) {
		add_open_settlement(out, command, &meaning->seen, trial);
		return;
	}
	strbuf_addf(out,
		    "read as micro-batch %" PRId64 " x accumulation %" PRId64
		    " x %" PRId64 " %s, ",
		    written->micro_batch, written->grad_accum,
		    written->world_size,
		    written->world_size == 1 ? "rank" : "ranks");
	if (trial_fits(trial)) {
		strbuf_adds(out, "seen ");
		trial_seen_format(trial, out);
	} else {
		strbuf_adds(out, "which fails");
	}
	strbuf_adds(out, ": ");
	switch (meaning->nonsense) {
	case NONSENSE_WHOLE:
		add_whole_settlement(out, command, trial);
		return;
	case NONSENSE_ROWS:
		add_rows_settlement(out, micro, trial);
		break;
	case NONSENSE_MARKED:
		add_marked_settlement(out, micro, written);
		break;
	case NONSENSE_OTHER:
		add_settlement(out, command, &meaning->seen, trial->seen_accum);
		return;
	}
	strbuf_adds(out, "; where a pass takes a part of it, add "
			 "--micro-scope rank");
}
