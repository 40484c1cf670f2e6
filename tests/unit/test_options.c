/* The command line: what is read, what is refused and with which words. */
/* SPDX-License-Identifier: MIT */
/* USES launcher */
#include "launcher/options/options.h"

#include "launcher/options/options_rows.h"
#include "tests/unit/scratch.h"

#include "base/alloc.h"
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
	parsed->outcome =
		options_parse(&parsed->options, &argv, &environment, NULL, NULL,
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
		    (int)o->subcommand, (int)o->target.device,
		    o->target.cuda_index, o->target.memory_bytes);
	strbuf_addf(out, " headroom=%d:%d:%g:%" PRIu64, o->target.has_headroom,
		    o->target.headroom.is_percent, o->target.headroom.percent,
		    o->target.headroom.bytes);
	strbuf_addf(out, " effective=%d:%" PRId64 " max=%" PRId64,
		    (int)o->batch.choice, o->batch.effective_batch,
		    o->batch.max_micro);
	strbuf_addf(out, " multiple=%" PRId64 " tolerance=%g",
		    o->batch.micro_multiple_of, o->search.tolerance);
	strbuf_addf(out, " steps=%" PRId64 " confirm=%d:%" PRId64,
		    o->search.probe_steps, o->search.has_confirm_steps,
		    o->search.confirm_steps);
	strbuf_addf(out, " probes=%" PRId64 " limit=%" PRId64,
		    o->search.max_probes, o->times.time_limit_ms);
	strbuf_addf(out,
		    " startup=%" PRId64 " timeout=%" PRId64 " grace=%" PRId64,
		    o->times.startup_timeout_ms, o->times.probe_timeout_ms,
		    o->times.grace_ms);
	strbuf_addf(out, " fresh=%d no_probe=%d no_wait=%d quiet=%d verbose=%d",
		    o->reuse.fresh, o->reuse.no_probe, o->reuse.no_wait,
		    o->output.quiet, o->output.verbose);
	strbuf_addf(out, " trust=%d shared=%d otherwise=%d isolation=%d",
		    o->reuse.trust_record, o->probe.shared,
		    o->reuse.otherwise_run, (int)o->probe.isolation);
	strbuf_addf(out, " color=%d watch=%" PRId64, (int)o->output.color,
		    o->times.watch_ms);
}

static void options_text(struct strbuf *out, const struct options *o)
{
	numbers_text(out, o);
	word_text(out, "as", o->target.as);
	word_text(out, "strategy", o->search.strategy);
	word_text(out, "micro_flag", o->hints.micro_flag);
	word_text(out, "accum_flag", o->hints.accum_flag);
	word_text(out, "global_flag", o->hints.global_flag);
	word_text(out, "micro_scope", o->hints.micro_scope);
	word_text(out, "accum_scope", o->hints.accum_scope);
	word_text(out, "global_scope", o->hints.global_scope);
	word_text(out, "preset", o->hints.preset);
	word_text(out, "scratch", o->probe.scratch);
	word_text(out, "json", o->output.json);
	word_text(out, "from", o->reuse.from);
	word_text(out, "record", o->record_name);
	word_text(out, "format", o->export_format);
	word_text(out, "import", o->import_file);
	word_text(out, "shown", o->preset_name);
	list_text(out, "env", &o->hints.env_templates);
	list_text(out, "probe_arg", &o->probe.args);
	list_text(out, "probe_env", &o->probe.env);
	list_text(out, "allow", &o->probe.allow_writes);
	list_text(out, "command", &o->command);
	strbuf_addch(out, ' ');
}

