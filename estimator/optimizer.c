/* The optimizers: bytes of their states per parameter that is trained. Pure. */
/* SPDX-License-Identifier: MIT */
#include "estimator/estimator.h"

#include <strings.h>

/*
 * States in 32 bits are 4 bytes each; torch gives a state the type of its
 * parameter, so they halve in 16-bit training (follows_dtype). Block-wise 8-bit
 * states carry a 32-bit scale for 256 values, 4-bit ones for 128
 * (bitsandbytes@95f9af30:functional.py, torchao@36027d82:torchao/optim).
 * "foreach" is torch's default on GPUs and holds one more copy of the
 * parameters in a step (torch/optim/optimizer.py: "~ sizeof(params) more peak
 * memory"); kernels of bitsandbytes and torchao do not.
 */
#define SCALE_8_BIT (4.0 / 256)
#define SCALE_4_BIT (4.0 / 128)
#define EIGHT_BIT(states) ((states) * (1.0 + SCALE_8_BIT))
#define FOUR_BIT(states) ((states) * (0.5 + SCALE_4_BIT))

#define TORCH(title, bytes, from)                                              \
	{                                                                      \
		.name = (title), .state_bytes = (bytes), .source = (from),     \
		.follows_dtype = true, .has_temporary = true,                  \
		.keeps_gradients = true                                        \
	}
/* States as wide as the parameters, a kernel of its own. */
#define KERNEL(title, bytes, from)                                             \
	{                                                                      \
		.name = (title), .state_bytes = (bytes), .source = (from),     \
		.follows_dtype = true, .keeps_gradients = true                 \
	}
#define QUANTISED(title, bytes, from)                                          \
	{                                                                      \
		.name = (title), .state_bytes = (bytes), .source = (from),     \
		.keeps_gradients = true                                        \
	}

/* Names that are written alike stand side by side. */
const struct optimizer optimizer_rows[] = {
	TORCH("adamw", 8, "m and v; Kingma, Ba 1412.6980"),
	TORCH("adam", 8, "m and v"),
	TORCH("adamw_torch", 8, "--optim of transformers"),
	KERNEL("adamw_fused", 8, "torch, fused=True: no temporary"),
	KERNEL("adamw_torch_fused", 8, "--optim of transformers"),
	TORCH("nadam", 8, "m and v"),
	TORCH("radam", 8, "m and v"),
	TORCH("amsgrad", 12, "m, v and the largest v"),
	TORCH("adagrad", 4, "sum of squares"),
	TORCH("rmsprop", 4, "mean of squares"),
	TORCH("rmsprop_momentum", 8, "mean of squares, momentum"),
	TORCH("rmsprop_centered", 8, "mean of squares, mean"),
	TORCH("sgd", 0, "no state"),
	TORCH("sgd_momentum", 4, "momentum"),
	TORCH("lamb", 8, "m and v"),
	TORCH("lars", 4, "momentum"),
	TORCH("lion", 4, "momentum; 2302.06675"),
	TORCH("sophia", 8, "m and h; 2305.14342"),
	TORCH("adam_mini", 4, "m, and v per block; 2406.16793"),
	TORCH("muon", 4, "momentum of matrices; Adam's for the others"),
	/* 4(n+m)/(nm) of an n x m matrix: nothing beside the rest. */
	KERNEL("adafactor", 0.004, "rows and columns; 1804.04235"),
	KERNEL("adafactor_momentum", 4.004, "rows, columns, momentum"),
	KERNEL("came", 4.008, "as Adafactor, and momentum; 2307.02047"),
	QUANTISED("adamw_8bit", EIGHT_BIT(2.0), "bitsandbytes, torchao"),
	QUANTISED("paged_adamw_8bit", EIGHT_BIT(2.0),
		  "bitsandbytes; goes to the host under pressure"),
	QUANTISED("adamw_bnb_8bit", EIGHT_BIT(2.0), "--optim of transformers"),
	KERNEL("paged_adamw", 8, "bitsandbytes, 32 bits"),
	KERNEL("paged_adamw_32bit", 8, "--optim of transformers"),
	QUANTISED("adamw_fp8", EIGHT_BIT(2.0), "torchao"),
	QUANTISED("adamw_4bit", FOUR_BIT(2.0), "torchao"),
	QUANTISED("lion_8bit", EIGHT_BIT(1.0), "bitsandbytes"),
	QUANTISED("sgd_momentum_8bit", EIGHT_BIT(1.0), "bitsandbytes"),
	/* 4(n^2+m^2) of statistics and as much of roots per n x m block: as
	 * much as four copies of square matrices. */
	TORCH("shampoo", 24, "m, v, statistics, roots; 1802.09568"),
	TORCH("soap", 24, "m, v, statistics, bases; 2409.11321"),
	/* At rank 128 and width 4096: a 16th, and the projector a 32th. */
	TORCH("galore", 0.375, "states of the projection; 2403.03507"),
	TORCH("apollo", 0.375, "as GaLore; 2412.05270"),
	{ .name = "lomo", .source = "no state, no gradient; 2306.09782" },
	{ .name = "adalomo",
	  .state_bytes = 0.004,
	  .source = "as Adafactor, no gradient; 2310.10195" },
	{ .name = "mezo", .source = "forward passes only; 2305.17333" },
	{ .name = NULL },
};

const struct optimizer *optimizer_find(const char *name)
{
	const struct optimizer *row = optimizer_rows;

	while (row->name && strcasecmp(row->name, name) != 0)
		row++;
	return row->name ? row : NULL;
}
