/* Shared memory that a process tree holds without mapping all of it. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_PROBES_OBSERVERS_HOST_HOST_SHM_H
#define AUTOFIT_PROBES_OBSERVERS_HOST_HOST_SHM_H

#include "probes/observers/host/host_process.h"
#include "probes/process/proctree.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#define HOST_SHM_FOLDER "/dev/shm"
/* Inodes and devices known at once; more are passed over. */
#define HOST_SHM_INODES_MAX 16384
#define HOST_SHM_DEVICES_MAX 256
#define HOST_SHM_OWN_MAX 16

/* A file of tmpfs, named or not: /dev/shm, memfd, any tmpfs mount. */
struct host_inode {
	dev_t device;
	ino_t number;
	uint64_t bytes;  /* resident and swapped, all of it */
	char *path;      /* below HOST_SHM_FOLDER, owned; NULL: has none */
	bool is_held;    /* a process had it open at the last scan */
	bool is_foreign; /* it was there before the tree */
};

struct host_device {
	dev_t device;
	bool is_tmpfs;
};

/* A tmpfs that the tree sees at HOST_SHM_FOLDER, and nobody else. */
struct host_own_tmpfs {
	dev_t device;
	uint64_t bytes; /* in all its files, named or not, as of the scan */
	bool is_seen;   /* in this scan */
};

struct host_shm {
	struct host_inode *inodes; /* by device and number */
	size_t count, capacity;
	struct host_device devices[HOST_SHM_DEVICES_MAX];
	size_t device_count;
	dev_t memfd_device; /* memfd, SysV and anonymous shared mappings */
	/* HOST_SHM_FOLDER as it is here: without links, and its device. */
	char folder[64];
	dev_t folder_device;
	struct host_own_tmpfs own[HOST_SHM_OWN_MAX];
	size_t own_count;
	struct timespec tree_start;
	/* Where tmpfs does not tell births (before Linux 6.0): what lay in
	 * HOST_SHM_FOLDER at the start; births_known: not used. */
	bool births_known;
	bool is_listed_whole;
	struct host_inode *listed;
	size_t listed_count, listed_capacity;
};

/* For bsearch and qsort. */
int host_inode_compare(const void *a, const void *b);

/* How tmpfs tells when a file was made; LIST is for older kernels. */
enum host_shm_births { HOST_SHM_BIRTHS_AUTO, HOST_SHM_BIRTHS_LIST };

/* What was made before root started is foreign. The caller releases. */
void host_shm_init(struct host_shm *shm, pid_t root,
		   enum host_shm_births births);
void host_shm_release(struct host_shm *shm);

/* Look at all open files of the tree: begin, each process, end. */
void host_shm_scan_begin(struct host_shm *shm);
void host_shm_scan(struct host_shm *shm, const struct host_process *process);
/* Forget what nobody holds and what has no name any more. */
void host_shm_scan_end(struct host_shm *shm);
/* Bytes of the tree's own inodes that are known, mapped or not, and of all
 * that lie on a tmpfs of the tree's own. */
uint64_t host_shm_bytes(const struct host_shm *shm);

/* Mapped parts of known inodes, in shares as by host_process_share. */
struct host_overlap {
	uint64_t own_bytes, foreign_bytes;
};

/*
 * What a process maps of inodes that are counted by themselves (own) or must
 * not count (foreign), of its share of all shared memory. Named files that it
 * maps become known. Cheap unless it maps shared memory of several kinds.
 */
struct host_overlap host_shm_overlap(struct host_shm *shm,
				     const struct host_process *process,
				     uint64_t shmem_share);

/*
 * Remove from HOST_SHM_FOLDER what the tree was seen to hold or map, with new
 * folders that are empty then, and entries named torch_<pid>_... of these pids,
 * all only if they are the same file, of the caller's user and made by the
 * tree. Returns how many.
 */
size_t host_shm_remove(struct host_shm *shm, const struct pid_list *pids);

/* The parts of the above, shared between its files. */

/* A regular file, through links or not. Never asks a server: a file of the
 * user's may lie on one that hangs. */
bool host_shm_look_at(int folder_fd, const char *path, struct statx *info);
bool host_shm_look_at_link(const char *path, struct statx *info);
dev_t host_shm_device(const struct statx *info);
bool host_shm_is_below_folder(const char *path);
bool host_shm_is_tmpfs(struct host_shm *shm, const struct host_process *process,
		       dev_t device);
/* Does the process see another HOST_SHM_FOLDER, made by the tree? Its bytes
 * are taken then. */
void host_shm_look_at_own(struct host_shm *shm,
			  const struct host_process *process);
bool host_shm_is_on_own(const struct host_shm *shm, dev_t device);
/* path: NULL when it has none that is known. */
bool host_shm_is_foreign(const struct host_shm *shm, const struct statx *info,
			 const char *path);
/* A folder that is known to have been made since the tree began. */
bool host_shm_is_young_folder(const struct host_shm *shm, const char *path,
			      struct statx *info);
struct host_inode *host_shm_find(const struct host_shm *shm, dev_t device,
				 ino_t number);
/* An inode seen: known, or known from now on. NULL: too many. */
struct host_inode *host_shm_note(struct host_shm *shm, const struct statx *info,
				 const char *path);

#endif
