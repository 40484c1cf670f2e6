/* What changed between two snapshots. */
/* SPDX-License-Identifier: MIT */
#include "probes/isolation/compare/snapshot_changes.h"

#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

/* In place of one that was not there, then or now: of no kind (mode 0). */
static const struct snapshot_file absent = { .path = "", .target = "" };

static bool is_changed(const struct snapshot_file *before,
		       const struct snapshot_file *after)
{
	return before->mode != after->mode || before->inode != after->inode ||
	       before->size != after->size ||
	       before->changed_ns != after->changed_ns ||
	       before->modified_ns != after->modified_ns ||
	       strcmp(before->target, after->target) != 0;
}

static bool is_touched(const struct snapshot_file *before,
		       const struct snapshot_file *after)
{
	return is_changed(before, after) && before->inode == after->inode &&
	       before->size == after->size &&
	       (before->mode & S_IFMT) == (after->mode & S_IFMT);
}

/* Bytes of a file, or the target of a link: what was empty had none. */
static bool is_lost(const struct snapshot_file *before,
		    const struct snapshot_file *after)
{
	if (S_ISLNK(before->mode))
		return !S_ISLNK(after->mode) ||
		       strcmp(before->target, after->target) != 0;
	return S_ISREG(before->mode) && before->size &&
	       (!S_ISREG(after->mode) || before->inode != after->inode ||
		before->size != after->size ||
		before->modified_ns != after->modified_ns);
}

static size_t snapshot_compare(struct strlist *out,
			       const struct snapshot *before,
			       const struct snapshot *after, size_t max,
			       bool (*is_wanted)(const struct snapshot_file *,
						 const struct snapshot_file *))
{
	struct snapshot_file left = absent;
	struct snapshot_file right = absent;
	size_t count = 0;
	size_t i = 0;
	size_t j = 0;

	for (;;) {
		bool has_left = snapshot_file_at(before, i, &left);
		bool has_right = snapshot_file_at(after, j, &right);
		/* Whose path comes next: below 0 the left one, 0: both. */
		int order = has_left ? -1 : 1;

		if (!has_left && !has_right)
			return count;
		if (has_left && has_right)
			order = strcmp(left.path, right.path);
		i += order <= 0;
		j += order >= 0;
		if (is_wanted(order <= 0 ? &left : &absent,
			      order >= 0 ? &right : &absent) &&
		    count++ < max)
			strlist_add(out, order <= 0 ? left.path : right.path);
	}
}

size_t snapshot_differences(struct strlist *out, const struct snapshot *before,
			    const struct snapshot *after, size_t max)
{
	return snapshot_compare(out, before, after, max, is_changed);
}

size_t snapshot_touched(struct strlist *out, const struct snapshot *before,
			const struct snapshot *after, size_t max)
{
	return snapshot_compare(out, before, after, max, is_touched);
}

size_t snapshot_lost(struct strlist *out, const struct snapshot *before,
		     const struct snapshot *after, size_t max)
{
	return snapshot_compare(out, before, after, max, is_lost);
}
