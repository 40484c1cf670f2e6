/* The keys of a job that Slurm is told: partition, gres, time, and so on. */
/* SPDX-License-Identifier: MIT */
/*
 * Their values become lines of a batch script ("#SBATCH --partition=gpu"), so
 * nothing is taken that would end the value there or begin another one.
 */
#include "launcher/nightly/jobs/jobs_slurm.h"

#include "base/alloc.h"
#include "base/units.h"
#include "launcher/command/text/text.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define MINUTE_MS INT64_C(60000)
#define NODES_MAX 100000

const char job_slurm_keys[] = "partition, account, constraint, gres, time, "
			      "nodes, ranks, sbatch";

typedef char *take_slurm(void *field, const char *value);

static bool slurm_is_word(const char *value)
{
	for (const char *at = value; *at; at++)
		if (*at <= ' ' || *at > '~' || strchr("\"'\\`$#;", *at))
			return false;
	return *value != '\0';
}

static char *slurm_take_word(void *field, const char *value)
{
	char **slot = field;

	free(*slot);
	*slot = *value ? xstrdup(value) : NULL;
	return !*value || slurm_is_word(value)
		       ? NULL
		       : xasprintf("'%s' is not one plain word: write it as "
				   "for sbatch, without blanks and quotes",
				   value);
}

/* As all times of autofit are written; Slurm's own notation is told. */
static char *slurm_take_minutes(void *field, const char *value)
{
	struct error err = ERROR_INIT;
	int64_t ms = 0;

	if (*value && (duration_parse(value, &ms, &err) < 0 || ms <= 0))
		return xasprintf("'%s' is no time: write 90m or 12h", value);
	*(int64_t *)field = (ms + MINUTE_MS - 1) / MINUTE_MS;
	return NULL;
}

static char *slurm_take_number(void *field, const char *value)
{
	int64_t number = 0;

	if (*value && (integer_parse(value, &number, NULL) < 0 || number < 1 ||
		       number > NODES_MAX))
		return xasprintf("'%s' is no number from 1 to %d", value,
				 NODES_MAX);
	*(int64_t *)field = number;
	return NULL;
}

/* Options that autofit writes itself, or that make another kind of job. */
static const char *const own_options[] = {
	"--job-name", "--output", "--error",     "--open-mode",  "--dependency",
	"--array",    "--wrap",   "--requeue",   "--no-requeue", "--parsable",
	"--wait",     "--chdir",  "--test-only",
};

static char *sbatch_mistake(const char *option)
{
	size_t length = strcspn(option, "=");

	if (strncmp(option, "--", 2) != 0 || !slurm_is_word(option))
		return xasprintf("'%s' is no option: write --NAME=VALUE, one "
				 "on each line",
				 option);
	for (size_t i = 0; i < sizeof(own_options) / sizeof(*own_options); i++)
		if (strlen(own_options[i]) == length &&
		    strncmp(own_options[i], option, length) == 0)
			return xasprintf("%s is autofit's own: leave it out",
					 own_options[i]);
	return NULL;
}

static const struct slurm_key {
	const char *key;
	take_slurm *take;
	size_t offset;
} slurm_keys[] = {
	{ "partition", slurm_take_word, offsetof(struct job_slurm, partition) },
	{ "account", slurm_take_word, offsetof(struct job_slurm, account) },
	{ "constraint", slurm_take_word,
	  offsetof(struct job_slurm, constraint) },
	{ "gres", slurm_take_word, offsetof(struct job_slurm, gres) },
	{ "time", slurm_take_minutes, offsetof(struct job_slurm, minutes) },
	{ "nodes", slurm_take_number, offsetof(struct job_slurm, nodes) },
	{ "ranks", slurm_take_number, offsetof(struct job_slurm, ranks) },
};

#define SLURM_KEYS (sizeof(slurm_keys) / sizeof(*slurm_keys))

static void slurm_take_options(struct jobs_reader *reader, struct job *job,
			       const struct job_line_text *line)
{
	strlist_release(&job->slurm.options);
	for (size_t i = 0; i < line->values.count; i++) {
		const char *option = line->values.items[i];
		char *why = *option ? sbatch_mistake(option) : NULL;

		if (why)
			jobs_mistake(reader, line->line + (unsigned)i,
				     xasprintf("sbatch: %s", why));
		else if (*option)
			strlist_add(&job->slurm.options, option);
		free(why);
	}
}

bool job_slurm_take(struct jobs_reader *reader, struct job *job,
		    const struct job_line_text *line, const char *value)
{
	assert(line->values.count > 0);
	if (strcmp(line->key, "sbatch") == 0) {
		slurm_take_options(reader, job, line);
		return true;
	}
	for (size_t i = 0; i < SLURM_KEYS; i++) {
		const struct slurm_key *key = &slurm_keys[i];
		char *why;

		if (strcmp(line->key, key->key) != 0)
			continue;
		why = key->take((char *)&job->slurm + key->offset, value);
		if (why)
			jobs_mistake(reader, line->line,
				     xasprintf("%s: %s", line->key, why));
		free(why);
		return true;
	}
	return false;
}

const char *job_slurm_suggestion(const char *key)
{
	for (size_t i = 0; i < SLURM_KEYS; i++)
		if (text_distance(slurm_keys[i].key, key) <= 2)
			return slurm_keys[i].key;
	return NULL;
}

static bool slurm_text_equal(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

bool job_slurm_equal(const struct job_slurm *a, const struct job_slurm *b)
{
	return slurm_text_equal(a->partition, b->partition) &&
	       slurm_text_equal(a->account, b->account) &&
	       slurm_text_equal(a->constraint, b->constraint) &&
	       slurm_text_equal(a->gres, b->gres) && a->minutes == b->minutes &&
	       a->nodes == b->nodes && a->ranks == b->ranks &&
	       strlist_equal(&a->options, &b->options);
}

void job_slurm_release(struct job_slurm *slurm)
{
	free(slurm->partition);
	free(slurm->account);
	free(slurm->constraint);
	free(slurm->gres);
	strlist_release(&slurm->options);
}
