/* One finished probe, in the words that every room shares. Pure. */
/* SPDX-License-Identifier: MIT */
#include "base/trial.h"

#include <assert.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>

static const char *const verdict_names[] = {
	"none",        "fits",       "fits_barely", "thrashes",
	"over_budget", "oom_device", "oom_host",    "too_big",
	"timeout",     "failed",     "disturbed",
};

static const char *const phase_names[] = { "start", "train", "eval", "save" };

static const char *const coverage_names[] = { "none", "device-wide", "exact" };

static const char *const steps_source_names[] = { "none", "hook", "log",
						  "exit", "time", "passes" };

#define COUNT(names) (sizeof(names) / sizeof(*(names)))

static int name_index(const char *const *names, size_t count, const char *name)
{
	if (!name)
		return -EINVAL;
	for (size_t i = 0; i < count; i++)
		if (strcmp(names[i], name) == 0)
			return (int)i;
	return -EINVAL;
}

const char *verdict_name(enum verdict verdict)
{
	assert((size_t)verdict < COUNT(verdict_names));
	return verdict_names[verdict];
}

int verdict_parse(const char *name, enum verdict *verdict)
{
	int i = name_index(verdict_names, COUNT(verdict_names), name);

	if (i >= 0)
		*verdict = (enum verdict)i;
	return i < 0 ? i : 0;
}

const char *phase_name(enum phase phase)
{
	assert((size_t)phase < COUNT(phase_names));
	return phase_names[phase];
}

int phase_parse(const char *name, enum phase *phase)
{
	int i = name_index(phase_names, COUNT(phase_names), name);

	if (i >= 0)
		*phase = (enum phase)i;
	return i < 0 ? i : 0;
}

const char *coverage_name(enum coverage coverage)
{
	assert((size_t)coverage < COUNT(coverage_names));
	return coverage_names[coverage];
}

int coverage_parse(const char *name, enum coverage *coverage)
{
	int i = name_index(coverage_names, COUNT(coverage_names), name);

	if (i >= 0)
		*coverage = (enum coverage)i;
	return i < 0 ? i : 0;
}

const char *steps_source_name(enum steps_source source)
{
	assert((size_t)source < COUNT(steps_source_names));
	return steps_source_names[source];
}

int steps_source_parse(const char *name, enum steps_source *source)
{
	int i = name_index(steps_source_names, COUNT(steps_source_names), name);

	if (i >= 0)
		*source = (enum steps_source)i;
	return i < 0 ? i : 0;
}

static void trial_add_count(struct strbuf *out, int64_t count, const char *one,
			    const char *many)
{
	strbuf_addf(out, "%lld %s", (long long)count, count == 1 ? one : many);
}

void trial_seen_format(const struct trial *trial, struct strbuf *out)
{
	if (!trial->input_rows || trial->steps_source != STEPS_HOOK)
		return;
	trial_add_count(out, trial->input_rows, "row", "rows");
	if (trial->seen_accum) {
		strbuf_adds(out, " x ");
		trial_add_count(out, trial->seen_accum, "pass", "passes");
	}
	strbuf_adds(out, " x ");
	trial_add_count(out, trial->seen_ranks > 0 ? trial->seen_ranks : 1,
			"rank", "ranks");
}
