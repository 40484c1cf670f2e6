/* `autofit report`: what was found, as curves or as a page. */
/* SPDX-License-Identifier: MIT */
#include "launcher/pages/pages.h"

#include "base/log.h"
#include "base/textfile.h"
#include "launcher/nightly/night_files.h"
#include "launcher/options/exitcode.h"
#include "launcher/pages/night_page.h"
#include "launcher/pages/record_page.h"
#include "launcher/records/records_choose.h"
#include "launcher/report/report_answer.h"
#include "launcher/report/report_style.h"

#include <stdlib.h>
#include <string.h>

/* The night that is told of, and those before it. */
#define NIGHTS_MAX 60

/* To stdout, or into the file of --html. */
static int deliver(const struct options *options, const struct strbuf *text)
{
	const char *path = options->report.html;
	struct error err = ERROR_INIT;

	if (!path || strcmp(path, "-") == 0)
		return report_print(text, EXIT_DONE);
	if (textfile_give(path, strbuf_text(text), text->length, &err) == 0)
		return EXIT_DONE;
	log_error("--html: %s", err.message);
	return EXIT_AUTOFIT_FAILED;
}

static int report_record(const struct options *options,
			 const struct process_state *state)
{
	const struct report_style style = report_style_choose(options);
	struct strbuf text = STRBUF_INIT;
	struct chosen chosen;
	int code = chosen_need(&chosen, options, state);

	if (code == EXIT_DONE) {
		if (options->report.html)
			record_page_html(&chosen.record, &text);
		else
			record_page_text(&chosen.record, (size_t)style.columns,
					 style.ascii, &text);
		code = deliver(options, &text);
	}
	strbuf_release(&text);
	chosen_release(&chosen);
	return code;
}

static int report_night(const struct options *options)
{
	const struct report_style style = report_style_choose(options);
	struct night *nights;
	struct strbuf text = STRBUF_INIT;
	struct error err = ERROR_INIT;
	size_t count = 0;
	int code = EXIT_AUTOFIT_FAILED;

	nights = night_files_read_all(options->report.nightly, NIGHTS_MAX,
				      &count, &err);
	if (!nights) {
		log_error("%s; --nightly names the folder of results of "
			  "autofit nightly",
			  err.message);
		return code;
	}
	if (options->report.html)
		night_page_html(nights, count, &text);
	else
		night_page_text(nights, count, style.ascii, &text);
	code = deliver(options, &text);
	for (size_t i = 0; i < count; i++)
		night_release(&nights[i]);
	free(nights);
	strbuf_release(&text);
	return code;
}

int pages_command(const struct options *options,
		  const struct process_state *state)
{
	return options->report.nightly ? report_night(options)
				       : report_record(options, state);
}
