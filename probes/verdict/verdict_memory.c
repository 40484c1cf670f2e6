/* The rules of a verdict that speak of memory: too much, or run out of. */
/* SPDX-License-Identifier: MIT */
#include "probes/verdict/verdict_memory.h"

#include "base/units.h"
#include "probes/verdict/verdict_rules.h"

#include <stdio.h>
#include <sys/wait.h>

#define FRAGMENTATION_HELP                                                     \
	"try PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True"

void verdict_rule_over_limit(const struct evidence *evidence,
			     struct judgement *out)
{
	const struct evidence_memory *memory = &evidence->memory;
	char peak[BYTES_TEXT_MAX];
	char limit[BYTES_TEXT_MAX];

	if (memory->limit_bytes && memory->peak_bytes > memory->limit_bytes)
		verdict_say(out, VERDICT_OVER_BUDGET,
			    "peak %s%s is over the limit of %s",
			    evidence->end.stopped == STOP_OVER_LIMIT
				    ? "of at least "
				    : "",
			    bytes_format(peak, memory->peak_bytes),
			    bytes_format(limit, memory->limit_bytes));
	else if (memory->host_limit_bytes &&
		 memory->host_peak_bytes > memory->host_limit_bytes)
		verdict_say(out, VERDICT_OVER_BUDGET,
			    "host memory of at least %s is over its limit of "
			    "%s",
			    bytes_format(peak, memory->host_peak_bytes),
			    bytes_format(limit, memory->host_limit_bytes));
}

/* It was stopped before it could say anything itself. */
void verdict_rule_stopped_over_limit(const struct evidence *evidence,
				     struct judgement *out)
{
	if (evidence->end.stopped == STOP_OVER_LIMIT ||
	    evidence->end.stopped == STOP_OVER_HOST_LIMIT)
		verdict_rule_over_limit(evidence, out);
}

/*
 * The hook counts each error that torch raises, and there was none: what was
 * refused was a library's own try (cuDNN looks for an algorithm). Words that it
 * prints at every size are no such excuse: who skips each batch that does not
 * fit says so at the smallest size too.
 */
static bool went_without(const struct evidence_memory *memory)
{
	return memory->counts_ooms && memory->ooms == 0;
}

/* "the driver refused 20 MiB (10 MiB free) in cuMemAlloc, rank 3" */
static void describe_refusal(const struct allocation_findings *found,
			     char text[WHY_MAX])
{
	char asked[BYTES_TEXT_MAX] = "memory";
	char free_text[BYTES_TEXT_MAX];
	char free_part[BYTES_TEXT_MAX + 16] = "";
	char rank[32] = "";

	if (found->asked_bytes)
		(void)bytes_format(asked, found->asked_bytes);
	if (found->free_bytes && !found->is_host)
		(void)snprintf(free_part, sizeof(free_part), " (%s free)",
			       bytes_format(free_text, found->free_bytes));
	if (found->rank >= 0)
		(void)snprintf(rank, sizeof(rank), ", rank %d", found->rank);
	(void)snprintf(text, WHY_MAX, "the driver refused %s%s%s in %s%s",
		       asked, found->is_host ? " on the host" : "", free_part,
		       preload_call_name(found->call), rank);
}

/* Enough was free, but in pieces; nothing is said unless something tells so. */
static void say_fragmented(const struct evidence *evidence, const char *caught,
			   struct judgement *out)
{
	const struct allocation_findings *found = &evidence->gpu.allocations;
	const struct evidence_output *output = &evidence->output;
	bool was_refused = verdict_was_refused(&evidence->gpu);
	char free_text[BYTES_TEXT_MAX];
	char asked[BYTES_TEXT_MAX];

	if (was_refused && found->is_fragmented)
		verdict_say(out, VERDICT_OOM_DEVICE,
			    "memory is fragmented: %s free, %s "
			    "asked%s; " FRAGMENTATION_HELP,
			    bytes_format(free_text, found->free_bytes),
			    bytes_format(asked, found->asked_bytes), caught);
	/* The driver's own figures are exact, those of a message rounded. */
	else if (output->memory_line && output->text_is_fragmented &&
		 !output->text_is_usual && !(was_refused && found->free_bytes))
		verdict_say(out, VERDICT_OOM_DEVICE,
			    "memory is fragmented: more was free than it asked "
			    "for%s; " FRAGMENTATION_HELP,
			    caught);
}

static bool names_the_host(const struct evidence *evidence)
{
	enum signature_class class = evidence->output.memory_line->class;

	if (class == SIGNATURE_AMBIGUOUS)
		return verdict_was_refused(&evidence->gpu)
			       ? evidence->gpu.allocations.is_host
			       : evidence->memory.device == PROBE_HOST;
	return class == SIGNATURE_HOST || class == SIGNATURE_SHM;
}

/* A peak below this part of the limit is far from it. */
#define FAR_PART 8

bool verdict_words_are_unlikely(const struct evidence *evidence)
{
	const struct evidence_memory *memory = &evidence->memory;
	const struct evidence_output *output = &evidence->output;
	uint64_t limit = memory->device == PROBE_HOST
				 ? memory->limit_bytes
				 : memory->host_limit_bytes;
	uint64_t peak = memory->host_peak_bytes;

	return output->memory_line &&
	       output->memory_line->class != SIGNATURE_SHM &&
	       names_the_host(evidence) && verdict_has_failed(&evidence->end) &&
	       !memory->has_address_limit && !evidence->end.oom_kills &&
	       !verdict_was_killed(evidence) && peak < limit / FAR_PART &&
	       output->asked_bytes < limit - peak;
}

