/* The loop of a tuning: signals, Ctrl-Z, the live line, the time limit. */
/* SPDX-License-Identifier: MIT */
#include "launcher/tuning/session_loop.h"

#include "launcher/admission/tuning_lease.h"
#include "launcher/report/report_style.h"

#include <assert.h>
#include <signal.h>
#include <stdio.h>

#define PROGRESS_MS 120

void session_print(struct strbuf *text)
{
	(void)fwrite(strbuf_text(text), 1, text->length, stderr);
	(void)fflush(stderr);
	strbuf_reset(text);
}

bool session_loop_must_end(const struct session_loop *loop)
{
	return loop->signal_number || loop->out_of_time;
}

int64_t session_loop_probes(const struct session_loop *loop)
{
	assert(loop->withdrawn <= loop->started);
	return loop->started - loop->withdrawn;
}

/* NULL: none is. beside: how many others are. */
static const struct session_under_way *
first_under_way(const struct session_loop *loop, size_t *beside)
{
	const struct session_under_way *first = NULL;

	*beside = 0;
	for (size_t i = 0; i < loop->lane_count; i++) {
		if (!loop->lanes[i].probe)
			continue;
		if (first)
			++*beside;
		else
			first = &loop->lanes[i];
	}
	return first;
}

bool session_loop_look_up(void *context)
{
	struct session_loop *loop = context;

	(void)uv_run(&loop->uv, UV_RUN_NOWAIT);
	return session_loop_must_end(loop);
}

static void for_each_probe(struct session_loop *loop,
			   void (*call)(struct probe *probe))
{
	for (size_t i = 0; i < loop->lane_count; i++)
		if (loop->lanes[i].probe)
			call(loop->lanes[i].probe);
}

static void on_end_signal(uv_signal_t *handle, int number)
{
	struct session_loop *loop = handle->data;

	loop->signal_number = number;
	for_each_probe(loop, probe_cancel);
}

static void on_deadline(uv_timer_t *timer)
{
	struct session_loop *loop = timer->data;

	loop->out_of_time = true;
	for_each_probe(loop, probe_cancel);
}

/*
 * The tree first, then autofit; after fg both go on, and stopped time counts
 * for no limit. Autofit stops by the default action of the very signal: so the
 * shell sees what it expects, and in a group that no shell would continue the
 * kernel stops nothing.
 */
static void on_suspend(uv_signal_t *handle, int number)
{
	struct session_loop *loop = handle->data;
	uv_timer_t *deadline = &loop->timers[SESSION_DEADLINE];
	uint64_t left_ms = uv_timer_get_due_in(deadline);

	for_each_probe(loop, probe_freeze);
	(void)uv_signal_stop(handle);
	(void)raise(number);
	(void)uv_signal_start(handle, on_suspend, number);
	uv_update_time(&loop->uv);
	if (uv_is_active((uv_handle_t *)deadline))
		(void)uv_timer_start(deadline, on_deadline, left_ms, 0);
	for_each_probe(loop, probe_thaw);
}

/* Those who wait for this tuning see that it lives, and how far it is. */
static void on_beat(uv_timer_t *timer)
{
	const struct session_loop *loop = timer->data;
	size_t beside;
	const struct session_under_way *probe = first_under_way(loop, &beside);
	char others[40] = "";
	char doing[128];

	/* Between two probes it says what the last one did. */
	if (!probe)
		probe = &loop->lanes[0];
	if (beside)
		(void)snprintf(others, sizeof(others), " and %zu more", beside);
	(void)snprintf(doing, sizeof(doing),
		       "%s micro %lld%s, %lld probes so far", probe->doing,
		       (long long)probe->step.micro_batch, others,
		       (long long)session_loop_probes(loop));
	tuning_lease_beat(loop->setup->lease, doing);
}

/* The width is that of now: who drags the window's edge sees one line. */
static void session_loop_draw(struct session_loop *loop)
{
	const struct options *options = loop->setup->request->options;
	size_t beside;
	const struct session_under_way *under_way =
		first_under_way(loop, &beside);
	const struct plan_step *step;
	struct strbuf line = STRBUF_INIT;
	struct progress progress;
	struct probe_view view;
	bool confirms;

	if (!under_way)
		return;
	step = &under_way->step;
	probe_look(under_way->probe, &view);
	assert(step->micro_batch >= 1 && step->probe_accum >= 1);
	confirms = step->is_confirmation ||
		   view.steps > options->search.probe_steps;
	progress = (struct progress){
		.micro_batch = step->micro_batch,
		.grad_accum = step->probe_accum,
		.steps = view.steps,
		.steps_needed = confirms ? options->search.confirm_steps
					 : options->search.probe_steps,
		.what = view.stopping ? "stopping"
			: view.steps  ? under_way->doing
				      : "starting",
		.current_peak_bytes = view.peak_bytes,
		.limit_bytes = loop->setup->target->limit_bytes,
		.seconds = view.seconds,
		.frame = loop->frame,
		.beside = beside,
	};
	report_style_measure(loop->setup->style);
	report_progress(&line, loop->setup->style, &progress);
	session_print(&line);
	strbuf_release(&line);
}

