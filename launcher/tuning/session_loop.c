/* The loop of a session: signals, Ctrl-Z, the live line, the time limit. */
/* SPDX-License-Identifier: MIT */
#include "launcher/tuning/session_internal.h"

#include "base/strbuf.h"
#include "launcher/admission/tuning_lease.h"
#include "launcher/request/end_signals.h"

#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#define PROGRESS_MS 120
#define TIMERS 3

void session_print(struct strbuf *text)
{
	(void)fwrite(strbuf_text(text), 1, text->length, stderr);
	(void)fflush(stderr);
	strbuf_reset(text);
}

bool session_must_end(const struct session *session)
{
	return session->result->signal_number || session->out_of_time;
}

bool session_looks_up(void *context)
{
	struct session *session = context;

	(void)uv_run(&session->loop, UV_RUN_NOWAIT);
	return session_must_end(session);
}

static void on_end_signal(uv_signal_t *handle, int number)
{
	struct session *session = handle->data;

	session->result->signal_number = number;
	if (session->probe)
		probe_cancel(session->probe);
}

static void on_deadline(uv_timer_t *timer)
{
	struct session *session = timer->data;

	session->out_of_time = true;
	if (session->probe)
		probe_cancel(session->probe);
}

/* Stopped time counts for no limit. */
static void go_on(struct session *session, uint64_t left_ms)
{
	uv_update_time(&session->loop);
	if (uv_is_active((uv_handle_t *)&session->deadline))
		(void)uv_timer_start(&session->deadline, on_deadline, left_ms,
				     0);
	if (session->probe)
		probe_thaw(session->probe);
}

/*
 * The tree first, then autofit; after fg both go on. Autofit stops by the
 * default action of the very signal: so the shell sees what it expects, and
 * in a group that no shell would continue the kernel stops nothing.
 */
static void on_suspend(uv_signal_t *handle, int number)
{
	struct session *session = handle->data;
	uint64_t left_ms = uv_timer_get_due_in(&session->deadline);

	if (session->probe)
		probe_freeze(session->probe);
	(void)uv_signal_stop(handle);
	(void)raise(number);
	(void)uv_signal_start(handle, on_suspend, number);
	go_on(session, left_ms);
}

/* Those who wait for this tuning see that it lives, and how far it is. */
static void on_beat(uv_timer_t *timer)
{
	struct session *session = timer->data;
	char doing[128];

	(void)snprintf(doing, sizeof(doing),
		       "%s micro %lld, %lld probes so far", session->doing,
		       (long long)session->step.micro_batch,
		       (long long)session->probe_number);
	tuning_lease_beat(session->lease, doing);
}

static void on_progress(uv_timer_t *timer)
{
	struct session *session = timer->data;
	struct strbuf line = STRBUF_INIT;
	struct probe_view view;
	struct progress progress = { .what = session->doing };

	if (!session->probe)
		return;
	probe_look(session->probe, &view);
	progress.micro_batch = session->step.micro_batch;
	progress.grad_accum = session->step.probe_accum;
	progress.steps = view.steps;
	progress.steps_needed = session->request->options->probe_steps;
	if (session->step.is_confirmation || view.steps > progress.steps_needed)
		progress.steps_needed =
			session->request->options->confirm_steps;
	if (!view.steps)
		progress.what = "starting";
	if (view.stopping)
		progress.what = "stopping";
	progress.current_peak_bytes = view.peak_bytes;
	progress.limit_bytes = session->target->limit_bytes;
	progress.seconds = view.seconds;
	progress.frame = session->frame++;
	report_progress(&line, session->style, &progress);
	session_print(&line);
	strbuf_release(&line);
}

static int start_timers(struct session *session)
{
	uv_timer_t *const timers[TIMERS] = { &session->progress,
					     &session->deadline,
					     &session->beat };
	int64_t limit_ms = session->request->options->time_limit_ms;
	int result = 0;

	for (size_t i = 0; i < TIMERS; i++) {
		result = uv_timer_init(&session->loop, timers[i]);
		if (result < 0)
			return result;
		session->open_handles++;
		timers[i]->data = session;
	}
	result = uv_timer_start(&session->beat, on_beat, LEASE_BEAT_MS / 2,
				LEASE_BEAT_MS);
	if (result == 0 && session->style->live &&
	    !session->request->options->quiet)
		result = uv_timer_start(&session->progress, on_progress,
					PROGRESS_MS, PROGRESS_MS);
	if (result == 0 && limit_ms)
		result = uv_timer_start(&session->deadline, on_deadline,
					(uint64_t)limit_ms, 0);
	return result;
}

/* A signal that came in ignored (nohup) stays ignored. */
static int watch_signal(struct session *session, uv_signal_t *handle,
			int number, uv_signal_cb callback)
{
	int result = uv_signal_init(&session->loop, handle);

	if (result < 0)
		return result;
	session->open_handles++;
	handle->data = session;
	if (process_state_ignores(session->request->state, number))
		return 0;
	return uv_signal_start(handle, callback, number);
}

int session_open_loop(struct session *session, struct error *err)
{
	int result = uv_loop_init(&session->loop);

	session->loop_is_open = result == 0;
	if (result == 0)
		result = start_timers(session);
	for (int i = 0; i < ENDINGS && result == 0; i++)
		result = watch_signal(session, &session->signals[i],
				      end_signals[i], on_end_signal);
	if (result == 0)
		result = watch_signal(session, &session->suspend, SIGTSTP,
				      on_suspend);
	if (result < 0)
		return error_set(err, result, "cannot watch signals: %s",
				 uv_strerror(result));
	end_signals_let(session->request->state);
	return 0;
}

static void on_close(uv_handle_t *handle)
{
	struct session *session = handle->data;

	session->open_handles--;
}

static void close_handle(uv_handle_t *handle)
{
	if (handle->type != UV_UNKNOWN_HANDLE)
		uv_close(handle, on_close);
}

void session_close_loop(struct session *session)
{
	if (!session->loop_is_open)
		return;
	/* A signal that came since the last probe is not to be lost. */
	end_signals_hold();
	(void)session_looks_up(session);
	for (int i = 0; i < ENDINGS; i++)
		close_handle((uv_handle_t *)&session->signals[i]);
	close_handle((uv_handle_t *)&session->suspend);
	close_handle((uv_handle_t *)&session->progress);
	close_handle((uv_handle_t *)&session->deadline);
	close_handle((uv_handle_t *)&session->beat);
	while (session->open_handles)
		(void)uv_run(&session->loop, UV_RUN_ONCE);
	(void)uv_loop_close(&session->loop);
}
