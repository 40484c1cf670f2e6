/* A command as fuzz input: its words, its environment, the files it names. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_TESTS_FUZZ_COMMAND_H
#define AUTOFIT_TESTS_FUZZ_COMMAND_H

#include "base/alloc.h"
#include "base/strlist.h"
#include "launcher/command/files/named_files.h"
#include "launcher/command/text/shellquote.h"
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

/* Of type named_files_read. Scripts are there, as empty ones. */
static inline int fuzz_command_read_file(void *context, const char *path,
					 struct strbuf *text)
{
	const struct fuzz_command *command = context;
	size_t length = strlen(path);

	for (size_t i = 0; i < command->file_count; i++) {
		if (strcmp(command->files[i].path, path) != 0)
			continue;
		strbuf_add(text, command->files[i].text.data,
			   command->files[i].text.size);
		return 0;
	}
	return length > 3 && strcmp(path + length - 3, ".py") == 0 ? 0 : ENOENT;
}

static inline void fuzz_command_read(struct fuzz_command *command,
				     const char *data, size_t size)
{
	struct fuzz_input input = { data, size };
	struct fuzz_input part = fuzz_until(&input, "%%\n");
	struct fuzz_input marks = fuzz_until(&part, "\n");

	*command = (struct fuzz_command){
		.texts = { .read = fuzz_command_read_file, .context = command }
	};
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

static inline void fuzz_command_release(struct fuzz_command *command)
{
	for (size_t i = 0; i < command->file_count; i++)
		free(command->files[i].path);
	strlist_release(&command->argv);
	strlist_release(&command->environment);
	named_files_release(&command->texts);
}

#endif