static const char defaults[] =
	" sub=0 device=0:-1 memory=0 headroom=0:0:0:0 effective=0:0 max=65536 "
	"multiple=1 tolerance=0.02 steps=3 confirm=0:20 probes=12 limit=0 "
	"startup=600000 timeout=0 grace=5000 fresh=0 no_probe=0 no_wait=0 "
	"quiet=0 verbose=0 trust=0 shared=0 otherwise=0 isolation=0 color=0 "
	"watch=0 "
	"as=(none) strategy=guided micro_flag=(none) accum_flag=(none) "
	"global_flag=(none) micro_scope=(none) accum_scope=(none) "
	"global_scope=(none) preset=(none) scratch=(none) json=(none) "
	"from=(none) record=(none) "
	"format=(none) import=(none) shown=(none) env= probe_arg= probe_env= "
	"allow= "
	"command=<x> ";

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
	{ "devices --watch", NULL, "sub=3 watch=1000 command=" },
	{ "--watch devices", NULL, "sub=3 watch=1000 command=" },
	{ "--watch 2 devices", NULL, "sub=3 watch=2000 command=" },
	{ "devices --watch 0.1 -q", NULL, "sub=3 watch=100 quiet=1 command=" },
	{ "devices --watch -q", NULL, "sub=3 watch=1000 quiet=1 command=" },
	{ "devices --watch=3600", NULL, "sub=3 watch=3600000 command=" },
	{ "devices --watch -- x", NULL, "sub=3 watch=1000" },
	{ "devices --watch 5 -- x -y", NULL,
	  "sub=3 watch=5000 command=<x><-y>" },
	{ "devices", "AUTOFIT_WATCH=7", "sub=3 watch=7000 command=" },
	{ "tune -- x", "AUTOFIT_WATCH=7", "sub=1 watch=7000" },
	{ "show", NULL, "sub=4 command=" },
	{ "show name -q", NULL, "sub=4 record=name quiet=1 command=" },
	{ "show -- x", NULL, "sub=4" },
	{ "lower name", NULL, "sub=5 record=name command=" },
	{ "lower -q -- x", NULL, "sub=5 quiet=1" },
	{ "forget name", NULL, "sub=6 record=name command=" },
	{ "forget -- x -y", NULL, "sub=6 command=<x><-y>" },
	{ "export json name", NULL, "sub=7 format=json record=name command=" },
	{ "export record -- x", NULL, "sub=7 format=record" },
	{ "export -v args name", NULL,
	  "sub=7 verbose=1 format=args record=name command=" },
	{ "export command -- x", NULL, "sub=7 format=command" },
	{ "export json name", "AUTOFIT_JSON=r.json",
	  "sub=7 format=json record=name json=r.json command=" },
	{ "import r.ini", NULL, "sub=8 import=r.ini command=" },
	{ "import -", NULL, "sub=8 import=- command=" },
	{ "presets", NULL, "sub=9 shown=(none) command=" },
	{ "presets hf --json f", NULL, "sub=9 json=f shown=hf command=" },
	{ "--json - presets", NULL, "sub=9 json=- shown=(none) command=" },
	{ "--dry-run show", NULL, "sub=4 command=" },
	{ "--device cuda x", NULL, "device=1:-1" },
	{ "--device cuda:3 x", NULL, "device=1:3" },
	{ "--device host x", NULL, "device=2:-1" },
	{ "--memory 8G x", NULL, "memory=8589934592" },
	{ "--memory=600MiB x", NULL, "memory=629145600" },
	{ "--memory 1G --memory 2M x", NULL, "memory=2097152" },
	{ "--as rtx4090 x", NULL, "as=rtx4090" },
	{ "--as t4 --as=a100-40gb --memory 8G x", NULL,
	  "memory=8589934592 as=a100-40gb" },
	{ "x", "AUTOFIT_AS=t4", "as=t4" },
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
	{ "--global-scope rank x", NULL, "global_scope=rank" },
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
	{ "--isolation auto x", NULL, "isolation=0" },
	{ "--isolation view x", NULL, "isolation=0" },
	{ "--isolation landlock x", NULL, "isolation=1" },
	{ "--isolation=compare x", NULL, "isolation=2" },
	{ "--isolation compare --isolation auto x", NULL, "isolation=0" },
	{ "--allow-writes a --allow-writes /b x", NULL, "allow=<a></b>" },
	{ "--shared x", NULL, "shared=1" },
	{ "--otherwise run x", NULL, "otherwise=1" },
	{ "--otherwise=run --otherwise stop x", NULL, "" },
	{ "--trust-record --from r.ini x", NULL, "trust=1 from=r.ini" },
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
	{ "x", "AUTOFIT_ISOLATION=landlock AUTOFIT_SHARED=on",
	  "isolation=1 shared=1" },
	{ "x", "AUTOFIT_OTHERWISE=run AUTOFIT_FROM=f AUTOFIT_TRUST_RECORD=1",
	  "otherwise=1 from=f trust=1" },
	{ "--otherwise stop x", "AUTOFIT_OTHERWISE=run", "" },
	{ "x", "AUTOFIT_COMPLETION=bash", "" },
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
	{ "devices -- x", NULL,
	  "takes a command only with --watch or --check" },
	{ "devices --watch 1 2", NULL, "devices does not take '2'" },
	{ "devices --watch 0.09", NULL, "'0.09' is shorter than 0.1 s" },
	{ "devices --watch 3601", NULL, "'3601' is longer than 1 h" },
	{ "devices --watch often", NULL, "'often' is not a duration" },
	{ "devices --watch=-1", NULL, "'-1' is not a duration" },
	{ "--watch 1 -- x", NULL, "--watch belongs to autofit devices" },
	{ "--watch tune -- x", NULL, "--watch belongs to autofit devices" },
	{ "show --watch", NULL, "--watch belongs to autofit devices" },
	{ "show a b", NULL, "show does not take 'b'" },
	{ "show a -- b", NULL, "no command after a name" },
	{ "estimate a b", NULL, "estimate does not take 'b'" },
	{ "--batch 8 x", NULL, "--batch belongs to autofit estimate" },
	{ "devices --gpus", NULL, "--gpus belongs to autofit estimate" },
	{ "estimate --batch 0 x", NULL, "--batch: '0' is not between 1" },
	{ "estimate --sequence 99999999999 x", NULL, "--sequence: '99999" },
	{ "estimate --params 7x", NULL, "--params: '7x' is not a number" },
	{ "estimate --params -1", NULL, "--params: '-1' is not a number" },
	{ "estimate --layers 99999999", NULL, "layers is 99999999, which" },
	{ "estimate --field foo=3", NULL, "--field: a model has no field foo" },
	{ "estimate --field patch", NULL, "--field: 'patch' is not NAME=N" },
	{ "estimate --precision int4 x", NULL,
	  "--precision: 'int4' is not fp32, amp, bf16, master or fp8" },
	{ "estimate --optimizer foo x", NULL, "--optimizer: 'foo' is none of" },
	{ "estimate --targets q,x x", NULL, "--targets: 'x' is none of q, k" },
	{ "estimate --evaluator 7b:int3 x", NULL,
	  "--evaluator: 'int3' is none of fp32" },
	{ "estimate --evaluator x x", NULL, "--evaluator: 'x' is not PARAMS" },
	{ "estimate --gpu-memory 1M x", NULL,
	  "--gpu-memory: '1M' is not from 64 MiB to 1024 TiB" },
	{ "estimate --lora 0 x", NULL, "--lora: '0' is not between 1" },
	{ "lower", NULL,
	  "no record given: autofit lower NAME, or -- command... instead of "
	  "NAME (autofit show lists them)" },
	{ "lower --", NULL, "no record given: autofit lower NAME" },
	{ "lower a b", NULL,
	  "lower does not take 'b'; to launch a program called lower write: "
	  "autofit -- lower ..." },
	{ "lower a -- b", NULL, "lower takes no command after a name" },
	{ "lower a --json -", NULL,
	  "lower takes no --json; a record as JSON: autofit export json" },
	{ "forget x --json x", NULL, "forget takes no --json" },
	{ "phantom t4", NULL,
	  "no command given: autofit phantom CARD[xN] -- command..." },
	{ "phantom t4 train.py", NULL,
	  "autofit phantom does not take 'train.py'; to launch a program "
	  "called "
	  "phantom write: autofit -- phantom ..." },
	{ "help nix", NULL, "no sub-command is called 'nix'" },
	{ "help exprot", NULL, "'exprot'; did you mean export?" },
	{ "version 2", NULL,
	  "autofit version does not take '2'; to launch a program called "
	  "version write: autofit -- version ..." },
	{ "--dry-run lower a", NULL, "lower takes no --dry-run" },
	{ "lower a", "AUTOFIT_DRY_RUN=1", "lower takes no --dry-run" },
	{ "forget", NULL, "no record given: autofit forget NAME" },
	{ "forget a -- b", NULL, "forget takes no command after a name" },
	{ "forget a --dry-run", NULL, "forget takes no --dry-run" },
	{ "export", NULL, "no format given: autofit export FORMAT NAME" },
	{ "export -- x", NULL, "no format given: autofit export FORMAT" },
	{ "export json", NULL,
	  "no record given: autofit export FORMAT NAME, or -- command..." },
	{ "export toast x", NULL,
	  "autofit export: 'toast' is not json, record, args, command, cmd, "
	  "env, dotenv, hf, deepspeed, accelerate, hydra, yaml, config, "
	  "torchtune, axolotl, markdown or csv" },
	{ "export json a b", NULL, "export does not take 'b'" },
	{ "export json a -- b", NULL, "export takes no command after" },
	{ "export json a --json f", NULL, "export takes no --json" },
	{ "import", NULL, "no file given: autofit import FILE" },
	{ "import a b", NULL, "import does not take 'b'" },
	{ "import a -- b", NULL, "import takes no command" },
	{ "import -- a", NULL, "import takes no command" },
	{ "--dry-run import a", NULL, "import takes no --dry-run" },
	{ "presets a b", NULL, "presets does not take 'b'" },
	{ "presets -- a", NULL, "presets takes no command" },
	{ "report", NULL, "no record given" },
	{ "-q report --html x.html", NULL, "no record given" },
	{ "show --html x.html", NULL, "--html belongs to autofit report" },
	{ "report --until 07:00 --html x.html a", NULL,
	  "--until belongs to autofit nightly" },
	{ "report --html x.html --until 07:00 a", NULL,
	  "--until belongs to autofit nightly" },
	{ "estimate --watch 1 --params 7e9", NULL,
	  "--watch belongs to autofit devices" },
	{ "nightly", NULL, "no file given: autofit nightly JOBS" },
	{ "nightly a b", NULL, "autofit nightly does not take 'b'" },
	{ "nightly --until 24:00 a", NULL, "no time of day: write HH:MM" },
	{ "nightly --until 7 a", NULL, "no time of day" },
	{ "nightly --json x a", NULL, "takes no --json" },
	{ "--only x -- a", NULL, "--only belongs to autofit nightly" },
	{ "tune --init -- a", NULL, "--init belongs to autofit nightly" },
	{ "diff", NULL, "no file given: autofit diff OLD NEW" },
	{ "diff a", NULL, "no second file given: autofit diff OLD NEW" },
	{ "diff a b c", NULL, "autofit diff does not take 'c'" },
	{ "--mem 8G x", NULL, "unknown option --mem; did you mean --memory?" },
	{ "--memor=8G x", NULL, "did you mean --memory?" },
	{ "--memroy 8G x", NULL, "did you mean --memory?" },
	{ "--colour never x", NULL, "did you mean --color?" },
	{ "--dev host x", NULL, "did you mean --device?" },
	{ "--per_device_train_batch_size 8 x", NULL,
	  "unknown option --per_device_train_batch_size (autofit "
	  "--help" },
	{ "-z x", NULL, "unknown option -z" },
	{ "-memory 8G x", NULL,
	  "unknown option -memory; did you mean --memory" },
	{ "-qz x", NULL, "unknown option -z" },
	{ "tune --bogus -- x", NULL, "unknown option --bogus" },
	{ "--grow=3 x", NULL, "--grow takes no value" },
	{ "--memory", NULL, "--memory needs a value: --memory SIZE" },
	{ "--memory -- x", NULL, "--memory needs a value before --" },
	{ "--json --device host -- x", NULL,
	  "--json needs a value before --device" },
	{ "--scratch --memory=4G -- x", NULL,
	  "--scratch needs a value before --memory=4G" },
	{ "--micro-flag -- x", NULL, "needs a value before --" },
	{ "--json= x", NULL, "--json: needs a value" },
	{ "--json - x", NULL,
	  "stdout belongs to the command; use --json FILE" },
	{ "x", "AUTOFIT_JSON=-", "use --json FILE" },
	{ "--as= x", NULL, "--as: needs a value" },
	{ "--as -- x", NULL, "--as needs a value before --" },
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
	{ "estimate --lora llama-3.1-8b", NULL,
	  "the rank of the adapters comes first: --lora 16 llama-3.1-8b" },
	{ "--max-probes 0 x", NULL, "--max-probes: '0'" },
	{ "--tolerance 51 x", NULL, "between 0% and 50%" },
	{ "--tolerance 2G x", NULL, "not a share" },
	{ "--tolerance % x", NULL, "not a share" },
	{ "--time-limit soon x", NULL, "not a duration" },
	{ "--startup-timeout 0 x", NULL, "shorter than 1.0 s" },
	{ "--device gpu x", NULL,
	  "'gpu' is not auto, cuda, cuda:N, host or phantom:NAME[xN]" },
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
	{ "--isolation none x", NULL,
	  "'none' is not auto, view, landlock or compare" },
	{ "--otherwise go x", NULL, "--otherwise: 'go' is not stop or run" },
	{ "--allow-writes= x", NULL, "--allow-writes: needs a value" },
	{ "--from= x", NULL, "--from: needs a value" },
	{ "--completion", NULL,
	  "--completion needs a value: --completion bash|zsh|fish" },
	{ "--completion -- x", NULL, "needs a value before --" },
	{ "--completion csh", NULL,
	  "--completion: 'csh' is not bash, zsh or fish" },
	{ "x", "AUTOFIT_ISOLATION=none", "AUTOFIT_ISOLATION: 'none'" },
	{ "x", "AUTOFIT_MEMORY=junk", "AUTOFIT_MEMORY: 'junk'" },
	{ "x", "AUTOFIT_FRESH=maybe",
	  "AUTOFIT_FRESH: 'maybe' is not yes or no" },
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

