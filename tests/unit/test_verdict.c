/* The verdict from the evidence, row by row. */
/* SPDX-License-Identifier: MIT */
/* USES probes */
#include "probes/verdict/verdict.h"

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
static const struct signature gpu = { text, SIGNATURE_GPU, NULL };
static const struct signature host = { text, SIGNATURE_HOST, NULL };
static const struct signature shm = { text, SIGNATURE_SHM, NULL };
static const struct signature either = { text, SIGNATURE_AMBIGUOUS, NULL };
static const struct signature killed = { text, SIGNATURE_KILLED, NULL };
static const struct signature big = { text, SIGNATURE_TOO_BIG, NULL };
static const struct signature cause = { text, SIGNATURE_CAUSE, NULL };
static const struct signature no_batch = { text, SIGNATURE_NO_BATCH, NULL };

#define GIB (UINT64_C(1) << 30)
#define FINDINGS(end_, ...)                                                    \
	{                                                                      \
		.end = (end_), .rank = -1, __VA_ARGS__                         \
	}
#define FATAL                                                                  \
	FINDINGS(ALLOCATIONS_FATAL, .call = PRELOAD_CALL_LINEAR,               \
		 .asked_bytes = 20 * MIB, .free_bytes = 10 * MIB)
#define SURVIVED                                                               \
	FINDINGS(ALLOCATIONS_SURVIVED, .survived = 1,                          \
		 .call = PRELOAD_CALL_LINEAR, .asked_bytes = 20 * MIB)
#define PINNED(end_) FINDINGS(end_, .is_host = true, .call = PRELOAD_CALL_HOST)
/* A GPU probe whose command ended so, or that autofit stopped. */
#define ON_GPU                                                                 \
	.memory.device = PROBE_CUDA, .gpu.device_used = true,                  \
	.progress.steps_needed = 3
#define EXIT(code) ON_GPU, .end.ended = true, .end.wait_status = EXITED(code)
#define STEPS_DONE ON_GPU, .end.stopped = STOP_ENOUGH, .progress.steps = 3

