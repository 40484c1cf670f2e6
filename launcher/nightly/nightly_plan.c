/* `autofit nightly --dry-run`: what would run, and cost at most. */
/* SPDX-License-Identifier: MIT */
#include "launcher/nightly/nightly_plan.h"

#include "base/alloc.h"
#include "launcher/command/text/shellquote.h"
#include "launcher/nightly/executor/slurm_script.h"
#include "launcher/nightly/night_groups.h"
#include "launcher/nightly/night_task.h"
#include "launcher/options/exitcode.h"
#include "launcher/report/report_answer.h"

#include <inttypes.h>
#include <stdlib.h>

/* GPU-hours, by the times that the list gives. */
struct plan_cost {
	int64_t gpu_minutes;
	size_t unbounded; /* jobs with GPUs and without a time */
	size_t jobs;
};

static void add_head(struct strbuf *out, const struct job *job)
{
	strbuf_addf(out, "%s%s, in %s:\n", job->name,
		    job->is_optional ? " (optional)" : "", job->directory);
}

static void add_local(struct strbuf *out, const struct job *job)
{
	struct strlist words = STRLIST_INIT;
	char *line;

	strlist_add_all(&words, (const char *const *)job->options.items,
			job->options.count);
	strlist_add(&words, "--");
	strlist_add_all(&words, (const char *const *)job->command.items,
			job->command.count);
	line = shell_quote_all(&words);
	strbuf_addf(out, "    autofit tune %s\n", line);
	free(line);
	strlist_release(&words);
}

static void add_indented(struct strbuf *out, const char *text)
{
	for (const char *at = text; *at;) {
		const char *end = at;

		while (*end && *end != '\n')
			end++;
		strbuf_addf(out, "    %.*s\n", (int)(end - at), at);
		at = end + (*end == '\n');
	}
}

/* Of these jobs, which are submitted together. */
static void add_scripts(struct strbuf *out, const struct jobs *jobs,
			const size_t *items, size_t count, size_t at_once)
{
	struct executor_task *tasks = xcalloc(count, sizeof(*tasks));
	char name[] = "autofit";
	struct slurm_array all = {
		.tasks = xcalloc(count, sizeof(struct executor_task *)),
		.count = count,
		.at_once = at_once,
		.name = name,
		.program = name,
	};
	struct strbuf script = STRBUF_INIT;

	for (size_t i = 0; i < count; i++) {
		all.tasks[i] = &tasks[i];
		night_task_begin(all.tasks[i], &jobs->items[items[i]],
				 jobs->results, 0, 0);
	}
	if (count > 1)
		slurm_script_array(&all, &script);
	else
		slurm_script(all.tasks[0], name, &script);
	add_indented(out, strbuf_text(&script));
	for (size_t i = 0; i < count; i++)
		executor_task_release(all.tasks[i]);
	strbuf_release(&script);
	free(all.tasks);
	free(tasks);
}

static void add_cost(struct plan_cost *cost, const struct job_slurm *slurm)
{
	int64_t gpus = slurm_gpu_count(slurm);

	cost->jobs++;
	cost->gpu_minutes += gpus * slurm->minutes;
	cost->unbounded += gpus > 0 && !slurm->minutes;
}

static void add_cost_line(struct strbuf *out, const struct plan_cost *cost)
{
	strbuf_addf(
		out,
		"slurm: %zu jobs, at most %" PRId64 ".%" PRId64 " GPU-hours",
		cost->jobs, cost->gpu_minutes / 60, cost->gpu_minutes % 60 / 6);
	if (cost->unbounded)
		strbuf_addf(out,
			    ", and %zu jobs without time: up to their "
			    "partition's limit",
			    cost->unbounded);
	strbuf_adds(out, "\n");
}

/* What starts together, one after the other. */
static void plan_add_groups(struct strbuf *out, const struct jobs *jobs,
			    struct night_groups *groups, struct plan_cost *cost)
{
	size_t room = jobs->is_slurm ? (size_t)jobs->at_once : 1;
	size_t together = jobs->is_slurm ? EXECUTOR_TOGETHER_MAX : 1;
	size_t *items = xcalloc(jobs->count + 1, sizeof(*items));
	size_t count, at_once;

	while ((count = night_groups_take(groups, room, together, items,
					  &at_once))) {
		for (size_t i = 0; i < count; i++) {
			const struct job *job = &jobs->items[items[i]];

			add_head(out, job);
			add_cost(cost, &job->slurm);
			if (!jobs->is_slurm)
				add_local(out, job);
		}
		if (jobs->is_slurm)
			add_scripts(out, jobs, items, count, at_once);
		room = room > at_once ? room - at_once : 1;
	}
	free(items);
}

int nightly_plan(const struct jobs *jobs, const struct options *options)
{
	const char *only = options->nightly.only;
	struct plan_cost cost = { 0 };
	struct strbuf text = STRBUF_INIT;
	struct night_groups groups;
	int code;

	night_groups_open(&groups, jobs);
	for (size_t i = 0; i < jobs->count; i++)
		if (!only || job_is_named(&jobs->items[i], only))
			night_groups_add(&groups, i);
	plan_add_groups(&text, jobs, &groups, &cost);
	night_groups_release(&groups);
	if (jobs->is_slurm)
		add_cost_line(&text, &cost);
	strbuf_addf(&text, "results: %s\n", jobs->results);
	if (jobs->publish)
		strbuf_addf(&text, "publish: %s\n", jobs->publish);
	code = report_print(&text, EXIT_DONE);
	strbuf_release(&text);
	return code;
}
