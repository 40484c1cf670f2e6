/* Diffusion models in config.json of Hugging Face's diffusers. */
/* SPDX-License-Identifier: MIT */
/*
 * From huggingface/diffusers: models/unets/unet_2d_condition.py; transformers
 * are in model_diffusers_dit.c. The totals are those of the classes; what is
 * kept was derived from the forward passes, and is within 0.5% of what
 * saved_tensors_hooks count.
 */
#include "configs/models/config/model_diffusers.h"

#include "configs/models/config/model_diffusers_reading.h"

#include <errno.h>
#include <string.h>

#define BLOCKS_MAX 8
#define BLOCK_LAYERS_MAX 10
#define DEPTH_MAX 100
#define SIDE_MAX 4096
/* Words of a prompt: CLIP's. */
#define PROMPT 77

/* A UNet: going down, in the middle, going up. */
struct unet {
	int64_t widths[BLOCKS_MAX], depths[BLOCKS_MAX];
	bool attends_down[BLOCKS_MAX], attends_up[BLOCKS_MAX];
	size_t count;
	int64_t layers, cross, in, out, side, added;
};

struct unet_walk {
	const struct unet *unet;
	int64_t parameters, kept, adapted;
	int64_t pixels; /* latents, here */
	int64_t time;   /* width of the embedding of the time */
	int64_t width;
	/* What goes over to the way up. */
	int64_t skips[BLOCKS_MAX * (BLOCK_LAYERS_MAX + 1) + 1];
	size_t skip_count;
};

/* Two convolutions of three by three, each behind a norm and SiLU, the time
 * between them; a convolution beside them where the width differs. */
static void unet_add_resnet(struct unet_walk *walk, int64_t in, int64_t out)
{
	walk->parameters += 2 * in + diffusers_matrix(9 * in, out) +
			    diffusers_matrix(walk->time, out) + 2 * out +
			    diffusers_matrix(9 * out, out);
	if (in != out)
		walk->parameters += diffusers_matrix(in, out);
	walk->kept += walk->pixels * (2 * in + 3 * out);
	walk->width = out;
}

/* What the next layer reads. */
static void keep_result(struct unet_walk *walk)
{
	walk->kept += walk->pixels * walk->width;
}

/* Attention to itself, to the prompt, a gated MLP: 28 widths of a pixel. */
static void unet_add_attention(struct unet_walk *walk, int64_t depth)
{
	int64_t width = walk->width, square = width * width;
	int64_t block = 6 * width + 4 * square + width + 2 * square +
			2 * walk->unet->cross * width + width +
			diffusers_matrix(width, 8 * width) +
			diffusers_matrix(4 * width, width);

	walk->parameters += 2 * width + 2 * (square + width) + depth * block;
	/* Queries, keys, values and outputs, of both. */
	walk->adapted += depth * (14 * width + 2 * walk->unet->cross);
	walk->kept += walk->pixels * width * (2 + 28 * depth) +
		      depth * PROMPT * 2 * width;
}

/* Between two sizes of the image. */
static void unet_add_resize(struct unet_walk *walk)
{
	walk->parameters += diffusers_matrix(9 * walk->width, walk->width);
	keep_result(walk);
}

static void push(struct unet_walk *walk)
{
	walk->skips[walk->skip_count++] = walk->width;
}

static void go_down(struct unet_walk *walk)
{
	const struct unet *unet = walk->unet;

	for (size_t i = 0; i < unet->count; i++) {
		for (int64_t j = 0; j < unet->layers; j++) {
			unet_add_resnet(walk, walk->width, unet->widths[i]);
			keep_result(walk);
			if (unet->attends_down[i]) {
				unet_add_attention(walk, unet->depths[i]);
				keep_result(walk);
			}
			push(walk);
		}
		if (i + 1 == unet->count)
			return;
		walk->pixels /= 4;
		unet_add_resize(walk);
		push(walk);
	}
}

