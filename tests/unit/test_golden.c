/* Real command lines: what is read in them, and what probe and run become. */
/* SPDX-License-Identifier: MIT */
/* USES launcher */
#include "configs/files/builtin.h"
#include "launcher/command/parts/knob.h"
#include "launcher/command/readback.h"
#include "launcher/command/recognise.h"
#include "launcher/command/rewrite/rewrite.h"
#include "launcher/command/text/command_outcome.h"
#include "launcher/command/text/knob_kind.h"
#include "launcher/command/text/shellquote.h"
#include "tests/golden.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define FOLDER TEST_SOURCE_DIR "/tests/data/golden"
#define CASES_MIN 100
#define REFUSALS_MIN 40
/* Of each preset. */
#define USES_MIN 2

static void add_changes(struct strbuf *out, const char *who,
			const struct command *command,
			const struct file_copy *copy)
{
	const char *before = copy_original(command, copy);
	const char *after = copy->text;
	unsigned line = 1;

	for (; *after; line++) {
		size_t a = strcspn(after, "\n"), b = strcspn(before, "\n");

		if (a != b || memcmp(after, before, a) != 0)
			strbuf_addf(out, "%s| %s:%u: %.*s\n", who,
				    copy->original, line, (int)a, after);
		after += a + (after[a] == '\n');
		before += b + (before[b] == '\n');
	}
}

/* The names of copies hold a hash, which is no news of the command. */
static char *without_hashes(const char *text)
{
	static const char mark[] = ".autofit-";
	struct strbuf out = STRBUF_INIT;
	const char *found;

	while ((found = strstr(text, mark))) {
		strbuf_add(&out, text, (size_t)(found - text) + strlen(mark));
		text = found + strlen(mark);
		if (strspn(text, "0123456789abcdef") >= 16) {
			strbuf_adds(&out, "HASH");
			text += 16;
		}
	}
	strbuf_adds(&out, text);
	return strbuf_detach(&out);
}

/* A command as it was read, and by what. */
struct reading {
	const struct command *command;
	struct command_sources sources;
};

static char *add_run(struct strbuf *out, const char *who,
		     const struct reading *reading,
		     const struct command_values *values)
{
	const struct command *command = reading->command;
	struct error err = ERROR_INIT;
	struct rewrite run;
	char *line, *shown;

	if (command_rewrite(command, values, &run, &err) < 0 ||
	    command_read_back(command, values, &run, &reading->sources, &err) <
		    0) {
		strbuf_addf(out, "%s! %s\n", who, err.message);
		rewrite_release(&run);
		return xstrdup("");
	}
	line = shell_quote_all(&run.argv);
	shown = without_hashes(line);
	free(line);
	strbuf_addf(out, "%s> %s\n", who, shown);
	for (size_t i = 0; i < run.environment.count; i++)
		strbuf_addf(out, "%s+ %s\n", who, run.environment.items[i]);
	for (size_t i = 0; i < run.copy_count; i++)
		add_changes(out, who, command, &run.copies[i]);
	for (size_t i = 0; i < run.followers.count; i++)
		strbuf_addf(out, "%s= %s\n", who, run.followers.items[i]);
	rewrite_release(&run);
	return shown;
}

static void add_probe(struct strbuf *out, const struct reading *reading,
		      const struct golden *golden)
{
	bool all = reading->command->preset->memory_grows_with_accum;
	struct command_values values = {
		.micro_batch = golden->micro,
		.grad_accum = golden->accum > 2 && !all ? 2 : golden->accum,
		.steps = 40,
		.output = "/s/out",
		.is_probe = true,
		.port = 40123,
		.copies = "/s",
	};
	struct strbuf other = STRBUF_INIT;
	char *plain = add_run(out, "probe", reading, &values);
	char *confirming;

	values.confirm_steps = 20;
	confirming = add_run(&other, "probe", reading, &values);
	if (golden->accum == values.grad_accum &&
	    strcmp(plain, confirming) != 0)
		strbuf_addf(out, "probe~ %s\n", confirming);
	strbuf_release(&other);
	free(plain);
	free(confirming);
}

static void describe(struct strbuf *out, const struct reading *reading,
		     const struct golden *golden)
{
	const struct command *command = reading->command;
	const struct command_values values = {
		.micro_batch = golden->micro,
		.grad_accum = golden->accum,
		.copies = "/c",
	};

	strbuf_addf(out, "reads %s %lld x %lld x %lld = %lld\n",
		    command->preset->name,
		    (long long)command->batch.micro_batch,
		    (long long)command->batch.grad_accum,
		    (long long)command->batch.world_size,
		    (long long)command->batch.effective_batch);
	if (command->open_ranks)
		strbuf_addf(out, "open %s\n", command->open_ranks);
	if (command->constraints.words)
		strbuf_addf(out, "rules %s\n", command->constraints.words);
	for (size_t i = 0; i < command->caveats.count; i++)
		strbuf_addf(out, "caveat %s\n", command->caveats.items[i]);
	for (int i = 0; i < MODEL_FIELDS; i++)
		if (command->model[i])
			strbuf_addf(out, "model %s %s\n",
				    preset_model_field_name(
					    (enum preset_model_field)i),
				    command->model[i]);
	if (!golden->micro)
		return;
	strbuf_addf(out, "split %lld x %lld\n", (long long)golden->micro,
		    (long long)golden->accum);
	add_probe(out, reading, golden);
	free(add_run(out, "final", reading, &values));
}

