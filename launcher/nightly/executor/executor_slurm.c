/* Runs the jobs of a night through Slurm. */
/* SPDX-License-Identifier: MIT */
/*
 * sbatch takes a script for each job, and Slurm does the rest. A job is over
 * when its result file says so, whatever Slurm thinks of it: an accounting that
 * lags, or an out-of-memory kill of a probe, is no end. Slurm is asked for the
 * others, with one squeue for all of them and not more often than every 15
 * seconds.
 *
 * NAME.sbatch in the folder of results is the script as it was submitted. A
 * night that goes on takes over a job whose script is the same, and so does
 * not submit it twice.
 */
#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/textfile.h"
#include "base/units.h"
#include "configs/files/json_bounded.h"
#include "launcher/command/text/text.h"
#include "launcher/nightly/executor/executor.h"
#include "launcher/nightly/executor/slurm_queue.h"
#include "launcher/nightly/executor/slurm_script.h"
#include "launcher/request/exec_command.h"
#include "launcher/request/program_answer.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SLURM_LOOK_NS (1000L * 1000 * 1000)
#define ASK_MS 15000
/* A result may come later than the state over a network file system. */
#define RESULT_LAG_MS 15000
#define KILLED_REASON "RaisedSignal"
/* A job may be missing in one answer: a controller that just restarted. */
#define ABSENT_MAX 2
#define SLURM_RESULT_MAX ((size_t)16 << 20)
#define SCRIPT_MAX ((size_t)4 << 20)

/* What a program said, as the end of a message: its last line. */
static void slurm_add_said(struct strbuf *out, const struct strbuf *answer)
{
	const char *text = strbuf_text(answer);
	size_t length = answer->length, start;

	while (length && text[length - 1] == '\n')
		length--;
	for (start = length; start && text[start - 1] != '\n'; start--)
		;
	{
		char *line =
			xasprintf("%.*s", (int)(length - start), text + start);

		text_add_safe(out, line, true);
		free(line);
	}
}

static void ask_queue(struct executor *executor)
{
	char *user = xasprintf("--user=%ju", (uintmax_t)getuid());
	const char *const argv[] = {
		"squeue",  "--noheader",       user, "--states=all",
		"--array", SLURM_QUEUE_FORMAT, NULL,
	};
	struct strbuf answer = STRBUF_INIT, said = STRBUF_INIT;
	struct error err = ERROR_INIT;
	int code = program_answer(argv, NULL, executor->state, &answer, &err);

	executor->asked_ms = clock_ms();
	if (code == 0) {
		strbuf_release(&executor->queue);
		executor->queue = answer;
		executor->has_failed = false;
		free(user);
		return;
	}
	slurm_add_said(&said, &answer);
	if (!executor->has_failed)
		log_warning("squeue does not answer, and is asked again: %s",
			    code < 0 ? err.message : strbuf_text(&said));
	executor->has_failed = true;
	strbuf_release(&said);
	strbuf_release(&answer);
	free(user);
}

static int slurm_open(struct executor *executor, struct error *err)
{
	static const char *const programs[] = { "sbatch", "squeue", "scancel" };

	for (size_t i = 0; i < sizeof(programs) / sizeof(*programs); i++)
		if (exec_command_find(programs[i]) != 0)
			return error_set(err, -ENOENT,
					 "executor = slurm: %s is not found: "
					 "start the night on a node that "
					 "submits jobs, or load Slurm's module",
					 programs[i]);
	ask_queue(executor);
	return executor->has_failed
		       ? error_set(err, -EIO,
				   "executor = slurm: Slurm does not answer; "
				   "see what squeue says")
		       : 0;
}

/* The newest job of the task's name that Slurm knows; 0: none. */
static int64_t newest_of_name(const struct executor *executor,
			      const struct executor_task *task)
{
	const char *at = strbuf_text(&executor->queue);
	char *name = slurm_job_name(task);
	struct slurm_queue_line line;
	int64_t newest = 0;

	while (slurm_queue_next(&at, &line))
		if (strcmp(line.name, name) == 0 && line.id > newest)
			newest = line.id;
	free(name);
	return newest;
}

/* A final result; one of a tuning that was interrupted is none. */
static bool has_result(const struct executor_task *task)
{
	struct strbuf text = STRBUF_INIT;
	json_t *root = NULL;
	const char *outcome;
	bool is_final;

	if (textfile_read(task->json, SLURM_RESULT_MAX, &text, NULL) == 0)
		root = json_bounded(task->json, strbuf_text(&text), text.length,
				    false, NULL);
	outcome = json_string_value(json_object_get(root, "outcome"));
	is_final = outcome && strcmp(outcome, "interrupted") != 0;
	json_decref(root);
	strbuf_release(&text);
	return is_final;
}