static const struct {
	const char *name;
	enum verdict verdict;
	struct evidence evidence;
} rows[] = {
	{ "steps done, stopped by autofit",
	  VERDICT_FITS,
	  { .end.stopped = STOP_ENOUGH,
	    .progress.steps = 3,
	    .progress.steps_needed = 3 } },
	{ "ended with 0 before its steps",
	  VERDICT_FITS,
	  { .end.ended = true,
	    .progress.steps = 1,
	    .progress.steps_needed = 3 } },
	{ "non-zero exit after enough steps",
	  VERDICT_FITS,
	  { .end.ended = true,
	    .end.wait_status = EXITED(1),
	    .progress.steps = 5,
	    .progress.steps_needed = 3 } },
	{ "non-zero exit before them",
	  VERDICT_FAILED,
	  { .end.ended = true,
	    .end.wait_status = EXITED(1),
	    .progress.steps = 2,
	    .progress.steps_needed = 3 } },
	{ "exit 2 of argparse",
	  VERDICT_FAILED,
	  { .end.ended = true,
	    .end.wait_status = EXITED(2),
	    .progress.steps_needed = 3 } },
	{ "a crash",
	  VERDICT_FAILED,
	  { .end.ended = true,
	    .end.wait_status = SIGSEGV,
	    .progress.steps_needed = 3 } },
	{ "SIGKILL from elsewhere",
	  VERDICT_FAILED,
	  { .end.ended = true,
	    .end.wait_status = SIGKILL,
	    .progress.steps_needed = 3 } },
	{ "SIGKILL and the kernel's count rose",
	  VERDICT_OOM_HOST,
	  { .end.ended = true,
	    .end.wait_status = SIGKILL,
	    .end.oom_kills = 1,
	    .progress.steps_needed = 3 } },
	{ "the count rose for a neighbour",
	  VERDICT_FITS,
	  { .end.stopped = STOP_ENOUGH,
	    .end.oom_kills = 1,
	    .progress.steps = 3,
	    .progress.steps_needed = 3 } },
	{ "torchrun reports SIGKILL of a worker",
	  VERDICT_FAILED,
	  { .end.ended = true,
	    .end.wait_status = EXITED(1),
	    .output.killed_line = &killed,
	    .end.foreign_kills = 0,
	    .progress.steps_needed = 3 } },
	{ "the same, and the kernel killed",
	  VERDICT_OOM_HOST,
	  { .end.ended = true,
	    .end.wait_status = EXITED(1),
	    .output.killed_line = &killed,
	    .end.oom_kills = 1,
	    .progress.steps_needed = 3 } },
	{ "out of device memory",
	  VERDICT_OOM_DEVICE,
	  { .memory.device = PROBE_CUDA,
	    .end.ended = true,
	    .end.wait_status = EXITED(1),
	    .output.memory_line = &gpu,
	    .progress.steps_needed = 3 } },
	{ "caught, exit 0",
	  VERDICT_OOM_DEVICE,
	  { .memory.device = PROBE_CUDA,
	    .end.ended = true,
	    .output.memory_line = &gpu,
	    .progress.steps = 9,
	    .progress.steps_needed = 3 } },
	{ "out of host memory",
	  VERDICT_OOM_HOST,
	  { .end.ended = true,
	    .end.wait_status = EXITED(1),
	    .output.memory_line = &host,
	    .progress.steps_needed = 3 } },
	{ "/dev/shm",
	  VERDICT_OOM_HOST,
	  { .end.ended = true,
	    .end.wait_status = EXITED(1),
	    .output.memory_line = &shm,
	    .progress.steps_needed = 3 } },
	{ "either, on the host",
	  VERDICT_OOM_HOST,
	  { .end.ended = true,
	    .output.memory_line = &either,
	    .progress.steps_needed = 3 } },
	{ "either, on a GPU",
	  VERDICT_OOM_DEVICE,
	  { .memory.device = PROBE_CUDA,
	    .end.ended = true,
	    .output.memory_line = &either,
	    .progress.steps_needed = 3 } },
	{ "no step, and a smaller size made some",
	  VERDICT_TOO_BIG,
	  { .end.ended = true,
	    .progress.smaller_steps = STEPS_HOOK,
	    .progress.steps_needed = 3 } },
	{ "no step, and no smaller size made any",
	  VERDICT_FITS,
	  { .end.ended = true, .progress.steps_needed = 3 } },
	{ "one step, and a smaller size made some",
	  VERDICT_FITS,
	  { .end.ended = true,
	    .progress.steps = 1,
	    .progress.smaller_steps = STEPS_HOOK,
	    .progress.steps_needed = 3 } },
	{ "no line of a step, as of a smaller size",
	  VERDICT_FITS,
	  { .end.ended = true,
	    .progress.smaller_steps = STEPS_LOG,
	    .progress.steps_needed = 3 } },
	{ "the same, and it says that there are no data",
	  VERDICT_TOO_BIG,
	  { .end.ended = true,
	    .progress.smaller_steps = STEPS_LOG,
	    .output.no_batch_line = &no_batch,
	    .progress.steps_needed = 3 } },
	{ "an error after no data, as a first probe",
	  VERDICT_FAILED,
	  { .end.ended = true,
	    .end.wait_status = EXITED(1),
	    .output.no_batch_line = &no_batch,
	    .progress.steps_needed = 3 } },
	{ "an error after no data, where a smaller size trained",
	  VERDICT_TOO_BIG,
	  { .end.ended = true,
	    .end.wait_status = EXITED(1),
	    .progress.smaller_steps = STEPS_LOG,
	    .output.no_batch_line = &no_batch,
	    .progress.steps_needed = 3 } },
	{ "another error, where a smaller size trained",
	  VERDICT_FAILED,
	  { .end.ended = true,
	    .end.wait_status = EXITED(1),
	    .progress.smaller_steps = STEPS_HOOK,
	    .progress.steps_needed = 3 } },
	{ "the same error after a step",
	  VERDICT_FAILED,
	  { .end.ended = true,
	    .end.wait_status = EXITED(1),
	    .progress.steps = 1,
	    .progress.smaller_steps = STEPS_HOOK,
	    .output.no_batch_line = &no_batch,
	    .progress.steps_needed = 3 } },
	{ "killed after no data",
	  VERDICT_FAILED,
	  { .end.ended = true,
	    .end.wait_status = SIGSEGV,
	    .progress.smaller_steps = STEPS_HOOK,
	    .output.no_batch_line = &no_batch,
	    .progress.steps_needed = 3 } },
	{ "no step, but processes that run on",
	  VERDICT_FAILED,
	  { .end.ended = true,
	    .end.left_behind = true,
	    .progress.smaller_steps = STEPS_HOOK,
	    .progress.steps_needed = 3 } },
	{ "no step by the limit of time",
	  VERDICT_TIMEOUT,
	  { .end.stopped = STOP_TIMEOUT,
	    .progress.smaller_steps = STEPS_HOOK,
	    .progress.steps_needed = 3 } },
	{ "no step for want of memory",
	  VERDICT_OOM_HOST,
	  { .end.ended = true,
	    .end.wait_status = EXITED(1),
	    .output.memory_line = &host,
	    .progress.smaller_steps = STEPS_HOOK,
	    .output.no_batch_line = &no_batch,
	    .progress.steps_needed = 3 } },
	{ "stopped over the limit",
	  VERDICT_OVER_BUDGET,
	  { .end.stopped = STOP_OVER_LIMIT,
	    .memory.peak_bytes = 11,
	    .memory.limit_bytes = 10,
	    .progress.steps_needed = 3 } },
	{ "over the limit, seen only at the end",
	  VERDICT_OVER_BUDGET,
	  { .end.ended = true,
	    .memory.peak_bytes = 11,
	    .memory.limit_bytes = 10,
	    .progress.steps = 3,
	    .progress.steps_needed = 3 } },
	{ "exactly at the limit",
	  VERDICT_FITS,
	  { .end.stopped = STOP_ENOUGH,
	    .memory.peak_bytes = 10,
	    .memory.limit_bytes = 10,
	    .progress.steps = 3,
	    .progress.steps_needed = 3 } },
	{ "host memory of a GPU training",
	  VERDICT_OVER_BUDGET,
	  { .memory.device = PROBE_CUDA,
	    .gpu.device_used = true,
	    .end.stopped = STOP_OVER_HOST_LIMIT,
	    .memory.host_peak_bytes = 11,
	    .memory.host_limit_bytes = 10,
	    .progress.steps_needed = 3 } },
	{ "a limit that is not memory",
	  VERDICT_TOO_BIG,
	  { .end.ended = true,
	    .end.wait_status = EXITED(1),
	    .output.too_big_line = &big,
	    .progress.steps_needed = 3 } },
	{ "its text in a run that did its steps",
	  VERDICT_FITS,
	  { .end.stopped = STOP_ENOUGH,
	    .output.too_big_line = &big,
	    .progress.steps = 3,
	    .progress.steps_needed = 3 } },
	{ "no sign of life",
	  VERDICT_TIMEOUT,
	  { .end.stopped = STOP_STARTUP_TIMEOUT, .progress.steps_needed = 3 } },
	{ "too slow",
	  VERDICT_TIMEOUT,
	  { .end.stopped = STOP_TIMEOUT,
	    .progress.steps = 1,
	    .progress.steps_needed = 3 } },
	{ "cancelled",
	  VERDICT_DISTURBED,
	  { .end.stopped = STOP_CANCELLED,
	    .progress.steps = 9,
	    .progress.steps_needed = 3 } },
	{ "it went to the background",
	  VERDICT_FAILED,
	  { .end.ended = true,
	    .end.left_behind = true,
	    .progress.steps_needed = 3 } },
	{ "it left a helper behind, after its steps",
	  VERDICT_FITS,
	  { .end.ended = true,
	    .end.left_behind = true,
	    .progress.steps = 3,
	    .progress.steps_needed = 3 } },
	{ "cancelled while it was being confirmed",
	  VERDICT_FITS,
	  { .end.stopped = STOP_CANCELLED,
	    .progress.decided = true,
	    .progress.steps = 9,
	    .progress.steps_needed = 3 } },
	{ "cancelled while it was being confirmed, over the limit",
	  VERDICT_OVER_BUDGET,
	  { .end.stopped = STOP_CANCELLED,
	    .progress.decided = true,
	    .memory.peak_bytes = 2 * MIB,
	    .memory.limit_bytes = MIB,
	    .progress.steps = 9,
	    .progress.steps_needed = 3 } },
	{ "the keeper was killed",
	  VERDICT_DISTURBED,
	  { .end.keeper_lost = true,
	    .progress.steps = 9,
	    .progress.steps_needed = 3 } },
	{ "not started",
	  VERDICT_FAILED,
	  { .end.exec_errno = ENOENT, .progress.steps_needed = 3 } },
	{ "a GPU probe that used no GPU",
	  VERDICT_FAILED,
	  { .memory.device = PROBE_CUDA,
	    .end.stopped = STOP_ENOUGH,
	    .progress.steps = 3,
	    .progress.steps_needed = 3 } },
	{ "swapped",
	  VERDICT_THRASHES,
	  { .end.stopped = STOP_ENOUGH,
	    .memory.swap_bytes = 100 * MIB,
	    .progress.steps = 3,
	    .progress.steps_needed = 3 } },
	{ "retries while warming up",
	  VERDICT_FITS_BARELY,
	  { .memory.device = PROBE_CUDA,
	    .gpu.device_used = true,
	    .end.stopped = STOP_ENOUGH,
	    .memory.retries_warm_up = 2,
	    .progress.steps = 3,
	    .progress.steps_needed = 3 } },
	{ "retries all along",
	  VERDICT_THRASHES,
	  { .memory.device = PROBE_CUDA,
	    .gpu.device_used = true,
	    .end.stopped = STOP_ENOUGH,
	    .memory.retries_warm_up = 2,
	    .memory.retries_later = 5,
	    .progress.steps = 3,
	    .progress.steps_needed = 3 } },
	{ "a neighbour came",
	  VERDICT_DISTURBED,
	  { .memory.device = PROBE_CUDA,
	    .gpu.device_used = true,
	    .end.stopped = STOP_NEIGHBOUR,
	    .outside.neighbour_moved =
		    "another process came onto the GPU: pid 4242",
	    .progress.steps = 1,
	    .progress.steps_needed = 3 } },
	{ "a neighbour came while it was being confirmed",
	  VERDICT_DISTURBED,
	  { .memory.device = PROBE_CUDA,
	    .gpu.device_used = true,
	    .end.stopped = STOP_NEIGHBOUR,
	    .outside.neighbour_moved =
		    "another process came onto the GPU: pid 4242",
	    .progress.decided = true,
	    .progress.steps = 9,
	    .progress.steps_needed = 3 } },
	{ "it ran out of memory beside a neighbour",
	  VERDICT_DISTURBED,
	  { .memory.device = PROBE_CUDA,
	    .gpu.device_used = true,
	    .end.ended = true,
	    .end.wait_status = EXITED(1),
	    .outside.neighbour_moved =
		    "another process came onto the GPU: pid 4242",
	    .output.memory_line = &gpu,
	    .progress.steps_needed = 3 } },
	{ "over the limit beside a neighbour",
	  VERDICT_DISTURBED,
	  { .memory.device = PROBE_CUDA,
	    .gpu.device_used = true,
	    .end.stopped = STOP_NEIGHBOUR,
	    .outside.neighbour_moved =
		    "another process came onto the GPU: pid 4242",
	    .memory.peak_bytes = 11,
	    .memory.limit_bytes = 10,
	    .progress.steps_needed = 3 } },
	{ "the machine's memory was taken",
	  VERDICT_DISTURBED,
	  { .end.stopped = STOP_MEMORY_TAKEN,
	    .progress.decided = true,
	    .progress.steps = 9,
	    .progress.steps_needed = 3 } },
	{ "the machine's memory was taken, and it said so",
	  VERDICT_DISTURBED,
	  { .end.stopped = STOP_MEMORY_TAKEN,
	    .output.memory_line = &host,
	    .progress.steps_needed = 3 } },
	{ "scratch is full",
	  VERDICT_FAILED,
	  { .end.stopped = STOP_SCRATCH_FULL,
	    .outside.scratch_full = "/scratch",
	    .progress.decided = true,
	    .progress.steps = 9,
	    .progress.steps_needed = 3 } },
	{ "it failed, and scratch is full",
	  VERDICT_FAILED,
	  { .end.ended = true,
	    .end.wait_status = EXITED(1),
	    .outside.scratch_full = "/scratch",
	    .progress.steps_needed = 3 } },
	{ "scratch was full only at its end",
	  VERDICT_FITS,
	  { .end.ended = true,
	    .outside.scratch_full = "/scratch",
	    .progress.steps = 3,
	    .progress.steps_needed = 3 } },
	{ "scratch full, but out of memory by its own words",
	  VERDICT_OOM_DEVICE,
	  { .memory.device = PROBE_CUDA,
	    .gpu.device_used = true,
	    .end.ended = true,
	    .end.wait_status = EXITED(1),
	    .outside.scratch_full = "/scratch",
	    .output.memory_line = &gpu,
	    .progress.steps_needed = 3 } },
	{ "refused, and it failed without a word",
	  VERDICT_OOM_DEVICE,
	  { EXIT(1), .gpu.allocations = FATAL } },
	{ "refused, and it aborted",
	  VERDICT_OOM_DEVICE,
	  { ON_GPU, .end.ended = true, .end.wait_status = SIGABRT,
	    .gpu.allocations = FATAL } },
	{ "refused in its evaluation, after its steps",
	  VERDICT_OOM_DEVICE,
	  { EXIT(1), .progress.steps = 9, .gpu.allocations = FATAL } },
	{ "refused, and a cause that is often memory",
	  VERDICT_OOM_DEVICE,
	  { EXIT(1), .output.cause_line = &cause, .gpu.allocations = FATAL } },
	{ "pinned memory was refused, and it failed",
	  VERDICT_OOM_HOST,
	  { EXIT(1), .gpu.allocations = PINNED(ALLOCATIONS_FATAL) } },
	{ "refused, and the other ranks waited until the time was over",
	  VERDICT_OOM_DEVICE,
	  { ON_GPU, .end.stopped = STOP_TIMEOUT, .gpu.allocations = FATAL } },
	{ "a library's own try, then it was too slow",
	  VERDICT_TIMEOUT,
	  { ON_GPU, .end.stopped = STOP_TIMEOUT, .gpu.allocations = FATAL,
	    .memory.counts_ooms = true } },
	{ "granted in the end, and it failed",
	  VERDICT_FAILED,
	  { EXIT(1),
	    .gpu.allocations = FINDINGS(ALLOCATIONS_RETRIED, .retries = 4) } },
	{ "survived, and it failed of something else",
	  VERDICT_FAILED,
	  { EXIT(1), .gpu.allocations = SURVIVED } },
	{ "survived, torch raised it, and it failed of something else",
	  VERDICT_FAILED,
	  { EXIT(1), .gpu.allocations = SURVIVED, .memory.counts_ooms = true,
	    .memory.ooms = 1 } },
	{ "device lost",
	  VERDICT_FAILED,
	  { ON_GPU, .end.ended = true, .end.wait_status = SIGABRT,
	    .output.cause_line = &cause } },
	{ "survived, without torch: caught",
	  VERDICT_OOM_DEVICE,
	  { STEPS_DONE, .gpu.allocations = SURVIVED } },
	{ "survived, without torch, exit 0: caught",
	  VERDICT_OOM_DEVICE,
	  { EXIT(0), .gpu.allocations = SURVIVED } },
	{ "torch raised it, and the script went on",
	  VERDICT_OOM_DEVICE,
	  { STEPS_DONE, .gpu.allocations = SURVIVED, .memory.counts_ooms = true,
	    .memory.ooms = 1 } },
	{ "torch raised it, seen in Python alone",
	  VERDICT_OOM_DEVICE,
	  { STEPS_DONE, .memory.counts_ooms = true, .memory.ooms = 2 } },
	{ "pinned memory, caught",
	  VERDICT_OOM_HOST,
	  { STEPS_DONE, .gpu.allocations = PINNED(ALLOCATIONS_SURVIVED) } },
	{ "a worker ran out and the rest did its steps",
	  VERDICT_OOM_DEVICE,
	  { STEPS_DONE, .gpu.allocations = FATAL } },
	{ "caught, and after its steps it failed of something else",
	  VERDICT_OOM_DEVICE,
	  { EXIT(1), .progress.steps = 9, .gpu.allocations = SURVIVED } },
	{ "cuDNN tried and did without",
	  VERDICT_FITS_BARELY,
	  { STEPS_DONE, .gpu.allocations = SURVIVED,
	    .memory.counts_ooms = true } },
	{ "cuDNN tried while warming up, and was granted later",
	  VERDICT_FITS_BARELY,
	  { STEPS_DONE, .gpu.allocations = SURVIVED, .memory.counts_ooms = true,
	    .memory.retries_warm_up = 1 } },
	{ "cuDNN tries all along",
	  VERDICT_THRASHES,
	  { STEPS_DONE, .gpu.allocations = SURVIVED, .memory.counts_ooms = true,
	    .memory.retries_later = 3 } },
	{ "words that it prints at every size",
	  VERDICT_FITS,
	  { STEPS_DONE, .output.memory_line = &gpu,
	    .output.text_is_usual = true } },
	{ "words that it prints at every size, and exit 0",
	  VERDICT_FITS,
	  { EXIT(0), .output.memory_line = &gpu,
	    .output.text_is_usual = true } },
	{ "words that it prints at every size, and refusals bear them out",
	  VERDICT_OOM_DEVICE,
	  { STEPS_DONE, .output.memory_line = &gpu,
	    .output.text_is_usual = true, .gpu.allocations = SURVIVED } },
	{ "words that it prints at every size, and torch raised them",
	  VERDICT_OOM_DEVICE,
	  { STEPS_DONE, .output.memory_line = &gpu,
	    .output.text_is_usual = true, .gpu.allocations = SURVIVED,
	    .memory.counts_ooms = true, .memory.ooms = 1 } },
	{ "words that it prints at every size, refused, and then a hang",
	  VERDICT_OOM_DEVICE,
	  { .end.stopped = STOP_TIMEOUT,
	    .output.memory_line = &gpu,
	    .output.text_is_usual = true,
	    .gpu.allocations = FATAL } },
	{ "words that it prints at every size, and this time the end",
	  VERDICT_OOM_DEVICE,
	  { EXIT(1), .output.memory_line = &gpu, .output.text_is_usual = true,
	    .gpu.allocations = FATAL } },
	{ "words that it prints at every size, and a crash",
	  VERDICT_FAILED,
	  { EXIT(1), .output.memory_line = &gpu,
	    .output.text_is_usual = true } },
	{ "either, and it was the host's that was refused",
	  VERDICT_OOM_HOST,
	  { EXIT(1), .output.memory_line = &either,
	    .gpu.allocations = PINNED(ALLOCATIONS_FATAL) } },
	{ "either, and it was the device's, on the host",
	  VERDICT_OOM_DEVICE,
	  { .end.ended = true,
	    .end.wait_status = EXITED(1),
	    .progress.steps_needed = 3,
	    .output.memory_line = &either,
	    .gpu.allocations = FATAL } },
	{ "either, and all was granted in the end",
	  VERDICT_OOM_DEVICE,
	  { EXIT(1), .output.memory_line = &either,
	    .gpu.allocations = FINDINGS(ALLOCATIONS_RETRIED, .retries = 1) } },
	{ "words of the host outweigh what the driver refused",
	  VERDICT_OOM_HOST,
	  { EXIT(1), .output.memory_line = &host, .gpu.allocations = FATAL } },
	{ "the kernel killed it, whatever was refused",
	  VERDICT_OOM_HOST,
	  { ON_GPU, .end.ended = true, .end.wait_status = SIGKILL,
	    .end.oom_kills = 1, .gpu.allocations = FATAL } },
	{ "more managed memory than the device has",
	  VERDICT_THRASHES,
	  { STEPS_DONE, .gpu.managed_peak_bytes = 9 * GIB,
	    .memory.limit_bytes = 8 * GIB } },
	{ "managed memory that fits",
	  VERDICT_FITS,
	  { STEPS_DONE, .gpu.managed_peak_bytes = 8 * GIB,
	    .memory.limit_bytes = 8 * GIB } },
	{ "managed memory, no limit known",
	  VERDICT_FITS,
	  { STEPS_DONE, .gpu.managed_peak_bytes = 9 * GIB } },
	{ "a container used the GPU in its place",
	  VERDICT_FAILED,
	  { .memory.device = PROBE_CUDA,
	    .gpu.used_elsewhere = true,
	    .end.stopped = STOP_ENOUGH,
	    .progress.steps = 3,
	    .progress.steps_needed = 3 } },
	{ "refused beside a neighbour",
	  VERDICT_DISTURBED,
	  { EXIT(1),
	    .outside.neighbour_moved =
		    "another process came onto the GPU: pid 4242",
	    .gpu.allocations = FATAL } },
	{ "refused, and over the limit before: its own end says more",
	  VERDICT_OOM_DEVICE,
	  { EXIT(1), .memory.peak_bytes = 11, .memory.limit_bytes = 10,
	    .gpu.allocations = FATAL } },
	{ "a pool of its own",
	  VERDICT_FITS,
	  { STEPS_DONE, .gpu.is_pool = true } },
	{ "too slow from the start",
	  VERDICT_TIMEOUT,
	  { .end.stopped = STOP_TIMEOUT, .progress.steps_needed = 3 } },
	{ "a grid that no GPU has, by a signal",
	  VERDICT_TOO_BIG,
	  { ON_GPU, .end.ended = true, .end.wait_status = SIGABRT,
	    .output.too_big_line = &big } },
	{ "an index too large, and it went to the background",
	  VERDICT_TOO_BIG,
	  { ON_GPU, .end.ended = true, .end.left_behind = true,
	    .output.too_big_line = &big } },
	{ "by time",
	  VERDICT_FITS,
	  { .end.stopped = STOP_ENOUGH,
	    .progress.fits_by_time = true,
	    .progress.steps_needed = 3 } },
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

/* Of static rows: between the members is nothing but zeros. */
static bool is_same(const struct evidence *a, const struct evidence *b)
{
	/* NOLINTNEXTLINE(bugprone-suspicious-memory-comparison) */
	return memcmp(a, b, sizeof(*a)) == 0;
}

/* One cause would be a rule that nothing else can reach. */
static void every_verdict_has_three_causes(void **state)
{
	size_t causes[VERDICT_DISTURBED + 1] = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		causes[rows[i].verdict]++;
		for (size_t j = 0; j < i; j++)
			if (is_same(&rows[i].evidence, &rows[j].evidence))
				fail_msg("%s is %s", rows[i].name,
					 rows[j].name);
	}
	for (size_t i = VERDICT_FITS; i <= VERDICT_DISTURBED; i++)
		if (causes[i] < 3)
			fail_msg("%s has %zu causes",
				 verdict_name((enum verdict)i), causes[i]);
}

