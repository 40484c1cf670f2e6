/* Where a script hands its work on to other machines. Pure. */
/* SPDX-License-Identifier: MIT */
#include "launcher/command/files/source_submission.h"

#include "launcher/command/files/pytext.h"

#include <stdio.h>
#include <string.h>

/* A line of code, without the blanks before it. */
struct code_line {
	const char *text;
	size_t length;
	unsigned number;
};

static bool line_has(const struct code_line *line, const char *piece)
{
	return memmem(line->text, line->length, piece, strlen(piece)) != NULL;
}

static bool line_starts(const struct code_line *line, const char *piece)
{
	size_t length = strlen(piece);

	return line->length >= length && memcmp(line->text, piece, length) == 0;
}

/* A module that hands work to a cluster or a cloud: its name, or NULL. */
static const char *submitter_imported(const struct code_line *line)
{
	static const char *const modules[] = {
		"submitit",
		"dask_jobqueue",
		"simple_slurm",
		"modal",
		"sky",
		"xmanager",
		"runpod",
		"azure.ai.ml",
		"coiled",
		"beaker",
		"ray.job_submission",
		"ray.dashboard.modules.job.sdk"
	};

	if (!line_starts(line, "import ") && !line_starts(line, "from "))
		return NULL;
	for (size_t i = 0; i < sizeof(modules) / sizeof(*modules); i++) {
		const char *name = line->text + strcspn(line->text, " ") + 1;
		size_t length = strlen(modules[i]);

		if ((size_t)(line->text + line->length - name) >= length &&
		    memcmp(name, modules[i], length) == 0 &&
		    !pytext_is_word_start(name[length]))
			return modules[i];
	}
	return NULL;
}

static bool line_calls(const struct code_line *line)
{
	static const char *const calls[] = { "subprocess",   "os.system",
					     "Popen",        "check_call",
					     "check_output", "os.exec",
					     "os.popen",     "run(" };
	bool is_call = false;

	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
		is_call |= line_has(line, calls[i]);
	return is_call;
}

/* subprocess.run(["sbatch", ...]): the program that it starts, or NULL. */
static const char *submitter_called(const struct code_line *line)
{
	static const char *const programs[] = { "sbatch",        "srun",
						"salloc",        "qsub",
						"bsub",          "oarsub",
						"condor_submit", "kubectl" };
	bool is_call = line_calls(line);

	for (size_t i = 0; is_call && i < sizeof(programs) / sizeof(*programs);
	     i++) {
		char quoted[32];

		for (const char *quote = "\"'"; *quote; quote++) {
			(void)snprintf(quoted, sizeof(quoted), "%c%s", *quote,
				       programs[i]);
			if (line_has(line, quoted))
				return programs[i];
		}
	}
	return NULL;
}

static bool next_line(const char **at, const char *end, struct code_line *line)
{
	if (*at >= end)
		return false;
	line->text = *at;
	line->length = (size_t)(end - *at);
	if (memchr(*at, '\n', line->length))
		line->length =
			(size_t)((const char *)memchr(*at, '\n', line->length) -
				 *at);
	*at += line->length + 1;
	line->number++;
	while (line->length && (*line->text == ' ' || *line->text == '\t')) {
		line->text++;
		line->length--;
	}
	return true;
}

/* Most scripts have none of these words. */
static bool may_submit(const char *text, size_t length)
{
	static const char *const words[] = {
		"submi", "modules.job", "jobqueue", "slurm", "sbatch", "srun",
		"sub'", "sub\"", "sub ", "salloc", "kubectl", "xmanager",
		"runpod", "azure.ai",
		/* Short names, which stand in other words too. */
		" modal", " sky", " coiled", " beaker"
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (memmem(text, length, words[i], strlen(words[i])))
			return true;
	return false;
}

/* The text of a job script, as a string of code; a comment is the script's own
 * head, with which it was submitted itself. */
static unsigned job_text_line(const char *text, const char *end)
{
	struct pytext cursor = {
		.at = text, .end = end, .line_start = text, .line = 1
	};
	const char *string;
	size_t length;

	if (!memmem(text, (size_t)(end - text), "#SBATCH", strlen("#SBATCH")))
		return 0;
	while (cursor.at < end) {
		unsigned line = cursor.line;

		if (*cursor.at == '#') {
			pytext_skip_comment(&cursor);
		} else if (pytext_is_quote(*cursor.at)) {
			pytext_string(&cursor, &string, &length);
			if (memmem(string, length, "#SBATCH",
				   strlen("#SBATCH")))
				return line;
		} else {
			pytext_step(&cursor);
		}
	}
	return 0;
}

/* It writes a job script, and starts some program. */
static const char *job_submitted(const char *text, const char *end,
				 unsigned *line_number)
{
	struct code_line line = { .number = 0 };

	*line_number = job_text_line(text, end);
	while (*line_number && next_line(&text, end, &line))
		if (line.length && *line.text != '#' && line_calls(&line))
			return "sbatch";
	return NULL;
}

const char *source_submission_find(const char *text, const char *end,
				   unsigned *line_number)
{
	struct code_line line = { .number = 0 };
	const char *at = text;

	if (!may_submit(text, (size_t)(end - text)))
		return NULL;
	while (next_line(&at, end, &line)) {
		const char *what = submitter_imported(&line);

		if (!what && line.length && *line.text != '#')
			what = submitter_called(&line);
		*line_number = line.number;
		if (what)
			return what;
	}
	return job_submitted(text, end, line_number);
}
