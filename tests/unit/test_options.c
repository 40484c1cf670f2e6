/* The command line: what is read, what is refused and with which words. */
/* SPDX-License-Identifier: MIT */
/* USES launcher */
#include "launcher/options.h"

#include "launcher/options_rows.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(rows) (sizeof(rows) / sizeof(*(rows)))

/* Words are split at blanks; NULL is no word. */
static void split(struct strlist *list, const char *words)
{
	while (words && *words) {
		size_t length = strcspn(words, " ");
		char word[256];

		assert_true(length < sizeof(word));
		memcpy(word, words, length);
		word[length] = '\0';
		strlist_add(list, word);
		words += length;
		words += *words == ' ';
	}
}

struct parsed {
	enum options_outcome outcome;
	struct options options;
	struct strbuf text;
	struct error err;
};

static void parse(struct parsed *parsed, const char *words,
		  const char *variables)
{
	struct strlist argv = STRLIST_INIT;
	struct strlist environment = STRLIST_INIT;

	memset(parsed, 0, sizeof(*parsed));
	strlist_add(&argv, "autofit");
	split(&argv, words);
	split(&environment, variables);
	parsed->outcome = options_parse(&parsed->options, &argv, &environment,
					&parsed->text, &parsed->err);
	strlist_release(&argv);
	strlist_release(&environment);
}

static void parsed_release(struct parsed *parsed)
{
	options_release(&parsed->options);
	strbuf_release(&parsed->text);
}

/* Every field as one text, so that a row of a table can name what it sets. */
static void list_text(struct strbuf *out, const char *name,
		      const struct strlist *list)
{
	strbuf_addf(out, " %s=", name);
	for (size_t i = 0; i < list->count; i++)
		strbuf_addf(out, "<%s>", list->items[i]);
}

static void word_text(struct strbuf *out, const char *name, const char *word)
{
	strbuf_addf(out, " %s=%s", name, word ? word : "(none)");
}

static void numbers_text(struct strbuf *out, const struct options *o)
{
	strbuf_addf(out, " sub=%d device=%d:%d memory=%" PRIu64,
		    (int)o->subcommand, (int)o->device, o->cuda_index,
		    o->memory_bytes);
	strbuf_addf(out, " headroom=%d:%d:%g:%" PRIu64, o->has_headroom,
		    o->headroom.is_percent, o->headroom.percent,
		    o->headroom.bytes);
	strbuf_addf(out, " effective=%d:%" PRId64 " max=%" PRId64,
		    (int)o->effective, o->effective_batch, o->max_micro);
	strbuf_addf(out, " multiple=%" PRId64 " tolerance=%g",
		    o->micro_multiple_of, o->tolerance);
	strbuf_addf(out, " steps=%" PRId64 " confirm=%d:%" PRId64,
		    o->probe_steps, o->has_confirm_steps, o->confirm_steps);
	strbuf_addf(out, " probes=%" PRId64 " limit=%" PRId64, o->max_probes,
		    o->time_limit_ms);
	strbuf_addf(out,
		    " startup=%" PRId64 " timeout=%" PRId64 " grace=%" PRId64,
		    o->startup_timeout_ms, o->probe_timeout_ms, o->grace_ms);
	strbuf_addf(out, " fresh=%d no_probe=%d no_wait=%d quiet=%d verbose=%d",
		    o->fresh, o->no_probe, o->no_wait, o->quiet, o->verbose);
	strbuf_addf(out, " color=%d", (int)o->color);
}

static void options_text(struct strbuf *out, const struct options *o)
{
	numbers_text(out, o);
	word_text(out, "strategy", o->strategy);
	word_text(out, "micro_flag", o->micro_flag);
	word_text(out, "accum_flag", o->accum_flag);
	word_text(out, "global_flag", o->global_flag);
	word_text(out, "micro_scope", o->micro_scope);
	word_text(out, "accum_scope", o->accum_scope);
	word_text(out, "preset", o->preset);
	word_text(out, "scratch", o->scratch);
	word_text(out, "json", o->json);
	word_text(out, "record", o->record_name);
	list_text(out, "env", &o->env_templates);
	list_text(out, "probe_arg", &o->probe_args);
	list_text(out, "probe_env", &o->probe_env);
	list_text(out, "command", &o->command);
	strbuf_addch(out, ' ');
}

