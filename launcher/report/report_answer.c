/* How a command that only looks gives its answer. */
/* SPDX-License-Identifier: MIT */
#include "launcher/report/report_answer.h"

#include "base/log.h"
#include "base/textfile.h"
#include "launcher/options/exitcode.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

int report_print(const struct strbuf *text, int code)
{
	bool is_written = fwrite(strbuf_text(text), 1, text->length, stdout) ==
				  text->length &&
			  fflush(stdout) == 0;

	/* Who has read enough, as head does, has got what was asked for. */
	if (!is_written && errno != EPIPE) {
		log_error("cannot write to standard output: %s",
			  strerror(errno));
		return EXIT_AUTOFIT_FAILED;
	}
	return code;
}

int report_answer(const struct options *options, const struct strbuf *text,
		  const struct strbuf *json)
{
	bool json_only =
		options->output.json && strcmp(options->output.json, "-") == 0;
	struct error err = ERROR_INIT;
	int code = EXIT_DONE;

	if (options->output.json && !json_only &&
	    textfile_give(options->output.json, strbuf_text(json), json->length,
			  &err) < 0) {
		log_error("%s", err.message);
		code = EXIT_AUTOFIT_FAILED;
	}
	return report_print(json_only ? json : text, code);
}
