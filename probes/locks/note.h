/* Notes of "key=value" lines in lock files: hostile until read by a table. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_PROBES_LOCKS_NOTE_H
#define AUTOFIT_PROBES_LOCKS_NOTE_H

#include "base/strbuf.h"

#include <stdbool.h>
#include <stddef.h>

enum note_kind {
	NOTE_ID,    /* char[]: letters, digits, ".", "_", "-"; else empty */
	NOTE_WORDS, /* char[]: cut, what a terminal would act on becomes '?' */
	NOTE_PATH,  /* char[]: as NOTE_WORDS, but not written if that changes */
	NOTE_PID,   /* pid_t; 0: no number */
	NOTE_COUNT, /* uint64_t; 0: no number */
};

/* A member of the struct that a note is read into. A table ends with key NULL.
 */
struct note_field {
	const char *key;
	enum note_kind kind;
	size_t offset, size;
};

#define NOTE_FIELD(key, kind, type, member)                                    \
	{                                                                      \
		key, kind, offsetof(type, member), sizeof(((type *)0)->member) \
	}

/* Bytes that may stand in a name without harm. */
#define NOTE_ID_BYTES                                                          \
	"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"

/*
 * The lines of text up to "end" into note, which is zeroed first; text is
 * taken apart. True when every line was whole and "end" was there.
 */
bool note_parse(const struct note_field *fields, void *note, char *text);

/* What note_parse reads again. */
void note_format(const struct note_field *fields, const void *note,
		 struct strbuf *out);

/* Cut to size with its NUL; bytes that no terminal should see become '?'. */
void note_copy_words(char *to, size_t size, const char *from);

/* The id of this boot of the machine; "" where it is not told. */
#define NOTE_BOOT_ID_MAX 40
void note_boot_id(char boot_id[NOTE_BOOT_ID_MAX]);

#endif
