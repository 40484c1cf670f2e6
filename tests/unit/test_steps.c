/* Step counters in the log lines of the frameworks, and lines that look so. */
/* SPDX-License-Identifier: MIT */
/* USES configs base */
#include "base/strbuf.h"
#include "configs/presets/steps.h"

#include <errno.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define TQDM                                                                   \
	"(?<step>[0-9]+)/[0-9]+ \\[[0-9:]+<[0-9:?]+, *(?:[0-9.]+|\\?) *"       \
	"(?:it/s|s/it|steps?/s)"
#define NANOGPT "iter ([0-9]+): loss (?:[0-9.]+|nan|inf), time [0-9.]+ms"
#define TIMM "Train: [0-9]+ \\[ *(?<step>[0-9]+)/[0-9]+ .*Time: *[0-9.]+s"
#define METRIC_LOG                                                             \
	"\\[ *([0-9]+)/[0-9]+\\] +eta: (?:[0-9]+ days?, )?[0-9:]+ .*time: "
#define IMAGENET "Epoch: \\[[0-9]+\\]\\[ *([0-9]+)/[0-9]+\\].*Time +[0-9.]+"
#define MEGATRON                                                               \
	"iteration +([0-9]+)/ *[0-9]+ \\|.*elapsed time per iteration "        \
	"\\(ms\\): [0-9.]+"
#define DEEPSPEED "step=([0-9]+), skipped=[0-9]+, lr="
#define TORCHTUNE "[0-9]+\\|(?<step>[0-9]+)\\|Loss: (?:[0-9.]+|nan)"
#define TORCHTITAN                                                             \
	"step: +(?<step>[0-9,]+) +loss: +(?:[0-9.]+|nan).*tps: [0-9,]+"
#define LITGPT "iter [0-9]+ step (?<step>[0-9]+) \\|.*iter time: [0-9.]+ ms"
#define FAIRSEQ "num_updates(?:=|\": \")([0-9]+)"
#define DETECTRON "eta: [^ ]+ +iter: ([0-9]+) +.* time: [0-9.]+"
#define MMENGINE                                                               \
	"(?|Epoch\\(train\\) +\\[[0-9]+\\]\\[ *([0-9]+)/[0-9]+\\]|"            \
	"Iter\\(train\\) \\[ *([0-9]+)/[0-9]+\\]) .* time: [0-9.]+"
#define ULTRALYTICS "[0-9]+/[0-9]+ +[0-9.]+G .*: +[0-9]+%.* ([0-9]+)/[0-9]+"
#define MAXTEXT "completed step: ([0-9]+), seconds: [0-9.]+"
#define KERAS "(?:^|[^0-9])([0-9]+)/[0-9]+ .* [0-9.]+(?:us|ms|s)/step"
#define PADDLE "loss: (?:[0-9.]+|nan), .*global_step: (?<step>[0-9]+)"
#define LLMC                                                                   \
	"step +([0-9]+)/[0-9]+ \\|(?: train)? loss [0-9.]+.*\\| *\\(?[0-9.]+ " \
	"ms"
#define SAMPLES "Train Epoch: [0-9]+ \\[ *([0-9]+)/[0-9]+ \\([0-9.]+%\\)\\]"
#define DCGAN "\\[[0-9]+/[0-9]+\\]\\[([0-9]+)/[0-9]+\\] Loss_D"
#define GENERIC                                                                \
	"(?:^|(?<!val|test|valid|dation|uation|val.|test.|valid.|dation.|"     \
	"uation.)[^A-Za-z0-9_])(?:global[_ ]?step|steps?|iter(?:ation)?|"      \
	"updates?|batch)[]\"' =:#]*\\[? *([0-9]+)"

/* Bars that are not training, as presets list them. */
static const char *const bars[] = {
	"Loading checkpoint shards",
	"Running tokenizer",
	"Map",
	"Generating train split",
	"Downloading",
	"Sanity Checking",
	"Validation",
	"Evaluating",
	"examples/s",
	"val loss",
	"validate step:",
	"Test: [",
};

