/* Ordinals and contexts of this process as rows of the page. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_PROBES_PRELOAD_DEVICE_H
#define AUTOFIT_PROBES_PRELOAD_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

/* Everything here asks the driver, and keeps errno. */

/* The row of an ordinal; -1: the driver knows none, or the page is full. */
int device_row(int ordinal);
/* The same, and none is made for it. */
int device_known_row(int ordinal);

/* What this thread's calls are about. */
struct device_now {
	uint64_t context; /* 0: none is current */
	int ordinal, row; /* -1 */
};
struct device_now device_now(void);

/* The default stream is another one in each family of functions. */
enum device_family {
	DEVICE_LEGACY,
	DEVICE_PER_THREAD,
};
/*
 * The program is about to capture: from now on each of our questions is asked
 * as a capture allows it, and streams are asked whether they are captured. Most
 * programs never do, and are spared those calls.
 */
void device_capture_begins(void);
/* The same where the name, which is of no wrapper, may begin one. */
void device_note_name(const char *name);

/* What is put into that stream becomes part of a graph. */
bool device_is_capturing(void *stream, enum device_family family);

/*
 * While any thread captures a graph, a question of ours (what a pool holds,
 * what is free) may be forbidden to this thread, and spoils that capture.
 * Relaxed it is not; each relax is followed by a restore of what it returned.
 */
unsigned int device_relax(void);
void device_restore(unsigned int mode);

/* The device of a primary context is in use, by whomever in this process. */
enum device_primary {
	DEVICE_PRIMARY_UNKNOWN, /* an old driver does not tell */
	DEVICE_PRIMARY_GONE,
	DEVICE_PRIMARY_ACTIVE,
};
enum device_primary device_primary(int ordinal);

#endif
