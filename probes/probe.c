/* One short run of the real command, from fork to verdict. */
/* SPDX-License-Identifier: MIT */
#include "probes/probe.h"

#include "probes/channel/modules.h"
#include "probes/probe_internal.h"

#include "base/alloc.h"
#include "base/log.h"
#include "base/units.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define FREEZE_WAIT_MS 2000
#define SHORT_LIFE_MS 400
#define LAST_TURNS_MAX 8
#define CONFIRM_TIME_FACTOR 4
#define GPU_DRAIN_MS 2000
#define GPU_DRAIN_NOISE_BYTES (64 * MIB)

static void order_end(struct probe *probe, enum stop_reason reason)
{
	bool gently = reason == STOP_ENOUGH || reason == STOP_SIGNATURE ||
		      reason == STOP_TIMEOUT || reason == STOP_STARTUP_TIMEOUT;

	if (probe->evidence.end.stopped == STOP_NONE &&
	    !probe->evidence.end.ended) {
		probe_watch_preload(probe);
		probe->evidence.end.stopped = reason;
	}
	keeper_order(&probe->keeper, gently ? KEEPER_STOP : KEEPER_KILL,
		     probe->spec.grace_ms);
	probe->state = PROBE_RUNNING;
}

static bool is_stopping(const struct probe *probe)
{
	return probe->evidence.end.stopped != STOP_NONE ||
	       probe->evidence.end.ended;
}

static bool confirmation_is_done(const struct probe *probe,
				 const struct lifecycle_facts *facts)
{
	const struct probe_confirmation *wanted = &probe->confirmation;
	int64_t third = probe->peaks.steps >= 3 ? probe->peaks.ms[2] : 0;
	/* Data that vary are watched for twice as long. */
	int64_t factor =
		step_peaks_are_varying(&probe->peaks, probe_noise(probe)) ? 2
									  : 1;

	if (probe->by_time || facts->steps >= wanted->steps * factor)
		return true;
	return facts->steps >= wanted->steps_min &&
	       facts->now_ms - third >= wanted->ms * factor;
}

/* Which device decides, and how many steps, is known only on the way. */
static void update_limits(struct probe *probe)
{
	const struct probe_spec *spec = &probe->spec;
	bool is_cuda = probe_is_cuda(probe);

	probe->limits.limit_bytes =
		is_cuda ? spec->limit_bytes : spec->host_limit_bytes;
	probe->limits.noise = *probe_noise(probe);
	if (probe->reading.flags & CHANNEL_COMPILED)
		probe->limits.steps_needed = spec->steps_needed_compiled;
}

static void judge(struct probe *probe)
{
	struct lifecycle_facts facts = probe_facts(probe);
	struct lifecycle_step step;

	update_limits(probe);
	if (probe->decided) {
		step.reason = lifecycle_breach(&probe->limits, &facts);
		if (step.reason != STOP_NONE)
			order_end(probe, step.reason);
		else if (probe->confirming &&
			 confirmation_is_done(probe, &facts))
			order_end(probe, STOP_ENOUGH);
		return;
	}
	step = lifecycle_next(&probe->limits, &facts, &probe->peaks);
	if (step.action == LIFECYCLE_STOP) {
		order_end(probe, step.reason);
	} else if (step.action == LIFECYCLE_DECIDED &&
		   !probe_looks_again(probe)) {
		probe->decided = true;
		probe->by_time = step.by_time;
		probe->state = PROBE_DECIDED;
	}
}

static void on_tick(uv_timer_t *timer)
{
	struct probe *probe = timer->data;

	if (probe->frozen_ns || probe->keeper_gone)
		return;
	/* Once it is being stopped its peak proves nothing more. */
	if (is_stopping(probe))
		return;
	probe_watch(probe);
	judge(probe);
}

/*
 * Who ends this soon was hardly looked at: the kernel's own maximum, which
 * counts file pages too, is then the honest bound.
 */
