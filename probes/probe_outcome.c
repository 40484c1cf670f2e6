/* What came of a probe: its evidence, its trial, its words. */
/* SPDX-License-Identifier: MIT */
#include "probes/probe_internal.h"

#include "base/units.h"
#include "configs/secrets/secrets.h"
#include "probes/process/process_state.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/*
 * The C library's allocator makes the peak of a CPU training grow by 4% from
 * the third step on where the data do not vary at all, at times by more in one
 * step (measured): only jumps that come again are the data's.
 */
static const struct growth_noise host_noise = { 0.01, 8 * MIB, 0.05, 2, 32 };
static const struct growth_noise gpu_noise = { 0.01, 2 * MIB, 0.02, 1, 0 };

const struct growth_noise *probe_noise(const struct probe *probe)
{
	return probe_is_cuda(probe) && !probe->spec.devices.is_unified
		       ? &gpu_noise
		       : &host_noise;
}

/* So many looks at inputs of one size say that a smaller probe's were. */
#define SAME_SIZES_SEEN 2

static struct evidence_memory memory_evidence(const struct probe *probe,
					      uint64_t ooms)
{
	const struct probe_readings *readings = &probe->readings;
	const struct lifecycle_limits *limits = &probe->spec.limits;
	bool is_cuda = probe_is_cuda(probe);

	return (struct evidence_memory){
		.device = is_cuda ? PROBE_CUDA : PROBE_HOST,
		.peak_bytes = probe_peak(probe),
		.limit_bytes = is_cuda ? limits->limit_bytes
				       : limits->host_limit_bytes,
		.host_peak_bytes = readings->host.peak_bytes,
		.host_limit_bytes = limits->host_limit_bytes,
		.swap_bytes = readings->host.swap_bytes,
		.is_host_tuning = probe->spec.devices.device == PROBE_HOST,
		.has_address_limit = process_has_address_limit(),
		.retries_warm_up = readings->warm_retries,
		/* A counter of others that fell tells nothing. */
		.retries_later = bytes_minus(probe_retries(probe),
					     readings->warm_retries),
		.ooms = ooms,
		.counts_ooms =
			(readings->python.flags & CHANNEL_COUNTS_OOMS) != 0,
	};
}

/* So many whole steps need no passes beside them. */
static int64_t passes_of_verdict(const struct probe *probe)
{
	enum steps_source source;
	int64_t steps = probe_steps(probe, &source);

	return steps < probe->spec.confirmation.steps_min ? probe_passes(probe)
							  : 0;
}

void probe_collect_evidence(struct probe *probe)
{
	struct evidence *evidence = &probe->evidence;
	struct probe_readings *readings = &probe->readings;
	bool ended_by_itself = evidence->end.stopped == STOP_NONE;
	uint64_t ooms = readings->python.ooms;
	enum steps_source source;

	readings->python = channel_read(&readings->channel);
	/* What its end takes and raises after a signal is no part of it. */
	if (ended_by_itself) {
		ooms = readings->python.ooms;
		probe_gpus_read(&probe->gpus);
		if (readings->ranks.folder)
			node_ranks_join(&readings->ranks, &readings->own,
					&readings->host);
	}
	probe_gpus_evidence(&probe->gpus, &evidence->gpu);
	if (!readings->warm_steps)
		readings->warm_retries = probe_retries(probe);
	evidence->memory = memory_evidence(probe, ooms);
	evidence->output = probe->output.found;
	evidence->outside.scratch_full = readings->scratch_full;
	memcpy(evidence->outside.neighbour_moved, probe->gpus.neighbour_moved,
	       sizeof(evidence->outside.neighbour_moved));
	/* The count cannot be read once its cgroup is gone. */
	evidence->end.oom_kills =
		bytes_minus(host_cgroup_oom_kills(probe->spec.command.cgroup),
			    probe->oom_kills_before);
	evidence->end.unseen_ranks = node_ranks_unseen(&readings->ranks);
	evidence->end.foreign_kills +=
		node_ranks_kills(&readings->ranks, &evidence->end.oom_kills);
	evidence->progress = (struct evidence_progress){
		.steps = probe_steps(probe, &source),
		.steps_needed = probe->course.limits.steps_needed,
		.later_passes = passes_of_verdict(probe),
		.steps_asked = probe->spec.confirmation.steps,
		.never_stepped =
			(readings->python.flags & CHANNEL_NEVER_STEPPED) != 0,
		.smaller_steps = probe->spec.smaller_steps,
		.goes_on = readings->steps_left >= 0 &&
			   probe_steps(probe, &source) > readings->steps_left,
		.decided = probe->course.decided,
		.fits_by_time = probe->course.by_time,
	};
}

