/* Files that the processes of a probe leave behind through the step hook. */
/* SPDX-License-Identifier: MIT */
#include "probes/channel/hook_files.h"

#include "base/alloc.h"
#include "base/textfile.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* The folder could hold any number of entries. */
#define ENTRIES_MAX 100000
#define PID_DIGITS_MAX 10

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
