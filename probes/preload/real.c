/* Where the driver has its functions, found once and then remembered. */
/* SPDX-License-Identifier: MIT */
#include "probes/preload/real.h"

#include "probes/preload/loaded.h"
#include "probes/preload/text.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>

#define HOOK_AS_ROW(elf, base, version, stream)                                \
	{ #elf, base, __extension__(void *)(elf), version, stream },

static const struct hook_row rows[HOOK_COUNT] = { HOOK_ROWS(HOOK_AS_ROW) };

enum library {
	LIBRARY_CUDA,
	LIBRARY_NVML,
	LIBRARY_COUNT,
};

static const char *const sonames[LIBRARY_COUNT] = {
	[LIBRARY_CUDA] = "libcuda.so.1",
	[LIBRARY_NVML] = "libnvidia-ml.so.1",
};
static const char *const prefixes[LIBRARY_COUNT] = {
	[LIBRARY_CUDA] = "libcuda.so",
	[LIBRARY_NVML] = "libnvidia-ml.so",
};

/* What changes here goes from NULL to its value once, whoever is first. */
static _Atomic(void *) reals[HOOK_COUNT];
static _Atomic(void *) handles[LIBRARY_COUNT];
static _Atomic(void *) next_dlsym;

typedef void *real_dlopen_fn(const char *path, int flags);
typedef char *real_dlerror_fn(void);

const struct hook_row *hook_row(enum hook hook)
{
	return &rows[hook];
}

void *real_wrapper(enum hook hook)
{
	return rows[hook].wrapper;
}

/* The first row whose name is not before this one. */
static size_t lower_bound(const char *name)
{
	size_t low = 0, high = HOOK_COUNT;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (text_compare(rows[middle].elf, name) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

enum hook hook_of_name(const char *name)
{
	size_t i;

	/* Most names that a program looks up are none of the driver's. */
	if (name[0] != 'c' && name[0] != 'n')
		return HOOK_COUNT;
	i = lower_bound(name);
	if (i < HOOK_COUNT && text_is(rows[i].elf, name))
		return (enum hook)i;
	return HOOK_COUNT;
}

/* In the order of names, those of one base begin with it and stand together. */
enum hook hook_of_base(const char *base, int version, uint64_t flags)
{
	enum hook best[2] = { HOOK_COUNT, HOOK_COUNT };
	bool has_stream = false;
	size_t i;

	for (i = *base ? lower_bound(base) : HOOK_COUNT;
	     i < HOOK_COUNT && text_begins(rows[i].elf, base); i++) {
		const struct hook_row *row = &rows[i];
		enum hook *mine = &best[row->stream == 2];

		if (!text_is(row->base, base))
			continue;
		has_stream = has_stream || row->stream == 2;
		if (row->version <= version &&
		    (*mine == HOOK_COUNT || rows[*mine].version < row->version))
			*mine = (enum hook)i;
	}
	return best[(flags & 2) && has_stream];
}

real_dlsym_fn *real_dlsym(void)
{
	void *found = atomic_load_explicit(&next_dlsym, memory_order_relaxed);

	if (!found) {
		found = loaded_after_us("dlsym");
		atomic_store_explicit(&next_dlsym, found, memory_order_relaxed);
	}
	return __extension__(real_dlsym_fn *) found;
}

/* Clears an error of ours, which the program must not find. */
static void clear_error(void)
{
	real_dlerror_fn *real =
		__extension__(real_dlerror_fn *) loaded_after_us("dlerror");

	if (real)
		(void)real();
}

static void *open_library(const char *path, int flags)
{
	real_dlopen_fn *real =
		__extension__(real_dlopen_fn *) loaded_after_us("dlopen");
	void *handle = real ? real(path, flags) : NULL;

	if (!handle)
		clear_error();
	return handle;
}

/* Whoever was first; what comes second is as good and let go. */
static void *real_remember(_Atomic(void *) *place, void *value)
{
	void *before = NULL;

	if (!value || atomic_compare_exchange_strong(place, &before, value))
		return value;
	return before;
}

/*
 * A handle of ours is never closed: addresses remain good when the program
 * closes the driver, and there is one driver when it opens it again.
 */
static void *library_handle(enum library library, bool load)
{
	void *handle = atomic_load(&handles[library]);

	if (handle)
		return handle;
	handle = open_library(sonames[library], RTLD_LAZY | RTLD_NOLOAD);
	if (!handle && load)
		handle = open_library(sonames[library], RTLD_LAZY);
	return real_remember(&handles[library], handle);
}

static enum library library_of(const char *name)
{
	return text_begins(name, "nvml") ? LIBRARY_NVML : LIBRARY_CUDA;
}

static void *real_look_for(const char *name, bool load)
{
	real_dlsym_fn *lookup = real_dlsym();
	enum hook hook = hook_of_name(name);
	void *handle, *found = NULL;
	int saved = errno;

	handle = lookup ? library_handle(library_of(name), load) : NULL;
	if (handle) {
		found = lookup(handle, name);
		if (!found)
			clear_error();
	}
	if (found && hook != HOOK_COUNT && found == rows[hook].wrapper)
		found = NULL;
	errno = saved;
	return found;
}

static void *find_hook(enum hook hook, bool load)
{
	void *known = atomic_load_explicit(&reals[hook], memory_order_acquire);

	if (known)
		return known;
	return real_remember(&reals[hook], real_look_for(rows[hook].elf, load));
}

void *real_find(enum hook hook)
{
	return find_hook(hook, true);
}

void *real_find_loaded(enum hook hook)
{
	return find_hook(hook, false);
}

void *real_symbol(const char *name)
{
	return real_look_for(name, true);
}

/* Its file is the driver from now on, and stays. */
static void keep_library(enum library library, const void *address)
{
	struct loaded_module module;

	if (atomic_load(&handles[library]) || !loaded_at(address, &module) ||
	    !loaded_is(&module, prefixes[library]))
		return;
	(void)real_remember(&handles[library],
			    open_library(module.path, RTLD_LAZY | RTLD_NOLOAD));
}

void real_note(enum hook hook, void *address)
{
	int saved = errno;

	if (!address || address == rows[hook].wrapper ||
	    atomic_load_explicit(&reals[hook], memory_order_relaxed))
		return;
	keep_library(library_of(rows[hook].elf), address);
	(void)real_remember(&reals[hook], address);
	errno = saved;
}

bool real_is_second(enum hook hook, void *address)
{
	const char *prefix = prefixes[library_of(rows[hook].elf)];
	void *known = atomic_load(&reals[hook]);
	struct loaded_module first, second;

	return known && known != address && loaded_at(known, &first) &&
	       loaded_at(address, &second) && first.base != second.base &&
	       loaded_is(&first, prefix) && loaded_is(&second, prefix);
}

bool real_is_driver(const void *address)
{
	struct loaded_module module;

	return loaded_at(address, &module) &&
	       (loaded_is(&module, prefixes[LIBRARY_CUDA]) ||
		loaded_is(&module, prefixes[LIBRARY_NVML]));
}
