/* Shared memory that a process tree holds without mapping all of it. */
/* SPDX-License-Identifier: MIT */
#include "probes/observers/host/host_shm.h"

#include "base/alloc.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BLOCK_BYTES 512

struct host_inode *host_shm_find(const struct host_shm *shm, dev_t device,
				 ino_t number)
{
	struct host_inode wanted = { .device = device, .number = number };

	if (!shm->count)
		return NULL;
	return bsearch(&wanted, shm->inodes, shm->count, sizeof(wanted),
		       host_inode_compare);
}

static struct host_inode *inode_add(struct host_shm *shm, dev_t device,
				    ino_t number)
{
	struct host_inode added = { .device = device, .number = number };
	size_t at = shm->count;

	if (shm->count == HOST_SHM_INODES_MAX)
		return NULL;
	shm->inodes = xgrow(shm->inodes, shm->count, &shm->capacity,
			    sizeof(*shm->inodes));
	while (at && host_inode_compare(&added, &shm->inodes[at - 1]) < 0) {
		shm->inodes[at] = shm->inodes[at - 1];
		at--;
	}
	shm->inodes[at] = added;
	shm->count++;
	return &shm->inodes[at];
}

/* An inode seen: known, or known from now on. */
struct host_inode *host_shm_note(struct host_shm *shm, const struct statx *info,
				 const char *path)
{
	dev_t device = host_shm_device(info);
	struct host_inode *inode = host_shm_find(shm, device, info->stx_ino);

	if (!inode) {
		inode = inode_add(shm, device, info->stx_ino);
		if (!inode)
			return NULL;
		inode->is_foreign = host_shm_is_foreign(shm, info, path);
	}
	if (path && !inode->path && host_shm_is_below_folder(path))
		inode->path = xstrdup(path);
	inode->bytes = (uint64_t)info->stx_blocks * BLOCK_BYTES;
	return inode;
}

void host_shm_release(struct host_shm *shm)
{
	for (size_t i = 0; i < shm->count; i++)
		free(shm->inodes[i].path);
	free(shm->inodes);
	free(shm->listed);
	*shm = (struct host_shm){ 0 };
}

void host_shm_scan_begin(struct host_shm *shm)
{
	for (size_t i = 0; i < shm->count; i++)
		shm->inodes[i].is_held = false;
	for (size_t i = 0; i < shm->own_count; i++)
		shm->own[i].is_seen = false;
}

static void scan_file(struct host_shm *shm, const struct host_process *process,
		      int files_fd, const char *name)
{
	char path[PATH_MAX];
	struct host_inode *inode;
	struct statx info;
	ssize_t length;

	if (!host_shm_look_at(files_fd, name, &info) ||
	    host_shm_is_on_own(shm, host_shm_device(&info)) ||
	    !host_shm_is_tmpfs(shm, process, host_shm_device(&info)))
		return;
	length = readlinkat(files_fd, name, path, sizeof(path) - 1);
	path[length > 0 ? length : 0] = '\0';
	inode = host_shm_note(shm, &info, info.stx_nlink ? path : NULL);
	if (inode)
		inode->is_held = true;
}

