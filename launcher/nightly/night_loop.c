/* The loop of a night: start jobs, wait, take what they found. */
/* SPDX-License-Identifier: MIT */
/*
 * The executor says when a job has ended; here stands what follows from it: a
 * job that something disturbed, or that lost its node, is started again, a
 * signal or --until stops all, and everything else becomes a row.
 */
#include "launcher/nightly/night_loop.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/textfile.h"
#include "launcher/nightly/executor/executor.h"
#include "launcher/nightly/night_compare.h"
#include "launcher/nightly/night_conclude.h"
#include "launcher/nightly/night_files.h"
#include "launcher/nightly/night_groups.h"
#include "launcher/nightly/night_live.h"
#include "launcher/nightly/night_task.h"
#include "launcher/nightly/night_text.h"
#include "launcher/request/end_signals.h"

#include <assert.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* A disturbed job is repeated once. */
#define DISTURBED_MAX 2
/* One that lost its node may lose another. */
#define LOST_MAX 3
/* The rows of a log's probes are at its beginning. */
#define LIVE_LOG_MAX ((size_t)64 << 10)
/* No terminal shows more rows. */
#define LIVE_LOGS 100
#define DAY_SECONDS (INT64_C(24) * 3600)

struct night_slot {
	struct executor_task task;
	size_t at; /* of its job, and of its row */
	unsigned attempts;
	int64_t started_ms;
	size_t share; /* of what was started together */
};

struct night_loop_state {
	struct night_run *run;
	struct executor executor;
	struct night_groups groups;   /* jobs to start */
	struct night_slot *slots;     /* those that were started */
	size_t count, limit;          /* slots; how many may run */
	struct night_share *shares;   /* as many as jobs */
	struct executor_task **tasks; /* of the slots, for the executor */
	size_t *items;                /* jobs that start together */
	int64_t deadline;
	sigset_t awaited;
	bool is_stopped, is_late;
	struct night_live live;
	struct night_live_row *rows; /* of the live table, for all jobs */
};

/* Milliseconds of clock_ms at the next time of day that is HH:MM; 0: none. */
static int64_t night_deadline_of(const char *until)
{
	time_t now = time(NULL);
	struct tm day;
	int64_t left;

	if (!until || !localtime_r(&now, &day))
		return 0;
	day.tm_hour = (int)strtol(until, NULL, 10);
	day.tm_min = (int)strtol(strchr(until, ':') + 1, NULL, 10);
	day.tm_sec = 0;
	day.tm_isdst = -1;
	left = (int64_t)mktime(&day) - (int64_t)now;
	return clock_ms() + (left > 0 ? left : left + DAY_SECONDS) * 1000;
}

static void say(struct night_loop_state *loop, size_t at, bool is_known)
{
	const struct night_run *run = loop->run;
	const struct night_row *row = &run->now.rows[at];
	struct strbuf line = STRBUF_INIT;

	if (run->options->output.quiet)
		return;
	night_live_clear(&loop->live);
	strbuf_addf(&line, "[%zu/%zu] %s: ", at + 1, run->jobs->count,
		    row->name);
	night_line(row, &line);
	(void)fprintf(stderr, "%s%s\n", strbuf_text(&line),
		      is_known ? " (done before)" : "");
	strbuf_release(&line);
}

/* Another job than --only: as the last night had it. */
static void carry_over(struct night_run *run, struct night_row *row)
{
	const struct night_row *old = night_find(&run->last, row->name);

	if (row->state == NIGHT_NOT_RUN && old) {
		night_row_copy(row, old);
		/* It is compared with nothing, so there is nothing to tell. */
		row->change = CHANGE_NONE;
		free(row->cause);
		row->cause = NULL;
	}
}

