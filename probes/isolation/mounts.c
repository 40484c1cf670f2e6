/* The table of mounts, and what a view has to do with each. Pure. */
/* SPDX-License-Identifier: MIT */
#include "probes/isolation/mounts.h"

#include "base/alloc.h"
#include "base/units.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>

/* id parent device root point options [optional...] - type source options */
#define FIELDS_MAX 64
#define FIELD_ID 0
#define FIELD_PARENT 1
#define FIELD_POINT 4
#define FIELD_OPTIONS 5
#define FIELD_OPTIONAL 6

/*
 * Nothing in them is a file of a user's. Those at other places than /dev,
 * /proc and /sys are there for the same purpose.
 */
static const char *const kernel_types[] = {
	"autofs",    "binfmt_misc", "bpf",     "cgroup",     "cgroup2",
	"configfs",  "debugfs",     "devpts",  "devtmpfs",   "efivarfs",
	"fusectl",   "hugetlbfs",   "mqueue",  "nfsd",       "nsfs",
	"proc",      "pstore",      "resctrl", "rpc_pipefs", "securityfs",
	"selinuxfs", "smackfs",     "sysfs",   "tracefs",    "xenfs",
};

static const struct {
	const char *name;
	unsigned long flag;
} options[] = {
	{ "ro", MS_RDONLY },         { "nosuid", MS_NOSUID },
	{ "nodev", MS_NODEV },       { "noexec", MS_NOEXEC },
	{ "noatime", MS_NOATIME },   { "nodiratime", MS_NODIRATIME },
	{ "relatime", MS_RELATIME },
};

bool path_is_within(const char *path, const char *folder)
{
	size_t length = strlen(folder);

	if (length == 1) /* "/" */
		return true;
	return strncmp(path, folder, length) == 0 &&
	       (path[length] == '/' || path[length] == '\0');
}

static bool is_strictly_within(const char *path, const char *folder)
{
	return path_is_within(path, folder) && strcmp(path, folder) != 0;
}

static bool is_octal(char c, char highest)
{
	return c >= '0' && c <= highest;
}

/* In place: the kernel writes blanks, backslashes and # as \040 and so on. */
static int unescape(char *text)
{
	const char *from = text;
	char *to = text;

	while (*from) {
		int value;

		if (*from != '\\') {
			*to++ = *from++;
			continue;
		}
		if (!is_octal(from[1], '3') || !is_octal(from[2], '7') ||
		    !is_octal(from[3], '7'))
			return -EINVAL;
		value = (from[1] - '0') * 64 + (from[2] - '0') * 8 +
			(from[3] - '0');
		if (value == 0)
			return -EINVAL;
		*to++ = (char)value;
		from += 4;
	}
	*to = '\0';
	return 0;
}

/* One that a view could follow: "/a/b", never "/a/../b", "a" or "/a/". */
static bool is_plain_path(const char *path)
{
	size_t length = strlen(path);

	if (path[0] != '/' || length >= PATH_MAX)
		return false;
	if (length == 1)
		return true;
	if (path[length - 1] == '/' || strstr(path, "//") ||
	    strstr(path, "/./") || strstr(path, "/../"))
		return false;
	return strcmp(path + length - 2, "/.") != 0 &&
	       (length < 3 || strcmp(path + length - 3, "/..") != 0);
}

static unsigned long mounts_read_options(char *text)
{
	unsigned long flags = 0;
	const char *name;

	while ((name = strsep(&text, ",")))
		for (size_t i = 0; i < sizeof(options) / sizeof(*options); i++)
			if (strcmp(name, options[i].name) == 0)
				flags |= options[i].flag;
	return flags;
}

static bool is_kernel_type(const char *type)
{
	for (size_t i = 0; i < sizeof(kernel_types) / sizeof(*kernel_types);
	     i++)
		if (strcmp(type, kernel_types[i]) == 0)
			return true;
	return false;
}

static enum mount_use use_of(const struct mount *mount, const char *type)
{
	const char *point = mount->point;

	if (strcmp(type, "autofs") == 0)
		return MOUNT_AUTOMOUNT;
	if (is_kernel_type(type) || (mount->flags & MS_RDONLY))
		return MOUNT_AS_IS;
	if (path_is_within(point, "/dev") || path_is_within(point, "/proc") ||
	    path_is_within(point, "/sys"))
		return MOUNT_AS_IS;
	/* The sockets and files of running services, gone at a boot. */
	if ((strcmp(type, "tmpfs") == 0 || strcmp(type, "ramfs") == 0) &&
	    path_is_within(point, "/run"))
		return MOUNT_AS_IS;
	return MOUNT_LAYERED;
}

static size_t split(char *line, char *fields[FIELDS_MAX])
{
	size_t count = 0;
	char *field;

	while (count < FIELDS_MAX && (field = strsep(&line, " ")))
		if (*field)
			fields[count++] = field;
	return count;
}