static void bound_short_life(struct probe *probe, int32_t max_rss_kib)
{
	uint64_t bytes = (uint64_t)max_rss_kib * KIB;

	if (probe_now_ms(probe) < SHORT_LIFE_MS &&
	    bytes > probe->host_reading.peak_bytes)
		probe->host_reading.peak_bytes = bytes;
}

static void take_message(struct probe *probe,
			 const struct keeper_message *message)
{
	switch ((enum keeper_event)message->event) {
	case KEEPER_STARTED:
	case KEEPER_FROZEN:
		break;
	case KEEPER_EXEC_FAILED:
		probe->evidence.end.exec_errno = message->value;
		break;
	case KEEPER_ISOLATION_FAILED:
		probe->isolation_errno = message->value;
		break;
	case KEEPER_EXITED:
		if (probe->evidence.end.stopped != STOP_NONE)
			break;
		probe->evidence.end.ended = true;
		probe->evidence.end.wait_status = message->value;
		bound_short_life(probe, message->max_rss_kib);
		probe_ask_surroundings(probe);
		break;
	case KEEPER_ABANDONED:
		probe->evidence.end.left_behind =
			probe->evidence.end.stopped == STOP_NONE;
		break;
	case KEEPER_GONE:
		probe->evidence.end.foreign_kills = message->value;
		probe->keeper_gone = true;
		break;
	}
}

static void probe_is_over(struct probe *probe, bool lost)
{
	if (probe->state == PROBE_OVER)
		return;
	probe->evidence.end.keeper_lost = lost && !probe->keeper_gone;
	probe->keeper_gone = true;
	probe->state = PROBE_OVER;
}

static void on_control(uv_poll_t *poll, int status, int events)
{
	struct probe *probe = poll->data;
	struct keeper_message message;
	int got;

	(void)status;
	(void)events;
	while ((got = keeper_receive(&probe->keeper, &message)) > 0)
		take_message(probe, &message);
	if (got == -EPIPE) {
		(void)uv_poll_stop(poll);
		probe_is_over(probe, true);
	}
}

static void on_output(uv_poll_t *poll, int status, int events)
{
	struct probe_stream *stream = poll->data;

	(void)events;
	if (status < 0 || !probe_read_stream(stream))
		(void)uv_poll_stop(poll);
}

static int watch_descriptor(struct probe *probe, uv_poll_t *poll, int fd,
			    uv_poll_cb callback)
{
	int result;

	(void)fcntl(fd, F_SETFL, O_NONBLOCK);
	result = uv_poll_init(probe->loop, poll, fd);
	if (result < 0)
		return result;
	probe->open_handles++;
	return uv_poll_start(poll, UV_READABLE, callback);
}

static int start_handles(struct probe *probe)
{
	int result;

	probe->tick.data = probe;
	result = uv_timer_init(probe->loop, &probe->tick);
	if (result < 0)
		return result;
	probe->open_handles++;
	probe->control.data = probe;
	result = watch_descriptor(probe, &probe->control, probe->keeper.control,
				  on_control);
	for (int i = 0; i < 2 && result == 0; i++) {
		struct probe_stream *stream = &probe->streams[i];

		stream->probe = probe;
		stream->fd = i == 0 ? probe->keeper.out : probe->keeper.err;
		stream->poll.data = stream;
		result = watch_descriptor(probe, &stream->poll, stream->fd,
					  on_output);
	}
	if (result == 0)
		result =
			uv_timer_start(&probe->tick, on_tick, 0, PROBE_TICK_MS);
	return result;
}

static void set_limits(struct probe *probe)
{
	const struct probe_spec *spec = &probe->spec;

	probe->limits.host_limit_bytes = spec->host_limit_bytes;
	probe->limits.steps_needed = spec->steps_needed;
	probe->limits.startup_timeout_ms = spec->startup_timeout_ms;
	probe->limits.timeout_ms = spec->timeout_ms;
	probe->limits.timeout_covers_start = spec->timeout_covers_start;
	probe->memory_line_ms = -1;
	probe->log_since_ms = -1;
}

