/* How names of options and keys are compared, and which a shell takes. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_BASE_NAME_H
#define AUTOFIT_BASE_NAME_H

#include <stdbool.h>
#include <string.h>

/* "-" and "_" are one. */
static inline char name_joint(char c)
{
	if (c == '-')
		return '_';
	return c;
}

static inline bool name_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* A word that means itself to a shell and in a folder; others may have called
 * their files as they like. */
static inline bool name_is_plain(const char *name)
{
	return *name && !name[strspn(name, "abcdefghijklmnopqrstuvwxyz"
					   "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
					   "0123456789._-")];
}

#endif
