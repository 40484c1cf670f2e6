/* A growable list of strings, always NULL-terminated, as argv and envp are. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_BASE_STRLIST_H
#define AUTOFIT_BASE_STRLIST_H

#include <stdbool.h>
#include <stddef.h>

struct strlist {
	char **items; /* items[count] is NULL once anything was added */
	size_t count;
	size_t capacity;
};

#define STRLIST_INIT                                                           \
	{                                                                      \
		0                                                              \
	}

/* Every text is copied; the list owns its copies. */
void strlist_add(struct strlist *list, const char *text);
void strlist_addf(struct strlist *list, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void strlist_add_all(struct strlist *list, const char *const *items,
		     size_t count);
/* The words of a text, between blanks. */
void strlist_add_words(struct strlist *list, const char *text);
/* Takes ownership of text, which came from malloc. */
void strlist_take(struct strlist *list, char *text);
void strlist_insert(struct strlist *list, size_t index, const char *text);
void strlist_replace(struct strlist *list, size_t index, const char *text);
void strlist_remove(struct strlist *list, size_t index);
/* In the order of their bytes. */
void strlist_sort(struct strlist *list);

/* Index of the first equal item, or list->count. */
size_t strlist_find(const struct strlist *list, const char *text);
bool strlist_equal(const struct strlist *a, const struct strlist *b);

/*
 * The list read as an environment of NAME=value items: the value of name, or
 * NULL; set replaces or adds; unset removes every item of that name. change
 * does so with a list of NAME=value to set and bare NAMEs to unset.
 */
const char *strlist_env_get(const struct strlist *list, const char *name);
void strlist_env_set(struct strlist *list, const char *name, const char *value);
void strlist_env_unset(struct strlist *list, const char *name);
/* Puts text in front of what is there, parted by a colon. An empty piece, which
 * of PYTHONPATH would be the current folder, is not added. */
void strlist_env_prepend(struct strlist *list, const char *name,
			 const char *text);
void strlist_env_change(struct strlist *list, const struct strlist *changes);

void strlist_release(struct strlist *list);

#endif
