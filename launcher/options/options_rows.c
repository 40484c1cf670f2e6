/* The options and sub-commands of autofit: a new option is a new row. */
/* SPDX-License-Identifier: MIT */
#include "launcher/options/options_rows.h"

#include "launcher/options/exitcode.h"
#include "launcher/options/options_estimate.h"
#include "launcher/options/options_kinds.h"

#include <string.h>

#define FIELD(name) offsetof(struct options, name)
#define BATCH_MAX INT32_MAX
#define EFFECTIVE_MAX INT64_C(1000000000000)
#define STEPS_MAX 1000000

const char *const option_group_titles[GROUP_COUNT] = {
	[GROUP_MEMORY] = "Device and memory",
	[GROUP_SIZES] = "Sizes",
	[GROUP_COMMAND] = "How the command says its sizes",
	[GROUP_PROBES] = "Probes",
	[GROUP_RECORDS] = "Recorded answers",
	[GROUP_OUTPUT] = "Output",
	[GROUP_NIGHTLY] = "A list of commands: autofit nightly",
	[GROUP_REPORT] = "Curves and pages: autofit report",
	[GROUP_MODEL] = "The model, instead of MODEL or beside it",
	[GROUP_RUN] = "The run and its GPU",
	[GROUP_ASK] = "What is asked",
};

static const char *const device_words[] = {
	"auto", "cuda", "cuda:N", "host", "phantom:NAME[xN]", NULL
};
static const char *const effective_words[] = { "keep", "grow", "a whole number",
					       NULL };
static const char *const micro_scope_words[] = { "rank", "node", "global",
						 NULL };
static const char *const accum_scope_words[] = { "rank", "total", NULL };
static const char *const global_scope_words[] = { "rank", "global", NULL };
static const char *const color_words[] = { "auto", "always", "never", NULL };
static const char *const isolation_kinds[] = { "auto", "view", "landlock",
					       "compare", NULL };
static const char *const objective_words[] = { "largest", "fastest", NULL };
static const char *const otherwise_words[] = { "stop", "run", NULL };
static const char *const shell_words[] = { "bash", "zsh", "fish", NULL };
static const char *const export_formats[] = {
	"json",   "record",    "args",      "command",    "cmd",   "env",
	"dotenv", "hf",        "deepspeed", "accelerate", "hydra", "yaml",
	"config", "torchtune", "axolotl",   "markdown",   "csv",   NULL
};
static const char *const placeholders[] = { "{micro}", "{accum}", "{steps}",
					    "{out}", NULL };

/* Behind the text other members may follow. */
#define OPTION(of, title, sort, member, shown, ...)                            \
	{                                                                      \
		.group = GROUP_##of, .name = (title), .kind = &kind_##sort,    \
		.field = FIELD(member), .argument = (shown),                   \
		.doc = __VA_ARGS__                                             \
	}
#define FLAG(of, title, member, ...)                                           \
	OPTION(of, title, flag, member, NULL, __VA_ARGS__)

