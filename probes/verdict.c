/* The verdict of a probe: a pure function of the evidence. */
/* SPDX-License-Identifier: MIT */
#include "probes/verdict.h"

#include "base/units.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#define SWAP_NOISE_BYTES (8 * MIB)

/* A rule answers VERDICT_NONE when it has nothing to say. */
typedef enum verdict rule(const struct evidence *evidence, char why[WHY_MAX]);

static enum verdict say(enum verdict verdict, char why[WHY_MAX],
			const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static enum verdict say(enum verdict verdict, char why[WHY_MAX],
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
	return say(VERDICT_DISTURBED, why, "the probe's keeper was killed");
}

static enum verdict not_started(const struct evidence *evidence,
				char why[WHY_MAX])
{
	if (!evidence->exec_errno)
		return VERDICT_NONE;
	return say(VERDICT_FAILED, why, "cannot start the command: %s",
		   strerror(evidence->exec_errno));
}

/* What it took, or ran out of, may be another's: it decides nothing. */
static enum verdict disturbed(const struct evidence *evidence,
			      char why[WHY_MAX])
{
	if (evidence->neighbour_moved[0])
		return say(VERDICT_DISTURBED, why, "%s",
			   evidence->neighbour_moved);
	if (evidence->stopped == STOP_MEMORY_TAKEN)
		return say(VERDICT_DISTURBED, why,
			   "another process took the machine's memory");
	return VERDICT_NONE;
}

static enum verdict over_limit(const struct evidence *evidence,
			       char why[WHY_MAX])
{
	char peak[BYTES_TEXT_MAX];
	char limit[BYTES_TEXT_MAX];

	if (evidence->limit_bytes &&
	    evidence->peak_bytes > evidence->limit_bytes)
		return say(VERDICT_OVER_BUDGET, why,
			   "peak %s%s is over the limit of %s",
			   evidence->stopped == STOP_OVER_LIMIT ? "of at least "
								: "",
			   bytes_format(peak, evidence->peak_bytes),
			   bytes_format(limit, evidence->limit_bytes));
	if (evidence->host_limit_bytes &&
	    evidence->host_peak_bytes > evidence->host_limit_bytes)
		return say(VERDICT_OVER_BUDGET, why,
			   "host memory of at least %s is over its limit of %s",
			   bytes_format(peak, evidence->host_peak_bytes),
			   bytes_format(limit, evidence->host_limit_bytes));
	return VERDICT_NONE;
}

static bool names_the_host(const struct evidence *evidence)
{
	enum signature_class class = evidence->memory_line->class;

	if (class == SIGNATURE_AMBIGUOUS)
		return evidence->device == PROBE_HOST;
	return class == SIGNATURE_HOST || class == SIGNATURE_SHM;
}

static enum verdict out_of_memory_text(const struct evidence *evidence,
				       char why[WHY_MAX])
{
	const char *caught = "";

	if (!evidence->memory_line)
		return VERDICT_NONE;
	if (evidence->ended && WIFEXITED(evidence->wait_status) &&
	    WEXITSTATUS(evidence->wait_status) == 0)
		caught = ", caught by the command";
	if (evidence->memory_line->class == SIGNATURE_SHM)
		return say(VERDICT_OOM_HOST, why,
			   "shared memory (/dev/shm) is full%s", caught);
	if (names_the_host(evidence))
		return say(VERDICT_OOM_HOST, why, "out of host memory%s",
			   caught);
	return say(VERDICT_OOM_DEVICE, why, "out of device memory%s", caught);
}

static bool command_was_killed(const struct evidence *evidence)
{
	if (evidence->foreign_kills > 0 || evidence->killed_line)
		return true;
	return evidence->ended && WIFSIGNALED(evidence->wait_status) &&
	       WTERMSIG(evidence->wait_status) == SIGKILL;
}

static enum verdict kernel_kill(const struct evidence *evidence,
				char why[WHY_MAX])
{
	if (!evidence->oom_kills || !command_was_killed(evidence))
		return VERDICT_NONE;
	return say(VERDICT_OOM_HOST, why,
		   "the kernel killed it for want of host memory");
}

static enum verdict time_out(const struct evidence *evidence, char why[WHY_MAX])
{
	if (evidence->stopped == STOP_STARTUP_TIMEOUT)
		return say(VERDICT_TIMEOUT, why,
			   "no sign of life (output, CPU, I/O, memory) for "
			   "the time limit --startup-timeout");
	if (evidence->stopped == STOP_TIMEOUT)
		return say(VERDICT_TIMEOUT, why,
			   "not done within --probe-timeout");
	return VERDICT_NONE;
}

static enum verdict cancelled(const struct evidence *evidence,
			      char why[WHY_MAX])
{
	if (evidence->stopped != STOP_CANCELLED || evidence->decided)
		return VERDICT_NONE;
	return say(VERDICT_DISTURBED, why, "stopped before its verdict");
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
	return say(VERDICT_FAILED, why,
		   "the scratch folder's disk is full (%.150s): --scratch DIR "
		   "names another",
		   evidence->scratch_full);
}

static enum verdict failed(const struct evidence *evidence, char why[WHY_MAX])
{
	int status = evidence->wait_status;

	if (did_its_part(evidence))
		return VERDICT_NONE;
	if (evidence->too_big_line)
		return say(VERDICT_TOO_BIG, why,
			   "a limit that is not memory (%s)",
			   evidence->too_big_line->name);
	if (evidence->ended && WIFSIGNALED(status))
		return say(VERDICT_FAILED, why, "killed by signal %d (%s)%s",
			   WTERMSIG(status), strsignal(WTERMSIG(status)),
			   WTERMSIG(status) == SIGKILL
				   ? ", by something other than autofit and "
				     "the kernel's out-of-memory killer"
				   : "");
	if (evidence->ended && evidence->left_behind && status == 0)
		return say(VERDICT_FAILED, why,
			   "it ended before any step and left processes "
			   "running: start the training in the foreground");
	if (evidence->ended && WIFEXITED(status))
		return say(VERDICT_FAILED, why, "exit status %d%s",
			   WEXITSTATUS(status),
			   command_was_killed(evidence)
				   ? "; one of its processes was killed, not "
				     "for want of memory"
				   : "");
	return say(VERDICT_FAILED, why, "it ended before its verdict");
}

static enum verdict unused_device(const struct evidence *evidence,
				  char why[WHY_MAX])
{
	if (evidence->device != PROBE_CUDA || evidence->device_used)
		return VERDICT_NONE;
	return say(VERDICT_FAILED, why,
		   "the command did not use the GPU; for a training on the "
		   "CPU: --device host");
}

static enum verdict thrashing(const struct evidence *evidence,
			      char why[WHY_MAX])
{
	char swapped[BYTES_TEXT_MAX];

	if (evidence->swap_bytes > SWAP_NOISE_BYTES)
		return say(VERDICT_THRASHES, why, "%s of it were swapped out",
			   bytes_format(swapped, evidence->swap_bytes));
	if (evidence->retries_later)
		return say(VERDICT_THRASHES, why,
			   "the allocator freed and retried %llu times after "
			   "warming up",
			   (unsigned long long)evidence->retries_later);
	return VERDICT_NONE;
}

static enum verdict fit(const struct evidence *evidence, char why[WHY_MAX])
{
	if (evidence->retries_warm_up)
		return say(VERDICT_FITS_BARELY, why,
			   "the allocator had to free and retry while "
			   "warming up");
	if (evidence->steps)
		return say(VERDICT_FITS, why, "%lld steps",
			   (long long)evidence->steps);
	return say(VERDICT_FITS, why, "%s",
		   evidence->fits_by_time ? "no growth for long enough"
					  : "it ran to its end");
}

struct judgement verdict_judge(const struct evidence *evidence)
{
	/* In this order: the first rule that speaks decides. */
	static rule *const rules[] = {
		keeper_lost,  not_started,        disturbed,
		over_limit,   out_of_memory_text, kernel_kill,
		scratch_full, time_out,           cancelled,
		failed,       unused_device,      thrashing,
		fit,
	};
	struct judgement judgement = { .verdict = VERDICT_NONE };

	for (size_t i = 0; i < sizeof(rules) / sizeof(*rules) &&
			   judgement.verdict == VERDICT_NONE;
	     i++)
		judgement.verdict = rules[i](evidence, judgement.why);
	return judgement;
}
