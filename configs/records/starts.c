/* The split a run was first started with, for when it is resumed. */
/* SPDX-License-Identifier: MIT */
#include "configs/records/starts.h"

#include "base/alloc.h"
#include "base/hash.h"
#include "base/strbuf.h"
#include "base/textfile.h"
#include "configs/files/dated.h"
#include "configs/files/escape.h"
#include "configs/files/owned_file.h"
#include "configs/records/field.h"
#include "configs/records/record_fields.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define SCHEMA "autofit.start/1"
#define SUFFIX ".start"
#define SUFFIX_LENGTH (sizeof(SUFFIX) - 1)
#define HASH_DIGITS 16
/* A key is an identity and a little more: an argv of the limit fits. */
#define FILE_MAX ((size_t)32 << 20)
/* Clocks of two machines differ; by this much only when one is wrong. */
#define FUTURE_SECONDS_MAX (INT64_C(24) * 3600)
/* A temporary file of a writer that was killed is older than any write. */
#define LEFT_OVER_SECONDS 3600
/* In a folder that somebody filled more are left where they are. */
#define LISTED_MAX 100000

#define IN_START(member) offsetof(struct start, member)

static const struct field start_fields[] = {
	{ "micro_batch", FIELD_INTEGER, IN_START(batch.micro_batch), 1, 0,
	  false },
	{ "grad_accum", FIELD_INTEGER, IN_START(batch.grad_accum), 1, 0,
	  false },
	{ "world_size", FIELD_INTEGER, IN_START(batch.world_size), 1, 0,
	  false },
	{ "peak_bytes", FIELD_BYTES, IN_START(peak_bytes), 0, 0, false },
	{ "on_host", FIELD_BOOL, IN_START(on_host), 0, 0, false },
	{ "created", FIELD_INTEGER, IN_START(created), 0, 0, false },
	{ 0 }
};

/* All of the file: the numbers, whose they are, and the key as one line. */
static void start_format(struct strbuf *out, const struct start *start,
			 const char *key)
{
	assert(start->batch.micro_batch > 0 && start->batch.grad_accum > 0);
	strbuf_adds(out, SCHEMA "\n");
	for (const struct field *field = start_fields; field->name; field++) {
		strbuf_addf(out, "%s = ", field->name);
		field_format(field, start, out);
		strbuf_addch(out, '\n');
	}
	strbuf_addf(out, "record_id = %s\nkey = ", start->record_id);
	escape_add(out, key);
	strbuf_adds(out, "\nend\n");
}

static bool start_is_sound(const struct start *start)
{
	int64_t product;

	return start->batch.micro_batch > 0 && start->batch.grad_accum > 0 &&
	       start->batch.world_size > 0 && start->created >= 0 &&
	       !__builtin_mul_overflow(start->batch.micro_batch,
				       start->batch.grad_accum, &product) &&
	       !__builtin_mul_overflow(product, start->batch.world_size,
				       &product) &&
	       (!*start->record_id || record_id_is_valid(start->record_id));
}

/* The value of the line "name = value" at *text, which moves past it. */
static char *starts_take_value(const char **text, const char *name)
{
	size_t length = strlen(name);
	const char *value = *text + length + 3;
	const char *end;

	if (strncmp(*text, name, length) != 0 ||
	    strncmp(*text + length, " = ", 3) != 0)
		return NULL;
	end = strchr(value, '\n');
	if (!end)
		return NULL;
	*text = end + 1;
	assert(value <= end);
	return xstrndup(value, (size_t)(end - value));
}

static int take_field(struct start *start, const char **text,
		      const struct field *field)
{
	char *value = starts_take_value(text, field->name);
	int result = value ? field_parse(field, start, value, NULL) : -EINVAL;

	free(value);
	return result;
}

static int take_id(struct start *start, const char **text)
{
	char *value = starts_take_value(text, "record_id");
	int result = -EINVAL;

	if (value && strlen(value) < sizeof(start->record_id)) {
		(void)snprintf(start->record_id, sizeof(start->record_id), "%s",
			       value);
		result = 0;
	}
	free(value);
	return result;
}

/* The numbers; what follows them is the key's. */
static int start_parse(struct start *start, const char *text)
{
	int result = 0;

	memset(start, 0, sizeof(*start));
	if (strncmp(text, SCHEMA "\n", sizeof(SCHEMA)) != 0)
		return -EINVAL;
	text += sizeof(SCHEMA);
	for (const struct field *field = start_fields;
	     field->name && result == 0; field++)
		result = take_field(start, &text, field);
	if (result == 0)
		result = take_id(start, &text);
	if (result == 0 && !start_is_sound(start))
		result = -EINVAL;
	return result;
}

static int starts_text_of(struct strbuf *text, const char *path)
{
	struct owners owners = owners_of_user();
	int fd = owned_file_open(path, &owners, NULL);
	int result = fd;

	if (fd >= 0)
		result = textfile_read_open(fd, path, FILE_MAX, text, NULL);
	if (result > 0)
		result = -EFBIG;
	return result;
}

