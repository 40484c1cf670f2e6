/* The text of `autofit estimate`. */
/* SPDX-License-Identifier: MIT */
#include "launcher/estimate/estimate_text.h"

#include "base/units.h"
#include "launcher/command/text/text.h"
#include "launcher/estimate/estimate_usage.h"
#include "launcher/estimate/estimate_views.h"
#include "launcher/options/options_estimate.h"
#include "launcher/report/report_style.h"

#include <stdio.h>
#include <string.h>

#define LABEL 10
#define BAR_MOST 32
#define BAR_LEAST 16
/* What stands before the picture, and around it. */
#define BESIDE_BAR 50
/* The widest name of a tier, and two blanks; what stands behind it. */
#define TIER_LEAST 11
#define BEHIND_TIER 41

/* "8,030,261,248" */
static void add_grouped(struct strbuf *out, int64_t number)
{
	char digits[32];
	int length =
		snprintf(digits, sizeof(digits), "%lld", (long long)number);

	for (int i = 0; i < length; i++) {
		if (i > 0 && (length - i) % 3 == 0)
			strbuf_addch(out, ',');
		strbuf_addch(out, digits[i]);
	}
}

/* "  run       words", broken where the label's column ends. */
static void estimate_text_add_line(struct strbuf *out, const char *label,
				   const char *words)
{
	struct strbuf line = STRBUF_INIT;
	struct strbuf safe = STRBUF_INIT;

	text_add_safe(&safe, words, false);
	strbuf_addf(&line, "  %-*s%s", LABEL, label, strbuf_text(&safe));
	text_add_wrapped(out, strbuf_text(&line), LABEL + 2,
			 report_width() - 1);
	strbuf_addch(out, '\n');
	strbuf_release(&safe);
	strbuf_release(&line);
}

static void add_method(struct strbuf *out, const struct workload *run,
		       const struct estimate *estimate)
{
	bool is_quantised = run->weights != WEIGHTS_AS_COMPUTED;

	if (run->task == TASK_INFERENCE)
		strbuf_adds(out, "generation");
	else if (run->peft == PEFT_NONE)
		strbuf_addf(out, "%s of all parameters",
			    run->task == TASK_TRAIN ? "training"
						    : task_words[run->task]);
	else
		strbuf_addf(out, "%s of rank %lld, ", peft_words[run->peft],
			    (long long)run->rank);
	if (run->task != TASK_INFERENCE && run->peft != PEFT_NONE) {
		add_grouped(out, estimate->trainable);
		strbuf_adds(out, " parameters trained");
	}
	if (is_quantised)
		strbuf_addf(out, ", weights in %s",
			    weights_words[run->weights]);
	strbuf_addf(out, ", %s", regime_words[run->regime]);
}

static void add_training(struct strbuf *out, const struct workload *run)
{
	strbuf_addf(out, ", %s, checkpointing %s",
		    run->optimizer ? run->optimizer->name : "adamw",
		    checkpointing_words[run->checkpointing]);
	if (run->loss != LOSS_DEFAULT)
		strbuf_addf(out, ", loss %s", loss_words[run->loss]);
	if (run->grad_accum > 1)
		strbuf_addf(out, ", accumulation %lld",
			    (long long)run->grad_accum);
	if (run->offload != OFFLOAD_NONE)
		strbuf_addf(out, ", offload %s", offload_words[run->offload]);
}

/* "full training, bf16, adamw, batch 4 x 2048 tokens, checkpointing full" */
static void add_run_words(struct strbuf *out, const struct estimate_case *all,
			  const struct estimate *estimate)
{
	const struct workload *run = &all->run;

	add_method(out, run, estimate);
	if (all->model.family == MODEL_COUNTED ||
	    all->model.family == MODEL_CONV)
		strbuf_addf(out, ", batch %lld of %lld x %lld pixels",
			    (long long)run->micro_batch,
			    (long long)all->model.image,
			    (long long)all->model.image);
	else
		strbuf_addf(out, ", batch %lld x %lld tokens, %s attention",
			    (long long)run->micro_batch,
			    (long long)run->sequence,
			    attention_words[run->attention]);
	if (run->task != TASK_INFERENCE)
		add_training(out, run);
	if (all->gpu_count > 1)
		strbuf_addf(out, ", %lld GPUs, sharding %s",
			    (long long)all->gpu_count,
			    sharding_words[run->sharding]);
	if (run->resident_count)
		strbuf_addf(out, ", %zu other model%s beside it",
			    run->resident_count,
			    run->resident_count > 1 ? "s" : "");
}

