/* Starts the process of the self-test, and looks at it after each step. */
/* SPDX-License-Identifier: MIT */
#include "probes/observers/selftest/selftest.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "probes/channel/channel.h"
#include "probes/observers/gpu/gpu_child.h"
#include "probes/observers/gpu/preload.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* This very program, whatever its file is called by now. */
#define SELFTEST_PROGRAM "/proc/self/exe"
#define SELFTEST_END_MS 1000
#define DESCRIPTOR_TEXT_MAX 16

/* What the child needs for its exec, made before it is there. */
struct selftest_start {
	char ordinal[DESCRIPTOR_TEXT_MAX];
	const char *what;
	struct strlist environment;
};

static void selftest_become(const void *context, int fd)
{
	const struct selftest_start *start = context;
	char descriptor[DESCRIPTOR_TEXT_MAX];
	const char *const words[] = { "autofit",      SELFTEST_WORD, descriptor,
				      start->ordinal, start->what,   NULL };

	(void)snprintf(descriptor, sizeof(descriptor), "%d", fd);
	if (fcntl(fd, F_SETFD, 0) == 0)
		/* execve changes none of the words. */
		(void)execve(SELFTEST_PROGRAM,
			     (char *const *)(const void *)words,
			     start->environment.items);
}

static void selftest_prepare(struct selftest_start *start,
			     const struct selftest_plan *plan,
			     const char *channel)
{
	const char *others = strlist_env_get(plan->environment, "LD_PRELOAD");
	char *libraries = others && *others
				  ? xasprintf("%s:%s", plan->library, others)
				  : xstrdup(plan->library);

	(void)snprintf(start->ordinal, sizeof(start->ordinal), "%d",
		       plan->gpu->index);
	start->what = plan->cap_bytes       ? "cap"
		      : plan->asks_too_much ? "refusal"
					    : "kinds";
	strlist_add_all(&start->environment,
			(const char *const *)plan->environment->items,
			plan->environment->count);
	strlist_env_set(&start->environment, "LD_PRELOAD", libraries);
	strlist_env_set(&start->environment, PRELOAD_PATH_VARIABLE, channel);
	strlist_env_unset(&start->environment, PRELOAD_FD_VARIABLE);
	free(libraries);
}

static void look_at_page(struct selftest_look *look,
			 const struct preload_reading *reading,
			 const struct selftest_plan *plan)
{
	const struct preload_device_reading *device =
		preload_device(reading, plan->gpu->uuid);

	look->is_counted = reading->is_there;
	look->host_peak_bytes = reading->host_peak_bytes;
	look->refused_count = reading->failed_device;
	look->capped_count = reading->capped;
	if (!device)
		return;
	look->device_bytes = device->current_bytes;
	look->managed_peak_bytes = device->managed_peak_bytes;
}

static void look_at_gpu(struct selftest_look *look,
			const struct selftest_plan *plan)
{
	const struct gpu_look *seen;

	if (!plan->nvml || nvml_look(plan->nvml, NULL) < 0)
		return;
	seen = nvml_seen(plan->nvml, plan->gpu->uuid);
	if (!seen || !seen->has_memory ||
	    seen->memory.free_bytes > plan->gpu->total_bytes)
		return;
	look->has_outside = true;
	look->outside_bytes = plan->gpu->total_bytes - seen->memory.free_bytes;
}

/* 1: a step came; 0: the process has ended; negative: it is not waited for. */
static int selftest_take(struct selftest *test, const struct gpu_child *child,
			 const struct selftest_plan *plan, int channel_fd,
			 struct error *err)
{
	const struct gpu_wait wait = { .what = "the NVIDIA driver in the "
					       "self-test",
				       .deadline_ms = plan->deadline_ms,
				       .started_ms = plan->started_ms,
				       .patience = plan->patience };
	struct preload_reading *reading;
	struct selftest_look *look = &test->looks[test->count];
	int result = gpu_child_await(child, &wait, err);

	if (result < 0)
		return result;
	if (test->count == SELFTEST_LOOKS_MAX ||
	    recv(child->fd, &look->step, sizeof(look->step), 0) !=
		    (ssize_t)sizeof(look->step))
		return 0;
	test->count++;
	reading = xcalloc(1, sizeof(*reading));
	preload_read(channel_fd, reading);
	look_at_page(look, reading, plan);
	free(reading);
	look_at_gpu(look, plan);
	return send(child->fd, "", 1, MSG_NOSIGNAL) == 1;
}

/* It ended; by itself, or after what step? */
static int selftest_judge_end(const struct selftest *test,
			      struct gpu_child *child, struct error *err)
{
	const struct selftest_step *last =
		test->count ? &test->looks[test->count - 1].step : NULL;
	int status = 0;

	/* What a driver's own clean-up does concerns no one. */
	if (last && (last->stage == SELFTEST_OVER ||
		     (last->stage <= SELFTEST_CONTEXT && last->answer)))
		return 0;
	if (gpu_child_reap(child, clock_ms() + SELFTEST_END_MS, &status) &&
	    WIFSIGNALED(status))
		return error_set(err, -EIO,
				 "the process that tests the GPU was ended by "
				 "signal %d after %zu of its steps",
				 WTERMSIG(status), test->count);
	return error_set(err, -EIO,
			 "the process that tests the GPU ended after %zu of "
			 "its steps",
			 test->count);
}

static int selftest_watch(struct selftest *test,
			  const struct selftest_plan *plan, const char *channel,
			  int channel_fd, struct error *err)
{
	struct selftest_start start = { .environment = STRLIST_INIT };
	struct gpu_child child = GPU_CHILD_INIT;
	int result;

	selftest_prepare(&start, plan, channel);
	result = gpu_child_start(&child, selftest_become, &start, err);
	if (result == 0)
		do
			result = selftest_take(test, &child, plan, channel_fd,
					       err);
		while (result > 0);
	if (result == 0)
		result = selftest_judge_end(test, &child, err);
	gpu_child_end(&child);
	strlist_release(&start.environment);
	return result;
}

int selftest_run(struct selftest *test, const struct selftest_plan *plan,
		 struct error *err)
{
	const struct preload_target target = {
		.uuid = plan->gpu->uuid,
		.cap_bytes = plan->cap_bytes,
		.baseline_bytes =
			plan->gpu->total_bytes - plan->gpu->free_bytes,
	};
	char *path = xasprintf("%s/channel", plan->folder);
	struct channel channel = { .is_open = false };
	int result = channel_open(&channel, path, err);

	memset(test, 0, sizeof(*test));
	if (result == 0)
		result = preload_page_write(channel.fd, &target, 1, err);
	if (result == 0)
		result = selftest_watch(test, plan, path, channel.fd, err);
	channel_close(&channel);
	free(path);
	return result;
}

const struct selftest_look *selftest_find(const struct selftest *test,
					  enum selftest_stage stage,
					  enum selftest_kind kind)
{
	for (size_t i = 0; i < test->count; i++) {
		const struct selftest_step *step = &test->looks[i].step;

		if (step->stage == stage &&
		    ((stage != SELFTEST_TAKEN && stage != SELFTEST_GIVEN) ||
		     step->kind == kind))
			return &test->looks[i];
	}
	return NULL;
}