bool verdict_shows_memory(const struct evidence *evidence)
{
	const struct evidence_end *end = &evidence->end;

	return evidence->output.memory_line || evidence->memory.ooms ||
	       (verdict_was_refused(&evidence->gpu) &&
		!went_without(&evidence->memory)) ||
	       verdict_was_killed(evidence) ||
	       (end->ended && WIFSIGNALED(end->wait_status));
}

/* No size of it says anything of the memory that is tuned. */
void verdict_rule_other_memory(const struct evidence *evidence,
			       struct judgement *out)
{
	const struct evidence_output *output = &evidence->output;

	if (evidence->memory.is_host_tuning && output->memory_line &&
	    !output->text_is_usual && !names_the_host(evidence))
		verdict_say(out, VERDICT_FAILED,
			    "it ran out of a GPU's memory, and what is tuned "
			    "is host memory: to tune for the GPU leave out "
			    "--device host, see autofit devices; to train "
			    "without it set CUDA_VISIBLE_DEVICES=");
}

void verdict_rule_memory_text(const struct evidence *evidence,
			      struct judgement *out)
{
	const struct evidence_output *output = &evidence->output;
	bool ended_well = evidence->end.ended && evidence->end.wait_status == 0;
	const char *caught = ended_well ? ", caught by the command" : "";
	char refusal[WHY_MAX] = "";
	bool is_host;

	if (!output->memory_line || output->text_is_usual ||
	    verdict_words_are_unlikely(evidence))
		return;
	is_host = names_the_host(evidence);
	if (output->memory_line->class == SIGNATURE_SHM)
		verdict_say(out, VERDICT_OOM_HOST,
			    "shared memory (/dev/shm) is full%s", caught);
	else if (!is_host)
		say_fragmented(evidence, caught, out);
	if (out->verdict != VERDICT_NONE)
		return;
	if (verdict_was_refused(&evidence->gpu) &&
	    evidence->gpu.allocations.is_host == is_host)
		describe_refusal(&evidence->gpu.allocations, refusal);
	verdict_say(out, is_host ? VERDICT_OOM_HOST : VERDICT_OOM_DEVICE,
		    "out of %s memory%s%s%.180s", is_host ? "host" : "device",
		    caught, *refusal ? ": " : "", refusal);
}

/* An allocation that was refused, without a word of the command's. */
static void say_refused(const struct evidence *evidence, const char *caught,
			struct judgement *out)
{
	const struct allocation_findings *found = &evidence->gpu.allocations;
	char refusal[WHY_MAX];

	if (!found->is_host)
		say_fragmented(evidence, caught, out);
	if (out->verdict != VERDICT_NONE)
		return;
	describe_refusal(found, refusal);
	verdict_say(out, found->is_host ? VERDICT_OOM_HOST : VERDICT_OOM_DEVICE,
		    "%.200s%s", refusal, caught);
}

/*
 * Refused, and nothing came after it. Where one rank ends so, the others may
 * wait for it until the time is over.
 */
void verdict_rule_refused_at_last(const struct evidence *evidence,
				  struct judgement *out)
{
	const struct evidence_end *end = &evidence->end;
	bool hung = end->stopped == STOP_TIMEOUT ||
		    end->stopped == STOP_STARTUP_TIMEOUT;

	if (evidence->gpu.allocations.end == ALLOCATIONS_FATAL &&
	    (verdict_has_failed(end) || end->stopped == STOP_SIGNATURE ||
	     end->stopped == STOP_RANK_LOST ||
	     (hung && !went_without(&evidence->memory))))
		say_refused(evidence, "", out);
}

/* It was stopped while it gave back what it had cached, to ask once more, as it
 * had done before and was granted memory. */
static bool was_stopped_in_retry(const struct evidence *evidence)
{
	const struct allocation_findings *found = &evidence->gpu.allocations;

	return evidence->end.stopped == STOP_ENOUGH && found->is_open &&
	       found->retries > 0 && !found->survived;
}

/* It did its steps all the same: with a smaller batch, or without some. */
void verdict_rule_caught_oom(const struct evidence *evidence,
			     struct judgement *out)
{
	if (verdict_was_refused(&evidence->gpu) &&
	    !went_without(&evidence->memory) && !was_stopped_in_retry(evidence))
		say_refused(evidence, ", caught by the command", out);
	else if (evidence->memory.ooms)
		verdict_say(out, VERDICT_OOM_DEVICE,
			    "torch raised an out-of-memory error, caught by "
			    "the command");
}

void verdict_rule_kernel_kill(const struct evidence *evidence,
			      struct judgement *out)
{
	if (evidence->end.oom_kills && verdict_was_killed(evidence))
		verdict_say(out, VERDICT_OOM_HOST,
			    "the kernel killed it for want of host memory");
}

#define SWAP_NOISE_BYTES (8 * MIB)

void verdict_rule_thrashing(const struct evidence *evidence,
			    struct judgement *out)
{
	const struct evidence_memory *memory = &evidence->memory;
	uint64_t managed = evidence->gpu.managed_peak_bytes;
	char bytes[BYTES_TEXT_MAX];
	char limit[BYTES_TEXT_MAX];

	if (memory->swap_bytes > SWAP_NOISE_BYTES)
		verdict_say(out, VERDICT_THRASHES, "%s of it were swapped out",
			    bytes_format(bytes, memory->swap_bytes));
	else if (memory->retries_later)
		verdict_say(out, VERDICT_THRASHES,
			    "the allocator freed and retried %llu times after "
			    "warming up",
			    (unsigned long long)memory->retries_later);
	else if (memory->device == PROBE_CUDA && memory->limit_bytes &&
		 managed > memory->limit_bytes)
		verdict_say(out, VERDICT_THRASHES,
			    "managed memory of %s is more than the device's %s",
			    bytes_format(bytes, managed),
			    bytes_format(limit, memory->limit_bytes));
}