void host_shm_scan(struct host_shm *shm, const struct host_process *process)
{
	int files_fd = openat(process->folder_fd, "fd",
			      O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *files = files_fd < 0 ? NULL : fdopendir(files_fd);
	const struct dirent *entry;

	host_shm_look_at_own(shm, process);
	if (!files) {
		if (files_fd >= 0)
			(void)close(files_fd);
		return;
	}
	while ((entry = readdir(files)))
		if (entry->d_name[0] != '.')
			scan_file(shm, process, files_fd, entry->d_name);
	(void)closedir(files);
}

/* Closed by all, it still takes memory while it has its name. */
static bool is_still_named(const struct host_inode *inode, struct statx *info)
{
	return inode->path && host_shm_look_at_link(inode->path, info) &&
	       host_shm_device(info) == inode->device &&
	       info->stx_ino == inode->number;
}

/* Renamed in its folder, as who writes a file whole or not at all does. */
static bool find_renamed(struct host_inode *inode, struct statx *info)
{
	const char *name = inode->path ? strrchr(inode->path, '/') : NULL;
	char *place = name ? xstrndup(inode->path, (size_t)(name - inode->path))
			   : NULL;
	DIR *folder = place ? opendir(place) : NULL;
	const struct dirent *entry;
	bool found = false;

	while (folder && !found && (entry = readdir(folder))) {
		if (entry->d_ino != inode->number)
			continue;
		free(inode->path);
		inode->path = xasprintf("%s/%s", place, entry->d_name);
		found = is_still_named(inode, info);
	}
	if (folder)
		(void)closedir(folder);
	free(place);
	return found;
}

/* Nobody is left that sees it: it is gone, with all that was in it. */
static void forget_own(struct host_shm *shm)
{
	size_t kept = 0;

	for (size_t i = 0; i < shm->own_count; i++)
		if (shm->own[i].is_seen)
			shm->own[kept++] = shm->own[i];
	shm->own_count = kept;
}

void host_shm_scan_end(struct host_shm *shm)
{
	size_t kept = 0;

	forget_own(shm);
	for (size_t i = 0; i < shm->count; i++) {
		struct host_inode *inode = &shm->inodes[i];
		struct statx info;

		/* Seen before the tmpfs it lies on was. */
		if (host_shm_is_on_own(shm, inode->device)) {
			free(inode->path);
			continue;
		}
		if (!inode->is_held && (is_still_named(inode, &info) ||
					find_renamed(inode, &info)))
			inode->bytes = (uint64_t)info.stx_blocks * BLOCK_BYTES;
		else if (!inode->is_held) {
			free(inode->path);
			continue;
		}
		shm->inodes[kept++] = *inode;
	}
	shm->count = kept;
}

uint64_t host_shm_bytes(const struct host_shm *shm)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < shm->count; i++)
		if (!shm->inodes[i].is_foreign &&
		    !host_shm_is_on_own(shm, shm->inodes[i].device))
			bytes += shm->inodes[i].bytes;
	for (size_t i = 0; i < shm->own_count; i++)
		bytes += shm->own[i].bytes;
	return bytes;
}

static bool is_removable(const struct host_shm *shm, const struct statx *info,
			 const char *path)
{
	return info->stx_uid == geteuid() &&
	       !host_shm_is_foreign(shm, info, path);
}

/* Empty now, and made since the tree began: an empty one tells a program that
 * its data are there. */
static void remove_folders(const struct host_shm *shm, char *path)
{
	char *slash;

	while ((slash = strrchr(path, '/'))) {
		struct statx info;

		*slash = '\0';
		if (!host_shm_is_below_folder(path) ||
		    !host_shm_is_young_folder(shm, path, &info) ||
		    info.stx_uid != geteuid() || rmdir(path) < 0)
			return;
	}
}

static size_t remove_seen(struct host_shm *shm)
{
	size_t removed = 0;

	for (size_t i = 0; i < shm->count; i++) {
		struct host_inode *inode = &shm->inodes[i];
		struct statx info;

		if (inode->is_foreign ||
		    !(is_still_named(inode, &info) ||
		      find_renamed(inode, &info)) ||
		    !is_removable(shm, &info, inode->path) ||
		    unlink(inode->path) < 0)
			continue;
		removed++;
		remove_folders(shm, inode->path);
	}
	return removed;
}

/* "torch_<pid>_..." as torch names what it shares between processes. */
static bool is_torch_name(const char *name, const struct pid_list *pids)
{
	static const char mark[] = "torch_";
	const char *at = strstr(name, mark);
	char *end;
	long pid;

	if (!at)
		return false;
	at += sizeof(mark) - 1;
	errno = 0;
	pid = strtol(at, &end, 10);
	return end != at && *end == '_' && !errno && pid > 0 &&
	       pid <= INT_MAX && pid_list_has(pids, (pid_t)pid);
}

static size_t remove_named(const struct host_shm *shm,
			   const struct pid_list *pids)
{
	DIR *folder = opendir(HOST_SHM_FOLDER);
	const struct dirent *entry;
	size_t removed = 0;

	if (!folder)
		return 0;
	while ((entry = readdir(folder))) {
		char path[sizeof(HOST_SHM_FOLDER) + NAME_MAX + 1];
		struct statx info;

		if (!is_torch_name(entry->d_name, pids))
			continue;
		(void)snprintf(path, sizeof(path), "%s/%s", HOST_SHM_FOLDER,
			       entry->d_name);
		if (host_shm_look_at_link(path, &info) &&
		    is_removable(shm, &info, path) && unlink(path) == 0)
			removed++;
	}
	(void)closedir(folder);
	return removed;
}

size_t host_shm_remove(struct host_shm *shm, const struct pid_list *pids)
{
	size_t removed = remove_seen(shm);

	return removed + remove_named(shm, pids);
}