const struct option_row option_rows[] = {
	OPTION(MEMORY, "device", device, target.device,
	       "auto|cuda[:N]|host|phantom:NAME[xN]",
	       "whose memory is the limit: auto takes a GPU if there is one, "
	       "else host memory; phantom: N cards that are not there, such as "
	       "phantom:rtx4090 (tune only)",
	       .initial = "auto", .max = 1023, .words = device_words),
	OPTION(MEMORY, "memory", bytes, target.memory_bytes, "SIZE",
	       "budget per device (host: of the whole process tree), such as "
	       "8G; default: free memory",
	       .min = INT64_C(1) << 20),
	OPTION(MEMORY, "headroom", amount, target.headroom, "SIZE|PCT",
	       "left free inside the budget; default: by device and by how "
	       "exactly memory is seen",
	       .given = FIELD(target.has_headroom), .min = INT64_C(1) << 20,
	       .max = 90),
	OPTION(MEMORY, "as", string, target.as, "NAME",
	       "tune as if the GPU were this smaller model, such as rtx4090: "
	       "the budget is what CUDA gives to programs there"),
	OPTION(MEMORY, "limit", bytes, target.limit_bytes, "SIZE",
	       "autofit phantom: exit with 120 when a process takes more of a "
	       "card than this",
	       .min = INT64_C(1) << 20, .only_of = "phantom"),
	FLAG(MEMORY, "shared", probe.shared,
	     "tune on a GPU that others use too, within what they leave"),
	OPTION(MEMORY, "watch", duration, times.watch_ms, "[SEC]",
	       "autofit devices: look again every SEC seconds (0.1 to 3600, "
	       "else 1) until stopped",
	       .value_optional = true, .min = 100, .max = 3600000,
	       .one_call = true, .only_of = "devices"),
	FLAG(MEMORY, "check", devices.check,
	     "autofit devices: test a GPU, with at most 1 GiB of its memory "
	     "and for at most 30 s, and say what is not as it should be",
	     .one_call = true, .only_of = "devices"),
	OPTION(SIZES, "effective-batch", effective, batch.choice, "keep|grow|N",
	       "micro x accum x world: as the command says, at least that, or "
	       "N",
	       .initial = "keep", .min = 1, .max = EFFECTIVE_MAX,
	       .words = effective_words),
	OPTION(SIZES, "grow", grow, batch.choice, NULL,
	       "the same as --effective-batch grow: the largest safe "
	       "micro-batch",
	       .words = effective_words),
	FLAG(SIZES, "largest", search.largest,
	     "also search the largest safe micro-batch, whatever effective "
	     "batch it would make"),
	OPTION(SIZES, "objective", second, search.fastest, "largest|fastest",
	       "of the splits that fit, the one with the largest micro-batch, "
	       "or the one that trains fastest",
	       .initial = "largest", .words = objective_words),
	FLAG(SIZES, "phantom-start", search.phantom_start,
	     "ask a phantom of the GPU where to start, also where it is not "
	     "known whether that pays",
	     .excludes = FIELD(search.no_phantom)),
	FLAG(SIZES, "no-phantom", search.no_phantom,
	     "never ask a phantom of the GPU where to start",
	     .excludes = FIELD(search.phantom_start)),
	OPTION(SIZES, "max-micro", integer, batch.max_micro, "N",
	       "largest micro-batch to try",
	       .given = FIELD(batch.has_max_micro), .initial = "65536",
	       .min = 1, .max = BATCH_MAX),
	OPTION(SIZES, "micro-multiple-of", integer, batch.micro_multiple_of,
	       "N", "only micro-batches that N divides", .initial = "1",
	       .min = 1, .max = BATCH_MAX),
	OPTION(SIZES, "tolerance", percent, search.tolerance, "PCT",
	       "how near the largest size is good enough, above 64",
	       .initial = "2%", .min = 0, .max = 50),
	OPTION(SIZES, "strategy", strategy, search.strategy, "NAME",
	       "how the next size is chosen", .initial = "guided"),
	OPTION(COMMAND, "micro-flag", name, hints.micro_flag, "NAME",
	       "the command's option for the micro-batch, such as --bs",
	       .hint = "--bs"),
	OPTION(COMMAND, "accum-flag", name, hints.accum_flag, "NAME",
	       "its option for gradient accumulation", .hint = "--grad-accum"),
	OPTION(COMMAND, "global-flag", name, hints.global_flag, "NAME",
	       "its option for the effective batch",
	       .hint = "--global-batch-size"),
	OPTION(COMMAND, "micro-scope", string, hints.micro_scope,
	       "rank|node|global", "what its micro-batch counts",
	       .words = micro_scope_words),
	OPTION(COMMAND, "accum-scope", string, hints.accum_scope, "rank|total",
	       "what its accumulation counts", .words = accum_scope_words),
	OPTION(COMMAND, "global-scope", string, hints.global_scope,
	       "rank|global", "what its effective batch counts",
	       .words = global_scope_words),
	OPTION(COMMAND, "preset", string, hints.preset, "NAME",
	       "read the command by this preset"),
	OPTION(COMMAND, "env", template, hints.env_templates, "NAME={micro}",
	       "give a size through the environment; {micro} {accum} {steps} "
	       "{out} may also stand in the command (repeatable)",
	       .runs_or_writes = true, .words = placeholders),
	OPTION(COMMAND, "template", list, hints.templates, "FILE",
	       "a file that the command names holds {micro}, {accum} and such: "
	       "it reads a copy with the sizes in it (repeatable)",
	       .runs_or_writes = true),
	OPTION(PROBES, "probe-steps", integer, search.probe_steps, "N",
	       "optimizer steps of a probe", .initial = "3", .min = 1,
	       .max = STEPS_MAX),
	OPTION(PROBES, "confirm-steps", integer, search.confirm_steps, "N",
	       "optimizer steps that confirm the answer; unless given, fewer "
	       "where all are alike, and 30 s after the third are enough",
	       .given = FIELD(search.has_confirm_steps), .initial = "20",
	       .min = 1, .max = STEPS_MAX),
	OPTION(PROBES, "max-probes", integer, search.max_probes, "N",
	       "at most so many probes", .initial = "12", .min = 1,
	       .max = 1000),
	OPTION(PROBES, "time-limit", duration, times.time_limit_ms, "T",
	       "for the probes of a tuning, such as 10m; default: none"),
	OPTION(PROBES, "startup-timeout", duration, times.startup_timeout_ms,
	       "T", "how long a probe may start without a sign of life",
	       .initial = "10m", .min = 1000),
	OPTION(PROBES, "probe-timeout", duration, times.probe_timeout_ms, "T",
	       "for one probe; default: 3 times the first good one and 60 s"),
	OPTION(PROBES, "grace", duration, times.grace_ms, "T",
	       "between asking a probe to end and killing it", .initial = "5s"),
	OPTION(PROBES, "probe-arg", list, probe.args, "ARG",
	       "add an argument to the command in probes only (repeatable)",
	       .runs_or_writes = true),
	OPTION(PROBES, "probe-env", variable, probe.env, "NAME=VALUE",
	       "set a variable in probes only (repeatable)",
	       .runs_or_writes = true),
	OPTION(PROBES, "isolation", isolation, probe.isolation,
	       "auto|view|landlock|compare",
	       "the strongest way to keep probes from writing to your files "
	       "that may be used; auto: a copy-on-write view",
	       .initial = "auto", .words = isolation_kinds),
	OPTION(PROBES, "allow-writes", path, probe.allow_writes, "PATH",
	       "a file or folder that probes may write to for real "
	       "(repeatable)",
	       .runs_or_writes = true),
	OPTION(PROBES, "scratch", string, probe.scratch, "DIR",
	       "where probes write; default: below the cache folder",
	       .runs_or_writes = true),
	FLAG(PROBES, "no-zygote", probe.no_zygote,
	     "start every probe anew; none is forked from a process that has "
	     "done the imports"),
	FLAG(PROBES, "parallel", probe.parallel,
	     "where the command uses one GPU: after its first probe, try other "
	     "sizes side by side on idle GPUs of the same model; the answer is "
	     "confirmed on its own"),
	FLAG(COMMAND, "edit-copy", reuse.edit_copy,
	     "where the script itself sets the batch size, run a copy of it "
	     "with the other number in its place"),
	OPTION(PROBES, "otherwise", second, reuse.otherwise_run, "stop|run",
	       "run: where autofit would end with 120 to 125, start the "
	       "command exactly as given",
	       .initial = "stop", .words = otherwise_words),
	FLAG(RECORDS, "guard", reuse.guard,
	     "start the run after short probes, watch it, and where it runs "
	     "out of memory start it again with the next smaller split, as "
	     "{resume:WORDS} or its framework resumes"),
	FLAG(RECORDS, "fresh", reuse.fresh, "tune anew, whatever is recorded"),
	FLAG(RECORDS, "no-probe", reuse.no_probe,
	     "use a recorded answer or the command as it is; no probe"),
	FLAG(RECORDS, "no-wait", reuse.no_wait,
	     "do not wait while another autofit tunes the same"),
	FLAG(RECORDS, "trust-record", reuse.trust_record,
	     "use the record of a similar command without the one probe that "
	     "checks it"),
	OPTION(RECORDS, "from", string, reuse.from, "FILE",
	       "use the record in FILE instead of looking for one",
	       .one_call = true),
	OPTION(OUTPUT, "dry-run", explain, subcommand, NULL,
	       "starts nothing: as autofit explain; with autofit nightly, the "
	       "list is checked, and what would run is printed",
	       .one_call = true),
	OPTION(OUTPUT, "json", string, output.json, "FILE|-",
	       "write the result as one JSON object; - is stdout, not when the "
	       "command is launched",
	       .one_call = true),
	FLAG(OUTPUT, "quiet", output.quiet, "errors only", .letter = 'q',
	     .excludes = FIELD(output.verbose)),
	FLAG(OUTPUT, "verbose", output.verbose, "say what is being done",
	     .letter = 'v', .excludes = FIELD(output.quiet)),
	OPTION(OUTPUT, "color", color, output.color, "auto|always|never",
	       "auto: on a terminal, unless NO_COLOR is set", .initial = "auto",
	       .words = color_words),
	FLAG(NIGHTLY, "init", nightly.init,
	     "write a commented list of jobs to begin with, to JOBS or stdout",
	     .one_call = true, .only_of = "nightly"),
	OPTION(NIGHTLY, "only", string, nightly.only, "NAME",
	       "run this job of the list and no other", .one_call = true,
	       .only_of = "nightly"),
	OPTION(NIGHTLY, "until", clock, nightly.until, "HH:MM",
	       "start no job after this time of day; one that runs then is "
	       "stopped, and goes on the next time",
	       .one_call = true, .only_of = "nightly"),
	OPTION(NIGHTLY, "metrics", string, nightly.metrics, "FILE",
	       "write the results for Prometheus, as its textfile collector "
	       "reads them (NAME.prom)",
	       .one_call = true, .only_of = "nightly"),
	OPTION(REPORT, "html", string, report.html, "FILE",
	       "write the report as one page of HTML that needs nothing else; "
	       "-: to stdout",
	       .one_call = true, .only_of = "report"),
	OPTION(REPORT, "nightly", string, report.nightly, "FOLDER",
	       "report the nights in this folder of results", .one_call = true,
	       .only_of = "report"),
	{ .name = "help",
	  .letter = 'h',
	  .kind = &kind_print,
	  .print = PRINT_HELP,
	  .doc = "print this; -h less, autofit WORD --help of one sub-command",
	  .group = GROUP_OUTPUT },
	{ .name = "version",
	  .letter = 'V',
	  .kind = &kind_print,
	  .print = PRINT_VERSION,
	  .doc = "print the version; -v: and those of its libraries",
	  .group = GROUP_OUTPUT },
	{ .name = "completion",
	  .kind = &kind_print_for,
	  .argument = "bash|zsh|fish",
	  .words = shell_words,
	  .print = PRINT_COMPLETION,
	  .doc = "print what completes autofit's words in that shell",
	  .group = GROUP_OUTPUT },
	ESTIMATE_OPTION_ROWS,
	{ .name = NULL },
};

