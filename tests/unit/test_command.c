/* Frameworks and knobs are recognised, or it is said why not. */
/* SPDX-License-Identifier: MIT */
/* USES launcher */
#include "launcher/command/parts/knob.h"
#include "launcher/command/recognise.h"
#include "launcher/command/record_arguments.h"
#include "launcher/command/text/command_outcome.h"
#include "launcher/command/text/knob_kind.h"
#include "tests/unit/command_sample.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static int load(void **state)
{
	static struct presets presets;

	*state = &presets;
	return presets_load(&presets, NULL, NULL);
}

static int unload(void **state)
{
	presets_release(*state);
	return 0;
}

#define NANOGPT                                                                \
	"gradient_accumulation_steps = 5 * 8\n"                                \
	"batch_size = 12\n"                                                    \
	"exec(open('configurator.py').read())\n"
#define PARSER                                                                 \
	"p.add_argument('-b', '--batch-size', type=int, default=16)\n"         \
	"p.add_argument('--accum', type=int, default=2)\n"                     \
	"p.add_argument('--resume', action='store_true')\n"
#define TIMM "from timm import x\np.add_argument('--grad-accum-steps')\n"

struct row {
	const char *command;
	const char *source;
	/* What is read: "preset micro x accum x world by name, name". */
	const char *expected;
	struct command_hints hints;
};