static const char *outcome_word(enum command_outcome outcome)
{
	static const char *const words[] = {
		[COMMAND_OK] = "ok",
		[COMMAND_UNREADABLE] = "unreadable",
		[COMMAND_NOT_RECOGNISED] = "not_recognised",
		[COMMAND_REFUSED] = "refused",
		[COMMAND_USAGE] = "usage",
	};

	return words[outcome];
}

/* Its own sizes written into it change nothing but what is a placeholder. */
static void check_own(const struct command *command, const char *place)
{
	const struct command_values values = {
		.micro_batch = command->batch.micro_batch,
		.grad_accum = command->batch.grad_accum,
		.copies = "/c",
	};
	struct error err = ERROR_INIT;
	struct rewrite run;

	if (command->knobs[KNOB_MICRO].form == KNOB_PLACEHOLDER ||
	    command->knobs[KNOB_OUTPUT].form == KNOB_PLACEHOLDER)
		return;
	assert_int_equal(command_rewrite(command, &values, &run, &err), 0);
	if (!strlist_equal(&run.argv, command->given))
		fail_msg("%s: its own sizes change the command", place);
	rewrite_release(&run);
}

struct tally {
	const struct presets *presets;
	size_t *uses; /* of each preset */
	size_t cases, refusals, failures;
};

/* The split that the case asks for keeps the effective batch. */
static void check_split(const struct command *command,
			const struct golden *golden)
{
	bool is_free = command->batch.effective_batch == 0 ||
		       (command->knobs[KNOB_ACCUM].form == KNOB_ABSENT &&
			command->knobs[KNOB_GLOBAL].form == KNOB_ABSENT);

	if (golden->micro < 1 || golden->accum < 1)
		golden_die(golden, "it asks for no split");
	if (!is_free &&
	    golden->micro * golden->accum * command->batch.world_size !=
		    command->batch.effective_batch)
		golden_die(golden, "its split is another effective batch");
}

static void run_case(struct golden *golden, void *context)
{
	struct tally *tally = context;
	struct strbuf got = STRBUF_INIT;
	struct error err = ERROR_INIT;
	struct command command;
	enum command_outcome outcome =
		golden_recognise(golden, tally->presets, &command, &err);
	const struct reading reading = {
		.command = &command,
		.sources = golden_sources(golden, tally->presets),
	};

	if (outcome == COMMAND_OK) {
		check_own(&command, golden->place);
		check_split(&command, golden);
		describe(&got, &reading, golden);
		tally->cases++;
	} else {
		strbuf_addf(&got, "refuses %s %s\n", outcome_word(outcome),
			    err.message);
		tally->refusals++;
	}
	if (strcmp(strbuf_text(&got), strbuf_text(&golden->expected)) != 0) {
		(void)fprintf(stderr, "%s\n-- expected\n%s-- got\n%s\n",
			      golden->place, strbuf_text(&golden->expected),
			      strbuf_text(&got));
		tally->failures++;
	}
	if (command.preset)
		tally->uses[command.preset - tally->presets->items]++;
	strbuf_release(&got);
	command_release(&command);
}

static void check_uses(const struct tally *tally)
{
	for (size_t i = 0; i < tally->presets->count; i++)
		if (tally->uses[i] < USES_MIN)
			fail_msg("%s: no %d cases",
				 tally->presets->items[i].name, USES_MIN);
}

static void cases_hold(void **state)
{
	struct presets presets;
	struct error err = ERROR_INIT;
	struct tally tally = { .presets = &presets };

	(void)state;
	if (presets_load(&presets, NULL, &err) < 0)
		fail_msg("%s", err.message);
	tally.uses = xcalloc(presets.count, sizeof(*tally.uses));
	golden_read_all(FOLDER, run_case, &tally);
	(void)printf("%zu commands, %zu refusals, %zu differ\n", tally.cases,
		     tally.refusals, tally.failures);
	assert_int_equal(tally.failures, 0);
	assert_true(tally.cases >= CASES_MIN);
	assert_true(tally.refusals >= REFUSALS_MIN);
	check_uses(&tally);
	free(tally.uses);
	presets_release(&presets);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cases_hold),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
