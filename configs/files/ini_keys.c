/* Keys of an INI file and the members of a struct they go to: one row each. */
/* SPDX-License-Identifier: MIT */
#include "configs/files/ini_keys.h"

#include "base/alloc.h"
#include "base/strlist.h"
#include "base/units.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

const struct ini_key *ini_key_find(const struct ini_key *keys,
				   const char *section, const char *name)
{
	/* Names differ early: the first byte spares most of the calls. */
	for (; keys->name; keys++)
		if (*keys->name == *name && strcmp(keys->name, name) == 0 &&
		    strcmp(keys->section, section) == 0)
			return keys;
	return NULL;
}

int ini_word_find(const char *const *words, const char *text)
{
	for (int i = 0; words[i]; i++)
		if (strcmp(words[i], text) == 0)
			return i;
	return -1;
}

static void ini_keys_set_text(char **text, char glue,
			      const struct ini_entry *entry)
{
	char *joined = *text && entry->continues
			       ? xasprintf("%s%c%s", *text, glue, entry->value)
			       : xstrdup(entry->value);

	free(*text);
	*text = joined;
}

void ini_key_list_words(struct strbuf *out, const struct ini_key *key)
{
	for (size_t i = 0; key->words[i]; i++) {
		if (i > 0)
			strbuf_adds(out, key->words[i + 1] ? ", " : " or ");
		strbuf_adds(out, key->words[i]);
	}
}

/* "scope = x: write rank, node, global or total" */
static int ini_keys_no_such_word(const struct ini_key *key, const char *value,
				 struct error *err)
{
	struct strbuf list = STRBUF_INIT;
	int result;

	ini_key_list_words(&list, key);
	result = error_set(err, -EINVAL, "%s = %s: write %s", key->name, value,
			   strbuf_text(&list));
	strbuf_release(&list);
	return result;
}

static int set_switch(bool *flag, const struct ini_key *key, const char *value,
		      struct error *err)
{
	*flag = strcmp(value, "yes") == 0;
	if (*flag || strcmp(value, "no") == 0)
		return 0;
	return error_set(err, -EINVAL, "%s = %s: write yes or no", key->name,
			 value);
}

static int set_count(int64_t *count, const struct ini_key *key,
		     const char *value, struct error *err)
{
	if (integer_parse(value, count, NULL) == 0 && *count >= 0)
		return 0;
	return error_set(err, -EINVAL,
			 "%s = %s: write a whole number, 0 or more", key->name,
			 value);
}

int ini_key_set(const struct ini_key *key, void *object,
		const struct ini_entry *entry, struct error *err)
{
	void *place = (char *)object + key->offset;
	int word = 0;

	if (*entry->value == '\0')
		return error_set(err, -EINVAL, "%s has no value", key->name);
	if (key->words)
		word = ini_word_find(key->words, entry->value);
	if (word < 0)
		return ini_keys_no_such_word(key, entry->value, err);
	switch (key->kind) {
	case INI_LIST:
		strlist_add(place, entry->value);
		break;
	case INI_WORDS:
		strlist_add_words(place, entry->value);
		break;
	case INI_TEXT:
	case INI_CHOICE:
		ini_keys_set_text(place, ' ', entry);
		break;
	case INI_LINES:
		ini_keys_set_text(place, '\n', entry);
		break;
	case INI_COUNT:
		return set_count(place, key, entry->value, err);
	case INI_SWITCH:
		return set_switch(place, key, entry->value, err);
	case INI_WORD:
		memcpy(place, &word, sizeof(word));
		break;
	}
	return 0;
}

void ini_keys_release(const struct ini_key *keys, void *object)
{
	for (; keys->name; keys++) {
		void *place = (char *)object + keys->offset;

		if (keys->kind == INI_LIST || keys->kind == INI_WORDS)
			strlist_release(place);
		else if (keys->kind == INI_TEXT || keys->kind == INI_LINES ||
			 keys->kind == INI_CHOICE)
			free(*(char **)place);
	}
}