static const struct row rows[] = {
	/* Literals of the script. */
	{ "python t.py",
	  "import x\nbatch_size = 32\n",
	  "generic 32 x 1 x 1 by batch_size, -",
	  { 0 } },
	{ "python t.py",
	  "DataLoader(d, batch_size=32)\nSTEPS_ACCUM = 1",
	  "generic 32 x 1 x 1 by batch_size, STEPS_ACCUM",
	  { 0 } },
	{ "python t.py --bs 8",
	  "accum_steps = 4",
	  "generic 8 x 4 x 1 by --bs, accum_steps",
	  { 0 } },
	{ "python t.py --bs 8",
	  "accum_steps = 1",
	  "generic 8 x 1 x 1 by --bs, -",
	  { 0 } },
	{ "python t.py",
	  "batch_size = 32\nif big:\n    batch_size = 64\n",
	  "generic 64 x 1 x 1 by batch_size, -",
	  { .micro_flag = "t.py:3" } },
	{ "python t.py",
	  "def val_loader():\n    return DataLoader(d,\n"
	  "        batch_size=64)\n"
	  "train = DataLoader(d,\n    batch_size=32)\n",
	  "generic 32 x 1 x 1 by batch_size, -",
	  { 0 } },
	{ "python t.py",
	  "N = 16\nval_bs = 4\n",
	  "generic 16 x 1 x 1 by N, -",
	  { .micro_flag = "N" } },
	/* Syntaxes. */
	{ "python t.py --batch-size 8",
	  NULL,
	  "generic 8 x 1 x 1 by --batch-size, -",
	  { 0 } },
	{ "python t.py --batch_size=8",
	  NULL,
	  "generic 8 x 1 x 1 by --batch_size, -",
	  { 0 } },
	{ "python t.py --batchSize 8",
	  NULL,
	  "generic 8 x 1 x 1 by --batchSize, -",
	  { 0 } },
	{ "python t.py batch_size=8 lr=2",
	  NULL,
	  "generic 8 x 1 x 1 by batch_size, -",
	  { 0 } },
	{ "python t.py ++train.batch_size=8",
	  NULL,
	  "generic 8 x 1 x 1 by ++train.batch_size, -",
	  { 0 } },
	{ "python t.py --train.micro-batch-size 8",
	  NULL,
	  "generic 8 x 1 x 1 by --train.micro-batch-size, -",
	  { 0 } },
	{ "python t.py --a.b.mbs=8 --a.ga=4",
	  NULL,
	  "generic 8 x 4 x 1 by --a.b.mbs, --a.ga",
	  { 0 } },
	{ "./t -b 8 --accum 4",
	  NULL,
	  "generic 8 x 4 x 1 by -b, --accum",
	  { 0 } },
	{ "./t -b8 --accum 4",
	  NULL,
	  "generic 8 x 4 x 1 by -b, --accum",
	  { 0 } },
	{ "./t -b=8 --accum=4",
	  NULL,
	  "generic 8 x 4 x 1 by -b, --accum",
	  { 0 } },
	{ "./t -bs 8", NULL, "generic 8 x 1 x 1 by -bs, -", { 0 } },
	{ "./t --lr -1 --bs 8", NULL, "generic 8 x 1 x 1 by --bs, -", { 0 } },
	{ "./t --bs 08", NULL, "generic 8 x 1 x 1 by --bs, -", { 0 } },
	{ "env bs=4 ./t --bs 8", NULL, "generic 8 x 1 x 1 by --bs, -", { 0 } },
	{ "./t --name batch=4 --bs 8",
	  NULL,
	  "generic 8 x 1 x 1 by --bs, -",
	  { 0 } },
	{ "./t --lr=1 bs=8", NULL, "generic 8 x 1 x 1 by bs, -", { 0 } },
	{ "python t.py --bs 8",
	  "accum_steps = 1",
	  "generic 8 x 1 x 1 by --bs, -",
	  { 0 } },
	/* The last one counts; nothing after "--". */
	{ "./t --bs 4 --x 1 --bs 8",
	  NULL,
	  "generic 8 x 1 x 1 by --bs, -",
	  { 0 } },
	{ "./t --bs=4 --bs 8 -- --bs 2",
	  NULL,
	  "generic 8 x 1 x 1 by --bs, -",
	  { 0 } },
	{ "python t.py -b 4 --batch-size 8",
	  PARSER,
	  "generic 8 x 2 x 1 by --batch-size, --accum",
	  { 0 } },
	{ "python t.py --batch-size 8 -b 4",
	  PARSER,
	  "generic 4 x 2 x 1 by -b, --accum",
	  { 0 } },
	/* Never knobs. */
	{ "./t --eval-batch-size 2 --test_batch_size=2 --val.batch_size 2 "
	  "--per_device_eval_batch_size 2 val.batch_size=3 --sample_batch 3 "
	  "--preprocessing.batch_size 1 --tokenizer.bs=9 --generation.bs=7 "
	  "--bs 8",
	  NULL,
	  "generic 8 x 1 x 1 by --bs, -",
	  { 0 } },
	{ "python train.py -vb 4 -b 8",
	  TIMM,
	  "timm 8 x 1 x 1 by -b, "
	  "--grad-accum-steps",
	  { 0 } },
	{ "./t -vb 4 --bs 8",
	  NULL,
	  "timm 128 x 1 x 1 by --batch-size, "
	  "--grad-accum-steps",
	  { 0 } },
	{ "./t --lr-base-size 64 -vb 4 --batch-size 8",
	  NULL,
	  "timm 8 x 1 x 1 by --batch-size, --grad-accum-steps",
	  { 0 } },
	/* The script's own parser. */
	{ "python t.py -b 8",
	  PARSER,
	  "generic 8 x 2 x 1 by -b, --accum",
	  { 0 } },
	{ "python t.py --batch 8",
	  PARSER,
	  "generic 8 x 2 x 1 by --batch, --accum",
	  { 0 } },
	{ "python t.py --batch-s=8 --acc 4",
	  PARSER,
	  "generic 8 x 4 x 1 by --batch-s, --acc",
	  { 0 } },
	{ "python t.py",
	  PARSER,
	  "generic 16 x 2 x 1 by --batch-size, --accum",
	  { 0 } },
	{ "python t.py --bz 8",
	  "p.add_argument('--bz', dest='batch_size', default=3)",
	  "generic 8 x 1 x 1 by --bz, -",
	  { 0 } },
	{ "python t.py --mb 8",
	  "p.add_argument('--mb', '--batch-size')",
	  "generic 8 x 1 x 1 by --mb, -",
	  { 0 } },
	{ "python t.py --bs 8",
	  "p.add_argument('--accum', default=None)",
	  "generic 8 x 1 x 1 by --bs, --accum",
	  { 0 } },
	{ "python t.py --bs 8",
	  "DataLoader(test, batch_size=100)",
	  "generic 8 x 1 x 1 by --bs, -",
	  { 0 } },
	{ "python -c p.add_argument('--bs',default=8)",
	  NULL,
	  "generic 8 x 1 x 1 by --bs, -",
	  { 0 } },
	/* Frameworks. */
	{ "python run_clm.py",
	  NULL,
	  "hf 8 x 1 x 1 by --per_device_train_batch_size, "
	  "--gradient_accumulation_steps",
	  { 0 } },
	{ "python run_clm.py --train_file data.json",
	  NULL,
	  "hf 8 x 1 x 1 by --per_device_train_batch_size, "
	  "--gradient_accumulation_steps",
	  { 0 } },
	{ "python x/run_speech_recognition_seq2seq.py --per-device-train-batch-"
	  "size 4",
	  NULL,
	  "hf 4 x 1 x 1 by --per-device-train-batch-size, "
	  "--gradient_accumulation_steps",
	  { 0 } },
	{ "python -m trl.scripts.sft --gradient_accumulation_steps 2",
	  NULL,
	  "trl 8 x 2 x 1 by --per_device_train_batch_size, "
	  "--gradient_accumulation_steps",
	  { 0 } },
	{ "python t.py --per_device_train 4",
	  "HfArgumentParser(TrainingArguments)",
	  "hf 4 x 1 x 1 by --per_device_train, --gradient_accumulation_steps",
	  { 0 } },
	{ "python run_clm.py --per_device_train_batch_size 4",
	  NULL,
	  "hf 4 x 1 x 3 by --per_device_train_batch_size, "
	  "--gradient_accumulation_steps",
	  { .visible_devices = 3 } },
	{ "env CUDA_VISIBLE_DEVICES=1 python run_clm.py",
	  NULL,
	  "hf 8 x 1 x 1 by --per_device_train_batch_size, "
	  "--gradient_accumulation_steps",
	  { .visible_devices = 3 } },
	{ "torchrun --nproc_per_node 2 run_clm.py",
	  NULL,
	  "hf 8 x 1 x 2 by --per_device_train_batch_size, "
	  "--gradient_accumulation_steps",
	  { .visible_devices = 3 } },
	/* Somebody's own parser with a borrowed name has no accumulation. */
	{ "python t.py --per_device_train_batch_size 4",
	  "p.add_argument('--per_device_train_batch_size', default=1)",
	  "hf 4 x 1 x 1 by --per_device_train_batch_size, -",
	  { .visible_devices = 3 } },
	{ "python run_glue_no_trainer.py",
	  NULL,
	  "hf-no-trainer 8 x 1 x 1 by --per_device_train_batch_size, "
	  "--gradient_accumulation_steps",
	  { .visible_devices = 3 } },
	{ "python train.py",
	  NANOGPT,
	  "nanogpt 12 x 40 x 1 by --batch_size, --gradient_accumulation_steps",
	  { 0 } },
	{ "torchrun --nproc_per_node 4 train.py --batch_size=3",
	  NANOGPT,
	  "nanogpt 3 x 10 x 4 by --batch_size, --gradient_accumulation_steps",
	  { 0 } },
	{ "python train.py config/a.py --batch_size=3 "
	  "--gradient_accumulation_steps=4",
	  NANOGPT,
	  "nanogpt 3 x 4 x 1 by --batch_size, --gradient_accumulation_steps",
	  { 0 } },
	{ "torchrun --nproc_per_node 2 a/references/classification/train.py "
	  "-b 7",
	  NULL,
	  "torchvision 7 x 1 x 2 by -b, -",
	  { 0 } },
	{ "python m.py fit --data.batch_size 4",
	  "LightningCLI(A)",
	  "lightning-cli 4 x 1 x 3 by --data.batch_size, "
	  "--trainer.accumulate_grad_batches",
	  { .visible_devices = 3 } },
	{ "python m.py fit --trainer.devices=[0,1] --data.batch_size=4",
	  NULL,
	  "lightning-cli 4 x 1 x 2 by --data.batch_size, "
	  "--trainer.accumulate_grad_batches",
	  { .visible_devices = 3 } },
	{ "python m.py fit --trainer.devices -1 --data.batch_size=4",
	  NULL,
	  "lightning-cli 4 x 1 x 3 by --data.batch_size, "
	  "--trainer.accumulate_grad_batches",
	  { .visible_devices = 3 } },
	/* minGPT has the same options, but no fit. */
	{ "python m.py --trainer.batch_size=4",
	  NULL,
	  "generic 4 x 1 x 1 by --trainer.batch_size, -",
	  { 0 } },
	{ "python t.py --batch_size=8",
	  NULL,
	  "nanogpt 8 x 40 x 1 by --batch_size, --gradient_accumulation_steps",
	  { .preset = "nanogpt" } },
	/* Hints. */
	{ "./t --width 8",
	  NULL,
	  "generic 8 x 1 x 1 by --width, -",
	  { .micro_flag = "--width" } },
	{ "./t -b 8",
	  NULL,
	  "generic 8 x 1 x 1 by -b, -",
	  { .micro_flag = "-b" } },
	{ "./t a.width=8",
	  NULL,
	  "generic 8 x 1 x 1 by a.width, -",
	  { .micro_flag = "width" } },
	{ "./t --batch_size 64 --mbs 8 --k 2",
	  NULL,
	  "generic 8 x 2 x 1 by --mbs, --k",
	  { .micro_flag = "--mbs", .accum_flag = "--k" } },
	{ "./t --batch_size 64 --mbs 8",
	  NULL,
	  "generic 8 x 8 x 1 by --mbs, -",
	  { .global_flag = "--batch_size" } },
	{ "python t.py",
	  "p.add_argument('--w', default=4)",
	  "generic 4 x 1 x 1 by --w, -",
	  { .micro_flag = "--w" } },
	{ "torchrun --nproc_per_node 4 t.py --bs 8",
	  NULL,
	  "generic 2 x 1 x 4 by --bs, -",
	  { .micro_scope = "global" } },
	{ "torchrun --nproc_per_node 4 t.py --bs 8 --ga 8",
	  NULL,
	  "generic 2 x 2 x 4 by --bs, --ga",
	  { .micro_scope = "node", .accum_scope = "total" } },
	/* Placeholders. */
	{ "./t --x {micro:8} --y={accum:2}",
	  NULL,
	  "generic 8 x 2 x 1 by {micro}, {accum}",
	  { 0 } },
	{ "./t --x {micro}", NULL, "generic 0 x 1 x 1 by {micro}, -", { 0 } },
	{ "./t --bs {micro} --accum 4",
	  NULL,
	  "generic 0 x 4 x 1 by {micro}, --accum",
	  { 0 } },
	{ "./t a{micro:8}b{micro:8} {micro}",
	  NULL,
	  "generic 8 x 1 x 1 by {micro}, -",
	  { 0 } },
};

