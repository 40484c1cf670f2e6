/* A device that seems smaller than it is: what is asked, what is told. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_PROBES_PRELOAD_CAP_H
#define AUTOFIT_PROBES_PRELOAD_CAP_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Under a cap a program sees a device of cap_bytes that nobody else uses. Its
 * own requests are counted exactly; contexts, code and what the driver rounds
 * up are the difference to what the driver says is used (less the baseline),
 * and are charged too: ledger.h keeps it as overhead. It is asked for before
 * each allocation, so that one process alone is refused where a device of that
 * size would refuse. Without a cap nothing here asks or changes anything.
 *
 * What the cap cannot see beforehand is not refused by it but seen by the next
 * allocation: code loaded by a launch, memory of a graph that is launched.
 *
 * Devices are rows; errno is kept.
 */

/* Asks the driver, if the current context is of that device. */
void cap_look(int device);

/*
 * A context was just made (NULL: it is current). False: what it takes is more
 * than the cap; the caller undoes it.
 */
bool cap_allows_context(int device, void *context);

/* The size and the free bytes as the program may see them. */
struct cap_figures {
	uint64_t free_bytes, total_bytes; /* 0: not known */
};
struct cap_figures cap_figures(int device, struct cap_figures real);

/* Asked of the driver, of the current context's device; that one only. */
struct cap_figures cap_ask(int device);

#endif
