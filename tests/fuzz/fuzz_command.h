/* A command as fuzz input: its words, its environment, the files it names. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_TESTS_FUZZ_COMMAND_H
#define AUTOFIT_TESTS_FUZZ_COMMAND_H

#include "base/alloc.h"
#include "base/strlist.h"
#include "launcher/command/command.h"
#include "launcher/command/text/named_files.h"
#include "tests/fuzz/fuzz.h"

#include <errno.h>

#define FUZZ_FILES_MAX 6
#define FUZZ_WORDS_MAX 64
#define FUZZ_MARKS 6

/*
 * "MARKS\nword\nword\n%%\nNAME=value\n%%\npath\ntext of it\n%%\npath..." A NUL
 * in a word stands for a line end.
 */
struct fuzz_command {
	unsigned char marks[FUZZ_MARKS]; /* what the target makes of them */
	unsigned choice, chance;         /* the first two of them */
	struct strlist argv, environment;
	struct {
		char *path;
		struct fuzz_input text;
	} files[FUZZ_FILES_MAX];
	size_t file_count;
	struct named_files texts;
};

static inline void fuzz_lines(struct fuzz_input part, struct strlist *out)
{
	while (part.size && out->count < FUZZ_WORDS_MAX)
		strlist_take(out, fuzz_copy(fuzz_until(&part, "\n"), true));
}

static inline void fuzz_command_read(struct fuzz_command *command,
				     const char *data, size_t size)
{
	struct fuzz_input input = { data, size };
	struct fuzz_input part = fuzz_until(&input, "%%\n");
	struct fuzz_input marks = fuzz_until(&part, "\n");

	*command = (struct fuzz_command){ 0 };
	for (int i = 0; i < FUZZ_MARKS; i++)
		command->marks[i] = fuzz_byte(&marks);
	command->choice = command->marks[0];
	command->chance = command->marks[1];
	fuzz_lines(part, &command->argv);
	fuzz_lines(fuzz_until(&input, "%%\n"), &command->environment);
	while (input.size && command->file_count < FUZZ_FILES_MAX) {
		part = fuzz_until(&input, "%%\n");
		command->files[command->file_count].path =
			fuzz_copy(fuzz_until(&part, "\n"), true);
		command->files[command->file_count++].text = part;
	}
}

/* Tells which command it was that it does not hold for. */
static inline void __attribute__((noreturn))
fuzz_fail_words(const char *what, const struct strlist *argv)
{
	fuzz_fail(what, shell_quote_all(argv));
}

/* The file that texts want next. */
static inline void fuzz_command_add_text(struct fuzz_command *command)
{
	struct strbuf text = STRBUF_INIT;
	char *path;
	int error = ENOENT;

	if (!command->texts.wanted)
		fuzz_fail("it says which file it wants", "");
	path = xstrdup(command->texts.wanted);
	/* Scripts are there, as empty ones. */
	if (strlen(path) > 3 && strcmp(path + strlen(path) - 3, ".py") == 0)
		error = 0;
	for (size_t i = 0; i < command->file_count; i++) {
		if (strcmp(command->files[i].path, path) != 0)
			continue;
		strbuf_add(&text, command->files[i].text.data,
			   command->files[i].text.size);
		error = 0;
		break;
	}
	named_files_add(&command->texts, path, &text, error);
	fuzz_check(!command->texts.wanted, "what was added is not wanted");
	free(path);
	strbuf_release(&text);
}

static inline void fuzz_command_release(struct fuzz_command *command)
{
	for (size_t i = 0; i < command->file_count; i++)
		free(command->files[i].path);
	strlist_release(&command->argv);
	strlist_release(&command->environment);
	named_files_release(&command->texts);
}

#endif