static const char defaults[] =
	" sub=0 device=0:-1 memory=0 headroom=0:0:0:0 effective=0:0 max=65536 "
	"multiple=1 tolerance=0.02 steps=3 confirm=0:20 probes=12 limit=0 "
	"startup=600000 timeout=0 grace=5000 fresh=0 no_probe=0 no_wait=0 "
	"quiet=0 verbose=0 color=0 strategy=guided micro_flag=(none) "
	"accum_flag=(none) global_flag=(none) micro_scope=(none) "
	"accum_scope=(none) preset=(none) scratch=(none) json=(none) "
	"record=(none) env= probe_arg= probe_env= command=<x> ";

/* What a line sets: pieces of the text above, all the rest as by default. */
struct good_row {
	const char *words, *variables, *sets;
};

/* The text of the defaults with each piece of sets put in its place. */
static char *expected_text(const char *sets)
{
	struct strlist have = STRLIST_INIT;
	struct strlist want = STRLIST_INIT;
	struct strbuf text = STRBUF_INIT;

	split(&have, defaults + 1);
	split(&want, sets);
	for (size_t i = 0; i < want.count; i++) {
		size_t length = strcspn(want.items[i], "=") + 1;
		size_t at = 0;

		while (at < have.count &&
		       strncmp(have.items[at], want.items[i], length) != 0)
			at++;
		assert_true(at < have.count);
		strlist_replace(&have, at, want.items[i]);
	}
	for (size_t i = 0; i < have.count; i++)
		strbuf_addf(&text, " %s", have.items[i]);
	strbuf_addch(&text, ' ');
	strlist_release(&have);
	strlist_release(&want);
	return strbuf_detach(&text);
}

static void check_good(const struct good_row *row)
{
	struct strbuf text = STRBUF_INIT;
	char *expected = expected_text(row->sets);
	struct parsed parsed;

	parse(&parsed, row->words, row->variables);
	options_text(&text, &parsed.options);
	if (parsed.outcome != OPTIONS_RUN ||
	    strcmp(strbuf_text(&text), expected) != 0)
		fail_msg("autofit %s\n  error: %s\n  is:     %s\n  wanted: %s",
			 row->words, parsed.err.message, strbuf_text(&text),
			 expected);
	assert_int_equal(parsed.err.code, 0);
	strbuf_release(&text);
	free(expected);
	parsed_release(&parsed);
}

