/* What a command is for, as far as its words and its script say. Pure. */
/* SPDX-License-Identifier: MIT */

#include "launcher/command/purpose.h"

#include "launcher/command/files/pytext.h"
#include "launcher/command/files/source.h"
#include "launcher/command/parts/token.h"
#include "launcher/command/text/names.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

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

/* A module that hands work to a cluster: its name, or NULL. */
static const char *submitter_imported(const struct code_line *line)
{
	static const char *const modules[] = { "submitit", "dask_jobqueue",
					       "simple_slurm",
					       "ray.job_submission",
					       "ray.dashboard.modules.job" };

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

/* subprocess.run(["sbatch", ...]): the program that it starts, or NULL. */
static const char *submitter_called(const struct code_line *line)
{
	static const char *const calls[] = { "subprocess",   "os.system",
					     "Popen",        "check_call",
					     "check_output", "os.exec",
					     "os.popen",     "run(" };
	static const char *const programs[] = { "sbatch",        "srun",
						"salloc",        "qsub",
						"bsub",          "oarsub",
						"condor_submit", "kubectl" };
	bool is_call = false;

	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
		is_call |= line_has(line, calls[i]);
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

enum command_outcome submission_check(struct recognition *r)
{
	struct code_line line = { .number = 0 };
	const char *at = r->text, *end;

	if (!r->text)
		return COMMAND_OK;
	end = at + strnlen(at, SOURCE_BYTES_MAX);
	while (next_line(&at, end, &line)) {
		const char *what = submitter_imported(&line);

		if (!what && *line.text != '#')
			what = submitter_called(&line);
		if (!what)
			continue;
		(void)error_set(r->err, -EINVAL,
				"%s:%u uses %s, so a probe would submit jobs, "
				"which run outside of it: put the training "
				"command of one such job after --",
				r->source_name, line.number, what);
		return COMMAND_REFUSED;
	}
	return COMMAND_OK;
}

static bool is_word_of(const char *word, size_t length,
		       const char *const *words)
{
	for (; *words; words++)
		if (strlen(*words) == length &&
		    strncasecmp(*words, word, length) == 0)
			return true;
	return false;
}

static bool is_no(const char *value)
{
	static const char *const words[] = { "0", "false", "no",   "off",
					     "n", "f",     "none", NULL };

	return is_word_of(value, strlen(value), words);
}

/* Words for evaluation, in names and as a mode. */
static const char *const evaluations[] = {
	"eval",  "evaluate",  "evaluation", "test",       "testing", "predict",
	"infer", "inference", "validate",   "validation", NULL
};

/* Not where the help says that it happens beside the training. */
static bool goes_on_training(const struct source_option *option)
{
	static const char *const beside[] = { "during", "after",    "while",
					      "every",  "each",     "also",
					      "before", "interval", "train" };

	for (size_t i = 0; option->help && i < sizeof(beside) / sizeof(*beside);
	     i++)
		if (strcasestr(option->help, beside[i]) &&
		    !strcasestr(option->help, "only"))
			return true;
	return false;
}

/* --eval, --test-only, --is_training 0, --mode test */
static bool says_evaluation(const struct recognition *r,
			    const struct token *token)
{
	static const char *const only[] = { "eval_only",      "test_only",
					    "evaluate_only",  "only_eval",
					    "only_test",      "only_evaluate",
					    "inference_only", NULL };
	static const char *const training[] = { "is_training", "is_train",
						"do_train",    "training",
						"train",       NULL };
	static const char *const modes[] = { "mode", "run_mode", "phase",
					     NULL };
	const char *value = token_value(token, command_argv(r->command));
	const struct source_option *option =
		source_resolve(r->source, token->name, token->name_length);
	char name[NAME_MAX_BYTES];
	size_t length;

	if (!name_normalise(name, token->name, token->name_length))
		return false;
	length = strlen(name);
	if (is_word_of(name, length, only))
		return !is_no(value);
	if (is_word_of(name, length, training))
		return *value && is_no(value);
	if (is_word_of(name, length, modes))
		return *value && is_word_of(value, strlen(value), evaluations);
	/* --test is a switch of its own; with a value it may be a path. */
	return option && is_word_of(name, length, evaluations) &&
	       (option->is_switch || token->form == KNOB_ABSENT ||
		strcasecmp(value, "true") == 0 || strcmp(value, "1") == 0) &&
	       !goes_on_training(option);
}

enum command_outcome evaluation_check(struct recognition *r)
{
	const struct command *command = r->command;
	char shown[BRIEF_MAX];
	struct token token;

	if (command->preset_is_certain || r->hints->micro_flag ||
	    command->knobs[KNOB_MICRO].form != KNOB_ABSENT)
		return COMMAND_OK;
	for (size_t i = command->view.args; token_next(&token, command, &i);
	     i++) {
		if (!says_evaluation(r, &token))
			continue;
		return not_recognised(
			r,
			"%s says that the command evaluates and trains "
			"nothing: leave it out, or, if it trains, name the "
			"option of the batch size with --micro-flag NAME",
			argument_brief(shown, command_argv(command)->items[i]));
	}
	return COMMAND_OK;
}
