/* What probes saw of a command's sizes, kept for its next start. */
/* SPDX-License-Identifier: MIT */
#include "launcher/request/seen_store.h"

#include "base/alloc.h"
#include "base/hash.h"
#include "base/textfile.h"
#include "configs/files/escape.h"
#include "configs/files/owned_file.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* An identity of the longest argv fits. */
#define SEEN_FILE_MAX ((size_t)32 << 20)
#define SEEN_SIZE_MAX (INT64_C(1) << 31)

#define IN_SEEN(member) offsetof(struct seen_meaning, member)

static const struct {
	const char *name;
	size_t offset;
} switches[] = { { "micro_is_global", IN_SEEN(micro_is_global) },
		 { "micro_is_rank", IN_SEEN(micro_is_rank) },
		 { "accum_is_total", IN_SEEN(accum_is_total) },
		 { "accum_is_rank", IN_SEEN(accum_is_rank) } },
  guesses[] = { { "micro_guess", IN_SEEN(micro_guess) },
		{ "accum_guess", IN_SEEN(accum_guess) } },
  numbers[] = { { "ranks", IN_SEEN(ranks) },
		{ "micro_default", IN_SEEN(micro_default) },
		{ "accum_default", IN_SEEN(accum_default) } };

static const struct {
	const char *name;
	size_t offset, size;
} texts[] = { { "micro_flag", IN_SEEN(micro_flag), SEEN_NAME_MAX },
	      { "accum_flag", IN_SEEN(accum_flag), SEEN_NAME_MAX },
	      { "global_flag", IN_SEEN(global_flag), SEEN_NAME_MAX },
	      { "config_file", IN_SEEN(config_file), SEEN_PATH_MAX } };

static char *path_of(const struct paths *paths, const char *identity)
{
	return xasprintf("%s/%016" PRIx64 ".json", paths->meanings,
			 hash_bytes(identity, strlen(identity)));
}

/* JSON takes no bytes that are not UTF-8. */
static char *seen_key(const char *identity)
{
	struct strbuf key = STRBUF_INIT;

	escape_add(&key, identity);
	return strbuf_detach(&key);
}

static bool seen_take(struct seen_meaning *seen, const json_t *root)
{
	for (size_t i = 0; i < sizeof(switches) / sizeof(*switches); i++)
		*(bool *)((char *)seen + switches[i].offset) =
			json_is_true(json_object_get(root, switches[i].name));
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
		json_int_t value = json_integer_value(
			json_object_get(root, numbers[i].name));

		if (value < 0 || value > SEEN_SIZE_MAX)
			return false;
		*(int64_t *)((char *)seen + numbers[i].offset) = value;
	}
	for (size_t i = 0; i < sizeof(guesses) / sizeof(*guesses); i++) {
		json_int_t value = json_integer_value(
			json_object_get(root, guesses[i].name));

		if (value < 0 || value >= GUESSES)
			return false;
		*(enum seen_guess *)((char *)seen + guesses[i].offset) =
			(enum seen_guess)value;
	}
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		const char *name =
			json_string_value(json_object_get(root, texts[i].name));

		if (name && strlen(name) >= texts[i].size)
			return false;
		if (name)
			memcpy((char *)seen + texts[i].offset, name,
			       strlen(name) + 1);
	}
	return true;
}

bool seen_store_read(struct seen_meaning *seen, const struct paths *paths,
		     const char *identity)
{
	char *path = path_of(paths, identity);
	char *key = seen_key(identity);
	struct strbuf text = STRBUF_INIT;
	json_t *root = NULL;
	struct owners owners = owners_of_user();
	const char *whose;
	bool found = false;
	int fd;

	memset(seen, 0, sizeof(*seen));
	fd = owned_file_open(path, &owners, NULL);
	if (fd < 0 ||
	    textfile_read_open(fd, path, SEEN_FILE_MAX, &text, NULL) != 0)
		goto out;
	root = json_loadb(strbuf_text(&text), text.length, 0, NULL);
	whose = json_string_value(json_object_get(root, "identity"));
	found = whose && strcmp(whose, key) == 0 && seen_take(seen, root);
	if (!found)
		memset(seen, 0, sizeof(*seen));
out:
	json_decref(root);
	strbuf_release(&text);
	free(key);
	free(path);
	return found;
}

void seen_store_forget(const struct paths *paths, const char *identity)
{
	char *path = path_of(paths, identity);

	(void)unlink(path);
	free(path);
}

int seen_store_write(const struct seen_meaning *seen, const struct paths *paths,
		     const char *identity, struct error *err)
{
	char *path = path_of(paths, identity);
	char *key = seen_key(identity);
	json_t *root = json_pack("{s:s}", "identity", key);
	char *text = NULL;
	int result = paths_make(paths->meanings, err);

	for (size_t i = 0; i < sizeof(switches) / sizeof(*switches); i++)
		(void)json_object_set_new(
			root, switches[i].name,
			json_boolean(*(const bool *)((const char *)seen +
						     switches[i].offset)));
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		(void)json_object_set_new(
			root, numbers[i].name,
			json_integer(*(const int64_t *)((const char *)seen +
							numbers[i].offset)));
	for (size_t i = 0; i < sizeof(guesses) / sizeof(*guesses); i++)
		(void)json_object_set_new(
			root, guesses[i].name,
			json_integer(
				*(const enum seen_guess *)((const char *)seen +
							   guesses[i].offset)));
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		(void)json_object_set_new(
			root, texts[i].name,
			json_string((const char *)seen + texts[i].offset));
	text = root ? json_dumps(root, JSON_INDENT(1)) : NULL;
	if (!text)
		result = error_set(err, -EINVAL,
				   "what was seen cannot be written as JSON");
	else if (result == 0)
		result = textfile_replace(path, S_IRUSR | S_IWUSR, text,
					  strlen(text), err);
	free(text);
	json_decref(root);
	free(key);
	free(path);
	return result;
}