static const struct good_row good_rows[] = {
	{ "x", NULL, "" },
	{ "-- x", NULL, "" },
	{ "x --memory 8G", NULL, "command=<x><--memory><8G>" },
	{ "x -- y", NULL, "command=<x><--><y>" },
	{ "-- -q x", NULL, "command=<-q><x>" },
	{ "-- -- x", NULL, "command=<--><x>" },
	{ "-- tune x", NULL, "command=<tune><x>" },
	{ "-- estimate x", NULL, "command=<estimate><x>" },
	{ "python tune", NULL, "command=<python><tune>" },
	{ "tune -- x", NULL, "sub=1" },
	{ "tune -- tune", NULL, "sub=1 command=<tune>" },
	{ "--grow tune -q -- x --grow", NULL,
	  "sub=1 effective=1:0 quiet=1 command=<x><--grow>" },
	{ "explain -- x", NULL, "sub=2" },
	{ "--dry-run x", NULL, "sub=2" },
	{ "--dry-run tune -- x", NULL, "sub=2" },
	{ "tune --dry-run -- x", NULL, "sub=2" },
	{ "devices", NULL, "sub=3 command=" },
	{ "devices --json -", NULL, "sub=3 json=- command=" },
	{ "--dry-run devices", NULL, "sub=3 command=" },
	{ "show", NULL, "sub=4 command=" },
	{ "show name -q", NULL, "sub=4 record=name quiet=1 command=" },
	{ "show -- x", NULL, "sub=4" },
	{ "--device cuda x", NULL, "device=1:-1" },
	{ "--device cuda:3 x", NULL, "device=1:3" },
	{ "--device host x", NULL, "device=2:-1" },
	{ "--memory 8G x", NULL, "memory=8589934592" },
	{ "--memory=600MiB x", NULL, "memory=629145600" },
	{ "--memory 1G --memory 2M x", NULL, "memory=2097152" },
	{ "--headroom 5% x", NULL, "headroom=1:1:5:0" },
	{ "--headroom 64MiB x", NULL, "headroom=1:0:64:67108864" },
	{ "--headroom 0 x", NULL, "headroom=1:0:0:0" },
	{ "--effective-batch grow x", NULL, "effective=1:0" },
	{ "--effective-batch 256 x", NULL, "effective=2:256" },
	{ "--grow --effective-batch keep x", NULL, "effective=0:0" },
	{ "--max-micro 64 x", NULL, "max=64" },
	{ "--micro-multiple-of 8 x", NULL, "multiple=8" },
	{ "--tolerance 5 x", NULL, "tolerance=0.05" },
	{ "--tolerance 2.5% x", NULL, "tolerance=0.025" },
	{ "--tolerance 0 x", NULL, "tolerance=0" },
	{ "--strategy bisect x", NULL, "strategy=bisect" },
	{ "--micro-flag --bs x", NULL, "micro_flag=--bs" },
	{ "--micro-flag=train.bs x", NULL, "micro_flag=train.bs" },
	{ "--accum-flag -g x", NULL, "accum_flag=-g" },
	{ "--global-flag gbs x", NULL, "global_flag=gbs" },
	{ "--micro-scope global x", NULL, "micro_scope=global" },
	{ "--accum-scope total x", NULL, "accum_scope=total" },
	{ "--preset hf x", NULL, "preset=hf" },
	{ "--env BS={micro} --env GA={accum}x x", NULL,
	  "env=<BS={micro}><GA={accum}x>" },
	{ "--env BS={micro:8} x", NULL, "env=<BS={micro:8}>" },
	{ "--probe-steps 5 x", NULL, "steps=5" },
	{ "--confirm-steps 20 x", NULL, "confirm=1:20" },
	{ "--max-probes 3 x", NULL, "probes=3" },
	{ "--time-limit 10m x", NULL, "limit=600000" },
	{ "--startup-timeout 1h30m x", NULL, "startup=5400000" },
	{ "--probe-timeout 90 x", NULL, "timeout=90000" },
	{ "--grace 250ms x", NULL, "grace=250" },
	{ "--probe-arg --no-eval --probe-arg=-x x", NULL,
	  "probe_arg=<--no-eval><-x>" },
	{ "--probe-env A= --probe-env B=1 x", NULL, "probe_env=<A=><B=1>" },
	{ "--scratch /tmp/s x", NULL, "scratch=/tmp/s" },
	{ "--fresh --no-probe --no-wait x", NULL,
	  "fresh=1 no_probe=1 no_wait=1" },
	{ "--json out.json x", NULL, "json=out.json" },
	{ "--json - tune -- x", NULL, "sub=1 json=-" },
	{ "--json - --dry-run x", NULL, "sub=2 json=-" },
	{ "-q x", NULL, "quiet=1" },
	{ "-qv x", NULL, "verbose=1" },
	{ "--verbose --quiet x", NULL, "quiet=1" },
	{ "--color never x", NULL, "color=2" },
	/* The environment, and that a flag is stronger. */
	{ "x", "AUTOFIT_MEMORY=8G", "memory=8589934592" },
	{ "--memory 1M x", "AUTOFIT_MEMORY=8G", "memory=1048576" },
	{ "--memory 1M x", "AUTOFIT_MEMORY=junk", "memory=1048576" },
	{ "x", "AUTOFIT_MAX_MICRO=7 AUTOFIT_FRESH=yes", "max=7 fresh=1" },
	{ "x", "AUTOFIT_FRESH=0 AUTOFIT_GROW=0 AUTOFIT_DRY_RUN=off", "" },
	{ "x", "AUTOFIT_MEMORY= AUTOFIT_FRESH=", "" },
	{ "x", "AUTOFIT_DRY_RUN=1", "sub=2" },
	{ "x", "AUTOFIT_GROW=1", "effective=1:0" },
	{ "--effective-batch 8 x", "AUTOFIT_GROW=1", "effective=2:8" },
	{ "-v x", "AUTOFIT_QUIET=1", "verbose=1" },
	{ "x", "AUTOFIT_QUIET=1 AUTOFIT_VERBOSE=0", "quiet=1" },
	{ "x", "AUTOFIT_CONFIRM_STEPS=9", "confirm=1:9" },
	{ "--probe-arg a x", "AUTOFIT_PROBE_ARG=b", "probe_arg=<a>" },
	{ "x", "AUTOFIT_PROBE_ARG=b", "probe_arg=<b>" },
	{ "x",
	  "AUTOFIT_HOME=/h AUTOFIT_SITE=/s AUTOFIT_PROBE=1 "
	  "AUTOFIT_MICRO=x AUTOFIT_ACCUM=y AUTOFIT_CHANNEL=/c "
	  "AUTOFIT_HELP=1 AUTOFIT_VERSION=1 AUTOFIT_SUCH=1 MEMORY=1",
	  "" },
};