static char *described(const struct command *command)
{
	const struct knob *accum = &command->knobs[KNOB_ACCUM];
	struct strbuf text = STRBUF_INIT;

	strbuf_addf(&text, "%s %lld x %lld x %lld by %s, %s",
		    command->preset->name,
		    (long long)command->batch.micro_batch,
		    (long long)command->batch.grad_accum,
		    (long long)command->batch.world_size,
		    command->knobs[KNOB_MICRO].name,
		    accum->form == KNOB_ABSENT ? "-" : accum->name);
	return strbuf_detach(&text);
}

static void knobs_are_read(void **state)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const struct row *row = &rows[i];
		struct strlist argv = words(row->command);
		struct error err = ERROR_INIT;
		struct command command;
		char *text;

		if (sample_recognise(&command, &argv,
				     &(struct sample){ .presets = *state,
						       .hints = &row->hints,
						       .source = row->source },
				     &err) != COMMAND_OK)
			fail_msg("%s: %s", row->command, err.message);
		text = described(&command);
		if (strcmp(text, row->expected) != 0)
			fail_msg("%s: %s", row->command, text);
		assert_int_equal(command.batch.effective_batch,
				 command.batch.micro_batch *
					 command.batch.grad_accum *
					 command.batch.world_size);
		assert_non_null(command.assumption);
		assert_non_null(command.preset_evidence);
		free(text);
		command_release(&command);
		strlist_release(&argv);
	}
}

