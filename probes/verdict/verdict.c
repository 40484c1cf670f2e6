/* The verdict of a probe: a pure function of the evidence. */
/* SPDX-License-Identifier: MIT */
#include "probes/verdict/verdict.h"

#include "probes/verdict/verdict_memory.h"

#include "base/units.h"

#include <assert.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#define SWAP_NOISE_BYTES (8 * MIB)

static void rule_keeper_lost(const struct evidence *evidence,
			     struct judgement *out)
{
	if (evidence->end.keeper_lost)
		verdict_say(out, VERDICT_DISTURBED,
			    "the probe's keeper was killed");
}

static void rule_not_started(const struct evidence *evidence,
			     struct judgement *out)
{
	if (evidence->end.exec_errno)
		verdict_say(out, VERDICT_FAILED, "cannot start the command: %s",
			    strerror(evidence->end.exec_errno));
}

/* What it took, or ran out of, may be another's: it decides nothing. */
static void rule_disturbed(const struct evidence *evidence,
			   struct judgement *out)
{
	if (evidence->outside.neighbour_moved[0])
		verdict_say(out, VERDICT_DISTURBED, "%s",
			    evidence->outside.neighbour_moved);
	else if (evidence->end.stopped == STOP_MEMORY_TAKEN)
		verdict_say(out, VERDICT_DISTURBED,
			    "another process took the machine's memory");
}

static bool did_its_part(const struct evidence *evidence)
{
	const struct evidence_progress *progress = &evidence->progress;
	const struct evidence_end *end = &evidence->end;

	if (progress->steps >= progress->steps_needed || progress->fits_by_time)
		return true;
	return end->ended && !end->left_behind && end->wait_status == 0;
}

static void rule_scratch_full(const struct evidence *evidence,
			      struct judgement *out)
{
	const char *folder = evidence->outside.scratch_full;

	if (folder && (evidence->end.stopped == STOP_SCRATCH_FULL ||
		       !did_its_part(evidence)))
		verdict_say(out, VERDICT_FAILED,
			    "the scratch folder's disk is full (%.150s): "
			    "--scratch DIR names another",
			    folder);
}

/* Autofit stopped it before it had shown anything. */
static void rule_stopped_early(const struct evidence *evidence,
			       struct judgement *out)
{
	enum stop_reason stopped = evidence->end.stopped;

	if (stopped == STOP_STARTUP_TIMEOUT)
		verdict_say(out, VERDICT_TIMEOUT,
			    "no sign of life (output, CPU, I/O, memory) for "
			    "the time limit --startup-timeout");
	else if (stopped == STOP_TIMEOUT)
		verdict_say(out, VERDICT_TIMEOUT,
			    "not done within --probe-timeout");
	else if (stopped == STOP_CANCELLED && !evidence->progress.decided)
		verdict_say(out, VERDICT_DISTURBED,
			    "stopped before its verdict");
}

/*
 * It trained when the batch was smaller, and now it ended without a step: the
 * data have fewer samples than one batch. An end that is no error tells so
 * only where each step is seen.
 */
static void rule_too_few_samples(const struct evidence *evidence,
				 struct judgement *out)
{
	const struct evidence_end *end = &evidence->end;
	enum steps_source smaller = evidence->progress.smaller_steps;
	bool says_so =
		evidence->output.no_batch_line && WIFEXITED(end->wait_status);
	bool is_seen = end->wait_status == 0 && smaller == STEPS_HOOK;

	if (end->ended && !end->left_behind && !evidence->progress.steps &&
	    smaller != STEPS_NONE && (says_so || is_seen))
		verdict_say(out, VERDICT_TOO_BIG,
			    "fewer samples than one batch: it made no step, "
			    "and a smaller size did");
}

