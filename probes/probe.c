/* One short run of the real command, from fork to verdict. */
/* SPDX-License-Identifier: MIT */
#include "probes/probe.h"

#include "probes/channel/modules.h"
#include "probes/keeper/zygote.h"
#include "probes/probe_internal.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/units.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define FREEZE_WAIT_MS 2000
#define CONFIRM_TIME_FACTOR 4
/* For what was cancelled to end: what the kernel holds fast, as with a file
 * server that is gone, no signal ends. */
#define CANCELLED_END_MS 1000
/* For a rank elsewhere to end, beside the grace. */
#define RANKS_END_MS 3000
#define GPU_DRAIN_MS 2000
/* NVML that does not answer is waited for no longer. */
#define GPU_SILENT_MS 500
#define GPU_DRAIN_NOISE_BYTES (64 * MIB)

static bool is_stopping(const struct probe *probe)
{
	return probe->evidence.end.stopped != STOP_NONE ||
	       probe->evidence.end.ended;
}

/*
 * srun that is told to end has Slurm kill its ranks at once, those that put
 * things right among them: it is told when they are over.
 */
static void end_by_keeper(struct probe *probe)
{
	struct probe_course *course = &probe->course;

	node_ranks_look(&probe->readings.ranks, &probe->readings.channel);
	if (!node_ranks_are_over(&probe->readings.ranks) &&
	    clock_ms() < course->end_due_ms)
		return;
	course->end_due_ms = 0;
	keeper_order(&probe->keeper, course->end_order, probe->spec.grace_ms);
	if (probe->evidence.end.stopped == STOP_CANCELLED)
		course->leave_due_ms = clock_ms() + CANCELLED_END_MS;
}

static void order_end(struct probe *probe, enum stop_reason reason)
{
	bool gently = reason == STOP_ENOUGH || reason == STOP_SIGNATURE ||
		      reason == STOP_TIMEOUT || reason == STOP_STARTUP_TIMEOUT;

	assert(reason != STOP_NONE && probe->course.state != PROBE_OVER);
	if (!is_stopping(probe)) {
		/* Enough is what the last look saw: a refusal of now is not
		 * answered, and would be taken for the end. */
		if (reason != STOP_ENOUGH)
			probe_gpus_read(&probe->gpus);
		probe->evidence.end.stopped = reason;
		probe->evidence.end.lost_rank = probe->readings.lost_rank;
		if (reason == STOP_RANK_LOST)
			probe_output_add_last_errors(&probe->output,
						     probe->readings.lost_rank);
		probe->output.stop_was_sent = true;
	}
	probe->course.end_order = gently ? KEEPER_STOP : KEEPER_KILL;
	probe->course.end_due_ms =
		clock_ms() + RANKS_END_MS + (gently ? probe->spec.grace_ms : 0);
	node_ranks_stop(&probe->readings.ranks,
			gently ? probe->spec.grace_ms : 0);
	end_by_keeper(probe);
	probe->course.state = PROBE_RUNNING;
}

/* The last lines of a command may come through a process of its own. */
#define LATE_LINES_MS 200

/* What a command leaves running when it ends may be its training. */
static void watch_what_is_left(struct probe *probe)
{
	struct probe_readings *readings = &probe->readings;
	enum steps_source source;

	probe_watch(probe);
	if (readings->steps_left < 0 &&
	    probe_clock_ms(&probe->clock) - readings->ended_ms > LATE_LINES_MS)
		readings->steps_left = probe_steps(probe, &source);
}

static void on_tick(uv_timer_t *timer)
{
	struct probe *probe = timer->data;
	enum stop_reason reason;

	if (probe->clock.frozen_ns || probe->course.keeper_gone)
		return;
	keeper_wake(&probe->keeper);
	if (probe->course.end_due_ms)
		end_by_keeper(probe);
	if (probe->course.leave_due_ms &&
	    clock_ms() >= probe->course.leave_due_ms) {
		probe->course.is_left = true;
		probe->course.state = PROBE_OVER;
	}
	if (probe->evidence.end.ended)
		watch_what_is_left(probe);
	/* Once it is being stopped its peak proves nothing more. */
	if (is_stopping(probe))
		return;
	probe_watch(probe);
	reason = probe_decide(probe);
	if (reason != STOP_NONE)
		order_end(probe, reason);
}

