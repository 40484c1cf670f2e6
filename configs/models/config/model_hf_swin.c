/* Swin Transformers in config.json. */
/* SPDX-License-Identifier: MIT */
/*
 * From transformers: models/swin, configuration_swin.py and modeling_swin.py;
 * and torchvision/models/swin_transformer.py. Layers attend inside of windows;
 * between two stages four tokens become one, twice as wide. What a layer keeps
 * of a token is 16 widths (what both norms were given, what both read, queries,
 * keys, values, what attention gave, and the MLP's four before and behind its
 * activation) and a score of each head and token of the window.
 */
#include "configs/models/config/model_hf_swin.h"

#include "configs/models/config/model_hf_number.h"

#include <errno.h>

/* Larger numbers are a mistake; no product below overflows. */
#define SWIN_WIDTH_MAX 1000
#define SWIN_LAYERS_MAX 100
#define SWIN_HEADS_MAX 1000
#define SWIN_IMAGE_MAX 4096
#define SWIN_WINDOW_MAX 100

struct swin {
	int64_t width, patch, image, window, ratio;
	struct hf_list layers, heads; /* of each stage */
};

static int swin_fill(struct swin *swin, const json_t *root, struct error *err)
{
	int result =
		hf_number(root, "embed_dim", SWIN_WIDTH_MAX, &swin->width, err);

	if (result == 0)
		result = hf_number(root, "patch_size", SWIN_IMAGE_MAX,
				   &swin->patch, err);
	if (result == 0)
		result = hf_number(root, "image_size", SWIN_IMAGE_MAX,
				   &swin->image, err);
	if (result == 0)
		result = hf_number(root, "window_size", SWIN_WINDOW_MAX,
				   &swin->window, err);
	if (result == 0)
		result = hf_numbers(root, "depths", SWIN_LAYERS_MAX,
				    &swin->layers, err);
	if (result == 0)
		result = hf_numbers(root, "num_heads", SWIN_HEADS_MAX,
				    &swin->heads, err);
	if (result == 0 && swin->heads.count != swin->layers.count)
		result = error_set(err, -EINVAL,
				   "depths has %zu stages, and num_heads %zu",
				   swin->layers.count, swin->heads.count);
	return result;
}

/* mlp_ratio is written 4.0. */
static int swin_read_ratio(struct swin *swin, const json_t *root,
			   struct error *err)
{
	const json_t *ratio = json_object_get(root, "mlp_ratio");
	double value = json_number_value(ratio);

	if (!ratio || json_is_null(ratio))
		return 0;
	if (value < 1 || value > 16 || (double)(int64_t)value != value)
		return error_set(
			err, -EINVAL,
			"mlp_ratio is not a whole number from 1 to 16");
	swin->ratio = (int64_t)value;
	return 0;
}

/* Attention, its table of distances, two norms, the MLP. */
static int64_t swin_layer(const struct swin *swin, int64_t width, int64_t heads)
{
	int64_t distances = (2 * swin->window - 1) * (2 * swin->window - 1);
	int64_t ffn = swin->ratio * width;

	return 4 * width * width + 4 * width + distances * heads + 4 * width +
	       2 * width * ffn + ffn + width;
}

static void swin_count(const struct swin *swin, struct model_facts *facts)
{
	int64_t side = swin->image / swin->patch, width = swin->width;
	int64_t pixels = 3 * swin->patch * swin->patch;
	/* A patch goes through a matrix and a norm. */
	int64_t parameters = (pixels + 3) * width;
	int64_t kept = side * side * (pixels + 2 * width);
	int64_t adapted = 0;

	for (size_t i = 0; i < swin->layers.count; i++) {
		int64_t heads = swin->heads.values[i],
			layers = swin->layers.values[i];
		int64_t seen = heads * swin->window * swin->window;

		parameters += layers * swin_layer(swin, width, heads);
		kept += layers * side * side *
			((8 + 2 * swin->ratio) * width + seen);
		adapted += layers * 8 * width;
		if (i + 1 == swin->layers.count)
			break;
		/* Four beside each other: a norm, a matrix to half. */
		parameters += 8 * width + 8 * width * width;
		side = (side + 1) / 2;
		kept += side * side * 8 * width;
		width *= 2;
	}
	facts->image = swin->image;
	facts->parameters = parameters + 2 * width +
			    (facts->classes ? (width + 1) * facts->classes : 0);
	facts->activations = kept + side * side * 2 * width;
	facts->adapted = adapted;
}

int hf_swin_read(struct model_facts *facts, const json_t *root,
		 struct error *err)
{
	struct swin swin = {
		.width = 96,
		.patch = 4,
		.image = 224,
		.window = 7,
		.ratio = 4,
		.layers = { { 2, 2, 6, 2 }, 4 },
		.heads = { { 3, 6, 12, 24 }, 4 },
	};
	int result = swin_fill(&swin, root, err);

	if (result == 0)
		result = swin_read_ratio(&swin, root, err);
	if (result == 0 && swin.patch > swin.image)
		result = error_set(err, -EINVAL,
				   "patch_size is larger than image_size");
	if (result == 0)
		swin_count(&swin, facts);
	return result;
}