_Static_assert(sizeof(option_rows) / sizeof(*option_rows) <= OPTION_ROWS_MAX,
	       "OPTION_ROWS_MAX is too small");

/* The groups before those of other sub-commands. */
#define GROUPS_OF_TUNING ((1U << GROUP_NIGHTLY) - 1)

/* Behind the text other members may follow here too. */
#define SUBCOMMAND(title, which, shown, ...)                                   \
	{                                                                      \
		.word = (title), .subcommand = SUBCOMMAND_##which,             \
		.arguments = (shown), .doc = __VA_ARGS__                       \
	}
#define OF_A_RECORD                                                            \
	.takes_name = true, .takes_command = true, .needs_subject = true

const struct subcommand_row subcommand_rows[] = {
	SUBCOMMAND("tune", TUNE, "-- command...",
		   "find the largest sizes and record them; run nothing",
		   .groups = GROUPS_OF_TUNING, .takes_command = true,
		   .takes_json = true),
	SUBCOMMAND("explain", EXPLAIN, "-- command...",
		   "what is recognised and what would be done; start nothing",
		   .groups = GROUPS_OF_TUNING, .takes_command = true,
		   .takes_json = true),
	SUBCOMMAND("devices", DEVICES,
		   "[--check | --watch [SEC]] [-- command...]",
		   "the devices it would tune for; with --watch again and "
		   "again, beside what the command needs by its record; with "
		   "--check a self-test of a GPU",
		   .groups = 1U << GROUP_MEMORY, .takes_command = true,
		   .command_optional = true, .takes_json = true),
	SUBCOMMAND("show", SHOW, "[NAME]",
		   "the recorded answers, or one of them", .takes_name = true,
		   .takes_command = true, .takes_json = true),
	SUBCOMMAND("lower", LOWER, "NAME",
		   "the recorded sizes ran out of memory later: take the next "
		   "smaller ones that were tested",
		   OF_A_RECORD, .changes = true),
	SUBCOMMAND("forget", FORGET, "NAME",
		   "remove a record and what belongs to it", OF_A_RECORD,
		   .changes = true),
	SUBCOMMAND("export", EXPORT, "FORMAT NAME",
		   "print a record as FORMAT: json, args, cmd, env, yaml, hf "
		   "and more",
		   OF_A_RECORD, .formats = export_formats),
	SUBCOMMAND("import", IMPORT, "FILE",
		   "take over the record in FILE; - is standard input",
		   .takes_file = true, .changes = true),
	SUBCOMMAND("presets", PRESETS, "[PRESET]",
		   "the frameworks whose options it knows, or the file of one",
		   .takes_preset = true, .takes_json = true),
	SUBCOMMAND(
		"estimate", ESTIMATE,
		"[MODEL | -- command... | --phantom [CARD,...] -- command...]",
		"what memory a model needs, and which GPU, without a probe: "
		"autofit estimate --help says more",
		.groups = GROUPS_OF_ESTIMATE, .takes_model = true,
		.takes_command = true, .command_optional = true,
		.takes_json = true),
	SUBCOMMAND("doctor", DOCTOR, NULL,
		   "whether all that it needs is there: site, clock, Slurm, "
		   "devices, isolation; and what to do if not"),
	SUBCOMMAND("report", REPORT, "NAME",
		   "a record as curves and as a page, or with --nightly the "
		   "nights of a list",
		   OF_A_RECORD),
	SUBCOMMAND("list", SHOW, "[NAME]", "the recorded answers: autofit show",
		   .takes_name = true, .takes_command = true,
		   .takes_json = true, .is_hidden = true),
	{ .word = "help", .is_hidden = true, .prints = "help" },
	{ .word = "version", .is_hidden = true, .prints = "version" },
	SUBCOMMAND("nightly", NIGHTLY, "JOBS",
		   "tune the commands of a list, compare with the last time, "
		   "and publish; with --dry-run only check it",
		   .groups = 1U << GROUP_NIGHTLY, .takes_file = true),
	SUBCOMMAND("diff", DIFF, "OLD NEW",
		   "what differs between two records, each a NAME or a file, "
		   "or nightly summaries",
		   .takes_file = true, .takes_second_file = true),
	SUBCOMMAND("phantom", PHANTOM, "CARD[xN] -- command...",
		   "run a command once on cards that are not there, and say "
		   "what memory it took",
		   .takes_card = true, .takes_command = true),
	{ .word = NULL },
};

