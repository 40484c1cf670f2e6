/* Which commands of a script train, and which only prepare. Pure. */
/* SPDX-License-Identifier: MIT */
#include "launcher/command/shell/shell_rank.h"

#include "base/match.h"
#include "launcher/command/text/argument.h"
#include "launcher/command/text/option_class.h"

#include <string.h>

/* Behind so many options no program begins. */
#define WRAPPER_WORDS_MAX 64

/* They prepare, look or clean up, and never train. */
static const char *const helpers[] = {
	".",          ":",         "[",        "[[",       "alias",
	"apt",        "apt-get",   "awk",      "aws",      "basename",
	"bc",         "break",     "cat",      "cd",       "chmod",
	"chown",      "clear",     "continue", "cp",       "curl",
	"cut",        "date",      "declare",  "df",       "dirname",
	"du",         "echo",      "exit",     "export",   "expr",
	"false",      "find",      "free",     "getopts",  "git",
	"grep",       "gsutil",    "gunzip",   "gzip",     "hash",
	"head",       "help",      "hf",       "hostname", "huggingface-cli",
	"id",         "install",   "kill",     "killall",  "let",
	"ln",         "local",     "ls",       "lscpu",    "lsof",
	"mapfile",    "md5sum",    "mkdir",    "mktemp",   "ml",
	"module",     "mount",     "mv",       "nproc",    "nvcc",
	"nvidia-smi", "pip",       "pip3",     "pkill",    "popd",
	"printenv",   "printf",    "ps",       "pushd",    "pwd",
	"read",       "readarray", "readlink", "readonly", "realpath",
	"return",     "rm",        "rmdir",    "rocm-smi", "rsync",
	"sacct",      "scancel",   "scontrol", "scp",      "sed",
	"seq",        "set",       "shift",    "shopt",    "sinfo",
	"sleep",      "sort",      "source",   "squeue",   "stat",
	"sync",       "tail",      "tar",      "tee",      "tensorboard",
	"test",       "times",     "touch",    "tr",       "trap",
	"true",       "ts",        "type",     "typeset",  "ulimit",
	"umask",      "unalias",   "uname",    "uniq",     "unset",
	"unzip",      "wait",      "wc",       "wget",     "which",
	"whoami",     "xz",        "zip",      NULL,
};

/* They start the program that is among their words. */
static const char *const wrappers[] = {
	"chrt",     "env",      "horovodrun", "ionice",  "jsrun", "mpirun",
	"mpiexec",  "nice",     "nohup",      "numactl", "nsys",  "setsid",
	"srun",     "stdbuf",   "sudo",       "taskset", "time",  "timeout",
	"unbuffer", "xvfb-run", NULL,
};

/* A program, and the words of which one must follow; NULL: any. */
struct trainer {
	const char *name;
	const char *words[8];
};

static const struct trainer trainers[] = {
	{ "torchrun", { NULL } },
	{ "deepspeed", { NULL } },
	{ "colossalai", { "run", NULL } },
	{ "composer", { NULL } },
	{ "accelerate", { "launch", NULL } },
	{ "fabric", { "run", NULL } },
	{ "lightning", { "run", NULL } },
	{ "uv", { "run", NULL } },
	{ "poetry", { "run", NULL } },
	{ "pdm", { "run", NULL } },
	{ "hatch", { "run", NULL } },
	{ "pixi", { "run", NULL } },
	{ "conda", { "run", NULL } },
	{ "mamba", { "run", NULL } },
	{ "micromamba", { "run", NULL } },
	{ "docker", { "run", "exec", NULL } },
	{ "podman", { "run", "exec", NULL } },
	{ "apptainer", { "run", "exec", NULL } },
	{ "singularity", { "run", "exec", NULL } },
	{ "tune", { "run", NULL } },
	{ "ray", { "job", NULL } },
	{ "axolotl", { "train", NULL } },
	{ "llamafactory-cli", { "train", NULL } },
	{ "lmf", { "train", NULL } },
	{ "trl", { "sft", "dpo", "grpo", "rloo", "kto", "reward", NULL } },
	{ "litgpt",
	  { "pretrain", "finetune", "finetune_full", "finetune_lora",
	    "finetune_adapter", "finetune_adapter_v2", NULL } },
	{ "yolo", { NULL } },
	{ "fairseq-train", { NULL } },
	{ "fairseq-hydra-train", { NULL } },
	{ "ns-train", { NULL } },
	{ NULL, { NULL } },
};

