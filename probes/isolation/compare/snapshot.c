/* Folders before and after a probe, where nothing keeps it from writing. */
/* SPDX-License-Identifier: MIT */
#include "probes/isolation/compare/snapshot.h"

#include "base/alloc.h"
#include "base/strbuf.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

/* Bytes of all paths together: what deep trees of long names cost. */
#define PATH_BYTES_MAX ((size_t)128 << 20)
#define TARGET_MAX 4096

/* Times are nanoseconds; of a folder 0, for its entries tell of them. */
struct snapshot_entry {
	size_t path, target; /* places in texts; target 0: no link */
	uint64_t inode, size;
	int64_t changed_ns, modified_ns;
	uint32_t mode; /* kind and permissions */
	bool was_walked;
};

struct snapshot {
	struct snapshot_entry *entries; /* by path, each once */
	size_t count, capacity;
	struct strbuf texts; /* each with its NUL; one NUL at 0 */
};

/* The folder under way, and what it is part of. */
struct snapshot_walk {
	struct snapshot *snapshot;
	const char *folder; /* one of those asked for */
	const struct strlist *excluded;
	size_t entries_max;
	struct strbuf path; /* of the folder under way */
	struct error *err;
};

static const char *snapshot_path_of(const struct snapshot *snapshot,
				    const struct snapshot_entry *entry)
{
	return snapshot->texts.data + entry->path;
}

static size_t add_text(struct snapshot *snapshot, const char *text)
{
	size_t at = snapshot->texts.length;

	strbuf_add(&snapshot->texts, text, strlen(text) + 1);
	return at;
}

static struct snapshot_entry *snapshot_add_entry(struct snapshot *snapshot)
{
	snapshot->entries =
		xgrow(snapshot->entries, snapshot->count, &snapshot->capacity,
		      sizeof(*snapshot->entries));
	return memset(&snapshot->entries[snapshot->count++], 0,
		      sizeof(struct snapshot_entry));
}

static bool snapshot_is_below(const char *path, const char *folder)
{
	size_t length = strlen(folder);

	while (length > 1 && folder[length - 1] == '/')
		length--;
	if (strncmp(path, folder, length) != 0)
		return false;
	return path[length] == '/' || path[length] == '\0' ||
	       folder[length - 1] == '/';
}

/* A folder that was asked for within an excluded one was meant. */
static bool is_excluded(const struct snapshot_walk *walk, const char *path)
{
	for (size_t i = 0; walk->excluded && i < walk->excluded->count; i++) {
		const char *excluded = walk->excluded->items[i];

		if (snapshot_is_below(path, excluded) &&
		    (!snapshot_is_below(walk->folder, excluded) ||
		     snapshot_is_below(excluded, walk->folder)))
			return true;
	}
	return false;
}

static int64_t nanoseconds(const struct statx_timestamp *time)
{
	return time->tv_sec * INT64_C(1000000000) + time->tv_nsec;
}

/* Two folders of one file system are of two mounts when it is bound twice. */
static bool is_same_mount(const struct statx *a, const struct statx *b)
{
#ifdef STATX_MNT_ID
	if (a->stx_mask & b->stx_mask & STATX_MNT_ID)
		return a->stx_mnt_id == b->stx_mnt_id;
#endif
	return a->stx_dev_major == b->stx_dev_major &&
	       a->stx_dev_minor == b->stx_dev_minor;
}

static int snapshot_look(int folder_fd, const char *name, struct statx *info)
{
	unsigned int mask = STATX_BASIC_STATS;

#ifdef STATX_MNT_ID
	mask |= STATX_MNT_ID;
#endif
	if (statx(folder_fd, name, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT, mask,
		  info) < 0)
		return -errno;
	return 0;
}

