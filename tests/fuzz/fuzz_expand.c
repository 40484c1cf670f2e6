/* Shell text of any bytes: taken apart and put together it is the same. */
/* SPDX-License-Identifier: MIT */
/* USES launcher */
#include "launcher/command/shell/shell_command.h"
#include "launcher/command/text/command_outcome.h"
#include "tests/fuzz/fuzz_shell.h"

/* What may stand where a word stood. */
static const char *const texts[] = { "16", "a b",  "it's", "$HOME", "",
				     "#x", "~",    "a=b",  "*",     "a\nb",
				     "\\", "\"",   "`x",   "|",     ">f",
				     "-x", "${x}", "{a}",  "!",     "\t",
				     "8;", "x'y",  "\x80" };

static bool read_it(struct shell_expansion *expansion,
		    struct fuzz_command *input, const struct strlist *argv,
		    struct error *err)
{
	struct shell_call call = { .argv = argv,
				   .environment = &input->environment,
				   .looks_inside = true };
	enum command_outcome outcome;

	/* Of what is inside nothing is kept. */
	(void)shell_command_expand(expansion, &call, &input->texts, NULL);
	shell_expansion_release(expansion);
	call.looks_inside = false;
	outcome = shell_command_expand(expansion, &call, &input->texts, err);
	fuzz_check(outcome == COMMAND_OK || *err->message,
		   "refused with words");
	if (outcome != COMMAND_OK)
		shell_expansion_release(expansion);
	return outcome == COMMAND_OK;
}

static void check_word(const struct shell_expansion *expansion, size_t index,
		       const struct strlist *argv)
{
	const struct word *word = &expansion->words[index];
	const char *text = expansion->argv.items[index];

	if (word->variable || word->origin == WORD_ARGUMENT)
		fuzz_check(word->variable_offset <= strlen(text),
			   "a variable begins in its word");
	if (word->origin == WORD_SCRIPT) {
		fuzz_check(word->line > 0, "lines begin at 1");
		return;
	}
	fuzz_check(word->argument < argv->count, "it is of an argument");
	if (word->origin == WORD_ARGUMENT)
		fuzz_check(strcmp(text + word->variable_offset,
				  argv->items[word->argument]) == 0,
			   "it is that argument, or ends with it");
	else
		fuzz_check(word->start <= word->end &&
				   word->end <=
					   strlen(argv->items[word->argument]),
			   "it lies in that text");
}

/* The flat argv as new words, and room for one more. */
static struct new_word *words_of(const struct shell_expansion *expansion)
{
	size_t count = expansion->argv.count;
	struct new_word *words = xcalloc(count + 1, sizeof(*words));

	for (size_t i = 0; i < count; i++)
		words[i] = (struct new_word){ expansion->argv.items[i], i };
	return words;
}

/*
 * Folded and taken apart again it must be these words. may_refuse: another
 * word may make another command of it, which is no misreading.
 */
static void check_folded(const struct shell_expansion *expansion,
			 struct fuzz_command *input,
			 const struct new_word *words, size_t count,
			 bool may_refuse)
{
	struct strlist folded = STRLIST_INIT;
	struct error err = ERROR_INIT;
	struct shell_expansion again;

	shell_rewrite_fold(expansion, &input->argv, words, count, &folded);
	if (!read_it(&again, input, &folded, &err)) {
		if (!may_refuse)
			fuzz_fail_words(err.message, &folded);
		strlist_release(&folded);
		return;
	}
	if (again.argv.count != count)
		fuzz_fail_words("it has as many words", &folded);
	for (size_t i = 0; i < count; i++)
		if (strcmp(again.argv.items[i], words[i].text) != 0)
			fuzz_fail_words("words are as written", &folded);
	shell_expansion_release(&again);
	strlist_release(&folded);
}

static void check_same(const struct shell_expansion *expansion,
		       const struct fuzz_command *input)
{
	struct new_word *words = words_of(expansion);
	struct strlist folded = STRLIST_INIT;

	shell_rewrite_fold(expansion, &input->argv, words,
			   expansion->argv.count, &folded);
	if (!strlist_equal(&folded, &input->argv))
		fuzz_fail_words("without changes it is what was given",
				&folded);
	strlist_release(&folded);
	free(words);
}