static void go_through(struct unet_walk *walk)
{
	unet_add_resnet(walk, walk->width, walk->width);
	keep_result(walk);
	unet_add_attention(walk, walk->unet->depths[walk->unet->count - 1]);
	keep_result(walk);
	unet_add_resnet(walk, walk->width, walk->width);
	keep_result(walk);
}

/* What comes over is put beside what comes up: a tensor of its own. */
static void go_up(struct unet_walk *walk)
{
	const struct unet *unet = walk->unet;

	for (size_t i = unet->count; i-- > 0;) {
		bool attends = unet->attends_up[unet->count - 1 - i];

		for (int64_t j = 0; j <= unet->layers; j++) {
			walk->width += walk->skips[--walk->skip_count];
			keep_result(walk);
			unet_add_resnet(walk, walk->width, unet->widths[i]);
			if (!attends)
				continue;
			keep_result(walk);
			unet_add_attention(walk, unet->depths[i]);
		}
		if (i == 0)
			return;
		walk->pixels *= 4;
		unet_add_resize(walk);
	}
}

static void unet_count(const struct unet *unet, struct model_facts *facts)
{
	int64_t first = unet->widths[0], time = 4 * first;
	struct unet_walk walk = {
		.unet = unet,
		.pixels = unet->side * unet->side,
		.time = time,
		.width = first,
		.parameters = diffusers_matrix(first, time) +
			      diffusers_matrix(time, time) +
			      diffusers_matrix(9 * unet->in, first) +
			      2 * first +
			      diffusers_matrix(9 * first, unet->out),
	};

	if (unet->added)
		walk.parameters += diffusers_matrix(unet->added, time) +
				   diffusers_matrix(time, time);
	walk.kept = walk.pixels * unet->in;
	keep_result(&walk);
	push(&walk);
	go_down(&walk);
	go_through(&walk);
	go_up(&walk);
	walk.kept += walk.pixels * first * 3;
	facts->parameters = walk.parameters;
	facts->activations = walk.kept;
	facts->adapted = walk.adapted;
	facts->image = unet->side * DIFFUSERS_LATENT;
}

/* One number for all blocks, or a list of as many as there are; others stay. */
static void diffusers_read_each(struct diffusers_reading *reading,
				const char *key, size_t count,
				int64_t values[BLOCKS_MAX])
{
	const json_t *json = json_object_get(reading->root, key);

	if (!json || json_is_null(json))
		return;
	for (size_t i = 0; i < count; i++)
		values[i] = diffusers_checked(
			reading, key,
			json_is_array(json) ? json_array_get(json, i) : json);
}

/* A block attends whose name says so. */
static void read_types(struct diffusers_reading *reading, const char *key,
		       size_t count, bool attends[BLOCKS_MAX])
{
	const json_t *json = json_object_get(reading->root, key);

	for (size_t i = 0; json && i < count; i++) {
		const char *type = json_string_value(json_array_get(json, i));

		attends[i] = type && strncmp(type, "CrossAttn", 9) == 0;
		if (!type)
			diffusers_fail(reading, key);
	}
}

/* What changes the layers and is not counted. */
static int check_unet(const struct diffusers_reading *reading)
{
	static const char *const keys[] = {
		"class_embed_type",
		"encoder_hid_dim",
		"num_class_embeds",
		"time_cond_proj_dim",
		"dual_cross_attention",
		"only_cross_attention",
		"reverse_transformer_layers_per_block",
	};

	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		const json_t *json = json_object_get(reading->root, keys[i]);

		if (json && !json_is_null(json) && !json_is_false(json))
			return error_set(reading->err, -ENOTSUP,
					 "%s is set, which is not counted: "
					 "give its parameters (--params) and "
					 "what it keeps (--family counted "
					 "--field activations=N)",
					 keys[i]);
	}
	return 0;
}

