/* Files that the processes of a probe leave behind through the step hook. */
/* SPDX-License-Identifier: MIT */
#include "probes/channel/hook_files.h"

#include "base/alloc.h"
#include "base/textfile.h"

#include <assert.h>
#include <dirent.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* The folder could hold any number of entries. */
#define ENTRIES_MAX 100000
#define PID_DIGITS_MAX 10
/* Of a copy's number: the kernel's PID_MAX_LIMIT has seven, three are left. */
#define PID_DIGITS 7
#define RANKS_TOLD_APART 999
#define COPIED_BYTES_MAX ((size_t)1 << 20)

/* "name.4711" */
static bool is_hook_file(const char *entry, const char *name)
{
	size_t length = strlen(name);
	const char *pid = entry + length + 1;

	return strncmp(entry, name, length) == 0 && entry[length] == '.' &&
	       *pid && strlen(pid) <= PID_DIGITS_MAX &&
	       strspn(pid, "0123456789") == strlen(pid);
}

void hook_files_read(const char *folder, const struct hook_files *files,
		     hook_file_cb *on_file, void *context)
{
	DIR *entries = opendir(folder);
	struct dirent *entry;
	size_t seen = 0;
	size_t read = 0;

	if (!entries)
		return;
	assert(files->files_max > 0 && files->bytes_max > 0);
	while (seen++ < ENTRIES_MAX && read < files->files_max &&
	       (entry = readdir(entries))) {
		struct strbuf text = STRBUF_INIT;
		struct stat info;
		char *path;

		if (!is_hook_file(entry->d_name, files->name))
			continue;
		read++;
		path = xasprintf("%s/%s", folder, entry->d_name);
		if (lstat(path, &info) == 0 && S_ISREG(info.st_mode) &&
		    textfile_read(path, files->bytes_max, &text, NULL) >= 0)
			on_file(context, &text);
		strbuf_release(&text);
		free(path);
	}
	(void)closedir(entries);
}

static void copy_hook_file(const char *from, const char *entry, const char *to,
			   int rank)
{
	const char *pid = strchr(entry, '.') + 1;
	char *path = xasprintf("%s/%s", from, entry);
	char *copy = xasprintf("%s/%.*s%d%.*s%s", to, (int)(pid - entry), entry,
			       rank % RANKS_TOLD_APART + 1,
			       PID_DIGITS - (int)strlen(pid), "0000000", pid);
	struct strbuf text = STRBUF_INIT;
	struct stat info;

	assert(strlen(pid) <= PID_DIGITS);
	if (lstat(path, &info) == 0 && S_ISREG(info.st_mode) &&
	    textfile_read(path, COPIED_BYTES_MAX, &text, NULL) >= 0)
		(void)textfile_make(copy, 0600, text.data, text.length, NULL);
	strbuf_release(&text);
	free(copy);
	free(path);
}

void hook_files_copy(const char *from, const char *to, int rank)
{
	static const char *const names[] = { "modules", "imports", "error" };
	DIR *entries = opendir(from);
	struct dirent *entry;
	size_t seen = 0;

	while (entries && seen++ < ENTRIES_MAX && (entry = readdir(entries)))
		for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
			if (is_hook_file(entry->d_name, names[i]) &&
			    strlen(strchr(entry->d_name, '.') + 1) <=
				    PID_DIGITS)
				copy_hook_file(from, entry->d_name, to, rank);
	if (entries)
		(void)closedir(entries);
}
