/* What is told of the memory that is tuned for. */
/* SPDX-License-Identifier: MIT */
#include "launcher/request/memory_target_words.h"

#include "base/units.h"

const char *memory_target_budget_source(const struct memory_target *target,
					const struct options *options)
{
	const struct gpu_device *gpu;

	if (target->device == PROBE_HOST)
		return host_budget_source_name(target->host.source);
	if (options->target.memory_bytes == target->budget_bytes)
		return "--memory";
	if (options->target.model.usable_bytes == target->budget_bytes)
		return "--as";
	gpu = &target->gpus[target->limiting];
	if (gpu->is_integrated)
		return "shared with the host";
	return gpu->free_source == GPU_FREE_UNKNOWN
		       ? "all of it: what is free is not known"
		       : "free at start";
}

void memory_target_words(const struct memory_target *target, struct strbuf *out)
{
	if (target->device != PROBE_CUDA) {
		strbuf_adds(out, "host memory");
		return;
	}
	strbuf_addf(out, "%zux %s%s", target->gpu_count,
		    target->is_phantom ? "phantom " : "", target->gpus[0].name);
	if (target->emulated_as)
		strbuf_addf(out, " as %s", target->emulated_as);
}

/* What the others have more than this is nobody's use. */
static void add_limiting(const struct memory_target *target,
			 struct strlist *caveats)
{
	const struct gpu_device *least = &target->gpus[target->limiting];
	uint64_t bytes = memory_target_usable(target, least);
	uint64_t most = 0;
	char least_text[BYTES_TEXT_MAX];
	char most_text[BYTES_TEXT_MAX];

	for (size_t i = 0; i < target->gpu_count; i++)
		if (memory_target_is_bound_by(target, i))
			most = bytes_max(
				most,
				memory_target_usable(target, &target->gpus[i]));
	if (bytes >= most / 10 * 9)
		return;
	strlist_addf(caveats,
		     "GPU %d (%s) bounds the budget: it has %s, another of "
		     "those in use has %s",
		     least->index, least->name, bytes_format(least_text, bytes),
		     bytes_format(most_text, most));
}

void memory_target_add_caveat(const struct memory_target *target,
			      struct strlist *caveats)
{
	if (target->device == PROBE_CUDA && target->gpu_count > 1)
		add_limiting(target, caveats);
	if (target->emulated_as && target->device == PROBE_CUDA)
		strlist_addf(caveats,
			     "emulated: %s on %s; workspaces, context size and "
			     "free memory differ on the real one: re-check "
			     "there (autofit does at the first launch)",
			     target->emulated_as, target->gpus[0].name);
}