struct refusal {
	const char *command;
	const char *source;
	enum command_outcome outcome;
	const char *message; /* part of it */
	struct command_hints hints;
};

static const struct refusal refusals[] = {
	/* Not there. */
	{ "./t --lr 1",
	  NULL,
	  COMMAND_NOT_RECOGNISED,
	  "no batch size is found among the arguments of ./t: write {micro}",
	  { 0 } },
	{ "python t.py",
	  NULL,
	  COMMAND_NOT_RECOGNISED,
	  "--micro-flag NAME",
	  { 0 } },
	{ "./t -b 8", NULL, COMMAND_NOT_RECOGNISED, "-b 8 may be", { 0 } },
	{ "python t.py -b 8",
	  "p.add_argument('-b', '--beta')",
	  COMMAND_NOT_RECOGNISED,
	  "no batch size",
	  { 0 } },
	{ "python t.py --batch 8",
	  "p.add_argument('--batch-norm')\np.add_argument('--accum')",
	  COMMAND_NOT_RECOGNISED,
	  "no batch size",
	  { 0 } },
	{ "./t -- --bs 8",
	  NULL,
	  COMMAND_NOT_RECOGNISED,
	  "no batch size",
	  { 0 } },
	{ "env bs=8 ./t",
	  NULL,
	  COMMAND_NOT_RECOGNISED,
	  "no batch size",
	  { 0 } },
	{ "./t --name batch=4",
	  NULL,
	  COMMAND_NOT_RECOGNISED,
	  "no batch size",
	  { 0 } },
	{ "python t.py",
	  "p.add_argument('--bs', type=int)",
	  COMMAND_NOT_RECOGNISED,
	  "add --bs N",
	  { 0 } },
	{ "python t.py",
	  "batch_size = 32\nif big:\n    batch_size = 64\n",
	  COMMAND_NOT_RECOGNISED,
	  "t.py:1 batch_size and t.py:3 batch_size may be the batch size, and "
	  "no argument sets it: add --micro-flag t.py:1 or --micro-flag t.py:3",
	  { 0 } },
	{ "python t.py",
	  "batch_size = 4 * 8\n",
	  COMMAND_NOT_RECOGNISED,
	  "t.py:1 sets batch_size to more than a plain whole number",
	  { 0 } },
	{ "python t.py",
	  "\"\"\"batch_size = 32\"\"\"  # batch_size = 8\n"
	  "x = 'f(batch_size=8)'\n",
	  COMMAND_NOT_RECOGNISED,
	  "no batch size is found",
	  { 0 } },
	{ "python m.py fit --trainer.max_steps 5",
	  "LightningCLI(A)",
	  COMMAND_NOT_RECOGNISED,
	  "add --data.batch_size N",
	  { 0 } },
	/* Two of them. */
	{ "./t --batch_size 64 --train_batch_size 8",
	  NULL,
	  COMMAND_NOT_RECOGNISED,
	  "both --batch_size 64 and --train_batch_size 8 may be the batch "
	  "size: add --micro-flag --batch_size or",
	  { 0 } },
	/* Which of them the program goes by is not known. */
	{ "./t --batch_size 8 --train_batch_size 8",
	  NULL,
	  COMMAND_NOT_RECOGNISED,
	  "both --batch_size 8 and --train_batch_size 8 may be",
	  { 0 } },
	{ "./t a.batch_size=4 b.batch_size=8",
	  NULL,
	  COMMAND_NOT_RECOGNISED,
	  "both a.batch_size 4 and b.batch_size 8",
	  { 0 } },
	{ "python t.py --batch_size 64",
	  "p.add_argument('--train_batch_size', default=8)",
	  COMMAND_NOT_RECOGNISED,
	  "--train_batch_size 8",
	  { 0 } },
	{ "./t --bs 8 --ga 2 --accum_steps 4",
	  NULL,
	  COMMAND_NOT_RECOGNISED,
	  "add --accum-flag --ga or --accum-flag --accum_steps, or write --ga "
	  "{accum:2}",
	  { 0 } },
	/* No plain number. */
	{ "./t --bs auto",
	  NULL,
	  COMMAND_NOT_RECOGNISED,
	  "--bs is \"auto\"",
	  { 0 } },
	{ "./t --bs -1",
	  NULL,
	  COMMAND_NOT_RECOGNISED,
	  "--bs is \"-1\"",
	  { 0 } },
	{ "./t --bs 0", NULL, COMMAND_NOT_RECOGNISED, "\"0\"", { 0 } },
	{ "./t --bs 0.9", NULL, COMMAND_NOT_RECOGNISED, "\"0.9\"", { 0 } },
	{ "./t --bs=+8", NULL, COMMAND_NOT_RECOGNISED, "\"+8\"", { 0 } },
	{ "./t --bs=0x8", NULL, COMMAND_NOT_RECOGNISED, "\"0x8\"", { 0 } },
	{ "./t --bs=$((2*4))",
	  NULL,
	  COMMAND_NOT_RECOGNISED,
	  "$((2*4))",
	  { 0 } },
	{ "./t bs=4,8",
	  NULL,
	  COMMAND_NOT_RECOGNISED,
	  "bs=4,8 is a sweep",
	  { 0 } },
	{ "./t --bs=", NULL, COMMAND_NOT_RECOGNISED, "\"\"", { 0 } },
	{ "./t --bs 99999999999999999999",
	  NULL,
	  COMMAND_NOT_RECOGNISED,
	  "plain whole number",
	  { 0 } },
	{ "./t --bs 8 --ga auto",
	  NULL,
	  COMMAND_NOT_RECOGNISED,
	  "gradient accumulation is not known",
	  { 0 } },
	{ "./t --bs 4000000000 --ga 4000000000",
	  NULL,
	  COMMAND_NOT_RECOGNISED,
	  "does not fit in 64 bits",
	  { 0 } },
	{ "./t --lr 1 --bs", NULL, COMMAND_NOT_RECOGNISED, "no value", { 0 } },
	{ "./t --bs --lr 1", NULL, COMMAND_NOT_RECOGNISED, "no value", { 0 } },
	{ "./t --bs -- 8", NULL, COMMAND_NOT_RECOGNISED, "no value", { 0 } },
	/* Config files. */
	{ "python train.py --batch_size=8 config/a.py "
	  "--gradient_accumulation_steps=2",
	  NANOGPT,
	  COMMAND_NOT_RECOGNISED,
	  "add --batch_size=8 after config/a.py",
	  { 0 } },
	{ "python train.py config/a.py --gradient_accumulation_steps=2",
	  NANOGPT,
	  COMMAND_NOT_RECOGNISED,
	  "add --batch_size=N with its present value after config/a.py",
	  { 0 } },
	{ "python train.py config/a.py --batch_size=8",
	  NANOGPT,
	  COMMAND_NOT_RECOGNISED,
	  "add --gradient_accumulation_steps=N with its present value after",
	  { 0 } },
	{ "python train.py --batch_size 8",
	  NANOGPT,
	  COMMAND_NOT_RECOGNISED,
	  "--batch_size=8 only",
	  { 0 } },
	{ "python train.py",
	  "batch_size = n * 2\nexec(open('configurator.py').read())",
	  COMMAND_NOT_RECOGNISED,
	  "train.py:1 sets batch_size to more than a plain number: add "
	  "--batch_size=N",
	  { 0 } },
	{ "python m.py fit --data.batch_size 4 --config c.yaml",
	  "LightningCLI(A)",
	  COMMAND_NOT_RECOGNISED,
	  "after c.yaml",
	  { 0 } },
	{ "python m.py fit --config=c.yaml --data.batch_size 4 "
	  "--trainer.accumulate_grad_batches 1",
	  NULL,
	  COMMAND_NOT_RECOGNISED,
	  "add --trainer.devices N",
	  { .visible_devices = 2 } },
	{ "python m.py fit --trainer.num_nodes 2 --data.batch_size 4",
	  NULL,
	  COMMAND_REFUSED,
	  "one node",
	  { 0 } },
	{ "python m.py fit --trainer.devices x --data.batch_size 4",
	  NULL,
	  COMMAND_NOT_RECOGNISED,
	  "number of devices",
	  { 0 } },
	{ "python run_clm.py args.json",
	  NULL,
	  COMMAND_NOT_RECOGNISED,
	  "args.json may set it",
	  { 0 } },
	{ "python t.py --bs 8 --config c.yaml",
	  PARSER,
	  COMMAND_NOT_RECOGNISED,
	  "c.yaml may set it: add --accum N",
	  { 0 } },
	/* What ranks cannot share. */
	{ "torchrun --nproc_per_node 3 train.py",
	  NANOGPT,
	  COMMAND_NOT_RECOGNISED,
	  "--gradient_accumulation_steps 40 counts over all ranks",
	  { 0 } },
	{ "torchrun --nproc_per_node 3 t.py --bs 8",
	  NULL,
	  COMMAND_NOT_RECOGNISED,
	  "a multiple of 3",
	  { .micro_scope = "global" } },
	{ "./t --mbs 5 --bs 64",
	  NULL,
	  COMMAND_NOT_RECOGNISED,
	  "write sizes that agree",
	  { .global_flag = "--bs" } },
	{ "./t --mbs 4 --bs 64 --ga 3",
	  NULL,
	  COMMAND_NOT_RECOGNISED,
	  "nor what the accumulation gives",
	  { .global_flag = "--bs" } },
	/* Hints. */
	{ "./t --bs 8",
	  NULL,
	  COMMAND_USAGE,
	  "--micro-flag takes the option's name, such as --micro-flag --bs",
	  { .micro_flag = "8" } },
	{ "./t --bs 8",
	  NULL,
	  COMMAND_USAGE,
	  "takes the option's name",
	  { .micro_flag = "--bs=8" } },
	{ "./t --bs 8",
	  NULL,
	  COMMAND_USAGE,
	  "takes the option's name",
	  { .accum_flag = "" } },
	{ "./t --x 8",
	  NULL,
	  COMMAND_NOT_RECOGNISED,
	  "the option --bs is not in the command: add it with its present "
	  "value",
	  { .micro_flag = "--bs" } },
	{ "./t --bs 8",
	  NULL,
	  COMMAND_USAGE,
	  "one of them only",
	  { .micro_flag = "--bs", .accum_flag = "--bs" } },
	{ "./t --bs {micro}",
	  NULL,
	  COMMAND_USAGE,
	  "keep one",
	  { .micro_flag = "--bs" } },
	{ "./t --bs 8",
	  NULL,
	  COMMAND_USAGE,
	  "rank, node or global",
	  { .micro_scope = "total" } },
	{ "./t --bs 8",
	  NULL,
	  COMMAND_USAGE,
	  "rank or total",
	  { .accum_scope = "node" } },
	{ "./t --bs 8",
	  NULL,
	  COMMAND_USAGE,
	  "autofit presets",
	  { .preset = "hugging" } },
	/* Placeholders. */
	{ "./t --bs 8 --n {steps}",
	  NULL,
	  COMMAND_USAGE,
	  "{steps:1000}",
	  { 0 } },
	{ "./t --bs 8 --o {out}", NULL, COMMAND_USAGE, "{out:runs/a}", { 0 } },
	{ "./t {micro:x}", NULL, COMMAND_USAGE, "whole number", { 0 } },
	{ "./t {micro:4} {micro:8}", NULL, COMMAND_USAGE, "the same", { 0 } },
	{ "./t --o {out:}", NULL, COMMAND_USAGE, "one folder", { 0 } },
	{ "./t --bs {mirco}", NULL, COMMAND_NOT_RECOGNISED, "{mirco}", { 0 } },
};