static void estimate_text_add_list(struct strbuf *out, const char *label,
				   const struct strlist *list)
{
	struct strbuf words = STRBUF_INIT;

	for (size_t i = 0; i < list->count; i++)
		strbuf_addf(&words, "%s%s", i ? "; " : "", list->items[i]);
	if (list->count)
		estimate_text_add_line(out, label, strbuf_text(&words));
	strbuf_release(&words);
}

void estimate_text_case(struct strbuf *out, const struct estimate_case *all,
			const struct estimate *estimate)
{
	struct strbuf words = STRBUF_INIT;

	strbuf_addf(&words,
		    "%s: ", all->model.name[0] ? all->model.name : "a model");
	add_grouped(&words, estimate->parameters);
	strbuf_addf(&words, " parameters, %s (%s)",
		    model_family_name(all->model.family), all->source);
	estimate_text_add_line(out, "model", strbuf_text(&words));
	strbuf_reset(&words);
	add_run_words(&words, all, estimate);
	estimate_text_add_line(out, "run", strbuf_text(&words));
	estimate_text_add_list(out, "assumed", &all->assumed);
	estimate_text_add_list(out, "not read", &all->notes);
	strbuf_release(&words);
}

/* Marks of the picture in a line that is so wide; 0: there is no room. */
static int bar_room(size_t columns)
{
	size_t room = columns > BESIDE_BAR ? columns - BESIDE_BAR : 0;

	if (room < BAR_LEAST)
		return 0;
	return room < BAR_MOST ? (int)room : BAR_MOST;
}

/* A picture of all parts: its marks, and the bytes of them all. */
struct parts_picture {
	int marks;
	int64_t whole;
};

/* Where a part begins and ends in the picture, in marks. */
static int mark_of(const struct parts_picture *picture, int64_t bytes)
{
	double share = (double)bytes / (double)picture->whole;

	return picture->whole > 0 ? (int)(share * picture->marks + 0.5) : 0;
}

/* Parts one after the other, as they fill the GPU. */
static void add_bar(struct strbuf *out, const struct parts_picture *picture,
		    int64_t from, int64_t bytes)
{
	int first = mark_of(picture, from);
	int end = mark_of(picture, from + bytes);
	int marks = picture->marks;

	if (end == first)
		end++;
	strbuf_addf(out, "  |%*s", first, "");
	for (int i = first; i < end && i < marks; i++)
		strbuf_addch(out, '#');
	strbuf_addf(out, "%*s|", end < marks ? marks - end : 0, "");
}

static void estimate_text_add_parts(struct strbuf *out,
				    const struct estimate *estimate,
				    const struct parts_picture *picture)
{
	const int64_t *parts = estimate->parts[estimate->phase];
	char size[BYTES_TEXT_MAX];
	int64_t before = 0;

	for (int i = 0; i < PARTS; i++) {
		if (parts[i] == 0)
			continue;
		strbuf_addf(out, "  %-24s%9s  %-9s", part_name((enum part)i),
			    bytes_format(size, (uint64_t)parts[i]),
			    tier_name(part_tier((enum part)i)));
		if (picture->marks)
			add_bar(out, picture, before, parts[i]);
		while (out->length && out->data[out->length - 1] == ' ')
			out->length--;
		strbuf_addch(out, '\n');
		before += parts[i];
	}
}

static void add_peaks(struct strbuf *out, const struct estimate *estimate,
		      size_t columns)
{
	char size[BYTES_TEXT_MAX], low[BYTES_TEXT_MAX], high[BYTES_TEXT_MAX];
	size_t width = columns > BEHIND_TIER + TIER_LEAST
			       ? columns - BEHIND_TIER
			       : TIER_LEAST;

	if (width > 24)
		width = 24;
	for (int i = 0; i < TIERS; i++)
		strbuf_addf(out, "  %-*s%9s  from %s to %s\n", (int)width,
			    tier_name((enum tier)i),
			    bytes_format(size, (uint64_t)estimate->peak[i]),
			    bytes_format(low, (uint64_t)estimate->low[i]),
			    bytes_format(high, (uint64_t)estimate->high[i]));
}

