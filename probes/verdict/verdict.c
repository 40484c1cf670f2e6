/* The verdict of a probe: a pure function of the evidence. */
/* SPDX-License-Identifier: MIT */
#include "probes/verdict/verdict.h"

#include "probes/verdict/verdict_memory.h"
#include "probes/verdict/verdict_rules.h"

#include <assert.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

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
	const struct evidence_end *end = &evidence->end;
	int code = end->exec_errno ? end->exec_errno : end->isolation_errno;

	if (code)
		verdict_say(out, VERDICT_FAILED, "cannot start the command: %s",
			    strerror(code));
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

/*
 * Who fails before all that was asked of it, the steps of a confirmation too,
 * would fail in the run. Who makes an optimizer and never steps has not trained
 * at all.
 */
static bool did_its_part(const struct evidence *evidence)
{
	const struct evidence_progress *progress = &evidence->progress;
	const struct evidence_end *end = &evidence->end;
	int64_t rounds =
		trial_rounds_of(progress->steps, progress->later_passes);

	if (progress->goes_on || (verdict_has_failed(end) &&
				  progress->steps < progress->steps_asked))
		return false;
	/* Enough was seen, even if a rank that nobody awaited has come since
	 * and has fewer steps. */
	if (rounds >= progress->steps_needed || end->stopped == STOP_ENOUGH)
		return true;
	if (progress->fits_by_time)
		return !verdict_has_failed(end);
	return end->ended && !end->left_behind && end->wait_status == 0 &&
	       (progress->steps || !progress->never_stepped);
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
	else if (stopped == STOP_RANK_LOST)
		verdict_say(out, VERDICT_FAILED,
			    "rank %d ended by an error, and the others waited "
			    "for it",
			    evidence->end.lost_rank);
	else if (stopped == STOP_CANCELLED && !evidence->progress.decided)
		verdict_say(out, VERDICT_DISTURBED,
			    "stopped before its verdict");
}

/*
 * It trained when the batch was smaller, and now it ended without a step: most
 * often the data have fewer samples than one batch.
 */
static void rule_too_few_samples(const struct evidence *evidence,
				 struct judgement *out)
{
	const struct evidence_end *end = &evidence->end;
	enum steps_source smaller = evidence->progress.smaller_steps;
	bool says_so =
		evidence->output.no_batch_line && WIFEXITED(end->wait_status);

	if (end->ended && !end->left_behind && !evidence->progress.steps &&
	    smaller != STEPS_NONE && (says_so || end->wait_status == 0))
		verdict_say(out, VERDICT_TOO_BIG,
			    "made no step, where a smaller size did: fewer "
			    "samples than one batch?");
}

/* Which may be a service that looks at memory as well. */
#define BY_ANOTHER                                                             \
	", by something other than autofit and the kernel's out-of-memory "    \
	"killer"

static const char *failure_remark(const struct evidence *evidence)
{
	if (verdict_was_killed(evidence))
		return "; one of its processes was killed" BY_ANOTHER;
	if (verdict_words_are_unlikely(evidence))
		return "; it says out of memory, far from the limit";
	return "";
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
			    WTERMSIG(status) == SIGKILL ? BY_ANOTHER : "");
	else if (end->ended && status == 0 &&
		 (end->left_behind || evidence->progress.goes_on))
		verdict_say(out, VERDICT_FAILED,
			    "it ended and left processes running: start the "
			    "training in the foreground");
	else if (end->ended && WIFEXITED(status) && status == 0)
		verdict_say(out, VERDICT_FAILED,
			    "it ended without one training step: its optimizer "
			    "was never asked for one");
	else if (end->ended && WIFEXITED(status))
		verdict_say(out, VERDICT_FAILED, "exit status %d%s",
			    WEXITSTATUS(status), failure_remark(evidence));
	else
		verdict_say(out, VERDICT_FAILED, "it ended before its verdict");
}

/* What such a rank needs nobody knows, however well the others went. */
static void rule_unseen_rank(const struct evidence *evidence,
			     struct judgement *out)
{
	if (evidence->end.unseen_ranks)
		verdict_say(out, VERDICT_FAILED,
			    "%lld of its ranks did not report what they use: "
			    "the folder of probes must be one that all nodes "
			    "see (--scratch DIR names one), and autofit have "
			    "the same path on each",
			    (long long)evidence->end.unseen_ranks);
}

static void rule_unused_device(const struct evidence *evidence,
			       struct judgement *out)
{
	if (evidence->gpu.foreign_device[0]) {
		verdict_say(out, VERDICT_FAILED,
			    "the command went to %s by itself, which is none "
			    "of its GPUs here: set CUDA_VISIBLE_DEVICES in "
			    "front of autofit, not in the command",
			    evidence->gpu.foreign_device);
		return;
	}
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
	else if (progress->later_passes)
		verdict_say(out, VERDICT_FITS,
			    "%lld step%s, %lld passes after the first%s",
			    (long long)progress->steps,
			    progress->steps == 1 ? "" : "s",
			    (long long)progress->later_passes, pool);
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
	/* The first rule that speaks decides; the others leave it alone. */
	static void (*const rules[])(const struct evidence *,
				     struct judgement *) = {
		rule_keeper_lost,
		rule_not_started,
		rule_disturbed,
		verdict_rule_stopped_over_limit,
		verdict_rule_other_memory,
		verdict_rule_memory_text,
		verdict_rule_kernel_kill,
		verdict_rule_refused_at_last,
		verdict_rule_over_limit,
		rule_scratch_full,
		rule_stopped_early,
		rule_too_few_samples,
		rule_failed,
		rule_unseen_rank,
		rule_unused_device,
		verdict_rule_caught_oom,
		verdict_rule_thrashing,
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
