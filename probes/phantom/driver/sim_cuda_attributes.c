/* What kind of device a simulated one is. */
/* SPDX-License-Identifier: MIT */
#include "probes/phantom/device/sim_cuda.h"
#include "probes/phantom/device/sim_events.h"

#include <stdio.h>
#include <strings.h>

/* NOLINTBEGIN(readability-identifier-naming): the driver's names */

/* Each on a bus of its own, in the order of the state. */
EXPORT int cuDeviceGetPCIBusId(char *text, int length, int device)
{
	uint32_t number = 0;
	int result = sim_device(device, &number);

	if (!result && (!text || length < 13))
		return INVALID_VALUE;
	if (!result)
		(void)snprintf(text, (size_t)length, "0000:%02X:00.0",
			       number + 1);
	return result;
}

EXPORT int cuDeviceGetByPCIBusId(int *device, const char *text)
{
	char known[16];

	if (sim_check())
		return NOT_INITIALIZED;
	if (!device || !text)
		return INVALID_VALUE;
	for (int i = 0; !cuDeviceGetPCIBusId(known, sizeof(known), i); i++) {
		if (strcasecmp(known, text) == 0) {
			*device = i;
			return OK;
		}
	}
	return INVALID_VALUE;
}

/* By number and value; those that depend on the card are below. */
static const struct {
	int attribute, value;
} common[] = {
	{ 1, 1024 },       /* threads of a block */
	{ 2, 1024 },       /* x, y, z of a block */
	{ 3, 1024 },       /* */
	{ 4, 64 },         /* */
	{ 5, INT32_MAX },  /* x, y, z of a grid */
	{ 6, 65535 },      /* */
	{ 7, 65535 },      /* */
	{ 8, 49152 },      /* shared memory of a block */
	{ 9, 65536 },      /* constant memory */
	{ 10, 32 },        /* warp */
	{ 11, INT32_MAX }, /* pitch */
	{ 12, 65536 },     /* registers of a block */
	{ 13, 1500000 },   /* clock: nobody's, speed means nothing here */
	{ 14, 512 },       /* alignment of textures */
	{ 15, 1 },         /* copies beside kernels */
	{ 19, 1 },         /* mapped host memory */
	{ 31, 1 },         /* kernels beside kernels */
	{ 36, 5000000 },   /* memory clock: nobody's */
	{ 37, 384 },       /* memory bus: nobody's */
	{ 38, 6291456 },   /* L2 cache: nobody's */
	{ 40, 2 },         /* copy engines */
	{ 41, 1 },         /* unified addresses */
	{ 51, 32 },        /* alignment of pitched textures */
	{ 78, 1 },         /* stream priorities */
	{ 82, 65536 },     /* registers of a multiprocessor */
	{ 83, 1 },         /* managed memory */
	{ 89, 1 },         /* the same, at the same time */
	{ 95, 1 },         /* cooperative launches */
	{ 99, 1 },         /* registered host memory */
	{ 102, 1 },        /* virtual memory management */
	{ 103, 1 },        /* its handles as descriptors */
	{ 111, 1024 },     /* shared memory the system keeps of a block */
	{ 115, 1 },        /* memory pools */
};

/* By compute capability, from the CUDA C++ Programming Guide's table of
 * technical specifications: per multiprocessor. */
static const struct kind {
	int capability;
	int threads, blocks, shared_bytes, shared_of_block;
} kinds[] = {
	{ 60, 2048, 32, 64 << 10, 48 << 10 },
	{ 61, 2048, 32, 96 << 10, 48 << 10 },
	{ 70, 2048, 32, 96 << 10, 96 << 10 },
	{ 75, 1024, 16, 64 << 10, 64 << 10 },
	{ 80, 2048, 32, 164 << 10, 163 << 10 },
	{ 86, 1536, 16, 100 << 10, 99 << 10 },
	{ 89, 1536, 24, 100 << 10, 99 << 10 },
	{ 90, 2048, 32, 228 << 10, 227 << 10 },
	{ 100, 2048, 32, 228 << 10, 227 << 10 },
	{ 120, 1536, 24, 100 << 10, 99 << 10 },
};

static const struct kind *kind_of_card(const struct sim_device *device)
{
	const struct kind *kind = kinds;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (kinds[i].capability <= 10 * device->major + device->minor)
			kind = &kinds[i];
	return kind;
}

static int of_card(const struct sim_device *device, int attribute)
{
	const struct kind *kind = kind_of_card(device);
	const struct {
		int attribute, value;
	} rows[] = {
		{ 16, device->multiprocessors },
		{ 18, sim_fault("integrated") },
		{ 39, kind->threads },
		{ 75, device->major },
		{ 76, device->minor },
		{ 81, kind->shared_bytes },
		{ 97, kind->shared_of_block },
		{ 106, kind->blocks },
		{ 120, device->major >= 9 }, /* clusters */
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if (rows[i].attribute == attribute)
			return rows[i].value;
	return 0;
}

EXPORT int cuDeviceGetAttribute(int *value, int attribute, int device)
{
	struct sim_state *state;
	uint32_t number = 0;
	int result = sim_device(device, &number);

	if (result)
		return result;
	if (!value || attribute <= 0)
		return INVALID_VALUE;
	state = sim_lock_quick();
	if (!state)
		return NO_DEVICE;
	*value = attribute == 33 ? (int)number + 1 /* the bus */
				 : of_card(&state->devices[number], attribute);
	sim_unlock(state);
	for (size_t i = 0; i < sizeof(common) / sizeof(*common); i++)
		if (common[i].attribute == attribute)
			*value = common[i].value;
	return OK;
}

EXPORT int cuDeviceComputeCapability(int *major, int *minor, int device)
{
	int result = cuDeviceGetAttribute(major, 75, device);

	return result ? result : cuDeviceGetAttribute(minor, 76, device);
}

EXPORT int cuDeviceCanAccessPeer(int *can, int device, int peer)
{
	uint32_t number = 0;
	int result = sim_device(device, &number);

	if (!result)
		result = sim_device(peer, &number);
	if (!result && !can)
		return INVALID_VALUE;
	if (!result)
		*can = device != peer;
	return result;
}

const struct sim_export sim_attribute_exports[] = {
	SIM_SAME(cuDeviceGetPCIBusId, 4010),
	SIM_SAME(cuDeviceGetByPCIBusId, 4010),
	SIM_SAME(cuDeviceGetAttribute, 2000),
	SIM_SAME(cuDeviceComputeCapability, 2000),
	SIM_SAME(cuDeviceCanAccessPeer, 4000),
	SIM_END,
};

/* NOLINTEND(readability-identifier-naming) */
