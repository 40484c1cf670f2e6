/* How names of options and keys are compared. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_BASE_NAME_H
#define AUTOFIT_BASE_NAME_H

/* "-" and "_" are one. */
static inline char name_joint(char c)
{
	if (c == '-')
		return '_';
	return c;
}

#endif
