/* What a self-test of GPUs means: findings from what was seen. Pure. */
/* SPDX-License-Identifier: MIT */
#include "launcher/devices/devices_checked.h"

#include "base/alloc.h"
#include "base/units.h"
#include "probes/observers/gpu/cuda_api.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* Code that the driver loads late, a pool's first piece: no difference. */
#define DRIVER_NOISE_BYTES (32 * MIB)
/* By so much the driver may take more for an array, or a pool at a time. */
#define ROUNDING_BYTES (64 * MIB)
#define CUDA_NOT_SUPPORTED 801

static void check_add(struct check_findings *findings, enum check_state state,
		      const char *name, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

static void check_add(struct check_findings *findings, enum check_state state,
		      const char *name, const char *format, ...)
{
	char *text = NULL;
	va_list arguments;

	if (findings->count == CHECK_FINDINGS_MAX)
		return;
	va_start(arguments, format);
	if (vasprintf(&text, format, arguments) < 0)
		text = NULL;
	va_end(arguments);
	findings->items[findings->count++] =
		(struct check_finding){ state, name,
					text ? text : xstrdup("") };
}

void check_findings_release(struct check_findings *findings)
{
	for (size_t i = 0; i < findings->count; i++)
		free(findings->items[i].text);
	findings->count = 0;
}

/* The look before this one, which is not the first. */
static const struct selftest_look *before_of(const struct selftest *test,
					     const struct selftest_look *look)
{
	return look > test->looks ? look - 1 : look;
}

/* What the library has counted of this kind: peaks where it keeps only those.
 */
static uint64_t counted_of(const struct selftest_look *look,
			   enum selftest_kind kind)
{
	if (kind == SELFTEST_MANAGED)
		return look->managed_peak_bytes;
	if (kind == SELFTEST_HOST)
		return look->host_peak_bytes;
	return look->device_bytes;
}

static bool is_device_memory(enum selftest_kind kind)
{
	return kind != SELFTEST_MANAGED && kind != SELFTEST_HOST;
}

struct check_allocation check_allocation_of(const struct selftest *test,
					    enum selftest_kind kind)
{
	const struct selftest_look *taken =
		selftest_find(test, SELFTEST_TAKEN, kind);
	const struct selftest_look *given =
		selftest_find(test, SELFTEST_GIVEN, kind);
	struct check_allocation found = { .answer = SELFTEST_NO_FUNCTION };
	const struct selftest_look *before;

	if (!taken)
		return found;
	before = before_of(test, taken);
	found.answer = taken->step.answer;
	found.asked_bytes = taken->step.asked_bytes;
	found.is_taken = taken->step.answer == CUDA_API_SUCCESS;
	found.counted_bytes =
		bytes_minus(counted_of(taken, kind), counted_of(before, kind));
	found.has_driver = is_device_memory(kind) && before->step.total_bytes &&
			   taken->step.total_bytes;
	found.driver_bytes =
		bytes_minus(before->step.free_bytes, taken->step.free_bytes);
	found.is_given_back = given && given->step.answer == CUDA_API_SUCCESS &&
			      given->device_bytes <= before->device_bytes;
	return found;
}

uint64_t check_context_bytes(const struct selftest *test)
{
	const struct selftest_look *started =
		selftest_find(test, SELFTEST_STARTED, SELFTEST_LINEAR);
	const struct selftest_look *context =
		selftest_find(test, SELFTEST_CONTEXT, SELFTEST_LINEAR);

	if (!started || !context || !started->has_outside ||
	    !context->has_outside)
		return 0;
	return bytes_minus(context->outside_bytes, started->outside_bytes);
}

static void judge_driver(const struct devices_checked *checked,
			 struct check_findings *findings)
{
	const struct selftest_look *started = selftest_find(
		&checked->kinds.test, SELFTEST_STARTED, SELFTEST_LINEAR);
	const char *module = checked->driver_version;

	if (checked->devices.gpu_problem) {
		check_add(findings, CHECK_BAD, "driver", "%s",
			  checked->devices.gpu_problem);
		return;
	}
	if (!started) {
		check_add(findings, CHECK_NOTE, "driver",
			  "%s; it listed %zu GPUs in %.2f s",
			  module ? module : "version not known",
			  checked->devices.gpu_count, checked->list_seconds);
		return;
	}
	check_add(findings, CHECK_GOOD, "driver",
		  "CUDA %d.%d, kernel module %s; it listed %zu GPU%s in "
		  "%.2f s, and started again in %.2f s",
		  started->step.driver_version / 1000,
		  started->step.driver_version % 1000 / 10,
		  module ? module : "not known", checked->devices.gpu_count,
		  checked->devices.gpu_count == 1 ? "" : "s",
		  checked->list_seconds, (double)started->step.init_us / 1e6);
}

static void judge_nvml(const struct devices_checked *checked,
		       struct check_findings *findings)
{
	if (checked->devices.nvml_problem)
		check_add(findings, CHECK_BAD, "nvml",
			  "%s: other users of a GPU are not seen",
			  checked->devices.nvml_problem);
	else if (checked->nvml.looks)
		check_add(findings, CHECK_GOOD, "nvml",
			  "%zu looks: half of them within %.2f ms, 99 of 100 "
			  "within %.2f ms",
			  checked->nvml.looks,
			  checked->nvml.median_seconds * 1e3,
			  checked->nvml.slow_seconds * 1e3);
	else if (checked->devices.gpu_count)
		check_add(findings, CHECK_BAD, "nvml",
			  "it does not answer: other users of a GPU are not "
			  "seen");
}

static void judge_machine(const struct devices_checked *checked,
			  struct check_findings *findings)
{
	const char *listed = "the kernel's list has the driver's order";

	if (!checked->kernel_count)
		listed = "the kernel has no list of GPUs";
	else if ((size_t)checked->kernel_count != checked->devices.gpu_count)
		listed = "the kernel lists another number of GPUs";
	else if (checked->kernel_order_differs)
		listed = "the kernel's list has another order";
	check_add(findings, CHECK_GOOD, "machine",
		  "%s, %s; CUDA_VISIBLE_DEVICES is %s; %s",
		  checked->is_container ? "a container" : "no container",
		  checked->is_wsl ? "WSL" : "no WSL",
		  checked->devices.visible ? "set" : "not set", listed);
}

static void judge_gpu(const struct devices_gpu *gpu,
		      struct check_findings *findings)
{
	char total[BYTES_TEXT_MAX];
	char free_text[BYTES_TEXT_MAX];
	char reserved[BYTES_TEXT_MAX];
	char users[32] = "users not known";
	const struct gpu_device *device = &gpu->gpu;

	if (gpu->process_count >= 0)
		(void)snprintf(users, sizeof(users), "%d process%s on it",
			       gpu->process_count,
			       gpu->process_count == 1 ? "" : "es");
	check_add(findings, gpu->process_count < 0 ? CHECK_NOTE : CHECK_GOOD,
		  "gpu", "%d: %s%s%s, %s for programs, %s free%s%s%s, %s",
		  device->index, device->name, device->is_mig ? ", MIG" : "",
		  device->is_integrated ? ", the host's memory" : "",
		  bytes_format(total, device->total_bytes),
		  device->free_source == GPU_FREE_UNKNOWN
			  ? "not known what is"
			  : bytes_format(free_text, device->free_bytes),
		  device->free_source == GPU_FREE_DRIVER ? " by the driver"
							 : "",
		  device->reserved_bytes ? ", reserved " : "",
		  device->reserved_bytes
			  ? bytes_format(reserved, device->reserved_bytes)
			  : "",
		  users);
}

/* A run that did not come to its end; true: it did. */
static bool judge_run(const struct check_run *run, const char *name,
		      struct check_findings *findings)
{
	const struct selftest_look *last;

	if (run->error.code) {
		check_add(findings, CHECK_BAD, name, "%s", run->error.message);
		return false;
	}
	if (!run->test.count)
		return false;
	last = &run->test.looks[run->test.count - 1];
	if (last->step.stage == SELFTEST_OVER)
		return true;
	check_add(findings, CHECK_BAD, name,
		  "the driver answers %u where a process wants %s",
		  last->step.answer,
		  last->step.stage == SELFTEST_STARTED ? "to start it"
						       : "a context");
	return false;
}

/* Why it is not as it should be; NULL: it is. */
static const char *fault_of(const struct check_allocation *found,
			    enum selftest_kind kind, bool is_shared)
{
	uint64_t more = kind == SELFTEST_POOL || kind == SELFTEST_ARRAY
				? ROUNDING_BYTES
				: 0;

	if (!found->is_taken)
		return "it was refused";
	if (found->counted_bytes < found->asked_bytes)
		return "less is counted than was asked for";
	if (found->counted_bytes > found->asked_bytes + more)
		return "more is counted than was asked for";
	if (found->has_driver && !is_shared &&
	    bytes_apart(found->driver_bytes, found->counted_bytes) >
		    DRIVER_NOISE_BYTES)
		return "the driver and the library disagree";
	/* A pool keeps what it has for as long as it likes. */
	if (!found->is_given_back && kind != SELFTEST_POOL)
		return "it was not given back";
	return NULL;
}

static void judge_kind(const struct devices_checked *checked,
		       enum selftest_kind kind, struct check_findings *findings)
{
	const struct check_allocation found =
		check_allocation_of(&checked->kinds.test, kind);
	const struct gpu_device *gpu =
		&checked->devices.gpus[checked->tested].gpu;
	const char *fault = fault_of(&found, kind, gpu->is_integrated);
	char asked[BYTES_TEXT_MAX];
	char counted[BYTES_TEXT_MAX];
	char driver[BYTES_TEXT_MAX];

	if (found.answer == SELFTEST_NO_FUNCTION ||
	    found.answer == CUDA_NOT_SUPPORTED) {
		check_add(findings, CHECK_NOTE, "counts",
			  "%s: this driver has none", selftest_kind_name(kind));
		return;
	}
	if (!found.is_taken) {
		check_add(findings, CHECK_BAD, "counts",
			  "%s: %s asked, and the driver answers %u",
			  selftest_kind_name(kind),
			  bytes_format(asked, found.asked_bytes), found.answer);
		return;
	}
	check_add(findings, fault ? CHECK_BAD : CHECK_GOOD, "counts",
		  "%s: %s asked, %s counted%s%s%s%s", selftest_kind_name(kind),
		  bytes_format(asked, found.asked_bytes),
		  found.counted_bytes
			  ? bytes_format(counted, found.counted_bytes)
			  : "nothing",
		  found.has_driver ? ", by the driver " : "",
		  found.has_driver ? bytes_format(driver, found.driver_bytes)
				   : "",
		  fault ? "; " : "", fault ? fault : "");
}

static void judge_refusal(const struct selftest *test,
			  struct check_findings *findings)
{
	const struct selftest_look *look =
		selftest_find(test, SELFTEST_REFUSED, SELFTEST_LINEAR);
	char asked[BYTES_TEXT_MAX];
	uint64_t seen;

	if (!look)
		return;
	(void)bytes_format(asked, look->step.asked_bytes);
	seen = look->refused_count - before_of(test, look)->refused_count;
	if (look->step.answer == CUDA_API_SUCCESS)
		check_add(findings, CHECK_BAD, "refusal",
			  "%s asked at once: granted, so that a full GPU may "
			  "not refuse; give --memory, which is kept",
			  asked);
	else if (look->step.answer != CUDA_API_OUT_OF_MEMORY)
		check_add(findings, CHECK_BAD, "refusal",
			  "%s asked at once: answered %u, not out of memory",
			  asked, look->step.answer);
	else
		check_add(findings, seen == 1 ? CHECK_GOOD : CHECK_BAD,
			  "refusal", "%s asked at once: out of memory, %s",
			  asked, seen == 1 ? "and seen" : "and not seen");
}

/* Why the cap is not kept; NULL: it is. */
static const char *fault_of_cap(const struct devices_checked *checked,
				const struct selftest_look *look,
				uint64_t held_bytes)
{
	uint64_t total = checked->devices.gpus[checked->tested].gpu.total_bytes;

	if (look->step.answer != CUDA_API_OUT_OF_MEMORY)
		return "nothing was refused";
	if (!look->capped_count)
		return "what was refused the library has not refused";
	if (look->step.total_bytes != bytes_min(CHECK_CAP_BYTES, total))
		return "the program sees another size";
	if (held_bytes > CHECK_CAP_BYTES + DRIVER_NOISE_BYTES)
		return "the GPU held more";
	return NULL;
}

static void judge_cap(const struct devices_checked *checked,
		      struct check_findings *findings)
{
	const struct selftest *test = &checked->cap.test;
	const struct selftest_look *look =
		selftest_find(test, SELFTEST_FILLED, SELFTEST_LINEAR);
	const struct selftest_look *start =
		selftest_find(test, SELFTEST_STARTED, SELFTEST_LINEAR);
	char cap[BYTES_TEXT_MAX];
	char granted[BYTES_TEXT_MAX];
	char held[BYTES_TEXT_MAX];
	uint64_t held_bytes = 0;
	const char *fault;

	if (!look || !start)
		return;
	if (look->has_outside && start->has_outside)
		held_bytes =
			bytes_minus(look->outside_bytes, start->outside_bytes);
	fault = fault_of_cap(checked, look, held_bytes);
	check_add(findings, fault ? CHECK_BAD : CHECK_GOOD, "cap",
		  "of %s: %s granted beside a context, then out of memory; the "
		  "GPU held %s%s%s",
		  bytes_format(cap, CHECK_CAP_BYTES),
		  look->step.granted_bytes
			  ? bytes_format(granted, look->step.granted_bytes)
			  : "nothing",
		  held_bytes ? bytes_format(held, held_bytes)
			     : "what nobody "
			       "tells",
		  fault ? "; " : "", fault ? fault : "");
}

/* The library is in a process, or nothing that it says counts. */
static bool judge_library(const struct devices_checked *checked,
			  struct check_findings *findings)
{
	const struct selftest *test = &checked->kinds.test;
	bool is_there = test->count && test->looks[test->count - 1].is_counted;
	uint64_t context = check_context_bytes(test);
	char text[BYTES_TEXT_MAX];

	check_add(findings, is_there ? CHECK_GOOD : CHECK_BAD, "library",
		  is_there ? "it is in a process of GPU %d; a context takes %s "
			     "beside what is counted"
			   : "it is not in a process of GPU %d: LD_PRELOAD or "
			     "AUTOFIT_HOOK are set by others, and a context "
			     "takes %s",
		  checked->devices.gpus[checked->tested].gpu.index,
		  context ? bytes_format(text, context) : "what nobody tells");
	return is_there;
}

static void judge_test(const struct devices_checked *checked,
		       struct check_findings *findings)
{
	if (judge_run(&checked->kinds, "counts", findings) &&
	    judge_library(checked, findings)) {
		for (int kind = 0; kind < SELFTEST_KINDS; kind++)
			judge_kind(checked, (enum selftest_kind)kind, findings);
		judge_refusal(&checked->kinds.test, findings);
	}
	if (judge_run(&checked->cap, "cap", findings))
		judge_cap(checked, findings);
}

/* Why the count is not to be trusted; NULL: it is. */
static const char *fault_of_command(const struct check_command *command)
{
	if (!command->is_counted)
		return "the library was in none of its processes that use a "
		       "GPU";
	if (!command->tracked_bytes)
		return "it took nothing of a GPU";
	if (command->tracked_bytes < command->reserved_bytes)
		return "less was counted than torch reserved";
	return NULL;
}

static void judge_command(const struct check_command *command,
			  struct check_findings *findings)
{
	const char *fault = fault_of_command(command);
	char tracked[BYTES_TEXT_MAX];
	char reserved[BYTES_TEXT_MAX];

	if (!command->is_run)
		return;
	if (command->error.code) {
		check_add(findings, CHECK_BAD, "command", "%s",
			  command->error.message);
		return;
	}
	check_add(findings, fault ? CHECK_BAD : CHECK_GOOD, "command",
		  "exit code %d; %s counted at its peak%s%s; %llu refused%s%s",
		  command->code, bytes_format(tracked, command->tracked_bytes),
		  command->reserved_bytes ? ", torch reserved "
					  : ", torch says nothing",
		  command->reserved_bytes
			  ? bytes_format(reserved, command->reserved_bytes)
			  : "",
		  (unsigned long long)command->refused_count, fault ? "; " : "",
		  fault ? fault : "");
}

void devices_checked_judge(const struct devices_checked *checked,
			   struct check_findings *findings)
{
	judge_driver(checked, findings);
	judge_nvml(checked, findings);
	judge_machine(checked, findings);
	for (size_t i = 0; i < checked->devices.gpu_count; i++)
		judge_gpu(&checked->devices.gpus[i], findings);
	if (checked->untested && !checked->devices.gpu_problem)
		check_add(findings, CHECK_BAD, "tested", "nothing: %s",
			  checked->untested);
	if (!checked->untested)
		judge_test(checked, findings);
	judge_command(&checked->command, findings);
}
