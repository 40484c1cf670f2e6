/* Becomes its command, but in a probe: then it does what its first word says.
 */
/* SPDX-License-Identifier: MIT */
/*
 * probe_gate WORD COMMAND...
 *
 *     pass    the command, in a probe too
 *     fail    a line on stderr, exit status 3
 *     hang    stands still before its first step
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXIT_USAGE 99
#define EXIT_TOLD 3

int main(int argc, char **argv)
{
	if (argc < 3)
		return EXIT_USAGE;
	if (getenv("AUTOFIT_PROBE") && strcmp(argv[1], "fail") == 0) {
		(void)fprintf(stderr, "ValueError: not in a probe\n");
		return EXIT_TOLD;
	}
	while (getenv("AUTOFIT_PROBE") && strcmp(argv[1], "hang") == 0)
		(void)pause();
	(void)execv(argv[2], argv + 2);
	return EXIT_USAGE;
}
