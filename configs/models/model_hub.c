/* Models in the local cache of the Hugging Face hub. */
/* SPDX-License-Identifier: MIT */
/*
 * CACHE/models--ORG--NAME/refs/main holds the name of the newest folder in
 * snapshots/ beside it. huggingface/huggingface_hub, constants.py and
 * file_download.py.
 */
#include "configs/models/model.h"

#include "base/alloc.h"
#include "base/strbuf.h"
#include "base/textfile.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define NAME_MAX_BYTES 200
#define REVISION_MAX_BYTES 64

static const char word_letters[] =
	"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";

/* A value of the environment with a ~ before it as the home. */
static char *hub_expand(const struct strlist *environment, const char *value,
			const char *behind)
{
	const char *home = strlist_env_get(environment, "HOME");

	if (*value == '~' && (value[1] == '/' || !value[1]) && home)
		return xasprintf("%s%s%s", home, value + 1, behind);
	return xasprintf("%s%s", value, behind);
}

/* The first that is set, as huggingface_hub takes them. */
static char *cache_folder(const struct strlist *environment)
{
	static const struct {
		const char *name, *behind;
	} rows[] = {
		{ "HF_HUB_CACHE", "" },
		{ "HUGGINGFACE_HUB_CACHE", "" },
		{ "HF_HOME", "/hub" },
		{ "XDG_CACHE_HOME", "/huggingface/hub" },
		{ "HOME", "/.cache/huggingface/hub" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const char *value = strlist_env_get(environment, rows[i].name);

		if (value && *value)
			return hub_expand(environment, value, rows[i].behind);
	}
	return NULL;
}

/* "org/name" or "name" of letters that a hub takes. */
static bool is_hub_name(const char *name)
{
	const char *slash = strchr(name, '/');
	size_t length = strlen(name);

	if (length > NAME_MAX_BYTES || *name == '.')
		return false;
	if (!slash)
		return length > 0 && strspn(name, word_letters) == length;
	return slash > name && slash[1] && slash[1] != '.' &&
	       strspn(name, word_letters) == (size_t)(slash - name) &&
	       strspn(slash + 1, word_letters) == strlen(slash + 1);
}

/* models--org--name */
static char *repository_folder(const char *cache, const char *name)
{
	const char *slash = strchr(name, '/');

	if (!slash)
		return xasprintf("%s/models--%s", cache, name);
	return xasprintf("%s/models--%.*s--%s", cache, (int)(slash - name),
			 name, slash + 1);
}

static bool hub_is_folder(const char *path)
{
	struct stat info;

	return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

static int is_snapshot(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

/* The only snapshot there is: then no ref has to say which. */
static char *only_snapshot(const char *repository)
{
	char *folder = xasprintf("%s/snapshots", repository);
	struct dirent **entries = NULL;
	int count = scandir(folder, &entries, is_snapshot, alphasort);
	char *path = NULL;

	if (count == 1)
		path = xasprintf("%s/%s", folder, entries[0]->d_name);
	for (int i = 0; i < count; i++)
		free(entries[i]);
	free(entries);
	free(folder);
	return path;
}

/* The snapshot that refs/main names. */
static char *main_snapshot(const char *repository)
{
	char *ref = xasprintf("%s/refs/main", repository);
	struct strbuf text = STRBUF_INIT;
	char *path = NULL;

	if (textfile_read(ref, REVISION_MAX_BYTES, &text, NULL) == 0) {
		const char *revision = strbuf_text(&text);
		size_t length = strspn(revision, word_letters);

		if (length > 0 && *revision != '.' &&
		    (!revision[length] ||
		     isspace((unsigned char)revision[length])))
			path = xasprintf("%s/snapshots/%.*s", repository,
					 (int)length, revision);
	}
	strbuf_release(&text);
	free(ref);
	return path;
}

static char *find_snapshot(const char *repository)
{
	char *path = main_snapshot(repository);

	if (path && hub_is_folder(path))
		return path;
	free(path);
	path = only_snapshot(repository);
	if (path && hub_is_folder(path))
		return path;
	free(path);
	return NULL;
}

char *model_hub_folder(const char *name, const struct strlist *environment,
		       struct error *err)
{
	char *cache, *repository, *snapshot;

	if (!is_hub_name(name)) {
		(void)error_set(err, -ENOENT, "no name of a model on the hub");
		return NULL;
	}
	cache = cache_folder(environment);
	if (!cache) {
		(void)error_set(err, -ENOENT,
				"there is no hub cache: HOME is not set");
		return NULL;
	}
	repository = repository_folder(cache, name);
	snapshot = find_snapshot(repository);
	if (!snapshot)
		(void)error_set(err, -ENOENT, "not in the hub cache %s", cache);
	free(repository);
	free(cache);
	return snapshot;
}
