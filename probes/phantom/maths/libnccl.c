/* A phantom card's NCCL: each rank is alone, and told what it wants to hear. */
/* SPDX-License-Identifier: MIT */
#include "probes/phantom/maths/maths.h"

/* NOLINTBEGIN(readability-identifier-naming): the library's names */

struct communicator {
	int rank, size;
};

struct unique_id {
	char bytes[128];
};

EXPORT int ncclGetVersion(int *version)
{
	*version = 22705;
	return MATHS_OK;
}

EXPORT const char *ncclGetErrorString(int result)
{
	return result ? "an error of a phantom card" : "no error";
}

EXPORT const char *ncclGetLastError(const void *communicator)
{
	(void)communicator;
	return "";
}

EXPORT int ncclGetUniqueId(struct unique_id *id)
{
	memset(id, 1, sizeof(*id));
	return MATHS_OK;
}

EXPORT int ncclCommInitRank(void **made, int size, struct unique_id id,
			    int rank)
{
	int result = maths_make(made, sizeof(struct communicator));
	struct communicator *communicator = *made;

	(void)id;
	if (communicator)
		*communicator = (struct communicator){ rank, size };
	return result;
}

EXPORT int ncclCommInitRankConfig(void **made, int size, struct unique_id id,
				  int rank, const void *configuration)
{
	(void)configuration;
	return ncclCommInitRank(made, size, id, rank);
}

EXPORT int ncclCommGetAsyncError(const void *communicator, int *error)
{
	(void)communicator;
	*error = MATHS_OK;
	return MATHS_OK;
}

EXPORT int ncclCommCount(const struct communicator *communicator, int *count)
{
	*count = communicator->size;
	return MATHS_OK;
}

EXPORT int ncclCommUserRank(const struct communicator *communicator, int *rank)
{
	*rank = communicator->rank;
	return MATHS_OK;
}

/* NOLINTEND(readability-identifier-naming) */