static const struct {
	const char *name;
	const char *pattern;
	const char *line;
	int64_t step;
} rows[] = {
	{ "tqdm", TQDM, " 17%|#7        | 102/600 [00:12<01:02,  8.01it/s]",
	  102 },
	{ "tqdm with a loss", TQDM,
	  "Steps:  17%|#7 | 5/30 [00:12<?, ?it/s, loss=2.31, lr=1e-5]", 5 },
	{ "tqdm slow", TQDM, "50%|##### | 3/6 [01:10<01:10, 23.41s/it]", 3 },
	{ "tqdm without a width", TQDM, "17% 1/6 [00:01<00:05,  1.00s/it]", 1 },
	{ "tqdm not started", TQDM, "  0%|          | 0/600 [00:00<?, ?it/s]",
	  0 },
	{ "shards", TQDM,
	  "Loading checkpoint shards: 33%|### | 1/3 [00:07<00:14, 7.41s/it]",
	  -1 },
	{ "map", TQDM, "Map: 10%|# | 100/1000 [00:03<00:30, 31.1 examples/s]",
	  -1 },
	{ "map in its own unit", TQDM,
	  "Map: 10%|# | 100/1000 [00:03<00:30, 31.11it/s]", -1 },
	{ "download", TQDM, "10%|# | 1.2M/9.9M [00:03<00:30, 31.1MB/s]", -1 },
	{ "validation", TQDM,
	  "Validation DataLoader 0: 50%|##### | 5/10 [00:01<00:01, 5.0it/s]",
	  -1 },
	{ "nanogpt", NANOGPT,
	  "iter 20: loss 10.4213, time 77.67ms, mfu -100.00%", 20 },
	{ "nanogpt nan", NANOGPT, "iter 21: loss nan, time 77.67ms, mfu 3%",
	  21 },
	{ "nanogpt evaluation", NANOGPT,
	  "step 0: train loss 10.9871, val loss 10.9820", -1 },
	{ "timm", TIMM,
	  "Train: 0 [  50/1251 (  4%)]  Loss: 6.95 (6.95)  Time: 0.234s, "
	  "1094.02/s  (0.301s,  850.50/s)  LR: 1.0e-05",
	  50 },
	{ "timm test", TIMM,
	  "Test: [   0/3]  Time: 1.234 (1.234)  Loss:  6.95 (6.95)", -1 },
	{ "metric logger", METRIC_LOG,
	  "Epoch: [0]  [  10/5004]  eta: 1 day, 2:03:04  lr: 0.1  time: 0.5",
	  10 },
	{ "imagenet", IMAGENET,
	  "Epoch: [0][  10/5005]\tTime  0.312 ( 0.425)\tData  0.001 ( 0.05)",
	  10 },
	{ "megatron", MEGATRON,
	  " [2026-02-01 11:02:14] iteration      100/  500000 | consumed "
	  "samples: 25600 | elapsed time per iteration (ms): 1021.3 |",
	  100 },
	{ "deepspeed", DEEPSPEED,
	  "[INFO] [logging.py:96:log_dist] [Rank 0] step=10, skipped=2, "
	  "lr=[3e-05], mom=[(0.9, 0.999)]",
	  10 },
	{ "torchtune", TORCHTUNE,
	  "1|42|Loss: 1.2031: 12%|# | 42/350 [00:", 42 },
	{ "torchtitan", TORCHTITAN,
	  "step: 1,210  loss:  9.8210  grad_norm:  1.93  memory: "
	  "30.10GiB(38.03%)  tps: 9,812  mfu: 41.20%",
	  1210 },
	{ "torchtitan validation", TORCHTITAN,
	  "validate step: 12  loss:  9.8210  tps: 9,812", -1 },
	{ "litgpt", LITGPT,
	  "Epoch 1 | iter 12 step 3 | loss train: 1.992, val: n/a | iter "
	  "time: 312.21 ms (step)",
	  3 },
	{ "litgpt evaluation", LITGPT, "iter 12: val loss 2.0, val time: 9 ms",
	  -1 },
	{ "fairseq", FAIRSEQ,
	  "epoch 001:     12 / 1200 loss=11.2, ups=0.9, num_updates=12, lr=1",
	  12 },
	{ "fairseq json", FAIRSEQ, "{\"epoch\": 1, \"num_updates\": \"14\"}",
	  14 },
	{ "detectron2", DETECTRON,
	  "eta: 1:02:03  iter: 39  total_loss: 1.9    time: 0.3012  "
	  "last_time: 0.3",
	  39 },
	{ "mmengine epochs", MMENGINE,
	  "Epoch(train)  [1][  50/7330]  lr: 1e-3  eta: 1:0:0  time: 0.3 ",
	  50 },
	{ "mmengine iterations", MMENGINE,
	  "Iter(train) [  150/90000]  lr: 1e-3  eta: 1:0:0  time: 0.3 ", 150 },
	{ "ultralytics", ULTRALYTICS,
	  "  1/100      7.12G      1.203      2.712         47        640:  "
	  "12%|#2        | 12/100 [00:03<00:21,  4.12it/s]",
	  12 },
	{ "maxtext", MAXTEXT,
	  "completed step: 7, seconds: 0.912, TFLOP/s/device: 141.1", 7 },
	{ "keras", KERAS, "12/469 ---- 3s 7ms/step - loss: 1.9123", 12 },
	{ "paddle", PADDLE,
	  "loss: 10.2, learning_rate: 3e-05, global_step: 30, epoch: 0.1", 30 },
	{ "llm.c", LLMC,
	  "step   12/20000 | loss 6.2131 | norm 0.92 | lr 3.00e-04 | 1123.42 "
	  "ms | 41.9% bf16 MFU",
	  12 },
	{ "samples", SAMPLES, "Train Epoch: 1 [640/60000 (1%)]\tLoss: 2.13",
	  640 },
	{ "epoch end", SAMPLES, "====> Epoch: 1 Average loss: 0.1", -1 },
	{ "dcgan", DCGAN, "[0/25][17/1583] Loss_D: 1.2 Loss_G: 5.1", 17 },
	{ "generic step", GENERIC, "[rank0] Step #42 loss=1.2", -1 },
	{ "generic lower", GENERIC, "[rank0] step #42 loss=1.2", 42 },
	{ "generic json", GENERIC, "{\"global_step\": 42, \"loss\": 1.2}", 42 },
	{ "generic list", GENERIC, "batch [ 42/100] loss 1.2", 42 },
	{ "generic of an evaluation", GENERIC, "eval step 3 loss 1", -1 },
	{ "generic of a validation", GENERIC, "[validation] step 3", -1 },
	{ "generic of a test", GENERIC, "test/step: 3", -1 },
	{ "generic beside a value", GENERIC, "best value, step 3", 3 },
	{ "generic in a word", GENERIC, "footstep 42, minibatches 7", -1 },
	{ "generic evaluation", GENERIC, "step 500: val loss 1.2", -1 },
	{ "thousands", "step ([0-9,]+)", "step 1,234,567 of many", 1234567 },
	{ "comma behind", "step ([0-9,]+)", "step 12, loss 3", 12 },
	{ "only a comma", "step ([0-9,]+)", "step , loss 3", -1 },
	{ "suffix", "([0-9.]+[kMG]?)/", "12.5k/60k", -1 },
	{ "largest", "step ([0-9]+)", "step 9223372036854775807", INT64_MAX },
	{ "overflow", "step ([0-9]+)", "step 9223372036854775808", -1 },
	{ "far too long", "step ([0-9]+)",
	  "step 99999999999999999999999999999999999999", -1 },
	{ "group not taken", "step (?:([0-9]+)|x)", "step x", -1 },
	{ "empty group", "step ([0-9]*)", "step x", -1 },
	{ "named before first", "([0-9]+) of (?<step>[0-9]+)", "3 of 7", 7 },
	{ "nothing", GENERIC, "", -1 },
};

