/* Becoming the real command. */
/* SPDX-License-Identifier: MIT */
#include "launcher/request/exec_command.h"

#include "base/alloc.h"
#include "base/strbuf.h"
#include "launcher/command/text/text.h"
#include "launcher/options/exitcode.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int exec_command_check_file(const char *path)
{
	struct stat info;

	if (stat(path, &info) < 0)
		return errno;
	if (S_ISDIR(info.st_mode) || access(path, X_OK) < 0)
		return EACCES;
	return 0;
}

/* The first that PATH leads to; else NULL and the errno exec would give. */
static char *exec_command_search(const char *program, int *error_number)
{
	const char *path = getenv("PATH");

	/* Without PATH execvp has a default of its own: let it decide. */
	*error_number = path ? ENOENT : 0;
	for (; path && *path; path += *path == ':') {
		size_t length = strcspn(path, ":");
		char *file = xasprintf("%.*s%s%s", (int)length, path,
				       length ? "/" : "", program);
		int found = exec_command_check_file(file);

		if (found == 0) {
			*error_number = 0;
			return file;
		}
		free(file);
		if (found == EACCES)
			*error_number = EACCES;
		path += length;
	}
	return NULL;
}

int exec_command_find(const char *program)
{
	int error_number;

	if (strchr(program, '/'))
		return exec_command_check_file(program);
	if (!*program)
		return ENOENT;
	free(exec_command_search(program, &error_number));
	return error_number;
}

char *exec_command_where(const char *program)
{
	int error_number;

	if (strchr(program, '/'))
		return xstrdup(program);
	return exec_command_search(program, &error_number);
}

/* One line as coreutils words it, and 126 or 127. */
static int exec_command_cannot_start(const char *program, int error_number)
{
	struct strbuf name = STRBUF_INIT;

	text_add_safe(&name, program, true);
	(void)fprintf(stderr, "autofit: cannot run '%s': %s\n",
		      strbuf_text(&name), strerror(error_number));
	strbuf_release(&name);
	return error_number == ENOENT ? EXIT_NOT_FOUND : EXIT_CANNOT_EXECUTE;
}

int exec_command(const struct process_state *state, const struct strlist *argv,
		 const struct strlist *changes)
{
	struct strlist environment = STRLIST_INIT;
	int number;

	/* Untouched when nothing changes: the very same array of strings. */
	if (changes->count) {
		for (char **item = environ; *item; item++)
			strlist_add(&environment, *item);
		strlist_env_change(&environment, changes);
		environ = environment.items;
	}
	(void)fflush(NULL);
	process_state_restore(state);
	(void)execvp(argv->items[0], argv->items);
	number = errno;
	(void)signal(SIGPIPE, SIG_IGN);
	return exec_command_cannot_start(argv->items[0], number);
}

char *exec_command_self(void)
{
	char *path = realpath("/proc/self/exe", NULL);

	return path ? path : xstrdup("autofit");
}