static void take_message(struct probe *probe,
			 const struct keeper_message *message)
{
	struct evidence_end *end = &probe->evidence.end;

	switch ((enum keeper_event)message->event) {
	case KEEPER_STARTED:
	case KEEPER_FROZEN:
		break;
	case KEEPER_EXEC_FAILED:
		end->exec_errno = message->value;
		break;
	case KEEPER_ISOLATION_FAILED:
		end->isolation_errno = message->value;
		break;
	case KEEPER_EXITED:
		/* Its steps may be read when it is gone already. */
		if (end->stopped == STOP_NONE ||
		    (end->stopped == STOP_ENOUGH &&
		     !probe->readings.own.processes))
			probe_watch_command_ended(
				probe, (uint64_t)message->max_rss_kib * KIB);
		if (end->stopped != STOP_NONE)
			break;
		end->ended = true;
		end->wait_status = message->value;
		probe->readings.ended_ms = probe_clock_ms(&probe->clock);
		probe_watch_end(probe);
		break;
	case KEEPER_ABANDONED:
		end->left_behind = end->stopped == STOP_NONE;
		break;
	case KEEPER_GONE:
		end->foreign_kills = message->value;
		probe->course.keeper_gone = true;
		break;
	}
}

static void on_control(uv_poll_t *poll, int status, int events)
{
	struct probe *probe = poll->data;
	struct probe_course *course = &probe->course;
	struct keeper_message message;
	int got;

	(void)status;
	(void)events;
	while ((got = keeper_receive(&probe->keeper, &message)) > 0)
		take_message(probe, &message);
	if (got != -EPIPE)
		return;
	(void)uv_poll_stop(poll);
	if (course->state == PROBE_OVER)
		return;
	/* Its last message says that it is done; without it, it was killed. */
	probe->evidence.end.keeper_lost = !course->keeper_gone;
	course->keeper_gone = true;
	course->state = PROBE_OVER;
}

static void on_output(uv_poll_t *poll, int status, int events)
{
	struct probe_stream *stream = poll->data;

	(void)events;
	if (status < 0 || !probe_output_read(stream))
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
	struct probe_stream *streams = probe->output.streams;
	int result;

	probe->tick.data = probe;
	result = uv_timer_init(probe->loop, &probe->tick);
	if (result < 0)
		return result;
	probe->open_handles++;
	probe->control.data = probe;
	result = watch_descriptor(probe, &probe->control, probe->keeper.control,
				  on_control);
	streams[0].fd = probe->keeper.out;
	streams[1].fd = probe->keeper.err;
	for (int i = 0; i < 2 && result == 0; i++) {
		streams[i].poll.data = &streams[i];
		result = watch_descriptor(probe, &streams[i].poll,
					  streams[i].fd, on_output);
	}
	if (result < 0)
		return result;
	return uv_timer_start(&probe->tick, on_tick, 0, PROBE_TICK_MS);
}

static int start_parts(struct probe *probe, struct error *err)
{
	struct probe_spec *spec = &probe->spec;
	struct channel *channel = &probe->readings.channel;
	int result = channel_open(channel, spec->channel, err);

	if (result < 0)
		return result;
	result = probe_gpus_open(&probe->gpus, spec, channel->fd, err);
	if (result == 0 && spec->ranks)
		result = node_ranks_open(&probe->readings.ranks, spec->ranks,
					 spec->rank_count, err);
	if (result < 0)
		return result;
	result = probe_watch_open(probe, err);
	if (result < 0)
		return result;
	probe->oom_kills_before = host_cgroup_oom_kills(spec->command.cgroup);
	probe->clock.started_ns = uv_hrtime();
	spec->command.channel_fd = &channel->fd;
	spec->command.mark = probe->gpus.mark;
	result = keeper_start(&probe->keeper, &spec->command, err);
	if (result < 0)
		return result;
	probe->gpus.tree.keeper = probe->keeper.pid;
	result = host_observer_open(&probe->readings.observer,
				    probe->keeper.pid, err);
	if (result < 0)
		return result;
	if (spec->command.zygote)
		host_observer_copied_from(probe->readings.observer,
					  zygote_pid(spec->command.zygote));
	result = start_handles(probe);
	return result < 0 ? error_set(err, result, "cannot watch the probe: %s",
				      uv_strerror(result))
			  : 0;
}