static void begin_slot(struct night_loop_state *loop, struct night_slot *slot)
{
	assert(slot->at < loop->run->jobs->count && slot->attempts < LOST_MAX);
	night_task_begin(&slot->task, &loop->run->jobs->items[slot->at],
			 loop->run->jobs->results, loop->run->now.started,
			 slot->attempts);
	slot->attempts++;
	slot->started_ms = clock_ms();
}

/* There is always one: each that is in use has a slot. */
static size_t begin_share(struct night_loop_state *loop, size_t count,
			  size_t at_once)
{
	size_t at = 0;

	while (loop->shares[at].left)
		at++;
	assert(count >= 1 && at_once >= 1 && at < loop->run->jobs->count);
	loop->shares[at] =
		(struct night_share){ .at_once = at_once, .left = count };
	return at;
}

/* Once more, alone. */
static int repeat_slot(struct night_loop_state *loop, struct night_slot *slot,
		       struct error *err)
{
	struct executor_task *task = &slot->task;

	begin_slot(loop, slot);
	slot->share = begin_share(loop, 1, 1);
	return loop->executor.ops->start(&loop->executor, &task, 1, 1, err);
}

/* Nothing new is started after a signal or the deadline. */
static bool is_over(struct night_loop_state *loop)
{
	loop->is_stopped = loop->is_stopped || end_signals_waiting() ||
			   (loop->deadline && clock_ms() >= loop->deadline);
	return loop->is_stopped;
}

/* What the executor has no room for waits again. */
static void take_back(struct night_loop_state *loop, size_t from)
{
	size_t kept = from;

	for (size_t i = from; i < loop->count; i++) {
		struct night_slot *slot = &loop->slots[i];

		if (!slot->task.is_put_off) {
			loop->slots[kept++] = *slot;
			continue;
		}
		assert(loop->shares[slot->share].left > 0);
		loop->shares[slot->share].left--;
		executor_task_release(&slot->task);
		night_groups_add(&loop->groups, slot->at);
	}
	loop->count = kept;
}

static int start_together(struct night_loop_state *loop, size_t count,
			  size_t at_once, struct error *err)
{
	size_t from = loop->count, share = begin_share(loop, count, at_once);
	int result;

	for (size_t i = 0; i < count; i++) {
		struct night_slot *slot = &loop->slots[loop->count++];

		*slot = (struct night_slot){ .at = loop->items[i],
					     .share = share };
		begin_slot(loop, slot);
		loop->tasks[i] = &slot->task;
	}
	assert(loop->count <= loop->run->jobs->count);
	result = loop->executor.ops->start(&loop->executor, loop->tasks, count,
					   at_once, err);
	take_back(loop, from);
	return result;
}

/* As many as may run at once. */
static int start_jobs(struct night_loop_state *loop, struct error *err)
{
	int result = 0;

	while (result == 0 && !is_over(loop)) {
		size_t used =
			night_shares_used(loop->shares, loop->run->jobs->count);
		size_t at_once;
		size_t count = night_groups_take(
			&loop->groups,
			used < loop->limit ? loop->limit - used : 0,
			loop->executor.together_max, loop->items, &at_once);

		if (!count)
			break;
		result = start_together(loop, count, at_once, err);
	}
	return result;
}

/* Those that --only names and that are not done wait. */
static void sort_jobs(struct night_loop_state *loop)
{
	struct night_run *run = loop->run;
	const char *only = run->options->nightly.only;

	for (size_t i = 0; i < run->jobs->count; i++) {
		struct night_row *row = &run->now.rows[i];

		if (only && !job_is_named(&run->jobs->items[i], only))
			carry_over(run, row);
		else if (row->state != NIGHT_NOT_RUN)
			say(loop, i, true);
		else
			night_groups_add(&loop->groups, i);
	}
}

static size_t list_tasks(struct night_loop_state *loop)
{
	for (size_t i = 0; i < loop->count; i++)
		loop->tasks[i] = &loop->slots[i].task;
	return loop->count;
}

