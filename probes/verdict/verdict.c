/* The verdict of a probe: a pure function of the evidence. */
/* SPDX-License-Identifier: MIT */
#include "probes/verdict/verdict.h"

#include "probes/verdict/verdict_rules.h"

#include "base/units.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#define SWAP_NOISE_BYTES (8 * MIB)

enum verdict verdict_say(enum verdict verdict, char why[WHY_MAX],
			 const char *format, ...)
{
	va_list args;

	va_start(args, format);
	(void)vsnprintf(why, WHY_MAX, format, args);
	va_end(args);
	return verdict;
}

static enum verdict keeper_lost(const struct evidence *evidence,
				char why[WHY_MAX])
{
	if (!evidence->keeper_lost)
		return VERDICT_NONE;
	return verdict_say(VERDICT_DISTURBED, why,
			   "the probe's keeper was killed");
}

static enum verdict not_started(const struct evidence *evidence,
				char why[WHY_MAX])
{
	if (!evidence->exec_errno)
		return VERDICT_NONE;
	return verdict_say(VERDICT_FAILED, why, "cannot start the command: %s",
			   strerror(evidence->exec_errno));
}

/* What it took, or ran out of, may be another's: it decides nothing. */
static enum verdict disturbed(const struct evidence *evidence,
			      char why[WHY_MAX])
{
	if (evidence->neighbour_moved[0])
		return verdict_say(VERDICT_DISTURBED, why, "%s",
				   evidence->neighbour_moved);
	if (evidence->stopped == STOP_MEMORY_TAKEN)
		return verdict_say(VERDICT_DISTURBED, why,
				   "another process took the machine's memory");
	return VERDICT_NONE;
}

static enum verdict time_out(const struct evidence *evidence, char why[WHY_MAX])
{
	if (evidence->stopped == STOP_STARTUP_TIMEOUT)
		return verdict_say(
			VERDICT_TIMEOUT, why,
			"no sign of life (output, CPU, I/O, memory) for "
			"the time limit --startup-timeout");
	if (evidence->stopped == STOP_TIMEOUT)
		return verdict_say(VERDICT_TIMEOUT, why,
				   "not done within --probe-timeout");
	return VERDICT_NONE;
}

static enum verdict cancelled(const struct evidence *evidence,
			      char why[WHY_MAX])
{
	if (evidence->stopped != STOP_CANCELLED || evidence->decided)
		return VERDICT_NONE;
	return verdict_say(VERDICT_DISTURBED, why,
			   "stopped before its verdict");
}

static bool did_its_part(const struct evidence *evidence)
{
	if (evidence->steps >= evidence->steps_needed || evidence->fits_by_time)
		return true;
	return evidence->ended && !evidence->left_behind &&
	       WIFEXITED(evidence->wait_status) &&
	       WEXITSTATUS(evidence->wait_status) == 0;
}

static enum verdict scratch_full(const struct evidence *evidence,
				 char why[WHY_MAX])
{
	if (!evidence->scratch_full ||
	    (evidence->stopped != STOP_SCRATCH_FULL && did_its_part(evidence)))
		return VERDICT_NONE;
	return verdict_say(
		VERDICT_FAILED, why,
		"the scratch folder's disk is full (%.150s): --scratch DIR "
		"names another",
		evidence->scratch_full);
}

/*
 * It trained when the batch was smaller, and now it ended without a step: the
 * data have fewer samples than one batch. An end that is no error tells so
 * only where each step is seen.
 */
static enum verdict too_few_samples(const struct evidence *evidence,
				    char why[WHY_MAX])
{
	int status = evidence->wait_status;
	bool says_so = evidence->no_batch_line && WIFEXITED(status);
	bool is_seen = status == 0 && evidence->smaller_steps == STEPS_HOOK;

	if (!evidence->ended || evidence->left_behind || evidence->steps ||
	    evidence->smaller_steps == STEPS_NONE || !(says_so || is_seen))
		return VERDICT_NONE;
	return verdict_say(VERDICT_TOO_BIG, why,
			   "fewer samples than one batch: it made no step, and "
			   "a smaller size did");
}

static enum verdict failed(const struct evidence *evidence, char why[WHY_MAX])
{
	int status = evidence->wait_status;

