/* The verdict from the evidence, row by row. */
/* SPDX-License-Identifier: MIT */
/* USES probes */
#include "probes/verdict.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define EXITED(code) ((code) << 8)
#define MIB (UINT64_C(1) << 20)

static char text[] = "t";
static const struct signature gpu = { text, SIGNATURE_GPU, NULL, NULL };
static const struct signature host = { text, SIGNATURE_HOST, NULL, NULL };
static const struct signature shm = { text, SIGNATURE_SHM, NULL, NULL };
static const struct signature either = { text, SIGNATURE_AMBIGUOUS, NULL,
					 NULL };
static const struct signature killed = { text, SIGNATURE_KILLED, NULL, NULL };
static const struct signature big = { text, SIGNATURE_TOO_BIG, NULL, NULL };

static const struct {
	const char *name;
	enum verdict verdict;
	struct evidence evidence;
} rows[] = {
	{ "steps done, stopped by autofit",
	  VERDICT_FITS,
	  { .stopped = STOP_ENOUGH, .steps = 3, .steps_needed = 3 } },
	{ "ended with 0 before its steps",
	  VERDICT_FITS,
	  { .ended = true, .steps = 1, .steps_needed = 3 } },
	{ "non-zero exit after enough steps",
	  VERDICT_FITS,
	  { .ended = true,
	    .wait_status = EXITED(1),
	    .steps = 5,
	    .steps_needed = 3 } },
	{ "non-zero exit before them",
	  VERDICT_FAILED,
	  { .ended = true,
	    .wait_status = EXITED(1),
	    .steps = 2,
	    .steps_needed = 3 } },
	{ "exit 2 of argparse",
	  VERDICT_FAILED,
	  { .ended = true, .wait_status = EXITED(2), .steps_needed = 3 } },
	{ "a crash",
	  VERDICT_FAILED,
	  { .ended = true, .wait_status = SIGSEGV, .steps_needed = 3 } },
	{ "SIGKILL from elsewhere",
	  VERDICT_FAILED,
	  { .ended = true, .wait_status = SIGKILL, .steps_needed = 3 } },
	{ "SIGKILL and the kernel's count rose",
	  VERDICT_OOM_HOST,
	  { .ended = true,
	    .wait_status = SIGKILL,
	    .oom_kills = 1,
	    .steps_needed = 3 } },
	{ "the count rose for a neighbour",
	  VERDICT_FITS,
	  { .stopped = STOP_ENOUGH,
	    .oom_kills = 1,
	    .steps = 3,
	    .steps_needed = 3 } },
	{ "torchrun reports SIGKILL of a worker",
	  VERDICT_FAILED,
	  { .ended = true,
	    .wait_status = EXITED(1),
	    .killed_line = &killed,
	    .foreign_kills = 0,
	    .steps_needed = 3 } },
	{ "the same, and the kernel killed",
	  VERDICT_OOM_HOST,
	  { .ended = true,
	    .wait_status = EXITED(1),
	    .killed_line = &killed,
	    .oom_kills = 1,
	    .steps_needed = 3 } },
	{ "out of device memory",
	  VERDICT_OOM_DEVICE,
	  { .device = PROBE_CUDA,
	    .ended = true,
	    .wait_status = EXITED(1),
	    .memory_line = &gpu,
	    .steps_needed = 3 } },
	{ "caught, exit 0",
	  VERDICT_OOM_DEVICE,
	  { .device = PROBE_CUDA,
	    .ended = true,
	    .memory_line = &gpu,
	    .steps = 9,
	    .steps_needed = 3 } },
	{ "out of host memory",
	  VERDICT_OOM_HOST,
	  { .ended = true,
	    .wait_status = EXITED(1),
	    .memory_line = &host,
	    .steps_needed = 3 } },
	{ "/dev/shm",
	  VERDICT_OOM_HOST,
	  { .ended = true,
	    .wait_status = EXITED(1),
	    .memory_line = &shm,
	    .steps_needed = 3 } },
	{ "either, on the host",
	  VERDICT_OOM_HOST,
	  { .ended = true, .memory_line = &either, .steps_needed = 3 } },
	{ "either, on a GPU",
	  VERDICT_OOM_DEVICE,
	  { .device = PROBE_CUDA,
	    .ended = true,
	    .memory_line = &either,
	    .steps_needed = 3 } },
	{ "stopped over the limit",
	  VERDICT_OVER_BUDGET,
	  { .stopped = STOP_OVER_LIMIT,
	    .peak_bytes = 11,
	    .limit_bytes = 10,
	    .steps_needed = 3 } },
	{ "over the limit, seen only at the end",
	  VERDICT_OVER_BUDGET,
	  { .ended = true,
	    .peak_bytes = 11,
	    .limit_bytes = 10,
	    .steps = 3,
	    .steps_needed = 3 } },
	{ "exactly at the limit",
	  VERDICT_FITS,
	  { .stopped = STOP_ENOUGH,
	    .peak_bytes = 10,
	    .limit_bytes = 10,
	    .steps = 3,
	    .steps_needed = 3 } },
	{ "host memory of a GPU training",
	  VERDICT_OVER_BUDGET,
	  { .device = PROBE_CUDA,
	    .device_used = true,
	    .stopped = STOP_OVER_HOST_LIMIT,
	    .host_peak_bytes = 11,
	    .host_limit_bytes = 10,
	    .steps_needed = 3 } },
	{ "a limit that is not memory",
	  VERDICT_TOO_BIG,
	  { .ended = true,
	    .wait_status = EXITED(1),
	    .too_big_line = &big,
	    .steps_needed = 3 } },
	{ "its text in a run that did its steps",
	  VERDICT_FITS,
	  { .stopped = STOP_ENOUGH,
	    .too_big_line = &big,
	    .steps = 3,
	    .steps_needed = 3 } },
	{ "no sign of life",
	  VERDICT_TIMEOUT,
	  { .stopped = STOP_STARTUP_TIMEOUT, .steps_needed = 3 } },
	{ "too slow",
	  VERDICT_TIMEOUT,
	  { .stopped = STOP_TIMEOUT, .steps = 1, .steps_needed = 3 } },
	{ "cancelled",
	  VERDICT_DISTURBED,
	  { .stopped = STOP_CANCELLED, .steps = 9, .steps_needed = 3 } },
	{ "it went to the background",
	  VERDICT_FAILED,
	  { .ended = true, .left_behind = true, .steps_needed = 3 } },
	{ "it left a helper behind, after its steps",
	  VERDICT_FITS,
	  { .ended = true,
	    .left_behind = true,
	    .steps = 3,
	    .steps_needed = 3 } },
	{ "cancelled while it was being confirmed",
	  VERDICT_FITS,
	  { .stopped = STOP_CANCELLED,
	    .decided = true,
	    .steps = 9,
	    .steps_needed = 3 } },
	{ "cancelled while it was being confirmed, over the limit",
	  VERDICT_OVER_BUDGET,
	  { .stopped = STOP_CANCELLED,
	    .decided = true,
	    .peak_bytes = 2 * MIB,
	    .limit_bytes = MIB,
	    .steps = 9,
	    .steps_needed = 3 } },
	{ "the keeper was killed",
	  VERDICT_DISTURBED,
	  { .keeper_lost = true, .steps = 9, .steps_needed = 3 } },
	{ "not started",
	  VERDICT_FAILED,
	  { .exec_errno = ENOENT, .steps_needed = 3 } },
	{ "a GPU probe that used no GPU",
	  VERDICT_FAILED,
	  { .device = PROBE_CUDA,
	    .stopped = STOP_ENOUGH,
	    .steps = 3,
	    .steps_needed = 3 } },
	{ "swapped",
	  VERDICT_THRASHES,
	  { .stopped = STOP_ENOUGH,
	    .swap_bytes = 100 * MIB,
	    .steps = 3,
	    .steps_needed = 3 } },
	{ "retries while warming up",
	  VERDICT_FITS_BARELY,
	  { .device = PROBE_CUDA,
	    .device_used = true,
	    .stopped = STOP_ENOUGH,
	    .retries_warm_up = 2,
	    .steps = 3,
	    .steps_needed = 3 } },
	{ "retries all along",
	  VERDICT_THRASHES,
	  { .device = PROBE_CUDA,
	    .device_used = true,
	    .stopped = STOP_ENOUGH,
	    .retries_warm_up = 2,
	    .retries_later = 5,
	    .steps = 3,
	    .steps_needed = 3 } },
	{ "a neighbour came",
	  VERDICT_DISTURBED,
	  { .device = PROBE_CUDA,
	    .device_used = true,
	    .stopped = STOP_NEIGHBOUR,
	    .neighbour_moved = "another process came onto the GPU: pid 4242",
	    .steps = 1,
	    .steps_needed = 3 } },
	{ "a neighbour came while it was being confirmed",
	  VERDICT_DISTURBED,
	  { .device = PROBE_CUDA,
	    .device_used = true,
	    .stopped = STOP_NEIGHBOUR,
	    .neighbour_moved = "another process came onto the GPU: pid 4242",
	    .decided = true,
	    .steps = 9,
	    .steps_needed = 3 } },
	{ "it ran out of memory beside a neighbour",
	  VERDICT_DISTURBED,
	  { .device = PROBE_CUDA,
	    .device_used = true,
	    .ended = true,
	    .wait_status = EXITED(1),
	    .neighbour_moved = "another process came onto the GPU: pid 4242",
	    .memory_line = &gpu,
	    .steps_needed = 3 } },
	{ "over the limit beside a neighbour",
	  VERDICT_DISTURBED,
	  { .device = PROBE_CUDA,
	    .device_used = true,
	    .stopped = STOP_NEIGHBOUR,
	    .neighbour_moved = "another process came onto the GPU: pid 4242",
	    .peak_bytes = 11,
	    .limit_bytes = 10,
	    .steps_needed = 3 } },
	{ "the machine's memory was taken",
	  VERDICT_DISTURBED,
	  { .stopped = STOP_MEMORY_TAKEN,
	    .decided = true,
	    .steps = 9,
	    .steps_needed = 3 } },
	{ "the machine's memory was taken, and it said so",
	  VERDICT_DISTURBED,
	  { .stopped = STOP_MEMORY_TAKEN,
	    .memory_line = &host,
	    .steps_needed = 3 } },
	{ "scratch is full",
	  VERDICT_FAILED,
	  { .stopped = STOP_SCRATCH_FULL,
	    .scratch_full = "/scratch",
	    .decided = true,
	    .steps = 9,
	    .steps_needed = 3 } },
	{ "it failed, and scratch is full",
	  VERDICT_FAILED,
	  { .ended = true,
	    .wait_status = EXITED(1),
	    .scratch_full = "/scratch",
	    .steps_needed = 3 } },
	{ "scratch was full only at its end",
	  VERDICT_FITS,
	  { .ended = true,
	    .scratch_full = "/scratch",
	    .steps = 3,
	    .steps_needed = 3 } },
	{ "scratch full, but out of memory by its own words",
	  VERDICT_OOM_DEVICE,
	  { .device = PROBE_CUDA,
	    .device_used = true,
	    .ended = true,
	    .wait_status = EXITED(1),
	    .scratch_full = "/scratch",
	    .memory_line = &gpu,
	    .steps_needed = 3 } },
	{ "by time",
	  VERDICT_FITS,
	  { .stopped = STOP_ENOUGH, .fits_by_time = true, .steps_needed = 3 } },
};

