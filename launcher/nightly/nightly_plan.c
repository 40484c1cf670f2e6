/* `autofit nightly --dry-run`: what would run, and cost at most. */
/* SPDX-License-Identifier: MIT */
#include "launcher/nightly/nightly_plan.h"

#include "base/alloc.h"
#include "launcher/command/text/shellquote.h"
#include "launcher/nightly/executor/slurm_script.h"
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

static void add_script(struct strbuf *out, const struct jobs *jobs,
		       const struct job *job)
{
	struct strbuf script = STRBUF_INIT;
	struct executor_task task;

	night_task_begin(&task, job, jobs->results, 0, 0);
	slurm_script(&task, "autofit", &script);
	for (const char *at = strbuf_text(&script); *at;) {
		const char *end = at;

		while (*end && *end != '\n')
			end++;
		strbuf_addf(out, "    %.*s\n", (int)(end - at), at);
		at = end + (*end == '\n');
	}
	executor_task_release(&task);
	strbuf_release(&script);
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

int nightly_plan(const struct jobs *jobs, const struct options *options)
{
	const char *only = options->nightly.only;
	struct plan_cost cost = { 0 };
	struct strbuf text = STRBUF_INIT;
	int code;

	for (size_t i = 0; i < jobs->count; i++) {
		const struct job *job = &jobs->items[i];

		if (only && !job_is_named(job, only))
			continue;
		add_head(&text, job);
		if (jobs->is_slurm)
			add_script(&text, jobs, job);
		else
			add_local(&text, job);
		add_cost(&cost, &job->slurm);
	}
	if (jobs->is_slurm)
		add_cost_line(&text, &cost);
	strbuf_addf(&text, "results: %s\n", jobs->results);
	if (jobs->publish)
		strbuf_addf(&text, "publish: %s\n", jobs->publish);
	code = report_print(&text, EXIT_DONE);
	strbuf_release(&text);
	return code;
}
