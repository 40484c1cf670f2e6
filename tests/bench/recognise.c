/* How long a command is read, rewritten and read back: each of the golden ones,
 * and some that are large. */
/* SPDX-License-Identifier: MIT */
/*
 * Build it with -O2 and without sanitizers. Usage:
 *   build/release/bench/recognise [--rounds N] [--all]
 *
 * It is processor time: reading and rewriting wait for nothing, and the files
 * are in memory. "worst" is over all rounds. Exits with 1 where a median is
 * above 5 ms.
 */
/* USES launcher */
#include "launcher/command/recognise.h"
#include "configs/files/builtin.h"
#include "launcher/command/readback.h"
#include "launcher/command/rewrite/rewrite.h"
#include "launcher/command/text/command_outcome.h"
#include "tests/bench/times.h"
#include "tests/golden.h"

#define FOLDER TEST_SOURCE_DIR "/tests/data/golden"
#define ROUNDS 21
#define ROUNDS_MAX 1001
#define LIMIT_US 5000.0
#define SLOWEST_SHOWN 8
#define SCRIPT_BYTES ((size_t)200 * 1024)
#define CONFIG_BYTES ((size_t)200 * 1024 - 64)
#define USUAL_BYTES ((size_t)16 * 1024)

struct figure {
	char *name;
	double median, worst; /* microseconds */
};

struct bench {
	const struct presets *presets;
	size_t rounds;
	struct figure *figures;
	size_t count;
};

static double spent_us(void)
{
	return times_ns(CLOCK_PROCESS_CPUTIME_ID) / 1e3;
}

/* As a command is started: written, and read back. */
static void rewrite(const struct command *command, struct golden *golden,
		    const struct presets *presets)
{
	const struct command_sources sources = golden_sources(golden, presets);
	const struct command_values values = { .micro_batch = golden->micro,
					       .grad_accum = golden->accum,
					       .copies = "/c" };
	struct error err = ERROR_INIT;
	struct rewrite run;

	if (command_rewrite(command, &values, &run, &err) < 0 ||
	    command_read_back(command, &values, &run, &sources, &err) < 0)
		golden_die(golden, err.message);
	rewrite_release(&run);
}

static double round_us(const struct bench *bench, struct golden *golden)
{
	struct error err = ERROR_INIT;
	struct command command;
	double start = spent_us();

	if (golden_recognise(golden, bench->presets, &command, &err) ==
	    COMMAND_OK)
		rewrite(&command, golden, bench->presets);
	else if (!golden->expected.length)
		golden_die(golden, err.message);
	command_release(&command);
	return spent_us() - start;
}

static void measure(struct golden *golden, void *context)
{
	struct bench *bench = context;
	double times[ROUNDS_MAX], median;
	struct figure *figure;

	for (size_t i = 0; i < bench->rounds; i++)
		times[i] = round_us(bench, golden);
	median = times_median(times, bench->rounds);
	bench->figures = xrealloc(bench->figures, bench->count + 1,
				  sizeof(*bench->figures));
	figure = &bench->figures[bench->count++];
	*figure = (struct figure){ .name = xstrdup(golden->place),
				   .median = median,
				   .worst = times[bench->rounds - 1] };
}

static void disk_add(struct golden *golden, const char *path,
		     struct strbuf *text)
{
	golden->files[golden->file_count++] =
		(struct disk_file){ .path = xstrdup(path), .text = *text };
}

/* A script of 200 KB, which accumulates by an option or not at all. */
static void measure_script(struct bench *bench, int options, bool accumulates)
{
	struct golden golden = {
		.place = xasprintf("a script of 200 KB with %d options%s",
				   options,
				   accumulates ? "" : ", no accumulation"),
		.micro = 8,
		.accum = accumulates ? 2 : 1,
	};
	struct strbuf text = STRBUF_INIT;

	strbuf_adds(&text, "import argparse\n");
	for (int i = 0; i < options; i++)
		strbuf_addf(&text,
			    "parser.add_argument(\"--option-%d\", type=int, "
			    "default=%d, help=\"it's an (option)\")\n",
			    i, i);
	strbuf_adds(&text, "parser.add_argument(\"--batch-size\", type=int, "
			   "default=8)\n");
	if (accumulates)
		strbuf_adds(&text, "parser.add_argument(\"--accum-steps\", "
				   "type=int, default=2)\n");
	while (text.length < SCRIPT_BYTES - 64)
		strbuf_adds(&text,
			    "    loss = model(x[\"a\"], y) + 0.5 # ok\n");
	golden_split_words(&golden.command, "python train.py --lr 0.1 --b 4");
	disk_add(&golden, "train.py", &text);
	measure(&golden, bench);
	golden_release(&golden);
}

