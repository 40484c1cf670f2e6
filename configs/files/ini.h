/* INI text to entries, strictly: the only file that knows inih. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_CONFIGS_FILES_INI_H
#define AUTOFIT_CONFIGS_FILES_INI_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

/* inih as Debian builds it cuts longer lines; ini_read refuses them. */
#define INI_LINE_MAX 190

struct ini_entry {
	const char *section; /* "" before the first section */
	const char *key;
	const char *value; /* one line; continuation lines come one by one */
	unsigned line;     /* from 1 */
	bool continues;    /* an indented line: more of the value before */
};

/* 0 to go on; a negative errno (and err set) stops the reading. */
typedef int ini_entry_cb(void *context, const struct ini_entry *entry,
			 struct error *err);

/*
 * Calls on_entry for every key = value; an indented line is one more entry of
 * the key above it. "name:line: " is put before every message. A line that is
 * too long, has a NUL or is no entry is an error; so is what inih refuses.
 * inih drops " ;" and what follows as a comment: writers escape it.
 */
int ini_read(const char *name, const char *text, size_t length,
	     ini_entry_cb *on_entry, void *context, struct error *err);

#endif