static void rule_failed(const struct evidence *evidence, struct judgement *out)
{
	const struct evidence_end *end = &evidence->end;
	int status = end->wait_status;

	if (did_its_part(evidence))
		return;
	if (evidence->output.too_big_line)
		verdict_say(out, VERDICT_TOO_BIG,
			    "a limit that is not memory (%s)",
			    evidence->output.too_big_line->name);
	else if (end->ended && WIFSIGNALED(status))
		verdict_say(out, VERDICT_FAILED, "killed by signal %d (%s)%s",
			    WTERMSIG(status), strsignal(WTERMSIG(status)),
			    WTERMSIG(status) == SIGKILL
				    ? ", by something other than autofit and "
				      "the kernel's out-of-memory killer"
				    : "");
	else if (end->ended && end->left_behind && status == 0)
		verdict_say(out, VERDICT_FAILED,
			    "it ended before any step and left processes "
			    "running: start the training in the foreground");
	else if (end->ended && WIFEXITED(status))
		verdict_say(out, VERDICT_FAILED, "exit status %d%s",
			    WEXITSTATUS(status),
			    verdict_command_was_killed(evidence)
				    ? "; one of its processes was killed, not "
				      "for want of memory"
				    : "");
	else
		verdict_say(out, VERDICT_FAILED, "it ended before its verdict");
}

static void rule_unused_device(const struct evidence *evidence,
			       struct judgement *out)
{
	if (evidence->memory.device != PROBE_CUDA || evidence->gpu.device_used)
		return;
	if (evidence->gpu.used_elsewhere)
		verdict_say(out, VERDICT_FAILED,
			    "something outside the command's processes used "
			    "the GPU meanwhile (a container, ssh?): put "
			    "autofit inside it; for a training on the CPU: "
			    "--device host");
	else
		verdict_say(out, VERDICT_FAILED,
			    "the command did not use the GPU; for a training "
			    "on the CPU: --device host");
}

static void rule_thrashing(const struct evidence *evidence,
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

static void rule_fits(const struct evidence *evidence, struct judgement *out)
{
	const struct evidence_progress *progress = &evidence->progress;
	const char *pool = evidence->gpu.is_pool
				   ? "; it keeps a pool of memory, so that its "
				     "peak is not known"
				   : "";

	if (evidence->memory.retries_warm_up)
		verdict_say(out, VERDICT_FITS_BARELY,
			    "the allocator had to free and retry while "
			    "warming up");
	else if (verdict_was_refused(&evidence->gpu))
		verdict_say(out, VERDICT_FITS_BARELY,
			    "the driver refused memory that it could do "
			    "without");
	else if (progress->steps)
		verdict_say(out, VERDICT_FITS, "%lld steps%s",
			    (long long)progress->steps, pool);
	else
		verdict_say(out, VERDICT_FITS, "%s%s",
			    progress->fits_by_time ? "no growth for long enough"
						   : "it ran to its end",
			    pool);
}

struct judgement verdict_judge(const struct evidence *evidence)
{
	/* In this order: the first rule that speaks decides. */
	static verdict_rule *const rules[] = {
		rule_keeper_lost,
		rule_not_started,
		rule_disturbed,
		verdict_stopped_over_limit,
		verdict_out_of_memory_text,
		verdict_kernel_kill,
		verdict_refused_at_last,
		verdict_over_limit,
		rule_scratch_full,
		rule_stopped_early,
		rule_too_few_samples,
		rule_failed,
		rule_unused_device,
		verdict_caught_out_of_memory,
		rule_thrashing,
		rule_fits,
	};
	struct judgement judgement = { .verdict = VERDICT_NONE, .rank = -1 };

	for (size_t i = 0; i < sizeof(rules) / sizeof(*rules) &&
			   judgement.verdict == VERDICT_NONE;
	     i++)
		rules[i](evidence, &judgement);
	assert(judgement.verdict != VERDICT_NONE);
	/* The first rank to run out is the cause: how the others end follows.
	 */
	if ((judgement.verdict == VERDICT_OOM_DEVICE ||
	     judgement.verdict == VERDICT_OOM_HOST) &&
	    verdict_was_refused(&evidence->gpu))
		judgement.rank = evidence->gpu.allocations.rank;
	return judgement;
}