int probe_start(struct probe **probe, const struct probe_spec *spec,
		uv_loop_t *loop, struct error *err)
{
	struct probe *made = xcalloc(1, sizeof(*made));
	int result;

	assert(spec->micro_batch >= 1 && spec->grad_accum >= 1);
	assert(spec->limits.steps_needed >= 1);
	made->spec = *spec;
	made->loop = loop;
	made->keeper.control = made->keeper.out = made->keeper.err = -1;
	made->course.limits = spec->limits;
	made->output.clock = &made->clock;
	made->output.gpus = &made->gpus;
	probe_output_open(&made->output, &made->spec);
	result = start_parts(made, err);
	if (result < 0) {
		probe_free(made);
		made = NULL;
	}
	*probe = made;
	return result;
}

static bool is_drained(const struct probe_devices *devices)
{
	uint64_t used = 0;

	for (size_t i = 0; i < devices->count; i++)
		if (probe_gpu_used(devices->nvml, &devices->gpus[i], &used) &&
		    used > devices->gpus[i].baseline_used_bytes +
				    GPU_DRAIN_NOISE_BYTES)
			return false;
	return true;
}

/*
 * Device memory can come back a moment after its process is gone. After a
 * cancelled probe no other follows: whoever ended it waits for the end.
 */
void probe_await_gpus(const struct probe *probe)
{
	const struct probe_devices *devices = &probe->spec.devices;
	bool is_cancelled = probe->evidence.end.stopped == STOP_CANCELLED;
	uint64_t start = uv_hrtime();
	uint64_t wait_ms = is_cancelled ? GPU_SILENT_MS : GPU_DRAIN_MS;

	assert(probe->course.state == PROBE_OVER);

	while (devices->nvml &&
	       uv_hrtime() < start + wait_ms * UINT64_C(1000000)) {
		if (nvml_look(devices->nvml, NULL) < 0)
			wait_ms = is_cancelled ? 0 : GPU_SILENT_MS;
		else if (is_drained(devices))
			return;
		(void)poll(NULL, 0, PROBE_TICK_MS);
	}
}

static void finish_probe(struct probe *probe)
{
	struct host_observer *observer = probe->readings.observer;
	size_t count;
	const pid_t *tree = host_observer_pids(observer, &count);

	if (probe->evidence.end.keeper_lost)
		keeper_sweep(probe->keeper.pid, probe->gpus.mark, tree, count);
	/* Its keeper goes on without autofit, and cleans up. */
	if (probe->course.is_left)
		log_warning("a process of the probe does not end, as it waits "
			    "for a device or a file server; process %d ends it "
			    "as soon as that can be",
			    (int)probe->keeper.pid);
	else
		(void)waitpid(probe->keeper.pid, NULL, 0);
	probe->keeper.pid = 0;
	probe_output_finish(&probe->output);
	node_ranks_stop(&probe->readings.ranks, 0);
	node_ranks_await(&probe->readings.ranks, &probe->readings.channel);
	probe_collect_evidence(probe);
	modules_read(&probe->modules, probe->spec.command.scratch);
	opened_read(&probe->opened, probe->spec.command.scratch,
		    &probe->spec.began);
	/* Of several that step, or a rank, no other can be a copy. */
	if (probe->readings.python.stepping == 1) {
		imports_read(&probe->imports, probe->spec.command.scratch);
		started_read(&probe->started, probe->spec.command.scratch);
	}
	(void)host_observer_remove_shm(observer);
}

enum probe_state probe_take(struct probe *probe)
{
	if (probe->course.state == PROBE_OVER && probe->keeper.pid)
		finish_probe(probe);
	return probe->course.state;
}

