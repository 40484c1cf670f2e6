/* What one process of the simulated driver hands to another. */
/* SPDX-License-Identifier: MIT */
#include "probes/phantom/device/sim_share.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MAGIC UINT64_C(0x45524148534d4953)

enum handle_type { DESCRIPTOR = 1, FABRIC = 8 };

_Static_assert(sizeof(struct sim_shared) <= SIM_SHARED_BYTES, "fits");

void sim_share_bytes(void *target, const struct sim_shared *what)
{
	struct sim_shared copy = *what;

	copy.magic = MAGIC;
	copy.pid = getpid();
	memset(target, 0, SIM_SHARED_BYTES);
	memcpy(target, &copy, sizeof(copy));
}

bool sim_take_bytes(const void *source, struct sim_shared *what)
{
	struct sim_shared copy;

	memcpy(&copy, source, sizeof(copy));
	if (copy.magic != MAGIC || copy.kind != what->kind)
		return false;
	*what = copy;
	return true;
}

int sim_share(void *target, int type, const struct sim_shared *what)
{
	char bytes[SIM_SHARED_BYTES];
	int fd;

	if (type == FABRIC) {
		sim_share_bytes(target, what);
		return OK;
	}
	if (type != DESCRIPTOR)
		return INVALID_VALUE;
	fd = memfd_create("sim_cuda", MFD_CLOEXEC);
	if (fd < 0)
		return OUT_OF_MEMORY;
	sim_share_bytes(bytes, what);
	if (pwrite(fd, bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes)) {
		(void)close(fd);
		return OUT_OF_MEMORY;
	}
	memcpy(target, &fd, sizeof(fd));
	return OK;
}

int sim_take_shared(const void *source, int type, struct sim_shared *what)
{
	char bytes[SIM_SHARED_BYTES];
	int fd = (int)(intptr_t)source;

	if (type == FABRIC)
		return source && sim_take_bytes(source, what) ? OK
							      : INVALID_VALUE;
	if (type != DESCRIPTOR ||
	    pread(fd, bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
		return INVALID_VALUE;
	return sim_take_bytes(bytes, what) ? OK : INVALID_VALUE;
}
