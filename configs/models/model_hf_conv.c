/* Networks of convolutions in config.json of Hugging Face. */
/* SPDX-License-Identifier: MIT */
/*
 * From transformers: models/resnet and models/convnext, configuration_*.py and
 * modeling_*.py. Their stages become the words of model_steps.h.
 */
#include "configs/models/model_hf_conv.h"

#include "base/strbuf.h"
#include "configs/files/json_bounded.h"
#include "configs/models/model_steps.h"

#include <errno.h>
#include <string.h>

#define STAGES_MAX 8

/* Channels and blocks of each stage. */
struct stages {
	int64_t widths[STAGES_MAX], depths[STAGES_MAX];
	size_t count;
};

static int conv_read_list(const json_t *model, const char *key,
			  int64_t values[STAGES_MAX], size_t *count,
			  struct error *err)
{
	const json_t *list = json_object_get(model, key);
	size_t size = json_array_size(list);

	if (!list || json_is_null(list))
		return 0;
	*count = size;
	for (size_t i = 0; size <= STAGES_MAX && i < size; i++)
		if (!json_whole(json_array_get(list, i), &values[i]) ||
		    values[i] < 1 || values[i] > INT32_MAX)
			size = 0;
	if (size == 0 || size > STAGES_MAX)
		return error_set(err, -EINVAL,
				 "%s is no list of 1 to %d whole numbers from "
				 "1",
				 key, STAGES_MAX);
	return 0;
}

/* What the file leaves out is as in its class. */
static int read_stages(struct stages *stages, const json_t *model,
		       struct error *err)
{
	size_t widths = stages->count, depths = stages->count;
	int result = conv_read_list(model, "hidden_sizes", stages->widths,
				    &widths, err);

	if (result == 0)
		result = conv_read_list(model, "depths", stages->depths,
					&depths, err);
	if (result == 0 && widths != depths)
		result =
			error_set(err, -EINVAL,
				  "hidden_sizes has %zu stages, and depths %zu",
				  widths, depths);
	stages->count = widths;
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
	struct stages stages = { { 256, 512, 1024, 2048 }, { 3, 4, 6, 3 }, 4 };
	const char *type =
		json_string_value(json_object_get(model, "layer_type"));
	bool is_basic = type && strcmp(type, "basic") == 0;
	bool halves_first =
		json_is_true(json_object_get(model, "downsample_in_first_"
						    "stage"));
	int result = read_stages(&stages, model, err);

	strbuf_addf(words, "conv%lldk7s2 max3s2",
		    conv_count_at(model, "embedding_size", 64));
	for (size_t i = 0; i < stages.count; i++) {
		long long width = stages.widths[i];

		strbuf_addf(words, " %s%lldx%lld",
			    is_basic ? "basic" : "bottle", width,
			    (long long)stages.depths[i]);
		if (!is_basic)
			strbuf_addf(words, "i%lld", width >= 4 ? width / 4 : 1);
		if (i || halves_first)
			strbuf_adds(words, "s2");
	}
	strbuf_adds(words, " head");
	return result;
}

static int convnext_words(struct strbuf *words, const json_t *model,
			  struct error *err)
{
	struct stages stages = { { 96, 192, 384, 768 }, { 3, 3, 9, 3 }, 4 };
	int result = read_stages(&stages, model, err);

	strbuf_addf(words, "patches%lldk%lld", (long long)stages.widths[0],
		    conv_count_at(model, "patch_size", 4));
	for (size_t i = 0; i < stages.count; i++) {
		long long width = stages.widths[i];

		if (i)
			strbuf_addf(words, " down%lld", width);
		strbuf_addf(words, " next%lldx%lld", width,
			    (long long)stages.depths[i]);
	}
	strbuf_adds(words, " normedhead");
	return result;
}

int hf_conv_read(struct model_facts *facts, const char *type,
		 const json_t *model, struct error *err)
{
	struct strbuf words = STRBUF_INIT;
	int result = strcmp(type, "convnext") == 0
			     ? convnext_words(&words, model, err)
			     : resnet_words(&words, model, err);

	if (result == 0)
		result = model_steps_read(facts, strbuf_text(&words), err);
	strbuf_release(&words);
	return result;
}
