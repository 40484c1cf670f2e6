/* One short run of the real command, from fork to verdict. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_PROBES_PROBE_H
#define AUTOFIT_PROBES_PROBE_H

#include "base/error.h"
#include "base/strbuf.h"
#include "base/strlist.h"
#include "base/trial.h"
#include "configs/presets/printed_sizes.h"
#include "configs/presets/steps.h"
#include "configs/signatures/signature.h"
#include "probes/keeper/keeper.h"
#include "probes/leaving/shims.h"
#include "probes/observers/gpu/gpu.h"
#include "probes/verdict/lifecycle.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uv.h>

/* A GPU the probe may use, as it was before it started. */
struct probe_gpu {
	char uuid[GPU_UUID_MAX];
	uint64_t total_bytes;         /* that a program can have */
	uint64_t baseline_used_bytes; /* of those */
};

struct probe_devices {
	/* PROBE_CUDA with may_be_host: the probe shows which of the two. */
	enum probe_device device;
	bool may_be_host;
	struct nvml *nvml; /* NULL without GPUs */
	const struct probe_gpu *gpus;
	size_t count;
	/* Only for PROBE_CUDA. */
	bool is_unified;    /* GPU and host have one memory, and one limit */
	bool shared;        /* others may use the GPUs too (--shared) */
	bool has_preload;   /* the preload library is in the environment */
	uint64_t cap_bytes; /* per GPU, kept by the library; 0: none */
};

/* What is looked for in each line of its output; NULL: nothing. */
struct probe_lines {
	const struct signatures *signatures;
	/* A memory line that it prints and lives on: no evidence. */
	const struct signature *usual;
	const struct step_patterns *steps;
	const struct printed_sizes_patterns *sizes;
};

/* How far a confirmation goes after the first verdict. */
struct probe_confirmation {
	/*
	 * Enough. Were the peaks of the steps drawn alike, the next one would
	 * be above all of n with a chance of 1 / (n + 1): 5% after 20.
	 */
	int64_t steps;
	/* Micro-steps are drawn as well: five times as many of them are enough,
	 * in steps_min whole steps. */
	bool draws_passes;
	/* Enough where every step is like the one before. */
	int64_t steps_same;
	/* After so many whole steps micro-steps are known to be alike: see
	 * probe_passes; 0: they are not. */
	int64_t whole_steps;
	/* An optimizer step takes so long beside its micro-steps; 0: not
	 * known. */
	double update_seconds;
	/* Up to it a peak of host memory may settle later. */
	uint64_t settles_above_bytes;
	/* Steps that are read from the output may be micro-steps: one more than
	 * are accumulated is waited for, though not for long. */
	bool counts_may_be_passes;
	int64_t steps_min; /* never fewer, but for an exit by itself */
	int64_t ms;        /* enough, counted from the third step */
};

/* Everything a probe is told. Texts and lists are the caller's, and stay. */
struct probe_spec {
	const char *id; /* value of AUTOFIT_PROBE in environment */
	/* The command; the caller removes the scratch folder. channel_fd is
	 * filled in by the probe. */
	struct keeper_spec command;
	/* Host memory that counts as the command's, though no process of it
	 * holds it: of launchers that a zygote's copy goes without. */
	uint64_t launcher_bytes;
	/* Scratch is in memory: what it may take of it. 0: it is not, or no
	 * bound. See scratch_space.h. */
	uint64_t scratch_reserve_bytes;
	const char *channel; /* path of the shared page, inside scratch */
	/* Where ranks report that are no descendants, and how many they are;
	 * see nodes/node_report.h. NULL: all are descendants. */
	const char *ranks;
	int64_t rank_count;
	const char *log_path;          /* the log to write */
	const struct strlist *secrets; /* masked in the log; see secrets.h */
	int64_t micro_batch, grad_accum;
	struct probe_devices devices;
	struct probe_lines lines;
	/* limit_bytes is that of each GPU; noise and floor are the probe's. */
	struct lifecycle_limits limits;
	/* Who fails before its steps is no fit, confirmed or not. */
	struct probe_confirmation confirmation;
	int64_t steps_needed_compiled; /* when torch.compile is at work */
	int64_t grace_ms;
	/* How the steps of a smaller size were seen; STEPS_NONE: it made none,
	 * or there is none. */
	enum steps_source smaller_steps;
	/* Steps of the output count only after a while, as with the hook. */
	bool awaits_steps;
	/* One that is called ends the probe; NULL: none are looked for. */
	const struct shims *shims;
	/* When the tuning began, by the wall clock: its commands may have
	 * written the files that are younger. */
	struct timespec began;
};

struct started;

enum probe_state {
	PROBE_RUNNING,
	PROBE_DECIDED, /* fits so far, and still runs: confirm or stop it */
	PROBE_OVER,    /* no process of it is left */
};

/* The state of a running probe, for the live line. */
struct probe_view {
	int64_t steps;
	/* As in struct trial. */
	uint64_t peak_bytes, rest_bytes, forward_bytes, pass_bytes;
	double seconds; /* stopped time does not count */
	bool stopping;
};

/* What came of it. Strings are valid until probe_free. */
struct probe_outcome {
	struct trial trial;
	struct evidence evidence;
	char why[WHY_MAX];
	const char *first_error; /* of its output; several lines */
	const char *hint;        /* of a known cause; NULL */
	const char *memory_text; /* the out-of-memory line; NULL */
	/* A write that was refused, as printed; "" when the line names no file;
	 * NULL: none. See refusal.h. */
	const char *refused_path;
	/* Files it imported that are neither Python's nor a package's; and
	 * the version files of frameworks and the interpreter. */
	const struct strlist *modules;
	/* Files of settings that its Python opened, and did not write. */
	const struct strlist *opened;
	/* Python's modules and packages that the command imported, in order,
	 * where a zygote may do that: one process made steps, which was no rank
	 * and set no variable before. Else empty. */
	const struct strlist *imports;
	/* How that process was started; empty: it is not known. And host memory
	 * of the launchers that waited for it: no copy of it has them. */
	const struct started *started;
	uint64_t launcher_bytes;
	size_t unhooked; /* interpreters with torch and without the hook */
};

struct probe;

/* The caller frees the probe once it is over, whatever happened. */
int probe_start(struct probe **probe, const struct probe_spec *spec,
		uv_loop_t *loop, struct error *err);

/*
 * What the loop has made of it; the caller runs the loop while it is
 * PROBE_RUNNING. Several probes may run in one loop.
 */
enum probe_state probe_take(struct probe *probe);

/* After PROBE_DECIDED: go on as its own confirmation; it is running again. */
void probe_confirm(struct probe *probe);

/* After PROBE_DECIDED: it is not the answer, or was confirmed. It is running
 * until it is over. */
void probe_stop(struct probe *probe);

/* At any time: kill it at once; it has no verdict. As above. */
void probe_cancel(struct probe *probe);

/* Ctrl-Z and fg: returns once every process of it is stopped. */
void probe_freeze(struct probe *probe);
void probe_thaw(struct probe *probe);

void probe_look(const struct probe *probe, struct probe_view *view);

/* Once it is over. */
void probe_outcome(struct probe *probe, struct probe_outcome *outcome);

/* The same: waits until its GPUs have their memory back, but not for long, and
 * without running the loop. */
void probe_await_gpus(const struct probe *probe);

/* Closes its handles (running the loop for that) and frees it. NULL: ok. */
void probe_free(struct probe *probe);

#endif
