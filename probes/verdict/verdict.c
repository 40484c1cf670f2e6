/* The verdict of a probe: a pure function of the evidence. */
/* SPDX-License-Identifier: MIT */
#include "probes/verdict/verdict.h"

#include "base/units.h"

#include <assert.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#define FRAGMENTATION_HELP                                                     \
	"try PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True"

/* Sets the verdict and writes its one line. */
static void __attribute__((format(printf, 3, 4)))
verdict_say(struct judgement *out, enum verdict verdict, const char *format,
	    ...)
{
	va_list args;

	assert(out->verdict == VERDICT_NONE);
	out->verdict = verdict;
	va_start(args, format);
	(void)vsnprintf(out->why, sizeof(out->why), format, args);
	va_end(args);
}

static void rule_over_limit(const struct evidence *evidence,
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
static void rule_stopped_over_limit(const struct evidence *evidence,
				    struct judgement *out)
{
	if (evidence->end.stopped == STOP_OVER_LIMIT ||
	    evidence->end.stopped == STOP_OVER_HOST_LIMIT)
		rule_over_limit(evidence, out);
}

/* Some allocation was refused for good, whatever came after it. */
static bool verdict_was_refused(const struct evidence_gpu *gpu)
{
	return gpu->allocations.end >= ALLOCATIONS_SURVIVED;
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

/* The command or one of its processes died by a SIGKILL that was not ours. */
static bool verdict_command_was_killed(const struct evidence *evidence)
{
	const struct evidence_end *end = &evidence->end;

	return end->foreign_kills > 0 || evidence->output.killed_line ||
	       (end->ended && WIFSIGNALED(end->wait_status) &&
		WTERMSIG(end->wait_status) == SIGKILL);
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

static bool ended_by_failing(const struct evidence_end *end)
{
	return end->ended && end->wait_status != 0;
}

/* A peak below this part of the limit is far from it. */
#define FAR_PART 8

/*
 * Its last words are of host memory, but it was far from the limit, asked for
 * no more than was left, and nobody was killed: such words come for want of
 * address space, threads or a sound number, too.
 */
static bool words_are_unlikely(const struct evidence *evidence)
{
	const struct evidence_memory *memory = &evidence->memory;
	const struct evidence_output *output = &evidence->output;
	uint64_t limit = memory->device == PROBE_HOST
				 ? memory->limit_bytes
				 : memory->host_limit_bytes;
	uint64_t peak = memory->host_peak_bytes;

	return output->memory_line &&
	       output->memory_line->class != SIGNATURE_SHM &&
	       names_the_host(evidence) && ended_by_failing(&evidence->end) &&
	       !memory->has_address_limit && !evidence->end.oom_kills &&
	       !verdict_command_was_killed(evidence) &&
	       peak < limit / FAR_PART && output->asked_bytes < limit - peak;
}

/* No size of it says anything of the memory that is tuned. */
static void rule_other_memory(const struct evidence *evidence,
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

static void rule_out_of_memory_text(const struct evidence *evidence,
				    struct judgement *out)
{
	const struct evidence_output *output = &evidence->output;
	bool ended_well = evidence->end.ended && evidence->end.wait_status == 0;
	const char *caught = ended_well ? ", caught by the command" : "";
	char refusal[WHY_MAX] = "";
	bool is_host;

	if (!output->memory_line || output->text_is_usual ||
	    words_are_unlikely(evidence))
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
static void rule_refused_at_last(const struct evidence *evidence,
				 struct judgement *out)
{
	const struct evidence_end *end = &evidence->end;
	bool hung = end->stopped == STOP_TIMEOUT ||
		    end->stopped == STOP_STARTUP_TIMEOUT;
	bool failed_by_itself = end->ended && end->wait_status != 0;

	if (evidence->gpu.allocations.end == ALLOCATIONS_FATAL &&
	    (failed_by_itself || end->stopped == STOP_SIGNATURE ||
	     end->stopped == STOP_RANK_LOST ||
	     (hung && !went_without(&evidence->memory))))
		say_refused(evidence, "", out);
}

/* It did its steps all the same: with a smaller batch, or without some. */
static void rule_caught_out_of_memory(const struct evidence *evidence,
				      struct judgement *out)
{
	if (verdict_was_refused(&evidence->gpu) &&
	    !went_without(&evidence->memory))
		say_refused(evidence, ", caught by the command", out);
	else if (evidence->memory.ooms)
		verdict_say(out, VERDICT_OOM_DEVICE,
			    "torch raised an out-of-memory error, caught by "
			    "the command");
}

static void rule_kernel_kill(const struct evidence *evidence,
			     struct judgement *out)
{
	if (evidence->end.oom_kills && verdict_command_was_killed(evidence))
		verdict_say(out, VERDICT_OOM_HOST,
			    "the kernel killed it for want of host memory");
}

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

	if (ended_by_failing(end) && progress->steps < progress->steps_asked)
		return false;
	if (rounds >= progress->steps_needed)
		return true;
	if (progress->fits_by_time)
		return !ended_by_failing(end);
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
			    "it made no step, and a smaller size did: fewer "
			    "samples than one batch?");
}

static const char *failure_remark(const struct evidence *evidence)
{
	if (verdict_command_was_killed(evidence))
		return "; one of its processes was killed, not for want of "
		       "memory";
	if (words_are_unlikely(evidence))
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
			    WTERMSIG(status) == SIGKILL
				    ? ", by something other than autofit and "
				      "the kernel's out-of-memory killer"
				    : "");
	else if (end->ended && end->left_behind && status == 0)
		verdict_say(out, VERDICT_FAILED,
			    "it ended before any step and left processes "
			    "running: start the training in the foreground");
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
		rule_keeper_lost,   rule_not_started,
		rule_disturbed,     rule_stopped_over_limit,
		rule_other_memory,  rule_out_of_memory_text,
		rule_kernel_kill,   rule_refused_at_last,
		rule_over_limit,    rule_scratch_full,
		rule_stopped_early, rule_too_few_samples,
		rule_failed,        rule_unseen_rank,
		rule_unused_device, rule_caught_out_of_memory,
		rule_thrashing,     rule_fits,
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
