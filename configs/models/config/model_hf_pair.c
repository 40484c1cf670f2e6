/* Two towers that learn together, in config.json: CLIP and SigLIP. */
/* SPDX-License-Identifier: MIT */
/*
 * From transformers: models/clip and models/siglip, configuration_*.py and
 * modeling_*.py. Both towers are layers with biases and two LayerNorms. What a
 * layer keeps of a token is 8 widths (what both norms were given and gave,
 * queries, keys, values and what attention gave) and what its MLP has before
 * and behind its activation; CLIP's own, x * sigmoid(1.702 x), keeps a tensor
 * more.
 */
#include "configs/models/config/model_hf_pair.h"

#include "configs/models/config/model_hf_number.h"

#include <errno.h>
#include <string.h>

/* Larger numbers are a mistake; no product below overflows. */
#define WIDTH_MAX 100000
#define IMAGE_MAX 10000
#define VOCAB_MAX 10000000
#define LAYERS_MAX 1000

struct half {
	int64_t hidden, ffn, layers;
	bool has_quick_gelu;
};

struct pair {
	struct half text, vision;
	int64_t vocab, positions, image, patch;
	int64_t joint; /* width that both are brought to */
};

static bool is_siglip(const json_t *root)
{
	const char *type =
		json_string_value(json_object_get(root, "model_type"));

	return type && strcmp(type, "siglip") == 0;
}

bool hf_pair_is(const json_t *root)
{
	const char *type =
		json_string_value(json_object_get(root, "model_type"));

	return type && (strcmp(type, "clip") == 0 || is_siglip(root));
}

static int half_read(struct half *half, const json_t *json, struct error *err)
{
	const char *act =
		json_string_value(json_object_get(json, "hidden_act"));
	int result =
		hf_number(json, "hidden_size", WIDTH_MAX, &half->hidden, err);

	if (act)
		half->has_quick_gelu = strcmp(act, "quick_gelu") == 0;
	if (result == 0)
		result = hf_number(json, "intermediate_size", WIDTH_MAX,
				   &half->ffn, err);
	if (result == 0)
		result = hf_number(json, "num_hidden_layers", LAYERS_MAX,
				   &half->layers, err);
	return result;
}

static int pair_fill(struct pair *pair, const json_t *root, struct error *err)
{
	const json_t *text = json_object_get(root, "text_config");
	const json_t *vision = json_object_get(root, "vision_config");
	int result = half_read(&pair->text, text, err);

	if (result == 0)
		result = half_read(&pair->vision, vision, err);
	if (result == 0)
		result = hf_number(text, "vocab_size", VOCAB_MAX, &pair->vocab,
				   err);
	if (result == 0)
		result = hf_number(text, "max_position_embeddings", VOCAB_MAX,
				   &pair->positions, err);
	if (result == 0)
		result = hf_number(vision, "image_size", IMAGE_MAX,
				   &pair->image, err);
	if (result == 0)
		result = hf_number(vision, "patch_size", IMAGE_MAX,
				   &pair->patch, err);
	if (result == 0)
		result = hf_number(root, "projection_dim", WIDTH_MAX,
				   &pair->joint, err);
	return result;
}

static int64_t half_layers(const struct half *half)
{
	int64_t h = half->hidden, f = half->ffn;

	return half->layers * (4 * h * h + 4 * h + 2 * h * f + f + h + 4 * h);
}

static int64_t half_kept(const struct half *half, int64_t tokens)
{
	int64_t wide = half->has_quick_gelu ? 3 : 2;

	return tokens * half->layers * (8 * half->hidden + wide * half->ffn);
}

static int64_t patches_of(const struct pair *pair)
{
	int64_t side = pair->image / pair->patch;

	return side * side;
}

/* Of the text tower: two tables, and the norm at its end. */
static int64_t text_rows(const struct pair *pair)
{
	return (pair->vocab + pair->positions + 2) * pair->text.hidden;
}

/* A patch goes through a matrix. */
static int64_t vision_rows(const struct pair *pair)
{
	return 3 * pair->patch * pair->patch + patches_of(pair);
}

/* A class token with a position, norms before and behind; a matrix each to the
 * joint width. */
static int64_t clip_ends(const struct pair *pair)
{
	int64_t vision = pair->vision.hidden;

	return text_rows(pair) + (vision_rows(pair) + 2 + 4) * vision +
	       pair->joint * (pair->text.hidden + vision) + 1;
}

/* Patches have a bias; a layer of attention with a query of its own, a norm
 * and an MLP make one vector of them; a scale and a bias of the loss. */
static int64_t siglip_ends(const struct pair *pair)
{
	int64_t text = pair->text.hidden;
	int64_t h = pair->vision.hidden, f = pair->vision.ffn;
	int64_t pooling = h + 4 * h * h + 4 * h + 2 * h + 2 * h * f + f + h;

	return text_rows(pair) + text * text + text +
	       (vision_rows(pair) + 1 + 2) * h + pooling + 2;
}

int hf_pair_read(struct model_facts *facts, const json_t *root,
		 struct error *err)
{
	static const struct pair clip = {
		.text = { 512, 2048, 12, true },
		.vision = { 768, 3072, 12, true },
		.vocab = 49408,
		.positions = 77,
		.image = 224,
		.patch = 32,
		.joint = 512,
	};
	static const struct pair siglip = {
		.text = { 768, 3072, 12, false },
		.vision = { 768, 3072, 12, false },
		.vocab = 32000,
		.positions = 64,
		.image = 224,
		.patch = 16,
	};
	struct pair pair = is_siglip(root) ? siglip : clip;
	int result = pair_fill(&pair, root, err);
	int64_t ends;

	if (result < 0)
		return result;
	if (pair.patch > pair.image)
		return error_set(err, -EINVAL,
				 "patch_size is larger than image_size");
	ends = is_siglip(root) ? siglip_ends(&pair) : clip_ends(&pair);
	facts->image = pair.image;
	facts->parameters =
		half_layers(&pair.text) + half_layers(&pair.vision) + ends;
	facts->adapted = 8 * pair.text.hidden * pair.text.layers +
			 8 * pair.vision.hidden * pair.vision.layers;
	facts->activations = half_kept(&pair.text, pair.positions) +
			     half_kept(&pair.vision, patches_of(&pair));
	return 0;
}