static char *starts_path_of(const char *folder, const char *key)
{
	return xasprintf("%s/%0*" PRIx64 SUFFIX, folder, HASH_DIGITS,
			 hash_bytes(key, strlen(key)));
}

/* Sound is what would be written so, byte for byte. */
static bool is_whole(const struct strbuf *text, const struct start *start,
		     const char *key)
{
	struct strbuf again = STRBUF_INIT;
	bool same;

	start_format(&again, start, key);
	same = again.length == text->length &&
	       memcmp(again.data, text->data, again.length) == 0;
	strbuf_release(&again);
	return same;
}

int start_read(struct start *start, const char *folder, const char *key)
{
	char *path = starts_path_of(folder, key);
	struct strbuf text = STRBUF_INIT;
	int found;

	found = starts_text_of(&text, path) == 0 &&
		start_parse(start, strbuf_text(&text)) == 0 &&
		is_whole(&text, start, key) &&
		start->created - (int64_t)time(NULL) <= FUTURE_SECONDS_MAX;
	if (!found)
		memset(start, 0, sizeof(*start));
	strbuf_release(&text);
	free(path);
	return found;
}

/* "1a2b...9f.start", or with the end of a temporary file's name. */
static bool has_start_name(const char *name, bool *is_temporary)
{
	const char *suffix = name + HASH_DIGITS;

	if (strspn(name, "0123456789abcdef") != HASH_DIGITS ||
	    strncmp(suffix, SUFFIX, SUFFIX_LENGTH) != 0)
		return false;
	*is_temporary = suffix[SUFFIX_LENGTH] == '.';
	return *is_temporary || suffix[SUFFIX_LENGTH] == '\0';
}

/* One entry of the folder: listed, removed as a left-over, or passed over. */
static void listing_look(struct dated_list *listing, const char *folder,
			 const char *name)
{
	bool is_temporary;
	struct stat info;
	char *path;

	if (!has_start_name(name, &is_temporary))
		return;
	path = xasprintf("%s/%s", folder, name);
	if (lstat(path, &info) == 0 && S_ISREG(info.st_mode)) {
		if (!is_temporary) {
			dated_add(listing, path, info.st_mtim);
			return;
		}
		if (time(NULL) - info.st_mtim.tv_sec > LEFT_OVER_SECONDS)
			(void)unlink(path);
	}
	free(path);
}

/* A folder that is not there has none. */
static void starts_listing_read(struct dated_list *listing, const char *folder)
{
	DIR *dir = opendir(folder);
	const struct dirent *entry;

	if (!dir)
		return;
	while (listing->count < LISTED_MAX && (entry = readdir(dir)))
		listing_look(listing, folder, entry->d_name);
	(void)closedir(dir);
}

/* All but the one just written, whatever the clock of the others was. */
static void starts_prune(const char *folder, const char *written)
{
	struct dated_list listing = { 0 };
	size_t kept = 1;

	starts_listing_read(&listing, folder);
	assert(listing.count <= LISTED_MAX);
	if (listing.count > STARTS_KEPT)
		dated_sort(&listing);
	for (size_t i = 0; i < listing.count; i++) {
		const char *path = listing.items[i].path;

		if (strcmp(path, written) == 0)
			continue;
		if (kept == STARTS_KEPT)
			(void)unlink(path); /* the next write tries again */
		else
			kept++;
	}
	dated_release(&listing);
}

int start_write(const struct start *start, const char *folder, const char *key,
		int replace, struct error *err)
{
	char *path = starts_path_of(folder, key);
	struct strbuf text = STRBUF_INIT;
	struct start there;
	int result = 0;

	if (!replace && start_read(&there, folder, key))
		goto out;
	if (start_is_sound(start))
		start_format(&text, start, key);
	if (text.length == 0 || text.length > FILE_MAX)
		result = error_set(err, -EINVAL,
				   "cannot write %s: it could not be read "
				   "again",
				   path);
	if (result == 0)
		result = folder_make(folder, 0700, err);
	if (result == 0)
		result = textfile_replace(path, 0600, text.data, text.length,
					  err);
	if (result == 0)
		starts_prune(folder, path);
out:
	strbuf_release(&text);
	free(path);
	return result;
}

void start_forget(const char *folder, const char *record_id)
{
	struct dated_list listing = { 0 };

	/* "" is that of no record, not of those that came from none. */
	if (*record_id)
		starts_listing_read(&listing, folder);
	for (size_t i = 0; i < listing.count; i++) {
		const char *path = listing.items[i].path;
		struct strbuf text = STRBUF_INIT;
		struct start start;

		if (starts_text_of(&text, path) == 0 &&
		    start_parse(&start, strbuf_text(&text)) == 0 &&
		    strcmp(start.record_id, record_id) == 0)
			(void)unlink(path); /* read-only: it stays, as it was */
		strbuf_release(&text);
	}
	dated_release(&listing);
}
