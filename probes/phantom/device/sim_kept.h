/* Bytes of a phantom card that are known: copied there, and not yet computed
 * on. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_PROBES_PHANTOM_DEVICE_SIM_KEPT_H
#define AUTOFIT_PROBES_PHANTOM_DEVICE_SIM_KEPT_H

#include <stddef.h>
#include <stdint.h>

/*
 * Ranks ask each other for small things before they train: how many parameters
 * they have, and of what shape. What a rank copied to its card is kept for
 * that, until the next kernel, which may write anywhere; a collective hands it
 * to the others (probes/phantom/maths/libnccl.c), and they read it back. Of all
 * else that is read back nothing is known, and it is zeros.
 *
 * The driver exports these, under their own names, for the other libraries of
 * the card: one table serves a process. They answer 0 as the driver's do.
 */
#define SIM_KEPT_BYTES_MAX (64 << 10)

enum sim_kept {
	SIM_KEPT_NOT,
	SIM_KEPT_COPY,   /* from this rank's own host */
	SIM_KEPT_ANSWER, /* of a collective */
};

/* In place of what was known of these bytes; NOT: nothing is, data is NULL. */
int autofit_phantom_keep(uint64_t address, const void *data, size_t bytes,
			 enum sim_kept kind);

/* A copy within the card: what is known of one is known of the other. */
int autofit_phantom_keep_copy(uint64_t target, uint64_t source, size_t bytes);

/* Copies the bytes, all of them or none: an enum sim_kept. data NULL: only
 * tells.
 */
int autofit_phantom_kept(uint64_t address, void *data, size_t bytes);

#endif