static void on_progress(uv_timer_t *timer)
{
	struct session_loop *loop = timer->data;

	loop->frame++;
	session_loop_draw(loop);
}

static void on_resize(uv_signal_t *handle, int number)
{
	(void)number;
	session_loop_draw(handle->data);
}

/* A timer cannot fail before it is being closed. */
static void start_timers(struct session_loop *loop)
{
	const struct options *options = loop->setup->request->options;
	uv_timer_t *timers = loop->timers;

	for (int i = 0; i < SESSION_TIMERS; i++) {
		(void)uv_timer_init(&loop->uv, &timers[i]);
		loop->open_handles++;
		timers[i].data = loop;
	}
	(void)uv_timer_start(&timers[SESSION_BEAT], on_beat, LEASE_BEAT_MS / 2,
			     LEASE_BEAT_MS);
	if (loop->setup->style->live && !options->output.quiet)
		(void)uv_timer_start(&timers[SESSION_PROGRESS], on_progress,
				     PROGRESS_MS, PROGRESS_MS);
	if (options->times.time_limit_ms)
		(void)uv_timer_start(&timers[SESSION_DEADLINE], on_deadline,
				     (uint64_t)options->times.time_limit_ms, 0);
}

static int watch_signals(struct session_loop *loop)
{
	static const struct {
		int number;
		uv_signal_cb on_signal;
	} others[] = { [SESSION_SUSPEND] = { SIGTSTP, on_suspend },
		       [SESSION_RESIZE] = { SIGWINCH, on_resize } };

	for (int i = 0; i < SESSION_SIGNALS; i++) {
		int number = i < ENDINGS ? end_signals[i] : others[i].number;
		uv_signal_t *handle = &loop->signals[i];
		int result = uv_signal_init(&loop->uv, handle);

		if (result < 0)
			return result;
		loop->open_handles++;
		handle->data = loop;
		/* A signal that came in ignored (nohup) stays ignored. */
		if (process_state_ignores(loop->setup->request->state, number))
			continue;
		result = uv_signal_start(handle,
					 i < ENDINGS ? on_end_signal
						     : others[i].on_signal,
					 number);
		if (result < 0)
			return result;
	}
	return 0;
}

int session_loop_open(struct session_loop *loop,
		      const struct session_setup *setup, struct error *err)
{
	int result = uv_loop_init(&loop->uv);

	assert(!loop->lanes[0].probe);
	loop->setup = setup;
	(void)clock_gettime(CLOCK_REALTIME, &loop->began);
	loop->lane_count = 1;
	loop->lanes[0].doing = "probing";
	if (result == 0) {
		loop->is_open = true;
		start_timers(loop);
		result = watch_signals(loop);
	}
	if (result < 0)
		return error_set(err, result, "cannot watch signals: %s",
				 uv_strerror(result));
	end_signals_let(setup->request->state);
	return 0;
}

static void on_loop_handle_closed(uv_handle_t *handle)
{
	struct session_loop *loop = handle->data;

	assert(loop->open_handles > 0);
	loop->open_handles--;
}

void session_loop_close(struct session_loop *loop)
{
	if (!loop->is_open)
		return;
	assert(!loop->lanes[0].probe);
	/* A signal that came since the last probe is not to be lost. */
	end_signals_hold();
	(void)session_loop_look_up(loop);
	for (int i = 0; i < SESSION_SIGNALS; i++)
		if (loop->signals[i].type != UV_UNKNOWN_HANDLE)
			uv_close((uv_handle_t *)&loop->signals[i],
				 on_loop_handle_closed);
	for (int i = 0; i < SESSION_TIMERS; i++)
		uv_close((uv_handle_t *)&loop->timers[i],
			 on_loop_handle_closed);
	while (loop->open_handles)
		(void)uv_run(&loop->uv, UV_RUN_ONCE);
	(void)uv_loop_close(&loop->uv);
	loop->is_open = false;
}
