/* What a command is for, as far as its words and its script say. Pure. */
/* SPDX-License-Identifier: MIT */

#include "launcher/command/purpose.h"

#include "launcher/command/files/source.h"
#include "launcher/command/parts/token.h"
#include "launcher/command/text/names.h"
#include "launcher/command/text/option_class.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

enum command_outcome submission_check(struct recognition *r)
{
	const struct source *source = r->source;

	if (!source->submits_by)
		return COMMAND_OK;
	(void)error_set(
		r->err, -EINVAL,
		"%s:%u uses %s, so a probe would submit jobs, which run "
		"outside of it: put the training command of one such "
		"job after --",
		r->source_name, source->submits_line, source->submits_by);
	return COMMAND_REFUSED;
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
static bool name_says_evaluation(const struct recognition *r,
				 const struct token *token,
				 const struct source_option *option,
				 const char *spelling, size_t spelled)
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
	char name[NAME_MAX_BYTES];
	size_t length;

	if (!name_normalise(name, spelling, spelled))
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

/* -m is --mode where the script says so. */
static bool says_evaluation(const struct recognition *r,
			    const struct token *token)
{
	const struct source_option *option =
		source_resolve(r->source, token->name, token->name_length);

	if (name_says_evaluation(r, token, option, token->name,
				 token->name_length))
		return true;
	for (size_t i = 0; option && i < option->names.count; i++)
		if (name_says_evaluation(r, token, option,
					 option->names.items[i],
					 strlen(option->names.items[i])))
			return true;
	return false;
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

/* A switch, or a word that is no number and no "no": true, binsearch. */
static bool is_switched_on(const struct recognition *r,
			   const struct token *token)
{
	const struct source_option *option =
		source_resolve(r->source, token->name, token->name_length);
	const char *value = token_value(token, command_argv(r->command));

	return (option && option->is_switch) || token->form == KNOB_ABSENT ||
	       !*value || strcmp(value, "1") == 0 ||
	       (!is_no(value) && value[strspn(value, "0123456789")]);
}

enum command_outcome own_search_check(struct recognition *r)
{
	const struct command *command = r->command;
	char shown[BRIEF_MAX];
	struct token token;

	if (command->preset_is_certain)
		return COMMAND_OK;
	for (size_t i = command->view.args; token_next(&token, command, &i);
	     i++) {
		const char *word = command_argv(command)->items[i];

		if (!option_seeks_batch(token.name, token.name_length) ||
		    !is_switched_on(r, &token))
			continue;
		return not_recognised(r,
				      "%s lets the program choose its batch "
				      "size by itself: leave it out",
				      argument_brief(shown, word));
	}
	return COMMAND_OK;
}
