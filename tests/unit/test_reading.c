/* Programs that nobody tuned for: what their own words say is read. */
/* SPDX-License-Identifier: MIT */
/* USES launcher */
#include "launcher/command/recognise.h"
#include "launcher/command/text/command_outcome.h"
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

struct reading {
	const char *command;
	const char *source; /* of its script */
	/* "micro x accum x world", or with "? " words of the message */
	const char *expected;
	const char *path, *text; /* a config file; NULL: none */
	struct command_hints hints;
};

#define PARSER_OF(option, value)                                               \
	"p = argparse.ArgumentParser()\n"                                      \
	"p.add_argument('--batch_size', type=int, default=8)\n"                \
	"p.add_argument('" option "', type=int, default=" value ")\n"

/* A dataclass that says other defaults than its framework. */
#define QLORA                                                                  \
	"@dataclass\n"                                                         \
	"class TrainingArguments(transformers.Seq2SeqTrainingArguments):\n"    \
	"    cache_dir: Optional[str] = field(default=None)\n"                 \
	"    per_device_train_batch_size: int = field(default=1, "             \
	"metadata={\"help\": 'The training batch size per GPU.'})\n"           \
	"    gradient_accumulation_steps: int = field(\n        default=16)\n" \
	"hfparser = transformers.HfArgumentParser((TrainingArguments))\n"

/* On two ranks, with a line of the script or the words of its help. */
#define TWO(line, expected)                                                    \
	PLAIN("torchrun --nproc-per-node 2 t.py --batch_size 8", line "\n",    \
	      expected)
#define HELP(words, expected)                                                  \
	PLAIN("torchrun --nproc-per-node 2 t.py",                              \
	      "p.add_argument('--batch_size', default=8,\n    help='" words    \
	      "')\n",                                                          \
	      expected)

#define PLAIN(command, source, expected)                                       \
	{                                                                      \
		command, source, expected, NULL, NULL,                         \
		{                                                              \
			0                                                      \
		}                                                              \
	}
/* Beside a batch size in a config file. */
#define FILED_HINTED(command, line, expected, ...)                             \
	{                                                                      \
		command, NULL, expected, "a.yaml",                             \
			"train:\n  batch_size: 16\n  " line "\n",              \
		{                                                              \
			__VA_ARGS__                                            \
		}                                                              \
	}
#define FILED(command, line, expected) FILED_HINTED(command, line, expected, 0)
#define HINTED(command, source, expected, ...)                                 \
	{                                                                      \
		command, source, expected, NULL, NULL,                         \
		{                                                              \
			__VA_ARGS__                                            \
		}                                                              \
	}

