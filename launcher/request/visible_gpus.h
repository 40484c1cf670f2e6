/* The GPUs that a command will see, asked for no more than is needed. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_LAUNCHER_REQUEST_VISIBLE_GPUS_H
#define AUTOFIT_LAUNCHER_REQUEST_VISIBLE_GPUS_H

#include "base/error.h"
#include "base/strbuf.h"
#include "base/strlist.h"
#include "launcher/options/options.h"
#include "probes/observers/gpu/gpu.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The kernel driver lists every card of the machine in /proc, which costs
 * nothing, but not which of them are let through to this container or job, in
 * which order CUDA counts cards of different models, nor slices of a card. The
 * CUDA driver knows, and takes up to seconds. So /proc answers where all its
 * cards are of one model and none is sliced, else the driver, once. Of AMD's
 * and Intel's cards the kernel's files tell all that, and are read at the
 * beginning.
 */
struct visible_gpus {
	const struct options *options;
	/* CUDA_VISIBLE_DEVICES, of AMD's HIP_VISIBLE_DEVICES, or what counts
	 * where that is not set, of Intel's ZE_AFFINITY_MASK; NULL: nothing
	 * is. */
	const char *words;
	enum gpu_vendor vendor;
	struct gpu_device *listed; /* in /proc, of the whole machine */
	size_t listed_count;
	bool proc_suffices;
	bool is_asked;
	struct gpu_device *seen; /* by the driver, once it was asked */
	int seen_count;          /* or -errno */
	struct error why;        /* then */
};

/* Reads /proc only. environment must stay; the caller releases gpus. */
void visible_gpus_open(struct visible_gpus *gpus, const struct options *options,
		       const struct strlist *environment);
void visible_gpus_release(struct visible_gpus *gpus);

/*
 * The driver's list, asked at the first call. Its length or -errno. A wait that
 * --time-limit bounds.
 */
int visible_gpus_ask(struct visible_gpus *gpus, struct error *err);

/* How many there are, as far as is known without the driver. */
int64_t visible_gpus_count(const struct visible_gpus *gpus);
/* The driver may count others. */
bool visible_gpus_count_is_open(const struct visible_gpus *gpus);

/*
 * The models, for the identity of a record: a card of the same model answers
 * for another, so UUID and number are no part. Where /proc does not suffice,
 * the bytes that a program can have are one. Appends entries of
 * identity_text.h.
 */
void visible_gpus_fingerprint(struct visible_gpus *gpus, struct strbuf *out);

/*
 * Bytes free on the fullest of those that the command will use; UINT64_MAX:
 * not known. Waits for NVML no longer than a start may take.
 */
uint64_t visible_gpus_free_bytes(struct visible_gpus *gpus);

/*
 * With --device cuda:N: whether a card of this name and, unless it is 0, of
 * this size is what N means here. True without N.
 */
bool visible_gpus_fit(struct visible_gpus *gpus, const char *name,
		      uint64_t total_bytes);

/*
 * The variable that leaves the N-th of the user's devices alone, and its value:
 * the user's own word for it, else N. The value is NULL where there is no such
 * word; the caller frees it.
 */
const char *visible_gpus_variable(const struct visible_gpus *gpus);
char *visible_gpus_word(const struct visible_gpus *gpus, int index);

/* The same as "NAME=value", by the uuid where its runtime takes one. The caller
 * frees it. */
char *visible_gpus_only(const struct visible_gpus *gpus, int index,
			const char *uuid);

#endif