/* NAME becomes a model of the catalogue, or the line is wrong. */
static void a_model_is_looked_up(void **state)
{
	static const struct {
		const char *words, *name; /* NULL: no option */
		const char *message;      /* NULL: it is found */
	} rows[] = {
		{ "x", NULL, NULL },
		{ "--as rtx4090 x", "NVIDIA GeForce RTX 4090", NULL },
		{ "--as mine x", "Mine", NULL },
		{ "--as a100 x", NULL, "--as: 'a100' is not the whole name" },
		{ "--as nothing x", NULL, "--as: 'nothing' is no GPU model" },
	};
	static const char models[] = "name,driver_total_mib\nMine,9000\nx\n";
	char path[SCRATCH_PATH_MAX];
	char home[SCRATCH_PATH_MAX];

	(void)snprintf(home, sizeof(home), "AUTOFIT_HOME=%s", (char *)*state);
	assert_int_equal(mkdir(scratch_path(path, *state, "config"), 0700), 0);
	scratch_path(path, *state, "config/gpus.csv");
	assert_int_equal(scratch_write(path, models, strlen(models)), 0);
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct strlist environment = STRLIST_INIT;
		struct strlist warnings = STRLIST_INIT;
		struct parsed parsed;
		int result;

		strlist_add(&environment, home);
		parse(&parsed, rows[i].words, NULL);
		result = options_find_model(&parsed.options, &environment,
					    &warnings, &parsed.err);
		assert_int_equal(result < 0, rows[i].message != NULL);
		if (rows[i].message)
			assert_ptr_equal(
				strstr(parsed.err.message, rows[i].message),
				parsed.err.message);
		assert_string_equal(parsed.options.target.model.name,
				    rows[i].name ? rows[i].name : "");
		assert_int_equal(parsed.options.target.model.usable_bytes != 0,
				 rows[i].name != NULL);
		/* Its third line; without --as nothing is read. */
		assert_int_equal(warnings.count,
				 parsed.options.target.as ? 1 : 0);
		parsed_release(&parsed);
		strlist_release(&environment);
		strlist_release(&warnings);
	}
}

