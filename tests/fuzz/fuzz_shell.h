/* Where shell text of an input stands for its arguments. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_TESTS_FUZZ_SHELL_H
#define AUTOFIT_TESTS_FUZZ_SHELL_H

#include "tests/fuzz/fuzz_command.h"

static inline struct fuzz_input fuzz_argument(const struct fuzz_command *input,
					      size_t index)
{
	const char *text = input->argv.items[index];

	return (struct fuzz_input){ text, strlen(text) };
}

static inline size_t fuzz_count_uses(struct fuzz_input text)
{
	size_t uses = 0;

	for (size_t i = 1; i < text.size; i++) {
		bool is_braced = i > 1 && text.data[i - 1] == '{';

		uses += text.data[i - 1 - is_braced] == '$' && text.data[i] &&
			strchr("0123456789@*#", text.data[i]);
	}
	return uses;
}

/* Of arguments, in texts of the shell: one that is used twice changes twice. */
static inline size_t fuzz_uses(const struct fuzz_command *input)
{
	size_t uses = 0;

	for (size_t i = 0; i < input->argv.count; i++)
		uses += fuzz_count_uses(fuzz_argument(input, i));
	for (size_t i = 0; i < input->file_count; i++)
		uses += fuzz_count_uses(input->files[i].text);
	return uses;
}

static inline size_t fuzz_count(struct fuzz_input text, char byte)
{
	size_t count = 0;

	for (size_t i = 0; i < text.size; i++)
		count += text.data[i] == byte;
	return count;
}

/* "$@" as a word of its own, outside quotes and braces. */
static inline bool fuzz_has_all(struct fuzz_input text)
{
	static const char all[] = " \"$@\"";
	struct fuzz_input rest = text;
	struct fuzz_input before = fuzz_until(&rest, all);

	return before.size < text.size && fuzz_count(before, '"') % 2 == 0 &&
	       fuzz_count(before, '\'') % 2 == 0 &&
	       fuzz_count(before, '`') % 2 == 0 &&
	       fuzz_count(before, '\\') == 0 &&
	       fuzz_count(before, '{') == fuzz_count(before, '}') &&
	       (!rest.size || *rest.data == ' ' || *rest.data == '\n');
}

/* The arguments are a list of words there, and no part of one. */
static inline bool fuzz_takes_any(const struct fuzz_command *input)
{
	bool has = false;

	for (size_t i = 0; i < input->argv.count; i++)
		has = has || fuzz_has_all(fuzz_argument(input, i));
	for (size_t i = 0; i < input->file_count; i++)
		has = has || fuzz_has_all(input->files[i].text);
	return has && fuzz_uses(input) == 1;
}

#endif
