/* The output of a probe: into the log, to lines, to signatures and steps. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_PROBES_PROBE_OUTPUT_H
#define AUTOFIT_PROBES_PROBE_OUTPUT_H

#include "probes/output/failure.h"
#include "probes/output/lines.h"
#include "probes/output/logfile.h"
#include "probes/output/redact.h"
#include "probes/probe.h"
#include "probes/probe_clock.h"
#include "probes/probe_gpu.h"
#include "probes/verdict/step_count.h"

struct refusal;

/* One of the command's two outputs. */
struct probe_stream {
	uv_poll_t poll; /* of probe.c */
	struct probe_output *output;
	struct lines lines;
	struct step_count steps; /* by the counters in its lines */
	struct redact redact;    /* between it and the log */
	bool may_have_secret;    /* in the line under way, or those at hand */
	int fd;                  /* -1: closed */
};

struct probe_output {
	const struct probe_spec *spec;
	const struct probe_clock *clock;
	struct probe_gpus *gpus;        /* they tell whether kernels ran */
	struct probe_stream streams[2]; /* stdout, stderr */
	struct logfile log;
	struct failure failure;
	struct redact redact; /* of texts: one line after the other */
	struct strbuf masked; /* what was just read, for the log */
	struct strbuf line;   /* the line under way */
	uint64_t bytes;
	/* Autofit has sent its first signal: what follows is no evidence. */
	bool stop_was_sent;
	struct evidence_output found;
	struct printed_sizes sizes;
	char *memory_text, *refused_path;
	struct refusal *refusal; /* NULL until a line may tell of one */
	struct strbuf first_error;
	int64_t memory_line_ms;    /* when it said out of memory; -1: not */
	int64_t first_counter_ms;  /* when a counter first rose; -1: not yet */
	uint64_t last_counter_ns;  /* when one last rose, by uv_hrtime() */
	uint64_t counted_launches; /* of kernels, when one last rose */
};

/* Before the first byte. A log that cannot be made is no failure. */
void probe_output_open(struct probe_output *output,
		       const struct probe_spec *spec);

/* Read what waits in a stream; false at its end. */
bool probe_output_read(struct probe_stream *stream);

/*
 * What Python itself said of uncaught exceptions, through the step hook. Once
 * autofit has sent a signal they are no evidence, and are left out. That of
 * the lost rank (-1: none) counts, whether its launcher names it yet or not.
 */
void probe_output_add_last_errors(struct probe_output *output, int lost_rank);

/* The command is gone: read the rest of both streams, choose the first error.
 */
void probe_output_finish(struct probe_output *output);

/* Steps by the counters in its lines: the larger of both streams. */
int64_t probe_output_steps(const struct probe_output *output);

/* Closes the log; what of it was not written is one warning. */
void probe_output_release(struct probe_output *output);

#endif