static const struct reading readings[] = {
	/* The words of a name are enough. */
	PLAIN("python t.py --device-batch-size 4", NULL, "4 x 1 x 1"),
	PLAIN("python t.py --bsz_per_gpu=4 --grad-acc-steps 2", NULL,
	      "4 x 2 x 1"),
	PLAIN("./t --trainBatchSize 4 --gradAccumSteps 8", NULL, "4 x 8 x 1"),
	PLAIN("./t data.bs_per_gpu=4 optim.grad_acc_steps=8", NULL,
	      "4 x 8 x 1"),
	PLAIN("./t --bs 4 --eval_accumulation_steps 8", NULL, "4 x 1 x 1"),
	PLAIN("./t --bs 4 --val-bs-per-gpu 8", NULL, "4 x 1 x 1"),
	PLAIN("torchrun --nproc-per-node 4 t.py --global-batch-size 64", NULL,
	      "16 x 1 x 4"),
	PLAIN("torchrun --nproc-per-node 4 t.py --bs_per_node 64", NULL,
	      "16 x 1 x 4"),
	/* An accumulation is used whatever its name, also by its default. */
	PLAIN("python t.py --batch_size 4 --grad-acc-steps 4", NULL,
	      "4 x 4 x 1"),
	PLAIN("python t.py", PARSER_OF("--grad-acc-steps", "4"), "8 x 4 x 1"),
	PLAIN("python t.py", PARSER_OF("-g', '--ga_steps", "4"), "8 x 4 x 1"),
	PLAIN("python t.py -g 2", PARSER_OF("-g', '--ga_steps", "4"),
	      "8 x 2 x 1"),
	PLAIN("python t.py", PARSER_OF("--ga_steps", "1"), "8 x 1 x 1"),
	PLAIN("python t.py", PARSER_OF("--ga_steps", "None"), "8 x 1 x 1"),
	PLAIN("python t.py", PARSER_OF("--ga_steps", "f(2)"),
	      "? add --ga_steps N"),
	PLAIN("python t.py --ga_steps 2", PARSER_OF("--ga_steps", "f(2)"),
	      "8 x 2 x 1"),
	PLAIN("python t.py --micro_steps 2 --acc_iter 3 --bs 8", NULL,
	      "? both --micro_steps 2 and --acc_iter 3"),
	/* What starts a script may end its own words before those of it. */
	PLAIN("myrun t.py -- --batch_size 2", PARSER_OF("--ga_steps", "4"),
	      "2 x 4 x 1"),
	PLAIN("python t.py -- --batch_size 2", PARSER_OF("--ga_steps", "4"),
	      "8 x 4 x 1"),
	/* What speaks of it and is none that is used is asked about. */
	PLAIN("python t.py --bs 8 --accum_steps 1 --batches-per-allreduce 2",
	      NULL,
	      "? --batches-per-allreduce 2 speaks of accumulation beside "
	      "--accum_steps"),
	PLAIN("python t.py --bs 8 --accum_tokens 99", NULL,
	      "? add --accum-flag --accum_tokens"),
	HINTED("python t.py --bs 8 --accum_tokens 99", NULL, "8 x 1 x 1",
	       .micro_flag = "--bs"),
	HINTED("python t.py --bs 8 --accum_tokens 3", NULL, "8 x 3 x 1",
	       .accum_flag = "--accum_tokens"),
	PLAIN("python t.py", PARSER_OF("--accum_blobs_n", "3"),
	      "? --accum_blobs_n 3 speaks of accumulation"),
	/* A micro-batch beside a larger batch. */
	PLAIN("python t.py --batch=64 --batch-gpu=4", NULL, "4 x 16 x 1"),
	PLAIN("python t.py --batch_size 64 --microbatch 4", NULL, "4 x 16 x 1"),
	PLAIN("torchrun --nproc-per-node 2 t.py --total-bs 64 --bs 4", NULL,
	      "4 x 8 x 2"),
	PLAIN("torchrun --nproc-per-node 2 t.py --total-bs 64 --mbs 4", NULL,
	      "4 x 8 x 2"),
	PLAIN("torchrun --nproc-per-node 2 t.py --bs 64 --mbs 4", NULL,
	      "? --micro-flag --mbs --global-flag --bs"),
	HINTED("torchrun --nproc-per-node 2 t.py --bs 64 --mbs 4", NULL,
	       "4 x 8 x 2", .micro_flag = "--mbs", .global_flag = "--bs"),
	PLAIN("torchrun --nproc-per-node 2 t.py --total_bs 64 --ga_steps 4",
	      NULL, "? --micro-flag --total_bs --micro-scope global"),
	PLAIN("python t.py --microbatch 2", PARSER_OF("--microbatch", "-1"),
	      "2 x 4 x 1"),
	PLAIN("python t.py", PARSER_OF("--microbatch", "-1"), "8 x 1 x 1"),
	/* Defaults of the script's own dataclass or signature. */
	PLAIN("python t.py", QLORA, "1 x 16 x 1"),
	PLAIN("python t.py --per_device_train_batch_size 2", QLORA,
	      "2 x 16 x 1"),
	PLAIN("python t.py --base_model x",
	      "import fire\n"
	      "def train(\n    # model\n    base_model: str = \"\",\n"
	      "    batch_size: int = 128,\n    micro_batch_size: int = 4,\n"
	      "    names: List[str] = None, n: int = 3\n):\n    pass\n"
	      "if __name__ == \"__main__\":\n    fire.Fire(train)\n",
	      "4 x 32 x 1"),
	PLAIN("python t.py",
	      "import fire\ndef main(bs=16, lr=1e-3): pass\nfire.Fire()\n",
	      "16 x 1 x 1"),
	PLAIN("python t.py",
	      "import fire\nclass T:\n  def __init__(self, bs: 'int' = 16):\n"
	      "    pass\nfire.Fire({'t': T})\n",
	      "16 x 1 x 1"),
	PLAIN("python t.py",
	      "import typer\napp = typer.Typer()\n@app.command()\n"
	      "def main(data: str, bs: int = typer.Option(16, help='x'),\n"
	      "         acc_steps: Optional[int] = 2): pass\n",
	      "16 x 2 x 1"),
	PLAIN("python t.py",
	      "import tyro\n@dataclass\nclass A:\n"
	      "    lr: float = 1e-4\n"
	      "    device_bs: Annotated[int, tyro.conf.arg(help='b')] = 16\n"
	      "    ga_steps: int | None = 4\n"
	      "a = tyro.cli(A)\n",
	      "16 x 4 x 1"),
	PLAIN("python t.py",
	      "from absl import flags\n"
	      "flags.DEFINE_integer('device_bs', 16, 'Batch of a device.')\n"
	      "flags.DEFINE_integer('accum_iters', 4, 'Accumulation.')\n",
	      "16 x 4 x 1"),
	PLAIN("python t.py",
	      "@click.command()\n@click.option('--bsz', default=16)\n"
	      "@click.option('--acc-steps', default=4, show_default=True)\n"
	      "def main(bsz, acc_steps): pass\n",
	      "16 x 4 x 1"),
	/* Whose batch it is: divisions in the script, and words of help. */
	TWO("bs = int(args.batch_size / world_size)", "4 x 1 x 2"),
	TWO("args.batch_size = args.batch_size // args.world_size",
	    "4 x 1 x 2"),
	TWO("args.batch_size //= dist.get_world_size()", "4 x 1 x 2"),
	TWO("b = opt.batch_size // WORLD_SIZE", "4 x 1 x 2"),
	TWO("b = (args.batch_size) // total_gpus", "4 x 1 x 2"),
	TWO("b = args.batch_size / len(args.gpus)", "4 x 1 x 2"),
	TWO("b = batch_size // max(1, num_gpus)", "4 x 1 x 2"),
	TWO("b = int(args.batch_size / ngpus_per_node)", "4 x 1 x 2"),
	TWO("b = args.batch_size // nproc", "4 x 1 x 2"),
	TWO("b = args.batch_size // hvd.size()", "4 x 1 x 2"),
	TWO("b = args.batch_size // torch.cuda.device_count()", "4 x 1 x 2"),
	/* These divide no batch, or not by the ranks. */
	TWO("steps = len(data) // args.batch_size // world_size", "8 x 1 x 2"),
	TWO("lr = lr * args.batch_size / 256", "8 x 1 x 2"),
	TWO("# b = args.batch_size // world_size", "8 x 1 x 2"),
	TWO("n = args.batch_size // gpu_memory", "8 x 1 x 2"),
	TWO("eval_batch_size = args.eval_batch_size // world_size",
	    "8 x 1 x 2"),
	TWO("eff = args.batch_size * accum * world_size", "8 x 1 x 2"),
	HELP("total batch size for all GPUs", "4 x 1 x 2"),
	HELP("Effective batch size (per worker it is that / world)",
	     "4 x 1 x 2"),
	HELP("global batch", "4 x 1 x 2"),
	HELP("batch size, summed across all devices", "4 x 1 x 2"),
	HELP("this is the total of all GPUs on the current node", "4 x 1 x 2"),
	HELP("Batch size per GPU (effective batch size is more)", "8 x 1 x 2"),
	HELP("batch size", "8 x 1 x 2"),
	/* In a pair they say it of the larger one. */
	PLAIN("torchrun --nproc-per-node 2 t.py --batch_size 64 --mbs 4",
	      "accum = args.batch_size // (args.mbs * n)\n"
	      "accum_steps = accum_steps // world_size\n",
	      "4 x 8 x 2"),
	PLAIN("torchrun --nproc-per-node 2 t.py --batch_size 64 --mbs 4",
	      "total = args.batch_size * world_size\n", "4 x 16 x 2"),
	PLAIN("torchrun --nproc-per-node 2 t.py --batch_size 64 --mbs 4",
	      "p.add_argument('--batch_size', help='of all GPUs')\n",
	      "4 x 8 x 2"),
	/* An accumulation that the batch is divided by is part of it. */
	PLAIN("python t.py --batch_size 64 --acc_steps 4",
	      "b = args.batch_size // args.acc_steps\n", "16 x 4 x 1"),
	PLAIN("torchrun --nproc-per-node 2 t.py --batch_size 64 --acc_steps 4",
	      "b = args.batch_size // (world_size * args.acc_steps)\n",
	      "8 x 4 x 2"),
	PLAIN("torchrun --nproc-per-node 2 t.py --batch_size 64 --acc_steps 4",
	      "b = args.batch_size // args.acc_steps // world_size\n",
	      "8 x 4 x 2"),
	PLAIN("torchrun --nproc-per-node 2 t.py --batch_size 64 --acc_steps 4",
	      "b = args.batch_size // args.acc_steps\n", "16 x 4 x 2"),
	/* What is given for one rank makes another total, and limits none. */
	PLAIN("torchrun --nproc-per-node 8 t.py --batch_size 256",
	      "p.add_argument('--batch_size', help='Global batch size')\n"
	      "p.add_argument('--local_batch_size', type=int, default=None)\n"
	      "if args.local_batch_size is not None:\n"
	      "    args.batch_size = world_size * args.local_batch_size\n",
	      "? t.py:4 computes batch_size, whatever --batch_size says"),
	PLAIN("torchrun --nproc-per-node 8 t.py --local_batch_size 64",
	      "p.add_argument('--batch_size', type=int, default=256)\n"
	      "p.add_argument('--local_batch_size', type=int, default=None)\n"
	      "if args.local_batch_size is not None:\n"
	      "    args.batch_size = world_size * args.local_batch_size\n",
	      "64 x 1 x 8"),
	/* A limit that is given, beside a total that something else gives. */
	PLAIN("torchrun --nproc-per-node 8 t.py --batch-gpu 32",
	      "p.add_argument('--batch', help='Total batch size', "
	      "default=None)\n"
	      "p.add_argument('--batch-gpu', type=int, default=0)\n",
	      "? t.py:1 has the option --batch, but no plain number as its "
	      "default: add --batch N"),
	/* Pieces of one batch, and the ranks' parts of each. */
	PLAIN("torchrun --nproc-per-node 2 t.py --batch_size 64 --accum 4",
	      "for i in range(self.config.accum):\n"
	      "    part = slice_batch(batch, i, self.config.accum, 0)\n"
	      "    own = slice_batch(part_batch, self.rank, self.world_size)\n",
	      "8 x 4 x 2"),
	PLAIN("torchrun --nproc-per-node 2 t.py --batch_size 64 --accum 4",
	      "for i in range(args.accum):\n"
	      "    log(next(batches), args.accum)\n"
	      "own = slice_batch(eval_batch, self.rank, self.world_size)\n",
	      "64 x 4 x 2"),
	/* The rows of a pass have to be a multiple of the ranks. */
	PLAIN("torchrun --nproc-per-node 2 t.py --mini-batch-size 64",
	      "batch_size = x.size()[0]\n"
	      "if batch_size % ext_dist.my_size != 0:\n    sys.exit('no')\n",
	      "32 x 1 x 2"),
	/* What is divided is the product, by the same name in a function. */
	PLAIN("python t.py --batch_size 64 --acc_steps 4",
	      "rows = args.batch_size * args.acc_steps\n"
	      "def step(batch_size):\n    part = batch_size // "
	      "args.acc_steps\n",
	      "64 x 4 x 1"),
	/* A word that sets a key of the file, and is the batch of all passes.
	 */
	{ "python t.py a.yaml data.batch_size=512 data.accum=4",
	  "b = config.data.batch_size // (config.ngpus * config.data.accum)\n",
	  "128 x 4 x 1",
	  "a.yaml",
	  "data:\n  batch_size: 512\n  accum: 1\n",
	  { 0 } },
	PLAIN("torchrun --nproc-per-node 2 t.py --batch_size 64 --acc_steps 4",
	      "b = args.batch_size // world_size\n", "32 x 4 x 2"),
	PLAIN("python t.py",
	      PARSER_OF("--acc_steps", "4") "b = batch_size // acc_steps\n",
	      "2 x 4 x 1"),
	/* The user's word counts. */
	HINTED("torchrun --nproc-per-node 2 t.py --batch_size 8",
	       "b = batch_size // world_size", "8 x 1 x 2",
	       .micro_scope = "rank"),
	/* Keys of config files, whatever option names the file. */
	FILED("python t.py --config a.yaml", "accumulate: 4", "16 x 4 x 1"),
	FILED("python t.py -opt a.yaml", "grad_accumulation: 4", "16 x 4 x 1"),
	FILED("python t.py --fname a.yaml", "iters_to_accumulate: 4",
	      "16 x 4 x 1"),
	FILED("python t.py --base=a.yaml", "gacc: 4", "16 x 4 x 1"),
	FILED("python t.py -c a.yaml", "accumulate: true", "16 x 1 x 1"),
	FILED("python t.py -c a.yaml", "accumulate: 1", "16 x 1 x 1"),
	FILED("python t.py -c a.yaml", "noise_accum: 3",
	      "? train.noise_accum of a config file speaks of accumulation"),
	FILED("python t.py -c a.yaml", "eval_accumulation_steps: 3",
	      "16 x 1 x 1"),
	FILED("python t.py -c a.yaml", "bs_per_gpu: 4", "4 x 4 x 1"),
	FILED("python t.py -c a.yaml", "total_bs: 64", "16 x 4 x 1"),
	FILED("torchrun --nproc-per-node 2 t.py -c a.yaml", "total_bs: 64",
	      "16 x 2 x 2"),
	FILED("torchrun --nproc-per-node 2 t.py -c a.yaml", "bs_per_gpu: 4",
	      "? --micro-flag train.bs_per_gpu --global-flag train.batch_size"),
	FILED_HINTED("python t.py -c a.yaml", "x: 4", "16 x 4 x 1",
		     .accum_flag = "train.x"),
	FILED_HINTED("python t.py -c a.yaml", "x: 4", "4 x 1 x 1",
		     .micro_flag = "train.x"),
	FILED_HINTED("python t.py -c a.yaml", "noise_accum: 3", "16 x 1 x 1",
		     .micro_flag = "train.batch_size"),
	FILED_HINTED("python t.py -c a.yaml", "x: 4",
		     "? train.y is neither a word of the command nor a key "
		     "that is written in a.yaml",
		     .accum_flag = "train.y"),
	FILED_HINTED("torchrun --nproc-per-node 2 t.py -c a.yaml",
		     "bs_per_gpu: 4", "4 x 2 x 2",
		     .micro_flag = "train.bs_per_gpu",
		     .global_flag = "train.batch_size"),
	/* Behind a "--" of torchrun. */
	PLAIN("torchrun --nproc-per-node 2 -m a.t -- --device-batch-size 4",
	      NULL, "4 x 1 x 2"),
	PLAIN("torchrun --nproc-per-node 2 t.py -- --bs 4", NULL, "4 x 1 x 2"),
	PLAIN("python -m multiproc --nproc_per_node 2 t.py --bs 4", NULL,
	      "4 x 1 x 2"),
	PLAIN("python multiproc.py t.py --bs 4", NULL,
	      "? the number of visible devices is not known"),
	/* -b alone, where its help says what it is. */
	PLAIN("python t.py",
	      "p.add_argument('-b', type=int, default=128, help='batch size')",
	      "128 x 1 x 1"),
	PLAIN("python t.py -b 256",
	      "p.add_argument('-b', type=int, default=128, help='batch size')",
	      "256 x 1 x 1"),
	/* A reference to the batch size is no second one. */
	FILED("python t.py a.yaml",
	      "loader:\n    batch_size: !ref <batch_size>", "16 x 1 x 1"),
	FILED("python t.py a.yaml",
	      "loader:\n    batch_size: ${train.batch_size}", "16 x 1 x 1"),
	FILED("python t.py a.yaml", "loader:\n    batch_size: ${oc.env:BS}",
	      "? sets both"),
	/* What only evaluates, or leaves the machine. */
	PLAIN("python t.py --bs 8 --eval",
	      "p.add_argument('--eval', action='store_true',\n"
	      "    help='Perform evaluation only')\n",
	      "? --eval says that the command evaluates and trains nothing"),
	PLAIN("python t.py --bs 8 --eval",
	      "p.add_argument('--eval', action='store_true',\n"
	      "    help='evaluate after each epoch')\n",
	      "8 x 1 x 1"),
	PLAIN("python t.py --bs 8 --is_training 0", NULL, "? --is_training"),
	PLAIN("python t.py --bs 8 --is_training 1", NULL, "8 x 1 x 1"),
	PLAIN("python t.py --bs 8 --test-only", NULL, "? --test-only says"),
	PLAIN("python t.py --bs 8 --mode test", NULL, "? --mode says"),
	PLAIN("python t.py --bs 8 --mode train", NULL, "8 x 1 x 1"),
	HINTED("python t.py --bs 8 --mode test", NULL, "8 x 1 x 1",
	       .micro_flag = "--bs"),
	PLAIN("python t.py --bs 8", "import os\nimport submitit\n",
	      "? t.py:2 uses submitit, so a probe would submit jobs"),
	PLAIN("python t.py --bs 8", "from dask_jobqueue import SLURMCluster\n",
	      "? dask_jobqueue"),
	PLAIN("python t.py --bs 8",
	      "from ray.job_submission import JobSubmissionClient\n",
	      "? ray.job_submission"),
	PLAIN("python t.py --bs 8", "import modal\n", "? t.py:1 uses modal"),
	PLAIN("python t.py --bs 8", "import beaker\n", "? t.py:1 uses beaker"),
	/* The text of a job script in it; of its own head it is no submission.
	 */
	PLAIN("python t.py --bs 8",
	      "import os\nJOB = \"\"\"#!/bin/bash\n#SBATCH -N {n}\n\"\"\"\n"
	      "launcher = 'sbatch'\nos.system(f'{launcher} job.sh')\n",
	      "? t.py:2 uses sbatch"),
	PLAIN("python t.py --bs 8",
	      "#!/usr/bin/env python\n#SBATCH -N 1\nos.system('nvidia-smi')\n",
	      "8 x 1 x 1"),
	PLAIN("python t.py --bs 8", "JOB = '#SBATCH -N 1'\n", "8 x 1 x 1"),
	/* What is drawn from the model beside what trains it. */
	PLAIN("python t.py --config.train.batch_size=2 "
	      "--config.sample.batch_size=8",
	      NULL, "2 x 1 x 1"),
	/* Two numbers, of which one is the larger batch by its name. */
	PLAIN("python t.py",
	      "global_batch_size = 512\nmicro_batch_size = 8\n"
	      "accum = global_batch_size // micro_batch_size\n",
	      "? add --micro-flag t.py:2 --global-flag t.py:1"),
	/* What a decorator hands to a function is not known by its default. */
	PLAIN("python t.py",
	      "@bind(without_prefix=True)\ndef train(batch_size: int = 12):\n"
	      "    fit(DataLoader(ds, batch_size=batch_size))\ntrain()\n",
	      "? no batch size is found"),
	PLAIN("python t.py",
	      "@no_grad()\ndef draw(batch_size: int = 16):\n    pass\n"
	      "def train(batch_size: int = 12):\n    pass\ntrain()\n",
	      "12 x 1 x 1"),
	HINTED("python t.py",
	       "@bind(without_prefix=True)\ndef train(batch_size: int = 12):\n"
	       "    fit(DataLoader(ds, batch_size=batch_size))\ntrain()\n",
	       "12 x 1 x 1", .micro_flag = "t.py:2"),
	/* A batch of a config file that is divided by ranks and passes. */
	{ "torchrun --nproc-per-node 4 t.py a.yaml",
	  "micro = global_batch_size // (world_size * grad_accum_steps)\n",
	  "2 x 2 x 4",
	  "a.yaml",
	  "global_batch_size: 16\ngrad_accum_steps: 2\n",
	  { 0 } },
	{ "torchrun --nproc-per-node 4 t.py a.yaml",
	  "micro = global_batch_size // world_size\n",
	  "4 x 2 x 4",
	  "a.yaml",
	  "global_batch_size: 16\ngrad_accum_steps: 2\n",
	  { 0 } },
	/* What is an argument of a call that trains nothing. */
	PLAIN("python t.py",
	      "score = pipeline('sentiment', top_k=2, batch_size=256)\n",
	      "? no batch size is found"),
	PLAIN("python t.py",
	      "ds = ds.map(f, batched=True, batch_size=1000)\n"
	      "fit(DataLoader(ds, batch_size=8))\n",
	      "8 x 1 x 1"),
	PLAIN("python t.py --bs 8", "from xmanager import xm_local\n",
	      "? uses xmanager"),
	PLAIN("python t.py --bs 8",
	      "import modality, sky_model\nx = 'import sky'\n", "8 x 1 x 1"),
	PLAIN("python t.py --bs 8",
	      "if x:\n  subprocess.run(['sbatch', 'a.sh'])\n",
	      "? t.py:2 uses sbatch"),
	PLAIN("python t.py --bs 8", "os.system('srun python t.py')\n",
	      "? uses srun"),
	PLAIN("python t.py --bs 8",
	      "# subprocess.run(['sbatch'])\nprint('use sbatch')\n"
	      "subprocess.check_output(['scontrol', 'show'])\n",
	      "8 x 1 x 1"),
	PLAIN("python t.py --config=c/x.py",
	      "from ml_collections import config_flags\n"
	      "config_flags.DEFINE_config_file('config')\n",
	      "? no batch size"),
	/* An accumulation that the script computes. */
	PLAIN("python t.py --device-bs 8",
	      "n = 1\naccum_steps = total // (bs * 4)\n",
	      "? t.py:2 computes accum_steps"),
	PLAIN("python t.py --bs 8",
	      "  accumulate = max(round(nbs / total_bs), 1)\n",
	      "? t.py:1 computes accumulate"),
	PLAIN("python t.py --per_gpu_batchsize 8",
	      "n = config[\"batch_size\"] // (\n    config['gpu'] * gpus)\n"
	      "t = Trainer(accumulate_grad_batches=n, max_steps=5)\n",
	      "? t.py:1 computes accumulate_grad_batches"),
	PLAIN("python t.py --per_gpu_batchsize 8",
	      "n = config['a/b']\nt = Trainer(accumulate_grad_batches=n)\n",
	      "8 x 1 x 1"),
	PLAIN("python t.py --bs 8",
	      "# accum = a // b\naccum = 4 # a // b\n"
	      "x.accum_freq = args.n\nif accum == 3 / 1: pass\n",
	      "8 x 4 x 1"),
	PLAIN("python t.py --bs 8",
	      "p.add_argument('--total-bs', type=int, default=-1)\n"
	      "accum_steps = total // bs\n",
	      "? with --global-flag --total-bs, or, where it is always 1, add "
	      "--micro-flag --bs"),
	HINTED("python t.py --bs 8", "accum_steps = total // bs\n", "8 x 1 x 1",
	       .micro_flag = "--bs"),
	PLAIN("python t.py --device-bs 8 --total-bs 4096",
	      "p.add_argument('--device-bs', type=int)\n"
	      "p.add_argument('--total-bs', type=int, help='in tokens')\n",
	      "? --total-bs 4096 counts tokens"),
	/* No size of 0 is one to write. */
	PLAIN("python t.py --bs 0 --batch_size 0", NULL,
	      "? or write --bs {micro} for the number"),
	/* What the script computes, whatever the option says. */
	PLAIN("python t.py",
	      "import tyro\n@dataclass\nclass Args:\n    batch_size: int = 0\n"
	      "    n: int = 4\nargs = tyro.cli(Args)\n"
	      "args.batch_size = int(args.n * args.steps)\n",
	      "? t.py:7 computes batch_size, whatever --batch_size says"),
	PLAIN("python t.py --batch-size 8",
	      "p.add_argument('--batch-size', type=int)\n"
	      "args.batch_size = args.n * args.m\n",
	      "? t.py:2 computes batch_size"),
	PLAIN("python t.py --batch-size 8",
	      "args.batch_size = args.batch_size * 1\n"
	      "if args.debug:\n    args.batch_size = 2\n"
	      "args.batch_size == a * b\nargs.batch_size = 2 if a else 4\n",
	      "8 x 1 x 1"),
	PLAIN("python t.py --batch-size 8", "args.batch_size = 2\n",
	      "? t.py:1 sets batch_size to a number"),
	/* Ranks that the program starts itself. */
	PLAIN("python t.py --gpus 0,1, --batch_size 8",
	      "import pytorch_lightning\n", "8 x 1 x 2"),
	PLAIN("python t.py --gpus 0, --batch_size 8",
	      "import pytorch_lightning\n", "8 x 1 x 1"),
	PLAIN("python t.py --gpus=8 --batch=64 --batch-gpu=4",
	      "x = batch // num_gpus\ntorch.multiprocessing.spawn(f)\n",
	      "4 x 2 x 8"),
	PLAIN("python t.py --gpus 2 --batch_size 64", "mp.spawn(f, nprocs=2)\n",
	      "64 x 1 x 2"),
	PLAIN("python t.py --gpus 2 --batch_size 64", "DataParallel(x)\n",
	      "64 x 1 x 1"),
	PLAIN("python t.py trainer.devices=4 data.batch_size=64",
	      "import lightning as L\n", "64 x 1 x 4"),
	PLAIN("torchrun --nproc-per-node 2 t.py --gpus 4 --bs 8",
	      "mp.spawn(f)\n", "8 x 1 x 2"),
	/* -d is --devices; a number of nodes is none of ranks. */
	PLAIN("python t.py -d 8 -b 64",
	      "p.add_argument('-b', '--batch-size', type=int, help='total')\n"
	      "p.add_argument('-d', '--devices', type=int)\n"
	      "launch(main, args.devices)\n",
	      "8 x 1 x 8"),
	HINTED("python t.py --world-size 1 --batch-size 64",
	       "p.add_argument('--batch-size', type=int, help='total')\n"
	       "p.add_argument('--world-size', type=int, help='number of "
	       "nodes')\nmp.spawn(f, nprocs=torch.cuda.device_count())\n",
	       "16 x 1 x 4", .visible_devices = 4),
	HINTED("python t.py --batch-size 64", "mp.spawn(f)\n", "64 x 1 x 1",
	       .visible_devices = 4),
	/* Beside a script of a config file, and pairs that win over it. */
	FILED("python t.py --cfg a.yaml TRAIN.BATCH_SIZE 4", "x: 1",
	      "16 x 1 x 1"),
	{ "python t.py --cfg a.yaml NUM_GPUS 2 TRAIN.BATCH_SIZE 4",
	  "rows = int(cfg.TRAIN.BATCH_SIZE / max(1, cfg.NUM_GPUS))\n"
	  "cfg.merge_from_list(args.opts)\nmp.spawn(f)\n",
	  "2 x 1 x 2",
	  "a.yaml",
	  "NUM_GPUS: 8\nTRAIN:\n  BATCH_SIZE: 64\n",
	  { 0 } },
	{ "python t.py --cfg a.yaml --root data Train.batch_size 4 opt.name x",
	  "cfg.merge_from_list(args.opts)\n",
	  "4 x 1 x 1",
	  "a.yaml",
	  "Train:\n  batch_size: 64\n",
	  { 0 } },
	{ "python t.py --cfg a.yaml opt.name x Train.batch_size 4",
	  "parser.add_argument('opts', nargs=argparse.REMAINDER)\n",
	  "4 x 1 x 1",
	  "a.yaml",
	  "Train:\n  batch_size: 64\n",
	  { 0 } },
	{ "python t.py --cfg a.yaml",
	  "rows = int(cfg.TRAIN.BATCH_SIZE / max(1, cfg.NUM_GPUS))\n"
	  "cfg.merge_from_list(args.opts)\nmp.spawn(f)\n",
	  "8 x 1 x 8",
	  "a.yaml",
	  "NUM_GPUS: 8\nTRAIN:\n  BATCH_SIZE: 64\n",
	  { 0 } },
	/* A list of one number is that number; of two it is a schedule. */
	FILED("python t.py --config a.yaml", "accum_count: [10]",
	      "16 x 10 x 1"),
	FILED("python t.py --config a.yaml", "accum_count: [10, 20]",
	      "? accum_count"),
	/* A size that the script never reads is not its micro-batch. */
	PLAIN("torchrun --nproc-per-node 2 t.py --batch-size 8",
	      "p.add_argument('--batch-size', type=int, help='total')\n"
	      "p.add_argument('--bs_per_gpu', type=int, default=2)\n"
	      "rows = args.batch_size // world_size\n",
	      "4 x 1 x 2"),
	PLAIN("torchrun --nproc-per-node 2 t.py --batch-size 8",
	      "p.add_argument('--batch-size', type=int, help='total')\n"
	      "p.add_argument('--bs_per_gpu', type=int, default=2)\n"
	      "accum = args.batch_size // (args.bs_per_gpu * world_size)\n",
	      "2 x 2 x 2"),
	/* Several micro-batches, or one among words that nobody knows. */
	PLAIN("./t a.batch_size=64 actor.micro_batch_size=4 "
	      "critic.micro_batch_size=4",
	      NULL, "? actor.micro_batch_size"),
	PLAIN("./t data.batch_size=64 ppo.ppo_micro_batch_size_per_gpu=4", NULL,
	      "? ppo.ppo_micro_batch_size_per_gpu 4 speaks of a "
	      "micro-batch"),
	HINTED("./t data.batch_size=64 ppo.ppo_micro_batch_size_per_gpu=4",
	       NULL, "64 x 1 x 1", .micro_flag = "data.batch_size"),
	PLAIN("torchrun --nproc-per-node 2 t.py micro_batch_size_per_gpu=4",
	      "import hydra\nself.config.data.train_batch_size //= dp_size\n",
	      "? divides train_batch_size among its ranks"),
	/* A division over lines, and rows that an accumulation splits. */
	PLAIN("torchrun --nproc-per-node 2 t.py batch_size=64 accum=2",
	      "return cfg.batch_size // (\n    self.world_size\n"
	      "    * self.accumulate_grad_batches\n)\n",
	      "16 x 2 x 2"),
	PLAIN("python t.py --batch-size 64 --accum 4",
	      "rows = inputs.shape[0] // args.accum\n", "16 x 4 x 1"),
	PLAIN("python t.py --batch-size 64 --accum 4",
	      "steps = len(data) // args.accum\n", "64 x 4 x 1"),
	{ "python t.py --config a.yaml",
	  "rows = cfg['batch_size'] // cfg.accum_steps\n"
	  "rows = cfg.batch_size // cfg.accum_steps\n",
	  "16 x 4 x 1",
	  "a.yaml",
	  "batch_size: 64\naccum_steps: 4\n",
	  { 0 } },
	{ "python t.py --config a.yaml",
	  "loss = loss / cfg.accum_steps\n",
	  "64 x 4 x 1",
	  "a.yaml",
	  "batch_size: 64\naccum_steps: 4\n",
	  { 0 } },
	/* Help says what a name does not. */
	PLAIN("python t.py --N_rand 2048",
	      "p.add_argument('--N_rand', type=int, default=1024,\n"
	      "               help='batch size (number of random rays)')\n",
	      "2048 x 1 x 1"),
	PLAIN("python t.py --n 2048",
	      "p.add_argument('--n', type=int, default=1024,\n"
	      "               help='batch size of evaluation')\n",
	      "? no batch size"),
	PLAIN("python t.py --bs 8 --iter_size 4",
	      "p.add_argument('--bs', type=int, default=1)\n"
	      "p.add_argument('--iter_size', type=int, default=1,\n"
	      "               help='accumulate gradients for so many "
	      "passes')\n",
	      "8 x 4 x 1"),
	PLAIN("python t.py --bs 8",
	      "p.add_argument('--bs', type=int, default=1)\n"
	      "p.add_argument('--bucket', type=int, default=25, help='MB that "
	      "accumulate before gradients are sent')\n",
	      "8 x 1 x 1"),
	PLAIN("python t.py --bs 8 --iter_size 4",
	      "p.add_argument('--bs', type=int, default=1)\n"
	      "p.add_argument('--iter_size', type=int, default=1,\n"
	      "               help='accumulate losses, of which no gradient "
	      "is taken, for evaluation')\n",
	      "8 x 1 x 1"),
	/* With one pass too: the sizes that are tried have more of them. */
	PLAIN("torchrun --nproc_per_node=8 t.py --global-batch-size 256",
	      "p.add_argument('--global-batch-size', type=int, default=64)\n"
	      "p.add_argument('--gradient-accumulation-steps', type=int, "
	      "default=1)\n",
	      "? does --global-batch-size 256 count the micro-batches of "
	      "--gradient-accumulation-steps too"),
	/* Parameters of the function that is handed to jsonargparse. */
	PLAIN("python t.py --lr 1",
	      "from jsonargparse import CLI\n"
	      "def main(lr: float = 1, batch_size: int = 256):\n    pass\n"
	      "CLI(main, as_positional=False)\n",
	      "256 x 1 x 1"),
	/* Nothing is trained: by a switch of absl, by a mode in one letter. */
	PLAIN("python t.py --eval",
	      "flags.DEFINE_bool('eval', False, help='evaluate')\n"
	      "flags.DEFINE_integer('batch_size', 128, help='batch size')\n",
	      "? --eval says that the command evaluates"),
	PLAIN("python t.py -m evaluate --batch_size 8",
	      "p.add_argument('-m', '--mode')\n",
	      "? -m says that the command evaluates"),
	PLAIN("python t.py -m train --batch_size 8",
	      "p.add_argument('-m', '--mode')\n", "8 x 1 x 1"),
	/* A module beside the script has its parser, or divides its batch. */
	{ "python d/t.py --lr 1",
	  "from options import Options\nopts = Options().parse()\n",
	  "12 x 1 x 1",
	  "d/options.py",
	  "p.add_argument('--batch_size', type=int, default=12)\n",
	  { 0 } },
	{ "torchrun --nproc-per-node 4 -m a.t --batch-size 64",
	  "import os\nfrom a.exp import load\n",
	  "16 x 1 x 4",
	  "a/exp.py",
	  "rows = batch_size // dist.get_world_size()\n",
	  { 0 } },
	/* What was looked at, and what comes near, in the user's own words. */
	PLAIN("python t.py --disc_batch_size 8", NULL,
	      "? among the arguments of t.py: if it is --disc_batch_size 8, "
	      "add "
	      "--micro-flag --disc_batch_size; else write {micro}"),
	FILED("python t.py --lr 1 -c b.yaml --data x.json", "y: 1",
	      "? arguments of t.py (not read: b.yaml, x.json): write {micro}"),
	{ "python t.py --base a.yaml",
	  NULL,
	  "? arguments of t.py, nor in a.yaml: write {micro}",
	  "a.yaml",
	  "lr: 1\n",
	  { 0 } },
	PLAIN("./t -b 8", NULL, "? add --micro-flag -b or write -b {micro:8}"),
	HINTED("./t -b 8", NULL, "8 x 1 x 1", .micro_flag = "-b"),
	PLAIN("./t bs=8 batch=4", NULL,
	      "? --micro-flag bs or --micro-flag batch (with --global-flag and "
	      "the other, if that is the effective batch), or write "
	      "bs={micro:8}"),
	HINTED("./t bs=8 batch=4", NULL, "4 x 2 x 1", .micro_flag = "batch",
	       .global_flag = "bs"),
	PLAIN("./t bs={micro:8} batch=4", NULL, "8 x 1 x 1"),
};

