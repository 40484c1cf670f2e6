/* What to write where a batch size is not recognised. Pure. */
/* SPDX-License-Identifier: MIT */
#include "launcher/command/knobs/advice.h"

#include "base/alloc.h"
#include "base/span.h"
#include "base/strbuf.h"
#include "launcher/command/files/pytext.h"
#include "launcher/command/knobs/by_class.h"
#include "launcher/command/knobs/knob_literal.h"
#include "launcher/command/text/placeholder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *advice_flag(enum knob_kind kind)
{
	static const char *const flags[] = { "--micro-flag", "--accum-flag",
					     "--global-flag" };

	return flags[kind <= KNOB_GLOBAL ? kind : KNOB_MICRO];
}

/* "--bs {micro:8}", "bs={micro:8}", "--bs {micro}" of what is no size. */
static const char *marked(char out[CANDIDATE_WORDS_MAX], enum knob_kind kind,
			  const struct candidate *candidate)
{
	bool is_joined = candidate->token.form == KNOB_JOINED;
	char name[BRIEF_MAX];
	int64_t number;
	bool is_size = count_parse(candidate->value, &number);

	(void)snprintf(out, CANDIDATE_WORDS_MAX, "%s%s{%s%s%s}",
		       candidate_name(name, candidate), is_joined ? "=" : " ",
		       placeholder_name(kind), is_size ? ":" : "",
		       is_size ? candidate->value : "");
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

static void add_files_read(const struct command *command, struct strbuf *words)
{
	char shown[BRIEF_MAX];

	for (size_t i = 0; i < command->file_count; i++)
		strbuf_addf(
			words, "%s%s", i > 0 ? ", " : ", nor in ",
			argument_brief(shown, command->files[i].read->path));
}

/* Words that name a config file which nobody looked into. */
static void add_files_not_read(const struct recognition *r,
			       struct strbuf *words)
{
	const struct command *command = r->command;
	const struct strlist *argv = command_argv(command);
	enum settings_format format;
	char shown[BRIEF_MAX];
	size_t count = 0;

	for (size_t i = command->view.args; i < command->view.end; i++) {
		const char *equals = strchr(argv->items[i], '=');
		const char *path = *argv->items[i] == '-' && equals
					   ? equals + 1
					   : argv->items[i];

		if (!settings_format_of(path, &format) || file_is_read(r, path))
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

/* An argument of the command and the name that the script gives it. */
struct positional {
	const char *name;
	const char *word;
};

/* The argument at this place among those without an option; NULL: options
 * stand before it that may have taken it. */
static const char *positional_word(const struct recognition *r, size_t place)
{
	const struct command_view *view = &r->command->view;
	const struct strlist *argv = command_argv(r->command);

	for (size_t i = view->args; i < view->end; i++) {
		const char *text = argv->items[i];
		const struct source_option *option;

		if (i == r->subcommand)
			continue;
		if (!argument_is_option(text) && place-- == 0)
			return text;
		if (!argument_is_option(text) || strchr(text, '='))
			continue;
		option = source_resolve(r->source, text, strlen(text));
		if (!option || option->takes_settings)
			return NULL;
		i += !option->is_switch;
	}
	return NULL;
}

/*
 * The first whose name says this knob, and whose word is a whole number.
 * False: there is none, or what stands before it is not known.
 */
static bool positional_find(const struct recognition *r, enum knob_kind kind,
			    struct positional *found)
{
	const struct strlist *names = &r->source->positionals;
	int64_t number;

	for (size_t i = 0; i < names->count; i++) {
		const char *name = names->items[i];

		if (!(by_class_of_knob(kind) &
		      CLASS_BIT(option_class_of(name, strlen(name)))))
			continue;
		*found = (struct positional){ name, positional_word(r, i) };
		if (found->word && count_parse(found->word, &number))
			return true;
	}
	return false;
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

/* A name and its number. */
struct unread_line {
	struct span name;
	int64_t value;
};

/* "batch_size: 8," of any format, from at to the end of the line. */
static bool unread_line_read(const char *at, struct unread_line *line)
{
	char digits[BRIEF_MAX];
	size_t length;

	at += strspn(at, " \t\"'");
	line->name = (struct span){ at, 0 };
	while (pytext_is_word(*at) || *at == '.')
		at++;
	line->name.length = (size_t)(at - line->name.at);
	at += strspn(at, " \t\"'");
	if (!line->name.length || (*at != '=' && *at != ':'))
		return false;
	at++;
	at += strspn(at, " \t");
	length = strspn(at, "0123456789");
	(void)snprintf(digits, sizeof(digits), "%.*s", (int)length, at);
	return length < sizeof(digits) && strchr(" \t\r\n,;#", at[length]) &&
	       count_parse(digits, &line->value);
}

/* The first line of the text that says this knob. */
static bool unread_line_find(const char *text, enum knob_kind kind,
			     struct unread_line *line)
{
	while (*text) {
		if (unread_line_read(text, line) &&
		    by_class_of_knob(kind) &
			    CLASS_BIT(option_class_of(line->name.at,
						      line->name.length)))
			return true;
		text = strchrnul(text, '\n');
		text += *text == '\n';
	}
	return false;
}

/* Its text; NULL: the argument names no file, or one that is read. */
static const char *unread_text(const struct recognition *r, const char *path)
{
	const char *dot = strrchr(path, '.');
	const struct named_file *file;

	/* What has no ending is rather a folder, or a number. */
	if (!dot || dot == path || strchr(dot, '/') || !dot[1] ||
	    argument_is_pipe(path) || file_is_read(r, path))
		return NULL;
	file = file_seen(r, path);
	if (!file || file->error || !file->text.length ||
	    memchr(strbuf_text(&file->text), '\0', file->text.length))
		return NULL;
	return strbuf_text(&file->text);
}

static bool unread_advise_one(const struct recognition *r, const char *path)
{
	const char *text = unread_text(r, path);
	char shown[BRIEF_MAX], beside[2 * BRIEF_MAX] = "";
	struct unread_line micro, accum;

	if (text && placeholders_in(text)) {
		(void)argument_brief(shown, path);
		(void)not_recognised(r,
				     "%s has marks in it, but is not read for "
				     "them: add --template %s",
				     shown, shown);
		return true;
	}
	if (!text || !unread_line_find(text, KNOB_MICRO, &micro))
		return false;
	if (unread_line_find(text, KNOB_ACCUM, &accum))
		(void)snprintf(beside, sizeof(beside),
			       " and {accum:%lld} for that of %.*s",
			       (long long)accum.value, (int)accum.name.length,
			       accum.name.at);
	(void)not_recognised(
		r,
		"%s says %.*s %lld, and how it is read is not known: write "
		"{micro:%lld} for that number%s into a copy of it, have the "
		"command name the copy, and add --template with its name",
		argument_brief(shown, path), (int)micro.name.length,
		micro.name.at, (long long)micro.value, (long long)micro.value,
		beside);
	return true;
}

/* A file that the command names and that nothing here reads has a line like
 * "batch_size = 8", or a mark {micro}: how it is given as a template. False:
 * none has. */
static bool advise_unread(const struct recognition *r)
{
	const struct command_view *view = &r->command->view;

	for (size_t i = view->args; i < view->end; i++) {
		const char *word = command_argv(r->command)->items[i];
		const char *equals = *word == '-' ? strchr(word, '=') : NULL;

		if ((*word != '-' || equals) &&
		    unread_advise_one(r, equals ? equals + 1 : word))
			return true;
	}
	return false;
}

enum command_outcome advise_not_found(const struct recognition *r)
{
	struct strbuf words = STRBUF_INIT;
	char near_words[CANDIDATE_WORDS_MAX], name[BRIEF_MAX];
	const struct candidate *near;
	struct candidates found;
	char *of_module;

	if (advise_positional(r) || advise_unread(r))
		return unless_seen(r, KNOB_MICRO);
	strbuf_addf(&words, "no batch size is found among the arguments of %s",
		    r->source_name);
	add_files_read(r->command, &words);
	add_files_not_read(r, &words);
	near = nearest(r, &found);
	if (near) {
		candidate_words(near_words, near);
		strbuf_addf(&words,
			    ": if it is %s, add --micro-flag %s; else %s",
			    near_words, candidate_name(name, near),
			    way_out(KNOB_MICRO));
	} else {
		of_module = knob_literals_of_modules(r, KNOB_MICRO);
		if (of_module)
			strbuf_addf(&words, ": if it is %s; else", of_module);
		else
			strbuf_addch(&words, ':');
		strbuf_addf(&words, " %s", way_out(KNOB_MICRO));
		free(of_module);
	}
	(void)not_recognised(r, "%s", strbuf_text(&words));
	strbuf_release(&words);
	return unless_seen(r, KNOB_MICRO);
}
