/* Options of `autofit estimate` as other programs write them. */
/* SPDX-License-Identifier: MIT */
#include "launcher/options/options_words.h"

#include <stddef.h>

/*
 * utils/memory_calculator.py of LatentWire, estimate_memory.py of AGI2 and its
 * function, the configuration of nanoGPT-like models.
 */
const struct option_alias option_aliases[] = {
	{ "model_size_gb", "model-size", NULL },
	{ "gpu_memory_gb", "gpu-memory", NULL },
	{ "num_gpus", "num-gpus", NULL },
	{ "model-embd", "hidden", NULL },
	{ "model_embd", "hidden", NULL },
	{ "model-layer", "layers", NULL },
	{ "model_layer", "layers", NULL },
	{ "model-head", "heads", NULL },
	{ "model_head", "heads", NULL },
	{ "model-positions", "positions", NULL },
	{ "model_positions", "positions", NULL },
	{ "n_embd", "hidden", NULL },
	{ "n_layer", "layers", NULL },
	{ "n_head", "heads", NULL },
	{ "batch-size", "batch", NULL },
	{ "batch_size", "batch", NULL },
	{ "seq-len", "sequence", NULL },
	{ "seq_len", "sequence", NULL },
	{ "block_size", "sequence", NULL },
	{ "mixed-precision", "precision", "bf16" },
	{ NULL, NULL, NULL },
};
