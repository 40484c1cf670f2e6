/* An accumulation that a script derives from a number of its own. Pure. */
/* SPDX-License-Identifier: MIT */
#include "launcher/command/files/source_shares.h"

#include "launcher/command/files/pytext.h"
#include "launcher/command/files/source.h"
#include "launcher/command/text/option_class.h"

#include <ctype.h>
#include <string.h>

/* Larger batches are none. */
#define NOMINAL_DIGITS_MAX 9

struct nominal_word {
	const char *text;
	size_t length;
};

static bool nominal_is_name_byte(char c)
{
	return pytext_is_word(c) || c == '.';
}

static bool nominal_word_is(const struct nominal_word *word, const char *name)
{
	return strlen(name) == word->length &&
	       memcmp(word->text, name, word->length) == 0;
}

/* The name or number that ends before `end`, or begins at `at`, less blanks. */
static struct nominal_word nominal_word_before(const char *start,
					       const char *end)
{
	const char *at;

	while (end > start && end[-1] == ' ')
		end--;
	for (at = end; at > start && nominal_is_name_byte(at[-1]);)
		at--;
	return (struct nominal_word){ at, (size_t)(end - at) };
}

static struct nominal_word nominal_word_after(const char *at, const char *end)
{
	const char *start;

	while (at < end && *at == ' ')
		at++;
	for (start = at; at < end && nominal_is_name_byte(*at);)
		at++;
	return (struct nominal_word){ start, (size_t)(at - start) };
}

/* "args.batch_size" is batch_size. */
static struct nominal_word nominal_last_part(struct nominal_word word)
{
	const char *dot = memrchr(word.text, '.', word.length);
	size_t before = dot ? (size_t)(dot + 1 - word.text) : 0;

	return (struct nominal_word){ word.text + before,
				      word.length - before };
}

static int64_t number_of(struct nominal_word word)
{
	int64_t number = 0;

	if (!word.length || word.length > NOMINAL_DIGITS_MAX)
		return 0;
	for (size_t i = 0; i < word.length; i++) {
		if (!isdigit((unsigned char)word.text[i]))
			return 0;
		number = number * 10 + (word.text[i] - '0');
	}
	return number;
}

/* "nbs = 64  # words": the number of its lines; 0: others, or several. */
static int64_t number_of_name(const char *text, const char *end,
			      struct nominal_word name)
{
	int64_t found = 0;

	for (const char *at = text;
	     name.length &&
	     (at = memmem(at, (size_t)(end - at), name.text, name.length));
	     at += name.length) {
		const char *behind = at + name.length;
		struct nominal_word value;
		int64_t number;

		if ((at > text && nominal_is_name_byte(at[-1])) ||
		    nominal_is_name_byte(*behind))
			continue;
		behind += strspn(behind, " ");
		if (*behind != '=' || behind[1] == '=')
			continue;
		value = nominal_word_after(behind + 1, end);
		number = number_of(value);
		behind = value.text + value.length;
		behind += strspn(behind, " \t\r;");
		/* 128 / devices is another number. */
		if (!number || !strchr("\n#", *behind) ||
		    (found && found != number))
			return 0;
		found = number;
	}
	return found;
}

/* Nothing else is in it: "max(round(", "), 1)". */
static bool nominal_is_plain(const char *at, const char *end)
{
	static const char *const words[] = { "max", "round", "int", "1" };

	while (at < end) {
		struct nominal_word word = nominal_word_after(at, end);
		bool known = word.length == 0;

		for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
			known |= nominal_word_is(&word, words[i]);
		if (!known)
			return false;
		at = word.text + word.length;
		if (at < end && !strchr("(), \t\r", *at))
			return false;
		at++;
	}
	return true;
}

/* Where the value at at ends: a line, or an argument of a call. */
static const char *nominal_end(const char *at)
{
	for (int depth = 0; *at && !strchr("#\n", *at); at++) {
		depth += (*at == '(') - (*at == ')');
		if (depth < 0 || (depth == 0 && *at == ','))
			break;
	}
	return at;
}

/* What stands behind the = of the line. */
static bool nominal_of_line(struct source_nominal *nominal, const char *text,
			    const char *at, const char *variable)
{
	const char *end = nominal_end(at);
	const char *slash = memchr(at, '/', (size_t)(end - at));
	bool is_whole = slash && slash[1] == '/';
	struct nominal_word number, batch, last;

	if (!slash)
		return false;
	number = nominal_word_before(at, slash);
	batch = nominal_word_after(slash + (is_whole ? 2 : 1), end);
	last = nominal_last_part(batch);
	nominal->is_total = !nominal_word_is(&last, variable);
	if ((nominal->is_total &&
	     option_class_of(last.text, last.length) != OPTION_GLOBAL) ||
	    !nominal_is_plain(at, number.text) ||
	    !nominal_is_plain(batch.text + batch.length, end))
		return false;
	nominal->rounds =
		memmem(at, (size_t)(number.text - at), "round(", 6) != NULL;
	/* 64 / batch alone is no whole number. */
	if (!nominal->rounds && !is_whole &&
	    !memmem(at, (size_t)(number.text - at), "int(", 4))
		return false;
	nominal->batch = number_of(number);
	if (!nominal->batch)
		nominal->batch = number_of_name(
			text, text + strnlen(text, SOURCE_BYTES_MAX), number);
	return nominal->batch > 0;
}

bool source_accum_nominal(struct source_nominal *nominal, const char *text,
			  const char *variable)
{
	const char *name;
	size_t length;

	*nominal = (struct source_nominal){ 0 };
	if (!source_accum_computed(text, &name, &length))
		return false;
	name += length;
	name += strspn(name, " ");
	return *name == '=' &&
	       nominal_of_line(nominal, text, name + 1, variable);
}