/* A script of a shell, as long as one may be. */
static void measure_shell(struct bench *bench)
{
	struct golden golden = {
		.place = xstrdup("a shell script of 200 KB"),
		.micro = 8,
		.accum = 1,
	};
	struct strbuf text = STRBUF_INIT;

	strbuf_adds(&text, "#!/bin/bash\nset -e\nBS=${BS:-16}\n");
	for (int i = 0; text.length < SCRIPT_BYTES - 128; i++)
		strbuf_addf(&text,
			    i < 200 ? "export NAME_%d=\"$HOME/data\"\n"
				    : "# python train.py --batch-size %d\n",
			    i);
	strbuf_adds(&text, "python train.py --batch-size $BS \"$@\"\n");
	golden_split_words(&golden.command, "bash train.sh --lr 0.1");
	disk_add(&golden, "train.sh", &text);
	measure(&golden, bench);
	golden_release(&golden);
}

/* A YAML file: half of it text, half of it data. */
static void measure_config(struct bench *bench, size_t bytes)
{
	struct golden golden = {
		.place = xasprintf("a YAML config of %zu KiB",
				   (bytes + 512) / 1024),
		.micro = 8,
		.accum = 1,
	};
	struct strbuf text = STRBUF_INIT;

	strbuf_adds(&text, "batch_size: 16\nnotes: |\n");
	while (text.length < bytes / 2)
		strbuf_adds(&text, "  a line of a long text, as a config may "
				   "have, with batch_size: 8 in it\n");
	for (int i = 0; text.length < bytes; i++)
		strbuf_addf(&text,
			    "key_%d: {path: \"data/shard-%05d.tar\", "
			    "weight: 0.5} # of many\n",
			    i, i);
	golden_split_words(&golden.command,
			   "python train.py --config big.yaml --lr 0.1");
	disk_add(&golden, "big.yaml", &text);
	measure(&golden, bench);
	golden_release(&golden);
}

/* Configs that are nothing but values: as large as one may be, or with as many
 * values as one may have. */
static const struct dense {
	const char *what;
	const char *path, *start, *value, *end;
	size_t bytes, count;
} dense[] = {
	{ "numbers, YAML", "d.yaml", "batch_size: 16\n", "key_%d: %d\n", "",
	  CONFIG_BYTES, SETTINGS_VALUES_MAX - 1 },
	{ "short keys, YAML", "d.yaml", "batch_size: 16\n", "%d: 1\n", "",
	  CONFIG_BYTES, SETTINGS_VALUES_MAX - 1 },
	{ "mappings, YAML", "d.yaml", "batch_size: 16\n", "k%d: {b: 1}\n", "",
	  CONFIG_BYTES, SETTINGS_VALUES_MAX / 2 - 1 },
	{ "a list, YAML", "d.yaml", "batch_size: 16\nlist:\n", "- 12345\n", "",
	  CONFIG_BYTES, SETTINGS_VALUES_MAX - 2 },
	{ "numbers, JSON indented by two", "d.json", "{\n  \"batch_size\": 16",
	  ",\n  \"key_%d\": %d", "\n}\n", CONFIG_BYTES,
	  SETTINGS_JSON_VALUES_MAX - 1 },
	{ "numbers, JSON on one line", "d.json", "{\"batch_size\":16",
	  ",\"key_%d\":%d", "}", CONFIG_BYTES, SETTINGS_JSON_VALUES_MAX - 1 },
	{ "fractions, JSON on one line", "d.json", "{\"batch_size\":16",
	  ",\"k%d\":0.25", "}", CONFIG_BYTES, SETTINGS_JSON_VALUES_MAX - 1 },
	{ "escaped texts, JSON on one line", "d.json", "{\"batch_size\":16",
	  ",\"k%d\":\"\\t\"", "}", CONFIG_BYTES, SETTINGS_JSON_VALUES_MAX - 1 },
	{ "objects, JSON on one line", "d.json", "{\"batch_size\":16",
	  ",\"k%d\":{\"b\":%d}", "}", CONFIG_BYTES,
	  SETTINGS_JSON_VALUES_MAX / 2 - 1 },
	{ "a list, JSON on one line", "d.json",
	  "{\"batch_size\":16,\"list\":[0", ",1234567", "]}", CONFIG_BYTES,
	  SETTINGS_JSON_VALUES_MAX - 3 },
	{ "numbers, TOML", "d.toml", "batch_size = 16\n", "key_%d = %d\n", "",
	  CONFIG_BYTES, SETTINGS_VALUES_MAX - 1 },
	{ "a list, TOML", "d.toml", "batch_size = 16\nlist = [0", ", 12345",
	  "]\n", CONFIG_BYTES, SETTINGS_VALUES_MAX - 3 },
	{ "numbers, Python", "d.py", "batch_size = 16\n", "key_%d = %d\n", "",
	  SCRIPT_BYTES, SETTINGS_VALUES_MAX - 1 },
	{ "a list, Python", "d.py", "batch_size = 16\nlist = [0", ", 12345",
	  "]\n", SCRIPT_BYTES, SETTINGS_VALUES_MAX - 3 },
	{ "mappings, Python", "d.py", "batch_size = 16\n", "k%d = dict(b=1)\n",
	  "", SCRIPT_BYTES, SETTINGS_VALUES_MAX / 2 - 1 },
};

