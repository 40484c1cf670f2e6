/* Small files of the kernel, of one line or of "key value" lines. */
/* SPDX-License-Identifier: MIT */
#include "probes/observers/gpu/kernel_files.h"

#include "base/alloc.h"
#include "base/textfile.h"
#include "base/units.h"

#include <ctype.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

/* One "information" or "properties" file is below 2 KiB. */
#define FILE_BYTES_MAX 16384
#define FOLDER_ENTRIES_MAX 4096

#define SYSFS_VARIABLE "AUTOFIT_SYSFS"
#define NUMBER_MAX 32

const char *kernel_sys_elsewhere(void)
{
	const char *sys = getenv(SYSFS_VARIABLE);

	return sys && *sys == '/' ? sys : NULL;
}

void kernel_folder_names(struct strlist *names, const char *path)
{
	DIR *folder = opendir(path);
	const struct dirent *entry;

	if (!folder)
		return;
	while (names->count < FOLDER_ENTRIES_MAX && (entry = readdir(folder)))
		if (entry->d_name[0] != '.')
			strlist_add(names, entry->d_name);
	(void)closedir(folder); /* was only read */
	strlist_sort(names);
}

bool kernel_file_read(struct strbuf *text, const char *folder, const char *name,
		      const char *file)
{
	char *path = xasprintf("%s/%s/%s", folder, name, file);
	int result;

	strbuf_reset(text);
	result = textfile_read(path, FILE_BYTES_MAX, text, NULL);
	free(path);
	return result >= 0;
}

bool kernel_line_value(char *value, size_t size, const char *text,
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

bool kernel_file_number(const char *folder, const char *name, const char *file,
			uint64_t *number)
{
	struct strbuf text = STRBUF_INIT;
	char value[NUMBER_MAX];
	int64_t read = -1;

	if (kernel_file_read(&text, folder, name, file) &&
	    kernel_line_value(value, sizeof(value), strbuf_text(&text), ""))
		(void)integer_parse(value, &read, NULL);
	strbuf_release(&text);
	*number = read > 0 ? (uint64_t)read : 0;
	return read >= 0;
}

static int64_t kernel_number_of(const char *name)
{
	int64_t number = -1;

	return integer_parse(name, &number, NULL) == 0 ? number : -1;
}

static int kernel_by_number(const void *a, const void *b)
{
	int64_t first = kernel_number_of(*(char *const *)a);
	int64_t second = kernel_number_of(*(char *const *)b);

	return (first > second) - (first < second);
}

void kernel_folder_numbers(struct strlist *names, const char *path)
{
	kernel_folder_names(names, path);
	for (size_t i = names->count; i-- > 0;)
		if (kernel_number_of(names->items[i]) < 0)
			strlist_remove(names, i);
	if (names->count)
		qsort(names->items, names->count, sizeof(*names->items),
		      kernel_by_number);
}