static void help_and_version_are_texts(void **state)
{
	static const struct {
		const char *words, *beginning;
	} rows[] = {
		{ "--help", "Usage: autofit " },
		{ "-h", "Usage: autofit " },
		{ "tune --help", "Usage: autofit tune [options] -- " },
		{ "tune -h", "Usage: autofit tune [options] -- " },
		{ "show a --help", "Usage: autofit show [options] [NAME]\n" },
		{ "help", "Usage: autofit [options] " },
		{ "help diff", "Usage: autofit diff [options] OLD NEW\n" },
		{ "help estimate", "Usage: autofit estimate " },
		{ "version", "autofit " AUTOFIT_VERSION "\n" },
		{ "--version -v",
		  "autofit " AUTOFIT_VERSION "\nbuilt with libuv " },
		{ "version -v",
		  "autofit " AUTOFIT_VERSION "\nbuilt with libuv " },
		{ "--help --bogus", "Usage: autofit " },
		{ "--version", "autofit " AUTOFIT_VERSION "\n" },
		{ "-qV x", "autofit " AUTOFIT_VERSION "\n" },
		{ "--completion bash", "# bash completion for autofit" },
		{ "--completion=zsh --bogus", "#compdef autofit\n" },
		{ "--completion fish x", "# fish completion for autofit" },
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

static void check_width(const char *help)
{
	for (const char *line = help; *line;) {
		size_t length = strcspn(line, "\n");

		assert_true(length < 80);
		line += length + 1;
	}
	for (const char *c = help; *c; c++)
		assert_true(*c == '\n' || (*c >= ' ' && *c <= '~'));
}

/* Of every sub-command: its own usage, and never more than two screens. */
static void short_help_is_short(void **state)
{
	(void)state;
	for (const struct subcommand_row *row = subcommand_rows; row->word;
	     row++) {
		char *words = xasprintf("%s -h", row->word);
		struct parsed parsed;
		const char *help;
		size_t lines = 0;

		if (row->prints) {
			free(words);
			continue;
		}
		parse(&parsed, words, NULL);
		help = strbuf_text(&parsed.text);
		for (const char *c = help; *c; c++)
			lines += *c == '\n';
		check_width(help);
		if (lines > 50 || !strstr(help, row->word))
			fail_msg("%s: %zu lines:\n%s", words, lines, help);
		parsed_release(&parsed);
		free(words);
	}
}

static void help_shows_the_whole_table(void **state)
{
	struct parsed parsed, estimate;
	const char *help;

	(void)state;
	parse(&parsed, "--help", NULL);
	parse(&estimate, "estimate --help", NULL);
	help = strbuf_text(&parsed.text);
	for (const struct option_row *row = option_rows; row->name; row++)
		check_entry(row->group < GROUP_ESTIMATE
				    ? help
				    : strbuf_text(&estimate.text),
			    row);
	check_width(strbuf_text(&estimate.text));
	parsed_release(&estimate);
	for (const struct subcommand_row *row = subcommand_rows; row->word;
	     row++) {
		char line[64];

		(void)snprintf(line, sizeof(line), "\n  %s ", row->word);
		assert_int_equal(strstr(help, line) != NULL, !row->is_hidden);
	}
	check_width(help);
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
	assert_int_equal(
		options_parse(&options, &none, &none, NULL, NULL, &text, &err),
		OPTIONS_WRONG);
	assert_non_null(strstr(err.message, "no command given"));
	options_release(&options);
	assert_int_equal(
		options_parse(&options, &none, &none, NULL, NULL, &text, NULL),
		OPTIONS_WRONG);
	options_release(&options);
	strbuf_release(&text);
}

struct file_row {
	const char *name;
	const char *words, *variables;
	const char *first, *second; /* texts of files; NULL: not there */
	const char *sets;           /* NULL: wrong */
	const char *says;           /* the warnings, or what is wrong */
};

static const struct file_row file_rows[] = {
	{ "values and lists", "x", NULL,
	  "[autofit]\nmax-micro = 64\nmemory = 8G\ndevice = host\n"
	  "probe-arg = --no-eval\nprobe-arg = -x\nshared = yes\n"
	  "isolation = landlock\notherwise = run\n",
	  NULL,
	  "max=64 memory=8589934592 device=2:-1 probe_arg=<--no-eval><-x> "
	  "shared=1 isolation=1 otherwise=1",
	  "" },
	{ "before a section, with _, comments", "x", NULL,
	  "; note\nmax_micro = 64 ; note\n# note\n[autofit]\n"
	  "probe_steps=5\n\n\r\n",
	  NULL, "max=64 steps=5", "" },
	{ "no file and an empty one", "x", NULL, "", NULL, "", "" },
	{ "flag over file", "--max-micro 7 x", NULL, "max-micro = 64\n", NULL,
	  "max=7", "" },
	{ "flag over a wrong value", "--max-micro 7 x", NULL,
	  "max-micro = many\n", NULL, "max=7", "" },
	{ "variable over file", "x", "AUTOFIT_MAX_MICRO=9", "max-micro = 64\n",
	  "max-micro = 65\n", "max=9", "" },
	{ "an empty variable is none", "x",
	  "AUTOFIT_MAX_MICRO=", "max-micro = 64\n", NULL, "max=64", "" },
	{ "first file over second", "x", NULL, "max-micro = 64\n",
	  "max-micro = 65\nprobe-steps = 9\n", "max=64 steps=9", "" },
	{ "wrong in a weaker file", "x", NULL, "max-micro = 64\n",
	  "max-micro = many\n", "max=64", "" },
	{ "an empty value is no line", "x", NULL,
	  "max-micro =\nfresh =\nprobe-arg =\nscratch =\n", "max-micro = 65\n",
	  "max=65", "" },
	{ "flag's list replaces all", "--probe-arg a x", NULL,
	  "probe-arg = b\nprobe-arg = c\n", "probe-arg = d\n", "probe_arg=<a>",
	  "" },
	{ "variable's list replaces all", "x", "AUTOFIT_PROBE_ARG=a",
	  "probe-arg = b\nprobe-arg = c\n", NULL, "probe_arg=<a>", "" },
	{ "stronger file's list replaces", "x", NULL,
	  "probe-arg = b\nprobe-arg = c\n", "probe-arg = d\nenv = B={micro}\n",
	  "probe_arg=<b><c> env=<B={micro}>", "" },
	{ "an indented line is one more item", "x", NULL,
	  "allow-writes = a\n\tb\n  c\n", NULL, "allow=<a><b><c>", "" },
	{ "flags of all sorts", "x", NULL,
	  "fresh = yes\nno-probe = TRUE\nno-wait = 1\nshared = on\n"
	  "trust-record = no\n",
	  NULL, "fresh=1 no_probe=1 no_wait=1 shared=1", "" },
	{ "a flag off in the stronger file", "x", NULL, "fresh = no\n",
	  "fresh = yes\n", "", "" },
	{ "grow off leaves the batch", "x", NULL, "grow = no\n",
	  "effective-batch = 64\n", "effective=2:64", "" },
	{ "grow on does not", "x", NULL, "grow = yes\n",
	  "effective-batch = 64\n", "effective=1:0", "" },
	{ "quiet takes back verbose", "-q x", NULL, "verbose = yes\n", NULL,
	  "quiet=1", "" },
	{ "quiet off does not", "x", "AUTOFIT_QUIET=0", "verbose = yes\n", NULL,
	  "verbose=1", "" },
	{ "given in a file is given", "x", NULL, "confirm-steps = 20\n", NULL,
	  "confirm=1:20", "" },
	{ "a slip", "x", NULL, "max-mirco = 64\nzzzzzzzz = 1\n", NULL, "",
	  "<a.ini:1: unknown option 'max-mirco' (did you mean max-micro?)>"
	  "<a.ini:2: unknown option 'zzzzzzzz'>" },
	{ "a slip in the second", "x", NULL, "", "\n[autofit]\nmem = 8G\n", "",
	  "<b.ini:3: unknown option 'mem' (did you mean memory?)>" },
	{ "another section, named once", "x", NULL,
	  "[other]\nmax-micro = 64\nfresh = 1\n[autofit]\nfresh = 1\n", NULL,
	  "fresh=1",
	  "<a.ini:2: unknown section [other]; options stand in [autofit]>" },
	{ "of one call", "x", NULL,
	  "dry-run = yes\nhelp = 1\njson = out\nversion = 1\nfrom = x\n"
	  "completion = bash\n",
	  NULL, "",
	  "<a.ini:1: 'dry-run' is passed over: it belongs to one call, not "
	  "into a file>"
	  "<a.ini:2: 'help' is passed over: it belongs to one call, not into "
	  "a file>"
	  "<a.ini:3: 'json' is passed over: it belongs to one call, not into "
	  "a file>"
	  "<a.ini:4: 'version' is passed over: it belongs to one call, not "
	  "into a file>"
	  "<a.ini:5: 'from' is passed over: it belongs to one call, not into "
	  "a file>"
	  "<a.ini:6: 'completion' is passed over: it belongs to one call, not "
	  "into a file>" },
	{ "a value twice", "x", NULL, "max-micro = 1\nmax_micro = 2\n", NULL,
	  "max=2", "<a.ini:2: 'max_micro' once more; the last line counts>" },
	{ "a wrong value", "x", NULL, "\nmax-micro = many\n", NULL, NULL,
	  "a.ini:2: max-micro: 'many' is not a whole number" },
	{ "a wrong value in the second", "x", NULL, "max-micro = 5\n",
	  "probe_steps = 0\n", NULL, "b.ini:1: probe-steps: '0' is not" },
	{ "a wrong flag", "x", NULL, "fresh = maybe\n", NULL, NULL,
	  "a.ini:1: fresh: 'maybe' is not yes or no" },
	{ "a wrong item", "x", NULL, "probe-env = A=1\nprobe-env = B\n", NULL,
	  NULL, "a.ini:2: probe-env: 'B' is not NAME=value" },
	{ "no entry", "x", NULL, "max-micro\n", NULL, NULL, "a.ini:1: " },
	{ "no such file for help", "--help", NULL, "max-micro = many\n", NULL,
	  NULL, NULL },
};

static void check_file_row(const struct file_row *row, bool foreign)
{
	struct options_file items[2] = {
		{ .path = "a.ini", .text = row->first, .foreign = foreign },
		{ .path = "b.ini", .text = row->second },
	};
	const struct options_files files = { items, row->second ? 2 : 1, 0 };
	struct strlist argv = STRLIST_INIT;
	struct strlist environment = STRLIST_INIT;
	struct strlist warnings = STRLIST_INIT;
	struct strbuf said = STRBUF_INIT;
	struct parsed parsed;

	memset(&parsed, 0, sizeof(parsed));
	for (size_t i = 0; i < files.count; i++)
		items[i].length = strlen(items[i].text);
	strlist_add(&argv, "autofit");
	split(&argv, row->words);
	split(&environment, row->variables);
	parsed.outcome =
		options_parse(&parsed.options, &argv, &environment, &files,
			      &warnings, &parsed.text, &parsed.err);
	for (size_t i = 0; i < warnings.count; i++)
		strbuf_addf(&said, "<%s>", warnings.items[i]);
	if (!row->says) {
		assert_int_equal(parsed.outcome, OPTIONS_PRINT);
	} else if (!row->sets) {
		if (parsed.outcome != OPTIONS_WRONG ||
		    strstr(parsed.err.message, row->says) != parsed.err.message)
			fail_msg("%s: outcome %d, \"%s\"", row->name,
				 (int)parsed.outcome, parsed.err.message);
	} else {
		char *wanted = expected_text(row->sets);
		struct strbuf got = STRBUF_INIT;

		options_text(&got, &parsed.options);
		if (parsed.outcome != OPTIONS_RUN ||
		    strcmp(strbuf_text(&got), wanted) != 0 ||
		    strcmp(strbuf_text(&said), row->says) != 0)
			fail_msg("%s: outcome %d (%s)\n%s\nwanted\n%s\n%s",
				 row->name, (int)parsed.outcome,
				 parsed.err.message, strbuf_text(&got), wanted,
				 strbuf_text(&said));
		strbuf_release(&got);
		free(wanted);
	}
	strbuf_release(&said);
	strlist_release(&warnings);
	strlist_release(&environment);
	strlist_release(&argv);
	parsed_release(&parsed);
}

static void files_are_read(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(file_rows); i++)
		check_file_row(&file_rows[i], false);
}

/* What would run or write something for another user is left out. */
static void a_foreign_file_may_say_less(void **state)
{
	static const struct file_row row = {
		"foreign",
		"x",
		NULL,
		"max-micro = 64\nprobe-env = LD_PRELOAD=/evil.so\n"
		"env = LD_PRELOAD=/{micro}.so\nprobe-arg = --config=evil\n"
		"scratch = /evil\nallow-writes = /\n",
		"probe-arg = -x\n",
		"max=64 probe_arg=<-x>",
		"<a.ini:2: 'probe-env' is passed over: this file belongs to "
		"another user>"
		"<a.ini:3: 'env' is passed over: this file belongs to another "
		"user>"
		"<a.ini:4: 'probe-arg' is passed over: this file belongs to "
		"another user>"
		"<a.ini:5: 'scratch' is passed over: this file belongs to "
		"another user>"
		"<a.ini:6: 'allow-writes' is passed over: this file belongs to "
		"another user>",
	};

	(void)state;
	check_file_row(&row, true);
}

/* A file of another sort must not fill the terminal. */
static void warnings_have_an_end(void **state)
{
	struct strlist argv = STRLIST_INIT;
	struct strlist none = STRLIST_INIT;
	struct strlist warnings = STRLIST_INIT;
	struct strbuf text = STRBUF_INIT;
	struct strbuf printed = STRBUF_INIT;
	struct options_file file = { .path = "a.ini" };
	const struct options_files files = { &file, 1, 0 };
	struct options options;

	(void)state;
	for (int i = 0; i < 1000; i++)
		strbuf_addf(&text, "[s%d]\nzzzz%d = 1\n", i, i);
	file.text = strbuf_text(&text);
	file.length = text.length;
	strlist_add(&argv, "autofit");
	strlist_add(&argv, "x");
	assert_int_equal(options_parse(&options, &argv, &none, &files,
				       &warnings, &printed, NULL),
			 OPTIONS_RUN);
	assert_int_equal(warnings.count, 21);
	assert_non_null(strstr(warnings.items[20], "and more lines"));
	options_release(&options);
	assert_int_equal(options_parse(&options, &argv, &none, &files, NULL,
				       &printed, NULL),
			 OPTIONS_RUN);
	options_release(&options);
	strlist_release(&argv);
	strlist_release(&warnings);
	strbuf_release(&text);
	strbuf_release(&printed);
}

static const struct {
	const char *words, *variables, *command; /* NULL: nothing starts */
} otherwise_rows[] = {
	{ "--otherwise run --memroy 8G -- x y", NULL, "<x><y>" },
	{ "--otherwise=run --memory much -- x -- y", NULL, "<x><--><y>" },
	{ "--memroy 8G --otherwise run -- x", NULL, "<x>" },
	{ "--memroy=8G -- x", "AUTOFIT_OTHERWISE=run", "<x>" },
	{ "--max-micro 0 -- tune", "AUTOFIT_OTHERWISE=run", "<tune>" },
	{ "--memory -- x", "AUTOFIT_OTHERWISE=run", "<x>" },
	{ "--otherwise run --json - -- x --help", NULL, "<x><--help>" },
	{ "-qz --otherwise run -- x", NULL, "<x>" },
	{ "--bogus -- x", "AUTOFIT_OTHERWISE=run AUTOFIT_DRY_RUN=0", "<x>" },
	{ "--bogus -- x", NULL, NULL },
	{ "--bogus -- x", "AUTOFIT_OTHERWISE=", NULL },
	{ "--bogus -- x", "AUTOFIT_OTHERWISE=yes", NULL },
	{ "--otherwise stop --bogus -- x", "AUTOFIT_OTHERWISE=run", NULL },
	{ "--otherwise run --otherwise stop --bogus -- x", NULL, NULL },
	{ "--otherwise -- x", "AUTOFIT_OTHERWISE=run", NULL },
	{ "--bogus -- x --otherwise run", NULL, NULL },
	{ "--otherwise run --bogus --", NULL, NULL },
	{ "--otherwise run --bogus x", NULL, NULL },
	{ "--otherwise run --bogus y x -- z", NULL, NULL },
	{ "--otherwise run x --max-micro -- z", NULL, NULL },
	{ "tune --otherwise run --bogus -- x", NULL, NULL },
	{ "--otherwise run --bogus tune -- x", NULL, NULL },
	{ "--otherwise run --dry-run --bogus -- x", NULL, NULL },
	{ "--bogus -- x", "AUTOFIT_OTHERWISE=run AUTOFIT_DRY_RUN=1", NULL },
	{ "--otherwise run --bogus -h -- x", NULL, NULL },
	{ "--micro-flag --otherwise run --bogus -- x", NULL, NULL },
	{ "--probe-arg --otherwise --probe-arg run --bogus -- x", NULL, NULL },
	{ "", "AUTOFIT_OTHERWISE=run", NULL },
};

static void a_wrong_line_may_start_its_command(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(otherwise_rows); i++) {
		struct strlist argv = STRLIST_INIT;
		struct strlist environment = STRLIST_INIT;
		struct strlist command = STRLIST_INIT;
		struct strbuf got = STRBUF_INIT;
		bool starts;

		strlist_add(&argv, "autofit");
		split(&argv, otherwise_rows[i].words);
		split(&environment, otherwise_rows[i].variables);
		starts = options_otherwise(&argv, &environment, &command);
		for (size_t k = 0; k < command.count; k++)
			strbuf_addf(&got, "<%s>", command.items[k]);
		if (starts != (otherwise_rows[i].command != NULL) ||
		    (starts &&
		     strcmp(strbuf_text(&got), otherwise_rows[i].command) != 0))
			fail_msg("%s: %d %s", otherwise_rows[i].words, starts,
				 strbuf_text(&got));
		strlist_release(&argv);
		strlist_release(&environment);
		strlist_release(&command);
		strbuf_release(&got);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(good_lines_are_read),
		cmocka_unit_test(wrong_lines_say_the_way_out),
		cmocka_unit_test_setup_teardown(a_model_is_looked_up,
						scratch_make, scratch_remove),
		cmocka_unit_test(help_and_version_are_texts),
		cmocka_unit_test(help_shows_the_whole_table),
		cmocka_unit_test(short_help_is_short),
		cmocka_unit_test(the_table_is_sound),
		cmocka_unit_test(an_empty_argv_is_no_command),
		cmocka_unit_test(files_are_read),
		cmocka_unit_test(a_foreign_file_may_say_less),
		cmocka_unit_test(warnings_have_an_end),
		cmocka_unit_test(a_wrong_line_may_start_its_command),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
