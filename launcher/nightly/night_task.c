/* A job of the list as a call of `autofit tune`. Pure. */
/* SPDX-License-Identifier: MIT */
#include "launcher/nightly/night_task.h"

#include "base/alloc.h"
#include "base/hash.h"
#include "launcher/command/text/shellquote.h"

#include <inttypes.h>
#include <stdlib.h>

static void night_hash_text(uint64_t *hash, const char *text)
{
	for (; text && *text; text++)
		*hash = hash_byte(*hash, *text);
	*hash = hash_byte(*hash, '\0');
}

static void night_hash_number(uint64_t *hash, int64_t number)
{
	char *text = xasprintf("%" PRId64, number);

	night_hash_text(hash, text);
	free(text);
}

static void hash_list(uint64_t *hash, const struct strlist *list)
{
	for (size_t i = 0; i < list->count; i++)
		night_hash_text(hash, list->items[i]);
	*hash = hash_byte(*hash, '\1');
}

static void hash_slurm(uint64_t *hash, const struct job_slurm *slurm)
{
	night_hash_text(hash, slurm->partition);
	night_hash_text(hash, slurm->account);
	night_hash_text(hash, slurm->constraint);
	night_hash_text(hash, slurm->gres);
	night_hash_number(hash, slurm->minutes);
	night_hash_number(hash, slurm->nodes);
	night_hash_number(hash, slurm->ranks);
	hash_list(hash, &slurm->options);
}

char *night_task_definition(const struct job *job)
{
	uint64_t hash = HASH_START;

	hash_list(&hash, &job->command);
	night_hash_text(&hash, job->directory);
	hash_list(&hash, &job->environment);
	hash_list(&hash, &job->options);
	hash_slurm(&hash, &job->slurm);
	return xasprintf("%016" PRIx64, hash);
}

static void arguments_of(const struct job *job, const char *json,
			 struct strlist *out)
{
	strlist_add(out, "autofit");
	strlist_add(out, "tune");
	strlist_add_all(out, (const char *const *)job->options.items,
			job->options.count);
	strlist_addf(out, "--json=%s", json);
	strlist_add(out, "--");
	strlist_add_all(out, (const char *const *)job->command.items,
			job->command.count);
}

static uint64_t night_mark_of(const struct job *job, const char *folder,
			      int64_t started, unsigned attempt)
{
	char *definition = night_task_definition(job);
	uint64_t hash = HASH_START;

	night_hash_text(&hash, folder);
	night_hash_text(&hash, definition);
	night_hash_number(&hash, started);
	night_hash_number(&hash, attempt);
	free(definition);
	return hash;
}

void night_task_begin(struct executor_task *task, const struct job *job,
		      const char *folder, int64_t started, unsigned attempt)
{
	*task = (struct executor_task){
		.job = job,
		.json = xasprintf("%s/runs/%s.json", folder, job->name),
		.log = xasprintf("%s/runs/%s.log", folder, job->name),
		.mark = night_mark_of(job, folder, started, attempt),
	};
	arguments_of(job, task->json, &task->arguments);
}

void night_row_begin(struct night_row *row, const struct job *job)
{
	char *name = xstrdup(job->name);

	night_row_release(row);
	row->name = name;
	row->definition = night_task_definition(job);
	row->is_required = !job->is_optional;
	row->command = shell_quote_all(&job->command);
}
