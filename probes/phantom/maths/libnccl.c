/* A phantom card's NCCL: ranks meet, and what they say to each other before
 * they train is handed on; of all else only the sizes count. */
/* SPDX-License-Identifier: MIT */
#include "probes/phantom/maths/maths.h"

#include "probes/phantom/device/sim_kept.h"
#include "probes/phantom/maths/libnccl_meeting.h"

#include <dlfcn.h>
#include <sys/random.h>

/* NOLINTBEGIN(readability-identifier-naming): the library's names */
/* NOLINTBEGIN(readability-function-size): the library's signatures */

struct communicator {
	int rank, size;
	uint32_t splits; /* of it so far, by all of its ranks alike */
	unsigned char name[MEETING_NAME_BYTES];
	struct meeting *meeting; /* NULL: the ranks are one process */
};

struct unique_id {
	unsigned char bytes[128];
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
	(void)!getrandom(id->bytes, MEETING_NAME_BYTES, 0);
	return MATHS_OK;
}

static int make_communicator(struct communicator **made, int size,
			     const unsigned char name[MEETING_NAME_BYTES],
			     int rank)
{
	struct communicator *communicator = calloc(1, sizeof(*communicator));

	*made = communicator;
	if (!communicator)
		return MATHS_NO_MEMORY;
	communicator->rank = rank;
	communicator->size = size;
	memcpy(communicator->name, name, MEETING_NAME_BYTES);
	communicator->meeting = meeting_open(name, rank, size);
	return MATHS_OK;
}

EXPORT int ncclCommInitRank(struct communicator **made, int size,
			    struct unique_id id, int rank)
{
	return make_communicator(made, size, id.bytes, rank);
}

EXPORT int ncclCommInitRankConfig(struct communicator **made, int size,
				  struct unique_id id, int rank,
				  const void *configuration)
{
	(void)configuration;
	return make_communicator(made, size, id.bytes, rank);
}

EXPORT int ncclCommInitRankScalable(struct communicator **made, int size,
				    int rank, int id_count,
				    const struct unique_id *ids,
				    const void *configuration)
{
	(void)id_count;
	(void)configuration;
	return make_communicator(made, size, ids[0].bytes, rank);
}

/* All ranks in one process, one after the other: nobody may wait. */
EXPORT int ncclCommInitAll(struct communicator **made, int size,
			   const int *devices)
{
	int result = MATHS_OK;

	(void)devices;
	for (int i = 0; i < size && !result; i++) {
		result = maths_make((void **)&made[i], sizeof(*made[i]));
		if (!result) {
			made[i]->rank = i;
			made[i]->size = size;
		}
	}
	return result;
}

static int end_communicator(struct communicator *communicator)
{
	if (communicator)
		meeting_close(communicator->meeting);
	free(communicator);
	return MATHS_OK;
}

EXPORT int ncclCommDestroy(struct communicator *communicator)
{
	return end_communicator(communicator);
}

EXPORT int ncclCommAbort(struct communicator *communicator)
{
	return end_communicator(communicator);
}

struct split_wish {
	int color, key;
};

/* A rank without a color takes no part. */
#define NO_COLOR (-1)

/* Its rank among those of its color, by their keys, and how many they are. */
static int rank_among(const struct split_wish *wishes, int count, int own,
		      int *size)
{
	int rank = 0;

	*size = 0;
	for (int i = 0; i < count; i++) {
		if (wishes[i].color != wishes[own].color)
			continue;
		++*size;
		rank += wishes[i].key < wishes[own].key ||
			(wishes[i].key == wishes[own].key && i < own);
	}
	return rank;
}

EXPORT int ncclCommSplit(struct communicator *parent, int color, int key,
			 struct communicator **made, const void *configuration)
{
	struct split_wish wishes[MEETING_RANKS] = { { 0 } };
	struct split_wish own = { color, key };
	unsigned char name[MEETING_NAME_BYTES];
	bool spoken[MEETING_RANKS];
	uint32_t number = ++parent->splits;
	int rank;
	int size;

