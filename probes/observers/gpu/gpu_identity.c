/* Which GPUs the kernel drivers know, without loading any library. */
/* SPDX-License-Identifier: MIT */
#include "probes/observers/gpu/gpu.h"

#include "base/alloc.h"
#include "base/strbuf.h"
#include "base/strlist.h"
#include "base/textfile.h"
#include "base/units.h"

#include <ctype.h>
#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One "information" or "properties" file is below 2 KiB. */
#define FILE_BYTES_MAX 16384
#define FOLDER_ENTRIES_MAX 4096

static int gpu_identity_by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/*
 * Names in a folder, sorted, so that what is found does not depend on the
 * order of the kernel's list. None where the folder cannot be read.
 */
static void folder_names(struct strlist *names, const char *path)
{
	DIR *folder = opendir(path);
	const struct dirent *entry;

	if (!folder)
		return;
	while (names->count < FOLDER_ENTRIES_MAX && (entry = readdir(folder)))
		if (entry->d_name[0] != '.')
			strlist_add(names, entry->d_name);
	(void)closedir(folder); /* was only read */
	if (names->count)
		qsort(names->items, names->count, sizeof(*names->items),
		      gpu_identity_by_text);
}

static bool gpu_identity_read_entry(struct strbuf *text, const char *folder,
				    const char *name, const char *file)
{
	char *path = xasprintf("%s/%s/%s", folder, name, file);
	int result;

	strbuf_reset(text);
	result = textfile_read(path, FILE_BYTES_MAX, text, NULL);
	free(path);
	return result >= 0;
}

/* The rest of the line that begins with key, without blanks around it. */
static bool line_value(char *value, size_t size, const char *text,
		       const char *key)
{
	const char *line = text;
	size_t length;

	while (strncmp(line, key, strlen(key)) != 0) {
		line = strchr(line, '\n');
		if (!line)
			return false;
		line++;
	}
	line += strlen(key);
	line += strspn(line, " \t");
	length = strcspn(line, "\n");
	while (length && isspace((unsigned char)line[length - 1]))
		length--;
	if (!length || length >= size)
		return false;
	for (size_t i = 0; i < length; i++)
		value[i] = isprint((unsigned char)line[i]) ? line[i] : '?';
	value[length] = '\0';
	return true;
}

int gpu_identities(const char *proc_root, struct gpu_device devices[GPU_MAX])
{
	char *folder = xasprintf("%s/driver/nvidia/gpus", proc_root);
	struct strlist names = STRLIST_INIT;
	struct strbuf text = STRBUF_INIT;
	int count = 0;

	folder_names(&names, folder);
	for (size_t i = 0; i < names.count && count < GPU_MAX; i++) {
		struct gpu_device *device = &devices[count];

		memset(device, 0, sizeof(*device));
		if (!gpu_identity_read_entry(&text, folder, names.items[i],
					     "information"))
			continue;
		if (!line_value(device->name, sizeof(device->name),
				strbuf_text(&text), "Model:"))
			continue;
		/* A GPU nobody initialised yet has a UUID of '?'. */
		if (!line_value(device->uuid, sizeof(device->uuid),
				strbuf_text(&text), "GPU UUID:") ||
		    strchr(device->uuid, '?'))
			device->uuid[0] = '\0';
		device->index = count++;
	}
	strbuf_release(&text);
	strlist_release(&names);
	free(folder);
	return count;
}

int gpu_amd_present(const char *sys_root)
{
	/* Every CPU is a node too; only a GPU has SIMD units. */
	char *folder = xasprintf("%s/class/kfd/kfd/topology/nodes", sys_root);
	struct strlist names = STRLIST_INIT;
	struct strbuf text = STRBUF_INIT;
	int is_present = 0;

	folder_names(&names, folder);
	for (size_t i = 0; i < names.count && !is_present; i++) {
		char value[24];
		int64_t simds = 0;

		is_present =
			gpu_identity_read_entry(&text, folder, names.items[i],
						"properties") &&
			line_value(value, sizeof(value), strbuf_text(&text),
				   "simd_count ") &&
			integer_parse(value, &simds, NULL) == 0 && simds > 0;
	}
	strbuf_release(&text);
	strlist_release(&names);
	free(folder);
	return is_present;
}
