/* Random commands: what is no knob stays byte for byte, sizes come back. */
/* SPDX-License-Identifier: MIT */
/* USES launcher */
#include "base/alloc.h"
#include "base/strbuf.h"
#include "configs/files/builtin.h"
#include "launcher/command/files/named_files.h"
#include "launcher/command/parts/knob.h"
#include "launcher/command/parts/recognition.h"
#include "launcher/command/recognise.h"
#include "launcher/command/rewrite/rewrite.h"
#include "launcher/command/text/command_outcome.h"
#include "launcher/command/text/knob_kind.h"
#include "launcher/command/text/shellquote.h"
#include "tests/launchers.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/*
 * A round makes a command for a preset: a launcher, noise, and its knobs in
 * some spelling, some of them twice, some not at all; now and then all of it
 * inside bash -c. SEED=N in the environment makes other rounds than seed 1.
 */
#define ROUNDS 20000
/* Fewer that are recognised would test nothing. */
#define RECOGNISED_MIN (ROUNDS / 2)
#define WORDS_MAX 64
#define SIZE_MAX_WRITTEN 64

struct random {
	uint64_t state;
};

/* splitmix64 */
static uint64_t random_next(struct random *random)
{
	uint64_t z = (random->state += UINT64_C(0x9e3779b97f4a7c15));

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

static size_t random_below(struct random *random, size_t limit)
{
	return (size_t)(random_next(random) % limit);
}

/* A command, and which of its words may become another size. */
struct round {
	struct random *random;
	const struct preset *preset;
	struct strlist words;
	bool is_knob[WORDS_MAX];
	int64_t world;
	bool is_wrapped; /* in bash -c */
};

static void add(struct round *round, const char *word)
{
	if (round->words.count < WORDS_MAX)
		strlist_add(&round->words, word);
}

static void add_launcher(struct round *round)
{
	static const char *const launchers[][8] = {
		{ "python", "train.py" },
		{ "python3", "-u", "train.py" },
		{ "env", "A=it's", "python", "-X", "utf8", "train.py" },
		{ "nice", "-n", "5", "./bin/trainer" },
		{ "uv", "run", "--with", "torch", "python", "train.py" },
		{ "timeout", "-k", "5", "1h", "python", "train.py" },
		{ "torchrun", "--nproc_per_node=2", "train.py" },
		{ "torchrun", "--standalone", "--nproc-per-node", "2",
		  "train.py" },
	};
	size_t choice = random_below(round->random,
				     sizeof(launchers) / sizeof(*launchers));

	round->world = strcmp(launchers[choice][0], "torchrun") == 0 ? 2 : 1;
	for (size_t i = 0; i < 8 && launchers[choice][i]; i++)
		add(round, launchers[choice][i]);
}

/* What is no option, and no program's config file. */
static void add_word(struct round *round)
{
	static const char *const words[] = {
		"",
		" ",
		"-",
		"it's",
		"\"a b\"",
		"\u00fcn\u00efc\u00f6d\u00e9",
		"\u6f22\u5b57",
		"two\nlines",
		"$HOME",
		"$(id)",
		"a\\b",
		"*",
		"-5",
		"-0.5",
		"\x80\xff",
		"key: {a: 1}",
		"{half}",
		"zulu",
		"#",
		"!",
		"\t",
		"a=b=c;d",
	};

	add(round,
	    words[random_below(round->random, sizeof(words) / sizeof(*words))]);
}

static void add_noise(struct round *round)
{
	static const char *const joined[] = {
		"--zeta=",          "--zeta=1",          "--zeta=it's",
		"zulu=1",           "+zulu.x=",          "~zulu",
		"z.u=['a', \"b\"]", "--q.w.e=\u6f22 \n", "-z9",
	};

	switch (random_below(round->random, 4)) {
	case 0:
		add_word(round);
		break;
	case 1:
		add(round, "--zeta");
		add(round, "value");
		break;
	case 2:
		add(round, "--zeta-flag");
		add(round, "--zeta=");
		break;
	default:
		add(round,
		    joined[random_below(round->random,
					sizeof(joined) / sizeof(*joined))]);
	}
}

static void add_value(struct round *round, const char *before, int64_t value,
		      bool is_last)
{
	char *word = xasprintf("%s%lld", before, (long long)value);

	if (round->words.count < WORDS_MAX)
		round->is_knob[round->words.count] = is_last;
	add(round, word);
	free(word);
}

/* The knob as the preset lets it be typed; is_last: it is the one that counts.
 */
static void add_knob(struct round *round, const struct preset_knob *knob,
		     const char *name, int64_t value, bool is_last)
{
	static const char *const sigils[] = { "", "+", "++" };
	bool is_option = *name == '-';
	bool is_bare =
		!is_option && knob->bare &&
		(round->preset->words.group || strchr(name, '.') != NULL ||
		 random_below(round->random, 2) == 0);
	char *shown = xasprintf("%s%s", is_option || is_bare ? "" : "--", name);
	char *equals = xasprintf("%s=", shown);
	char *with_sigil = xasprintf(
		"%s%s", is_bare ? sigils[random_below(round->random, 3)] : "",
		equals);

	if (round->preset->words.pairs && !is_option) {
		add(round, name);
		add_value(round, "", value, is_last);
	} else if (is_bare) {
		add_value(round, with_sigil, value, is_last);
	} else if (strlen(shown) == 2 && random_below(round->random, 3) == 0) {
		add_value(round, shown, value, is_last);
	} else if (knob->joined_only || random_below(round->random, 2)) {
		add_value(round, equals, value, is_last);
	} else {
		add(round, shown);
		add_value(round, "", value, is_last);
	}
	free(with_sigil);
	free(equals);
	free(shown);
}

/* What one sample counts for, where the knob counts tokens. */
static int64_t unit_of(const struct preset *preset,
		       const struct preset_knob *knob)
{
	const char *blank =
		preset->split.sample_tokens.count
			? strchr(preset->split.sample_tokens.items[0], ' ')
			: NULL;

	return knob->unit == UNIT_TOKENS && blank ? strtoll(blank, NULL, 10)
						  : 1;
}

static int64_t size_for(struct round *round, const struct preset_knob *knob,
			int64_t samples)
{
	bool is_shared = knob->scope && strcmp(knob->scope, "rank") != 0;

	return samples * (is_shared ? round->world : 1) *
	       unit_of(round->preset, knob);
}

static void add_twice(struct round *round, const struct preset_knob *knob,
		      int64_t samples)
{
	const char *name;

	if (knob->names.count == 0)
		return;
	name = knob->names
		       .items[random_below(round->random, knob->names.count)];
	if (round->preset->words.group && *name != '-')
		add(round, round->preset->words.group);
	if (random_below(round->random, 6) == 0 && !round->preset->words.group)
		add_knob(round, knob, name, size_for(round, knob, samples + 1),
			 false);
	if (random_below(round->random, 3) == 0 && !round->preset->words.group)
		add_noise(round);
	add_knob(round, knob, name, size_for(round, knob, samples), true);
}

static void add_arguments(struct round *round)
{
	const struct preset *preset = round->preset;
	int64_t micro = 1 + (int64_t)random_below(round->random, 12);
	int64_t accum = 1 + (int64_t)random_below(round->random, 6);
	size_t noise = random_below(round->random, 5);

	while (noise-- > 0)
		add_noise(round);
	add_twice(round, &preset->knobs.micro, micro);
	if (random_below(round->random, 3))
		add_twice(round, &preset->knobs.accum, accum);
	else
		accum = 1;
	if (random_below(round->random, 2)) {
		struct preset_knob all = preset->knobs.global;
		char global[] = "global";

		all.scope = global;
		add_twice(round, &all, micro * accum);
	}
	noise = random_below(round->random, 4);
	while (noise-- > 0)
		add_noise(round);
	if (random_below(round->random, 8) == 0) {
		add(round, "--");
		add_knob(round, &preset->knobs.micro, "--batch_size", 99,
			 false);
		add_word(round);
	}
}

/* All of it as the text of a shell. */
static void wrap(struct strlist *argv, const struct strlist *words)
{
	strlist_add(argv, "bash");
	strlist_add(argv, "-c");
	strlist_take(argv, shell_quote_all(words));
}

/* The words of text as shell_quote writes them. */
static void unwrap(struct strlist *words, const char *text)
{
	while (*text) {
		struct strbuf word = STRBUF_INIT;
		bool is_quoted = false;

		strbuf_adds(&word, "");
		for (; *text && (is_quoted || *text != ' '); text++) {
			if (*text == '\'')
				is_quoted = !is_quoted;
			else if (*text == '\\' && !is_quoted)
				strbuf_addch(&word, *++text);
			else
				strbuf_addch(&word, *text);
		}
		strlist_take(words, strbuf_detach(&word));
		text += *text == ' ';
	}
}

static enum command_outcome recognise(struct command *command,
				      const struct strlist *argv,
				      const struct presets *presets,
				      const struct preset *preset,
				      struct error *err)
{
	struct strlist environment = STRLIST_INIT;
	struct command_hints hints = { .preset = preset->name,
				       .environment = &environment };
	/* An empty script; files that it may name are not there. */
	static struct named_files files;
	const struct command_sources sources = { .presets = presets,
						 .launchers =
							 builtin_launchers(),
						 .hints = &hints,
						 .texts = &files };
	struct strbuf script = STRBUF_INIT;

	named_files_release(&files);
	(void)named_files_add(&files, "train.py", &script, 0);
	return command_recognise(command, argv, &sources, err);
}

static bool is_digits(const char *text)
{
	return *text && text[strspn(text, "0123456789")] == '\0';
}

static bool is_name_of(const struct preset_knob *knob, const char *text,
		       size_t length)
{
	for (size_t i = 0; i < knob->names.count; i++) {
		const char *name = knob->names.items[i];
		size_t dashes = *name == '-' ? 0 : strspn(text, "-");

		if (strlen(name) == length - dashes &&
		    strncmp(name, text + dashes, length - dashes) == 0)
			return true;
	}
	return false;
}

/* A word that a rewrite may add. */
static bool is_addition(const struct preset *preset, const char *word)
{
	const char *sigil = preset->words.sigil ? preset->words.sigil : "";
	size_t skip =
		strncmp(word, sigil, strlen(sigil)) == 0 ? strlen(sigil) : 0;
	const char *text = word + skip;
	size_t length = strcspn(text, "=");
	bool is_name = is_name_of(&preset->knobs.micro, text, length) ||
		       is_name_of(&preset->knobs.accum, text, length) ||
		       is_name_of(&preset->knobs.global, text, length);

	if (preset->words.group && strcmp(word, preset->words.group) == 0)
		return true;
	return is_digits(word) ||
	       (is_name && (!text[length] || is_digits(text + length + 1)));
}

/* Of --bs=8 what is before the number stays. */
static bool is_resized(const char *before, const char *after)
{
	size_t length = strlen(before);

	while (length > 0 && strchr("0123456789", before[length - 1]))
		length--;
	return strncmp(before, after, length) == 0 && is_digits(after + length);
}

/* Every old word is there, in order; between them only what was added. */
static bool words_stay(const struct round *round, const struct strlist *after)
{
	size_t at = 0;

	for (size_t i = 0; i < after->count; i++) {
		const char *word = after->items[i];
		const char *old =
			at < round->words.count ? round->words.items[at] : NULL;

		if (old && (strcmp(old, word) == 0 ||
			    (round->is_knob[at] && is_resized(old, word))))
			at++;
		else if (!is_addition(round->preset, word))
			return false;
	}
	return at == round->words.count;
}

static void fail_round(const struct round *round, const struct strlist *argv,
		       const char *what)
{
	char *given = shell_quote_all(&round->words);
	char *written = shell_quote_all(argv);

	fail_msg("%s: %s\n%s\n%s", round->preset->name, what, given, written);
}

/* A split with the same effective batch, where there is one to choose. */
static struct command_values choose(struct round *round,
				    const struct command *command)
{
	int64_t product =
		command->batch.micro_batch * command->batch.grad_accum;
	bool can_accumulate = command->knobs[KNOB_ACCUM].form != KNOB_ABSENT ||
			      command->knobs[KNOB_GLOBAL].form != KNOB_ABSENT;
	struct command_values values = {
		.micro_batch = 1 + (int64_t)random_below(round->random,
							 SIZE_MAX_WRITTEN),
		.grad_accum = command->batch.grad_accum,
		.copies = "/c",
	};

	if (!can_accumulate)
		return values;
	while (product % values.micro_batch != 0)
		values.micro_batch--;
	if (command->constraints.one_accum)
		values.micro_batch = product;
	values.grad_accum = product / values.micro_batch;
	return values;
}

static void check_rewrite(struct round *round, const struct command *command,
			  const struct presets *presets)
{
	struct command_values values = choose(round, command);
	struct error err = ERROR_INIT;
	struct strlist words = STRLIST_INIT;
	struct rewrite run;
	struct command again;

	assert_int_equal(command_rewrite(command, &values, &run, &err), 0);
	if (round->is_wrapped)
		unwrap(&words, run.argv.items[2]);
	else
		strlist_add_all(&words, (const char *const *)run.argv.items,
				run.argv.count);
	if (!words_stay(round, &words))
		fail_round(round, &words, "another word changed");
	if (recognise(&again, &run.argv, presets, round->preset, &err) !=
	    COMMAND_OK)
		fail_round(round, &words, err.message);
	if (again.batch.micro_batch != values.micro_batch ||
	    again.batch.grad_accum != values.grad_accum ||
	    again.batch.world_size != command->batch.world_size)
		fail_round(round, &words, "the sizes do not come back");
	strlist_release(&words);
	rewrite_release(&run);
	command_release(&again);
}

static void check_own(const struct round *round, const struct command *command,
		      const struct strlist *argv)
{
	const struct command_values values = {
		.micro_batch = command->batch.micro_batch,
		.grad_accum = command->batch.grad_accum,
		.copies = "/c",
	};
	struct error err = ERROR_INIT;
	struct rewrite run;

	assert_int_equal(command_rewrite(command, &values, &run, &err), 0);
	if (!strlist_equal(&run.argv, argv))
		fail_round(round, &run.argv, "its own sizes change it");
	rewrite_release(&run);
}

static bool run_round(struct random *random, const struct presets *presets)
{
	struct round round = {
		.random = random,
		.preset = &presets->items[random_below(random, presets->count)],
	};
	struct error err = ERROR_INIT;
	struct strlist argv = STRLIST_INIT;
	struct command command;
	bool is_known;

	add_launcher(&round);
	add_arguments(&round);
	round.is_wrapped = random_below(random, 4) == 0;
	if (round.is_wrapped)
		wrap(&argv, &round.words);
	else
		strlist_add_all(&argv, (const char *const *)round.words.items,
				round.words.count);
	is_known = recognise(&command, &argv, presets, round.preset, &err) ==
		   COMMAND_OK;
	if (!is_known)
		assert_true(err.message[0] != '\0');
	if (is_known) {
		check_own(&round, &command, &argv);
		check_rewrite(&round, &command, presets);
	}
	command_release(&command);
	strlist_release(&argv);
	strlist_release(&round.words);
	return is_known;
}

static void random_commands_come_back(void **state)
{
	const char *text = getenv("SEED");
	struct random random = { text ? strtoull(text, NULL, 10) : 1 };
	struct presets presets;
	struct error err = ERROR_INIT;
	size_t known = 0;

	(void)state;
	(void)printf("seed %llu\n", (unsigned long long)random.state);
	if (presets_load(&presets, NULL, &err) < 0)
		fail_msg("%s", err.message);
	for (size_t i = 0; i < ROUNDS; i++)
		known += run_round(&random, &presets) ? 1 : 0;
	(void)printf("%zu of %d recognised\n", known, ROUNDS);
	assert_true(known >= RECOGNISED_MIN);
	presets_release(&presets);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_commands_come_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
