/* Keys of an INI file and the members of a struct they go to: one row each. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_CONFIGS_FILES_INI_KEYS_H
#define AUTOFIT_CONFIGS_FILES_INI_KEYS_H

#include "base/error.h"
#include "base/strbuf.h"
#include "configs/files/ini.h"

#include <stddef.h>

enum ini_key_kind {
	INI_LIST,   /* struct strlist: an item for each line */
	INI_WORDS,  /* struct strlist: an item for each word */
	INI_TEXT,   /* char *: continuation lines follow with a blank */
	INI_LINES,  /* char *: continuation lines stay lines */
	INI_COUNT,  /* int64_t: 0 or more */
	INI_SWITCH, /* bool: yes or no */
	INI_CHOICE, /* char *: one of words */
	INI_WORD,   /* an enum: the place among words */
};

struct ini_key {
	const char *section; /* its rows stand together */
	const char *name;
	enum ini_key_kind kind;
	size_t offset;            /* into the struct */
	const char *doc;          /* for a manual page; no full stop */
	const char *const *words; /* CHOICE, WORD: ends with NULL */
};

/* The row of a key; NULL: there is none. A row without a name ends a table. */
const struct ini_key *ini_key_find(const struct ini_key *keys,
				   const char *section, const char *name);

/*
 * Sets the member from the value of an entry. A member that has a value gets
 * another one, but for lists, and for continuation lines, which go on. -EINVAL
 * for a value that is none.
 */
int ini_key_set(const struct ini_key *key, void *object,
		const struct ini_entry *entry, struct error *err);

/* Frees what the keys of a table have set. */
void ini_keys_release(const struct ini_key *keys, void *object);

/* Appends the words of a key: "rank, node, global or total". */
void ini_key_list_words(struct strbuf *out, const struct ini_key *key);

/* The place of a text among words that end with NULL; -1: none of them. */
int ini_word_find(const char *const *words, const char *text);

#endif