static void the_rest_is_explained(void **state)
{
	for (size_t i = 0; i < sizeof(refusals) / sizeof(*refusals); i++) {
		const struct refusal *row = &refusals[i];
		struct strlist argv = words(row->command);
		struct error err = ERROR_INIT;
		struct command command;
		enum command_outcome outcome = sample_recognise(
			&command, &argv,
			&(struct sample){ .presets = *state,
					  .hints = &row->hints,
					  .source = row->source },
			&err);

		if (outcome != row->outcome ||
		    !strstr(err.message, row->message))
			fail_msg("%s: outcome %d, %s", row->command,
				 (int)outcome, err.message);
		command_release(&command);
		strlist_release(&argv);
	}
}

static void where_knobs_are(void **state)
{
	const struct command_hints hints = { 0 };
	struct strlist argv =
		words("nice python t.py a.bs=8 --ga 2 --max-steps "
		      "50 --output-dir=runs/a -- x");
	const struct knob *knobs;
	struct command command;

	assert_int_equal(sample_recognise(&command, &argv,
					  &(struct sample){ .presets = *state,
							    .hints = &hints },
					  NULL),
			 COMMAND_OK);
	knobs = command.knobs;
	assert_int_equal(knobs[KNOB_MICRO].form, KNOB_JOINED);
	assert_int_equal(knobs[KNOB_MICRO].index, 3);
	assert_int_equal(knobs[KNOB_MICRO].offset, 5);
	assert_string_equal(knobs[KNOB_MICRO].evidence, "argument 3");
	assert_int_equal(knobs[KNOB_ACCUM].form, KNOB_SEPARATE);
	assert_int_equal(knobs[KNOB_ACCUM].index, 5);
	assert_int_equal(knobs[KNOB_STEPS].index, 7);
	assert_int_equal(knobs[KNOB_STEPS].value, 50);
	assert_int_equal(knobs[KNOB_OUTPUT].index, 8);
	assert_string_equal(knobs[KNOB_OUTPUT].text, "runs/a");
	assert_int_equal(knobs[KNOB_GLOBAL].form, KNOB_ABSENT);
	command_release(&command);
	strlist_release(&argv);
}