static void measure_dense(struct bench *bench, const struct dense *row)
{
	struct golden golden = { .micro = 8, .accum = 1 };
	char *words =
		xasprintf("python train.py --config %s --lr 0.1", row->path);
	struct strbuf text = STRBUF_INIT;
	size_t count = 0;

	strbuf_adds(&text, row->start);
	for (; text.length + 32 < row->bytes && count < row->count; count++) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
		strbuf_addf(&text, row->value, (int)count, (int)count);
#pragma GCC diagnostic pop
	}
	strbuf_adds(&text, row->end);
	golden.place = xasprintf("%zu %s, %zu KiB", count, row->what,
				 (text.length + 512) / 1024);
	golden_split_words(&golden.command, words);
	disk_add(&golden, row->path, &text);
	measure(&golden, bench);
	golden_release(&golden);
	free(words);
}

/* As a shell makes them of a pattern. */
static void measure_arguments(struct bench *bench, int count, const char *form)
{
	struct golden golden = {
		.place = xasprintf("%d arguments such as %s", count, form),
		.micro = 8,
		.accum = 1,
	};

	golden_split_words(&golden.command,
			   "python train.py --batch-size 16 --data");
	for (int i = 0; i < count; i++)
		strlist_add(&golden.command, form);
	measure(&golden, bench);
	golden_release(&golden);
}

static int compare_figures(const void *a, const void *b)
{
	const struct figure *one = a;
	const struct figure *other = b;

	return (one->median < other->median) - (one->median > other->median);
}

static void show(const struct figure *figure)
{
	(void)printf("%10.0f %10.0f  %s\n", figure->median, figure->worst,
		     figure->name);
}

/* True: no command takes longer than it may. */
static bool report(struct bench *bench, size_t golden_count, bool all)
{
	double medians[2] = { 0, 0 }, worst = 0;
	bool result = true;

	(void)printf("%10s %10s  %s\n", "median us", "worst us", "command");
	for (size_t i = golden_count; i < bench->count; i++) {
		show(&bench->figures[i]);
		result = result && bench->figures[i].median <= LIMIT_US;
	}
	qsort(bench->figures, golden_count, sizeof(*bench->figures),
	      compare_figures);
	for (size_t i = 0; i < golden_count; i++) {
		const struct figure *figure = &bench->figures[i];

		if (all || i < SLOWEST_SHOWN)
			show(figure);
		worst = figure->worst > worst ? figure->worst : worst;
		result = result && figure->median <= LIMIT_US;
	}
	medians[0] = bench->figures[golden_count / 2].median;
	medians[1] = bench->figures[0].median;
	(void)printf("%zu golden commands: median %.0f us, slowest median "
		     "%.0f us, worst %.0f us\n",
		     golden_count, medians[0], medians[1], worst);
	return result;
}

int main(int argc, char **argv)
{
	struct presets presets;
	struct error err = ERROR_INIT;
	struct bench bench = { .presets = &presets, .rounds = ROUNDS };
	bool all = false, result;
	size_t golden_count;

	for (int i = 1; i < argc; i++) {
		all = all || strcmp(argv[i], "--all") == 0;
		if (strcmp(argv[i], "--rounds") == 0 && i + 1 < argc)
			bench.rounds = strtoul(argv[++i], NULL, 10);
	}
	if (bench.rounds < 1 || bench.rounds > ROUNDS_MAX ||
	    presets_load(&presets, NULL, &err) < 0) {
		(void)fprintf(stderr, "--rounds: 1 to %d\n", ROUNDS_MAX);
		return 2;
	}
	golden_read_all(FOLDER, measure, &bench);
	golden_count = bench.count;
	measure_arguments(&bench, 5000, "data/train-00017.parquet");
	measure_arguments(&bench, 300, "--option-17=8");
	measure_shell(&bench);
	measure_script(&bench, 150, true);
	measure_script(&bench, 1000, true);
	measure_script(&bench, 1000, false);
	measure_config(&bench, USUAL_BYTES);
	measure_config(&bench, CONFIG_BYTES);
	for (size_t i = 0; i < sizeof(dense) / sizeof(*dense); i++)
		measure_dense(&bench, &dense[i]);
	result = golden_count > 0 && report(&bench, golden_count, all);
	for (size_t i = 0; i < bench.count; i++)
		free(bench.figures[i].name);
	free(bench.figures);
	presets_release(&presets);
	return result ? 0 : 1;
}
