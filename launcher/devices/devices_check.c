/* `autofit devices --check`: looks, tests one GPU, and says what came of it. */
/* SPDX-License-Identifier: MIT */
#include "launcher/devices/devices_check.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/units.h"
#include "configs/files/paths.h"
#include "launcher/devices/devices_check_command.h"
#include "launcher/devices/devices_check_machine.h"
#include "launcher/devices/devices_checked.h"
#include "launcher/options/exitcode.h"
#include "launcher/report/report_answer.h"
#include "launcher/request/end_signals.h"
#include "probes/observers/gpu/gpu_tenants.h"
#include "probes/observers/gpu/preload.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHECK_LIMIT_MS 30000
/* So that a process that stands still costs one step, not all the time. */
#define CHECK_STEP_MS 20000
/* The cap, and what must stay free beside it. */
#define CHECK_FREE_BYTES (CHECK_CAP_BYTES + GIB / 2)

/* Others whose work a full GPU would end. */
static bool has_others(const struct devices_gpu *gpu)
{
	for (int i = 0; i < gpu->process_count; i++)
		if (gpu->processes[i].process.is_compute &&
		    !gpu_tenant_is_server(gpu->processes[i].process.pid))
			return true;
	return false;
}

/* The first GPU on which a GiB more does no harm; else untested says why. */
static void check_choose_gpu(struct devices_checked *checked, bool may_share)
{
	const struct devices *devices = &checked->devices;

	for (size_t i = 0; i < devices->gpu_count; i++) {
		const struct devices_gpu *gpu = &devices->gpus[i];

		/* The library of probes is for NVIDIA's driver. */
		if (gpu->gpu.vendor != GPU_NVIDIA ||
		    gpu->gpu.free_bytes < CHECK_FREE_BYTES ||
		    (has_others(gpu) && !may_share))
			continue;
		checked->tested = i;
		return;
	}
	checked->untested =
		devices->gpu_problem ? xstrdup(devices->gpu_problem)
		: !devices->gpu_count ||
				devices->gpus[0].gpu.vendor != GPU_NVIDIA
			? xstrdup("there is no NVIDIA GPU")
			: xstrdup("no GPU has 1.5 GiB free and nobody else's "
				  "process on it; --shared tests beside "
				  "others");
}

/* A folder of this user's alone, with the library in it. */
static char *make_check_folder(const struct strlist *environment,
			       char **library, struct error *err)
{
	const char *base = strlist_env_get(environment, "TMPDIR");
	char *folder = xasprintf("%s/autofit-check-XXXXXX",
				 base && *base == '/' ? base : "/tmp");

	if (!mkdtemp(folder)) {
		(void)error_set_errno(err, -errno, "cannot make %s", folder);
		free(folder);
		return NULL;
	}
	if (preload_library_write(folder, library, err) < 0) {
		paths_remove_tree(folder);
		free(folder);
		return NULL;
	}
	return folder;
}

static void check_run_one(struct check_run *run,
			  const struct selftest_plan *plan)
{
	(void)selftest_run(&run->test, plan, &run->error);
}

static void check_test_gpu(struct devices_checked *checked,
			   struct selftest_plan *plan)
{
	const struct gpu_device *gpu =
		&checked->devices.gpus[checked->tested].gpu;

	plan->gpu = gpu;
	/* Where the host's memory is the GPU's nobody refuses. */
	plan->asks_too_much = !gpu->is_integrated;
	check_run_one(&checked->kinds, plan);
	plan->cap_bytes = CHECK_CAP_BYTES;
	if (!end_signals_waiting())
		check_run_one(&checked->cap, plan);
}

/* All that needs the folder, which is removed whatever comes. */
static void check_with_library(struct devices_checked *checked,
			       const struct options *options,
			       const struct process_state *state,
			       struct selftest_plan *plan)
{
	struct error err = ERROR_INIT;
	char *library = NULL;
	char *folder;

	end_signals_hold();
	folder = make_check_folder(plan->environment, &library, &err);
	if (folder) {
		plan->folder = folder;
		plan->library = library;
		if (!checked->untested)
			check_test_gpu(checked, plan);
		if (options->command.count && !end_signals_waiting())
			devices_check_command_run(checked, options, state,
						  folder, library);
		paths_remove_tree(folder);
	} else if (!checked->untested) {
		checked->untested = xstrdup(err.message);
	}
	free(library);
	free(folder);
}

static void check_all(struct devices_checked *checked,
		      const struct options *options,
		      const struct strlist *environment,
		      const struct process_state *state)
{
	const struct gpu_patience patience = {
		.interrupted = end_signals_waiting,
		.limit_ms = CHECK_LIMIT_MS,
	};
	struct selftest_plan plan = {
		.deadline_ms = CHECK_STEP_MS,
		.started_ms = clock_ms(),
		.patience = &patience,
		.environment = environment,
	};

	devices_look(&checked->devices, options, environment, &host_roots_here);
	checked->list_seconds = (double)(clock_ms() - plan.started_ms) / 1e3;
	devices_check_machine(checked, environment, &host_roots_here);
	plan.nvml = devices_check_nvml(checked);
	check_choose_gpu(checked, options->probe.shared);
	check_with_library(checked, options, state, &plan);
	nvml_close(plan.nvml);
	checked->seconds = (double)(clock_ms() - plan.started_ms) / 1e3;
}

static int tell_findings(const struct devices_checked *checked,
			 const struct options *options)
{
	struct check_findings *findings = xcalloc(1, sizeof(*findings));
	struct strbuf text = STRBUF_INIT;
	struct strbuf json = STRBUF_INIT;
	int code = EXIT_DONE;
	int told;

	devices_checked_judge(checked, findings);
	devices_checked_text(findings, &text);
	devices_checked_json(checked, findings, &json);
	told = report_answer(options, &text, &json);
	for (size_t i = 0; i < findings->count; i++)
		if (findings->items[i].state == CHECK_BAD)
			code = EXIT_NEEDS_A_LOOK;
	if (checked->untested)
		code = EXIT_AUTOFIT_FAILED;
	strbuf_release(&json);
	strbuf_release(&text);
	check_findings_release(findings);
	free(findings);
	return told == EXIT_DONE ? code : told;
}

int devices_check_command(const struct options *options,
			  const struct strlist *environment,
			  const struct process_state *state)
{
	struct devices_checked *checked = xcalloc(1, sizeof(*checked));
	int number;
	int code = EXIT_AUTOFIT_FAILED;

	check_all(checked, options, environment, state);
	number = end_signals_waiting();
	if (!number)
		code = tell_findings(checked, options);
	devices_release(&checked->devices);
	free(checked->driver_version);
	free(checked->untested);
	free(checked);
	if (number)
		end_signals_die(state, number);
	end_signals_let(state);
	return code;
}