/* python -m of these trains nothing. */
static const char *const modules[] = {
	"pip",
	"venv",
	"ensurepip",
	"site",
	"torch.utils.collect_env",
	"nltk.downloader",
	NULL,
};

static const char *rank_word_at(const struct shell_fields *fields, size_t index)
{
	return index < fields->count ? fields->items[index].text : "";
}

/* What the option at an argument of python makes of it. */
static enum shell_rank rank_option(const struct shell_fields *fields, size_t at)
{
	const char *text = fields->items[at].text;
	char last = text[strlen(text) - 1];

	if (strcmp(text, "--version") == 0 || strcmp(text, "-V") == 0 ||
	    (last == 'm' &&
	     text_is_listed(modules, rank_word_at(fields, at + 1))))
		return SHELL_NOTHING;
	return text[1] != '-' && last == 'm' ? SHELL_TRAINING : SHELL_PROGRAM;
}

/* python script.py trains; -c, -V and standard input look something up. */
static enum shell_rank rank_python(const struct shell_fields *fields, size_t at)
{
	for (at++; at < fields->count; at++) {
		const char *text = fields->items[at].text;
		size_t length = strlen(text);

		if (strcmp(text, "-") == 0)
			return SHELL_PROGRAM;
		if (text[0] != '-')
			return SHELL_TRAINING;
		if (strcmp(text, "--version") == 0 ||
		    (text[1] != '-' && strchr("cmV", text[length - 1])))
			return rank_option(fields, at);
		if (strcmp(text, "-X") == 0 || strcmp(text, "-W") == 0)
			at++;
	}
	return SHELL_PROGRAM;
}

static enum shell_rank rank_one(const struct shell_fields *fields, size_t at)
{
	const char *name = basename(rank_word_at(fields, at));
	const struct trainer *trainer = trainers;

	if (argument_is_python(name))
		return rank_python(fields, at);
	if (text_is_listed(helpers, name))
		return SHELL_NOTHING;
	while (trainer->name && strcmp(trainer->name, name) != 0)
		trainer++;
	if (!trainer->name)
		return SHELL_PROGRAM;
	return !trainer->words[0] ||
			       text_is_listed(trainer->words,
					      rank_word_at(fields, at + 1))
		       ? SHELL_TRAINING
		       : SHELL_NOTHING;
}

enum shell_rank shell_rank(const struct shell_fields *fields, size_t inner)
{
	if (!text_is_listed(wrappers, basename(rank_word_at(fields, inner))))
		return rank_one(fields, inner);
	for (size_t i = inner + 1;
	     i < fields->count && i < inner + WRAPPER_WORDS_MAX; i++)
		if (rank_one(fields, i) == SHELL_TRAINING)
			return SHELL_TRAINING;
	return SHELL_PROGRAM;
}

/* --batch-size and --batch-size=8; trainer.batch_size=8. */
bool shell_says_size(const struct shell_fields *fields, size_t inner)
{
	for (size_t i = inner + 1; i < fields->count; i++) {
		const char *text = fields->items[i].text;
		size_t length = strcspn(text, "=");
		enum option_class class;

		if (*text != '-' && text[length] == '\0')
			continue;
		class = option_class_of(text, length);
		if (class > OPTION_DECOY && class < OPTION_BATCH_LIKE)
			return true;
	}
	return false;
}