static void every_row_is_judged(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct judgement judgement = verdict_judge(&rows[i].evidence);

		if (judgement.verdict != rows[i].verdict)
			fail_msg("%s: %s (%s), not %s", rows[i].name,
				 verdict_name(judgement.verdict), judgement.why,
				 verdict_name(rows[i].verdict));
		if (!judgement.why[0])
			fail_msg("%s: no reason given", rows[i].name);
	}
}

/* A failure without evidence is never called out of memory. */
static void no_memory_without_evidence(void **state)
{
	(void)state;
	for (int status = 0; status < 256; status++) {
		const struct evidence evidence = {
			.ended = true,
			.wait_status = EXITED(status),
			.steps_needed = 3,
			.peak_bytes = 5,
			.limit_bytes = 10,
			.killed_line = &killed,
		};
		enum verdict verdict = verdict_judge(&evidence).verdict;

		assert_int_equal(verdict,
				 status ? VERDICT_FAILED : VERDICT_FITS);
	}
}

/* What is in the words is what the user acts on. */
static void reasons_name_what_happened(void **state)
{
	static const struct {
		struct evidence evidence;
		const char *words;
	} reasons[] = {
		{ { .stopped = STOP_NEIGHBOUR,
		    .neighbour_moved = "another process came onto the GPU: "
				       "pid 4242, 3.10 GiB" },
		  "another process came onto the GPU: pid 4242, 3.10 GiB" },
		{ { .stopped = STOP_MEMORY_TAKEN },
		  "another process took the machine's memory" },
		{ { .stopped = STOP_SCRATCH_FULL, .scratch_full = "/a/b" },
		  "the scratch folder's disk is full (/a/b): --scratch DIR "
		  "names another" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(reasons) / sizeof(*reasons); i++)
		assert_string_equal(verdict_judge(&reasons[i].evidence).why,
				    reasons[i].words);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_row_is_judged),
		cmocka_unit_test(no_memory_without_evidence),
		cmocka_unit_test(reasons_name_what_happened),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
