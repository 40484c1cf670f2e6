/* Towers for images and sound beside a language model, in config.json. */
/* SPDX-License-Identifier: MIT */
/*
 * A tower is a vision transformer, or an encoder of sound, with numbers of its
 * own. Its parameters follow from them as those of CLIP and SigLIP do
 * (hf:models/siglip/modeling_siglip.py): biased attention and MLP, two norms in
 * a layer, a table of patches and one of positions, a norm at the end. Other
 * towers differ from that in a percent or two, so the note says "about".
 */
#include "configs/models/config/model_hf_tower.h"

#include "configs/files/json_bounded.h"

#include <stdio.h>
#include <string.h>

/* Larger numbers are a mistake; none of the products below overflows. */
#define WIDTH_MOST 100000
#define LAYERS_MOST 1000
#define NAMES_MAX 4

struct tower {
	int64_t width, layers, ffn, patch, frames, channels, image;
};

static const struct {
	const char *names[NAMES_MAX + 1];
	size_t offset;
	int64_t most;
} keys[] = {
	/* Qwen2-VL calls the width of what comes out hidden_size. */
	{ { "embed_dim", "hidden_size", "d_model", "width" },
	  offsetof(struct tower, width),
	  WIDTH_MOST },
	{ { "num_hidden_layers", "depth", "encoder_layers", "layers" },
	  offsetof(struct tower, layers),
	  LAYERS_MOST },
	{ { "intermediate_size", "encoder_ffn_dim", "mlp_dim" },
	  offsetof(struct tower, ffn),
	  WIDTH_MOST },
	{ { "patch_size", "spatial_patch_size" },
	  offsetof(struct tower, patch),
	  LAYERS_MOST },
	{ { "temporal_patch_size" }, offsetof(struct tower, frames), 100 },
	{ { "num_channels", "in_channels", "in_chans", "num_mel_bins" },
	  offsetof(struct tower, channels),
	  LAYERS_MOST },
	{ { "image_size" }, offsetof(struct tower, image), WIDTH_MOST },
};

static void tower_read_key(const json_t *json, size_t key, struct tower *tower)
{
	int64_t *place = (int64_t *)((char *)tower + keys[key].offset);
	int64_t value = 0;

	for (size_t i = 0; keys[key].names[i] && !*place; i++)
		if (json_whole(json_object_get(json, keys[key].names[i]),
			       &value) &&
		    value > 0 && value <= keys[key].most)
			*place = value;
}

static bool is_gated(const json_t *json)
{
	const char *activation =
		json_string_value(json_object_get(json, "hidden_act"));

	return activation && strcmp(activation, "silu") == 0;
}

/* 0: its numbers do not say them. */
static int64_t tower_parameters(const json_t *json, int64_t hidden)
{
	struct tower tower = { .width = 0 };
	double ratio = json_number_value(json_object_get(json, "mlp_ratio"));
	int64_t width, layer, patches, side;

	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		tower_read_key(json, i, &tower);
	width = tower.width;
	if (!width || !tower.layers)
		return 0;
	if (!tower.ffn)
		tower.ffn = (int64_t)((double)width *
				      (ratio > 0 && ratio < 64 ? ratio : 4));
	layer = 4 * width * width + 4 * width +
		(is_gated(json) ? 3 : 2) * width * tower.ffn + tower.ffn +
		width + 4 * width;
	patches = (tower.channels ? tower.channels : 3) *
		  (tower.frames ? tower.frames : 1) * tower.patch * tower.patch;
	side = tower.patch ? tower.image / tower.patch : 0;
	return layer * tower.layers + (patches + 1) * width +
	       side * side * width + 2 * width + (width + 1) * hidden;
}

static void tower_note(struct model_facts *facts, const char *name,
		       int64_t parameters)
{
	size_t used = strlen(facts->unread);
	char *place = facts->unread + used;
	size_t left = sizeof(facts->unread) - used;

	if (parameters)
		(void)snprintf(place, left,
			       "%s%s: about %.3g million parameters, counted "
			       "as weights; its activations are not",
			       used ? "; " : "", name,
			       (double)parameters / 1e6);
	else
		(void)snprintf(place, left,
			       "%s%s: not counted (--field tower=N)",
			       used ? "; " : "", name);
}

void hf_towers_read(struct model_facts *facts, const json_t *root)
{
	static const char *const names[] = { "vision_config", "audio_config",
					     "vit_config", "visual" };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		const json_t *json = json_object_get(root, names[i]);
		int64_t parameters;

		if (!json_is_object(json))
			continue;
		parameters = tower_parameters(json, facts->hidden);
		facts->tower += parameters;
		tower_note(facts, names[i], parameters);
	}
}
