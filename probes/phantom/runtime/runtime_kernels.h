/* The kernels that a program registers, and what their names tell of them. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_PROBES_PHANTOM_RUNTIME_RUNTIME_KERNELS_H
#define AUTOFIT_PROBES_PHANTOM_RUNTIME_RUNTIME_KERNELS_H

enum kernel_meaning {
	KERNEL_UNREAD,
	KERNEL_PLAIN,
	KERNEL_ALL,       /* its result is whether all are true */
	KERNEL_DATA_SIZE, /* how much it writes depends on values */
};

/* A program registers each kernel by the address of its stub and its name. */
struct runtime_kernel {
	const void *stub;
	/* As the compiler mangled it; of a KERNEL_DATA_SIZE only the part that
	 * tells it. */
	const char *name;
	enum kernel_meaning meaning;
};

/* The name stays the program's, and good; any thread may call both. */
void runtime_kernel_register(const void *stub, const char *name);

/* A copy; without a name: it was never registered. */
struct runtime_kernel runtime_kernel_find(const void *stub);

#endif
