/* NAME=value, and names of variables. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_COMMAND_SHELL_SHELL_ASSIGNMENT_H
#define AUTOFIT_LAUNCHER_COMMAND_SHELL_SHELL_ASSIGNMENT_H

#include "launcher/command/shell/shell.h"

bool shell_name_begins(char c); /* letter or _ */
/* Bytes of NAME at the beginning of the text; 0: none. */
size_t shell_name_length(const char *text, size_t length);

/* NAME=value, NAME+=value, NAME[i]=value, NAME=(a b). */
struct shell_assignment {
	struct shell_span name, value; /* value: inside the parentheses */
	bool appends, is_element, is_array;
};
/* False: the word is none. */
bool shell_assignment_read(const char *text, struct shell_span word,
			   struct shell_assignment *assignment);

#endif
