/* The end of a program that asks for what a phantom card has not. */
/* SPDX-License-Identifier: MIT */
#include "probes/phantom/runtime/runtime.h"

#include <stdio.h>
#include <unistd.h>

/* The process's exit status: as autofit's own for "not safe here". */
#define REFUSED 123

int phantom_refuse(const char *name)
{
	char text[256];
	int length = snprintf(text, sizeof(text),
			      "autofit: a phantom card has no %.100s, which "
			      "this program calls: what it needs can only be "
			      "measured on a real card\n",
			      name);

	if (length > 0)
		(void)!write(STDERR_FILENO, text, (size_t)length);
	_exit(REFUSED);
}