/* Where it was when it failed; else the furthest that it came. */
static enum phase phase_of(const struct probe *probe, const struct trial *trial)
{
	const struct probe_readings *readings = &probe->readings;
	pid_t pid = probe->evidence.gpu.allocations.pid;
	enum phase phase = readings->python.phase;

	if (trial_fits(trial))
		phase = readings->furthest_phase;
	else
		(void)channel_process(&readings->channel, pid, &phase);
	return phase == PHASE_START && trial->steps ? PHASE_TRAIN : phase;
}

/*
 * A step that draws several batches for one pass, or has several losses for
 * one batch, does not accumulate: the smaller of the two counts. Where batches
 * are cut into equal pieces, a pass for each, all passes count.
 */
static int64_t accum_of(const struct channel_reading *python)
{
	uint64_t passes = python->passes;

	if (!python->batches || !passes || python->batches >= passes ||
	    (python->rows &&
	     python->rows * passes == python->loader_rows * python->batches))
		return (int64_t)passes;
	return (int64_t)python->batches;
}

static void note_seen(struct trial *trial, const struct channel_reading *python)
{
	trial->sizes_differ = (python->flags & CHANNEL_SIZES_DIFFER) != 0;
	trial->data_in_order = (python->flags & CHANNEL_IN_ORDER) != 0;
	trial->is_idle = (python->flags & CHANNEL_IDLE) != 0;
	trial->has_frozen = (python->flags & CHANNEL_FROZEN) != 0;
	trial->compares = (python->flags & CHANNEL_COMPARES) != 0;
	trial->has_batch_norm = (python->flags & CHANNEL_BATCH_NORM) != 0;
	trial->input_rows = (int64_t)python->rows;
	trial->input_columns = (int64_t)python->columns;
	trial->seen_accum = accum_of(python);
	if (!trial->seen_accum && trial->later_passes)
		trial->seen_accum = (int64_t)python->first_passes;
	trial->seen_ranks =
		(int64_t)(python->group ? python->group : python->world);
	trial->loader_rows = (int64_t)python->loader_rows;
	trial->data_rows = (int64_t)python->data_rows;
}

static int64_t steps_until_alike(const struct probe *probe,
				 const struct trial *trial)
{
	const struct probe_readings *readings = &probe->readings;

	if (trial->steps_source != STEPS_HOOK || trial->later_passes ||
	    readings->python.same_sizes < SAME_SIZES_SEEN ||
	    (readings->python.flags & CHANNEL_HOLDS_MORE))
		return 0;
	return step_peaks_stand_after(&readings->peaks, probe_noise(probe));
}

/* A step that did not end, or one alone, is as long as its micro-steps. */
static void note_pace(const struct probe *probe, struct trial *trial)
{
	const struct probe_readings *readings = &probe->readings;
	double accum = (double)probe->spec.grad_accum;
	struct step_pace step = step_times_pace(&readings->times);
	struct step_pace pass = step_times_pace_within(&readings->pass_times,
						       probe->spec.grad_accum);

	if (trial->later_passes && pass.median_seconds > 0) {
		step.median_seconds = accum * pass.median_seconds +
				      probe->spec.confirmation.update_seconds;
		step.mad_seconds = sqrt(accum) * pass.mad_seconds;
	}
	trial->step_seconds = step.median_seconds;
	trial->step_mad_seconds = step.mad_seconds;
	trial->pass_seconds = pass.median_seconds;
}

