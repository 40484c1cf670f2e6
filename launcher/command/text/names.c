/* Names of options: how they are compared. Pure. */
/* SPDX-License-Identifier: MIT */

#include "launcher/command/text/names.h"

#include "base/name.h"
#include "base/span.h"

#include <fnmatch.h>
#include <string.h>

bool name_equal(const char *a, size_t a_length, const char *b, size_t b_length)
{
	if (a_length != b_length)
		return false;
	for (size_t i = 0; i < a_length; i++)
		if (name_joint(a[i]) != name_joint(b[i]))
			return false;
	return true;
}

bool name_starts(const char *name, const char *start, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (!name[i] || name_joint(name[i]) != name_joint(start[i]))
			return false;
	return true;
}

/* Letters of ASCII, as options have them: in no locale of the user's. */
static char folded(char c)
{
	if (c >= 'A' && c <= 'Z')
		return (char)(c - 'A' + 'a');
	return name_joint(c);
}

bool name_normalise(char out[NAME_MAX_BYTES], const char *name, size_t length)
{
	while (length > 0 && (*name == '-' || *name == '+' || *name == '~')) {
		name++;
		length--;
	}
	if (length >= NAME_MAX_BYTES)
		return false;
	for (size_t i = 0; i < length; i++)
		out[i] = folded(name[i]);
	out[length] = '\0';
	return true;
}

/* Most names are not as long as the entry, or as its last part. */
static bool lengths_match(const char *entry, const char *typed, size_t length)
{
	const char *dot =
		strchr(entry, '.') ? NULL : memrchr(typed, '.', length);

	if (dot)
		return strlen(entry + strspn(entry, "-+~")) ==
		       length - (size_t)(dot + 1 - typed);
	while (length > 0 && strchr("-+~", *typed)) {
		typed++;
		length--;
	}
	return strlen(entry + strspn(entry, "-+~")) == length;
}

bool name_matches(const char *entry, const char *typed, size_t length,
		  bool bare)
{
	char key[NAME_MAX_BYTES], known[NAME_MAX_BYTES];
	const char *dot;

	if (!length || !*entry)
		return false;
	if (*entry == '-')
		return !bare && name_starts(entry, typed, length) &&
		       entry[length] == '\0';
	/* Whatever else may differ, the last byte may not: this is asked of
	 * each option of a script for each name of a preset. */
	if (folded(entry[strlen(entry) - 1]) != folded(typed[length - 1]))
		return false;
	if (!lengths_match(entry, typed, length) ||
	    !name_normalise(key, typed, length) ||
	    !name_normalise(known, entry, strlen(entry)))
		return false;
	dot = strchr(known, '.') ? NULL : strrchr(key, '.');
	return strcmp(dot ? dot + 1 : key, known) == 0;
}

static bool is_sigil(char c)
{
	return c == '-' || c == '+' || c == '~';
}

/* The first letter of a name, or of what stands behind its last dot. */
static char first_letter(const char *name, size_t length, bool of_last)
{
	const char *end = name + length;
	const char *dot = of_last ? memrchr(name, '.', length) : NULL;

	name = dot ? dot + 1 : name;
	while (name < end && is_sigil(*name))
		name++;
	if (name == end)
		return '\0';
	return folded(*name);
}

size_t names_find(const struct strlist *names, const char *typed, size_t length,
		  bool bare)
{
	char first = first_letter(typed, length, false);
	char last = first_letter(typed, length, true);
	size_t i = 0;

	/* Each option of a script is looked for among all names of a preset,
	 * and few of these begin like it. */
	for (; i < names->count; i++) {
		const char *entry = names->items[i];
		char letter;

		while (is_sigil(*entry))
			entry++;
		letter = folded(*entry);
		if ((letter == first || letter == last) &&
		    name_matches(names->items[i], typed, length, bare))
			break;
	}
	return i;
}

/* Only "*" is special: the pieces between them are found one after another. */
static bool stars_match(const char *pattern, const char *text)
{
	size_t length = strcspn(pattern, "*");

	if (strncmp(pattern, text, length) != 0)
		return false;
	text += length;
	pattern += length;
	while (*pattern) {
		struct span piece;

		pattern += strspn(pattern, "*");
		piece = (struct span){ pattern, strcspn(pattern, "*") };
		if (!pattern[piece.length])
			return span_ends((struct span){ text, strlen(text) },
					 piece.at);
		text = memmem(text, strlen(text), piece.at, piece.length);
		if (!text)
			return false;
		text += piece.length;
		pattern += piece.length;
	}
	return !*text;
}

bool glob_matches(const char *pattern, const char *text)
{
	return pattern[strcspn(pattern, "?[\\")]
		       ? fnmatch(pattern, text, 0) == 0
		       : stars_match(pattern, text);
}

bool name_is_decoy(const struct strlist *decoys, const char *typed,
		   size_t length)
{
	char key[NAME_MAX_BYTES], pattern[NAME_MAX_BYTES];

	if (!name_normalise(key, typed, length))
		return true;
	for (size_t i = 0; i < decoys->count; i++)
		if (name_normalise(pattern, decoys->items[i],
				   strlen(decoys->items[i])) &&
		    glob_matches(pattern, key))
			return true;
	return false;
}

bool name_is_counterpart(const char *name, const char *other)
{
	const char *target = strcasestr(name, "target");
	const char *source = strcasestr(other, "source");

	if (!target || !source)
		return false;
	return name_equal(name, (size_t)(target - name), other,
			  (size_t)(source - other)) &&
	       name_equal(target + strlen("target"),
			  strlen(target + strlen("target")),
			  source + strlen("source"),
			  strlen(source + strlen("source")));
}
