/* Programs that send work elsewhere: in a probe they start nothing. */
/* SPDX-License-Identifier: MIT */
#include "probes/leaving/shims.h"

#include "base/alloc.h"
#include "base/name.h"
#include "base/strbuf.h"
#include "base/textfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Of what was called, as it is told. */
#define CALLED_MAX 120
#define WORDS_MAX 3
#define COMMAND_MAX 4096

enum shim_kind {
	SHIM_ALWAYS,
	SHIM_SRUN, /* may start here */
	SHIM_RAY,  /* only its jobs go elsewhere */
};

/* Those that may start something here. */
static const struct shim {
	const char *name;
	enum shim_kind kind;
} shim_rows[] = {
	{ "srun", SHIM_SRUN },
	{ "ray", SHIM_RAY },
};

static enum shim_kind shim_kind_of(const char *name)
{
	for (size_t i = 0; i < sizeof(shim_rows) / sizeof(*shim_rows); i++)
		if (strcmp(name, shim_rows[i].name) == 0)
			return shim_rows[i].kind;
	return SHIM_ALWAYS;
}

/*
 * $0 may be a name alone, so the names are filled in. Nothing that it needs is
 * looked for in PATH.
 */
static const char shim_head[] =
	"#!/bin/sh\n"
	"# Made by autofit: this program would do work outside of a probe.\n"
	"set -f\n"
	"name=%s\n"
	"here='%s'\n"
	"pass() {\n"
	"	IFS=:\n"
	"	for folder in $PATH; do\n"
	"		[ \"$folder\" = \"$here\" ] && continue\n"
	"		if [ -x \"$folder/$name\" ]; then\n"
	"			unset IFS\n"
	"			exec \"$folder/$name\" \"$@\"\n"
	"		fi\n"
	"	done\n"
	"	unset IFS\n"
	"	echo \"$name: not found\" >&2\n"
	"	exit 127\n"
	"}\n";
static const char shim_srun[] =
	"case \" $* \" in\n"
	"*' -w'*|*' --nodel'*|*' -M'*|*' --cluster'*|*' --jobid'*) ;;\n"
	"*)\n"
	"	[ -n \"$SLURM_JOB_ID\" ] &&\n"
	"		[ \"${SLURM_JOB_NUM_NODES:-${SLURM_NNODES:-1}}\" = 1 ] "
	"&&\n"
	"		pass \"$@\"\n"
	"esac\n";
static const char shim_ray[] =
	"case \"$1 $2\" in\n"
	"'job submit'|submit\\ *|up\\ *|exec\\ *|attach\\ *|rsync*) ;;\n"
	"*) pass \"$@\" ;;\n"
	"esac\n";
static const char shim_end[] =
	"printf '%%s\\n' \"$name $1 $2\" >>'%s'\n"
	"printf 'autofit: %%s is not started in a probe\\n' \"$name\" >&2\n"
	"exit 1\n";

static int write_script(const struct shims *shims, const char *name,
			struct error *err)
{
	char *path = xasprintf("%s/%s", shims->folder, name);
	struct strbuf text = STRBUF_INIT;
	int result;

	strbuf_addf(&text, shim_head, name, shims->folder);
	if (shim_kind_of(name) == SHIM_SRUN)
		strbuf_adds(&text, shim_srun);
	if (shim_kind_of(name) == SHIM_RAY)
		strbuf_adds(&text, shim_ray);
	strbuf_addf(&text, shim_end, shims->mark);
	result = textfile_make(path, 0700, text.data, text.length, err);
	strbuf_release(&text);
	free(path);
	return result;
}

/* Where the shell would read a quote as its own, there are no scripts. */
static bool can_be_quoted(const char *path)
{
	return !strpbrk(path, "'\n:");
}

static int shims_add(struct shims *shims, const char *name, bool is_in_job,
		     struct error *err)
{
	enum shim_kind kind = shim_kind_of(name);
	int result = 0;

	if (can_be_quoted(shims->folder) && name_is_plain(name) && *name != '.')
		result = write_script(shims, name, err);
	if (result < 0)
		return result;
	strlist_add(&shims->names, name);
	if (kind == SHIM_ALWAYS || (kind == SHIM_SRUN && !is_in_job))
		strlist_add(&shims->always, name);
	return 0;
}

