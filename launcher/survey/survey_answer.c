/* What a survey found, as a table for people and for programs. */
/* SPDX-License-Identifier: MIT */
#include "launcher/survey/survey_answer.h"

#include "base/alloc.h"
#include "launcher/estimate/estimate_text.h"
#include "launcher/report/json.h"
#include "launcher/report/report_table.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const struct report_table_column columns[] = {
	{ "gpu", NULL, TABLE_TEXT },
	{ NULL, "phantom", TABLE_TEXT },
	{ "usable_bytes", "usable", TABLE_BYTES },
	{ "micro_batch", NULL, TABLE_COUNT },
	{ "grad_accum", NULL, TABLE_COUNT },
	{ NULL, "split", TABLE_TEXT },
	{ "peak_bytes", "peak", TABLE_BYTES },
	{ "limit_bytes", NULL, TABLE_BYTES },
	{ "headroom_bytes", "left", TABLE_BYTES },
	{ "estimate_bytes", "formula", TABLE_BYTES },
	{ "estimate_low_bytes", NULL, TABLE_BYTES },
	{ "estimate_high_bytes", NULL, TABLE_BYTES },
	{ NULL, NULL, TABLE_TEXT },
};

/* A card of the answer, by its memory. */
struct survey_row {
	const struct gpu_model *card;
	const struct session_card *found;
};

static int by_usable(const void *a, const void *b)
{
	const struct gpu_model *one = ((const struct survey_row *)a)->card;
	const struct gpu_model *other = ((const struct survey_row *)b)->card;

	if (one->usable_bytes != other->usable_bytes)
		return one->usable_bytes < other->usable_bytes ? -1 : 1;
	return strcmp(one->name, other->name);
}

/* All of them are NVIDIA's. */
static const char *short_name(const char *name)
{
	static const char *const words[] = { "NVIDIA GeForce ", "NVIDIA " };

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (strncmp(name, words[i], strlen(words[i])) == 0)
			return name + strlen(words[i]);
	return name;
}

static void add_formula(struct report_table *table,
			const struct estimate_case *formula,
			const struct survey_row *row)
{
	struct workload run = formula->run;
	struct estimate estimate;

	run.micro_batch = row->found->step.micro_batch;
	run.gpu_bytes = (int64_t)row->card->usable_bytes;
	run.compute_major = row->card->compute_major;
	if (!formula->has_model || row->found->step.action != PLAN_DONE ||
	    estimate_memory(&run, &estimate, NULL) < 0) {
		for (int i = 0; i < 3; i++)
			report_table_add_none(table);
		return;
	}
	report_table_add_number(table, estimate.peak[TIER_PROCESS]);
	report_table_add_number(table, estimate.low[TIER_PROCESS]);
	report_table_add_number(table, estimate.high[TIER_PROCESS]);
}

static void survey_answer_add_split(struct report_table *table,
				    const struct session_card *found)
{
	char *text;

	if (found->step.action != PLAN_DONE) {
		report_table_add_none(table);
		report_table_add_none(table);
		report_table_add_text(table,
				      found->step.action == PLAN_NOTHING_FITS
					      ? "none fits"
					      : "not asked");
		return;
	}
	text = xasprintf("%" PRId64 " x %" PRId64, found->step.micro_batch,
			 found->step.final_accum);
	report_table_add_count(table, found->step.micro_batch);
	report_table_add_count(table, found->step.final_accum);
	report_table_add_text(table, text);
	free(text);
}

static void survey_answer_add_row(struct report_table *table,
				  const struct estimate_case *formula,
				  const struct survey_row *row)
{
	const struct session_card *found = row->found;
	int64_t usable = (int64_t)row->card->usable_bytes;
	int64_t peak = (int64_t)found->peak_bytes + found->more_bytes;

	report_table_add_text(table, row->card->name);
	report_table_add_text(table, short_name(row->card->name));
	report_table_add_number(table, usable);
	survey_answer_add_split(table, found);
	if (found->step.action == PLAN_DONE) {
		report_table_add_number(table, peak);
		report_table_add_number(table, (int64_t)found->limit_bytes);
		report_table_add_number(table, usable - peak);
	} else {
		for (int i = 0; i < 3; i++)
			report_table_add_none(table);
	}
	add_formula(table, formula, row);
}

static void fill_cards(struct report_table *table,
		       const struct survey_answer *answer)
{
	size_t count = answer->cards->count;
	struct survey_row *rows = xcalloc(count, sizeof(*rows));

	for (size_t i = 0; i < count; i++)
		rows[i] = (struct survey_row){ &answer->cards->items[i],
					       &answer->found[i] };
	qsort(rows, count, sizeof(*rows), by_usable);
	for (size_t i = 0; i < count; i++)
		survey_answer_add_row(table, answer->formula, &rows[i]);
	free(rows);
}

void survey_answer_print(struct strbuf *out, const struct survey_answer *answer)
{
	struct report_table table = { .columns = columns };

	fill_cards(&table, answer);
	estimate_text_view(out, "The largest split, micro-batch x accumulation",
			   &table, answer->notes);
	report_table_release(&table);
}

json_t *survey_answer_json(const struct survey_answer *answer)
{
	struct report_table table = { .columns = columns };
	struct estimate estimate;
	const struct estimate_case *formula = answer->formula;
	bool has_formula = formula->has_model &&
			   estimate_memory(&formula->run, &estimate, NULL) == 0;
	json_t *root = estimate_json(formula, has_formula ? &estimate : NULL);

	fill_cards(&table, answer);
	json_put(root, "phantom", report_table_json(&table));
	json_put(root, "phantom_notes", json_texts(answer->notes));
	report_table_release(&table);
	return root;
}
