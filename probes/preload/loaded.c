/* Finds functions and files among the loaded modules by their ELF tables. */
/* SPDX-License-Identifier: MIT */
#include "probes/preload/loaded.h"

#include "probes/preload/text.h"

#include <elf.h>
#include <link.h>
#include <stddef.h>
#include <stdint.h>

struct symbols {
	uintptr_t base;
	const ElfW(Sym) * table;
	const char *names;
	const ElfW(Half) * versions;
	const uint32_t *gnu_hash;
	const ElfW(Word) * old_hash;
};

/* glibc adds the base to most addresses of the table in memory, not to all. */
static uintptr_t address_of(const ElfW(Dyn) * entry, uintptr_t base)
{
	uintptr_t value = entry->d_un.d_ptr;

	return value < base ? value + base : value;
}

static void read_dynamic(const ElfW(Dyn) * entry, struct symbols *symbols)
{
	uintptr_t base = symbols->base;

	for (; entry->d_tag != DT_NULL; entry++) {
		if (entry->d_tag == DT_SYMTAB)
			symbols->table = (void *)address_of(entry, base);
		else if (entry->d_tag == DT_STRTAB)
			symbols->names = (void *)address_of(entry, base);
		else if (entry->d_tag == DT_VERSYM)
			symbols->versions = (void *)address_of(entry, base);
		else if (entry->d_tag == DT_GNU_HASH)
			symbols->gnu_hash = (void *)address_of(entry, base);
		else if (entry->d_tag == DT_HASH)
			symbols->old_hash = (void *)address_of(entry, base);
	}
}

static bool is_function(const struct symbols *symbols, uint32_t index,
			const char *name)
{
	const ElfW(Sym) *symbol = &symbols->table[index];

	return ELF64_ST_TYPE(symbol->st_info) == STT_FUNC &&
	       ELF64_ST_BIND(symbol->st_info) != STB_LOCAL &&
	       symbol->st_shndx != SHN_UNDEF && symbol->st_value != 0 &&
	       text_is(symbols->names + symbol->st_name, name);
}

/* Bit 15: a version that only old programs ask for. */
static bool is_hidden(const struct symbols *symbols, uint32_t index)
{
	return symbols->versions && (symbols->versions[index] & 0x8000U);
}

static uint32_t gnu_hash(const char *name)
{
	uint32_t hash = 5381;

	for (; *name; name++)
		hash = hash * 33 + (unsigned char)*name;
	return hash;
}

/* Better a default version than a hidden one; 0: none. */
static uint32_t find_by_gnu_hash(const struct symbols *symbols,
				 const char *name)
{
	const uint32_t *head = symbols->gnu_hash;
	uint32_t buckets = head[0], first = head[1], found = 0, index;
	const uint32_t *bucket =
		head + 4 + head[2] * (sizeof(ElfW(Addr)) / sizeof(*head));
	const uint32_t *chain = bucket + buckets;
	uint32_t hash = gnu_hash(name);

	index = buckets ? bucket[hash % buckets] : 0;
	if (index < first)
		return 0;
	for (;; index++) {
		uint32_t entry = chain[index - first];

		if ((entry | 1) == (hash | 1) &&
		    is_function(symbols, index, name)) {
			if (!is_hidden(symbols, index))
				return index;
			found = index;
		}
		if (entry & 1)
			return found;
	}
}

static uint32_t find_by_old_hash(const struct symbols *symbols,
				 const char *name)
{
	uint32_t count = symbols->old_hash[1], found = 0, index;

	for (index = 1; index < count; index++) {
		if (!is_function(symbols, index, name))
			continue;
		if (!is_hidden(symbols, index))
			return index;
		found = index;
	}
	return found;
}

static void *find_by_name(const struct symbols *symbols, const char *name)
{
	uint32_t index = 0;

	if (!symbols->table || !symbols->names)
		return NULL;
	if (symbols->gnu_hash)
		index = find_by_gnu_hash(symbols, name);
	else if (symbols->old_hash)
		index = find_by_old_hash(symbols, name);
	if (index == 0)
		return NULL;
	return (void *)(symbols->base + symbols->table[index].st_value);
}