	if (did_its_part(evidence))
		return VERDICT_NONE;
	if (evidence->too_big_line)
		return verdict_say(VERDICT_TOO_BIG, why,
				   "a limit that is not memory (%s)",
				   evidence->too_big_line->name);
	if (evidence->ended && WIFSIGNALED(status))
		return verdict_say(
			VERDICT_FAILED, why, "killed by signal %d (%s)%s",
			WTERMSIG(status), strsignal(WTERMSIG(status)),
			WTERMSIG(status) == SIGKILL
				? ", by something other than autofit and "
				  "the kernel's out-of-memory killer"
				: "");
	if (evidence->ended && evidence->left_behind && status == 0)
		return verdict_say(
			VERDICT_FAILED, why,
			"it ended before any step and left processes "
			"running: start the training in the foreground");
	if (evidence->ended && WIFEXITED(status))
		return verdict_say(
			VERDICT_FAILED, why, "exit status %d%s",
			WEXITSTATUS(status),
			verdict_command_was_killed(evidence)
				? "; one of its processes was killed, not "
				  "for want of memory"
				: "");
	return verdict_say(VERDICT_FAILED, why, "it ended before its verdict");
}

static enum verdict unused_device(const struct evidence *evidence,
				  char why[WHY_MAX])
{
	if (evidence->device != PROBE_CUDA || evidence->device_used)
		return VERDICT_NONE;
	if (evidence->used_elsewhere)
		return verdict_say(
			VERDICT_FAILED, why,
			"something outside the command's processes used the "
			"GPU meanwhile (a container, ssh?): put autofit "
			"inside it; for a training on the CPU: --device "
			"host");
	return verdict_say(
		VERDICT_FAILED, why,
		"the command did not use the GPU; for a training on the "
		"CPU: --device host");
}

static enum verdict thrashing(const struct evidence *evidence,
			      char why[WHY_MAX])
{
	char swapped[BYTES_TEXT_MAX];
	char limit[BYTES_TEXT_MAX];

	if (evidence->swap_bytes > SWAP_NOISE_BYTES)
		return verdict_say(VERDICT_THRASHES, why,
				   "%s of it were swapped out",
				   bytes_format(swapped, evidence->swap_bytes));
	if (evidence->retries_later)
		return verdict_say(
			VERDICT_THRASHES, why,
			"the allocator freed and retried %llu times after "
			"warming up",
			(unsigned long long)evidence->retries_later);
	if (evidence->device == PROBE_CUDA && evidence->limit_bytes &&
	    evidence->managed_peak_bytes > evidence->limit_bytes)
		return verdict_say(
			VERDICT_THRASHES, why,
			"managed memory of %s is more than the device's %s",
			bytes_format(swapped, evidence->managed_peak_bytes),
			bytes_format(limit, evidence->limit_bytes));
	return VERDICT_NONE;
}

static enum verdict fit(const struct evidence *evidence, char why[WHY_MAX])
{
	const char *pool = evidence->is_pool
				   ? "; it keeps a pool of memory, so that its "
				     "peak is not known"
				   : "";

	if (evidence->retries_warm_up)
		return verdict_say(VERDICT_FITS_BARELY, why,
				   "the allocator had to free and retry while "
				   "warming up");
	if (verdict_was_refused(evidence))
		return verdict_say(VERDICT_FITS_BARELY, why,
				   "the driver refused memory that it could do "
				   "without");
	if (evidence->steps)
		return verdict_say(VERDICT_FITS, why, "%lld steps%s",
				   (long long)evidence->steps, pool);
	return verdict_say(VERDICT_FITS, why, "%s%s",
			   evidence->fits_by_time ? "no growth for long enough"
						  : "it ran to its end",
			   pool);
}

/* The first rank to run out is the cause: how the others end follows. */
static int rank_of(const struct evidence *evidence, enum verdict verdict)
{
	bool is_memory =
		verdict == VERDICT_OOM_DEVICE || verdict == VERDICT_OOM_HOST;

	return is_memory && verdict_was_refused(evidence)
		       ? evidence->allocations.rank
		       : -1;
}

struct judgement verdict_judge(const struct evidence *evidence)
{
	/* In this order: the first rule that speaks decides. */
	static verdict_rule *const rules[] = {
		keeper_lost,
		not_started,
		disturbed,
		verdict_stopped_over_limit,
		verdict_out_of_memory_text,
		verdict_kernel_kill,
		verdict_refused_at_last,
		verdict_over_limit,
		scratch_full,
		time_out,
		cancelled,
		too_few_samples,
		failed,
		unused_device,
		verdict_caught_out_of_memory,
		thrashing,
		fit,
	};
	struct judgement judgement = { .verdict = VERDICT_NONE };

	for (size_t i = 0; i < sizeof(rules) / sizeof(*rules) &&
			   judgement.verdict == VERDICT_NONE;
	     i++)
		judgement.verdict = rules[i](evidence, judgement.why);
	judgement.rank = rank_of(evidence, judgement.verdict);
	return judgement;
}