/* All jobs that are not over: those that run, then those that wait. */
static void draw_live(struct night_loop_state *loop)
{
	const struct jobs *jobs = loop->run->jobs;
	size_t count = 0;

	if (!night_live_is_due(&loop->live))
		return;
	for (size_t i = 0; i < loop->count; i++) {
		const struct night_slot *slot = &loop->slots[i];
		struct strbuf log = STRBUF_INIT;

		loop->rows[count] = (struct night_live_row){
			.name = slot->task.job->name,
			.state = slot->task.state,
			.node = slot->task.node,
			.seconds = (clock_ms() - slot->started_ms) / 1000,
		};
		if (i < LIVE_LOGS)
			(void)textfile_read(slot->task.log, LIVE_LOG_MAX, &log,
					    NULL);
		night_live_read_log(&loop->rows[count++], strbuf_text(&log));
		strbuf_release(&log);
	}
	for (size_t i = 0; i < jobs->count; i++)
		if (loop->groups.waits[i])
			loop->rows[count++] = (struct night_live_row){
				.name = jobs->items[i].name,
				.state = "waits",
				.node = "",
				.seconds = -1,
			};
	assert(count <= jobs->count);
	night_live_draw(&loop->live, loop->rows, count);
}

/* A child that ended, a signal, or a while: then one looks again. */
static void await(struct night_loop_state *loop)
{
	const struct timespec look = {
		.tv_sec = loop->executor.ops->look_ns / 1000000000L,
		.tv_nsec = loop->executor.ops->look_ns % 1000000000L
	};
	const struct executor_ops *ops = loop->executor.ops;
	int number = sigtimedwait(&loop->awaited, NULL, &look);

	if (number == SIGWINCH || number == SIGCONT) {
		night_live_forget(&loop->live);
	} else if (number > 0 && number != SIGCHLD) {
		/* The second one does not wait for what the first began. */
		ops->stop(&loop->executor, loop->tasks, list_tasks(loop),
			  loop->run->signal_number ? SIGKILL : number);
		loop->run->signal_number = number;
		loop->is_stopped = true;
	}
	if (loop->deadline && !loop->is_late && clock_ms() >= loop->deadline) {
		loop->is_late = loop->is_stopped = true;
		ops->stop(&loop->executor, loop->tasks, list_tasks(loop),
			  SIGTERM);
	}
}

/* It came to no end of its own; a new attempt may. */
static bool is_to_repeat(const struct night_slot *slot,
			 const struct night_row *row)
{
	if (slot->task.is_lost)
		return slot->attempts < LOST_MAX;
	return slot->attempts < DISTURBED_MAX && row->outcome &&
	       strcmp(row->outcome, "disturbed") == 0;
}

/* Takes a slot that has ended; true when its job runs again. */
static bool take_slot(struct night_loop_state *loop, struct night_slot *slot,
		      int *result, struct error *err)
{
	struct night_run *run = loop->run;
	struct night_row *row = &run->now.rows[slot->at];
	bool is_stopped = run->signal_number || loop->is_late;

	assert(loop->shares[slot->share].left > 0);
	loop->shares[slot->share].left--;
	night_row_begin(row, &run->jobs->items[slot->at]);
	night_conclude(run, &slot->task, row);
	if (is_stopped)
		night_row_stopped(row, loop->is_late);
	else if (is_to_repeat(slot, row)) {
		executor_task_release(&slot->task);
		night_row_begin(row, &run->jobs->items[slot->at]);
		*result = repeat_slot(loop, slot, err);
		return true;
	}
	night_compare(row, night_find(&run->last, row->name));
	executor_task_release(&slot->task);
	say(loop, slot->at, false);
	return false;
}