void probe_confirm(struct probe *probe)
{
	struct probe_course *course = &probe->course;
	struct lifecycle_limits *limits = &course->limits;

	assert(course->state == PROBE_DECIDED);
	course->confirming = true;
	probe->readings.ranks_asked_ms = 0;
	/* As long again as the verdict could take, from here. */
	if (limits->timeout_ms && !limits->timeout_covers_start)
		limits->timeout_ms +=
			CONFIRM_TIME_FACTOR * probe_clock_ms(&probe->clock) +
			probe->spec.confirmation.ms;
	course->state = PROBE_RUNNING;
}

void probe_stop(struct probe *probe)
{
	assert(probe->course.state == PROBE_DECIDED);
	order_end(probe, STOP_ENOUGH);
}

void probe_cancel(struct probe *probe)
{
	if (probe->course.state != PROBE_OVER)
		order_end(probe, STOP_CANCELLED);
}

void probe_freeze(struct probe *probe)
{
	struct pollfd waiting = { .fd = probe->keeper.control,
				  .events = POLLIN };
	struct keeper_message message = { .event = 0 };

	if (probe->course.state == PROBE_OVER || probe->clock.frozen_ns)
		return;
	node_ranks_freeze(&probe->readings.ranks, true);
	keeper_order(&probe->keeper, KEEPER_FREEZE, 0);
	while (message.event != KEEPER_FROZEN &&
	       poll(&waiting, 1, FREEZE_WAIT_MS) > 0 &&
	       keeper_receive(&probe->keeper, &message) > 0)
		take_message(probe, &message);
	probe->clock.frozen_ns = uv_hrtime();
}

void probe_thaw(struct probe *probe)
{
	struct probe_clock *clock = &probe->clock;

	if (!clock->frozen_ns)
		return;
	keeper_order(&probe->keeper, KEEPER_THAW, 0);
	node_ranks_freeze(&probe->readings.ranks, false);
	clock->frozen_total_ns += uv_hrtime() - clock->frozen_ns;
	clock->frozen_ns = 0;
}

void probe_look(const struct probe *probe, struct probe_view *view)
{
	enum steps_source source;

	view->steps = probe_steps(probe, &source);
	view->peak_bytes = probe_peak(probe);
	view->rest_bytes = bytes_min(probe_rest(probe), view->peak_bytes);
	view->forward_bytes = bytes_min(probe_forward(probe), view->peak_bytes);
	view->pass_bytes = bytes_min(probe_pass(probe), view->peak_bytes);
	view->seconds = (double)probe_clock_ms(&probe->clock) / 1000;
	view->stopping = is_stopping(probe);
}

static void on_handle_closed(uv_handle_t *handle)
{
	struct probe *probe = handle->data;

	assert(probe->open_handles > 0);
	probe->open_handles--;
}

static void close_probe_handle(struct probe *probe, uv_handle_t *handle)
{
	if (handle->type == UV_UNKNOWN_HANDLE)
		return;
	handle->data = probe;
	uv_close(handle, on_handle_closed);
}

void probe_free(struct probe *probe)
{
	if (!probe)
		return;
	close_probe_handle(probe, (uv_handle_t *)&probe->control);
	close_probe_handle(probe, (uv_handle_t *)&probe->tick);
	for (int i = 0; i < 2; i++)
		close_probe_handle(
			probe, (uv_handle_t *)&probe->output.streams[i].poll);
	while (probe->open_handles)
		(void)uv_run(probe->loop, UV_RUN_ONCE);
	/* A start that failed half-way: the closed socket ends the keeper. */
	keeper_close(&probe->keeper);
	probe_output_release(&probe->output);
	probe_gpus_release(&probe->gpus);
	host_observer_close(probe->readings.observer);
	node_ranks_close(&probe->readings.ranks);
	channel_close(&probe->readings.channel);
	strlist_release(&probe->modules);
	strlist_release(&probe->opened);
	strlist_release(&probe->imports);
	started_release(&probe->started);
	free(probe);
}