static void *loaded_find_in(const struct dl_phdr_info *info, const char *name)
{
	struct symbols symbols = { .base = info->dlpi_addr };
	ElfW(Half) i;

	for (i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &info->dlpi_phdr[i];

		if (part->p_type == PT_DYNAMIC)
			read_dynamic((void *)(symbols.base + part->p_vaddr),
				     &symbols);
	}
	return find_by_name(&symbols, name);
}

static bool loaded_is_named(const char *path, const char *prefix)
{
	const char *name = path, *next;

	for (next = name; *next; next++) {
		if (*next == '/')
			name = next + 1;
	}
	return text_begins(name, prefix);
}

/* Weak: it is of the loader, which this library does not ask for. */
#pragma weak _r_debug

typedef int iterate_fn(int (*)(struct dl_phdr_info *, size_t, void *), void *);

/*
 * libc's own dl_iterate_phdr. Programs have one in its place that asks dlsym
 * for the next, or is not ready yet when dlsym is called for the first time.
 */
static iterate_fn *find_iterate(void)
{
	const struct link_map *map = &_r_debug ? _r_debug.r_map : NULL;
	void *found = NULL;

	for (; map && !found; map = map->l_next) {
		struct symbols symbols = { .base = map->l_addr };

		if (!map->l_name || !map->l_ld ||
		    !loaded_is_named(map->l_name, "libc.so"))
			continue;
		read_dynamic(map->l_ld, &symbols);
		found = find_by_name(&symbols, "dl_iterate_phdr");
	}
	return found ? __extension__(iterate_fn *) found : dl_iterate_phdr;
}

static int iterate(int (*visit)(struct dl_phdr_info *, size_t, void *),
		   void *data)
{
	static void *known;
	void *found = __atomic_load_n(&known, __ATOMIC_RELAXED);

	if (!found) {
		found = __extension__(void *) find_iterate();
		__atomic_store_n(&known, found, __ATOMIC_RELAXED);
	}
	return (__extension__(iterate_fn *) found)(visit, data);
}

static bool loaded_holds(const struct dl_phdr_info *info, const void *address)
{
	uintptr_t offset = (uintptr_t)address - info->dlpi_addr;
	ElfW(Half) i;

	for (i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &info->dlpi_phdr[i];

		if (part->p_type == PT_LOAD &&
		    offset - part->p_vaddr < part->p_memsz)
			return true;
	}
	return false;
}

/* An address that is ours. */
static const char ours;

struct next {
	const char *name;
	bool after_us;
	void *found;
};

static int on_module_after_us(struct dl_phdr_info *info, size_t size,
			      void *data)
{
	struct next *next = data;

	(void)size;
	if (!next->after_us)
		next->after_us = loaded_holds(info, &ours);
	else
		next->found = loaded_find_in(info, next->name);
	return next->found != NULL;
}

void *loaded_after_us(const char *function)
{
	struct next next = { .name = function };

	(void)iterate(on_module_after_us, &next);
	return next.found;
}

struct loaded_place {
	const void *address;
	struct loaded_module *module;
};

static int on_module_at(struct dl_phdr_info *info, size_t size, void *data)
{
	struct loaded_place *place = data;

	(void)size;
	if (!loaded_holds(info, place->address))
		return 0;
	place->module->path = info->dlpi_name ? info->dlpi_name : "";
	place->module->base = (void *)info->dlpi_addr;
	return 1;
}

bool loaded_at(const void *address, struct loaded_module *module)
{
	struct loaded_place place = { .address = address, .module = module };

	return iterate(on_module_at, &place) != 0;
}

bool loaded_is(const struct loaded_module *module, const char *prefix)
{
	return loaded_is_named(module->path, prefix);
}
