/* Transformers that make images, in config.json of diffusers. */
/* SPDX-License-Identifier: MIT */
/*
 * From huggingface/diffusers: models/transformers, transformer_flux.py,
 * transformer_sd3.py, pixart_transformer_2d.py and dit_transformer_2d.py, and
 * models/attention.py. The totals are those of the classes; what is kept was
 * derived from the forward passes, and is within 0.5% of what
 * saved_tensors_hooks count.
 */
#include "configs/models/config/model_diffusers_reading.h"

/* Words of a prompt: T5's as Flux takes them; CLIP's and T5's of Stable
 * Diffusion 3; PixArt's. */
#define LONG_PROMPT 512
#define SD3_PROMPT 333
#define PIXART_PROMPT 120

static void check_width(struct diffusers_reading *reading, int64_t width)
{
	if (width > DIFFUSERS_MOST)
		diffusers_fail(reading, "attention_head_dim x "
					"num_attention_heads");
}

/* An MLP four times as wide. */
static int64_t mlp_size(int64_t width)
{
	return diffusers_matrix(width, 4 * width) +
	       diffusers_matrix(4 * width, width);
}

/* The time, and the same for another embedding of so many numbers. */
static int64_t embedding_size(int64_t in, int64_t width)
{
	return diffusers_matrix(in, width) + diffusers_matrix(width, width);
}

/*
 * Blocks of two streams, image and text, then of one. Of a token and in widths
 * they keep 28 and 25: what both norms were given and made and what was made of
 * that, q and k before and behind their norms and with positions, v, what came
 * of attention, the MLP's four times two (one stream: four and five).
 */
int diffusers_read_flux(struct diffusers_reading *reading,
			struct model_facts *facts)
{
	int64_t two = diffusers_number(reading, "num_layers", 19);
	int64_t one = diffusers_number(reading, "num_single_layers", 38);
	int64_t head = diffusers_number(reading, "attention_head_dim", 128);
	int64_t heads = diffusers_number(reading, "num_attention_heads", 24);
	int64_t text = diffusers_number(reading, "joint_attention_dim", 4096);
	int64_t pooled =
		diffusers_number(reading, "pooled_projection_dim", 768);
	int64_t in = diffusers_number(reading, "in_channels", 64);
	int64_t out = diffusers_number(reading, "out_channels", in);
	bool is_guided =
		json_is_true(json_object_get(reading->root, "guidance_embeds"));
	int64_t width = head * heads, square = diffusers_matrix(width, width);
	int64_t block = 2 * diffusers_matrix(width, 6 * width) + 8 * square +
			4 * head +
			2 * (diffusers_matrix(width, 4 * width) +
			     diffusers_matrix(4 * width, width));
	int64_t single = diffusers_matrix(width, 3 * width) +
			 diffusers_matrix(width, 4 * width) +
			 diffusers_matrix(5 * width, width) + 3 * square +
			 2 * head;
	int64_t side = 1024 / (2 * DIFFUSERS_LATENT);

	check_width(reading, width);
	facts->image = 1024;
	facts->parameters =
		two * block + one * single +
		(is_guided ? 2 : 1) * (diffusers_matrix(256, width) + square) +
		diffusers_matrix(pooled, width) + square +
		diffusers_matrix(text, width) + diffusers_matrix(in, width) +
		diffusers_matrix(width, 2 * width) +
		diffusers_matrix(width, out);
	facts->adapted = (16 * two + 6 * one) * width;
	facts->activations =
		(side * side + LONG_PROMPT) * width * (28 * two + 25 * one);
	return 0;
}

/* Each block has its own embedding of time and class. Of a token it keeps 20
 * widths: 3 of each norm, q, k, v, what came of attention and of its matrix,
 * the MLP's four times two and what came of it. */
int diffusers_read_dit(struct diffusers_reading *reading,
		       struct model_facts *facts)
{
	int64_t layers = diffusers_number(reading, "num_layers", 28);
	int64_t width = diffusers_number(reading, "num_attention_heads", 16) *
			diffusers_number(reading, "attention_head_dim", 72);
	int64_t in = diffusers_number(reading, "in_channels", 4);
	int64_t out = diffusers_number(reading, "out_channels", in);
	int64_t latents = diffusers_number(reading, "sample_size", 32);
	int64_t patch = diffusers_number(reading, "patch_size", 2);
	int64_t classes =
		diffusers_number(reading, "num_embeds_ada_norm", 1000);
	int64_t square = diffusers_matrix(width, width), side = latents / patch;
	int64_t block = diffusers_matrix(256, width) + square +
			(classes + 1) * width +
			diffusers_matrix(width, 6 * width) + 4 * square +
			diffusers_matrix(width, 4 * width) +
			diffusers_matrix(4 * width, width);