static void check_changed(const struct shell_expansion *expansion,
			  struct fuzz_command *input, size_t index)
{
	const struct word *word = &expansion->words[index];
	struct new_word *words = words_of(expansion);
	size_t count = expansion->argv.count;
	size_t kept = word->origin == WORD_ARGUMENT ? word->variable_offset : 0;
	bool is_free = word->origin != WORD_ARGUMENT || fuzz_takes_any(input);
	/* Without quotes the shell would split any other. */
	size_t row = is_free ? input->chance : 0;
	char *text = xasprintf("%.*s%s", (int)kept, words[index].text,
			       texts[row % (sizeof(texts) / sizeof(*texts))]);

	words[index].text = text;
	check_folded(expansion, input, words, count, true);
	/* The same one dropped. */
	memmove(words + index, words + index + 1,
		(count - index - 1) * sizeof(*words));
	if (!word->is_numbered && is_free)
		check_folded(expansion, input, words, count - 1, true);
	free(words);
	free(text);
}

static void check_added(const struct shell_expansion *expansion,
			struct fuzz_command *input)
{
	struct new_word *words = words_of(expansion);
	size_t count = expansion->argv.count, at = expansion->append_at;

	memmove(words + at + 1, words + at, (count - at) * sizeof(*words));
	words[at] = (struct new_word){ "--bs=1 6", NO_INDEX };
	check_folded(expansion, input, words, count + 1, false);
	free(words);
}

/* A program whose arguments are its own, and none of the shell's. */
static bool is_training(const char *program)
{
	static const char *const names[] = { "python", "torchrun", "deepspeed",
					     "accelerate", "./" };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (strncmp(program, names[i], strlen(names[i])) == 0)
			return true;
	return false;
}

/* ${B:=4}, ${B=4} */
static bool assigns(const char *text)
{
	static const char name[] = "abcdefghijklmnopqrstuvwxyz_0123456789"
				   "ABCDEFGHIJKLMNOPQRSTUVWXYZ";

	for (text = strstr(text, "${"); text; text = strstr(text, "${")) {
		text += 2;
		text += strspn(text, name);
		text += *text == ':';
		if (*text == '=')
			return true;
	}
	return false;
}

/* Of the script it cannot; what is opaque is no value to be changed. */
static bool may_change(const struct shell_expansion *expansion, size_t index,
		       const struct fuzz_command *input)
{
	const struct word *word = &expansion->words[index];

	if (word->origin == WORD_SCRIPT || word->is_opaque)
		return false;
	/* What it sets is for words behind it as well. */
	if (word->variable || assigns(input->argv.items[word->argument]))
		return false;
	/* Several words of one place are parts of an unquoted one. */
	for (size_t i = 0; i < expansion->argv.count; i++)
		if (i != index && word->end > 0 && !fuzz_takes_any(input) &&
		    expansion->words[i].start == word->start)
			return false;
	return word->origin == WORD_SHELL_TEXT || fuzz_uses(input) <= 1;
}

static void use(const struct shell_expansion *expansion,
		struct fuzz_command *input)
{
	size_t count = expansion->argv.count, index = expansion->inner + 1;

	for (size_t i = 0; i < count; i++)
		check_word(expansion, i, &input->argv);
	fuzz_check(expansion->inner < count, "the inner command is there");
	check_same(expansion, input);
	if (!is_training(expansion->argv.items[expansion->inner]))
		return;
	/* The program itself decides what is read: its arguments do not. */
	if (index < count)
		index += input->choice % (count - index);
	if (index < count && may_change(expansion, index, input))
		check_changed(expansion, input, index);
	if (expansion->append_at == NO_INDEX)
		return;
	fuzz_check(expansion->append_at <= count, "added within the words");
	if (fuzz_takes_any(input) || (!expansion->script && !fuzz_uses(input)))
		check_added(expansion, input);
}

void fuzz_one(const char *data, size_t size)
{
	struct fuzz_command input;
	struct shell_expansion expansion;
	struct error err = ERROR_INIT;

	fuzz_command_read(&input, data, size);
	if (input.argv.count > 0 &&
	    read_it(&expansion, &input, &input.argv, &err)) {
		if (expansion.argv.count > 0)
			use(&expansion, &input);
		shell_expansion_release(&expansion);
	}
	fuzz_command_release(&input);
}