static const struct {
	const char *name;
	struct evidence evidence;
	int rank;
} ranks[] = {
	{ "refused",
	  { EXIT(1),
	    .gpu.allocations = { .end = ALLOCATIONS_FATAL, .rank = 3 } },
	  3 },
	{ "refused, by words too",
	  { EXIT(1), .output.memory_line = &gpu,
	    .gpu.allocations = { .end = ALLOCATIONS_FATAL, .rank = 0 } },
	  0 },
	{ "words alone", { EXIT(1), .output.memory_line = &gpu }, -1 },
	{ "rank not known", { EXIT(1), .gpu.allocations = FATAL }, -1 },
	{ "no findings, all bytes 0", { STEPS_DONE }, -1 },
	{ "survived, and failed of something else",
	  { EXIT(1),
	    .gpu.allocations = { .end = ALLOCATIONS_SURVIVED, .rank = 3 } },
	  -1 },
};

static void the_first_rank_is_named(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(ranks) / sizeof(*ranks); i++)
		if (verdict_judge(&ranks[i].evidence).rank != ranks[i].rank)
			fail_msg("%s: rank %d", ranks[i].name,
				 verdict_judge(&ranks[i].evidence).rank);
}

/* A failure without evidence is never called out of memory. */
static void no_memory_without_evidence(void **state)
{
	(void)state;
	for (int status = 0; status < 256; status++) {
		const struct evidence evidence = {
			.end.ended = true,
			.end.wait_status = EXITED(status),
			.progress.steps_needed = 3,
			.memory.peak_bytes = 5,
			.memory.limit_bytes = 10,
			.output.killed_line = &killed,
		};
		enum verdict verdict = verdict_judge(&evidence).verdict;

		assert_int_equal(verdict,
				 status ? VERDICT_FAILED : VERDICT_FITS);
	}
}