	check_width(reading, width);
	facts->image = latents * DIFFUSERS_LATENT;
	facts->parameters = layers * block +
			    diffusers_matrix(in * patch * patch, width) +
			    diffusers_matrix(width, 2 * width) +
			    diffusers_matrix(width, patch * patch * out);
	facts->adapted = 8 * width * layers;
	facts->activations = side * side * width * 20 * layers;
	return 0;
}

/*
 * Both streams in every block; the last one does not go on with the text. Of a
 * token and in widths a block keeps 21, where q and k are normed 8 more, and
 * with a second attention of the image 14 more.
 */
int diffusers_read_sd3(struct diffusers_reading *reading,
		       struct model_facts *facts)
{
	int64_t layers = diffusers_number(reading, "num_layers", 18);
	int64_t head = diffusers_number(reading, "attention_head_dim", 64);
	int64_t heads = diffusers_number(reading, "num_attention_heads", 18);
	int64_t text = diffusers_number(reading, "joint_attention_dim", 4096);
	int64_t pooled =
		diffusers_number(reading, "pooled_projection_dim", 2048);
	int64_t in = diffusers_number(reading, "in_channels", 16);
	int64_t out = diffusers_number(reading, "out_channels", in);
	int64_t latents = diffusers_number(reading, "sample_size", 128);
	int64_t patch = diffusers_number(reading, "patch_size", 2);
	int64_t twice = (int64_t)json_array_size(
		json_object_get(reading->root, "dual_attention_layers"));
	bool is_normed =
		json_is_string(json_object_get(reading->root, "qk_norm"));
	int64_t norms = is_normed ? head : 0;
	int64_t width = head * heads, square = diffusers_matrix(width, width);
	int64_t modulated = diffusers_matrix(width, 6 * width);
	int64_t block =
		2 * modulated + 8 * square + 4 * norms + 2 * mlp_size(width);
	/* No output, no MLP, and two numbers in the place of six. */
	int64_t missing = modulated - diffusers_matrix(width, 2 * width) +
			  square + mlp_size(width);
	int64_t second = 3 * (width * width + width) + 4 * square + 2 * norms;
	int64_t side = latents / patch, tokens = side * side;
	int64_t each = is_normed ? 29 : 21;

	check_width(reading, width);
	facts->image = latents * DIFFUSERS_LATENT;
	facts->parameters = layers * block - missing + twice * second +
			    diffusers_matrix(in * patch * patch, width) +
			    embedding_size(256, width) +
			    embedding_size(pooled, width) +
			    diffusers_matrix(text, width) +
			    diffusers_matrix(width, 2 * width) +
			    diffusers_matrix(width, patch * patch * out);
	facts->adapted = (16 * layers - 2 + 8 * twice) * width;
	facts->activations = width * (each * layers * (tokens + SD3_PROMPT) +
				      tokens * (14 * twice + 3));
	return 0;
}

/*
 * One table of scales for all blocks, each adds its own; attention to the
 * image, then to the text. Of a token and in widths a block keeps 23, of a
 * word 2.
 */
int diffusers_read_pixart(struct diffusers_reading *reading,
			  struct model_facts *facts)
{
	int64_t layers = diffusers_number(reading, "num_layers", 28);
	int64_t width = diffusers_number(reading, "num_attention_heads", 16) *
			diffusers_number(reading, "attention_head_dim", 72);
	int64_t cross = diffusers_number(reading, "cross_attention_dim", 1152);
	int64_t text = diffusers_number(reading, "caption_channels", 4096);
	int64_t in = diffusers_number(reading, "in_channels", 4);
	int64_t out = diffusers_number(reading, "out_channels", 8);
	int64_t latents = diffusers_number(reading, "sample_size", 128);
	int64_t patch = diffusers_number(reading, "patch_size", 2);
	const json_t *sized =
		json_object_get(reading->root, "use_additional_conditions");
	/* Embeddings of the image's size and shape. */
	bool has_sizes =
		json_is_boolean(sized) ? json_is_true(sized) : latents == 128;
	int64_t square = diffusers_matrix(width, width);
	int64_t block = 6 * square + 2 * diffusers_matrix(cross, width) +
			mlp_size(width) + 6 * width;
	int64_t side = latents / patch, tokens = side * side;

	check_width(reading, width);
	facts->image = latents * DIFFUSERS_LATENT;
	facts->parameters =
		layers * block + diffusers_matrix(in * patch * patch, width) +
		embedding_size(256, width) +
		(has_sizes ? 2 * embedding_size(256, width / 3) : 0) +
		diffusers_matrix(width, 6 * width) +
		embedding_size(text, width) + 2 * width +
		diffusers_matrix(width, patch * patch * out);
	facts->adapted = layers * (14 * width + 2 * cross);
	facts->activations = width * (tokens * (23 * layers + 5) +
				      2 * layers * PIXART_PROMPT);
	return 0;
}