static struct step_patterns *make_one(const char *pattern)
{
	struct strlist patterns = STRLIST_INIT;
	struct strlist ignore = STRLIST_INIT;
	struct step_patterns *set;
	struct error err = ERROR_INIT;

	strlist_add(&patterns, pattern);
	strlist_add_all(&ignore, bars, sizeof(bars) / sizeof(*bars));
	if (step_patterns_make(&set, &patterns, &ignore, &err) < 0)
		fail_msg("%s", err.message);
	strlist_release(&patterns);
	strlist_release(&ignore);
	return set;
}

static void counters_are_read(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct step_patterns *set = make_one(rows[i].pattern);
		size_t length = strlen(rows[i].line);
		/* Of its own size, so that reading past it is seen. */
		char *line = malloc(length ? length : 1);
		int64_t step;

		assert_non_null(line);
		memcpy(line, rows[i].line, length);
		step = step_patterns_match(set, line, length);
		if (step != rows[i].step)
			fail_msg("%s: %" PRId64, rows[i].name, step);
		free(line);
		step_patterns_free(set);
	}
}

static void patterns_are_tried_in_order(void **state)
{
	struct strlist patterns = STRLIST_INIT;
	struct strlist none = STRLIST_INIT;
	struct step_patterns *set;

	(void)state;
	strlist_add(&patterns, "first ([0-9.]+)");
	strlist_add(&patterns, "second ([0-9]+)");
	assert_int_equal(step_patterns_make(&set, &patterns, &none, NULL), 0);
	assert_int_equal(step_patterns_match(set, "second 2 first 1", 16), 1);
	assert_int_equal(step_patterns_match(set, "second 2 third 1", 16), 2);
	/* What the first finds is no counter: the second is asked. */
	assert_int_equal(step_patterns_match(set, "second 2 first 1.5", 18), 2);
	step_patterns_free(set);
	strlist_release(&patterns);
	assert_int_equal(step_patterns_make(&set, &patterns, &none, NULL), 0);
	assert_int_equal(step_patterns_match(set, "step 1", 6), -1);
	step_patterns_free(set);
}