static void good_lines_are_read(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(good_rows); i++)
		check_good(&good_rows[i]);
}

static const struct {
	const char *words, *variables, *message;
} wrong_rows[] = {
	{ "", NULL, "no command given: autofit -- " },
	{ "--", NULL, "no command given" },
	{ "-q", NULL, "no command given" },
	{ "tune", NULL, "no command given: autofit tune -- " },
	{ "explain --", NULL, "no command given: autofit explain -- " },
	{ "tune run a", NULL,
	  "to tune: autofit tune -- command...; to launch torchtune "
	  "write: autofit -- tune run ..." },
	{ "explain x", NULL,
	  "to explain: autofit explain -- command...; to launch a "
	  "program of that name write: autofit -- explain x ..." },
	{ "devices x", NULL, "devices does not take 'x'" },
	{ "devices -- x", NULL, "devices takes no command" },
	{ "show a b", NULL, "show does not take 'b'" },
	{ "show a -- b", NULL, "no command after a name" },
	{ "estimate", NULL, "not in this version yet" },
	{ "lower x", NULL, "autofit -- lower ..." },
	{ "forget x", NULL, "not in this version yet" },
	{ "export x", NULL, "not in this version yet" },
	{ "import x", NULL, "not in this version yet" },
	{ "presets", NULL, "not in this version yet" },
	{ "report", NULL, "not in this version yet" },
	{ "-q nightly x", NULL, "not in this version yet" },
	{ "--mem 8G x", NULL, "unknown option --mem; did you mean --memory?" },
	{ "--memor=8G x", NULL, "did you mean --memory?" },
	{ "--memroy 8G x", NULL, "did you mean --memory?" },
	{ "--colour never x", NULL, "did you mean --color?" },
	{ "--dev host x", NULL, "did you mean --device?" },
	{ "--per_device_train_batch_size 8 x", NULL,
	  "unknown option --per_device_train_batch_size (autofit "
	  "--help" },
	{ "-z x", NULL, "unknown option -z" },
	{ "-qz x", NULL, "unknown option -z" },
	{ "tune --bogus -- x", NULL, "unknown option --bogus" },
	{ "--grow=3 x", NULL, "--grow takes no value" },
	{ "--memory", NULL, "--memory needs a value: --memory SIZE" },
	{ "--memory -- x", NULL, "--memory needs a value before --" },
	{ "--micro-flag -- x", NULL, "needs a value before --" },
	{ "--json= x", NULL, "--json: needs a value" },
	{ "--json - x", NULL,
	  "stdout belongs to the command; use --json FILE" },
	{ "x", "AUTOFIT_JSON=-", "use --json FILE" },
	{ "--micro-flag 8 x", NULL,
	  "it takes the option's name, such as --micro-flag --bs" },
	{ "--accum-flag 4 x", NULL, "such as --accum-flag --" },
	{ "--memory eight x", NULL, "--memory: 'eight' is not a size" },
	{ "--memory 8 x", NULL, "write 8G or 8M" },
	{ "--memory 8K x", NULL, "less than 1.00 MiB" },
	{ "--memory 0 x", NULL, "would be bytes" },
	{ "--headroom 5 x", NULL, "or a share such as 5%" },
	{ "--headroom 95% x", NULL, "more than 90%" },
	{ "--headroom -5% x", NULL, "--headroom: " },
	{ "--max-micro 0 x", NULL, "'0' is not between 1 and" },
	{ "--max-micro 1e3 x", NULL, "not a whole number" },
	{ "--max-micro -3 x", NULL, "'-3' is not between" },
	{ "--probe-steps 0 x", NULL, "--probe-steps: '0'" },
	{ "--max-probes 0 x", NULL, "--max-probes: '0'" },
	{ "--tolerance 51 x", NULL, "between 0% and 50%" },
	{ "--tolerance 2G x", NULL, "not a share" },
	{ "--tolerance % x", NULL, "not a share" },
	{ "--time-limit soon x", NULL, "not a duration" },
	{ "--startup-timeout 0 x", NULL, "shorter than 1.0 s" },
	{ "--device gpu x", NULL, "'gpu' is not auto, cuda, cuda:N or host" },
	{ "--device cuda: x", NULL, "'cuda:' is not auto" },
	{ "--device cuda:-1 x", NULL, "is not auto" },
	{ "--device cuda:1024 x", NULL, "is not auto" },
	{ "--effective-batch all x", NULL, "keep, grow or" },
	{ "--effective-batch 0 x", NULL, "'0' is not between 1 and" },
	{ "--effective-batch -8 x", NULL, "keep, grow or" },
	{ "--micro-scope world x", NULL, "rank, node or global" },
	{ "--accum-scope global x", NULL, "rank or total" },
	{ "--color yes x", NULL, "auto, always or never" },
	{ "--strategy luck x", NULL, "--strategy: 'luck' is not " },
	{ "--env BS=8 x", NULL, "is not NAME={micro}" },
	{ "--env BS={microscope} x", NULL, "is not NAME={micro}" },
	{ "--env {micro} x", NULL, "is not NAME={micro}" },
	{ "--probe-env B x", NULL, "is not NAME=value" },
	{ "--probe-env 1=2 x", NULL, "is not NAME=value" },
	{ "x", "AUTOFIT_MEMORY=junk", "AUTOFIT_MEMORY: 'junk'" },
	{ "x", "AUTOFIT_FRESH=maybe", "AUTOFIT_FRESH: 'maybe' is not 1 or 0" },
	{ "x", "AUTOFIT_PROBE_STEPS=0", "AUTOFIT_PROBE_STEPS: '0'" },
};