static int read_unet(struct diffusers_reading *reading,
		     struct model_facts *facts)
{
	const json_t *widths =
		json_object_get(reading->root, "block_out_channels");
	struct unet unet = {
		.widths = { 320, 640, 1280, 1280 },
		.depths = { 1, 1, 1, 1, 1, 1, 1, 1 },
		.attends_down = { true, true, true, false },
		.attends_up = { false, true, true, true },
		.count = widths ? json_array_size(widths) : 4,
		.layers = diffusers_number(reading, "layers_per_block", 2),
		.cross = diffusers_number(reading, "cross_attention_dim", 1280),
		.in = diffusers_number(reading, "in_channels", 4),
		.out = diffusers_number(reading, "out_channels", 4),
		.side = diffusers_number(reading, "sample_size", 64),
		.added = diffusers_number(
			reading, "projection_class_embeddings_input_dim", 0),
	};

	if (unet.count < 1 || unet.count > BLOCKS_MAX ||
	    unet.layers > BLOCK_LAYERS_MAX || unet.side > SIDE_MAX)
		return error_set(reading->err, -EINVAL,
				 "a UNet has 1 to %d blocks, layers_per_block "
				 "of 1 to %d and a sample_size of 1 to %d",
				 BLOCKS_MAX, BLOCK_LAYERS_MAX, SIDE_MAX);
	diffusers_read_each(reading, "block_out_channels", unet.count,
			    unet.widths);
	diffusers_read_each(reading, "transformer_layers_per_block", unet.count,
			    unet.depths);
	for (size_t i = 0; i < unet.count; i++)
		if (unet.depths[i] > DEPTH_MAX)
			diffusers_fail(reading, "transformer_layers_per_block");
	read_types(reading, "down_block_types", unet.count, unet.attends_down);
	read_types(reading, "up_block_types", unet.count, unet.attends_up);
	if (!reading->has_failed)
		unet_count(&unet, facts);
	return check_unet(reading);
}

static const struct diffusers_class {
	const char *name;
	/* Of norm_type, where another one is another model. */
	const char *norm;
	int (*read)(struct diffusers_reading *reading,
		    struct model_facts *facts);
} diffusers_classes[] = {
	{ "UNet2DConditionModel", NULL, read_unet },
	{ "FluxTransformer2DModel", NULL, diffusers_read_flux },
	{ "SD3Transformer2DModel", NULL, diffusers_read_sd3 },
	{ "PixArtTransformer2DModel", NULL, diffusers_read_pixart },
	{ "DiTTransformer2DModel", NULL, diffusers_read_dit },
	/* As their files called it before diffusers 0.27 and 0.28. */
	{ "Transformer2DModel", "ada_norm_zero", diffusers_read_dit },
	{ "Transformer2DModel", "ada_norm_single", diffusers_read_pixart },
};

static const char *class_name(const json_t *root)
{
	return json_string_value(json_object_get(root, "_class_name"));
}

bool diffusers_is(const json_t *root)
{
	return class_name(root) != NULL;
}

static const struct diffusers_class *diffusers_find(const json_t *root)
{
	const char *norm =
		json_string_value(json_object_get(root, "norm_type"));

	for (size_t i = 0;
	     i < sizeof(diffusers_classes) / sizeof(*diffusers_classes); i++) {
		const struct diffusers_class *class = &diffusers_classes[i];

		if (strcmp(class->name, class_name(root)) == 0 &&
		    (!class->norm || (norm && strcmp(class->norm, norm) == 0)))
			return class;
	}
	return NULL;
}

int diffusers_read(struct model_facts *facts, const json_t *root,
		   struct error *err)
{
	struct diffusers_reading reading = { .root = root, .err = err };
	const struct diffusers_class *class = diffusers_find(root);
	int result;

	model_facts_init(facts, MODEL_COUNTED);
	if (!class)
		return error_set(
			err, -ENOTSUP,
			"the class '%.64s' of diffusers is not known: "
			"UNet2DConditionModel, and FluxTransformer2DModel, "
			"SD3-, "
			"PixArt- and DiT- are; give its parameters and what it "
			"keeps (--family counted --params N --field "
			"activations=N)",
			class_name(root));
	result = class->read(&reading, facts);
	return reading.has_failed ? -EINVAL : result;
}
