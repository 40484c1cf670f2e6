/* Placeholders replaced by the values of a run. Pure. */
/* SPDX-License-Identifier: MIT */
#include "launcher/command/rewrite/rewrite_internal.h"
#include "launcher/command/text/knob_kind.h"
#include "launcher/command/text/placeholder.h"

#include "base/strbuf.h"

#include <string.h>

static void replace_one(struct strbuf *out, const struct command *command,
			const struct command_values *values,
			const struct placeholder *found)
{
	const struct knob *knob = &command->knobs[found->kind];
	int64_t number = knob->value;

	if (found->kind == KNOB_OUTPUT) {
		strbuf_adds(out, values->output ? values->output : knob->text);
		return;
	}
	if (found->kind == KNOB_STEPS)
		number = values->steps > number ? values->steps : number;
	else
		number = knob_written(command, found->kind, values);
	if (number > 0)
		strbuf_addf(out, "%lld", (long long)number);
	else
		strbuf_add(out, found->start, found->length);
}

char *placeholders_replace(const struct command *command,
			   const struct command_values *values,
			   const char *text)
{
	struct strbuf out = STRBUF_INIT;
	struct placeholder found;

	if (!placeholder_next(text, &found))
		return NULL;
	for (; placeholder_next(text, &found);
	     text = found.start + found.length) {
		strbuf_add(&out, text, (size_t)(found.start - text));
		replace_one(&out, command, values, &found);
	}
	strbuf_adds(&out, text);
	return strbuf_detach(&out);
}
