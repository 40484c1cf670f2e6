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
#include "probes/observers/gpu/gpu.h"
#include "probes/observers/host/host.h"
#include "probes/process/process_state.h"
#include "probes/verdict/verdict.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uv.h>

/* A GPU the probe may use, as it was before it started. */
struct probe_gpu {
	char uuid[GPU_UUID_MAX];
	uint64_t baseline_used_bytes;
};

/* Everything a probe is told. Texts and lists are the caller's, and stay. */
struct probe_spec {
	const char *id; /* value of AUTOFIT_PROBE in environment */
	const struct strlist *argv;
	const struct strlist *environment;
	const char *scratch; /* its own folder; the caller removes it */
	const struct strlist
		*extra_files; /* files outside it that go with it */
	const char *channel;  /* path of the shared page, inside scratch */
	const char *log_path; /* the log to write */
	const struct process_state *state;
	const int *lock_fds; /* kept open by the keeper */
	size_t lock_count;
	const struct host_cgroup *cgroup; /* NULL: none */
	const struct isolation_spec *isolation;
	const struct strlist *secrets; /* masked in the log; see secrets.h */
	/* PROBE_CUDA: others may use the GPUs too (--shared). */
	bool shared;
	/* PROBE_CUDA: the preload library is in environment. */
	bool has_preload;
	uint64_t cap_bytes; /* per GPU, kept by the library; 0: none */
	/* Scratch is in memory: what it may take of it. 0: it is not, or no
	 * bound. See scratch_space.h. */
	uint64_t scratch_reserve_bytes;
	int64_t micro_batch, grad_accum;
	/* PROBE_CUDA with may_be_host: whichever the command turns out to use
	 */
	enum probe_device device;
	bool may_be_host;
	struct nvml *nvml; /* NULL without GPUs */
	const struct probe_gpu *gpus;
	size_t gpu_count;
	uint64_t limit_bytes;      /* per GPU; PROBE_CUDA */
	uint64_t host_limit_bytes; /* the whole tree; watched in every probe */
	int64_t steps_needed;      /* at least 1 */
	int64_t steps_needed_compiled; /* when torch.compile is at work */
	int64_t startup_timeout_ms;
	int64_t timeout_ms;        /* whole probe; 0: none */
	bool timeout_covers_start; /* see lifecycle.h */
	int64_t grace_ms;
	const struct signatures *signatures;
	/* A memory line that it prints and lives on: no evidence. NULL: none */
	const struct signature *usual_line;
	const struct step_patterns *patterns;        /* NULL: none */
	const struct printed_sizes_patterns *echoes; /* NULL: none */
	/* How the steps of a smaller size were seen; STEPS_NONE: it made none,
	 * or there is none. */
	enum steps_source smaller_steps;
};

/* How far a confirmation goes after the first verdict. */
struct probe_confirmation {
	int64_t steps;     /* enough */
	int64_t steps_min; /* never fewer, but for an exit by itself */
	int64_t ms;        /* enough, counted from the third step */
};

enum probe_state {
	PROBE_RUNNING,
	PROBE_DECIDED, /* fits so far, and still runs: confirm or stop it */
	PROBE_OVER,    /* no process of it is left */
};

/* What it is doing, for the live line. */
struct probe_view {
	int64_t steps;
	uint64_t peak_bytes;
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
	int exec_errno;
	/*
	 * Not 0: the isolation could not be set up, and the command never ran.
	 * Autofit's own failure, whatever the trial says; first_error has the
	 * reason.
	 */
	int isolation_errno;
	/* A write that was refused, as printed; "" when the line names no file;
	 * NULL: none. See refusal.h. */
	const char *refused_path;
	/* Files it imported that are neither Python's nor a package's; and
	 * the version files of frameworks and the interpreter. */
	const struct strlist *modules;
	uint64_t host_peak_bytes;
	bool host_growth_rising; /* see trial.peak_rising */
	size_t unhooked; /* interpreters with torch and without the hook */
};

struct probe;

/* The caller frees the probe once it is over, whatever happened. */
int probe_start(struct probe **probe, const struct probe_spec *spec,
		uv_loop_t *loop, struct error *err);

/* Runs the loop until the state is no longer PROBE_RUNNING. */
enum probe_state probe_wait(struct probe *probe);

/* After PROBE_DECIDED: go on as its own confirmation; then wait again. */
void probe_confirm(struct probe *probe,
		   const struct probe_confirmation *confirmation);

/* After PROBE_DECIDED: it is not the answer, or was confirmed; then wait. */
void probe_stop(struct probe *probe);

/* At any time: kill it at once; it has no verdict. Then wait. */
void probe_cancel(struct probe *probe);

/* Ctrl-Z and fg: returns once every process of it is stopped. */
void probe_freeze(struct probe *probe);
void probe_thaw(struct probe *probe);

void probe_look(const struct probe *probe, struct probe_view *view);

/* Once it is over. */
void probe_outcome(struct probe *probe, struct probe_outcome *outcome);

/* Closes its handles (running the loop for that) and frees it. NULL: ok. */
void probe_free(struct probe *probe);

#endif
