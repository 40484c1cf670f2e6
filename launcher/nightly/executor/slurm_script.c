/* The batch script of a job, and what it may cost. Pure. */
/* SPDX-License-Identifier: MIT */
#include "launcher/nightly/executor/slurm_script.h"

#include "base/alloc.h"
#include "base/units.h"
#include "launcher/command/text/shellquote.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define DIRECTIVE "#SBATCH --"
#define ELEMENT "# Submitted as element "
#define GPUS_MAX 1024

static void add_directive(struct strbuf *out, const char *option,
			  const char *value)
{
	if (value)
		strbuf_addf(out, DIRECTIVE "%s=%s\n", option, value);
}

static void add_directive_number(struct strbuf *out, const char *option,
				 int64_t value)
{
	if (value)
		strbuf_addf(out, DIRECTIVE "%s=%" PRId64 "\n", option, value);
}

char *slurm_job_name(const struct executor_task *task)
{
	return xasprintf("autofit-%s-%08" PRIx64, task->job->name,
			 task->mark & UINT32_MAX);
}

/*
 * A job that is preempted or loses its node is put back and goes on by its
 * journal. kind: "array=0-9%4", or what else makes it other than plain.
 */
static void add_directives(const struct job_slurm *slurm, const char *name,
			   const char *log, const char *kind,
			   struct strbuf *out)
{
	strbuf_adds(out, "#!/bin/sh\n");
	add_directive(out, "job-name", name);
	strbuf_addf(out, DIRECTIVE "output=%s.log\n", log);
	strbuf_adds(out, DIRECTIVE "open-mode=append\n" DIRECTIVE "requeue\n");
	strbuf_addf(out, DIRECTIVE "%s\n", kind);
	add_directive(out, "partition", slurm->partition);
	add_directive(out, "account", slurm->account);
	add_directive(out, "constraint", slurm->constraint);
	add_directive(out, "gres", slurm->gres);
	add_directive_number(out, "time", slurm->minutes);
	add_directive_number(out, "nodes", slurm->nodes);
	add_directive_number(out, "ntasks", slurm->ranks);
	for (size_t i = 0; i < slurm->options.count; i++)
		strbuf_addf(out, "#SBATCH %s\n", slurm->options.items[i]);
}

static void add_quoted_line(struct strbuf *out, const char *before,
			    const struct strlist *words, const char *after)
{
	char *text = shell_quote_all(words);

	strbuf_addf(out, "%s%s%s\n", before, text, after);
	free(text);
}

/* From the job's folder to exec. */
static void add_body(const struct executor_task *task, const char *program,
		     struct strbuf *out)
{
	const struct job *job = task->job;
	struct strlist words = STRLIST_INIT;

	strlist_add(&words, job->directory);
	add_quoted_line(out, "cd ", &words, " || exit 125");
	for (size_t i = 0; i < job->environment.count; i++) {
		const struct strlist one = { .items =
						     &job->environment.items[i],
					     .count = 1 };

		add_quoted_line(out, "export ", &one, "");
	}
	strlist_release(&words);
	strlist_add(&words, program);
	for (size_t i = 1; i < task->arguments.count; i++)
		strlist_add(&words, task->arguments.items[i]);
	add_quoted_line(out, "exec ", &words, "");
	strlist_release(&words);
}

void slurm_script(const struct executor_task *task, const char *program,
		  struct strbuf *out)
{
	char *name = slurm_job_name(task);

	/* Should a night that was killed have left one of the same name, the
	 * two run one after the other. */
	add_directives(&task->job->slurm, name, task->job->name,
		       "dependency=singleton", out);
	add_body(task, program, out);
	free(name);
}

char *slurm_array_file(const struct slurm_array *array)
{
	return xasprintf("%s+%zu", array->tasks[0]->job->name,
			 array->count - 1);
}

void slurm_script_array(const struct slurm_array *array, struct strbuf *out)
{
	char *file = slurm_array_file(array);
	char *kind =
		xasprintf("array=0-%zu%%%zu", array->count - 1, array->at_once);

	add_directives(&array->tasks[0]->job->slurm, array->name, file, kind,
		       out);
	strbuf_adds(out, "case $SLURM_ARRAY_TASK_ID in\n");
	for (size_t i = 0; i < array->count; i++) {
		strbuf_addf(out, "%zu)\nexec >>%s.log 2>&1\n", i,
			    array->tasks[i]->job->name);
		add_body(array->tasks[i], array->program, out);
		strbuf_adds(out, ";;\n");
	}
	strbuf_adds(out, "esac\n");
	free(kind);
	free(file);
}

void slurm_add_element(struct strbuf *script, int64_t element, const char *name)
{
	strbuf_addf(script, ELEMENT "%" PRId64 " of %s\n", element, name);
}

bool slurm_read_element(const char *text, int64_t *element, char **name)
{
	size_t length = strlen(ELEMENT), digits, end;
	char *number;
	bool is_number;

	if (strncmp(text, ELEMENT, length) != 0)
		return false;
	text += length;
	digits = strcspn(text, " \n");
	number = xasprintf("%.*s", (int)digits, text);
	is_number = integer_parse(number, element, NULL) == 0 && *element >= 0;
	free(number);
	text += digits;
	if (!is_number || strncmp(text, " of ", 4) != 0)
		return false;
	text += 4;
	end = strcspn(text, " \n");
	if (!end || strcmp(text + end, "\n") != 0)
		return false;
	*name = xasprintf("%.*s", (int)end, text);
	return true;
}

/* Of one item of gres, "gpu:h100:2(S:0-1)": 0 when it is no GPU. */
static int64_t gpus_of_item(const char *item, size_t length)
{
	size_t end = 0, last = 0;
	int64_t number;
	char *text;

	if (length < 3 || strncmp(item, "gpu", 3) != 0 ||
	    (length > 3 && !strchr(":(=", item[3])))
		return 0;
	while (end < length && item[end] != '(')
		end++;
	for (size_t i = 0; i < end; i++)
		if (item[i] == ':' || item[i] == '=')
			last = i + 1;
	text = xasprintf("%.*s", (int)(end - last), item + last);
	if (!last || integer_parse(text, &number, NULL) < 0 || number < 0 ||
	    number > GPUS_MAX)
		number = 1;
	free(text);
	return number;
}

int64_t slurm_gpu_count(const struct job_slurm *slurm)
{
	const char *item = slurm->gres;
	int64_t count = 0;

	while (item && *item) {
		size_t length = strcspn(item, ",");

		count += gpus_of_item(item, length);
		item += length;
		item += *item == ',';
	}
	return count * (slurm->nodes ? slurm->nodes : 1);
}