	(void)configuration;
	*made = NULL;
	if (!meeting_exchange(parent->meeting, &own, sizeof(own),
			      (unsigned char *)wishes, spoken))
		return 3; /* ncclInternalError */
	if (color == NO_COLOR)
		return MATHS_OK;
	rank = rank_among(wishes, parent->size, parent->rank, &size);
	memcpy(name, parent->name, sizeof(name));
	for (size_t i = 0; i < sizeof(number); i++) {
		name[i] ^= (unsigned char)(number >> (8 * i));
		name[8 + i] ^=
			(unsigned char)((uint32_t)(color + 1) >> (8 * i));
	}
	return make_communicator(made, size, name, rank);
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

EXPORT int ncclCommRegister(const void *communicator, const void *buffer,
			    size_t bytes, void **handle)
{
	(void)communicator;
	(void)buffer;
	(void)bytes;
	*handle = NULL;
	return MATHS_OK;
}

EXPORT int ncclRedOpCreatePreMulSum(int *operation, const void *scalar,
				    int type, int residence,
				    const void *communicator)
{
	(void)scalar;
	(void)type;
	(void)residence;
	(void)communicator;
	*operation = 5; /* the first that is none of the built-in ones */
	return MATHS_OK;
}

/* Of a ncclDataType_t, in its order. */
static size_t nccl_bytes(size_t count, int type)
{
	static const unsigned char widths[] = { 1, 1, 4, 4, 8, 8,
						2, 4, 8, 2, 1, 1 };

	return type >= 0 && type < (int)sizeof(widths) ? count * widths[type]
						       : 0;
}

static void *driver_function(const char *name)
{
	void *driver = dlopen("libcuda.so.1", RTLD_NOW);

	return driver ? dlsym(driver, name) : NULL;
}

static void keep_for_ranks(const void *address, const void *data, size_t bytes,
			   enum sim_kept kind)
{
	int (*call)(uint64_t, const void *, size_t, enum sim_kept);
	void *function = driver_function("autofit_phantom_keep");

	memcpy(&call, &function, sizeof(call));
	if (call)
		(void)call((uintptr_t)address, data, bytes, kind);
}

static bool find_kept(const void *address, void *data, size_t bytes)
{
	int (*call)(uint64_t, void *, size_t);
	void *function = driver_function("autofit_phantom_kept");

	memcpy(&call, &function, sizeof(call));
	return call && call((uintptr_t)address, data, bytes) != SIM_KEPT_NOT;
}

/*
 * What each rank has at send arrives at receive, one after the other, or that
 * of the root alone; where one does not know its own, nobody knows it.
 */
#define EVERYBODY (-1)
static void hand_to_ranks(const struct communicator *communicator,
			  const void *send, void *receive, size_t bytes,
			  int root)
{
	size_t size = root == EVERYBODY ? (size_t)communicator->size : 1;
	bool is_small = bytes && bytes <= MEETING_BYTES_MAX;
	bool spoken[MEETING_RANKS] = { false };
	unsigned char *own = is_small ? malloc(bytes) : NULL;
	unsigned char *all =
		is_small ? malloc((size_t)communicator->size * bytes) : NULL;
	bool is_known = own && find_kept(send, own, bytes);

	/* It may be in the same place. */
	keep_for_ranks(receive, NULL, size * bytes, SIM_KEPT_NOT);
	if (own && all &&
	    meeting_exchange(communicator->meeting, is_known ? own : NULL,
			     bytes, all, spoken))
		for (size_t i = 0; i < size; i++) {
			size_t from = root == EVERYBODY ? i : (size_t)root;

			if (spoken[from])
				keep_for_ranks((unsigned char *)receive +
						       i * bytes,
					       all + from * bytes, bytes,
					       SIM_KEPT_ANSWER);
		}
	free(own);
	free(all);
}

EXPORT int ncclAllGather(const void *send, void *receive, size_t count,
			 int type, const struct communicator *communicator,
			 void *stream)
{
	(void)stream;
	hand_to_ranks(communicator, send, receive, nccl_bytes(count, type),
		      EVERYBODY);
	return MATHS_OK;
}

EXPORT int ncclBroadcast(const void *send, void *receive, size_t count,
			 int type, int root,
			 const struct communicator *communicator, void *stream)
{
	(void)stream;
	hand_to_ranks(communicator, send, receive, nccl_bytes(count, type),
		      root);
	return MATHS_OK;
}

EXPORT int ncclBcast(void *buffer, size_t count, int type, int root,
		     const struct communicator *communicator, void *stream)
{
	return ncclBroadcast(buffer, buffer, count, type, root, communicator,
			     stream);
}

/* Sums are computed, and so not known. */
EXPORT int ncclAllReduce(const void *send, void *receive, size_t count,
			 int type, int operation, const void *communicator,
			 void *stream)
{
	(void)send;
	(void)operation;
	(void)communicator;
	(void)stream;
	keep_for_ranks(receive, NULL, nccl_bytes(count, type), SIM_KEPT_NOT);
	return MATHS_OK;
}

/* NOLINTEND(readability-function-size) */
/* NOLINTEND(readability-identifier-naming) */
