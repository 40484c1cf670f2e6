/* The kernels that a program registers, and what their names tell of them. */
/* SPDX-License-Identifier: MIT */
#include "probes/phantom/runtime/runtime_kernels.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Sorted by the stub before the first look-up after a registration. */
static struct {
	pthread_mutex_t lock;
	struct runtime_kernel *items;
	size_t count, room;
	bool is_sorted;
} kernels = { .lock = PTHREAD_MUTEX_INITIALIZER };

#define UNIQUE "unique"

/*
 * Parts of the names, as compilers mangle them, of what PyTorch and CUB launch
 * where the size of a result is known only afterwards: nonzero() and masks,
 * unique(), repeat_interleave() and bincount().
 */
static const char *const data_sizes[] = {
	"DeviceSelect",
	"DeviceRunLengthEncode",
	"nonzero",
	"flag_kernel",
	UNIQUE,
	"adjacent_difference",
	"compute_cuda_kernel",
	"kernelHistogram",
};

/* What writes down the places where keys change, as the gradient of an
 * embedding does, has room for all of them. And "unique_ptr" is of C++. */
static bool has_kernel_part(const char *name, const char *part)
{
	const char *at = strstr(name, part);

	while (at && strcmp(part, UNIQUE) == 0 &&
	       (strncmp(at, "unique_by_key", strlen("unique_by_key")) == 0 ||
		strncmp(at, "unique_ptr", strlen("unique_ptr")) == 0))
		at = strstr(at + 1, part);
	return at != NULL;
}

/* Of the name of such a kernel only the part that tells it is kept. */
static void read_kernel_name(struct runtime_kernel *kernel)
{
	kernel->meaning =
		strstr(kernel->name, "and_kernel") ? KERNEL_ALL : KERNEL_PLAIN;
	for (size_t i = 0; i < sizeof(data_sizes) / sizeof(*data_sizes); i++) {
		if (!has_kernel_part(kernel->name, data_sizes[i]))
			continue;
		kernel->meaning = KERNEL_DATA_SIZE;
		kernel->name = data_sizes[i];
		return;
	}
}

static int compare_stubs(const void *a, const void *b)
{
	const struct runtime_kernel *one = a;
	const struct runtime_kernel *other = b;

	return (one->stub > other->stub) - (one->stub < other->stub);
}

void runtime_kernel_register(const void *stub, const char *name)
{
	(void)pthread_mutex_lock(&kernels.lock);
	if (kernels.count == kernels.room) {
		size_t room = kernels.room ? 2 * kernels.room : 1024;
		struct runtime_kernel *items =
			realloc(kernels.items, room * sizeof(*items));

		if (!items)
			abort();
		kernels.items = items;
		kernels.room = room;
	}
	kernels.items[kernels.count++] =
		(struct runtime_kernel){ .stub = stub, .name = name };
	kernels.is_sorted = false;
	(void)pthread_mutex_unlock(&kernels.lock);
}

struct runtime_kernel runtime_kernel_find(const void *stub)
{
	struct runtime_kernel key = { .stub = stub };
	struct runtime_kernel *found;

	(void)pthread_mutex_lock(&kernels.lock);
	if (!kernels.is_sorted)
		qsort(kernels.items, kernels.count, sizeof(*kernels.items),
		      compare_stubs);
	kernels.is_sorted = true;
	found = kernels.count ? bsearch(&key, kernels.items, kernels.count,
					sizeof(*kernels.items), compare_stubs)
			      : NULL;
	if (found && found->meaning == KERNEL_UNREAD)
		read_kernel_name(found);
	if (found)
		key = *found;
	(void)pthread_mutex_unlock(&kernels.lock);
	return key;
}
