/* Where the ranks of a phantom card's NCCL meet. */
/* SPDX-License-Identifier: MIT */
#include "probes/phantom/maths/libnccl_meeting.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

/* For ranks that start one after the other on a busy machine. */
#define PATIENCE_SECONDS 60
#define LOOK_NS 200000
#define PATH_BYTES_MAX 4096

/*
 * A rank has two places and uses them in turn: whoever comes to the next but
 * one meeting knows by the next one that all have read the place before.
 */
struct meeting_place {
	uint32_t has_spoken;
	unsigned char data[MEETING_BYTES_MAX];
};

struct room {
	_Atomic uint64_t arrivals[MEETING_RANKS];
	struct meeting_place places[MEETING_RANKS][2];
};

struct meeting {
	struct room *room;
	int rank, size;
	uint64_t count; /* of meetings so far */
	bool is_over;   /* somebody did not come */
};

static struct room *open_room(const unsigned char name[MEETING_NAME_BYTES])
{
	const char *state = getenv("AUTOFIT_SIM_STATE");
	char path[PATH_BYTES_MAX];
	struct room *room = MAP_FAILED;
	size_t length;
	int fd;

	if (!state || strlen(state) + 64 > sizeof(path))
		return NULL;
	length = (size_t)snprintf(path, sizeof(path), "%s.meeting-", state);
	for (int i = 0; i < MEETING_NAME_BYTES; i++)
		length += (size_t)snprintf(path + length, sizeof(path) - length,
					   "%02x", name[i]);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return NULL;
	/* Zeros, whoever comes first; only what is used takes room. */
	if (ftruncate(fd, (off_t)sizeof(*room)) == 0)
		room = mmap(NULL, sizeof(*room), PROT_READ | PROT_WRITE,
			    MAP_SHARED, fd, 0);
	(void)close(fd);
	return room == MAP_FAILED ? NULL : room;
}

struct meeting *meeting_open(const unsigned char name[MEETING_NAME_BYTES],
			     int rank, int size)
{
	struct meeting *meeting;

	if (rank < 0 || rank >= size || size > MEETING_RANKS)
		return NULL;
	meeting = calloc(1, sizeof(*meeting));
	if (!meeting)
		return NULL;
	meeting->rank = rank;
	meeting->size = size;
	meeting->room = open_room(name);
	if (!meeting->room) {
		free(meeting);
		return NULL;
	}
	return meeting;
}

void meeting_close(struct meeting *meeting)
{
	if (!meeting)
		return;
	(void)munmap(meeting->room, sizeof(*meeting->room));
	free(meeting);
}

static bool have_all_come(struct meeting *meeting)
{
	for (int i = 0; i < meeting->size; i++)
		if (atomic_load_explicit(&meeting->room->arrivals[i],
					 memory_order_acquire) < meeting->count)
			return false;
	return true;
}

/* Looks again and again: the others need milliseconds, not seconds. */
static bool meeting_wait(struct meeting *meeting)
{
	const struct timespec pause = { .tv_nsec = LOOK_NS };
	struct timespec start;
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &start);
	while (!have_all_come(meeting)) {
		(void)nanosleep(&pause, NULL);
		(void)clock_gettime(CLOCK_MONOTONIC, &now);
		if (now.tv_sec - start.tv_sec > PATIENCE_SECONDS)
			return false;
	}
	return true;
}

bool meeting_exchange(struct meeting *meeting, const void *own, size_t bytes,
		      unsigned char *all, bool spoken[MEETING_RANKS])
{
	struct meeting_place *place;
	uint64_t turn;

	if (!meeting || meeting->is_over || bytes > MEETING_BYTES_MAX)
		return false;
	turn = meeting->count++ % 2;
	place = &meeting->room->places[meeting->rank][turn];
	place->has_spoken = own != NULL;
	if (own)
		memcpy(place->data, own, bytes);
	atomic_store_explicit(&meeting->room->arrivals[meeting->rank],
			      meeting->count, memory_order_release);
	meeting->is_over = !meeting_wait(meeting);
	if (meeting->is_over)
		return false;
	for (int i = 0; i < meeting->size; i++) {
		place = &meeting->room->places[i][turn];
		spoken[i] = place->has_spoken != 0;
		memcpy(all + (size_t)i * bytes, place->data, bytes);
	}
	return true;
}
