/* What came of a probe: its evidence, its trial, its words. */
/* SPDX-License-Identifier: MIT */
#include "probes/probe_internal.h"

#include "base/units.h"
#include "configs/secrets/secrets.h"

#include <stdio.h>
#include <string.h>

/*
 * The C library's allocator makes the peak of a CPU training grow by 4% from
 * the third step on where the data do not vary at all, at times by more in one
 * step (measured): only jumps that come again are the data's.
 */
static const struct growth_noise host_noise = { 0.01, 8 * MIB, 0.05, 2 };
static const struct growth_noise gpu_noise = { 0.01, 2 * MIB, 0.02, 1 };

const struct growth_noise *probe_noise(const struct probe *probe)
{
	return probe_is_cuda(probe) ? &gpu_noise : &host_noise;
}

void probe_collect_evidence(struct probe *probe)
{
	struct evidence *evidence = &probe->evidence;
	uint64_t retries;
	enum steps_source source;

	/* Errors that its end raised are no part of it. */
	evidence->memory.ooms = probe->reading.ooms;
	probe->reading = channel_read(&probe->channel);
	if (evidence->end.stopped == STOP_NONE)
		evidence->memory.ooms = probe->reading.ooms;
	probe_gpu_evidence(probe);
	retries = probe_retries(probe);
	if (!probe->warm_steps)
		probe->retries_at_warm_up = retries;
	evidence->memory.device =
		probe_is_cuda(probe) ? PROBE_CUDA : PROBE_HOST;
	evidence->memory.counts_ooms =
		(probe->reading.flags & CHANNEL_COUNTS_OOMS) != 0;
	evidence->end.oom_kills = host_cgroup_oom_kills(probe->spec.cgroup) -
				  probe->oom_kills_before;
	evidence->memory.peak_bytes = probe_peak(probe);
	evidence->memory.limit_bytes = evidence->memory.device == PROBE_CUDA
					       ? probe->spec.limit_bytes
					       : probe->spec.host_limit_bytes;
	evidence->memory.host_peak_bytes = probe->host_reading.peak_bytes;
	evidence->memory.host_limit_bytes = probe->spec.host_limit_bytes;
	evidence->memory.swap_bytes = probe->host_reading.swap_bytes;
	evidence->memory.retries_warm_up = probe->retries_at_warm_up;
	evidence->memory.retries_later = retries - probe->retries_at_warm_up;
	evidence->progress.steps = probe_steps(probe, &source);
	evidence->progress.steps_needed = probe->limits.steps_needed;
	evidence->progress.smaller_steps = probe->spec.smaller_steps;
	evidence->progress.decided = probe->decided;
	evidence->progress.fits_by_time = probe->by_time;
}

/* Where it was when it failed; else the furthest that it came. */
static enum phase phase_of(const struct probe *probe, const struct trial *trial)
{
	uint32_t pid = (uint32_t)probe->evidence.gpu.allocations.pid;
	enum phase phase = probe->reading.phase;
	int rank;

	if (trial_fits(trial))
		phase = probe->furthest_phase;
	else
		(void)channel_process(&probe->channel, pid, &phase, &rank);
	return phase == PHASE_START && trial->steps ? PHASE_TRAIN : phase;
}

static void fill_trial(struct probe *probe, struct trial *trial,
		       enum verdict verdict, int rank)
{
	const struct evidence *evidence = &probe->evidence;

	trial->micro_batch = probe->spec.micro_batch;
	trial->grad_accum = probe->spec.grad_accum;
	trial->verdict = verdict;
	trial->rank = rank;
	trial->peak_bytes = evidence->memory.peak_bytes;
	trial->steps = probe_steps(probe, &trial->steps_source);
	trial->phase = phase_of(probe, trial);
	trial->peak_is_lower_bound = !trial_fits(trial);
	trial->peak_rising =
		step_peaks_are_rising(&probe->peaks, probe_noise(probe));
	trial->peak_varying =
		step_peaks_are_varying(&probe->peaks, probe_noise(probe));
	if (evidence->memory.peak_bytes)
		trial->coverage = probe_is_cuda(probe)
					  ? probe_gpu_coverage(probe)
					  : COVERAGE_EXACT;
	if (trial_fits(trial) && !trial->steps)
		trial->steps_source = probe->by_time ? STEPS_TIME : STEPS_EXIT;
	if (trial_fits(trial) && evidence->end.stopped != STOP_CANCELLED &&
	    (probe->confirming || evidence->end.ended))
		trial->confirmed_steps = trial->steps;
	trial->seconds = (double)probe_now_ms(probe) / 1000;
	trial->step_seconds = step_peaks_median_seconds(&probe->peaks);
	trial->input_rows = (int64_t)probe->reading.rows;
	trial->printed_sizes_micro = probe->echo.micro;
	trial->printed_sizes_accum = probe->echo.accum;
	trial->printed_sizes_effective = probe->echo.effective;
}

void probe_outcome(struct probe *probe, struct probe_outcome *outcome)
{
	struct judgement judgement = verdict_judge(&probe->evidence);
	struct strbuf why = STRBUF_INIT;

	memset(outcome, 0, sizeof(*outcome));
	outcome->evidence = probe->evidence;
	secrets_mask_text(&why, judgement.why, probe->spec.secrets);
	(void)snprintf(outcome->why, sizeof(outcome->why), "%s",
		       strbuf_text(&why));
	strbuf_release(&why);
	fill_trial(probe, &outcome->trial, judgement.verdict, judgement.rank);
	outcome->first_error = strbuf_text(&probe->first_error);
	if (probe->evidence.output.cause_line)
		outcome->hint = probe->evidence.output.cause_line->hint;
	else if (probe->evidence.output.no_batch_line &&
		 !probe->evidence.progress.steps)
		outcome->hint = probe->evidence.output.no_batch_line->hint;
	outcome->memory_text = probe->memory_text;
	outcome->refused_path = probe->refused_path;
	outcome->exec_errno = probe->evidence.end.exec_errno;
	outcome->isolation_errno = probe->isolation_errno;
	outcome->host_peak_bytes = probe->host_reading.peak_bytes;
	outcome->modules = &probe->modules;
	outcome->unhooked = probe->unhooked;
}
