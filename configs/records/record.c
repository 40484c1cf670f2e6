/* Records in a folder: their names, and which one belongs to a command. */
/* SPDX-License-Identifier: MIT */
#include "configs/records/record.h"

#include "base/alloc.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/strbuf.h"
#include "configs/files/dated.h"
#include "configs/records/record_fields.h"
#include "configs/records/record_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define SCRIPT_NAME_MAX 48
#define DEVICE_NAME_MAX 40
#define HASH_DIGITS 4
#define LISTED_MAX 1000000

void record_release(struct record *record)
{
	free(record->id);
	free(record->identity);
	free(record->subject);
	strlist_release(&record->stamps);
	strlist_release(&record->argv);
	free(record->preset);
	free(record->device_kind);
	free(record->misfit_by);
	free(record->isolation);
	strlist_release(&record->not_exercised);
	strlist_release(&record->copies);
	strlist_release(&record->caveats);
	probe_notes_release(&record->probes);
	record_settings_release(&record->settings);
	strlist_release(&record->recommended_argv);
	strlist_release(&record->recommended_env);
	free(record->host);
	strlist_release(&record->versions);
	free(record->autofit_version);
	memset(record, 0, sizeof(*record));
}

/* Folded: the last bytes of a text do not reach the upper bits of FNV. */
static unsigned identity_hash(const char *identity)
{
	uint64_t hash = hash_bytes(identity, strlen(identity));

	return (hash >> 48 ^ hash >> 32 ^ hash >> 16 ^ hash) & 0xffff;
}

static bool record_is_name_byte(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9') || c == '.' || c == '_';
}

/* Runs of what a file's name should not have become one dash. */
static void record_add_name(struct strbuf *out, const char *text,
			    size_t max_bytes, const char *fallback)
{
	size_t start = out->length;

	for (; *text && out->length - start < max_bytes; text++) {
		bool empty = out->length == start;

		if (record_is_name_byte(*text) && !(empty && *text == '.'))
			strbuf_addch(out, *text);
		else if (!empty && out->data[out->length - 1] != '-')
			strbuf_addch(out, '-');
	}
	while (out->length > start && out->data[out->length - 1] == '-')
		out->data[--out->length] = '\0';
	if (out->length == start)
		strbuf_adds(out, fallback);
}

void record_set_id(struct record *record, const char *script,
		   const char *device)
{
	struct strbuf id = STRBUF_INIT;
	char *base = xstrdup(basename(script));
	size_t length = strlen(base);

	if (length > 3 && strcmp(base + length - 3, ".py") == 0)
		base[length - 3] = '\0';
	record_add_name(&id, base, SCRIPT_NAME_MAX, "command");
	strbuf_addch(&id, '-');
	record_add_name(&id, device, DEVICE_NAME_MAX, "device");
	strbuf_addf(&id, "-%0*x", HASH_DIGITS, identity_hash(record->identity));
	free(base);
	free(record->id);
	record->id = strbuf_detach(&id);
}

/* A record, not something else and not a temporary file beside one. */
static bool is_record_name(const char *name)
{
	size_t length = strlen(name);

	return name[0] != '.' && length > RECORD_SUFFIX_LENGTH &&
	       strcmp(name + length - RECORD_SUFFIX_LENGTH, RECORD_SUFFIX) == 0;
}

/* "...-1a2b.ini", or "...-1a2bc.ini" after a collision of the hash. */
static bool name_has_hash(const char *name, unsigned hash)
{
	char wanted[HASH_DIGITS + 2];
	const char *dash = strrchr(name, '-');
	size_t rest;

	(void)snprintf(wanted, sizeof(wanted), "-%0*x", HASH_DIGITS, hash);
	if (!is_record_name(name) || !dash ||
	    strncmp(dash, wanted, HASH_DIGITS + 1) != 0)
		return false;
	rest = strlen(dash) - (HASH_DIGITS + 1) - RECORD_SUFFIX_LENGTH;
	return rest == 0 || (rest == 1 && dash[HASH_DIGITS + 1] >= 'b' &&
			     dash[HASH_DIGITS + 1] <= 'z');
}

bool record_name_fits(const char *name, const char *identity)
{
	return name_has_hash(name, identity_hash(identity));
}

/* NULL with result 0: there is no such folder, hence no record. */
static DIR *folder_open(const char *folder, int *result, struct error *err)
{
	DIR *dir = opendir(folder);

	*result = 0;
	if (!dir && errno != ENOENT)
		*result =
			error_set_errno(err, -errno, "cannot read %s", folder);
	return dir;
}

int record_list_fitting(struct strlist *paths, const char *folder,
			const char *identity, struct error *err)
{
	unsigned hash = identity_hash(identity);
	const struct dirent *entry;
	int result;
	DIR *dir;

	dir = folder_open(folder, &result, err);
	if (!dir)
		return result;
	while ((entry = readdir(dir)))
		if (name_has_hash(entry->d_name, hash))
			strlist_addf(paths, "%s/%s", folder, entry->d_name);
	(void)closedir(dir);
	return 0;
}

static void record_listing_read(struct dated_list *listing, DIR *dir,
				const char *folder)
{
	const struct dirent *entry;
	struct stat info;

	while (listing->count < LISTED_MAX && (entry = readdir(dir)))
		if (is_record_name(entry->d_name) &&
		    fstatat(dirfd(dir), entry->d_name, &info, 0) == 0 &&
		    S_ISREG(info.st_mode))
			dated_add(listing,
				  xasprintf("%s/%s", folder, entry->d_name),
				  info.st_mtim);
	dated_sort(listing);
}

int record_list(struct strlist *paths, const char *folder, struct error *err)
{
	struct dated_list listing = { 0 };
	int result;
	DIR *dir;

	dir = folder_open(folder, &result, err);
	if (!dir)
		return result;
	record_listing_read(&listing, dir, folder);
	(void)closedir(dir);
	for (size_t i = 0; i < listing.count; i++)
		strlist_add(paths, listing.items[i].path);
	dated_release(&listing);
	return 0;
}

void record_add_confirmation(const struct record *record, struct strbuf *out)
{
	strbuf_addf(out, "confirmed over %" PRId64 " step%s",
		    record->confirmed_steps,
		    record->confirmed_steps == 1 ? "" : "s");
	if (record->confirmed_passes)
		strbuf_addf(out, " and %" PRId64 " passes after the first",
			    record->confirmed_passes);
}
