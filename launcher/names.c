/* Names of options: how they are compared. Pure. */
/* SPDX-License-Identifier: MIT */
#include "launcher/command_internal.h"

#include <ctype.h>
#include <fnmatch.h>
#include <string.h>

bool name_equal(const char *a, size_t a_length, const char *b, size_t b_length)
{
	if (a_length != b_length)
		return false;
	for (size_t i = 0; i < a_length; i++)
		if (a[i] != b[i] && !(strchr("-_", a[i]) && strchr("-_", b[i])))
			return false;
	return true;
}

bool name_normalise(char out[NAME_MAX_BYTES], const char *name, size_t length)
{
	while (length > 0 && strchr("-+~", *name)) {
		name++;
		length--;
	}
	if (length >= NAME_MAX_BYTES)
		return false;
	for (size_t i = 0; i < length; i++) {
		out[i] = (char)tolower((unsigned char)name[i]);
		if (out[i] == '-')
			out[i] = '_';
	}
	out[length] = '\0';
	return true;
}

bool name_matches(const char *entry, const char *typed, size_t length,
		  bool bare)
{
	char key[NAME_MAX_BYTES], known[NAME_MAX_BYTES];
	const char *dot;

	if (*entry == '-')
		return !bare && name_equal(entry, strlen(entry), typed, length);
	if (!name_normalise(key, typed, length) ||
	    !name_normalise(known, entry, strlen(entry)))
		return false;
	dot = strrchr(key, '.');
	return strcmp(dot ? dot + 1 : key, known) == 0;
}

size_t names_find(const struct strlist *names, const char *typed, size_t length,
		  bool bare)
{
	size_t i = 0;

	while (i < names->count &&
	       !name_matches(names->items[i], typed, length, bare))
		i++;
	return i;
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
		    fnmatch(pattern, key, 0) == 0)
			return true;
	return false;
}