static const struct {
	const char *command;
	const char *source;
	const char *evidence; /* of the preset */
	const char *micro;    /* of the micro-batch */
	const char *assumption;
} evidence[] = {
	{ "python t.py --bs 8", NULL, "no framework known by name",
	  "argument 3",
	  "effective batch 8 = 8 x 1 x 1 (--bs taken as per rank)" },
	{ "python train.py", NANOGPT,
	  "train.py contains configurator.py + "
	  "exec(open(",
	  "train.py:2",
	  "effective batch 480 = 12 x 40 x 1 (--batch_size not given, "
	  "train.py:2, taken as per rank; --gradient_accumulation_steps not "
	  "given, train.py:1, taken as over all ranks)" },
	{ "python d/run_clm.py", NULL, "script d/run_clm.py", "default of hf",
	  "effective batch 8 = 8 x 1 x 1 (--per_device_train_batch_size not "
	  "given, default of hf, taken as per rank; "
	  "--gradient_accumulation_steps not given, default of hf, taken as "
	  "per "
	  "rank)" },
	{ "python t.py --per_device_train_batch_size=2 "
	  "--gradient_accumulation_steps=3",
	  NULL, "option --per_device_train_batch_size", "argument 2",
	  "effective batch 6 = 2 x 3 x 1 (--per_device_train_batch_size taken "
	  "as per rank)" },
	{ "python -m trl.scripts.dpo --per_device_train_batch_size=2 "
	  "--gradient_accumulation_steps=3",
	  NULL, "module trl.scripts.dpo", "argument 3",
	  "effective batch 6 = 2 x 3 x 1 (--per_device_train_batch_size taken "
	  "as per rank)" },
	{ "./t {micro}", NULL, "no framework known by name", "argument 1",
	  "effective batch not known ({micro} taken as per rank)" },
};