/* The same script was submitted by a night that was killed, and its job is
 * known to Slurm or has ended with a result. */
static bool take_script_over(struct executor *executor,
			     struct executor_task *task, const char *path,
			     const struct strbuf *script)
{
	struct strbuf there = STRBUF_INIT;
	bool is_same = textfile_read(path, SCRIPT_MAX, &there, NULL) == 0 &&
		       there.length == script->length &&
		       memcmp(strbuf_text(&there), strbuf_text(script),
			      script->length) == 0;

	strbuf_release(&there);
	if (!is_same)
		return false;
	task->slurm_id = newest_of_name(executor, task);
	return task->slurm_id || has_result(task);
}

/* "1234" or "1234;cluster", on the last line. */
static int64_t id_of_answer(const struct strbuf *answer)
{
	struct strbuf line = STRBUF_INIT;
	int64_t id = 0;
	char *text;

	slurm_add_said(&line, answer);
	text = xasprintf("%.*s", (int)strcspn(strbuf_text(&line), ";"),
			 strbuf_text(&line));
	if (integer_parse(text, &id, NULL) < 0 || id < 1)
		id = 0;
	free(text);
	strbuf_release(&line);
	return id;
}

static void submit(struct executor *executor, struct executor_task *task,
		   const char *path)
{
	const char *const argv[] = { "sbatch", "--parsable", path, NULL };
	struct strbuf answer = STRBUF_INIT, said = STRBUF_INIT;
	struct error err = ERROR_INIT;
	int code = program_answer(argv, executor->folder, executor->state,
				  &answer, &err);

	task->slurm_id = code == 0 ? id_of_answer(&answer) : 0;
	if (!task->slurm_id) {
		slurm_add_said(&said, &answer);
		executor_task_end(
			task,
			xasprintf("is not taken by Slurm: %s",
				  code < 0 ? err.message : strbuf_text(&said)));
	}
	strbuf_release(&said);
	strbuf_release(&answer);
}

/* An empty log that only its owner reads; Slurm appends to it. */
static void begin_log(const struct executor_task *task)
{
	int fd = open(task->log,
		      O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW,
		      0600);

	if (fd >= 0)
		(void)close(fd);
}

static int slurm_start(struct executor *executor, struct executor_task *task,
		       struct error *err)
{
	char *path =
		xasprintf("%s/%s.sbatch", executor->folder, task->job->name);
	char *program = exec_command_self();
	struct strbuf script = STRBUF_INIT;
	int result = 0;

	slurm_script(task, program, &script);
	task->slurm_over = NULL;
	task->slurm_absent = 0;
	executor_task_tell(task, "submitted", "");
	if (task->is_lost || !take_script_over(executor, task, path, &script)) {
		(void)unlink(task->json);
		begin_log(task);
		result = textfile_replace(path, 0600, strbuf_text(&script),
					  script.length, err);
		if (result == 0)
			submit(executor, task, path);
	}
	strbuf_release(&script);
	free(program);
	free(path);
	return result;
}

static void set_over(struct executor_task *task, const char *why, bool is_lost)
{
	if (!task->slurm_over)
		task->slurm_over_ms = clock_ms();
	task->slurm_over = why;
	task->slurm_lost = is_lost;
}

/* Nothing will start it: it would be in the way of what comes next. */
static void cancel(struct executor *executor, const struct executor_task *task)
{
	char *id = xasprintf("%" PRId64, task->slurm_id);
	const char *const argv[] = { "scancel", id, NULL };
	struct strbuf answer = STRBUF_INIT;

	(void)program_answer(argv, NULL, executor->state, &answer, NULL);
	strbuf_release(&answer);
	free(id);
}

static void take_line(struct executor *executor, struct executor_task *task,
		      const struct slurm_queue_line *line)
{
	bool is_lost, is_pending = strcmp(line->state, "PENDING") == 0;
	const char *why = slurm_state_over(line->state, &is_lost);
	const char *stuck =
		is_pending ? slurm_reason_stuck(line->reason) : NULL;

	task->slurm_absent = 0;
	executor_task_tell(task, slurm_state_word(line->state), line->node);
	/* Of its batch script: autofit itself was killed, its journal is not.
	 */
	if (why)
		set_over(task, why,
			 is_lost || strncmp(line->reason, KILLED_REASON,
					    strlen(KILLED_REASON)) == 0);
	if (!stuck)
		return;
	cancel(executor, task);
	executor_task_end(task, xstrdup(stuck));
}

