/* Finds files on tmpfs that a process tree made. */
/* SPDX-License-Identifier: MIT */
#include "probes/observers/host/host_shm.h"

#include "base/alloc.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

int host_inode_compare(const void *a, const void *b)
{
	const struct host_inode *left = a;
	const struct host_inode *right = b;

	if (left->device != right->device)
		return left->device < right->device ? -1 : 1;
	return (left->number > right->number) - (left->number < right->number);
}

#define WANTED_MASK                                                            \
	(STATX_TYPE | STATX_NLINK | STATX_UID | STATX_CTIME | STATX_INO |      \
	 STATX_BLOCKS | STATX_BTIME)
#define LISTED_DEPTH 8
/* tmpfs stamps births with the last tick, a process its start rounded down. */
#define TICK_NS 20000000L
#define SECOND_NS 1000000000L

/* Never asks a server: a file of the user's may lie on one that hangs. */
bool host_shm_look_at(int folder_fd, const char *path, struct statx *info)
{
	return statx(folder_fd, path, AT_STATX_DONT_SYNC, WANTED_MASK, info) ==
		       0 &&
	       S_ISREG(info->stx_mode);
}

bool host_shm_look_at_link(const char *path, struct statx *info)
{
	return statx(AT_FDCWD, path, AT_STATX_DONT_SYNC | AT_SYMLINK_NOFOLLOW,
		     WANTED_MASK, info) == 0 &&
	       S_ISREG(info->stx_mode);
}

dev_t host_shm_device(const struct statx *info)
{
	return makedev(info->stx_dev_major, info->stx_dev_minor);
}

bool host_shm_is_below_folder(const char *path)
{
	size_t length = strlen(HOST_SHM_FOLDER);

	return !strncmp(path, HOST_SHM_FOLDER, length) && path[length] == '/';
}

/* The birth of the root on the wall clock, which file times are on. */
static struct timespec start_of(pid_t root)
{
	int64_t per_second = sysconf(_SC_CLK_TCK);
	struct timespec start;
	struct proc_stat stat;
	int64_t age_ns;

	(void)clock_gettime(CLOCK_REALTIME, &start);
	if (proctree_stat(root, &stat) < 0)
		return start;
	age_ns = (int64_t)(proctree_now_ticks() - stat.start_time) *
			 (SECOND_NS / per_second) +
		 TICK_NS;
	start.tv_sec -= age_ns / SECOND_NS;
	start.tv_nsec -= age_ns % SECOND_NS;
	if (start.tv_nsec < 0) {
		start.tv_nsec += SECOND_NS;
		start.tv_sec--;
	}
	return start;
}

static bool is_before(const struct statx_timestamp *time,
		      const struct timespec *limit)
{
	if (time->tv_sec != limit->tv_sec)
		return time->tv_sec < limit->tv_sec;
	return (long)time->tv_nsec < limit->tv_nsec;
}

static bool shm_origin_is_listed(const struct host_shm *shm,
				 const struct statx *info)
{
	struct host_inode wanted = { .device = host_shm_device(info),
				     .number = info->stx_ino };

	return shm->listed_count &&
	       bsearch(&wanted, shm->listed, shm->listed_count, sizeof(wanted),
		       host_inode_compare);
}

/* path: NULL when it has none that is known. */
bool host_shm_is_foreign(const struct host_shm *shm, const struct statx *info,
			 const char *path)
{
	if (shm->births_known && (info->stx_mask & STATX_BTIME))
		return is_before(&info->stx_btime, &shm->tree_start);
	if (info->stx_nlink == 0)
		return false;
	if (path && host_shm_is_below_folder(path))
		return !shm->is_listed_whole || shm_origin_is_listed(shm, info);
	return is_before(&info->stx_ctime, &shm->tree_start);
}

bool host_shm_is_young_folder(const struct host_shm *shm, const char *path,
			      struct statx *info)
{
	return statx(AT_FDCWD, path, AT_STATX_DONT_SYNC | AT_SYMLINK_NOFOLLOW,
		     WANTED_MASK, info) == 0 &&
	       S_ISDIR(info->stx_mode) && (info->stx_mask & STATX_BTIME) &&
	       !is_before(&info->stx_btime, &shm->tree_start);
}

/* "36 35 0:25 / /dev/shm rw - tmpfs tmpfs rw" */
static bool is_tmpfs_mount(const char *line, dev_t device)
{
	char wanted[48];
	const char *type = strstr(line, " - ");

	(void)snprintf(wanted, sizeof(wanted), " %u:%u ", major(device),
		       minor(device));
	return strstr(line, wanted) && type &&
	       (!strncmp(type, " - tmpfs ", 9) ||
		!strncmp(type, " - devtmpfs ", 12));
}

static bool is_tmpfs_by_mounts(const struct host_process *process, dev_t device)
{
	struct host_lines lines;
	const char *line;
	bool result = false;

	if (host_lines_open(&lines, process->folder_fd, "mountinfo") < 0)
		return false;
	while (!result && (line = host_lines_next(&lines)))
		result = is_tmpfs_mount(line, device);
	host_lines_close(&lines);
	return result;
}

bool host_shm_is_tmpfs(struct host_shm *shm, const struct host_process *process,
		       dev_t device)
{
	struct host_device *known;

	/* tmpfs has no block device below it. */
	if (major(device) != 0)
		return false;
	for (size_t i = 0; i < shm->device_count; i++)
		if (shm->devices[i].device == device)
			return shm->devices[i].is_tmpfs;
	if (shm->device_count == HOST_SHM_DEVICES_MAX)
		return false;
	known = &shm->devices[shm->device_count++];
	known->device = device;
	known->is_tmpfs = is_tmpfs_by_mounts(process, device);
	return known->is_tmpfs;
}