/* A number in a call, and the default of the parameter that it gives. */
static void calls_go_before_defaults(void **state)
{
	static const struct {
		const char *source;
		int64_t micro, accum;
	} table[] = {
		{ "class T:\n  def __init__(s, *, train_batch_size=16,\n"
		  "               gradient_accumulate_every=1): pass\n"
		  "T(train_batch_size=4, gradient_accumulate_every=8)\n",
		  4, 8 },
		{ "def f(batch_size=16): pass\nf()\n", 16, 0 },
		{ "def f(batch_size=16): pass\nf(batch_size=4)\n"
		  "f(batch_size=8)\n",
		  0, 0 },
	};
	const struct command_hints hints = { 0 };

	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		struct sample sample = { .presets = *state,
					 .hints = &hints,
					 .source = table[i].source };
		struct strlist argv = words("python train.py");
		struct error err = ERROR_INIT;
		struct command command;
		bool found = sample_recognise(&command, &argv, &sample, &err) ==
			     COMMAND_OK;

		assert_int_equal(found, table[i].micro > 0);
		assert_int_equal(command.knobs[KNOB_MICRO].value,
				 table[i].micro);
		assert_int_equal(command.knobs[KNOB_ACCUM].value,
				 table[i].accum);
		command_release(&command);
		strlist_release(&argv);
	}
}

