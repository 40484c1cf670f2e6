/* What the readings of a probe come to: its steps, its passes, its bytes. */
/* SPDX-License-Identifier: MIT */
#include "probes/probe_internal.h"

/* So many backward passes without an optimizer are a training by hand. */
#define PASSES_BELIEVED 3
/* So many looks at inputs of one size say that passes are alike. */
#define FORWARD_LOOKS_MIN 2

bool probe_is_cuda(const struct probe *probe)
{
	const struct probe_devices *devices = &probe->spec.devices;

	if (devices->device == PROBE_HOST)
		return false;
	return probe->gpus.is_used || probe->gpus.is_filled ||
	       !devices->may_be_host;
}

uint64_t probe_peak(const struct probe *probe)
{
	uint64_t host = probe->readings.host.peak_bytes;
	uint64_t gpu;

	if (!probe_is_cuda(probe))
		return host;
	gpu = probe_gpus_peak(&probe->gpus);
	/* Two peaks may not be of one moment: their sum is never too little. */
	return gpu && probe->spec.devices.is_unified ? gpu + host : gpu;
}

/*
 * Once the step hook is installed its count is awaited: counters in the output
 * may be those of data being prepared. A program that only loads torch, and
 * trains with something else, is believed after a while. So is one whose steps
 * took no notice of the size, unless it has ended: then there are no others.
 */
static int64_t log_steps(const struct probe *probe)
{
	int64_t since_ms =
		probe_clock_ms(&probe->clock) - probe->output.first_counter_ms;
	bool awaits = (probe->readings.python.flags & CHANNEL_TORCH) ||
		      (probe->spec.awaits_steps && !probe->evidence.end.ended);

	if (awaits && since_ms < TIME_ONLY_MS)
		return 0;
	return probe_output_steps(&probe->output);
}

/* Of a program that makes no optimizer; one pass may be a mere try. */
static int64_t steps_by_hand(const struct probe *probe)
{
	int64_t passes = (int64_t)probe->readings.python.by_hand;
	int64_t accum = probe->spec.grad_accum;

	return passes < PASSES_BELIEVED ? 0 : passes / (accum > 0 ? accum : 1);
}

int64_t probe_steps(const struct probe *probe, enum steps_source *source)
{
	int64_t steps = (int64_t)probe->readings.python.steps;

	*source = STEPS_NONE;
	if (probe->readings.awaits_rank)
		return 0;
	*source = STEPS_HOOK;
	if (steps)
		return steps;
	steps = steps_by_hand(probe);
	*source = STEPS_PASSES;
	if (steps)
		return steps;
	steps = log_steps(probe);
	*source = steps ? STEPS_LOG : STEPS_NONE;
	return steps;
}

int64_t probe_later_passes(const struct probe *probe)
{
	const struct channel_reading *python = &probe->readings.python;

	return (int64_t)python->first_passes == probe->spec.grad_accum &&
			       !(python->flags & CHANNEL_COMPILED)
		       ? (int64_t)python->later_passes
		       : 0;
}

int64_t probe_passes(const struct probe *probe)
{
	int64_t whole = probe->spec.confirmation.whole_steps;

	return whole && (int64_t)probe->readings.python.steps >= whole
		       ? probe_later_passes(probe)
		       : 0;
}

uint64_t probe_retries(const struct probe *probe)
{
	uint64_t python = probe->readings.python.alloc_retries;
	uint64_t driver = probe->gpus.preload.recovered;

	return python > driver ? python : driver;
}

uint64_t probe_rest(const struct probe *probe)
{
	const struct channel_reading *python = &probe->readings.python;
	uint64_t peak = probe_peak(probe);

	if (!probe_is_cuda(probe))
		return python->rest_total_bytes;
	if (!python->rest_bytes || python->torch_peak_bytes > peak)
		return 0;
	return peak - python->torch_peak_bytes + python->rest_bytes;
}

uint64_t probe_forward(const struct probe *probe)
{
	const struct channel_reading *python = &probe->readings.python;

	/* Of inputs that vary, one pass says nothing of the peak's. */
	if (python->same_sizes < FORWARD_LOOKS_MIN)
		return 0;
	return probe_is_cuda(probe) ? python->forward_bytes
				    : python->forward_total_bytes;
}

uint64_t probe_pass(const struct probe *probe)
{
	const struct channel_reading *python = &probe->readings.python;

	if (python->same_sizes < FORWARD_LOOKS_MIN ||
	    (python->flags & CHANNEL_COMPILED))
		return 0;
	return probe_is_cuda(probe) ? python->pass_bytes
				    : python->pass_total_bytes;
}