static void bytes_and_bounds(void **state)
{
	static const char text[] = "\0\xff step\0 step 7";
	struct step_patterns *set = make_one("step ([0-9]+)");
	struct strbuf line = STRBUF_INIT;

	(void)state;
	assert_int_equal(step_patterns_match(set, text, sizeof(text) - 1), 7);
	assert_int_equal(step_patterns_match(set, text, sizeof(text) - 2), -1);
	step_patterns_free(set);

	/* Near the beginning of a very long line, and at its far end. */
	strbuf_adds(&line, "step 5 ");
	while (line.length < (size_t)1024 * 1024)
		strbuf_adds(&line, "xxxxxxxxxxxxxxxx");
	strbuf_adds(&line, "batch 6");
	set = make_one("step ([0-9]+)");
	assert_int_equal(step_patterns_match(set, line.data, line.length), 5);
	step_patterns_free(set);
	set = make_one("batch ([0-9]+)");
	assert_int_equal(step_patterns_match(set, line.data, line.length), -1);
	step_patterns_free(set);
	set = make_one("step ([0-9]+) x+$");
	assert_int_equal(step_patterns_match(set, line.data, line.length), -1);
	step_patterns_free(set);
	strbuf_release(&line);
}

static void runaway_patterns_are_stopped(void **state)
{
	struct step_patterns *set = make_one("([0-9]+)(a+)+b(.*)*(.*)*c");
	struct strbuf line = STRBUF_INIT;

	(void)state;
	strbuf_adds(&line, "12");
	while (line.length < 5000)
		strbuf_addch(&line, 'a');
	(void)alarm(600);
	assert_int_equal(step_patterns_match(set, line.data, line.length), -1);
	assert_int_equal(step_patterns_match(set, "12abc", 5), 12);
	(void)alarm(0);
	step_patterns_free(set);
	strbuf_release(&line);
}

static void wrong_patterns_are_told(void **state)
{
	static const struct {
		const char *pattern;
		const char *what;
	} wrong[] = {
		{ "step ([0-9]+", "\"step ([0-9]+\" is wrong at byte 13" },
		{ "step [0-9]+", "has no group" },
		{ "step (?:[0-9]+)", "has no group" },
		{ "(*UTF)step ([0-9]+)", "is wrong at byte" },
	};
	struct strlist none = STRLIST_INIT;

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		struct strlist patterns = STRLIST_INIT;
		struct step_patterns *set = NULL;
		struct error err = ERROR_INIT;

		strlist_add(&patterns, "good ([0-9]+)");
		strlist_add(&patterns, wrong[i].pattern);
		assert_int_equal(
			step_patterns_make(&set, &patterns, &none, &err),
			-EINVAL);
		assert_null(set);
		if (!strstr(err.message, wrong[i].what))
			fail_msg("%s", err.message);
		strlist_release(&patterns);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counters_are_read),
		cmocka_unit_test(patterns_are_tried_in_order),
		cmocka_unit_test(bytes_and_bounds),
		cmocka_unit_test(runaway_patterns_are_stopped),
		cmocka_unit_test(wrong_patterns_are_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
