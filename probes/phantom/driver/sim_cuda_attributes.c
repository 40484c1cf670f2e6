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

EXPORT int cuDeviceGetAttribute(int *value, int attribute, int device)
{
	static const struct {
		int attribute, value;
	} rows[] = {
		{ 1, 1024 },      /* threads of a block */
		{ 2, 1024 },      /* x, y, z of a block */
		{ 3, 1024 },      /* */
		{ 4, 64 },        /* */
		{ 5, INT32_MAX }, /* x, y, z of a grid */
		{ 6, 65535 },     /* */
		{ 7, 65535 },     /* */
		{ 8, 49152 },     /* shared memory of a block */
		{ 10, 32 },       /* warp */
		{ 16, 132 },      /* multiprocessors */
		{ 41, 1 },        /* unified addresses */
		{ 75, 9 },        /* compute capability */
		{ 76, 0 },        /* */
		{ 83, 1 },        /* managed memory */
		{ 89, 1 },        /* the same, at the same time */
		{ 102, 1 },       /* virtual memory management */
		{ 103, 1 },       /* its handles as descriptors */
		{ 115, 1 },       /* memory pools */
	};
	uint32_t number = 0;
	int result = sim_device(device, &number);

	if (result)
		return result;
	if (!value || attribute <= 0)
		return INVALID_VALUE;
	*value = attribute == 33 ? (int)number + 1 : 0; /* the bus */
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if (rows[i].attribute == attribute)
			*value = rows[i].value;
	if (attribute == 18)
		*value = sim_fault("integrated");
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