static void fill_trial(const struct probe *probe, struct trial *trial)
{
	const struct probe_course *course = &probe->course;
	const struct evidence_end *end = &probe->evidence.end;
	const struct step_peaks *peaks = &probe->readings.peaks;
	const struct printed_sizes *sizes = &probe->output.sizes;
	bool fits = trial_fits(trial);

	trial->micro_batch = probe->spec.micro_batch;
	trial->grad_accum = probe->spec.grad_accum;
	trial->peak_bytes = probe->evidence.memory.peak_bytes;
	trial->rest_bytes = bytes_min(probe_rest(probe), trial->peak_bytes);
	trial->forward_bytes =
		bytes_min(probe_forward(probe), trial->peak_bytes);
	trial->pass_bytes = bytes_min(probe_pass(probe), trial->peak_bytes);
	trial->limit_bytes = probe->evidence.memory.limit_bytes;
	trial->steps = probe_steps(probe, &trial->steps_source);
	trial->phase = phase_of(probe, trial);
	trial->has_evaluated = probe->readings.has_evaluated;
	trial->peak_is_lower_bound = !fits;
	trial->peak_has_files =
		!probe_is_cuda(probe) && probe->readings.host.peak_has_files;
	trial->peak_rising = step_peaks_are_rising(peaks, probe_noise(probe));
	trial->peak_varying = step_peaks_are_varying(peaks, probe_noise(probe));
	trial->step_growth_bytes = step_peaks_trend(peaks, probe_noise(probe));
	trial->ran_to_end = end->ended && end->wait_status == 0;
	trial->steps_were_awaited = probe->spec.awaits_steps;
	trial->is_forked = probe->spec.command.zygote != NULL;
	if (trial->peak_bytes)
		trial->coverage = probe_is_cuda(probe)
					  ? probe_gpus_coverage(&probe->gpus)
					  : COVERAGE_EXACT;
	if (fits && !trial->steps)
		trial->steps_source = course->by_time ? STEPS_TIME : STEPS_EXIT;
	if (fits && end->stopped != STOP_CANCELLED &&
	    (course->confirming || end->ended))
		trial->confirmed_steps = trial->steps;
	trial->seconds = (double)probe_clock_ms(&probe->clock) / 1000;
	trial->later_passes = passes_of_verdict(probe);
	assert(trial->rest_bytes <= trial->peak_bytes);
	assert(trial->steps >= 0 && trial->later_passes >= 0);
	note_pace(probe, trial);
	trial->alike_after = steps_until_alike(probe, trial);
	note_seen(trial, &probe->readings.python);
	trial->printed_sizes_micro = sizes->micro;
	trial->printed_sizes_accum = sizes->accum;
	trial->printed_sizes_effective = sizes->effective;
}

void probe_outcome(struct probe *probe, struct probe_outcome *outcome)
{
	const struct evidence *evidence = &probe->evidence;
	struct judgement judgement = verdict_judge(evidence);
	struct strbuf why = STRBUF_INIT;

	assert(probe->course.state == PROBE_OVER);
	*outcome = (struct probe_outcome){
		.trial = { .verdict = judgement.verdict,
			   .rank = judgement.rank },
		.evidence = *evidence,
		.first_error = strbuf_text(&probe->output.first_error),
		.memory_text = probe->output.memory_text,
		.refused_path = probe->output.refused_path,
		.modules = &probe->modules,
		.opened = &probe->opened,
		.imports = &probe->imports,
		.started = &probe->started,
		.launcher_bytes = probe->readings.launcher_bytes,
		/* Where steps were counted, the others compile or load. */
		.unhooked = probe->readings.python.steps
				    ? 0
				    : probe->readings.unhooked,
	};
	fill_trial(probe, &outcome->trial);
	secrets_mask_text(&why, judgement.why, probe->spec.secrets);
	(void)snprintf(outcome->why, sizeof(outcome->why), "%s",
		       strbuf_text(&why));
	strbuf_release(&why);
	if (evidence->output.cause_line)
		outcome->hint = evidence->output.cause_line->hint;
	else if (evidence->output.no_batch_line && !evidence->progress.steps)
		outcome->hint = evidence->output.no_batch_line->hint;
}
