/* What frameworks call the files that they save and resume from. */
/* SPDX-License-Identifier: MIT */
#include "probes/isolation/compare/checkpoints.h"

#include <fnmatch.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>

/* Names that frameworks give to what they save and resume from. */
static const char *const checkpoints[] = {
	"*.pt",
	"*.pth",
	"*.ckpt",
	"*.safetensors",
	"*.distcp",
	"*.pt.tar",
	"*.pth.tar",
	"*.ckpt.index",
	"*.ckpt-[0-9]*",
	"*.keras",
	"*.weights.h5",
	"pytorch_model*.bin",
	"adapter_model*.bin",
	"model-[0-9]*-of-[0-9]*.bin",
	"optimizer*.bin",
	"checkpoint-*",
	"checkpoint_[0-9]*",
	"checkpoint_last*",
	"checkpoint_best*",
	"ckpt-[0-9]*",
	"ckpt_[0-9]*",
	"global_step[0-9]*",
	"iter_[0-9][0-9][0-9]*",
	"latest_checkpointed_iteration.txt",
	"trainer_state.json",
	"*.orbax-checkpoint*",
};

/* Below these, such names are other things: .pth files of site-packages. */
static const char *const elsewhere[] = {
	"/site-packages/", "/dist-packages/", "/.git/",
	"/node_modules/",  "/__pycache__/",
};

/* Is the path, of a file or folder with this mode, a checkpoint's? */
static bool checkpoint_is_named(const char *path, mode_t mode)
{
	const char *name = basename(path);

	for (size_t i = 0; i < sizeof(elsewhere) / sizeof(*elsewhere); i++)
		if (strstr(path, elsewhere[i]))
			return false;
	/* TensorFlow's list of them; a folder may hold source code. */
	if (S_ISREG(mode) && strcmp(name, "checkpoint") == 0)
		return true;
	for (size_t i = 0; i < sizeof(checkpoints) / sizeof(*checkpoints); i++)
		if (fnmatch(checkpoints[i], name, FNM_CASEFOLD) == 0)
			return true;
	return false;
}

const char *snapshot_checkpoint(const struct snapshot *snapshot)
{
	struct snapshot_file file;

	for (size_t i = 0; snapshot_file_at(snapshot, i, &file); i++)
		if (checkpoint_is_named(file.path, (mode_t)file.mode))
			return file.path;
	return NULL;
}