/* Its accounting knows a job that the queue has forgotten. */
static void ask_accounting(struct executor *executor,
			   struct executor_task *task)
{
	char *id = xasprintf("--jobs=%" PRId64, task->slurm_id);
	const char *const argv[] = {
		"sacct",          "--noheader", "--parsable2", "--allocations",
		"--format=State", id,           NULL
	};
	struct strbuf answer = STRBUF_INIT, state = STRBUF_INIT;
	const char *why = NULL;
	bool is_lost = true;

	if (exec_command_find("sacct") == 0 &&
	    program_answer(argv, NULL, executor->state, &answer, NULL) == 0) {
		slurm_add_said(&state, &answer);
		why = slurm_state_over(strbuf_text(&state), &is_lost);
	}
	set_over(task, why ? why : "is no longer known to Slurm",
		 why ? is_lost : true);
	strbuf_release(&state);
	strbuf_release(&answer);
	free(id);
}

static struct executor_task *task_of_id(struct executor_task **tasks,
					size_t count, int64_t id)
{
	for (size_t i = 0; i < count; i++)
		if (!tasks[i]->has_ended && tasks[i]->slurm_id == id)
			return tasks[i];
	return NULL;
}

/* One answer of squeue, for all tasks. */
static void take_answer(struct executor *executor, struct executor_task **tasks,
			size_t count)
{
	const char *at = strbuf_text(&executor->queue);
	struct slurm_queue_line line;

	for (size_t i = 0; i < count; i++)
		tasks[i]->slurm_absent += !tasks[i]->slurm_over;
	while (slurm_queue_next(&at, &line)) {
		struct executor_task *task = task_of_id(tasks, count, line.id);

		if (task)
			take_line(executor, task, &line);
	}
	for (size_t i = 0; i < count; i++)
		if (!tasks[i]->has_ended && !tasks[i]->slurm_over &&
		    tasks[i]->slurm_absent >= ABSENT_MAX)
			ask_accounting(executor, tasks[i]);
}

static void slurm_look(struct executor *executor, struct executor_task **tasks,
		       size_t count)
{
	bool is_asked = clock_ms() - executor->asked_ms >= ASK_MS;
	size_t left = 0;

	for (size_t i = 0; i < count; i++) {
		if (has_result(tasks[i]))
			tasks[i]->has_ended = true;
		left += !tasks[i]->has_ended;
	}
	if (is_asked && left) {
		ask_queue(executor);
		if (!executor->has_failed)
			take_answer(executor, tasks, count);
	}
	for (size_t i = 0; i < count; i++) {
		struct executor_task *task = tasks[i];

		if (task->has_ended || !task->slurm_over ||
		    (!task->slurm_lost &&
		     clock_ms() - task->slurm_over_ms < RESULT_LAG_MS))
			continue;
		task->is_lost = task->slurm_lost;
		executor_task_end(task,
				  xasprintf("job %" PRId64 " of Slurm %s; see "
					    "%s",
					    task->slurm_id, task->slurm_over,
					    task->log));
	}
}

/* All in one call: Slurm ends them, and autofit in them keeps its journal. */
static void slurm_stop(struct executor *executor, struct executor_task **tasks,
		       size_t count, int number)
{
	struct strlist words = STRLIST_INIT;
	struct strbuf answer = STRBUF_INIT;
	struct error err = ERROR_INIT;

	(void)number;
	strlist_add(&words, "scancel");
	for (size_t i = 0; i < count; i++)
		if (tasks[i]->slurm_id)
			strlist_addf(&words, "%" PRId64, tasks[i]->slurm_id);
	if (words.count > 1 &&
	    program_answer((const char *const *)words.items, NULL,
			   executor->state, &answer, &err) != 0)
		log_warning("scancel failed: jobs may go on in Slurm: %s",
			    answer.length ? strbuf_text(&answer) : err.message);
	strbuf_release(&answer);
	strlist_release(&words);
}

const struct executor_ops executor_slurm = {
	.look_ns = SLURM_LOOK_NS,
	.awaits_stopped = false,
	.open = slurm_open,
	.start = slurm_start,
	.look = slurm_look,
	.stop = slurm_stop,
};
