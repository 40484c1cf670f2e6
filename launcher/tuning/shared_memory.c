/* What probes leave in shared memory, where it is not their own. */
/* SPDX-License-Identifier: MIT */
#include "launcher/tuning/shared_memory.h"

#include "base/log.h"
#include "base/strbuf.h"
#include "launcher/command/text/text.h"
#include "probes/isolation/isolation.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ENTRIES_MAX 1024
#define SHOWN_MAX 3

/* "INODE/NAME": what took the name of another is not what was there. */
static void add_entry(struct strlist *entries, int folder, const char *name)
{
	struct stat info;

	if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 ||
	    fstatat(folder, name, &info, AT_SYMLINK_NOFOLLOW) < 0 ||
	    info.st_uid != geteuid())
		return;
	strlist_addf(entries, "%ju/%s", (uintmax_t)info.st_ino, name);
}

void shared_memory_list(struct strlist *entries)
{
	DIR *folder = opendir(ISOLATION_SHARED_MEMORY);
	const struct dirent *entry;

	if (!folder)
		return;
	while (entries->count < ENTRIES_MAX && (entry = readdir(folder)))
		add_entry(entries, dirfd(folder), entry->d_name);
	(void)closedir(folder);
}

void shared_memory_warn(const struct strlist *before)
{
	struct strlist now = STRLIST_INIT;
	struct strbuf names = STRBUF_INIT;
	size_t count = 0;

	/* Of so many nobody knows which are new. */
	if (before->count < ENTRIES_MAX)
		shared_memory_list(&now);
	for (size_t i = 0; i < now.count; i++) {
		if (strlist_find(before, now.items[i]) < before->count ||
		    ++count > SHOWN_MAX)
			continue;
		strbuf_adds(&names, count > 1 ? ", " : "");
		strbuf_adds(&names, ISOLATION_SHARED_MEMORY);
		text_add_safe(&names, strchr(now.items[i], '/'), false);
	}
	if (count > SHOWN_MAX)
		strbuf_addf(&names, " and %zu more", count - SHOWN_MAX);
	if (count)
		log_warning("new since the probe began and not removed: %s. If "
			    "the probe made it, the real run will find it",
			    strbuf_text(&names));
	strbuf_release(&names);
	strlist_release(&now);
}