static int start_parts(struct probe *probe, struct error *err)
{
	const struct probe_spec *spec = &probe->spec;
	const struct keeper_spec keeper = {
		.argv = spec->argv,
		.environment = spec->environment,
		.state = spec->state,
		.cgroup = spec->cgroup,
		.isolation = spec->isolation,
		.scratch = spec->scratch,
		.extra_files = spec->extra_files,
		.lock_fds = spec->lock_fds,
		.lock_count = spec->lock_count,
		.channel_fd = &probe->channel.fd,
	};
	int result = channel_open(&probe->channel, spec->channel, err);

	if (result == 0)
		result = probe_open_gpus(probe, err);
	if (result < 0)
		return result;
	result = probe_open_surroundings(probe, err);
	if (result < 0)
		return result;
	/* A probe without its log is still a probe; its close tells why. */
	(void)logfile_open(&probe->log, spec->log_path, NULL);
	probe->oom_kills_before = host_cgroup_oom_kills(spec->cgroup);
	probe->started_ns = uv_hrtime();
	result = keeper_start(&probe->keeper, &keeper, err);
	if (result == 0)
		result = host_observer_open(&probe->host, probe->keeper.pid,
					    err);
	if (result < 0)
		return result;
	result = start_handles(probe);
	if (result < 0)
		return error_set(err, result, "cannot watch the probe: %s",
				 uv_strerror(result));
	return 0;
}

int probe_start(struct probe **probe, const struct probe_spec *spec,
		uv_loop_t *loop, struct error *err)
{
	struct probe *made = xcalloc(1, sizeof(*made));
	int result;

	made->spec = *spec;
	made->loop = loop;
	made->log = (struct logfile)LOGFILE_INIT;
	made->keeper.control = made->keeper.out = made->keeper.err = -1;
	set_limits(made);
	probe_open_output(made);
	result = start_parts(made, err);
	if (result < 0) {
		probe_free(made);
		made = NULL;
	}
	*probe = made;
	return result;
}

static uint64_t used_of(const struct probe *probe, const struct probe_gpu *gpu)
{
	uint64_t total;
	uint64_t free_bytes;

	if (nvml_memory(probe->spec.nvml, gpu->uuid, &total, &free_bytes,
			NULL) < 0)
		return 0;
	return total - free_bytes;
}

/* Device memory can come back a moment after its process is gone. */
static void wait_for_gpu_baseline(const struct probe *probe)
{
	uint64_t deadline = uv_hrtime() + GPU_DRAIN_MS * UINT64_C(1000000);

	for (size_t i = 0; i < probe->spec.gpu_count; i++)
		while (probe->spec.nvml && uv_hrtime() < deadline &&
		       used_of(probe, &probe->spec.gpus[i]) >
			       probe->spec.gpus[i].baseline_used_bytes +
				       GPU_DRAIN_NOISE_BYTES)
			(void)poll(NULL, 0, PROBE_TICK_MS);
}

/* The keeper's last words may still wait in the pipes. */
static void read_what_is_left(struct probe *probe)
{
	for (int i = 0; i < 2; i++) {
		struct probe_stream *stream = &probe->streams[i];
		struct pollfd waiting = { .fd = stream->fd, .events = POLLIN };

		/* More than a pipe holds comes from a process that got away. */
		for (int turn = 0; turn < LAST_TURNS_MAX; turn++)
			if (poll(&waiting, 1, 0) <= 0 ||
			    !(waiting.revents & POLLIN) ||
			    !probe_read_stream(stream))
				break;
		probe_finish_stream(stream);
	}
}

static void finish(struct probe *probe)
{
	size_t count;
	const pid_t *tree = host_observer_pids(probe->host, &count);
	char *mark = xasprintf("AUTOFIT_PROBE=%s", probe->spec.id);

	if (probe->evidence.end.keeper_lost)
		keeper_sweep(probe->keeper.pid, mark, tree, count);
	free(mark);
	(void)waitpid(probe->keeper.pid, NULL, 0);
	probe->keeper.pid = 0;
	read_what_is_left(probe);
	probe_collect_evidence(probe);
	modules_read(&probe->modules, probe->spec.scratch);
	(void)host_observer_remove_shm(probe->host);
	wait_for_gpu_baseline(probe);
	probe_finish_texts(probe);
}

