/* Contents of files by a short stamp, to see later whether they changed. */
/* SPDX-License-Identifier: MIT */
#include "configs/identity/stamps.h"

#include "base/hash.h"
#include "base/match.h"
#include "base/textfile.h"
#include "configs/identity/difference.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* Larger files are told apart by size and time alone. */
#define CONTENT_MAX ((size_t)4 << 20)
/* Bytes of all files of a list: bounds what a hostile one can cost. */
#define CONTENTS_MAX ((size_t)256 << 20)
#define NAME_SHOWN_MAX 60

static const char gone[] = "gone";

/* As stamp_file, through a buffer that holds the content afterwards. */
static void stamp_through(struct strbuf *content, const char *path,
			  char stamp[STAMP_TEXT_MAX])
{
	struct stat info;
	int cut = 1;

	strbuf_reset(content);
	/* Asked first: opening a device may do something. */
	if (stat(path, &info) < 0 || !S_ISREG(info.st_mode)) {
		(void)snprintf(stamp, STAMP_TEXT_MAX, "%s", gone);
		return;
	}
	if (info.st_size <= (off_t)CONTENT_MAX)
		cut = textfile_read(path, CONTENT_MAX, content, NULL);
	if (cut < 0)
		(void)snprintf(stamp, STAMP_TEXT_MAX, "%s", gone);
	else if (cut > 0)
		(void)snprintf(stamp, STAMP_TEXT_MAX, "%jd@%jd.%09ld",
			       (intmax_t)info.st_size,
			       (intmax_t)info.st_mtim.tv_sec,
			       info.st_mtim.tv_nsec);
	else
		(void)snprintf(
			stamp, STAMP_TEXT_MAX, "%016" PRIx64,
			hash_bytes(strbuf_text(content), content->length));
}

void stamp_file(const char *path, char stamp[STAMP_TEXT_MAX])
{
	struct strbuf content = STRBUF_INIT;

	stamp_through(&content, path, stamp);
	strbuf_release(&content);
}

void stamps_add(struct strlist *stamps, const char *path)
{
	char stamp[STAMP_TEXT_MAX];

	stamp_file(path, stamp);
	strlist_addf(stamps, "%s %s", stamp, path);
}

/* ".../torch/version.py": such a name alone says nothing. */
static bool needs_folder(const char *name)
{
	static const char *const names[] = { "version.py", "_version.py",
					     "__init__.py", "__about__.py" };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return false;
}

/* "/utils.py", of which a project may have several. */
static bool is_name_of_many(const struct strlist *stamps, const char *name)
{
	size_t count = 0;

	for (size_t i = 0; i < stamps->count && count < 2; i++)
		count += text_ends_with(stamps->items[i], name);
	return count > 1;
}

/* The last slash before what is shown of the path; NULL: all of it. */
static const char *stamps_name_of(const char *path,
				  const struct strlist *stamps)
{
	const char *slash = strrchr(path, '/');
	const char *above = slash;

	if (!slash ||
	    (!needs_folder(slash + 1) && !is_name_of_many(stamps, slash)))
		return slash;
	while (above > path && above[-1] != '/')
		above--;
	return above > path ? above - 1 : NULL;
}

static void stamps_say(struct difference *difference,
		       const struct strlist *stamps, const char *path,
		       const char *what)
{
	const char *slash = stamps_name_of(path, stamps);
	struct strbuf *out = difference_next(difference);

	if (!out)
		return;
	plain_add(out, slash && slash[1] ? slash + 1 : path, NAME_SHOWN_MAX,
		  PLAIN_HEAD);
	strbuf_adds(out, what);
}

/* "stamp path" against the file as it is now. */
static void stamps_compare(struct difference *difference,
			   struct strbuf *content, const struct strlist *stamps,
			   const char *entry)
{
	const char *blank = strchr(entry, ' ');
	const char *path = blank ? blank + 1 : entry;
	char stamp[STAMP_TEXT_MAX];

	stamp_through(content, path, stamp);
	if (blank && strlen(stamp) == (size_t)(blank - entry) &&
	    strncmp(stamp, entry, strlen(stamp)) == 0)
		return;
	stamps_say(difference, stamps, path,
		   strcmp(stamp, gone) == 0 ? " is gone" : " changed");
}

bool stamps_hold(const struct strlist *stamps, struct strbuf *difference)
{
	struct difference found = { .out = difference };
	struct strbuf content = STRBUF_INIT;
	size_t read = 0;
	size_t i;

	for (i = 0; i < stamps->count; i++) {
		/* One that differs is an answer where no words are wanted. */
		if (i == STAMPS_MAX || read > CONTENTS_MAX ||
		    (!difference && found.count))
			break;
		stamps_compare(&found, &content, stamps, stamps->items[i]);
		read += content.length;
	}
	if (i < stamps->count && difference)
		stamps_say(&found, stamps, "more files",
			   " than can be compared");
	difference_finish(&found);
	strbuf_release(&content);
	return i == stamps->count && found.count == 0;
}
