/* A mount namespace of the process's own, with or without privilege. */
/* SPDX-License-Identifier: MIT */
#include "probes/isolation/namespaces.h"

#include "base/alloc.h"
#include "base/strbuf.h"
#include "base/textfile.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MAP_MAX 64
#define UID_MAP_MAX 4096
#define EVERY_ID "4294967295"
#define MESSAGE_QUEUES "/dev/mqueue"

static int write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	int result = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, text, strlen(text)) < 0)
		result = -errno;
	(void)close(fd);
	return result;
}

static int write_map(const char *path, unsigned id)
{
	char text[MAP_MAX];

	(void)snprintf(text, sizeof(text), "%u %u 1\n", id, id);
	return write_text(path, text);
}

/* The first namespace knows every id: "0 0 4294967295". */
static bool knows_every_id(void)
{
	struct strbuf text = STRBUF_INIT;
	bool found;

	(void)textfile_read("/proc/self/uid_map", UID_MAP_MAX, &text, NULL);
	found = strstr(strbuf_text(&text), EVERY_ID) != NULL;
	strbuf_release(&text);
	return found;
}

static uint64_t capabilities(void)
{
	struct __user_cap_header_struct header = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];

	memset(data, 0, sizeof(data));
	if (syscall(SYS_capget, &header, data) < 0)
		return 0;
	return (uint64_t)data[1].permitted << 32 | data[0].permitted;
}

static int enter_user_namespace(struct namespaces *namespaces)
{
	unsigned user = geteuid();
	unsigned group = getegid();
	int result;

	namespaces->kept = capabilities();
	if (unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0)
		return -errno;
	namespaces->is_user = namespaces->is_new = true;
	/* Without it the group may not be mapped; Linux before 3.19 has none */
	result = write_text("/proc/self/setgroups", "deny");
	if (result == 0 || result == -ENOENT)
		result = write_map("/proc/self/uid_map", user);
	if (result == 0)
		result = write_map("/proc/self/gid_map", group);
	return result;
}

/*
 * SysV shared memory, semaphores and queues, POSIX message queues and the name
 * of the machine: what a probe makes of them ends with it. A kernel without
 * them has none that could stay. The queues' file system shows those of the
 * namespace that mounts it.
 */
void namespaces_own_ipc(bool shares_ipc)
{
	if (!shares_ipc && unshare(CLONE_NEWIPC) == 0 &&
	    access(MESSAGE_QUEUES, F_OK) == 0)
		(void)mount("mqueue", MESSAGE_QUEUES, "mqueue",
			    MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL);
	(void)unshare(CLONE_NEWUTS);
}

int namespaces_enter(struct namespaces *namespaces, struct error *err)
{
	int result = 0;

	memset(namespaces, 0, sizeof(*namespaces));
	if (unshare(CLONE_NEWNS) == 0)
		namespaces->is_user = !knows_every_id();
	else
		result = enter_user_namespace(namespaces);
	if (result < 0)
		return error_set(err, result, "no user namespace (%s)",
				 strerror(-result));
	/*
	 * Slave, not private: where an automounter is at work, a file system
	 * that it mounts for the probe has to come through.
	 */
	if (mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) < 0)
		return error_set(err, -errno, "no mount namespace (%s)",
				 strerror(errno));
	return 0;
}

/*
 * A user other than 0 loses all capabilities at exec. User 0 would get all
 * those of the new namespace and could take the view off again, by umount. So
 * the bound becomes what it had: mounting was not among it, or no namespace
 * would have been needed. With privilege from the start nothing is taken
 * away: a training of root's sees what it always saw.
 */
void namespaces_seal(const struct namespaces *namespaces)
{
	if (!namespaces->is_new)
		return;
	for (unsigned number = 0; number < 64; number++)
		if (!(namespaces->kept >> number & 1))
			(void)prctl(PR_CAPBSET_DROP, number, 0, 0, 0);
}

static void uncover(const struct strlist *covers, const char *root,
		    size_t count)
{
	while (count > 0) {
		char *path;

		count -= 2;
		path = xasprintf("%s%s", root, covers->items[count]);
		(void)umount2(path, MNT_DETACH);
		free(path);
	}
}

int namespaces_cover(const struct strlist *covers, const char *root,
		     struct error *err)
{
	for (size_t i = 0; i + 1 < covers->count; i += 2) {
		char *path = xasprintf("%s%s", root, covers->items[i]);
		int result = mount(covers->items[i + 1], path, NULL, MS_BIND,
				   NULL) < 0
				     ? -errno
				     : 0;

		free(path);
		if (result == 0)
			continue;
		uncover(covers, root, i);
		return error_set(err, result,
				 "no copy can be laid over %s (%s)",
				 covers->items[i], strerror(-result));
	}
	return 0;
}

int namespaces_enter_covered(const struct strlist *covers, struct error *err)
{
	struct namespaces namespaces;
	int result = namespaces_enter(&namespaces, err);

	if (result == 0)
		result = namespaces_cover(covers, "", err);
	if (result == 0)
		namespaces_seal(&namespaces);
	return result;
}