static void snapshot_note(const struct snapshot_walk *walk, int folder_fd,
			  const char *name, const struct statx *info)
{
	struct snapshot *snapshot = walk->snapshot;
	struct snapshot_entry *entry = snapshot_add_entry(snapshot);
	char target[TARGET_MAX];

	entry->path = add_text(snapshot, walk->path.data);
	entry->mode = info->stx_mode;
	entry->inode = info->stx_ino;
	if (S_ISDIR(info->stx_mode))
		return;
	entry->size = info->stx_size;
	entry->changed_ns = nanoseconds(&info->stx_ctime);
	entry->modified_ns = nanoseconds(&info->stx_mtime);
	if (S_ISLNK(info->stx_mode)) {
		ssize_t length =
			readlinkat(folder_fd, name, target, TARGET_MAX - 1);

		target[length > 0 ? length : 0] = '\0';
		entry->target = add_text(snapshot, target);
	}
}

static int snapshot_too_large(const struct snapshot_walk *walk)
{
	return error_set(walk->err, -E2BIG,
			 "cannot compare %s before and after a probe: it holds "
			 "more than %zu files, or folders deeper than %d",
			 walk->folder, walk->entries_max, SNAPSHOT_DEPTH_MAX);
}

/* What the user may not read is not what a probe of the user's writes. */
static bool is_passed_over(int code)
{
	return code == -EACCES || code == -EPERM || code == -ENOENT ||
	       code == -ENOTDIR || code == -ELOOP || code == -ESTALE;
}

static int cannot_read(const struct snapshot_walk *walk, int code)
{
	if (is_passed_over(code))
		return 0;
	return error_set_errno(walk->err, code, "cannot read %s",
			       strbuf_text(&walk->path));
}

static int walk_folder(struct snapshot_walk *walk, int fd,
		       const struct statx *self, int depth);

