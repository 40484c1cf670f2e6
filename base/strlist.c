/* A growable list of strings, always NULL-terminated, as argv and envp are. */
/* SPDX-License-Identifier: MIT */
#include "base/strlist.h"

#include "base/alloc.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void strlist_add_words(struct strlist *list, const char *text)
{
	for (text += strspn(text, " "); *text; text += strspn(text, " ")) {
		size_t length = strcspn(text, " ");

		strlist_take(list, xstrndup(text, length));
		text += length;
	}
}

void strlist_take(struct strlist *list, char *text)
{
	assert(text && "it would end the list");
	assert(!list->items || !list->items[list->count]);
	if (list->count + 2 > list->capacity) {
		list->capacity = list->capacity ? list->capacity * 2 : 8;
		list->items = xrealloc(list->items, list->capacity,
				       sizeof(*list->items));
	}
	list->items[list->count++] = text;
	list->items[list->count] = NULL;
}

void strlist_add(struct strlist *list, const char *text)
{
	strlist_take(list, xstrdup(text));
}

void strlist_addf(struct strlist *list, const char *format, ...)
{
	char *text = NULL;
	va_list args;
	int length;

	va_start(args, format);
	length = vasprintf(&text, format, args);
	va_end(args);
	strlist_take(list, length < 0 ? xstrdup("") : text);
}

void strlist_add_all(struct strlist *list, const char *const *items,
		     size_t count)
{
	for (size_t i = 0; i < count; i++)
		strlist_add(list, items[i]);
}

void strlist_insert(struct strlist *list, size_t index, const char *text)
{
	assert(index <= list->count);
	strlist_add(list, text);
	char *added = list->items[list->count - 1];
	memmove(list->items + index + 1, list->items + index,
		(list->count - 1 - index) * sizeof(*list->items));
	list->items[index] = added;
}

void strlist_replace(struct strlist *list, size_t index, const char *text)
{
	char *copy = xstrdup(text);

	assert(index < list->count);
	free(list->items[index]);
	list->items[index] = copy;
}

void strlist_remove(struct strlist *list, size_t index)
{
	assert(index < list->count);
	free(list->items[index]);
	memmove(list->items + index, list->items + index + 1,
		(list->count - index) * sizeof(*list->items));
	list->count--;
}

static int compare_items(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

void strlist_sort(struct strlist *list)
{
	if (list->count)
		qsort(list->items, list->count, sizeof(*list->items),
		      compare_items);
}

size_t strlist_find(const struct strlist *list, const char *text)
{
	size_t i = 0;

	while (i < list->count && strcmp(list->items[i], text) != 0)
		i++;
	return i;
}

bool strlist_equal(const struct strlist *a, const struct strlist *b)
{
	if (a->count != b->count)
		return false;
	for (size_t i = 0; i < a->count; i++)
		if (strcmp(a->items[i], b->items[i]) != 0)
			return false;
	return true;
}

static size_t env_find(const struct strlist *list, const char *name)
{
	size_t length = strlen(name);
	size_t i = 0;

	while (i < list->count && (strncmp(list->items[i], name, length) != 0 ||
				   list->items[i][length] != '='))
		i++;
	return i;
}

const char *strlist_env_get(const struct strlist *list, const char *name)
{
	size_t i = env_find(list, name);

	return i < list->count ? list->items[i] + strlen(name) + 1 : NULL;
}

void strlist_env_set(struct strlist *list, const char *name, const char *value)
{
	size_t i = env_find(list, name);
	char *item = xasprintf("%s=%s", name, value);

	if (i < list->count) {
		free(list->items[i]);
		list->items[i] = item;
	} else {
		strlist_take(list, item);
	}
}

void strlist_env_prepend(struct strlist *list, const char *name,
			 const char *text)
{
	const char *old = strlist_env_get(list, name);
	char *value =
		old && *old ? xasprintf("%s:%s", text, old) : xstrdup(text);

	strlist_env_set(list, name, value);
	free(value);
}

void strlist_env_unset(struct strlist *list, const char *name)
{
	size_t i;

	while ((i = env_find(list, name)) < list->count)
		strlist_remove(list, i);
}

void strlist_env_change(struct strlist *list, const struct strlist *changes)
{
	for (size_t i = 0; i < changes->count; i++) {
		char *name = xstrdup(changes->items[i]);
		char *value = strchr(name, '=');

		if (value) {
			*value = '\0';
			strlist_env_set(list, name, value + 1);
		} else {
			strlist_env_unset(list, name);
		}
		free(name);
	}
}

void strlist_release(struct strlist *list)
{
	for (size_t i = 0; i < list->count; i++)
		free(list->items[i]);
	free(list->items);
	memset(list, 0, sizeof(*list));
}
