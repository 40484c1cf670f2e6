/* A phantom card's CUPTI: there is nothing to trace, and it says so. */
/* SPDX-License-Identifier: MIT */
#include "probes/phantom/maths/maths.h"

/* NOLINTBEGIN(readability-identifier-naming): the library's names */

enum { NOT_INITIALIZED = 15 };

EXPORT int cuptiGetResultString(int result, const char **text)
{
	*text = result ? "nothing is traced on a phantom card" : "success";
	return MATHS_OK;
}

EXPORT int cuptiGetVersion(uint32_t *version)
{
	*version = 26;
	return MATHS_OK;
}

EXPORT int cuptiSubscribe(void **subscriber, void *callback, void *data)
{
	(void)callback;
	(void)data;
	*subscriber = NULL;
	return NOT_INITIALIZED;
}

/* NOLINTEND(readability-identifier-naming) */
