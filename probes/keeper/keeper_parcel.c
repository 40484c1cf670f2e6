/* A keeper's orders as bytes, for a keeper that another process forks. */
/* SPDX-License-Identifier: MIT */
/*
 * The parts follow each other without names, in the order of
 * keeper_parcel_write(). A text is a byte that says whether there is one, and
 * the text with its NUL; a list is its count and its texts; a part that may be
 * missing is led by a byte as well.
 */
#include "probes/keeper/keeper_parcel.h"

#include "base/alloc.h"

#include <assert.h>
#include <errno.h>
#include <stdint.h>
#include <string.h>

static void put_flag(struct strbuf *out, bool flag)
{
	strbuf_addch(out, flag ? 1 : 0);
}

static void parcel_put_text(struct strbuf *out, const char *text)
{
	put_flag(out, text != NULL);
	if (text)
		strbuf_add(out, text, strlen(text) + 1);
}

static void parcel_put_list(struct strbuf *out, const struct strlist *list)
{
	uint32_t count = list ? (uint32_t)list->count : 0;

	put_flag(out, list != NULL);
	strbuf_add(out, &count, sizeof(count));
	for (size_t i = 0; i < count; i++)
		parcel_put_text(out, list->items[i]);
}

static void parcel_put_shims(struct strbuf *out, const struct shims *shims)
{
	put_flag(out, shims != NULL);
	if (!shims)
		return;
	parcel_put_text(out, shims->folder);
	parcel_put_text(out, shims->mark);
	parcel_put_list(out, &shims->names);
	parcel_put_list(out, &shims->always);
}

static void put_isolation(struct strbuf *out, const struct isolation_spec *spec)
{
	put_flag(out, spec != NULL);
	if (!spec)
		return;
	assert(spec->kind < ISOLATION_KINDS);
	strbuf_addch(out, (char)spec->kind);
	parcel_put_text(out, spec->working);
	parcel_put_text(out, spec->scratch);
	parcel_put_list(out, spec->shared);
	parcel_put_list(out, spec->guarded);
	parcel_put_shims(out, spec->shims);
	parcel_put_text(out, spec->path);
	parcel_put_list(out, spec->covers);
}

void keeper_parcel_write(struct strbuf *out, const struct keeper_spec *spec)
{
	assert(spec->argv->count >= 1 && spec->environment);
	parcel_put_list(out, spec->argv);
	parcel_put_list(out, spec->environment);
	strbuf_add(out, spec->state, sizeof(*spec->state));
	parcel_put_text(out, spec->mark);
	put_flag(out, spec->cgroup != NULL);
	if (spec->cgroup)
		strbuf_add(out, spec->cgroup, sizeof(*spec->cgroup));
	put_isolation(out, spec->isolation);
	parcel_put_text(out, spec->scratch);
	parcel_put_list(out, spec->extra_files);
}

/* What is left to be read. Once it has failed, nothing more is taken. */
struct parcel_cursor {
	const char *data;
	size_t left;
	bool failed;
};

static bool take_bytes(struct parcel_cursor *from, void *bytes, size_t size)
{
	if (from->failed || from->left < size) {
		from->failed = true;
		return false;
	}
	memcpy(bytes, from->data, size);
	from->data += size;
	from->left -= size;
	return true;
}

static bool take_flag(struct parcel_cursor *from)
{
	char flag = 0;

	return take_bytes(from, &flag, 1) && flag;
}

static char *parcel_take_text(struct parcel_cursor *from)
{
	size_t length;
	char *text;

	if (!take_flag(from))
		return NULL;
	assert(!from->failed && "a flag was taken");
	length = strnlen(from->data, from->left);
	if (length == from->left) {
		from->failed = true;
		return NULL;
	}
	text = xcalloc(length + 1, 1);
	(void)take_bytes(from, text, length + 1);
	return text;
}

static const struct strlist *parcel_take_list(struct parcel_cursor *from,
					      struct strlist *list)
{
	bool is_there = take_flag(from);
	uint32_t count = 0;

	(void)take_bytes(from, &count, sizeof(count));
	for (uint32_t i = 0; i < count && !from->failed; i++) {
		char *text = parcel_take_text(from);

		if (text)
			strlist_take(list, text);
		else
			from->failed = true;
	}
	return is_there ? list : NULL;
}

static const struct shims *take_shims(struct parcel_cursor *from,
				      struct shims *shims)
{
	if (!take_flag(from))
		return NULL;
	shims->folder = parcel_take_text(from);
	shims->mark = parcel_take_text(from);
	(void)parcel_take_list(from, &shims->names);
	(void)parcel_take_list(from, &shims->always);
	return shims;
}

static void take_isolation(struct parcel_cursor *from,
			   struct keeper_parcel *parcel)
{
	struct isolation_spec *spec = &parcel->isolation;
	char kind = 0;

	if (!take_flag(from))
		return;
	(void)take_bytes(from, &kind, 1);
	if (kind < 0 || kind >= ISOLATION_KINDS)
		from->failed = true;
	spec->kind = (enum isolation_kind)kind;
	spec->working = parcel_take_text(from);
	spec->scratch = parcel_take_text(from);
	spec->shared = parcel_take_list(from, &parcel->shared);
	spec->guarded = parcel_take_list(from, &parcel->guarded);
	spec->shims = take_shims(from, &parcel->shims);
	spec->path = parcel_take_text(from);
	spec->covers = parcel_take_list(from, &parcel->covers);
	parcel->spec.isolation = spec;
}

int keeper_parcel_read(struct keeper_parcel *parcel, const void *data,
		       size_t size)
{
	struct parcel_cursor from = { data, size, false };
	struct keeper_spec *spec = &parcel->spec;

	*parcel = (struct keeper_parcel){ 0 };
	spec->argv = parcel_take_list(&from, &parcel->argv);
	spec->environment = parcel_take_list(&from, &parcel->environment);
	(void)take_bytes(&from, &parcel->state, sizeof(parcel->state));
	spec->state = &parcel->state;
	spec->mark = parcel_take_text(&from);
	if (take_flag(&from)) {
		(void)take_bytes(&from, &parcel->cgroup,
				 sizeof(parcel->cgroup));
		parcel->cgroup.folder[sizeof(parcel->cgroup.folder) - 1] = '\0';
		spec->cgroup = &parcel->cgroup;
	}
	take_isolation(&from, parcel);
	spec->scratch = parcel_take_text(&from);
	spec->extra_files = parcel_take_list(&from, &parcel->extra_files);
	if (from.failed || from.left || !spec->argv || !spec->argv->count ||
	    !spec->environment)
		return -EINVAL;
	return 0;
}
