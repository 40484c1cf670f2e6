/* Sizes in files that the command names and that nothing here reads. Pure. */
/* SPDX-License-Identifier: MIT */
#include "launcher/command/knobs/unread_file.h"

#include "base/span.h"
#include "launcher/command/files/pytext.h"
#include "launcher/command/knobs/by_class.h"
#include "launcher/command/text/placeholder.h"

#include <stdio.h>
#include <string.h>

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

static bool file_is_read(const struct command *command, const char *path)
{
	for (size_t i = 0; i < command->file_count; i++)
		if (strcmp(command->files[i].read->path, path) == 0)
			return true;
	return false;
}

/* Its text; NULL: the argument names no file, or one that is read. */
static const char *unread_text(const struct recognition *r, const char *path)
{
	const char *dot = strrchr(path, '.');
	const struct named_file *file;

	/* What has no ending is rather a folder, or a number. */
	if (!dot || dot == path || strchr(dot, '/') || !dot[1] ||
	    argument_is_pipe(path) || file_is_read(r->command, path))
		return NULL;
	file = named_files_get(r->texts, path);
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

bool unread_file_advise(const struct recognition *r)
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
