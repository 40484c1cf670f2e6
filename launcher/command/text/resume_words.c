/* {resume:WORDS}: words of a command that only a restart of its run gets. Pure.
 */
/* SPDX-License-Identifier: MIT */
#include "launcher/command/text/resume_words.h"

#include "base/alloc.h"
#include "base/span.h"
#include "base/strbuf.h"

#include <stdlib.h>
#include <string.h>

#define RESUME "{resume"
#define RESUME_LENGTH (sizeof(RESUME) - 1)

/* One of them in a text. */
struct resume_place {
	const char *start;
	size_t length; /* with its braces */
	struct span words;
};

static bool resume_next(const char *text, struct resume_place *place)
{
	for (text = strstr(text, RESUME); text;
	     text = strstr(text + 1, RESUME)) {
		const char *words = text + RESUME_LENGTH;
		const char *end = strchr(words, '}');

		if (!end || (*words != ':' && *words != '}'))
			continue;
		words += *words == ':';
		*place = (struct resume_place){
			.start = text,
			.length = (size_t)(end - text) + 1,
			.words = { words, (size_t)(end - words) },
		};
		return true;
	}
	return false;
}

static void add_resume_words(const struct span *words, struct strlist *out)
{
	char *text = xstrndup(words->at, words->length);

	strlist_add_words(out, text);
	free(text);
}

/* The argument with all of them replaced. */
static char *replaced(const char *argument, enum resume_form form)
{
	struct strbuf text = STRBUF_INIT;
	struct resume_place place;

	for (; resume_next(argument, &place);
	     argument = place.start + place.length) {
		strbuf_add(&text, argument, (size_t)(place.start - argument));
		if (form == RESUME_RESTART)
			strbuf_add(&text, place.words.at, place.words.length);
	}
	strbuf_adds(&text, argument);
	return strbuf_detach(&text);
}

bool resume_words(const struct strlist *command, enum resume_form form,
		  struct strlist *out)
{
	struct resume_place place;
	bool found = false;

	for (size_t i = 0; i < command->count; i++) {
		const char *argument = command->items[i];

		if (!resume_next(argument, &place)) {
			strlist_add(out, argument);
			continue;
		}
		found = true;
		if (place.start > argument || place.start[place.length])
			strlist_take(out, replaced(argument, form));
		else if (form == RESUME_RESTART)
			add_resume_words(&place.words, out);
	}
	return found;
}