static int mounts_read_line(struct mount *mount, char *line)
{
	char *fields[FIELDS_MAX];
	size_t count = split(line, fields);
	size_t dash = FIELD_OPTIONAL;

	while (dash < count && strcmp(fields[dash], "-") != 0)
		dash++;
	/* The source may be empty: then two fields follow the dash. */
	if (dash + 2 >= count || count == FIELDS_MAX)
		return -EINVAL;
	if (integer_parse(fields[FIELD_ID], &mount->id, NULL) < 0 ||
	    integer_parse(fields[FIELD_PARENT], &mount->parent, NULL) < 0 ||
	    unescape(fields[FIELD_POINT]) < 0 ||
	    !is_plain_path(fields[FIELD_POINT]))
		return -EINVAL;
	assert(dash >= FIELD_OPTIONAL && count > FIELD_OPTIONS);
	mount->flags = mounts_read_options(fields[FIELD_OPTIONS]) |
		       (mounts_read_options(fields[count - 1]) & MS_RDONLY);
	mount->point = xstrdup(fields[FIELD_POINT]);
	mount->use = use_of(mount, fields[dash + 1]);
	return 0;
}

static int mounts_read_lines(struct mounts *mounts, char *text)
{
	while (*text) {
		char *end = strchr(text, '\n');
		struct mount mount = { 0 };
		int result;

		if (!end) /* cut off */
			return -EINVAL;
		if (mounts->count == MOUNTS_MAX)
			return -E2BIG;
		*end = '\0';
		result = mounts_read_line(&mount, text);
		if (result < 0)
			return result;
		mounts->items = xrealloc(mounts->items, mounts->count + 1,
					 sizeof(*mounts->items));
		mounts->items[mounts->count++] = mount;
		text = end + 1;
	}
	return 0;
}

/* Does another mount on the same parent, or on top of it, lie over it? */
static bool is_covered(const struct mounts *mounts, const struct mount *mount)
{
	for (size_t i = 0; i < mounts->count; i++) {
		const struct mount *other = &mounts->items[i];

		if (other == mount || other->id == other->parent)
			continue;
		if (other->parent == mount->id &&
		    strcmp(other->point, mount->point) == 0)
			return true;
		if (other->parent == mount->parent &&
		    is_strictly_within(mount->point, other->point))
			return true;
	}
	return false;
}

/* The number of its parent; its own when that is none of the table. */
static size_t parent_of(const struct mounts *mounts, size_t number)
{
	assert(number < mounts->count);
	for (size_t i = 0; i < mounts->count; i++)
		if (mounts->items[i].id == mounts->items[number].parent)
			return i;
	return number;
}

/* What the passes from parents to children know of a mount. */
struct trace {
	size_t parent;
	bool covered;
	bool reached; /* from a mount that has no parent */
};

/*
 * One that lies on top of a hidden mount at the same point shows; one that
 * lies deeper in it is hidden with it.
 */
static bool is_reached(const struct mounts *mounts, const struct trace *traces,
		       size_t number)
{
	size_t parent = traces[number].parent;

	assert(parent < mounts->count);
	if (parent == number)
		return true;
	return traces[parent].reached &&
	       (!traces[parent].covered ||
		strcmp(mounts->items[parent].point,
		       mounts->items[number].point) == 0);
}

/* Whoever is not reached in the end is hidden, a ring of parents too. */
static void mounts_hide(struct mounts *mounts)
{
	struct trace *traces = xcalloc(mounts->count, sizeof(*traces));
	bool progress = true;

	for (size_t i = 0; i < mounts->count; i++) {
		traces[i].parent = parent_of(mounts, i);
		traces[i].covered = is_covered(mounts, &mounts->items[i]);
	}
	while (progress) {
		progress = false;
		for (size_t i = 0; i < mounts->count; i++) {
			if (traces[i].reached || !is_reached(mounts, traces, i))
				continue;
			traces[i].reached = progress = true;
		}
	}
	for (size_t i = 0; i < mounts->count; i++)
		if (traces[i].covered || !traces[i].reached)
			mounts->items[i].use = MOUNT_HIDDEN;
	free(traces);
}

static int compare_points(const void *a, const void *b)
{
	const struct mount *x = a;
	const struct mount *y = b;

	return strcmp(x->point, y->point);
}

int mounts_parse(struct mounts *mounts, const char *text, size_t length)
{
	char *copy = xstrndup(text, length);
	int result = strlen(copy) == length ? 0 : -EINVAL;

	*mounts = (struct mounts)MOUNTS_INIT;
	if (result == 0)
		result = mounts_read_lines(mounts, copy);
	free(copy);
	if (result == 0 && mounts->count) {
		mounts_hide(mounts);
		/* A folder's path stands before the paths that begin with it */
		qsort(mounts->items, mounts->count, sizeof(*mounts->items),
		      compare_points);
	}
	if (result == 0 && !mounts_find(mounts, "/"))
		result = -ENOENT;
	if (result < 0)
		mounts_release(mounts);
	return result;
}

void mounts_release(struct mounts *mounts)
{
	for (size_t i = 0; i < mounts->count; i++)
		free(mounts->items[i].point);
	free(mounts->items);
	*mounts = (struct mounts)MOUNTS_INIT;
}

const struct mount *mounts_find(const struct mounts *mounts, const char *path)
{
	const struct mount *found = NULL;

	/* In order of path, so the last that fits is the deepest. */
	for (size_t i = 0; i < mounts->count; i++)
		if (mounts->items[i].use != MOUNT_HIDDEN &&
		    path_is_within(path, mounts->items[i].point))
			found = &mounts->items[i];
	return found;
}

bool mounts_has_below(const struct mounts *mounts, const char *path)
{
	for (size_t i = 0; i < mounts->count; i++)
		if (mounts->items[i].use != MOUNT_HIDDEN &&
		    is_strictly_within(mounts->items[i].point, path))
			return true;
	return false;
}
