/* Scripts handed to sbatch: of one job, or of an array of jobs. */
/* SPDX-License-Identifier: MIT */
#include "launcher/nightly/executor/slurm_submit.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/textfile.h"
#include "base/units.h"
#include "launcher/command/text/text.h"
#include "launcher/request/program_answer.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

char *slurm_script_path(const struct executor *executor, const char *name)
{
	return xasprintf("%s/%s.sbatch", executor->folder, name);
}

void slurm_add_said(struct strbuf *out, const struct strbuf *answer)
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

/* The new job's number; else 0, and why says what is in the way. */
static int64_t submit(struct executor *executor, const char *path, char **why)
{
	const char *const argv[] = { "sbatch", "--parsable", path, NULL };
	struct strbuf answer = STRBUF_INIT, said = STRBUF_INIT;
	struct error err = ERROR_INIT;
	int code = program_answer(argv, executor->folder, executor->state,
				  &answer, &err);
	int64_t id = code == 0 ? id_of_answer(&answer) : 0;

	if (!id) {
		slurm_add_said(&said, &answer);
		*why = xasprintf("is not taken by Slurm: %s",
				 code < 0 ? err.message : strbuf_text(&said));
	}
	strbuf_release(&said);
	strbuf_release(&answer);
	return id;
}

/* An empty log that only its owner reads; Slurm appends to it. */
static void begin_log(const char *path)
{
	int fd = open(path,
		      O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW,
		      0600);

	if (fd >= 0)
		(void)close(fd);
}

static int write_slurm_script(const struct executor *executor, const char *name,
			      const struct strbuf *script, struct error *err)
{
	char *path = slurm_script_path(executor, name);
	int result = textfile_replace(path, 0600, strbuf_text(script),
				      script->length, err);

	free(path);
	return result;
}

/* Nothing of an earlier start is left, and its script is there. */
static int prepare_task(const struct executor *executor,
			struct executor_task *task, const char *program,
			const char *array, struct error *err)
{
	struct strbuf script = STRBUF_INIT;
	int result;

	(void)unlink(task->json);
	begin_log(task->log);
	slurm_script(task, program, &script);
	if (array)
		slurm_add_element(&script, task->slurm_element, array);
	result = write_slurm_script(executor, task->job->name, &script, err);
	strbuf_release(&script);
	return result;
}

int slurm_submit_alone(struct executor *executor, struct executor_task *task,
		       const char *program, struct error *err)
{
	char *path = slurm_script_path(executor, task->job->name), *why = NULL;
	int result;

	task->slurm_element = -1;
	result = prepare_task(executor, task, program, NULL, err);
	if (result == 0)
		task->slurm_id = submit(executor, path, &why);
	if (why)
		executor_task_end(task, why);
	free(path);
	return result;
}

/* Into its file, and its log begun. */
static int write_array(const struct executor *executor,
		       const struct slurm_array *array, const char *file,
		       struct error *err)
{
	char *log = xasprintf("%s/%s.log", executor->folder, file);
	struct strbuf script = STRBUF_INIT;
	int result;

	begin_log(log);
	slurm_script_array(array, &script);
	result = write_slurm_script(executor, file, &script, err);
	strbuf_release(&script);
	free(log);
	return result;
}

int slurm_submit_array(struct executor *executor, struct slurm_array *array,
		       int64_t *id, struct error *err)
{
	char *file = slurm_array_file(array);
	char *path = slurm_script_path(executor, file), *why = NULL;
	uint64_t mark = array->tasks[0]->mark ^ (uint64_t)clock_ms() ^
			(uint64_t)getpid() << 16;
	int result = 0;

	/* No other one has its name, or an element of it could be taken for
	 * another job. */
	array->name =
		xasprintf("autofit-%s-%08" PRIx64, file, mark & UINT32_MAX);
	for (size_t i = 0; i < array->count && result == 0; i++) {
		array->tasks[i]->slurm_element = (int64_t)i;
		result = prepare_task(executor, array->tasks[i], array->program,
				      array->name, err);
	}
	if (result == 0)
		result = write_array(executor, array, file, err);
	*id = result == 0 ? submit(executor, path, &why) : 0;
	for (size_t i = 0; i < array->count; i++)
		array->tasks[i]->slurm_id = *id;
	if (why)
		log_verbose("an array %s: its jobs are submitted one by one",
			    why);
	free(why);
	free(path);
	free(file);
	return result;
}
