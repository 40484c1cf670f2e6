/* The sizes of a split as text to paste into a command. Pure. */
/* SPDX-License-Identifier: MIT */
#include "launcher/command/parts/knob.h"
#include "launcher/command/rewrite/rewrite.h"
#include "launcher/command/rewrite/rewrite_internal.h"
#include "launcher/command/text/knob_kind.h"
#include "launcher/command/text/placeholder.h"
#include "launcher/command/text/shellquote.h"

#include "base/alloc.h"
#include "base/strbuf.h"

#include <stdlib.h>

static void flags_add(struct strbuf *out, const char *text)
{
	char *quoted = shell_quote(text);

	if (out->length > 0)
		strbuf_addch(out, ' ');
	strbuf_adds(out, quoted);
	free(quoted);
}

static void flags_add_knob(struct strbuf *out, const struct command *command,
			   enum knob_kind kind,
			   const struct command_values *values)
{
	const struct knob *knob = &command->knobs[kind];
	struct strlist added = STRLIST_INIT;
	char *text;

	words_of_knob(command, kind, values, &added);
	for (size_t i = 0; i < added.count; i++)
		flags_add(out, added.items[i]);
	strlist_release(&added);
	if (knob->form != KNOB_SEPARATE && knob->form != KNOB_JOINED)
		return;
	if (knob->form == KNOB_SEPARATE)
		flags_add(out, knob->name);
	text = argument_rewrite(command, values, knob->index);
	flags_add(out, text);
	free(text);
}

/* No option sets it: what the copy of the file says. */
static void flags_add_file(struct strbuf *out, const struct command *command,
			   enum knob_kind kind,
			   const struct command_values *values)
{
	const struct knob *knob = &command->knobs[kind];

	if (knob->form != KNOB_FILE)
		return;
	strbuf_addf(out, "%s%s = %lld", out->length ? " " : "", knob->name,
		    (long long)knob_written(command, kind, values));
}

/* Arguments with a placeholder of the split, with the option before them. */
static void flags_add_placeholders(struct strbuf *out,
				   const struct command *command,
				   const struct command_values *values)
{
	const struct strlist *argv = command_argv(command);

	for (size_t i = 0; i < argv->count; i++) {
		char *text;

		if (!placeholders_in(argv->items[i]))
			continue;
		if (i > 0 && argv->items[i][0] == '{' &&
		    argv->items[i - 1][0] == '-')
			flags_add(out, argv->items[i - 1]);
		text = placeholders_replace(command, values, argv->items[i]);
		flags_add(out, text ? text : argv->items[i]);
		free(text);
	}
	for (size_t i = 0; i < command->env_templates.count; i++) {
		const char *item = command->env_templates.items[i];
		char *text =
			placeholders_in(item)
				? placeholders_replace(command, values, item)
				: NULL;

		if (text)
			flags_add(out, text);
		free(text);
	}
}

char *command_flags_text(const struct command *command,
			 const struct command_values *values)
{
	struct strbuf out = STRBUF_INIT;

	/* Gives "" and not NULL when every knob stays at its default. */
	strbuf_adds(&out, "");
	flags_add_placeholders(&out, command, values);
	for (size_t kind = 0; kind <= KNOB_GLOBAL; kind++)
		flags_add_file(&out, command, (enum knob_kind)kind, values);
	for (size_t kind = 0; kind <= KNOB_GLOBAL; kind++)
		flags_add_knob(&out, command, (enum knob_kind)kind, values);
	return strbuf_detach(&out);
}
