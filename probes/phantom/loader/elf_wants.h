/* What a shared library asks of others, read from its file. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_PROBES_PHANTOM_LOADER_ELF_WANTS_H
#define AUTOFIT_PROBES_PHANTOM_LOADER_ELF_WANTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * An ELF file for this machine, in memory for as long as this is used. It is
 * the user's, and hostile: nothing is read outside of its size.
 */
struct elf_file {
	const unsigned char *image;
	size_t size;
	/* Offsets and sizes of its tables; 0: it has none. */
	uint64_t dynamic, dynamic_size;
	uint64_t strings, strings_size;
	uint64_t symbols, versions, nodes;
	uint64_t node_files; /* how many files it names nodes of */
	uint64_t asked;      /* symbols 1 to this one are asked of others */
};

/* False: no shared library of this machine's kind. */
bool elf_file_read(struct elf_file *file, const void *image, size_t size);

/* The file name of the library that it needs as the index-th; NULL: no more. */
const char *elf_needed(const struct elf_file *file, size_t index);

/* Folders with colons between them, in which it looks for those; or "". */
const char *elf_run_path(const struct elf_file *file);

/* A name that is asked for, of which library, in which version node. */
struct elf_wanted {
	const char *name;
	const char *library, *node; /* NULL: of any, in none */
};

/* False: symbol number index (1 to asked) is asked of nobody. */
bool elf_wanted(const struct elf_file *file, uint64_t index,
		struct elf_wanted *wanted);

#endif