static const struct reading flagged = {
	.command = "python t.py --config=c/x.py",
	.source = "from ml_collections import config_flags\n"
		  "config_flags.DEFINE_config_file('config')\n",
	.expected = "128 x 1 x 1",
	.path = "c/x.py",
	.text = "import ml_collections\n\n"
		"def get_config():\n"
		"  config = ml_collections.ConfigDict()\n"
		"  config.batch_size = 128\n"
		"  config.eval_batch_size = 8\n"
		"  return config\n",
};

/* Spellings of an accumulation that the script's own parser declares. */
static const char *const accumulations[] = {
	"--grad-accumulation",
	"--ga_steps",
	"--grad_accumulation_steps",
	"--accumulate",
	"--acc_steps",
	"--grad-acc-steps",
	"--accum-grad-batches",
	"--grad_accum_every",
	"--batches-per-step",
	"--batches-per-allreduce",
	"--gradient-accumulate",
	"--accumulation-iters",
	"--iters_to_accumulate",
	"--n_accum",
	"--gradacc",
	"--accumulate_every",
	"--micro-steps",
	"--backward-passes-per-step",
	"--accum_factor",
	"--batches_per_update",
	"--grad_accu_steps",
	"--optim.accumulation",
	"--gacc",
	"--accumulated-batches",
	"--num_accumulation_steps",
};