static void evidence_is_told(void **state)
{
	const struct command_hints hints = { 0 };

	for (size_t i = 0; i < sizeof(evidence) / sizeof(*evidence); i++) {
		struct strlist argv = words(evidence[i].command);
		struct command command;

		assert_int_equal(
			sample_recognise(&command, &argv,
					 &(struct sample){
						 .presets = *state,
						 .hints = &hints,
						 .source = evidence[i].source },
					 NULL),
			COMMAND_OK);
		assert_string_equal(command.preset_evidence,
				    evidence[i].evidence);
		assert_string_equal(command.knobs[KNOB_MICRO].evidence,
				    evidence[i].micro);
		assert_string_equal(command.assumption, evidence[i].assumption);
		command_release(&command);
		strlist_release(&argv);
	}
}

static void templates_are_placeholders(void **state)
{
	struct strlist templates = STRLIST_INIT;
	struct command_hints hints = { .env_templates = &templates };
	struct strlist argv = words("./t");
	struct error err = ERROR_INIT;
	struct command command;
	static const char *const wrong[] = { "BS", "={micro}", "BS=8",
					     "BS={mirco}", "" };

	strlist_add(&templates, "BS={micro:8}");
	assert_int_equal(sample_recognise(&command, &argv,
					  &(struct sample){ .presets = *state,
							    .hints = &hints },
					  &err),
			 COMMAND_OK);
	assert_int_equal(command.knobs[KNOB_MICRO].form, KNOB_ENVIRONMENT);
	assert_string_equal(command.knobs[KNOB_MICRO].evidence,
			    "--env BS={micro:8}");
	assert_int_equal(command.batch.effective_batch, 8);
	command_release(&command);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		strlist_replace(&templates, 0, wrong[i]);
		assert_int_equal(
			sample_recognise(&command, &argv,
					 &(struct sample){ .presets = *state,
							   .hints = &hints },
					 &err),
			COMMAND_USAGE);
		assert_non_null(strstr(err.message, "NAME={micro}"));
		command_release(&command);
	}
	strlist_release(&argv);
	strlist_release(&templates);
}

static const struct {
	const char *command;
	const char *expected;
} identities[] = {
	{ "python t.py --bs 8 --ga=2 --width 5", "python t.py --width 5" },
	{ "nice python t.py --seed 1 bs=8 -- --bs 3",
	  "nice python t.py -- --bs 3" },
	{ "python t.py --bs 8 --max_steps 5 --output_dir a --lr=1 -x",
	  "python t.py -x" },
	{ "./t --x={micro:8} --y {out:a} --learning-rate 3", "./t --x={micro} "
							     "--y {out}" },
	{ "./t --bs 8 --lr-decay 3", "./t --lr-decay 3" },
};

static void identity_is_what_matters(void **state)
{
	const struct command_hints hints = { 0 };

	for (size_t i = 0; i < sizeof(identities) / sizeof(*identities); i++) {
		struct strlist argv = words(identities[i].command);
		struct strlist kept = STRLIST_INIT;
		struct command command;
		char *text;

		assert_int_equal(
			sample_recognise(&command, &argv,
					 &(struct sample){ .presets = *state,
							   .hints = &hints },
					 NULL),
			COMMAND_OK);
		command_record_arguments(&command, &kept);
		text = joined(&kept);
		assert_string_equal(text, identities[i].expected);
		free(text);
		command_release(&command);
		strlist_release(&argv);
		strlist_release(&kept);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(knobs_are_read),
		cmocka_unit_test(the_rest_is_explained),
		cmocka_unit_test(where_knobs_are),
		cmocka_unit_test(calls_go_before_defaults),
		cmocka_unit_test(evidence_is_told),
		cmocka_unit_test(templates_are_placeholders),
		cmocka_unit_test(identity_is_what_matters),
	};

	return cmocka_run_group_tests(tests, load, unload);
}
