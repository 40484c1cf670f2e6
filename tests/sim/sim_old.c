/* A simulated libcuda.so.1 as of CUDA 11.2: each function by its own name. */
/* SPDX-License-Identifier: MIT */
#include "probes/phantom/device/sim_cuda.h"

/* NOLINTBEGIN(readability-identifier-naming): the driver's names */

/* The rest is the other driver's, less what sim_old.map hides. */
EXPORT int cuDriverGetVersion(int *version)
{
	if (!version)
		return INVALID_VALUE;
	*version = 11020;
	return OK;
}

EXPORT int cuGetExportTable(const void **table, const void *id)
{
	if (table)
		*table = NULL;
	(void)id;
	return INVALID_VALUE;
}

/* NOLINTEND(readability-identifier-naming) */