const struct exit_row exit_rows[] = {
	{ EXIT_DONE, "done" },
	{ EXIT_NEEDS_A_LOOK,
	  "nightly, diff, doctor, devices --check: something needs a look" },
	{ EXIT_NOTHING_FITS, "nothing fits" },
	{ EXIT_COMMAND_FAILED,
	  "the command fails for another reason than memory" },
	{ EXIT_NOT_RECOGNISED, "its batch size is not recognised, or "
			       "ambiguous" },
	{ EXIT_REFUSED, "probing would not be safe here" },
	{ EXIT_TIME_LIMIT, "time limit" },
	{ EXIT_AUTOFIT_FAILED, "autofit itself failed, or wrong usage" },
	{ EXIT_CANNOT_EXECUTE, "the command cannot be executed" },
	{ EXIT_NOT_FOUND, "the command is not found" },
	{ 0, NULL },
};

const struct subcommand_row *subcommand_of(const char *word)
{
	for (const struct subcommand_row *row = subcommand_rows; row->word;
	     row++)
		if (strcmp(row->word, word) == 0)
			return row;
	return NULL;
}

/* Rows without a letter get a key that is no character. */
#define FIRST_KEY 256

int option_key(size_t index)
{
	unsigned char letter = (unsigned char)option_rows[index].letter;

	return letter ? letter : FIRST_KEY + (int)index;
}

const struct option_row *option_of_key(int key)
{
	for (size_t i = 0; option_rows[i].name; i++)
		if (option_key(i) == key)
			return &option_rows[i];
	return NULL;
}

bool option_value_may_be(const struct option_row *row, const char *word)
{
	return word && word[0] != '-' && !subcommand_of(word) &&
	       (!row || !row->words ||
		option_word(word, row->words, NULL) >= 0);
}

const struct option_row *option_of_name(const char *name, size_t length)
{
	for (const struct option_row *row = option_rows; row->name; row++)
		if (strlen(row->name) == length &&
		    strncmp(row->name, name, length) == 0)
			return row;
	return NULL;
}
