/* Runs the jobs of a night through Slurm. */
/* SPDX-License-Identifier: MIT */
/*
 * sbatch takes a script for each job, and Slurm does the rest. A job is over
 * when its result file says so, whatever Slurm thinks of it: an accounting that
 * lags, or an out-of-memory kill of a probe, is no end. Slurm is asked for the
 * others, with one squeue for all of them and not more often than every 15
 * seconds.
 *
 * Jobs that ask Slurm for the same are submitted as one array, which Slurm
 * throttles; where a site refuses it, they are submitted one by one.
 *
 * NAME.sbatch in the folder of results is the script of a job as it is
 * submitted alone; where it was an element of an array, its last line names
 * that. A night that goes on takes over a job whose script is the same, and so
 * does not submit it twice.
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
#include "launcher/nightly/executor/slurm_submit.h"
#include "launcher/request/exec_command.h"
#include "launcher/request/program_answer.h"

#include <assert.h>
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
/* A job may be missing in one answer: a controller that just restarted. */
#define ABSENT_MAX 2
/* Results that one look looks for: of very many tasks they come in turns. */
#define RESULTS_PER_LOOK 64
#define SLURM_RESULT_MAX ((size_t)16 << 20)
#define SCRIPT_MAX ((size_t)4 << 20)

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
	executor->together_max = EXECUTOR_TOGETHER_MAX;
	ask_queue(executor);
	return executor->has_failed
		       ? error_set(err, -EIO,
				   "executor = slurm: Slurm does not answer; "
				   "see what squeue says")
		       : 0;
}

/* The newest job of that name that Slurm knows and that is not over; 0: none.
 */
