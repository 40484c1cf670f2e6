/* What frameworks call the files that they save and resume from. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_PROBES_ISOLATION_COMPARE_CHECKPOINTS_H
#define AUTOFIT_PROBES_ISOLATION_COMPARE_CHECKPOINTS_H

#include "probes/isolation/compare/snapshot.h"

/*
 * A file or folder that a training would resume from or overwrite: *.pt,
 * *.pth, *.ckpt, *.safetensors, checkpoint-*, pytorch_model*.bin, ... The first
 * by path, or NULL. Valid until the snapshot is freed.
 */
const char *snapshot_checkpoint(const struct snapshot *snapshot);

#endif
