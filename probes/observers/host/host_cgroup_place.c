/* Where in the cgroup trees a process is. */
/* SPDX-License-Identifier: MIT */
#include "probes/observers/host/host_cgroup_place.h"

#include "base/alloc.h"
#include "base/strbuf.h"
#include "base/textfile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_MAX_BYTES ((size_t)1 << 20)
/* v1 says "no limit" by the largest number of pages, in bytes. */
#define UNLIMITED_BYTES (UINT64_C(1) << 60)

static bool cgroup_place_is_folder(const char *path)
{
	struct stat info;

	return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

static bool list_has(const char *list, size_t length, const char *word)
{
	size_t word_length = strlen(word);

	while (length >= word_length) {
		const char *comma = memchr(list, ',', length);
		size_t item = comma ? (size_t)(comma - list) : length;

		if (item == word_length && !memcmp(list, word, item))
			return true;
		if (!comma)
			break;
		list += item + 1;
		length -= item + 1;
	}
	return false;
}

/* "4:memory:/a/b" or "0::/a/b": the path, when it is of the wanted tree. */
static const char *cgroup_place_path_of(const char *line,
					enum host_cgroup_version version)
{
	const char *controllers = strchr(line, ':');
	const char *path = controllers ? strchr(++controllers, ':') : NULL;

	if (!path)
		return NULL;
	if (version == HOST_CGROUP_V2)
		return path == controllers && !strncmp(line, "0:", 2) ? path + 1
								      : NULL;
	return list_has(controllers, (size_t)(path - controllers), "memory")
		       ? path + 1
		       : NULL;
}

/* The path below the root of the tree, as /proc/self/cgroup has it. */
static char *own_path(const char *proc, enum host_cgroup_version version)
{
	char *file = xasprintf("%s/self/cgroup", proc);
	struct strbuf text = STRBUF_INIT;
	char *result = NULL;
	char *rest;

	if (textfile_read(file, FILE_MAX_BYTES, &text, NULL) == 0 &&
	    text.length) {
		for (char *line = strtok_r(text.data, "\n", &rest);
		     line && !result; line = strtok_r(NULL, "\n", &rest)) {
			const char *path = cgroup_place_path_of(line, version);

			if (path)
				result = xstrdup(path);
		}
	}
	strbuf_release(&text);
	free(file);
	return result;
}

/* v1 has a mount of its own; v2 is the root, or beside v1 "unified". */
static char *tree_root(const char *cgroup, enum host_cgroup_version version)
{
	static const char *const names[] = { "memory", "unified", "" };
	size_t first = version == HOST_CGROUP_V1 ? 0 : 1;
	size_t end = version == HOST_CGROUP_V1 ? 1 : 3;

	for (size_t i = first; i < end; i++) {
		char *root = xasprintf("%s%s%s", cgroup, *names[i] ? "/" : "",
				       names[i]);
		/* Every v2 folder has it, no v1 folder does. */
		char *mark = xasprintf("%s/cgroup.controllers", root);
		bool is_v2 = access(mark, F_OK) == 0;

		free(mark);
		if (cgroup_place_is_folder(root) &&
		    is_v2 == (version == HOST_CGROUP_V2))
			return root;
		free(root);
	}
	return NULL;
}

int host_cgroup_find(struct host_cgroup_place *place,
		     const struct host_roots *roots,
		     enum host_cgroup_version version)
{
	char *path = own_path(roots->proc, version);
	char *root = path ? tree_root(roots->cgroup, version) : NULL;

	*place = (struct host_cgroup_place){ 0 };
	if (!root) {
		free(path);
		return -ENOENT;
	}
	/* From outside of a cgroup namespace it is "/../x": not below here. */
	if (path[0] != '/' || strstr(path, "/.."))
		path[0] = '\0';
	for (size_t end = strlen(path); end && path[end - 1] == '/'; end--)
		path[end - 1] = '\0';
	place->root_length = strlen(root);
	place->folder = xasprintf("%s%s", root, path);
	free(root);
	free(path);
	while (!cgroup_place_is_folder(place->folder) &&
	       host_cgroup_parent(place))
		continue;
	return 0;
}

bool host_cgroup_parent(struct host_cgroup_place *place)
{
	char *slash = strrchr(place->folder + place->root_length, '/');

	if (!slash)
		return false;
	*slash = '\0';
	return true;
}

void host_cgroup_place_release(struct host_cgroup_place *place)
{
	free(place->folder);
	*place = (struct host_cgroup_place){ 0 };
}

static int number_parse(const char *text, uint64_t *number)
{
	unsigned long long value;
	char *end;

	if (!strcmp(text, "max") || !strcmp(text, "max\n")) {
		*number = UINT64_MAX;
		return 0;
	}
	if (*text < '0' || *text > '9')
		return -EINVAL;
	errno = 0;
	value = strtoull(text, &end, 10);
	if (*end && *end != '\n')
		return -EINVAL;
	*number = errno || value >= UNLIMITED_BYTES ? UINT64_MAX : value;
	return 0;
}

int host_cgroup_number(const char *folder, const char *file, uint64_t *number)
{
	char *path = xasprintf("%s/%s", folder, file);
	struct strbuf text = STRBUF_INIT;
	int result = textfile_read(path, FILE_MAX_BYTES, &text, NULL);

	if (result > 0)
		result = -EINVAL;
	if (result == 0)
		result = number_parse(strbuf_text(&text), number);
	strbuf_release(&text);
	free(path);
	return result;
}

int host_cgroup_entry(const char *folder, const char *file, const char *name,
		      uint64_t *number)
{
	char *path = xasprintf("%s/%s", folder, file);
	size_t length = strlen(name);
	struct strbuf text = STRBUF_INIT;
	int result = textfile_read(path, FILE_MAX_BYTES, &text, NULL);
	char *rest;

	free(path);
	if (result < 0 || !text.length) {
		strbuf_release(&text);
		return result < 0 ? result : -ENODATA;
	}
	result = -ENODATA;
	for (char *line = strtok_r(text.data, "\n", &rest); line;
	     line = strtok_r(NULL, "\n", &rest)) {
		if (strncmp(line, name, length) != 0 || line[length] != ' ')
			continue;
		result = number_parse(line + length + 1, number);
		break;
	}
	strbuf_release(&text);
	return result;
}