static void wrong_lines_say_the_way_out(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(wrong_rows); i++) {
		struct parsed parsed;

		parse(&parsed, wrong_rows[i].words, wrong_rows[i].variables);
		if (parsed.outcome != OPTIONS_WRONG ||
		    !strstr(parsed.err.message, wrong_rows[i].message) ||
		    strchr(parsed.err.message, '\n'))
			fail_msg("autofit %s: outcome %d, \"%s\", wanted "
				 "\"%s\"",
				 wrong_rows[i].words, (int)parsed.outcome,
				 parsed.err.message, wrong_rows[i].message);
		assert_true(parsed.err.code < 0);
		parsed_release(&parsed);
	}
}

static void help_and_version_are_texts(void **state)
{
	static const struct {
		const char *words, *beginning;
	} rows[] = {
		{ "--help", "Usage: autofit " },
		{ "-h", "Usage: autofit " },
		{ "tune --help", "Usage: autofit " },
		{ "--help --bogus", "Usage: autofit " },
		{ "--version", "autofit " AUTOFIT_VERSION "\n" },
		{ "-qV x", "autofit " AUTOFIT_VERSION "\n" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct parsed parsed;

		parse(&parsed, rows[i].words, "AUTOFIT_MEMORY=junk");
		assert_int_equal(parsed.outcome, OPTIONS_PRINT);
		assert_ptr_equal(
			strstr(strbuf_text(&parsed.text), rows[i].beginning),
			strbuf_text(&parsed.text));
		parsed_release(&parsed);
	}
}

/* The entry of an option: from its name to the next line of an option. */
static void check_entry(const char *help, const struct option_row *row)
{
	struct strbuf head = STRBUF_INIT;
	const char *entry;

	strbuf_addf(&head, "--%s%s%s", row->name, row->argument ? " " : "",
		    row->argument ? row->argument : "");
	entry = strstr(help, strbuf_text(&head));
	if (!entry)
		fail_msg("the help lacks %s", strbuf_text(&head));
	strbuf_reset(&head);
	if (entry && row->initial) {
		strbuf_addf(&head, "[%s]", row->initial);
		assert_non_null(strstr(entry, strbuf_text(&head)));
	}
	strbuf_release(&head);
	assert_non_null(row->doc);
}

static void help_shows_the_whole_table(void **state)
{
	struct parsed parsed;
	const char *help;

	(void)state;
	parse(&parsed, "--help", NULL);
	help = strbuf_text(&parsed.text);
	for (const struct option_row *row = option_rows; row->name; row++)
		check_entry(help, row);
	for (const struct subcommand_row *row = subcommand_rows; row->word;
	     row++) {
		char line[64];

		(void)snprintf(line, sizeof(line), "\n  %s ", row->word);
		assert_int_equal(strstr(help, line) != NULL, !row->reserved);
	}
	for (const char *line = help; *line;) {
		size_t length = strcspn(line, "\n");

		assert_true(length < 80);
		line += length + 1;
	}
	for (const char *c = help; *c; c++)
		assert_true(*c == '\n' || (*c >= ' ' && *c <= '~'));
	parsed_release(&parsed);
}

static void the_table_is_sound(void **state)
{
	(void)state;
	for (size_t i = 0; option_rows[i].name; i++) {
		const struct option_row *row = &option_rows[i];

		assert_ptr_equal(option_of_key(option_key(i)), row);
		assert_ptr_equal(option_of_name(row->name, strlen(row->name)),
				 row);
		assert_int_equal(row->kind->is_flag, row->argument == NULL);
	}
}

static void an_empty_argv_is_no_command(void **state)
{
	struct strlist none = STRLIST_INIT;
	struct strbuf text = STRBUF_INIT;
	struct error err = ERROR_INIT;
	struct options options;

	(void)state;
	assert_int_equal(options_parse(&options, &none, &none, &text, &err),
			 OPTIONS_WRONG);
	assert_non_null(strstr(err.message, "no command given"));
	options_release(&options);
	assert_int_equal(options_parse(&options, &none, &none, &text, NULL),
			 OPTIONS_WRONG);
	options_release(&options);
	strbuf_release(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(good_lines_are_read),
		cmocka_unit_test(wrong_lines_say_the_way_out),
		cmocka_unit_test(help_and_version_are_texts),
		cmocka_unit_test(help_shows_the_whole_table),
		cmocka_unit_test(the_table_is_sound),
		cmocka_unit_test(an_empty_argv_is_no_command),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
