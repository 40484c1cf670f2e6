/* What a phantom card saw, in words. Pure. */
/* SPDX-License-Identifier: MIT */
#include "launcher/phantom/phantom_report.h"

#include "base/alloc.h"
#include "base/units.h"
#include "launcher/command/text/text.h"
#include "launcher/options/exitcode.h"

#include <inttypes.h>
#include <stdlib.h>

/* "2 phantom Tesla T4": never a card without that word. */
static void add_cards(struct strbuf *out, const struct options_target *target)
{
	char text[BYTES_TEXT_MAX];

	if (target->card_count > 1)
		strbuf_addf(out, "%d ", target->card_count);
	strbuf_addf(out, "phantom %s (%s)", target->card.name,
		    bytes_format(text, target->card.usable_bytes));
}

char *phantom_report_doubt(const struct phantom_seen *seen)
{
	static const struct {
		enum sim_note_kind kind;
		const char *words;
	} rows[] = {
		{ SIM_NOTE_DATA_SIZE, "sizes depend on values, which are zeros "
				      "on a phantom (kernel " },
		{ SIM_NOTE_VALUE, "what the program does may depend on values, "
				  "which are zeros on a phantom (" },
		{ SIM_NOTE_UNSEEN, "the program reads values, which are zeros "
				   "on a phantom, and what for cannot be "
				   "seen (" },
	};
	const struct sim_note *note = NULL;
	struct strbuf out = STRBUF_INIT;

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		note = &seen->notes[rows[i].kind];
		if (!note->count)
			continue;
		strbuf_adds(&out, rows[i].words);
		if (rows[i].kind == SIM_NOTE_UNSEEN)
			strbuf_addf(&out, "%" PRIu64 " reads", note->count);
		else
			text_add_safe(&out, note->text, true);
		strbuf_addch(&out, ')');
		return strbuf_detach(&out);
	}
	return NULL;
}

const char *phantom_report_more(const struct phantom_seen *seen)
{
	return seen->notes[SIM_NOTE_CONVOLUTION].count
		       ? "the workspaces of its convolutions are not counted: "
			 "a real card needs more than this, and how much "
			 "depends on card and shapes"
		       : NULL;
}

char *phantom_report_refusal(const struct phantom_seen *seen, bool failed)
{
	const struct sim_note *ended = &seen->notes[SIM_NOTE_REFUSED];
	struct strbuf out = STRBUF_INIT;

	if (ended->count) {
		text_add_safe(&out, ended->text, true);
		strbuf_adds(&out, ": only a real card can tell");
		return strbuf_detach(&out);
	}
	if (seen->notes[SIM_NOTE_FOREIGN].count && failed)
		return xstrdup("the command carries a CUDA runtime of NVIDIA's "
			       "inside, which runs on NVIDIA's driver only: a "
			       "phantom card is for programs that load "
			       "libcudart, as the CUDA build of PyTorch does");
	if (seen->usage_count)
		return NULL;
	strbuf_addf(&out,
		    "the command did not use the phantom card%s: that takes a "
		    "CUDA build of PyTorch (for CUDA 12 or 13), which finds "
		    "the card "
		    "as any other",
		    failed ? " before it failed" : "");
	return strbuf_detach(&out);
}

static void add_usage(struct strbuf *out, const struct sim_usage *usage)
{
	char peak[BYTES_TEXT_MAX];
	char own[BYTES_TEXT_MAX];
	char context[BYTES_TEXT_MAX];
	uint64_t allocations =
		usage->peak_bytes > usage->context_bytes
			? usage->peak_bytes - usage->context_bytes
			: 0;

	if (usage->rank >= 0)
		strbuf_addf(out, "  rank %-5d", usage->rank);
	else
		strbuf_addf(out, "  process   ");
	strbuf_addf(out,
		    "GPU %u  peak %s (%" PRIu64 " bytes) = %s of allocations "
		    "(PyTorch: reserved) + %s taken for its context\n",
		    usage->device, bytes_format(peak, usage->peak_bytes),
		    usage->peak_bytes, bytes_format(own, allocations),
		    bytes_format(context, usage->context_bytes));
}

/* A refusal is no end: a framework frees what it keeps, and asks again. */
static void add_refusals(struct strbuf *out, const struct sim_usage *usage,
			 int code)
{
	char text[BYTES_TEXT_MAX];

	if (!usage->refusals)
		return;
	(void)bytes_format(text, usage->refused_bytes);
	if (code)
		strbuf_addf(out,
			    "  memory    ran out: the last of %" PRIu64
			    " refused allocations asked for %s\n",
			    usage->refusals, text);
	else
		strbuf_addf(out,
			    "  memory    %" PRIu64 " allocations were refused, "
			    "and it went on: barely enough\n",
			    usage->refusals);
}

void phantom_report(struct strbuf *out, const struct options_target *target,
		    const struct phantom_seen *seen, int code)
{
	char *doubt = phantom_report_doubt(seen);

	strbuf_adds(out, "autofit: on ");
	add_cards(out, target);
	strbuf_adds(out, ": by real allocations, not run on the card\n");
	for (size_t i = 0; i < seen->usage_count; i++) {
		add_usage(out, &seen->usages[i]);
		add_refusals(out, &seen->usages[i], code);
	}
	if (seen->notes[SIM_NOTE_READ].count)
		strbuf_addf(out,
			    "  values    %" PRIu64 " reads from the card gave "
			    "zeros\n",
			    seen->notes[SIM_NOTE_READ].count);
	if (phantom_report_more(seen))
		strbuf_addf(out, "  more      %s\n", phantom_report_more(seen));
	if (doubt)
		strbuf_addf(out,
			    "  at least  %s: a real card needs at least this\n",
			    doubt);
	if (code)
		strbuf_addf(out, "  command   failed, exit code %d\n", code);
	free(doubt);
}

static uint64_t highest(const struct phantom_seen *seen)
{
	uint64_t most = 0;

	for (size_t i = 0; i < seen->usage_count; i++)
		most = bytes_max(most, seen->usages[i].peak_bytes);
	return most;
}

int phantom_report_code(const struct options_target *target,
			const struct phantom_seen *seen, int code)
{
	uint64_t limit = target->limit_bytes;
	char *refusal = phantom_report_refusal(seen, code != 0);
	char *doubt = phantom_report_doubt(seen);
	bool is_above = limit && highest(seen) > limit;
	bool is_guess = limit && !is_above && doubt;
	int result = is_above ? EXIT_NOTHING_FITS : EXIT_DONE;

	if (code)
		result = code;
	if (refusal || (!code && is_guess))
		result = EXIT_REFUSED;
	free(refusal);
	free(doubt);
	return result;
}
