/* `autofit diff OLD NEW`: two records, or two summaries of nights. */
/* SPDX-License-Identifier: MIT */
#include "launcher/nightly/diff.h"

#include "base/alloc.h"
#include "base/log.h"
#include "configs/records/record.h"
#include "launcher/command/text/shellquote.h"
#include "launcher/command/text/text.h"
#include "launcher/nightly/night_compare.h"
#include "launcher/nightly/night_row.h"
#include "launcher/options/exitcode.h"
#include "launcher/records/records_choose.h"
#include "launcher/report/rates.h"
#include "launcher/report/report_answer.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A record as the one row of a night, so that both are compared alike. */
static void night_of_record(struct night *night, const struct record *record)
{
	const struct result result = {
		.record = *record,
		.own = { .micro_batch = record->own_micro_batch,
			 .grad_accum = record->own_grad_accum }
	};
	const struct trial *trial = rates_trial(
		&result, record->batch.micro_batch, record->batch.grad_accum);
	struct night_row *row = night_add(night);

	night_row_take_record(row, record);
	row->name = xstrdup("record");
	row->is_required = true;
	row->state = NIGHT_OK;
	row->batch = record->batch;
	row->peak_bytes = (int64_t)record->peak_bytes;
	row->limit_bytes = (int64_t)record->limit_bytes;
	row->command = shell_quote_all(&record->argv);
	if (record->device_count)
		row->device = xstrdup(record->devices[0].name);
	strlist_add_all(&row->versions,
			(const char *const *)record->versions.items,
			record->versions.count);
	if (!trial)
		return;
	row->speed = rates_samples_per_second(&result, trial,
					      record->batch.grad_accum);
	row->spread = row->speed > 0 ? row->speed * rates_spread(trial) : 0;
}

/* As `autofit show` lists it: a file of that name stands before. */
static int read_named(struct night *night, const char *name)
{
	struct chosen chosen = { 0 };
	int result = -1;

	if (access(name, F_OK) == 0)
		return -1;
	if (chosen_open(&chosen) == EXIT_DONE &&
	    chosen_take_name(&chosen, name) && chosen.record.id) {
		night_of_record(night, &chosen.record);
		result = 0;
	}
	chosen_release(&chosen);
	return result;
}

static int read_either(struct night *night, const char *path)
{
	struct error err = ERROR_INIT, record_err = ERROR_INIT;
	struct record record;

	if (read_named(night, path) == 0)
		return 0;
	if (night_read(night, path, &err) == 0)
		return 0;
	night_release(night);
	if (record_read(&record, path, &record_err) == 0) {
		night_of_record(night, &record);
		record_release(&record);
		return 0;
	}
	log_error("%s is neither a record (%s) nor a summary.json of autofit "
		  "nightly, nor the name of a record, which autofit show lists",
		  path, record_err.message);
	return -1;
}

static void diff_add_line(const struct night_row *row, struct strbuf *out)
{
	strbuf_addf(out, "%-8s ", night_change_name(row->change));
	text_add_safe(out, row->name, false);
	if (row->cause) {
		strbuf_adds(out, ": ");
		text_add_safe(out, row->cause, false);
	}
	strbuf_adds(out, "\n");
}

/* Jobs of the old one that are in the new one no more. */
static void add_gone(const struct night *old, const struct night *new,
		     struct strbuf *out)
{
	for (size_t i = 0; i < old->count; i++)
		if (!night_find(new, old->rows[i].name)) {
			strbuf_addf(out, "%-8s ",
				    night_change_name(CHANGE_GONE));
			text_add_safe(out, old->rows[i].name, false);
			strbuf_adds(out, "\n");
		}
}

int diff_command(const struct options *options,
		 const struct process_state *state)
{
	struct night old = { 0 }, new = { 0 };
	struct strbuf out = STRBUF_INIT;
	int code = EXIT_AUTOFIT_FAILED;

	(void)state;
	if (read_either(&old, options->import_file) == 0 &&
	    read_either(&new, options->second_file) == 0) {
		code = EXIT_DONE;
		for (size_t i = 0; i < new.count; i++) {
			night_compare(&new.rows[i],
				      night_find(&old, new.rows[i].name));
			diff_add_line(&new.rows[i], &out);
			if (night_needs_look(&new.rows[i]))
				code = EXIT_NEEDS_A_LOOK;
		}
		add_gone(&old, &new, &out);
		code = report_print(&out, code);
	}
	night_release(&old);
	night_release(&new);
	strbuf_release(&out);
	return code;
}
