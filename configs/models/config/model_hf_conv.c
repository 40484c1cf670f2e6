/* Networks of convolutions in config.json of Hugging Face. */
/* SPDX-License-Identifier: MIT */
/*
 * From transformers: models/resnet, models/regnet and models/convnext,
 * configuration_*.py and modeling_*.py. Their stages become the words of
 * model_steps.h.
 */
#include "configs/models/config/model_hf_conv.h"

#include "base/strbuf.h"
#include "configs/files/json_bounded.h"
#include "configs/models/config/model_hf_number.h"
#include "configs/models/config/model_steps.h"

#include <errno.h>
#include <string.h>

/* More channels than any has. */
#define CHANNELS_MAX INT64_C(100000)

/* Channels and blocks of each stage. */
struct stages {
	struct hf_list widths, depths;
};

/* What the file leaves out is as in its class. */
static int read_stages(struct stages *stages, const json_t *model,
		       struct error *err)
{
	int result = hf_numbers(model, "hidden_sizes", CHANNELS_MAX,
				&stages->widths, err);

	if (result == 0)
		result = hf_numbers(model, "depths", CHANNELS_MAX,
				    &stages->depths, err);
	if (result == 0 && stages->widths.count != stages->depths.count)
		result =
			error_set(err, -EINVAL,
				  "hidden_sizes has %zu stages, and depths %zu",
				  stages->widths.count, stages->depths.count);
	/* Where it has failed nothing is read behind the end. */
	if (result < 0)
		stages->widths.count = 1;
	return result;
}

static long long conv_count_at(const json_t *model, const char *key,
			       int64_t other)
{
	int64_t value = 0;

	return json_whole(json_object_get(model, key), &value) && value > 0
		       ? value
		       : other;
}

/* The middle of a bottleneck has a quarter of the channels. */
static int resnet_words(struct strbuf *words, const json_t *model,
			struct error *err)
{
	struct stages stages = { { { 256, 512, 1024, 2048 }, 4 },
				 { { 3, 4, 6, 3 }, 4 } };
	const char *type =
		json_string_value(json_object_get(model, "layer_type"));
	bool is_basic = type && strcmp(type, "basic") == 0;
	bool halves_first =
		json_is_true(json_object_get(model, "downsample_in_first_"
						    "stage"));
	int result = read_stages(&stages, model, err);

	strbuf_addf(words, "conv%lldk7s2 max3s2",
		    conv_count_at(model, "embedding_size", 64));
	for (size_t i = 0; i < stages.widths.count; i++) {
		long long width = stages.widths.values[i];

		strbuf_addf(words, " %s%lldx%lld",
			    is_basic ? "basic" : "bottle", width,
			    (long long)stages.depths.values[i]);
		if (!is_basic)
			strbuf_addf(words, "i%lld", width >= 4 ? width / 4 : 1);
		if (i || halves_first)
			strbuf_adds(words, "s2");
	}
	strbuf_adds(words, " head");
	return result;
}

/* As Python rounds: a half to the even number. */
static int64_t quarter(int64_t count)
{
	int64_t least = count / 4, rest = count % 4;

	return least + (rest == 3 || (rest == 2 && least % 2 == 1));
}

/* A block of RegNet, as wide in the middle as at its ends, in groups; those of
 * type y squeeze to a quarter of what the block was given. */
static void regnet_block(struct strbuf *words, const json_t *model,
			 int64_t before, int64_t width)
{
	long long group = conv_count_at(model, "groups_width", 64);
	const char *type =
		json_string_value(json_object_get(model, "layer_type"));

	strbuf_addf(words, " bottle%lldi%lldg%lld", (long long)width,
		    (long long)width, width > group ? width / group : 1LL);
	if (!type || strcmp(type, "x") != 0)
		strbuf_addf(words, "q%lld", (long long)quarter(before));
}

static int regnet_words(struct strbuf *words, const json_t *model,
			struct error *err)
{
	struct stages stages = { { { 128, 192, 512, 1088 }, 4 },
				 { { 2, 6, 12, 2 }, 4 } };
	int64_t before = conv_count_at(model, "embedding_size", 32);
	int result = read_stages(&stages, model, err);

	strbuf_addf(words, "conv%llds2", (long long)before);
	for (size_t i = 0; i < stages.widths.count; i++) {
		int64_t width = stages.widths.values[i];

		regnet_block(words, model, before, width);
		if (i || !json_is_false(json_object_get(
				 model, "downsample_in_first_stage")))
			strbuf_adds(words, "s2");
		if (stages.depths.values[i] > 1) {
			regnet_block(words, model, width, width);
			strbuf_addf(words, "x%lld",
				    (long long)stages.depths.values[i] - 1);
		}
		before = width;
	}
	strbuf_adds(words, " head");
	return result;
}

static int convnext_words(struct strbuf *words, const json_t *model,
			  struct error *err)
{
	struct stages stages = { { { 96, 192, 384, 768 }, 4 },
				 { { 3, 3, 9, 3 }, 4 } };
	int result = read_stages(&stages, model, err);

	strbuf_addf(words, "patches%lldk%lld",
		    (long long)stages.widths.values[0],
		    conv_count_at(model, "patch_size", 4));
	for (size_t i = 0; i < stages.widths.count; i++) {
		long long width = stages.widths.values[i];

		if (i)
			strbuf_addf(words, " down%lld", width);
		strbuf_addf(words, " next%lldx%lld", width,
			    (long long)stages.depths.values[i]);
	}
	strbuf_adds(words, " normedhead");
	return result;
}

int hf_conv_read(struct model_facts *facts, const char *type,
		 const json_t *model, struct error *err)
{
	static const struct {
		const char *type;
		int (*add)(struct strbuf *words, const json_t *model,
			   struct error *err);
	} rows[] = {
		{ "convnext", convnext_words },
		{ "regnet", regnet_words },
		{ "resnet", resnet_words },
	};
	struct strbuf words = STRBUF_INIT;
	size_t row = 0;
	int result;

	while (strcmp(rows[row].type, type) != 0)
		row++;
	result = rows[row].add(&words, model, err);
	if (result == 0)
		result = model_steps_read(facts, strbuf_text(&words), err);
	strbuf_release(&words);
	return result;
}