static int walk_entry(struct snapshot_walk *walk, int folder_fd,
		      const char *name, const struct statx *self, int depth)
{
	struct statx info;
	int result = snapshot_look(folder_fd, name, &info);
	int fd;

	if (result < 0)
		return cannot_read(walk, result);
	if (walk->snapshot->count >= walk->entries_max ||
	    walk->snapshot->texts.length > PATH_BYTES_MAX)
		return snapshot_too_large(walk);
	snapshot_note(walk, folder_fd, name, &info);
	if (!S_ISDIR(info.stx_mode) || !is_same_mount(&info, self))
		return 0;
	if (depth >= SNAPSHOT_DEPTH_MAX)
		return snapshot_too_large(walk);
	walk->snapshot->entries[walk->snapshot->count - 1].was_walked = true;
	fd = openat(folder_fd, name,
		    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return cannot_read(walk, -errno);
	return walk_folder(walk, fd, self, depth + 1);
}

/* Takes the descriptor. */
static int walk_folder(struct snapshot_walk *walk, int fd,
		       const struct statx *self, int depth)
{
	size_t length = walk->path.length;
	DIR *folder = fdopendir(fd);
	const struct dirent *item;
	int result = 0;

	if (!folder) {
		result = cannot_read(walk, -errno);
		(void)close(fd);
		return result;
	}
	while (result == 0 && (errno = 0, item = readdir(folder))) {
		if (strcmp(item->d_name, ".") == 0 ||
		    strcmp(item->d_name, "..") == 0)
			continue;
		if (walk->path.data[length - 1] != '/')
			strbuf_addch(&walk->path, '/');
		strbuf_adds(&walk->path, item->d_name);
		if (!is_excluded(walk, walk->path.data))
			result = walk_entry(walk, dirfd(folder), item->d_name,
					    self, depth);
		walk->path.length = length;
		walk->path.data[length] = '\0';
	}
	if (result == 0 && errno)
		result = cannot_read(walk, -errno);
	(void)closedir(folder);
	return result;
}

static bool was_walked(const struct snapshot *snapshot, const char *path)
{
	for (size_t i = 0; i < snapshot->count; i++)
		if (snapshot->entries[i].was_walked &&
		    strcmp(snapshot_path_of(snapshot, &snapshot->entries[i]),
			   path) == 0)
			return true;
	return false;
}

static int walk_one(struct snapshot_walk *walk, const char *folder)
{
	struct statx self;
	int fd;
	int result;

	walk->folder = folder;
	strbuf_reset(&walk->path);
	strbuf_adds(&walk->path, folder);
	if (!*folder || is_excluded(walk, folder) ||
	    was_walked(walk->snapshot, folder))
		return 0;
	/* One that is not there has no entries; a probe may make it. */
	fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return cannot_read(walk, -errno);
	result = snapshot_look(fd, ".", &self);
	if (result < 0) {
		(void)close(fd);
		return cannot_read(walk, result);
	}
	return walk_folder(walk, fd, &self, 1);
}

static int by_length(const void *a, const void *b)
{
	size_t left = strlen(*(char *const *)a);
	size_t right = strlen(*(char *const *)b);

	return left < right ? -1 : left > right;
}

static int by_path(const void *a, const void *b, void *texts)
{
	const struct snapshot_entry *left = a;
	const struct snapshot_entry *right = b;

	return strcmp((const char *)texts + left->path,
		      (const char *)texts + right->path);
}

/* In order of path; of folders within one another, each entry once. */
static void put_in_order(struct snapshot *snapshot)
{
	size_t kept = 0;

	if (!snapshot->entries)
		return;
	qsort_r(snapshot->entries, snapshot->count,
		sizeof(struct snapshot_entry), by_path, snapshot->texts.data);
	for (size_t i = 0; i < snapshot->count; i++)
		if (i == 0 ||
		    strcmp(snapshot_path_of(snapshot,
					    &snapshot->entries[kept - 1]),
			   snapshot_path_of(snapshot, &snapshot->entries[i])) !=
			    0)
			snapshot->entries[kept++] = snapshot->entries[i];
	snapshot->count = kept;
}

/* Fills a new snapshot, or frees it. */
static int take(struct snapshot **snapshot, struct snapshot_walk *walk,
		const struct strlist *folders)
{
	char **sorted = xcalloc(folders->count + 1, sizeof(*sorted));
	int result = 0;

	walk->snapshot = xcalloc(1, sizeof(**snapshot));
	strbuf_addch(&walk->snapshot->texts, '\0');
	if (folders->count)
		memcpy(sorted, folders->items,
		       folders->count * sizeof(*sorted));
	/* The outer one first: it has the inner one's entries as well. */
	qsort(sorted, folders->count, sizeof(*sorted), by_length);
	for (size_t i = 0; i < folders->count && result == 0; i++)
		result = walk_one(walk, sorted[i]);
	free(sorted);
	strbuf_release(&walk->path);
	if (result < 0) {
		snapshot_free(walk->snapshot);
		return result;
	}
	put_in_order(walk->snapshot);
	*snapshot = walk->snapshot;
	return 0;
}

int snapshot_take(struct snapshot **snapshot, const struct strlist *folders,
		  const struct strlist *excluded, struct error *err)
{
	struct snapshot_walk walk = {
		.excluded = excluded,
		.entries_max = SNAPSHOT_ENTRIES_MAX,
		.err = err,
	};

	return take(snapshot, &walk, folders);
}

int snapshot_take_some(struct snapshot **snapshot,
		       const struct strlist *folders, size_t entries_max,
		       struct error *err)
{
	struct snapshot_walk walk = {
		.entries_max = entries_max,
		.err = err,
	};

	return take(snapshot, &walk, folders);
}

void snapshot_free(struct snapshot *snapshot)
{
	if (!snapshot)
		return;
	free(snapshot->entries);
	strbuf_release(&snapshot->texts);
	free(snapshot);
}

bool snapshot_file_at(const struct snapshot *snapshot, size_t number,
		      struct snapshot_file *file)
{
	const struct snapshot_entry *entry;

	if (number >= snapshot->count)
		return false;
	entry = &snapshot->entries[number];
	*file = (struct snapshot_file){
		.path = snapshot_path_of(snapshot, entry),
		.target = snapshot->texts.data + entry->target,
		.inode = entry->inode,
		.size = entry->size,
		.changed_ns = entry->changed_ns,
		.modified_ns = entry->modified_ns,
		.mode = entry->mode,
	};
	return true;
}