int shims_make(struct shims *shims, const char *scratch,
	       const struct strlist *programs,
	       const struct strlist *environment, struct error *err)
{
	const char *job = strlist_env_get(environment, "SLURM_JOB_ID");
	int result = 0;

	shims->folder = xasprintf("%s/shims", scratch);
	shims->mark = xasprintf("%s/called", scratch);
	if (mkdir(shims->folder, 0700) < 0)
		return error_set_errno(err, -errno, "cannot make %s",
				       shims->folder);
	for (size_t i = 0; result == 0 && i < programs->count; i++) {
		const char *name = programs->items[i];

		if (strlist_find(&shims->names, name) == shims->names.count)
			result = shims_add(shims, name, job && *job, err);
	}
	return result;
}

/* The words of a process, each with its NUL; their length. */
static size_t shims_read_words(pid_t pid, char words[COMMAND_MAX])
{
	char path[32];
	ssize_t got;
	int fd;

	(void)snprintf(path, sizeof(path), "/proc/%d/cmdline", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	got = read(fd, words, COMMAND_MAX - 1);
	(void)close(fd);
	words[got > 0 ? got : 0] = '\0';
	return got > 0 ? (size_t)got : 0;
}

/* "ssh", in a script's process as well; its name can be cut, or set at will. */
static bool has_such_name(const struct shims *shims, pid_t pid)
{
	char path[32];
	char name[32] = "";
	ssize_t got;
	int fd;

	(void)snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	got = read(fd, name, sizeof(name) - 1);
	(void)close(fd);
	name[got > 0 ? got - 1 : 0] = '\0';
	return strlist_find(&shims->always, name) < shims->always.count;
}

static bool is_such(const struct shims *shims, const char *word)
{
	return strlist_find(&shims->always, basename(word)) <
		       shims->always.count &&
	       strncmp(word, shims->folder, strlen(shims->folder)) != 0;
}

/* By the program's word, or a script's, which stands behind its interpreter. */
static void note_process(const struct shims *shims, pid_t pid)
{
	char words[COMMAND_MAX];
	size_t length = shims_read_words(pid, words);
	const char *second = words + strlen(words) + 1;
	const char *word = NULL;
	struct strbuf line = STRBUF_INIT;
	int fd;

	if (length && is_such(shims, words))
		word = words;
	else if (length && second < words + length && is_such(shims, second))
		word = second;
	if (!word)
		return;
	strbuf_adds(&line, basename(word));
	for (int i = 1; i < WORDS_MAX; i++) {
		word += strlen(word) + 1;
		if (word >= words + length)
			break;
		strbuf_addf(&line, " %s", word);
	}
	strbuf_addch(&line, '\n');
	fd = open(shims->mark, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (fd >= 0) {
		(void)!write(fd, line.data, line.length);
		(void)close(fd);
	}
	strbuf_release(&line);
}

bool shims_look(const struct shims *shims, pid_t pid)
{
	struct stat info;

	if (pid && has_such_name(shims, pid))
		note_process(shims, pid);
	/* Empty while its words are being written. */
	return shims->mark && stat(shims->mark, &info) == 0 && info.st_size > 0;
}

char *shims_called(const struct shims *shims)
{
	char text[CALLED_MAX + 1];
	ssize_t got;
	int fd = shims->mark
			 ? open(shims->mark,
				O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
			 : -1;

	if (fd < 0)
		return NULL;
	got = read(fd, text, CALLED_MAX);
	(void)close(fd);
	text[got > 0 ? got : 0] = '\0';
	text[strcspn(text, "\n")] = '\0';
	for (char *at = text; *at; at++)
		if (*at < ' ' || *at == 0x7f)
			*at = '?';
	for (size_t end = strlen(text); end && text[end - 1] == ' '; end--)
		text[end - 1] = '\0';
	return xstrdup(*text ? text : "a program");
}

void shims_release(struct shims *shims)
{
	free(shims->folder);
	free(shims->mark);
	strlist_release(&shims->names);
	strlist_release(&shims->always);
}
