/* The commands that a launch would run, as text to look at and to paste. */
/* SPDX-License-Identifier: MIT */
#include "launcher/explain_runs.h"

#include "base/alloc.h"
#include "configs/secrets/secrets.h"
#include "launcher/command/text/shellquote.h"
#include "launcher/command/text/text.h"
#include "probes/channel/channel.h"
#include "probes/isolation/environment.h"

#include <stdlib.h>
#include <string.h>

#define SHOWN_LINE_MAX 200

static void runs_add_line(struct strbuf *out, char sign, const char *line,
			  size_t length)
{
	char *text = xstrndup(line, length < SHOWN_LINE_MAX ? length
							    : SHOWN_LINE_MAX);

	strbuf_addf(out, "    %c ", sign);
	text_add_safe(out, text, false);
	strbuf_addch(out, '\n');
	free(text);
}

static void runs_add_addition(struct strbuf *out, const char *word)
{
	char *quoted = shell_quote(word);

	runs_add_line(out, '+', quoted, strlen(quoted));
	free(quoted);
}

static void runs_add_environment(struct strbuf *out,
				 const struct explained *explained)
{
	const struct request *request = explained->request;
	const struct probe_environment additions = {
		.id = "<id>",
		.micro_batch = explained->first.micro_batch,
		.grad_accum = explained->first.probe_accum,
		.scratch = "<scratch>",
		.channel = "<channel>",
		.channel_fd = CHANNEL_COMMAND_FD,
		.hook = "<scratch>/hook",
		/* Which GPU the probes will use nobody has looked at yet. */
		.preload = request->options->target.device == DEVICE_HOST
				   ? NULL
				   : "<scratch>/libautofit_preload.so",
		.probe_env = &request->options->probe.env,
	};
	struct strlist environment = STRLIST_INIT;
	struct strlist masked = STRLIST_INIT;

	probe_environment_make(&environment, &request->environment, &additions);
	secrets_mask_argv(&masked, &environment);
	strbuf_adds(out, "probes    run with\n");
	for (size_t i = 0; i < environment.count; i++)
		if (strlist_find(&request->environment, environment.items[i]) ==
		    request->environment.count)
			runs_add_addition(out, masked.items[i]);
	strlist_release(&masked);
	strlist_release(&environment);
}

/* What a copy of a file differs in, line by line. */
static void runs_add_copy(struct strbuf *out, const struct command *command,
			  const struct file_copy *copy)
{
	const char *before = copy_original(command, copy);
	const char *after = copy->text;

	strbuf_adds(out, "    copy of ");
	text_add_safe(out, copy->original, false);
	if (copy->covers)
		strbuf_adds(out, ", in its place");
	strbuf_adds(out, "\n");
	while (*before && *after) {
		size_t b = strcspn(before, "\n"), a = strcspn(after, "\n");

		if (b != a || memcmp(before, after, a) != 0) {
			runs_add_line(out, '-', before, b);
			runs_add_line(out, '+', after, a);
		}
		before += b + (before[b] == '\n');
		after += a + (after[a] == '\n');
	}
}

/* To paste: the environment that is added, then the words. */
static void runs_add_command(struct strbuf *out, const struct rewrite *run)
{
	struct strlist environment = STRLIST_INIT, argv = STRLIST_INIT;
	char *words;

	secrets_mask_argv(&environment, &run->environment);
	secrets_mask_argv(&argv, &run->argv);
	words = shell_quote_all(&argv);
	strbuf_adds(out, "   ");
	for (size_t i = 0; i < environment.count; i++) {
		char *quoted = shell_quote(environment.items[i]);

		strbuf_addch(out, ' ');
		text_add_safe(out, quoted, false);
		free(quoted);
	}
	strbuf_addch(out, ' ');
	text_add_safe(out, words, false);
	strbuf_addch(out, '\n');
	free(words);
	strlist_release(&argv);
	strlist_release(&environment);
}

static void runs_add_one(struct strbuf *out, const struct request *request,
			 const struct command_values *values)
{
	struct error err = ERROR_INIT;
	struct rewrite run;

	if (request_rewrite(request, &request->command, values, &run, &err) <
	    0) {
		strbuf_addf(out, "    cannot be written: %s\n", err.message);
		return;
	}
	runs_add_command(out, &run);
	for (size_t i = 0; i < run.copy_count; i++)
		runs_add_copy(out, &request->command, &run.copies[i]);
	rewrite_release(&run);
}

void explain_runs_add(struct strbuf *out, const struct explained *explained)
{
	const struct request *request = explained->request;
	struct command_values probe = explain_probe_values(explained);
	struct command_values final = explain_final_values(explained);
	bool is_probed = explained->first.action == PLAN_PROBE;

	if (command_rows_are_open(&request->command)) {
		strbuf_adds(out, "first probe, the command as it is\n");
		runs_add_one(out, request, &probe);
		return;
	}
	if (is_probed) {
		strbuf_addf(out, "first probe, micro %lld\n",
			    (long long)probe.micro_batch);
		runs_add_one(out, request, &probe);
	}
	strbuf_addf(out,
		    is_probed ? "final command if %lld wins\n"
			      : "final command, micro %lld\n",
		    (long long) final.micro_batch);
	runs_add_one(out, request, &final);
	if (is_probed && request->options->output.verbose)
		runs_add_environment(out, explained);
}