bool host_shm_is_on_own(const struct host_shm *shm, dev_t device)
{
	for (size_t i = 0; i < shm->own_count; i++)
		if (shm->own[i].device == device)
			return true;
	return false;
}

static struct host_own_tmpfs *find_own(struct host_shm *shm, dev_t device)
{
	for (size_t i = 0; i < shm->own_count; i++)
		if (shm->own[i].device == device)
			return &shm->own[i];
	if (shm->own_count == HOST_SHM_OWN_MAX)
		return NULL;
	shm->own[shm->own_count] = (struct host_own_tmpfs){ .device = device };
	return &shm->own[shm->own_count++];
}

/* Held no longer than it takes: an open descriptor would keep all in it. */
static uint64_t used_bytes(const struct host_process *process, const char *path)
{
	int fd = openat(process->folder_fd, path,
			O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct statfs info;
	uint64_t bytes = 0;

	if (fd < 0)
		return 0;
	if (fstatfs(fd, &info) == 0 && info.f_blocks > info.f_bfree)
		bytes = (uint64_t)(info.f_blocks - info.f_bfree) *
			(uint64_t)info.f_bsize;
	(void)close(fd);
	return bytes;
}

void host_shm_look_at_own(struct host_shm *shm,
			  const struct host_process *process)
{
	char path[sizeof(shm->folder) + sizeof("root")];
	struct host_own_tmpfs *own;
	struct statx info;
	dev_t device;

	(void)snprintf(path, sizeof(path), "root%s", shm->folder);
	if (statx(process->folder_fd, path, AT_STATX_DONT_SYNC, WANTED_MASK,
		  &info) < 0)
		return;
	device = host_shm_device(&info);
	if (device == shm->folder_device ||
	    !host_shm_is_tmpfs(shm, process, device) ||
	    host_shm_is_foreign(shm, &info, NULL))
		return;
	own = find_own(shm, device);
	if (!own || own->is_seen)
		return;
	own->is_seen = true;
	own->bytes = used_bytes(process, path);
}

static void learn_folder(struct host_shm *shm)
{
	char *real = realpath(HOST_SHM_FOLDER, NULL);
	struct stat info;

	(void)snprintf(shm->folder, sizeof(shm->folder), "%s",
		       real && strlen(real) < sizeof(shm->folder)
			       ? real
			       : HOST_SHM_FOLDER);
	if (stat(shm->folder, &info) == 0)
		shm->folder_device = info.st_dev;
	free(real);
}

static void learn_memfd_device(struct host_shm *shm)
{
	int fd = memfd_create("autofit", MFD_CLOEXEC);
	struct stat info;

	if (fd < 0)
		return;
	if (fstat(fd, &info) == 0) {
		shm->memfd_device = info.st_dev;
		shm->devices[shm->device_count++] =
			(struct host_device){ info.st_dev, true };
	}
	(void)close(fd);
}

static void list_entry(struct host_shm *shm, const struct statx *info)
{
	if (shm->listed_count == HOST_SHM_INODES_MAX) {
		shm->is_listed_whole = false;
		return;
	}
	shm->listed = xgrow(shm->listed, shm->listed_count,
			    &shm->listed_capacity, sizeof(*shm->listed));
	shm->listed[shm->listed_count++] = (struct host_inode){
		.device = host_shm_device(info),
		.number = info->stx_ino,
	};
}

/* NOLINTNEXTLINE(misc-no-recursion): at most LISTED_DEPTH deep */
static void list_folder(struct host_shm *shm, int folder_fd, int depth)
{
	DIR *folder = folder_fd < 0 ? NULL : fdopendir(folder_fd);
	const struct dirent *entry;

	if (!folder || depth > LISTED_DEPTH) {
		shm->is_listed_whole = false;
		if (folder)
			(void)closedir(folder);
		else if (folder_fd >= 0)
			(void)close(folder_fd);
		return;
	}
	while ((entry = readdir(folder))) {
		struct statx info;

		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		if (entry->d_type == DT_DIR)
			list_folder(shm,
				    openat(dirfd(folder), entry->d_name,
					   O_RDONLY | O_DIRECTORY | O_CLOEXEC |
						   O_NOFOLLOW),
				    depth + 1);
		else if (host_shm_look_at(dirfd(folder), entry->d_name, &info))
			list_entry(shm, &info);
	}
	(void)closedir(folder);
}

static bool tells_births(void)
{
	struct statx info;

	return statx(AT_FDCWD, HOST_SHM_FOLDER, AT_STATX_DONT_SYNC, STATX_BTIME,
		     &info) == 0 &&
	       (info.stx_mask & STATX_BTIME);
}

void host_shm_init(struct host_shm *shm, pid_t root,
		   enum host_shm_births births)
{
	*shm = (struct host_shm){ .tree_start = start_of(root) };
	learn_memfd_device(shm);
	learn_folder(shm);
	shm->births_known = births == HOST_SHM_BIRTHS_AUTO && tells_births();
	if (shm->births_known)
		return;
	shm->is_listed_whole = true;
	list_folder(shm,
		    open(HOST_SHM_FOLDER, O_RDONLY | O_DIRECTORY | O_CLOEXEC),
		    0);
	if (shm->listed_count)
		qsort(shm->listed, shm->listed_count, sizeof(*shm->listed),
		      host_inode_compare);
}
