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

static enum verdict device_over_limit(const struct evidence *evidence,
				      char why[WHY_MAX])
{
	char peak[BYTES_TEXT_MAX];
	char limit[BYTES_TEXT_MAX];

	if (!evidence->limit_bytes ||
	    evidence->peak_bytes <= evidence->limit_bytes)
		return VERDICT_NONE;
	return say(VERDICT_OVER_BUDGET, why,
		   "peak %s%s is over the limit of %s",
		   evidence->stopped == STOP_OVER_LIMIT ? "of at least " : "",
		   bytes_format(peak, evidence->peak_bytes),
		   bytes_format(limit, evidence->limit_bytes));
}

static enum verdict host_over_limit(const struct evidence *evidence,
				    char why[WHY_MAX])
{
	char peak[BYTES_TEXT_MAX];
	char limit[BYTES_TEXT_MAX];

	if (!evidence->host_limit_bytes ||
	    evidence->host_peak_bytes <= evidence->host_limit_bytes)
		return VERDICT_NONE;
	return say(VERDICT_OVER_BUDGET, why,
		   "host memory of at least %s is over its limit of %s",
		   bytes_format(peak, evidence->host_peak_bytes),
		   bytes_format(limit, evidence->host_limit_bytes));
}

static enum verdict over_limit(const struct evidence *evidence,
			       char why[WHY_MAX])
{
	enum verdict verdict = device_over_limit(evidence, why);

	return verdict == VERDICT_NONE ? host_over_limit(evidence, why)
				       : verdict;
}

/* Before it could say anything itself. */
static enum verdict stopped_over_limit(const struct evidence *evidence,
				       char why[WHY_MAX])
{
	if (evidence->stopped != STOP_OVER_LIMIT &&
	    evidence->stopped != STOP_OVER_HOST_LIMIT)
		return VERDICT_NONE;
	return over_limit(evidence, why);
}

/* By itself, not by autofit: a status that is not 0, or a signal. */
static bool failed_by_itself(const struct evidence *evidence)
{
	return evidence->ended && evidence->wait_status != 0;
}

static bool ended_well(const struct evidence *evidence)
{
	return evidence->ended && evidence->wait_status == 0;
}

/* Some allocation was refused for good, whatever came after it. */
static bool was_refused(const struct evidence *evidence)
{
	return evidence->allocations.end >= ALLOCATIONS_SURVIVED;
}

/*
 * Where the hook counts the errors that torch raises and there was none, what
 * was refused was a library's own try (cuDNN looks for an algorithm). Words
 * that it prints at every size are no such excuse: who skips each batch that
 * does not fit says so at the smallest size too.
 */
static bool went_without(const struct evidence *evidence)
{
	return evidence->counts_ooms && evidence->ooms == 0;
}

