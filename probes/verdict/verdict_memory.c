/* Rules of the verdict: what tells that memory ran out, or would have. */
/* SPDX-License-Identifier: MIT */
#include "probes/verdict/verdict_rules.h"

#include "base/units.h"

#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>

static enum verdict device_over_limit(const struct evidence *evidence,
				      char why[WHY_MAX])
{
	char peak[BYTES_TEXT_MAX];
	char limit[BYTES_TEXT_MAX];

	if (!evidence->limit_bytes ||
	    evidence->peak_bytes <= evidence->limit_bytes)
		return VERDICT_NONE;
	return verdict_say(
		VERDICT_OVER_BUDGET, why, "peak %s%s is over the limit of %s",
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
	return verdict_say(VERDICT_OVER_BUDGET, why,
			   "host memory of at least %s is over its limit of %s",
			   bytes_format(peak, evidence->host_peak_bytes),
			   bytes_format(limit, evidence->host_limit_bytes));
}

enum verdict verdict_over_limit(const struct evidence *evidence,
				char why[WHY_MAX])
{
	enum verdict verdict = device_over_limit(evidence, why);

	return verdict == VERDICT_NONE ? host_over_limit(evidence, why)
				       : verdict;
}

/* Before it could say anything itself. */
enum verdict verdict_stopped_over_limit(const struct evidence *evidence,
					char why[WHY_MAX])
{
	if (evidence->stopped != STOP_OVER_LIMIT &&
	    evidence->stopped != STOP_OVER_HOST_LIMIT)
		return VERDICT_NONE;
	return verdict_over_limit(evidence, why);
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
bool verdict_was_refused(const struct evidence *evidence)
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

	if (verdict_was_refused(evidence) && found->is_fragmented) {
		(void)verdict_say(VERDICT_OOM_DEVICE, why,
				  "memory is fragmented: %s free, %s "
				  "asked%s; " FRAGMENTATION_HELP,
				  bytes_format(free_text, found->free_bytes),
				  bytes_format(asked, found->asked_bytes),
				  caught);
		return true;
	}
	/* The driver's own figures are exact, those of a message rounded. */
	if (evidence->memory_line && evidence->text_is_fragmented &&
	    !evidence->text_is_usual &&
	    !(verdict_was_refused(evidence) && found->free_bytes)) {
		(void)verdict_say(
			VERDICT_OOM_DEVICE, why,
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
		return verdict_was_refused(evidence)
			       ? evidence->allocations.is_host
			       : evidence->device == PROBE_HOST;
	return class == SIGNATURE_HOST || class == SIGNATURE_SHM;
}

enum verdict verdict_out_of_memory_text(const struct evidence *evidence,
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
		return verdict_say(VERDICT_OOM_HOST, why,
				   "shared memory (/dev/shm) is full%s",
				   caught);
	is_host = names_the_host(evidence);
	if (!is_host && describe_fragmentation(evidence, caught, why))
		return VERDICT_OOM_DEVICE;
	if (verdict_was_refused(evidence) &&
	    evidence->allocations.is_host == is_host) {
		colon = ": ";
		describe_refusal(evidence, refusal);
	}
	return verdict_say(is_host ? VERDICT_OOM_HOST : VERDICT_OOM_DEVICE, why,
			   "out of %s memory%s%s%.180s",
			   is_host ? "host" : "device", caught, colon, refusal);
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
	return verdict_say(evidence->allocations.is_host ? VERDICT_OOM_HOST
							 : VERDICT_OOM_DEVICE,
			   why, "%.200s%s", refusal, caught);
}

/*
 * Refused, and nothing came after it. Where one rank ends so, the others may
 * wait for it until the time is over.
 */
enum verdict verdict_refused_at_last(const struct evidence *evidence,
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
enum verdict verdict_caught_out_of_memory(const struct evidence *evidence,
					  char why[WHY_MAX])
{
	if (verdict_was_refused(evidence) && !went_without(evidence))
		return refused(evidence, ", caught by the command", why);
	if (evidence->ooms)
		return verdict_say(
			VERDICT_OOM_DEVICE, why,
			"torch raised an out-of-memory error, caught by "
			"the command");
	return VERDICT_NONE;
}

bool verdict_command_was_killed(const struct evidence *evidence)
{
	if (evidence->foreign_kills > 0 || evidence->killed_line)
		return true;
	return evidence->ended && WIFSIGNALED(evidence->wait_status) &&
	       WTERMSIG(evidence->wait_status) == SIGKILL;
}

enum verdict verdict_kernel_kill(const struct evidence *evidence,
				 char why[WHY_MAX])
{
	if (!evidence->oom_kills || !verdict_command_was_killed(evidence))
		return VERDICT_NONE;
	return verdict_say(VERDICT_OOM_HOST, why,
			   "the kernel killed it for want of host memory");
}
