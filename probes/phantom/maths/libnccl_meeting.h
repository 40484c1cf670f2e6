/* Where the ranks of a phantom card's NCCL meet. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_PROBES_PHANTOM_MATHS_LIBNCCL_MEETING_H
#define AUTOFIT_PROBES_PHANTOM_MATHS_LIBNCCL_MEETING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A file beside the state of the cards, one for each communicator: every rank
 * puts what it has to say into its place, and reads those of the others. All
 * of them have to come; one that waits too long for the others gives up, and
 * from then on nothing is exchanged any more.
 */
#define MEETING_RANKS 16
#define MEETING_BYTES_MAX (64 << 10)
#define MEETING_NAME_BYTES 16

struct meeting;

/* NULL: there is no such place, and nothing will be exchanged. */
struct meeting *meeting_open(const unsigned char name[MEETING_NAME_BYTES],
			     int rank, int size);
void meeting_close(struct meeting *meeting);

/*
 * Every rank calls it with as many bytes, own NULL: it has nothing to say.
 * False: they did not all come. all: those of rank 0, of rank 1, ...; spoken:
 * who had something to say.
 */
bool meeting_exchange(struct meeting *meeting, const void *own, size_t bytes,
		      unsigned char *all, bool spoken[MEETING_RANKS]);

#endif