static int64_t newest_of_name(const struct executor *executor, const char *name,
			      int64_t element)
{
	const char *at = strbuf_text(&executor->queue);
	struct slurm_queue_line line;
	int64_t newest = 0;
	bool is_lost;

	while (slurm_queue_next(&at, &line))
		if (strcmp(line.name, name) == 0 && line.element == element &&
		    !slurm_state_over(line.state, &is_lost) && line.id > newest)
			newest = line.id;
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

/* Its last line names an array, or it was submitted alone. */
static void find_submitted(const struct executor *executor,
			   struct executor_task *task, const char *last)
{
	char *name = NULL;

	if (!slurm_read_element(last, &task->slurm_element, &name)) {
		task->slurm_element = -1;
		name = *last ? NULL : slurm_job_name(task);
	}
	if (name)
		task->slurm_id =
			newest_of_name(executor, name, task->slurm_element);
	free(name);
}

/* The same script was submitted by a night that was killed, and its job is
 * known to Slurm or has ended with a result. */
static bool take_script_over(struct executor *executor,
			     struct executor_task *task,
			     const struct strbuf *script)
{
	char *path = slurm_script_path(executor, task->job->name);
	struct strbuf there = STRBUF_INIT;
	bool is_same = textfile_read(path, SCRIPT_MAX, &there, NULL) == 0 &&
		       there.length >= script->length &&
		       memcmp(strbuf_text(&there), strbuf_text(script),
			      script->length) == 0;

	if (is_same)
		find_submitted(executor, task,
			       strbuf_text(&there) + script->length);
	strbuf_release(&there);
	free(path);
	return is_same && (task->slurm_id || has_result(task));
}

/* Those of a night that was killed go on; what is left is the array's. */
static void take_over_all(struct executor *executor,
			  struct executor_task **tasks, size_t count,
			  struct slurm_array *left)
{
	for (size_t i = 0; i < count; i++) {
		struct strbuf script = STRBUF_INIT;

		tasks[i]->slurm_over = NULL;
		tasks[i]->slurm_absent = 0;
		executor_task_tell(tasks[i], "submitted", "");
		slurm_script(tasks[i], left->program, &script);
		if (!take_script_over(executor, tasks[i], &script))
			left->tasks[left->count++] = tasks[i];
		strbuf_release(&script);
	}
}

static int slurm_start(struct executor *executor, struct executor_task **tasks,
		       size_t count, size_t at_once, struct error *err)
{
	char *program = exec_command_self();
	struct slurm_array left = {
		.tasks = xcalloc(count, sizeof(struct executor_task *)),
		.at_once = at_once,
		.program = program,
	};
	int64_t id = 0;
	int result = 0;

	take_over_all(executor, tasks, count, &left);
	assert(left.count <= count);
	if (left.count > 1) {
		result = slurm_submit_array(executor, &left, &id, err);
		executor->together_max = id ? executor->together_max : 1;
	}
	for (size_t i = 0; i < left.count && result == 0 && !id; i++) {
		if (i < at_once)
			result = slurm_submit_alone(executor, left.tasks[i],
						    program, err);
		left.tasks[i]->is_put_off = i >= at_once;
	}
	free(left.name);
	free(left.tasks);
	free(program);
	return result;
}

/* "12", or "12_3" of an array. The caller frees. */
static char *slurm_id_text(const struct executor_task *task)
{
	assert(task->slurm_id > 0);
	return task->slurm_element < 0
		       ? xasprintf("%" PRId64, task->slurm_id)
		       : xasprintf("%" PRId64 "_%" PRId64, task->slurm_id,
				   task->slurm_element);
}

static void set_over(struct executor_task *task, const char *why, bool is_lost)
{
	if (!task->slurm_over)
		task->slurm_over_ms = clock_ms();
	task->slurm_over = why;
	task->slurm_lost = is_lost;
}

/* All in one call. */
static void cancel_all(struct executor *executor, const struct strlist *ids)
{
	struct strlist words = STRLIST_INIT;
	struct strbuf answer = STRBUF_INIT;
	struct error err = ERROR_INIT;

	strlist_add(&words, "scancel");
	strlist_add_all(&words, (const char *const *)ids->items, ids->count);
	if (ids->count && program_answer((const char *const *)words.items, NULL,
					 executor->state, &answer, &err) != 0)
		log_warning("scancel failed: jobs may go on in Slurm: %s",
			    answer.length ? strbuf_text(&answer) : err.message);
	strbuf_release(&answer);
	strlist_release(&words);
}

/* stuck receives a job that nothing will start: it would be in the way of what
 * comes next. */
static void take_line(struct executor_task *task,
		      const struct slurm_queue_line *line,
		      struct strlist *stuck)
{
	bool is_lost, is_pending = strcmp(line->state, "PENDING") == 0;
	const char *why = slurm_state_over(line->state, &is_lost);
	const char *reason =
		is_pending ? slurm_reason_stuck(line->reason) : NULL;

	task->slurm_absent = 0;
	task->slurm_has_run = task->slurm_has_run || !is_pending;
	executor_task_tell(task, slurm_state_word(line->state), line->node);
	if (why)
		set_over(task, why,
			 is_lost || (strcmp(line->state, "FAILED") == 0 &&
				     slurm_reason_lost(line->reason)));
	if (!reason)
		return;
	strlist_take(stuck, slurm_id_text(task));
	executor_task_end(task, xstrdup(reason));
}

/* The queue names others of its array: they would be forgotten with it. */
static bool is_cancelled_element(const struct executor *executor,
				 const struct executor_task *task)
{
	const char *at = strbuf_text(&executor->queue);
	struct slurm_queue_line line;

	if (task->slurm_element < 0 || task->slurm_has_run)
		return false;
	while (slurm_queue_next(&at, &line))
		if (line.id == task->slurm_id)
			return true;
	return false;
}

/* Its accounting knows a job that the queue has forgotten. Without one, of an
 * element that never ran it is known all the same: Slurm forgets those at once.
 */
static void ask_accounting(struct executor *executor,
			   struct executor_task *task)
{
	char *number = slurm_id_text(task);
	char *id = xasprintf("--jobs=%s", number);
	const char *const argv[] = {
		"sacct",          "--noheader", "--parsable2", "--allocations",
		"--format=State", id,           NULL
	};
	struct strbuf answer = STRBUF_INIT, state = STRBUF_INIT;
	const char *why = NULL;
	bool is_lost = false;

	if (exec_command_find("sacct") == 0 &&
	    program_answer(argv, NULL, executor->state, &answer, NULL) == 0) {
		slurm_add_said(&state, &answer);
		why = slurm_state_over(strbuf_text(&state), &is_lost);
	}
	if (why)
		set_over(task, why, is_lost);
	else if (is_cancelled_element(executor, task))
		set_over(task, slurm_state_over("CANCELLED", &is_lost), false);
	else
		set_over(task, "is no longer known to Slurm", true);
	strbuf_release(&state);
	strbuf_release(&answer);
	free(number);
	free(id);
}

static struct executor_task *task_of_line(struct executor_task **tasks,
					  size_t count,
					  const struct slurm_queue_line *line)
{
	for (size_t i = 0; i < count; i++)
		if (!tasks[i]->has_ended && tasks[i]->slurm_id == line->id &&
		    tasks[i]->slurm_element == line->element)
			return tasks[i];
	return NULL;
}

/* One answer of squeue, for all tasks. */
static void take_answer(struct executor *executor, struct executor_task **tasks,
			size_t count)
{
	const char *at = strbuf_text(&executor->queue);
	struct strlist stuck = STRLIST_INIT;
	struct slurm_queue_line line;

	for (size_t i = 0; i < count; i++)
		tasks[i]->slurm_absent += !tasks[i]->slurm_over;
	while (slurm_queue_next(&at, &line)) {
		struct executor_task *task = task_of_line(tasks, count, &line);

		if (task)
			take_line(task, &line, &stuck);
	}
	cancel_all(executor, &stuck);
	strlist_release(&stuck);
	for (size_t i = 0; i < count; i++)
		if (!tasks[i]->has_ended && !tasks[i]->slurm_over &&
		    tasks[i]->slurm_absent >= ABSENT_MAX)
			ask_accounting(executor, tasks[i]);
}

/* Of some of them, beginning where the last look ended; true: some are left. */
static bool look_for_results(struct executor *executor,
			     struct executor_task **tasks, size_t count)
{
	size_t looks = count < RESULTS_PER_LOOK ? count : RESULTS_PER_LOOK;

	for (size_t i = 0; i < looks; i++) {
		struct executor_task *task = tasks[executor->look_at++ % count];

		if (!task->has_ended && has_result(task))
			task->has_ended = true;
	}
	for (size_t i = 0; i < count; i++)
		if (!tasks[i]->has_ended)
			return true;
	return false;
}

/* Over in Slurm, and its result had the time to come. */
static void end_of_state(struct executor_task *task)
{
	char *id = slurm_id_text(task);

	assert(task->slurm_over && !task->has_ended);
	if (has_result(task)) {
		task->has_ended = true;
	} else {
		task->is_lost = task->slurm_lost;
		executor_task_end(task,
				  xasprintf("job %s of Slurm %s; see %s", id,
					    task->slurm_over, task->log));
	}
	free(id);
}

static void slurm_look(struct executor *executor, struct executor_task **tasks,
		       size_t count)
{
	bool is_asked = clock_ms() - executor->asked_ms >= ASK_MS;

	if (look_for_results(executor, tasks, count) && is_asked) {
		ask_queue(executor);
		if (!executor->has_failed)
			take_answer(executor, tasks, count);
	}
	for (size_t i = 0; i < count; i++) {
		struct executor_task *task = tasks[i];

		if (!task->has_ended && task->slurm_over &&
		    (task->slurm_lost ||
		     clock_ms() - task->slurm_over_ms >= RESULT_LAG_MS))
			end_of_state(task);
	}
}

/* Slurm ends them, and autofit in them keeps its journal. */
static void slurm_stop(struct executor *executor, struct executor_task **tasks,
		       size_t count, int number)
{
	struct strlist ids = STRLIST_INIT;

	(void)number;
	for (size_t i = 0; i < count; i++)
		if (tasks[i]->slurm_id)
			strlist_take(&ids, slurm_id_text(tasks[i]));
	cancel_all(executor, &ids);
	strlist_release(&ids);
}

const struct executor_ops executor_slurm = {
	.look_ns = SLURM_LOOK_NS,
	.awaits_stopped = false,
	.open = slurm_open,
	.start = slurm_start,
	.look = slurm_look,
	.stop = slurm_stop,
};