/* As it is expected to be told. */
static char *read_as(const struct reading *row, const struct presets *presets)
{
	struct strlist argv = words(row->command);
	struct error err = ERROR_INIT;
	struct command command;
	char *text;

	if (sample_recognise(&command, &argv,
			     &(struct sample){ .presets = presets,
					       .hints = &row->hints,
					       .source = row->source,
					       .path = row->path,
					       .text = row->text },
			     &err) == COMMAND_OK)
		text = xasprintf("%lld x %lld x %lld",
				 (long long)command.batch.micro_batch,
				 (long long)command.batch.grad_accum,
				 (long long)command.batch.world_size);
	else
		text = xasprintf("? %s", err.message);
	command_release(&command);
	strlist_release(&argv);
	return text;
}

static void test_words_are_read(void **state)
{
	size_t wrong = 0;

	for (size_t i = 0; i < sizeof(readings) / sizeof(*readings); i++) {
		const struct reading *row = &readings[i];
		char *text = read_as(row, *state);
		bool is_message = *row->expected == '?';

		if (is_message
			    ? *text != '?' || !strstr(text, row->expected + 2)
			    : strcmp(text, row->expected) != 0) {
			print_error("%s: %s, not %s\n", row->command, text,
				    row->expected);
			wrong++;
		}
		free(text);
	}
	assert_int_equal(wrong, 0);
}

static void test_accumulations_are_read(void **state)
{
	size_t count = sizeof(accumulations) / sizeof(*accumulations);

	assert_true(count >= 25);
	for (size_t i = 0; i < count; i++) {
		char *source =
			xasprintf(PARSER_OF("%s", "4"), accumulations[i]);
		char *given = xasprintf("python t.py %s 2", accumulations[i]);
		struct reading row = { .command = "python t.py",
				       .source = source };
		char *text = read_as(&row, *state);

		assert_string_equal(text, "8 x 4 x 1");
		free(text);
		row.command = given;
		text = read_as(&row, *state);
		assert_string_equal(text, "8 x 2 x 1");
		free(text);
		free(given);
		free(source);
	}
}

/* A number inside of its function is changed by --config.batch_size=8. */
static void test_config_flags_are_options(void **state)
{
	char *text = read_as(&flagged, *state);

	assert_string_equal(text, "128 x 1 x 1");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_config_flags_are_options),
		cmocka_unit_test(test_words_are_read),
		cmocka_unit_test(test_accumulations_are_read),
	};

	return cmocka_run_group_tests(tests, load, unload);
}
