/* The note in a lease's file: who holds it, and whether that one lives. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_PROBES_LOCKS_LEASE_NOTE_H
#define AUTOFIT_PROBES_LOCKS_LEASE_NOTE_H

#include "probes/locks/lease.h"

#include <stdbool.h>

/* This process, with a new token. -EIO: no random numbers. */
int lease_note_of_self(struct lease_note *self);

/* The same holder with another token. */
int lease_note_renew(struct lease_note *note);

/* How far it is, as it may be printed. */
void lease_note_say(struct lease_note *note, const char *doing);

/*
 * 1: the file is there; 0: it is not; or a negative errno. A file that is no
 * note stands for one without a process, with a token made of its content.
 */
int lease_note_look(const char *file, struct lease_note *note);

/* The same of an open file. -EINVAL: it is no note. */
int lease_note_read(int fd, struct lease_note *note);

/* Over what is in the file; every note has the same size. */
int lease_note_write(int fd, const struct lease_note *note);

/* Its process would be seen from here, and is not there. */
bool lease_note_is_gone(const struct lease_note *note,
			const struct lease_note *self);

#endif
