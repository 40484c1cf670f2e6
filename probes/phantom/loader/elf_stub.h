/* Makes a shared library of functions that do nothing. Pure. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_PROBES_PHANTOM_LOADER_ELF_STUB_H
#define AUTOFIT_PROBES_PHANTOM_LOADER_ELF_STUB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct stub_name {
	const char *name;
	const char *node; /* its version; NULL: none. Nodes stand together. */
	bool is_refused;  /* else it answers 0 */
};

/* A name of each such library: a pointer, of the type below. What is refused
 * jumps there, with its own name as the argument. */
#define ELF_STUB_SLOT "autofit_phantom_refuse"
typedef int elf_stub_refuse_fn(const char *name);

/*
 * The bytes of an ELF file for this machine, which needs no other library. The
 * caller frees them. NULL: no memory, or another processor than x86-64 and
 * aarch64.
 */
unsigned char *elf_stub_make(const char *soname, const struct stub_name *names,
			     size_t count, size_t *size);

#endif
