/* What probes left in shared memory, where nothing keeps them from it. */
/* SPDX-License-Identifier: MIT */
#include "launcher/tuning/isolation/memory_left.h"

#include "base/log.h"
#include "base/strbuf.h"
#include "launcher/command/text/text.h"
#include "probes/channel/channel.h"
#include "probes/isolation/isolation.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Entries of /dev/shm that are compared, and named. */
#define SHARED_ENTRIES_MAX 1024
#define SHARED_SHOWN_MAX 3

/* The pages of this autofit's probes and of any other's are nobody's files. */
static bool is_page_or_dots(const char *name)
{
	return strcmp(name, ".") == 0 || strcmp(name, "..") == 0 ||
	       strncmp(name, CHANNEL_MEMORY_PREFIX,
		       sizeof(CHANNEL_MEMORY_PREFIX) - 1) == 0;
}

/* "INODE/NAME": what took the name of another is not what was there. */
static void add_shared_entry(struct strlist *entries, int folder,
			     const char *name)
{
	struct stat info;

	if (is_page_or_dots(name) ||
	    fstatat(folder, name, &info, AT_SYMLINK_NOFOLLOW) < 0 ||
	    info.st_uid != geteuid())
		return;
	strlist_addf(entries, "%ju/%s", (uintmax_t)info.st_ino, name);
}

void memory_left_list(struct strlist *entries)
{
	DIR *folder = opendir(ISOLATION_SHARED_MEMORY);
	const struct dirent *entry;

	if (!folder)
		return;
	while (entries->count < SHARED_ENTRIES_MAX && (entry = readdir(folder)))
		add_shared_entry(entries, dirfd(folder), entry->d_name);
	(void)closedir(folder);
}

void memory_left_warn(const struct strlist *before)
{
	struct strlist now = STRLIST_INIT;
	struct strbuf names = STRBUF_INIT;
	size_t count = 0;

	/* Among so many nobody knows which are new. */
	if (before->count < SHARED_ENTRIES_MAX)
		memory_left_list(&now);
	for (size_t i = 0; i < now.count; i++) {
		if (strlist_find(before, now.items[i]) < before->count ||
		    ++count > SHARED_SHOWN_MAX)
			continue;
		strbuf_adds(&names, count > 1 ? ", " : "");
		strbuf_adds(&names, ISOLATION_SHARED_MEMORY);
		text_add_safe(&names, strchr(now.items[i], '/'), false);
	}
	if (count > SHARED_SHOWN_MAX)
		strbuf_addf(&names, " and %zu more", count - SHARED_SHOWN_MAX);
	if (count)
		log_warning("new since the probe began and not removed: %s. If "
			    "the probe made it, the real run will find it",
			    strbuf_text(&names));
	strbuf_release(&names);
	strlist_release(&now);
}