/* All that have ended, and one summary for them. */
static int take_ended(struct night_loop_state *loop, struct error *err)
{
	bool is_left = !loop->executor.ops->awaits_stopped &&
		       loop->is_stopped &&
		       (loop->run->signal_number || loop->is_late);
	bool has_news = false;
	size_t kept = 0;
	int result = 0;

	loop->executor.ops->look(&loop->executor, loop->tasks,
				 list_tasks(loop));
	for (size_t i = 0; i < loop->count; i++) {
		struct night_slot *slot = &loop->slots[i];
		bool has_ended = slot->task.has_ended || is_left;

		if (!has_ended || take_slot(loop, slot, &result, err))
			loop->slots[kept++] = *slot;
		has_news = has_news || has_ended;
	}
	assert(kept <= loop->count);
	loop->count = kept;
	if (has_news && result == 0)
		result = night_files_write(loop->run->jobs->results,
					   &loop->run->now, err);
	return result;
}

static int run_loop(struct night_loop_state *loop, struct error *err)
{
	int result;

	sort_jobs(loop);
	result = start_jobs(loop, err);
	while (result == 0 && loop->count) {
		draw_live(loop);
		await(loop);
		result = take_ended(loop, err);
		if (result == 0)
			result = start_jobs(loop, err);
	}
	night_live_clear(&loop->live);
	for (size_t i = 0; i < loop->count; i++)
		executor_task_release(&loop->slots[i].task);
	return result;
}

static void await_signals(struct night_loop_state *loop, sigset_t *before)
{
	sigset_t child;

	(void)sigemptyset(&child);
	(void)sigaddset(&child, SIGCHLD);
	if (loop->live.is_on) {
		(void)sigaddset(&child, SIGWINCH);
		(void)sigaddset(&child, SIGCONT);
	}
	(void)sigprocmask(SIG_BLOCK, &child, before);
	loop->awaited = child;
	for (int i = 0; i < ENDINGS; i++)
		if (!process_state_ignores(loop->run->state, end_signals[i]))
			(void)sigaddset(&loop->awaited, end_signals[i]);
}

/* All jobs may have been started. */
static void night_loop_allocate(struct night_loop_state *loop, size_t count)
{
	loop->slots = xcalloc(count, sizeof(*loop->slots));
	loop->shares = xcalloc(count, sizeof(*loop->shares));
	loop->tasks = xcalloc(count, sizeof(struct executor_task *));
	loop->items = xcalloc(count, sizeof(*loop->items));
	loop->rows = xcalloc(count, sizeof(*loop->rows));
}

static void night_loop_free(struct night_loop_state *loop)
{
	free(loop->rows);
	free(loop->items);
	free(loop->tasks);
	free(loop->shares);
	free(loop->slots);
}

int night_loop(struct night_run *run, struct error *err)
{
	const struct jobs *jobs = run->jobs;
	char *folder = xasprintf("%s/runs", jobs->results);
	struct night_loop_state loop = {
		.run = run,
		.executor = { .ops = jobs->is_slurm ? &executor_slurm
						    : &executor_local,
			      .state = run->state,
			      .folder = folder },
		.limit = jobs->is_slurm ? (size_t)jobs->at_once : 1,
		.deadline = night_deadline_of(run->options->nightly.until),
	};
	sigset_t before;
	int result;

	assert(run->now.count == jobs->count);
	night_loop_allocate(&loop, jobs->count + 1);
	night_groups_open(&loop.groups, jobs);
	night_live_open(&loop.live, run->options);
	await_signals(&loop, &before);
	result = loop.executor.ops->open(&loop.executor, err);
	/* When it began: by that a night that is killed knows its jobs. */
	if (result == 0)
		result = night_files_write(jobs->results, &run->now, err);
	if (result == 0)
		result = run_loop(&loop, err);
	(void)sigprocmask(SIG_SETMASK, &before, NULL);
	if (!loop.is_stopped && result == 0)
		run->now.finished = (int64_t)time(NULL);
	executor_release(&loop.executor);
	night_groups_release(&loop.groups);
	night_loop_free(&loop);
	free(folder);
	return result;
}
