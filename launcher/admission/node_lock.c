/* One tuning per GPU, of all users of a node: a flock they all can take. */
/* SPDX-License-Identifier: MIT */
#include "launcher/admission/node_lock.h"

#include "base/alloc.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define NAME_BYTES                                                             \
	"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"
#define NAME_LENGTH_MAX 100
#define OPEN_TRIES_MAX 20
#define OPEN_WAIT_MS 5

static bool is_shared_folder(const char *path)
{
	struct stat info;

	return lstat(path, &info) == 0 && S_ISDIR(info.st_mode) &&
	       (info.st_mode & S_ISVTX) && (info.st_mode & S_IWOTH);
}

const char *node_lock_folder(void)
{
	static const char *const folders[] = { "/run/lock", "/tmp" };

	for (size_t i = 0; i < sizeof(folders) / sizeof(*folders); i++)
		if (is_shared_folder(folders[i]))
			return folders[i];
	return NULL;
}

/* Of all users' processes, so that each can open it; reading is enough for
 * flock, and there is nothing in it to read. */
static int make_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);

	if (fd < 0)
		return -errno;
	(void)fchmod(fd, 0644); /* whatever the umask left of it */
	return fd;
}

/*
 * O_CREAT only where there is no file: fs.protected_regular refuses it on
 * another user's file in such a folder. A file that is just being made may not
 * be open to others yet.
 */
static int node_lock_open_file(const char *path)
{
	for (int i = 0;; i++) {
		int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW |
					    O_NONBLOCK | O_NOCTTY);

		if (fd >= 0)
			return fd;
		if (errno == ENOENT) {
			fd = make_file(path);
			if (fd != -EEXIST || i >= OPEN_TRIES_MAX)
				return fd;
		} else if (errno != EACCES || i >= OPEN_TRIES_MAX) {
			return -errno;
		}
		(void)poll(NULL, 0, OPEN_WAIT_MS);
	}
}

/* "1: FLOCK  ADVISORY  WRITE 4711 08:01:1234 0 EOF"; 0: another lock. */
static pid_t holder_in_line(char *line, const struct stat *file)
{
	static const char *const words[] = { NULL, "FLOCK", "ADVISORY",
					     "WRITE" };
	char where[64];
	char *rest = NULL;
	char *word = strtok_r(line, " \n", &rest);
	long pid;

	(void)snprintf(where, sizeof(where), "%02x:%02x:%llu",
		       major(file->st_dev), minor(file->st_dev),
		       (unsigned long long)file->st_ino);
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		if (!word || (words[i] && strcmp(word, words[i]) != 0))
			return 0;
		word = strtok_r(NULL, " \n", &rest);
	}
	pid = word ? strtol(word, NULL, 10) : 0;
	word = strtok_r(NULL, " \n", &rest);
	if (!word || strcmp(word, where) != 0 || pid <= 0 || pid > INT_MAX)
		return 0;
	return (pid_t)pid;
}

static pid_t find_holder(int fd)
{
	FILE *locks = fopen("/proc/locks", "re");
	char line[256];
	struct stat file;
	pid_t pid = 0;

	if (!locks)
		return 0;
	if (fstat(fd, &file) == 0)
		while (!pid && fgets(line, sizeof(line), locks))
			pid = holder_in_line(line, &file);
	(void)fclose(locks);
	return pid;
}

static void describe_holder(int fd, char who[NODE_LOCK_WHO_MAX])
{
	char folder[32];
	const struct passwd *user;
	struct stat info;
	pid_t pid = find_holder(fd);

	/* A pid of another namespace is not shown. */
	if (!pid) {
		(void)snprintf(who, NODE_LOCK_WHO_MAX, "another process");
		return;
	}
	(void)snprintf(folder, sizeof(folder), "/proc/%ld", (long)pid);
	user = stat(folder, &info) == 0 ? getpwuid(info.st_uid) : NULL;
	if (user)
		(void)snprintf(who, NODE_LOCK_WHO_MAX, "process %ld of %.64s",
			       (long)pid, user->pw_name);
	else
		(void)snprintf(who, NODE_LOCK_WHO_MAX, "process %ld",
			       (long)pid);
}

/* Is it still the file that others will open? */
static bool is_in_place(int fd, const char *path)
{
	struct stat ours;
	struct stat theirs;

	return fstat(fd, &ours) == 0 && lstat(path, &theirs) == 0 &&
	       ours.st_dev == theirs.st_dev && ours.st_ino == theirs.st_ino;
}

/* -ESTALE: somebody cleaned the folder up meanwhile. */
static int lock_file(int fd, const char *path, char who[NODE_LOCK_WHO_MAX])
{
	struct stat info;
	int result;

	if (fstat(fd, &info) < 0)
		return -errno;
	if (!S_ISREG(info.st_mode))
		return -EINVAL;
	do
		result = flock(fd, LOCK_EX | LOCK_NB) < 0 ? -errno : 0;
	while (result == -EINTR);
	if (result == -EWOULDBLOCK && who)
		describe_holder(fd, who);
	if (result == 0 && !is_in_place(fd, path))
		return -ESTALE;
	return result;
}

static int node_lock_try(const char *path, char who[NODE_LOCK_WHO_MAX])
{
	int result = -ESTALE;

	for (int i = 0; i < OPEN_TRIES_MAX && result == -ESTALE; i++) {
		int fd = node_lock_open_file(path);

		if (fd < 0)
			return fd;
		result = lock_file(fd, path, who);
		if (result == 0)
			return fd;
		(void)close(fd);
	}
	return result;
}

int node_lock_take(const char *folder, const char *name,
		   char who[NODE_LOCK_WHO_MAX], struct error *err)
{
	size_t length = strlen(name);
	char *path;
	int result;

	if (!length || length > NAME_LENGTH_MAX ||
	    strspn(name, NAME_BYTES) != length)
		return error_set(err, -EINVAL, "no name for a lock: '%s'",
				 name);
	path = xasprintf("%s/autofit-%s.lock", folder, name);
	result = node_lock_try(path, who);
	if (result == -EWOULDBLOCK)
		(void)error_set(err, result, "%s is held by %s", path,
				who ? who : "another process");
	else if (result < 0)
		(void)error_set_errno(err, result, "cannot lock %s", path);
	free(path);
	return result;
}
