/* What to write where a batch size is not recognised. Pure. */
/* SPDX-License-Identifier: MIT */
#include "launcher/command/knobs/advice.h"

#include "base/alloc.h"
#include "base/strbuf.h"
#include "launcher/command/knobs/by_class.h"
#include "launcher/command/knobs/positional.h"
#include "launcher/command/knobs/unread_file.h"
#include "launcher/command/text/placeholder.h"

#include <stdio.h>
#include <string.h>

static const char *advice_flag(enum knob_kind kind)
{
	static const char *const flags[] = { "--micro-flag", "--accum-flag",
					     "--global-flag" };

	return flags[kind <= KNOB_GLOBAL ? kind : KNOB_MICRO];
}

/* "--bs {micro:8}", "bs={micro:8}"; of a default there is nothing to write. */
static const char *marked(char out[CANDIDATE_WORDS_MAX], enum knob_kind kind,
			  const struct candidate *candidate)
{
	bool is_joined = candidate->token.form == KNOB_JOINED;
	char name[BRIEF_MAX];

	(void)snprintf(out, CANDIDATE_WORDS_MAX, "%s%s{%s:%s}",
		       candidate_name(name, candidate), is_joined ? "=" : " ",
		       placeholder_name(kind), candidate->value);
	return out;
}

/* The refusal that is in r->err; where the rows of a pass will be seen they
 * tell which number is the batch size, and it waits for that. */
static enum command_outcome unless_seen(const struct recognition *r,
					enum knob_kind kind)
{
	const struct command_view *view = &r->command->view;
	bool is_python = view->script != NO_INDEX || view->module != NO_INDEX ||
			 view->code != NO_INDEX;

	if (kind != KNOB_MICRO || !is_python || !r->hints->rows_may_be_seen)
		return COMMAND_NOT_RECOGNISED;
	r->command->open_words = xstrdup(r->err->message);
	*r->err = (struct error)ERROR_INIT;
	return COMMAND_OK;
}

enum command_outcome advise_between(const struct recognition *r,
				    enum knob_kind kind,
				    const struct candidate *a,
				    const struct candidate *b)
{
	char first[CANDIDATE_WORDS_MAX], second[CANDIDATE_WORDS_MAX];
	char marks[CANDIDATE_WORDS_MAX], one[BRIEF_MAX], other[BRIEF_MAX];

	candidate_words(first, a);
	candidate_words(second, b);
	(void)candidate_name(one, a);
	(void)candidate_name(other, b);
	(void)not_recognised(
		r,
		"both %s and %s may be the %s: add %s %s or %s %s%s, or "
		"write %s for the number",
		first, second, knob_words(kind), advice_flag(kind), one,
		advice_flag(kind), other,
		kind == KNOB_MICRO ? " (with --global-flag and the other, "
				     "if that is the effective batch)"
				   : "",
		marked(marks, kind, a));
	return unless_seen(r, kind);
}

enum command_outcome advise_if_meant(const struct recognition *r,
				     enum knob_kind kind,
				     const struct candidate *only)
{
	char words[CANDIDATE_WORDS_MAX], marks[CANDIDATE_WORDS_MAX];
	char name[BRIEF_MAX];

	candidate_words(words, only);
	(void)not_recognised(r,
			     "%s may be the %s, or not: if it is, add %s %s "
			     "or write %s; else write {%s} where the value "
			     "belongs",
			     words, knob_words(kind), advice_flag(kind),
			     candidate_name(name, only),
			     marked(marks, kind, only), placeholder_name(kind));
	return unless_seen(r, kind);
}

static bool advice_is_read(const struct command *command, const char *path)
{
	for (size_t i = 0; i < command->file_count; i++)
		if (strcmp(command->files[i].read->path, path) == 0)
			return true;
	return false;
}

static void add_files_read(const struct command *command, struct strbuf *words)
{
	char shown[BRIEF_MAX];

	for (size_t i = 0; i < command->file_count; i++)
		strbuf_addf(
			words, "%s%s", i > 0 ? ", " : ", nor in ",
			argument_brief(shown, command->files[i].read->path));
}

/* Words that name a config file which nobody looked into. */
static void add_files_not_read(const struct command *command,
			       struct strbuf *words)
{
	const struct strlist *argv = command_argv(command);
	enum settings_format format;
	char shown[BRIEF_MAX];
	size_t count = 0;

	for (size_t i = command->view.args; i < command->view.end; i++) {
		const char *equals = strchr(argv->items[i], '=');
		const char *path = *argv->items[i] == '-' && equals
					   ? equals + 1
					   : argv->items[i];

		if (!settings_format_of(path, &format) ||
		    advice_is_read(command, path))
			continue;
		strbuf_addf(words, "%s%s", count++ ? ", " : " (not read: ",
			    argument_brief(shown, path));
	}
	if (count)
		strbuf_addch(words, ')');
}

/* Options that speak of a batch, among other things. */
static const struct candidate *nearest(const struct recognition *r,
				       struct candidates *found)
{
	found->count = 0;
	by_class_collect(found, r,
			 CLASS_BIT(OPTION_BATCH_LIKE) |
				 CLASS_BIT(OPTION_MICRO_LIKE) |
				 by_class_of_knob(KNOB_MICRO));
	return found->count ? &found->items[0] : NULL;
}

/* False: no size has a place of its own. */
static bool advise_positional(const struct recognition *r)
{
	struct positional micro, accum;
	char beside[CANDIDATE_WORDS_MAX] = "";

	if (!positional_find(r, KNOB_MICRO, &micro))
		return false;
	if (positional_find(r, KNOB_ACCUM, &accum))
		(void)snprintf(beside, sizeof(beside),
			       ", and {accum:%s} for the %s of %s", accum.word,
			       accum.word, accum.name);
	(void)not_recognised(r,
			     "%s takes %s by its place: write {micro:%s} for "
			     "the %s there%s",
			     r->source_name, micro.name, micro.word, micro.word,
			     beside);
	return true;
}

enum command_outcome advise_not_found(const struct recognition *r)
{
	struct strbuf words = STRBUF_INIT;
	char near_words[CANDIDATE_WORDS_MAX], name[BRIEF_MAX];
	const struct candidate *near;
	struct candidates found;

	if (advise_positional(r) || unread_file_advise(r))
		return unless_seen(r, KNOB_MICRO);
	strbuf_addf(&words, "no batch size is found among the arguments of %s",
		    r->source_name);
	add_files_read(r->command, &words);
	add_files_not_read(r->command, &words);
	near = nearest(r, &found);
	if (near) {
		candidate_words(near_words, near);
		strbuf_addf(&words,
			    ": if it is %s, add --micro-flag %s; else %s",
			    near_words, candidate_name(name, near),
			    way_out(KNOB_MICRO));
	} else {
		strbuf_addf(&words, ": %s", way_out(KNOB_MICRO));
	}
	(void)not_recognised(r, "%s", strbuf_text(&words));
	strbuf_release(&words);
	return unless_seen(r, KNOB_MICRO);
}
