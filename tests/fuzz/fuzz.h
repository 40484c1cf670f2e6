/* What a fuzz target is, and what it has to read its input with. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_TESTS_FUZZ_H
#define AUTOFIT_TESTS_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Each fuzz_NAME.c defines it: feed these bytes to a reader of autofit and
 * fuzz_fail() when what must hold does not. driver.c calls it for libFuzzer,
 * or for the files of a folder.
 */
void fuzz_one(const char *data, size_t size);

/* Tells what did not hold; libFuzzer keeps the input. */
static inline void __attribute__((noreturn))
fuzz_fail(const char *what, const char *detail)
{
	(void)fprintf(stderr, "does not hold: %s: %s\n", what, detail);
	abort();
}

static inline void fuzz_check(bool holds, const char *what)
{
	if (!holds)
		fuzz_fail(what, "");
}

/* Input that is being read. */
struct fuzz_input {
	const char *data;
	size_t size;
};

/* The next byte; 0 past the end. */
static inline unsigned char fuzz_byte(struct fuzz_input *input)
{
	if (!input->size)
		return 0;
	input->size--;
	return (unsigned char)*input->data++;
}

/*
 * The bytes up to the mark, which is passed over; all that is left when it is
 * not there.
 */
static inline struct fuzz_input fuzz_until(struct fuzz_input *input,
					   const char *mark)
{
	struct fuzz_input part = *input;
	const char *end = input->size ? memmem(input->data, input->size, mark,
					       strlen(mark))
				      : NULL;

	if (!end) {
		*input = (struct fuzz_input){ 0 };
		return part;
	}
	part.size = (size_t)(end - input->data);
	input->data = end + strlen(mark);
	input->size -= part.size + strlen(mark);
	return part;
}

/*
 * A copy that ends where its memory does, so that a sanitizer sees what is
 * read past it; nul: a NUL more, and those within become line ends. The caller
 * frees it.
 */
static inline char *fuzz_copy(struct fuzz_input part, bool nul)
{
	char *copy = malloc(part.size + (nul || !part.size));

	if (!copy)
		abort();
	if (part.size)
		memcpy(copy, part.data, part.size);
	for (size_t i = 0; nul && i < part.size; i++)
		if (!copy[i])
			copy[i] = '\n';
	if (nul || !part.size)
		copy[part.size] = '\0';
	return copy;
}

#endif