static void add_phases(struct strbuf *out, const struct estimate *estimate)
{
	struct strbuf words = STRBUF_INIT;
	char size[BYTES_TEXT_MAX];

	strbuf_addf(&words, "%s; allocated in each phase:",
		    peak_phase_name(estimate->phase));
	for (int i = 0; i < PEAK_PHASES; i++)
		if (estimate->allocated[i])
			strbuf_addf(
				&words, " %s %s,",
				peak_phase_name((enum peak_phase)i),
				bytes_format(size,
					     (uint64_t)estimate->allocated[i]));
	words.data[words.length - 1] = '\0';
	estimate_text_add_line(out, "peak", strbuf_text(&words));
	strbuf_reset(&words);
	strbuf_addf(&words, "%s",
		    bytes_format(size, (uint64_t)estimate->fixed_bytes));
	strbuf_addf(&words, " fixed and %s for each sample (allocated)%s",
		    bytes_format(size, (uint64_t)estimate->sample_bytes),
		    estimate->phase == PEAK_FORWARD ||
				    estimate->phase == PEAK_GENERATION
			    ? ""
			    : "; another phase is the peak here, so a larger "
			      "batch costs nothing at first");
	estimate_text_add_line(out, "batch", strbuf_text(&words));
	strbuf_release(&words);
}

static int estimate_text_percent(int64_t a, int64_t b)
{
	return (int)((double)a / (double)b * 100 + 0.5);
}

static void estimate_text_add_gpu(struct strbuf *out,
				  const struct estimate_case *all,
				  const struct estimate *estimate)
{
	int64_t usable = all->gpu.usable_bytes;
	enum usage_band band = usage_band(estimate, usable);
	struct strbuf words = STRBUF_INIT;
	char size[BYTES_TEXT_MAX];
	int64_t largest;

	strbuf_addf(&words, "%s, %s: %s: %d%% used, up to %d%%; %s",
		    all->gpu.name, bytes_format(size, (uint64_t)usable),
		    usage_band_name(band),
		    estimate_text_percent(estimate->peak[TIER_PROCESS], usable),
		    estimate_text_percent(estimate->high[TIER_PROCESS], usable),
		    usage_band_advice(band));
	largest = estimate_largest(&all->run, usable, false,
				   all->options->batch.max_micro, NULL);
	if (largest)
		strbuf_addf(&words, "; largest batch that surely fits: %lld",
			    (long long)largest);
	estimate_text_add_line(out, "GPU", strbuf_text(&words));
	strbuf_release(&words);
}

static void estimate_text_add_engine(struct strbuf *out,
				     const struct estimate_case *all,
				     const struct estimate *estimate)
{
	struct usage_cache room;
	struct strbuf words = STRBUF_INIT;
	char budget[BYTES_TEXT_MAX], cache[BYTES_TEXT_MAX];

	if (!usage_cache_room(&all->run, estimate, all->gpu.usable_bytes,
			      &room))
		return;
	strbuf_addf(&words,
		    "takes %s at once, whatever is asked of it: room for a KV "
		    "cache of %s, ",
		    bytes_format(budget, (uint64_t)all->gpu.usable_bytes),
		    bytes_format(cache, (uint64_t)room.bytes));
	add_grouped(&words, room.tokens);
	strbuf_addf(&words, " tokens: %lld sequences of %lld",
		    (long long)room.sequences, (long long)all->run.sequence);
	estimate_text_add_line(out, "engine", strbuf_text(&words));
	strbuf_release(&words);
}

void estimate_text_breakdown(struct strbuf *out,
			     const struct estimate_case *all,
			     const struct estimate *estimate, bool has_picture)
{
	size_t columns = report_width() - 1;
	struct parts_picture picture = {
		.marks = has_picture ? bar_room(columns) : 0,
		.whole = estimate->peak[TIER_PROCESS],
	};

	if (all->gpu.usable_bytes > picture.whole)
		picture.whole = all->gpu.usable_bytes;
	strbuf_addch(out, '\n');
	estimate_text_add_parts(out, estimate, &picture);
	strbuf_addch(out, '\n');
	add_peaks(out, estimate, columns);
	add_phases(out, estimate);
	estimate_text_add_engine(out, all, estimate);
	if (all->gpu.usable_bytes)
		estimate_text_add_gpu(out, all, estimate);
	else
		estimate_text_add_line(
			out, "GPU",
			"none to compare with: --as rtx4090, --gpu-memory "
			"24GiB, or --gpus for all");
}

void estimate_text_view(struct strbuf *out, const char *title,
			const struct report_table *table,
			const struct strlist *notes)
{
	strbuf_addf(out, "\n%s:\n", title);
	report_table_print(out, table);
	for (size_t i = 0; i < notes->count; i++) {
		struct strbuf line = STRBUF_INIT;

		strbuf_adds(&line, "  ");
		text_add_safe(&line, notes->items[i], false);
		text_add_wrapped(out, strbuf_text(&line), 2,
				 report_width() - 1);
		strbuf_addch(out, '\n');
		strbuf_release(&line);
	}
}
