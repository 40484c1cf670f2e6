/* `autofit lower`: a recorded split ran out of memory in a real run. */
/* SPDX-License-Identifier: MIT */
#include "launcher/command/text/shellquote.h"
#include "launcher/records/records.h"

#include "base/alloc.h"
#include "base/log.h"
#include "base/units.h"
#include "configs/records/record_lower.h"
#include "launcher/options/exitcode.h"
#include "launcher/records/record_lowered.h"
#include "launcher/records/records_choose.h"
#include "launcher/report/report_answer.h"

#include <inttypes.h>
#include <stdlib.h>

static int nothing_smaller(const struct chosen *chosen, const struct error *why)
{
	int64_t micro = chosen->record.batch.micro_batch;
	char *command;

	if (micro <= 1) {
		log_error("%s: %s, and nothing is changed: there is no "
			  "micro-batch below 1",
			  chosen->name, why->message);
		return EXIT_NOTHING_FITS;
	}
	command = chosen->has_job
			  ? shell_quote_all(chosen->request.command.given)
			  : xstrdup("command...");
	log_error("%s: %s, and nothing is changed; to tune below it: "
		  "autofit --fresh --max-micro %" PRId64 " -- %s",
		  chosen->name, why->message, micro - 1, command);
	free(command);
	return EXIT_NOTHING_FITS;
}

static void records_lower_add_line(struct strbuf *out,
				   const struct chosen *chosen,
				   int64_t old_accum)
{
	const struct record *record = &chosen->record;
	char text[BYTES_TEXT_MAX];

	strbuf_addf(out, "%s: lowered from ", chosen->name);
	chosen_add_split(out, record->lowered_from, old_accum);
	strbuf_adds(out, " to ");
	chosen_add_split(out, record->batch.micro_batch,
			 record->batch.grad_accum);
	if (record->peak_bytes)
		strbuf_addf(out, ", peak %s",
			    bytes_format(text, record->peak_bytes));
	if (chosen->place == RECORD_SITE)
		strbuf_adds(out, " (in your own folder; the site's record is "
				 "as it was)");
	strbuf_adds(out, "; the next start uses it\n");
}

static int lower(const struct options *options, struct chosen *chosen)
{
	struct record *record = &chosen->record;
	int64_t old_accum = record->batch.grad_accum;
	struct strbuf line = STRBUF_INIT;
	struct error err = ERROR_INIT;
	int code = EXIT_DONE;

	if (record_lower(record, &err) < 0)
		return nothing_smaller(chosen, &err);
	if (record_lowered_write(record, &chosen->paths, &err) < 0) {
		log_error("%s", err.message);
		return EXIT_AUTOFIT_FAILED;
	}
	records_lower_add_line(&line, chosen, old_accum);
	if (!options->output.quiet)
		code = report_print(&line, code);
	strbuf_release(&line);
	return code;
}

int records_lower_command(const struct options *options,
			  const struct process_state *state)
{
	struct chosen chosen;
	int code = chosen_need(&chosen, options, state);

	if (code == EXIT_DONE)
		code = lower(options, &chosen);
	chosen_release(&chosen);
	return code;
}