static const struct {
	struct evidence evidence;
	const char *words;
} reasons[] = {
	{ { .end.stopped = STOP_NEIGHBOUR,
	    .outside.neighbour_moved = "another process came onto the GPU: "
				       "pid 4242, 3.10 GiB" },
	  "another process came onto the GPU: pid 4242, 3.10 GiB" },
	{ { .end.stopped = STOP_MEMORY_TAKEN },
	  "another process took the machine's memory" },
	{ { .end.stopped = STOP_SCRATCH_FULL, .outside.scratch_full = "/a/b" },
	  "the scratch folder's disk is full (/a/b): --scratch DIR "
	  "names another" },
	{ { EXIT(1), .gpu.allocations = { .end = ALLOCATIONS_FATAL,
					  .rank = 3,
					  .call = PRELOAD_CALL_LINEAR,
					  .asked_bytes = 20 * MIB,
					  .free_bytes = 5 * MIB } },
	  "the driver refused 20.0 MiB (5.00 MiB free) in cuMemAlloc, "
	  "rank 3" },
	{ { EXIT(1), .gpu.allocations = FINDINGS(ALLOCATIONS_FATAL,
						 .call = PRELOAD_CALL_LAUNCH) },
	  "the driver refused memory in cuLaunchKernel" },
	{ { EXIT(1), .gpu.allocations =
			     FINDINGS(ALLOCATIONS_FATAL, .is_host = true,
				      .call = PRELOAD_CALL_HOST,
				      .asked_bytes = GIB, .free_bytes = GIB) },
	  "the driver refused 1.00 GiB on the host in "
	  "cuMemHostAlloc" },
	{ { STEPS_DONE, .gpu.allocations = SURVIVED },
	  "the driver refused 20.0 MiB in cuMemAlloc, caught by the "
	  "command" },
	{ { ON_GPU, .end.stopped = STOP_TIMEOUT, .gpu.allocations = FATAL },
	  "the driver refused 20.0 MiB (10.0 MiB free) in cuMemAlloc" },
	{ { EXIT(1), .output.memory_line = &gpu, .gpu.allocations = FATAL },
	  "out of device memory: the driver refused 20.0 MiB (10.0 MiB "
	  "free) in cuMemAlloc" },
	{ { EXIT(0), .output.memory_line = &gpu },
	  "out of device memory, "
	  "caught by the command" },
	{ { EXIT(1), .output.memory_line = &host, .gpu.allocations = FATAL },
	  "out of host memory" },
	{ { EXIT(1), .gpu.allocations =
			     FINDINGS(ALLOCATIONS_FATAL, .is_fragmented = true,
				      .asked_bytes = 20 * MIB,
				      .free_bytes = 2458 * MIB) },
	  "memory is fragmented: 2.40 GiB free, 20.0 MiB asked; try "
	  "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True" },
	{ { EXIT(0), .output.memory_line = &gpu,
	    .output.text_is_fragmented = true },
	  "memory is fragmented: more was free than it asked for, "
	  "caught by the command; try "
	  "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True" },
	{ { EXIT(1), .output.memory_line = &gpu, .output.text_is_usual = true,
	    .output.text_is_fragmented = true, .gpu.allocations = FATAL },
	  "the driver refused 20.0 MiB (10.0 MiB free) in cuMemAlloc" },
	{ { EXIT(1), .output.memory_line = &host,
	    .output.text_is_fragmented = true },
	  "out of host memory" },
	{ { STEPS_DONE, .gpu.managed_peak_bytes = 9 * GIB,
	    .memory.limit_bytes = 8 * GIB },
	  "managed memory of 9.00 GiB is more than the device's 8.00 "
	  "GiB" },
	{ { .memory.device = PROBE_CUDA,
	    .gpu.used_elsewhere = true,
	    .end.stopped = STOP_ENOUGH },
	  "something outside the command's processes used the GPU "
	  "meanwhile (a container, ssh?): put autofit inside it; for a "
	  "training on the CPU: --device host" },
	{ { STEPS_DONE, .gpu.is_pool = true },
	  "3 steps; it keeps a pool of memory, so that its peak is not "
	  "known" },
	{ { STEPS_DONE, .memory.counts_ooms = true, .memory.ooms = 1 },
	  "torch raised an out-of-memory error, caught by the "
	  "command" },
};

/* What is in the words is what the user acts on. */
static void reasons_name_what_happened(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(reasons) / sizeof(*reasons); i++)
		assert_string_equal(verdict_judge(&reasons[i].evidence).why,
				    reasons[i].words);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_row_is_judged),
		cmocka_unit_test(every_verdict_has_three_causes),
		cmocka_unit_test(the_first_rank_is_named),
		cmocka_unit_test(no_memory_without_evidence),
		cmocka_unit_test(reasons_name_what_happened),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