enum probe_state probe_wait(struct probe *probe)
{
	while (probe->state == PROBE_RUNNING)
		(void)uv_run(probe->loop, UV_RUN_ONCE);
	if (probe->state == PROBE_OVER && probe->keeper.pid)
		finish(probe);
	return probe->state;
}

void probe_confirm(struct probe *probe,
		   const struct probe_confirmation *confirmation)
{
	int64_t now_ms = probe_now_ms(probe);

	probe->confirmation = *confirmation;
	probe->confirming = true;
	/* As long again as the verdict could take, from here. */
	if (probe->limits.timeout_ms && !probe->limits.timeout_covers_start)
		probe->limits.timeout_ms +=
			CONFIRM_TIME_FACTOR * now_ms + confirmation->ms;
	probe->state = PROBE_RUNNING;
}

void probe_stop(struct probe *probe)
{
	order_end(probe, STOP_ENOUGH);
}

void probe_cancel(struct probe *probe)
{
	if (probe->state != PROBE_OVER)
		order_end(probe, STOP_CANCELLED);
}

void probe_freeze(struct probe *probe)
{
	struct pollfd waiting = { .fd = probe->keeper.control,
				  .events = POLLIN };
	struct keeper_message message = { .event = 0 };

	if (probe->state == PROBE_OVER || probe->frozen_ns)
		return;
	keeper_order(&probe->keeper, KEEPER_FREEZE, 0);
	while (message.event != KEEPER_FROZEN &&
	       poll(&waiting, 1, FREEZE_WAIT_MS) > 0 &&
	       keeper_receive(&probe->keeper, &message) > 0)
		take_message(probe, &message);
	probe->frozen_ns = uv_hrtime();
}

void probe_thaw(struct probe *probe)
{
	if (!probe->frozen_ns)
		return;
	keeper_order(&probe->keeper, KEEPER_THAW, 0);
	probe->frozen_total_ns += uv_hrtime() - probe->frozen_ns;
	probe->frozen_ns = 0;
}

void probe_look(const struct probe *probe, struct probe_view *view)
{
	enum steps_source source;

	view->steps = probe_steps(probe, &source);
	view->peak_bytes = probe_peak(probe);
	view->seconds = (double)probe_now_ms(probe) / 1000;
	view->stopping = is_stopping(probe);
}

static void on_close(uv_handle_t *handle)
{
	struct probe *probe = handle->data;

	probe->open_handles--;
}

static void close_handle(struct probe *probe, uv_handle_t *handle)
{
	if (handle->type == UV_UNKNOWN_HANDLE)
		return;
	handle->data = probe;
	uv_close(handle, on_close);
}

static void close_fd(int fd)
{
	if (fd >= 0)
		(void)close(fd);
}

static void close_log(struct probe *probe)
{
	struct error err = ERROR_INIT;

	if (logfile_close(&probe->log, &err) < 0)
		log_warning("the log of a probe is not complete: %s",
			    err.message);
}

void probe_free(struct probe *probe)
{
	if (!probe)
		return;
	close_handle(probe, (uv_handle_t *)&probe->control);
	close_handle(probe, (uv_handle_t *)&probe->tick);
	for (int i = 0; i < 2; i++)
		close_handle(probe, (uv_handle_t *)&probe->streams[i].poll);
	while (probe->open_handles)
		(void)uv_run(probe->loop, UV_RUN_ONCE);
	/* A start that failed half-way: the closed socket ends the keeper. */
	close_fd(probe->keeper.control);
	close_fd(probe->keeper.out);
	close_fd(probe->keeper.err);
	if (probe->keeper.pid)
		(void)waitpid(probe->keeper.pid, NULL, 0);
	probe_release_output(probe);
	close_log(probe);
	gpu_neighbours_release(&probe->neighbours);
	host_observer_close(probe->host);
	channel_close(&probe->channel);
	strlist_release(&probe->modules);
	free(probe);
}