/* The text of a refusal: ", rank 3" and the like stand at its end. */
static void describe_refusal(const struct evidence *evidence,
			     char text[WHY_MAX])
{
	const struct allocation_findings *found = &evidence->allocations;
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

#define FRAGMENTATION_HELP                                                     \
	"try PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True"

/* Enough was free, but in pieces. False: nothing tells so. */
static bool describe_fragmentation(const struct evidence *evidence,
				   const char *caught, char why[WHY_MAX])
{
	const struct allocation_findings *found = &evidence->allocations;
	char free_text[BYTES_TEXT_MAX];
	char asked[BYTES_TEXT_MAX];

	if (was_refused(evidence) && found->is_fragmented) {
		(void)say(VERDICT_OOM_DEVICE, why,
			  "memory is fragmented: %s free, %s "
			  "asked%s; " FRAGMENTATION_HELP,
			  bytes_format(free_text, found->free_bytes),
			  bytes_format(asked, found->asked_bytes), caught);
		return true;
	}
	/* The driver's own figures are exact, those of a message rounded. */
	if (evidence->memory_line && evidence->text_is_fragmented &&
	    !evidence->text_is_usual &&
	    !(was_refused(evidence) && found->free_bytes)) {
		(void)say(VERDICT_OOM_DEVICE, why,
			  "memory is fragmented: more was free than it asked "
			  "for%s; " FRAGMENTATION_HELP,
			  caught);
		return true;
	}
	return false;
}

static bool names_the_host(const struct evidence *evidence)
{
	enum signature_class class = evidence->memory_line->class;

	if (class == SIGNATURE_AMBIGUOUS)
		return was_refused(evidence) ? evidence->allocations.is_host
					     : evidence->device == PROBE_HOST;
	return class == SIGNATURE_HOST || class == SIGNATURE_SHM;
}

static enum verdict out_of_memory_text(const struct evidence *evidence,
				       char why[WHY_MAX])
{
	const char *caught =
		ended_well(evidence) ? ", caught by the command" : "";
	char refusal[WHY_MAX] = "";
	const char *colon = "";
	bool is_host;

	if (!evidence->memory_line || evidence->text_is_usual)
		return VERDICT_NONE;
	if (evidence->memory_line->class == SIGNATURE_SHM)
		return say(VERDICT_OOM_HOST, why,
			   "shared memory (/dev/shm) is full%s", caught);
	is_host = names_the_host(evidence);
	if (!is_host && describe_fragmentation(evidence, caught, why))
		return VERDICT_OOM_DEVICE;
	if (was_refused(evidence) && evidence->allocations.is_host == is_host) {
		colon = ": ";
		describe_refusal(evidence, refusal);
	}
	return say(is_host ? VERDICT_OOM_HOST : VERDICT_OOM_DEVICE, why,
		   "out of %s memory%s%s%.180s", is_host ? "host" : "device",
		   caught, colon, refusal);
}

/* An allocation that was refused, without a word of the command's. */
static enum verdict refused(const struct evidence *evidence, const char *caught,
			    char why[WHY_MAX])
{
	char refusal[WHY_MAX];

	if (!evidence->allocations.is_host &&
	    describe_fragmentation(evidence, caught, why))
		return VERDICT_OOM_DEVICE;
	describe_refusal(evidence, refusal);
	return say(evidence->allocations.is_host ? VERDICT_OOM_HOST
						 : VERDICT_OOM_DEVICE,
		   why, "%.200s%s", refusal, caught);
}

/*
 * Refused, and nothing came after it. Where one rank ends so, the others may
 * wait for it until the time is over.
 */
static enum verdict refused_at_last(const struct evidence *evidence,
				    char why[WHY_MAX])
{
	bool hung = evidence->stopped == STOP_TIMEOUT ||
		    evidence->stopped == STOP_STARTUP_TIMEOUT;

	if (evidence->allocations.end != ALLOCATIONS_FATAL)
		return VERDICT_NONE;
	if (failed_by_itself(evidence) || evidence->stopped == STOP_SIGNATURE ||
	    (hung && !went_without(evidence)))
		return refused(evidence, "", why);
	return VERDICT_NONE;
}

/* It did its steps all the same: with a smaller batch, or without some. */
static enum verdict caught_out_of_memory(const struct evidence *evidence,
					 char why[WHY_MAX])
{
	if (was_refused(evidence) && !went_without(evidence))
		return refused(evidence, ", caught by the command", why);
	if (evidence->ooms)
		return say(VERDICT_OOM_DEVICE, why,
			   "torch raised an out-of-memory error, caught by "
			   "the command");
	return VERDICT_NONE;
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
	if (evidence->used_elsewhere)
		return say(VERDICT_FAILED, why,
			   "something outside the command's processes used the "
			   "GPU meanwhile (a container, ssh?): put autofit "
			   "inside it; for a training on the CPU: --device "
			   "host");
	return say(VERDICT_FAILED, why,
		   "the command did not use the GPU; for a training on the "
		   "CPU: --device host");
}

static enum verdict thrashing(const struct evidence *evidence,
			      char why[WHY_MAX])
{
	char swapped[BYTES_TEXT_MAX];
	char limit[BYTES_TEXT_MAX];

	if (evidence->swap_bytes > SWAP_NOISE_BYTES)
		return say(VERDICT_THRASHES, why, "%s of it were swapped out",
			   bytes_format(swapped, evidence->swap_bytes));
	if (evidence->retries_later)
		return say(VERDICT_THRASHES, why,
			   "the allocator freed and retried %llu times after "
			   "warming up",
			   (unsigned long long)evidence->retries_later);
	if (evidence->device == PROBE_CUDA && evidence->limit_bytes &&
	    evidence->managed_peak_bytes > evidence->limit_bytes)
		return say(VERDICT_THRASHES, why,
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
		return say(VERDICT_FITS_BARELY, why,
			   "the allocator had to free and retry while "
			   "warming up");
	if (was_refused(evidence))
		return say(VERDICT_FITS_BARELY, why,
			   "the driver refused memory that it could do "
			   "without");
	if (evidence->steps)
		return say(VERDICT_FITS, why, "%lld steps%s",
			   (long long)evidence->steps, pool);
	return say(VERDICT_FITS, why, "%s%s",
		   evidence->fits_by_time ? "no growth for long enough"
					  : "it ran to its end",
		   pool);
}

/* The first rank to run out is the cause: how the others end follows. */
static int rank_of(const struct evidence *evidence, enum verdict verdict)
{
	bool is_memory =
		verdict == VERDICT_OOM_DEVICE || verdict == VERDICT_OOM_HOST;

	return is_memory && was_refused(evidence) ? evidence->allocations.rank
						  : -1;
}

struct judgement verdict_judge(const struct evidence *evidence)
{
	/* In this order: the first rule that speaks decides. */
	static rule *const rules[] = {
		keeper_lost,        not_started,
		disturbed,          stopped_over_limit,
		out_of_memory_text, kernel_kill,
		refused_at_last,    over_limit,
		scratch_full,       time_out,
		cancelled,          failed,
		unused_device,      caught_out_of_memory,
		thrashing,          fit,
	};
	struct judgement judgement = { .verdict = VERDICT_NONE };

	for (size_t i = 0; i < sizeof(rules) / sizeof(*rules) &&
			   judgement.verdict == VERDICT_NONE;
	     i++)
		judgement.verdict = rules[i](evidence, judgement.why);
	judgement.rank = rank_of(evidence, judgement.verdict);
	return judgement;
}
