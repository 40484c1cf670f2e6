/* Models that are no stack of alike layers: convolutions, pairs of towers,
 * diffusion. By their config.json, and by words of their own. */
/* SPDX-License-Identifier: MIT */
/* USES estimator configs */
#include "configs/models/config/model_steps.h"
#include "configs/models/models.h"
#include "estimator/nets/conv.h"
#include "tests/unit/model_sample.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(rows) (sizeof(rows) / sizeof(*(rows)))

#define RESNET(rest)                                                           \
	"{\"model_type\": \"resnet\", "                                        \
	"\"architectures\": [\"ResNetForImageClassification\"], "              \
	"\"num_labels\": 1000, \"num_channels\": 3, " rest "}"
#define SD15(rest)                                                             \
	"{\"_class_name\": \"UNet2DConditionModel\", "                         \
	"\"block_out_channels\": [320, 640, 1280, 1280], "                     \
	"\"cross_attention_dim\": 768, \"sample_size\": 64, "                  \
	"\"down_block_types\": [\"CrossAttnDownBlock2D\", "                    \
	"\"CrossAttnDownBlock2D\", \"CrossAttnDownBlock2D\", "                 \
	"\"DownBlock2D\"], \"up_block_types\": [\"UpBlock2D\", "               \
	"\"CrossAttnUpBlock2D\", \"CrossAttnUpBlock2D\", "                     \
	"\"CrossAttnUpBlock2D\"], \"in_channels\": 4, \"out_channels\": 4, "   \
	"\"layers_per_block\": 2" rest "}"

/* Parameters of the classes of transformers 5.24 and diffusers 0.42. kept: what
 * saved_tensors_hooks counted there, in elements of 16 bit. adapted: LoRA of
 * rank 4 on Stable Diffusion 1.5 has 797184 parameters (diffusers: docs). */
static const struct {
	const char *text;
	int64_t parameters, kept, adapted;
	enum model_family family;
} kind_rows[] = {
	{ RESNET("\"depths\": [3, 4, 6, 3], \"embedding_size\": 64, "
		 "\"hidden_sizes\": [256, 512, 1024, 2048], "
		 "\"layer_type\": \"bottleneck\""),
	  25557032, 21985024, 0, MODEL_CONV },
	{ RESNET("\"depths\": [2, 2, 2, 2], \"embedding_size\": 64, "
		 "\"hidden_sizes\": [64, 128, 256, 512], "
		 "\"layer_type\": \"basic\""),
	  11689512, 5965568, 0, MODEL_CONV },
	{ RESNET("\"depths\": [3, 8, 36, 3]"), 60192808, 45061888, 0,
	  MODEL_CONV },
	{ "{\"architectures\": [\"ConvNextForImageClassification\"], "
	  "\"model_type\": \"convnext\", \"num_labels\": 1000, "
	  "\"depths\": [3, 3, 9, 3], "
	  "\"hidden_sizes\": [96, 192, 384, 768], \"patch_size\": 4, "
	  "\"image_size\": 224}",
	  28589128, 27330800, 0, MODEL_CONV },
	{ "{\"model_type\": \"clip\", \"projection_dim\": 512, "
	  "\"text_config\": {\"model_type\": \"clip_text_model\"}, "
	  "\"vision_config\": {\"model_type\": \"clip_vision_model\"}}",
	  151277313, 18990050, 122880, MODEL_COUNTED },
	{ "{\"model_type\": \"clip\", \"projection_dim\": 768, "
	  "\"text_config\": {\"hidden_size\": 768, "
	  "\"intermediate_size\": 3072, \"num_attention_heads\": 12}, "
	  "\"vision_config\": {\"hidden_size\": 1024, "
	  "\"intermediate_size\": 4096, \"num_hidden_layers\": 24, "
	  "\"patch_size\": 14}}",
	  427616513, 141532094, 270336, MODEL_COUNTED },
	{ "{\"model_type\": \"siglip\", \"text_config\": {}, "
	  "\"vision_config\": {}}",
	  203155970, 39306056, 147456, MODEL_COUNTED },
	{ "{\"model_type\": \"siglip\", \"text_config\": "
	  "{\"hidden_size\": 1152, \"intermediate_size\": 4304, "
	  "\"num_hidden_layers\": 27}, \"vision_config\": "
	  "{\"hidden_size\": 1152, \"image_size\": 384, "
	  "\"intermediate_size\": 4304, \"num_hidden_layers\": 27, "
	  "\"patch_size\": 14}}",
	  877960498, 386469236, 497664, MODEL_COUNTED },
	{ SD15(""), 859520964, 468360960, 199296, MODEL_COUNTED },
	{ "{\"_class_name\": \"UNet2DConditionModel\", "
	  "\"addition_embed_type\": \"text_time\", "
	  "\"block_out_channels\": [320, 640, 1280], "
	  "\"class_embed_type\": null, \"cross_attention_dim\": 2048, "
	  "\"down_block_types\": [\"DownBlock2D\", \"CrossAttnDownBlock2D\", "
	  "\"CrossAttnDownBlock2D\"], \"dual_cross_attention\": false, "
	  "\"projection_class_embeddings_input_dim\": 2816, "
	  "\"sample_size\": 128, \"transformer_layers_per_block\": [1, 2, "
	  "10], \"up_block_types\": [\"CrossAttnUpBlock2D\", "
	  "\"CrossAttnUpBlock2D\", \"UpBlock2D\"]}",
	  INT64_C(2567463684), INT64_C(3444453312), 1451520, MODEL_COUNTED },
	{ "{\"_class_name\": \"FluxTransformer2DModel\", "
	  "\"attention_head_dim\": 128, \"guidance_embeds\": true, "
	  "\"in_channels\": 64, \"joint_attention_dim\": 4096, "
	  "\"num_attention_heads\": 24, \"num_layers\": 19, "
	  "\"num_single_layers\": 38, \"pooled_projection_dim\": 768}",
	  INT64_C(11901408320), INT64_C(21063803136), 1634304, MODEL_COUNTED },
	{ "{\"model_type\": \"regnet\", "
	  "\"architectures\": [\"RegNetForImageClassification\"], "
	  "\"embedding_size\": 32, \"hidden_sizes\": [48, 104, 208, 440], "
	  "\"depths\": [1, 3, 6, 6], \"groups_width\": 8, "
	  "\"layer_type\": \"y\", \"num_labels\": 1000}",
	  4344144, 8407712, 0, MODEL_CONV },
	{ "{\"model_type\": \"regnet\", \"num_labels\": 1000, "
	  "\"hidden_sizes\": [128, 192, 512, 1088], "
	  "\"depths\": [2, 6, 12, 2], \"groups_width\": 64}",
	  20646656, 27033080, 0, MODEL_CONV },
	{ "{\"model_type\": \"regnet\", \"num_labels\": 1000, "
	  "\"hidden_sizes\": [80, 240, 560, 1360], "
	  "\"depths\": [2, 5, 14, 2], \"groups_width\": 40, "
	  "\"layer_type\": \"x\"}",
	  22118248, 23937664, 0, MODEL_CONV },
	{ "{\"model_type\": \"swin\", \"num_labels\": 1000, "
	  "\"embed_dim\": 96, \"depths\": [2, 2, 6, 2], "
	  "\"num_heads\": [3, 6, 12, 24], \"window_size\": 7, "
	  "\"mlp_ratio\": 4.0, \"image_size\": 224}",
	  28288354, 26703438, 35328, MODEL_COUNTED },
	{ "{\"model_type\": \"swin\", "
	  "\"architectures\": [\"SwinForImageClassification\"], "
	  "\"num_labels\": 1000, \"embed_dim\": 128, "
	  "\"depths\": [2, 2, 18, 2], \"num_heads\": [4, 8, 16, 32]}",
	  87768224, 56654870, 96256, MODEL_COUNTED },
	{ "{\"_class_name\": \"SD3Transformer2DModel\", "
	  "\"attention_head_dim\": 64, \"caption_projection_dim\": 1536, "
	  "\"in_channels\": 16, \"joint_attention_dim\": 4096, "
	  "\"num_attention_heads\": 24, \"num_layers\": 24, "
	  "\"out_channels\": 16, \"patch_size\": 2, "
	  "\"pooled_projection_dim\": 2048, \"sample_size\": 128}",
	  INT64_C(2028328000), INT64_C(3448145420), 586752, MODEL_COUNTED },
	{ "{\"_class_name\": \"SD3Transformer2DModel\", "
	  "\"attention_head_dim\": 64, \"num_attention_heads\": 38, "
	  "\"num_layers\": 38, \"qk_norm\": \"rms_norm\", "
	  "\"dual_attention_layers\": [], \"sample_size\": 128}",
	  INT64_C(8056627520), INT64_C(11930766260), 1473792, MODEL_COUNTED },
	{ "{\"_class_name\": \"SD3Transformer2DModel\", "
	  "\"attention_head_dim\": 64, \"num_attention_heads\": 24, "
	  "\"num_layers\": 24, \"qk_norm\": \"rms_norm\", "
	  "\"dual_attention_layers\": [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, "
	  "11, 12]}",
	  INT64_C(2243171520), INT64_C(5917307660), 746496, MODEL_COUNTED },
	{ "{\"_class_name\": \"PixArtTransformer2DModel\", "
	  "\"attention_head_dim\": 72, \"caption_channels\": 4096, "
	  "\"cross_attention_dim\": 1152, \"num_attention_heads\": 16, "
	  "\"num_layers\": 28, \"sample_size\": 128}",
	  611349152, INT64_C(3070183296), 516096, MODEL_COUNTED },
	{ "{\"_class_name\": \"Transformer2DModel\", "
	  "\"caption_channels\": 4096, "
	  "\"norm_type\": \"ada_norm_single\", \"sample_size\": 64}",
	  610856096, 774228864, 516096, MODEL_COUNTED },
	{ "{\"_class_name\": \"Transformer2DModel\", "
	  "\"attention_head_dim\": 72, \"in_channels\": 4, "
	  "\"norm_type\": \"ada_norm_zero\", \"num_attention_heads\": 16, "
	  "\"num_embeds_ada_norm\": 1000, \"num_layers\": 28, "
	  "\"out_channels\": 8, \"patch_size\": 2, \"sample_size\": 32}",
	  749826464, 166727668, 258048, MODEL_COUNTED },
};

/* In elements of 16 bit. */
static int64_t kept_of(const struct model_facts *facts)
{
	struct conv_totals totals;

	if (facts->family == MODEL_COUNTED)
		return facts->activations;
	conv_count(facts, &totals);
	return totals.kept + totals.kept_bytes / 2;
}

static void a_config_says_all(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(kind_rows); i++) {
		struct error err = ERROR_INIT;
		struct model_facts facts;
		double kept;

		if (sample_read_text("config.json", kind_rows[i].text, &facts,
				     &err) < 0)
			fail_msg("%s: %s", kind_rows[i].text, err.message);
		assert_int_equal(facts.family, kind_rows[i].family);
		assert_int_equal(sample_parameters(&facts),
				 kind_rows[i].parameters);
		assert_int_equal(facts.adapted, kind_rows[i].adapted);
		kept = (double)kept_of(&facts) / (double)kind_rows[i].kept;
		if (kept < 0.97 || kept > 1.01)
			fail_msg("%s: %.4f of what is kept", kind_rows[i].text,
				 kept);
	}
}

/* By name: what saved_tensors_hooks counted for one image more in torchvision
 * 0.29 and diffusers 0.42, in elements of 16 bit. */
static const struct {
	const char *name;
	int64_t kept;
} named_rows[] = {
	{ "resnet50", 21878784 },
	{ "mobilenet_v2", 19552384 },
	{ "mobilenet_v3_large", 11028488 },
	{ "mobilenet_v3_small", 4042456 },
	{ "efficientnet_b0", 22048513 },
	{ "regnet_x_400mf", 6296704 },
	{ "regnet_x_32gf", 70787920 },
	{ "regnet_y_400mf", 8407712 },
	{ "regnet_y_1_6gf", 17955318 },
	{ "regnet_y_128gf", 159028302 },
	{ "swin-t", 26703438 },
	{ "swin-s", 42555942 },
	{ "swin-b", 56654870 },
	{ "sd3", INT64_C(3448145420) },
	{ "sd3.5-medium", INT64_C(5917307660) },
	{ "sd3.5-large", INT64_C(11930766260) },
	{ "pixart", INT64_C(3070183296) },
	{ "pixart-sigma", INT64_C(3083151744) },
};

static void a_name_keeps_what_was_counted(void **state)
{
	struct strlist warnings = STRLIST_INIT;
	struct model_table table;

	(void)state;
	model_table_load(&table, NULL, &warnings);
	for (size_t i = 0; i < COUNT(named_rows); i++) {
		const struct model_facts *facts =
			model_table_find(&table, named_rows[i].name, NULL);
		double kept;

		assert_non_null(facts);
		if (!facts)
			break;
		kept = (double)kept_of(facts) / (double)named_rows[i].kept;
		print_message("%-20s %.4f\n", named_rows[i].name, kept);
		assert_true(kept > 0.97 && kept < 1.01);
	}
	model_table_release(&table);
	strlist_release(&warnings);
}

static const struct {
	const char *text;
	int code;
	const char *words;
} wrong_kinds[] = {
	{ RESNET("\"depths\": [3, 4]"), -EINVAL,
	  "hidden_sizes has 4 stages, and depths 2" },
	{ RESNET("\"depths\": 3"), -EINVAL, "depths is no list of 1 to 8" },
	{ RESNET("\"hidden_sizes\": [64, 0, 64, 64]"), -EINVAL,
	  "hidden_sizes is no list" },
	{ RESNET("\"depths\": [1, 1, 1, 999]"), -EINVAL, "'bottle2048x999" },
	{ "{\"model_type\": \"clip\", \"text_config\": "
	  "{\"hidden_size\": \"512\"}}",
	  -EINVAL, "hidden_size is not a whole number from 1" },
	{ "{\"model_type\": \"clip\", \"vision_config\": "
	  "{\"patch_size\": 300}}",
	  -EINVAL, "patch_size is larger than image_size" },
	{ SD15(", \"num_class_embeds\": 1000"), -ENOTSUP,
	  "num_class_embeds is set, which is not counted" },
	{ SD15(", \"sample_size\": 99999"), -EINVAL, "sample_size" },
	{ "{\"_class_name\": \"SanaTransformer2DModel\"}", -ENOTSUP,
	  "the class 'SanaTransformer2DModel' of diffusers is not known" },
	{ "{\"_class_name\": \"Transformer2DModel\", "
	  "\"norm_type\": \"layer_norm\"}",
	  -ENOTSUP, "'Transformer2DModel' of diffusers is not known" },
	{ "{\"model_type\": \"swin\", \"depths\": [2, 2]}", -EINVAL,
	  "depths has 2 stages, and num_heads 4" },
	{ "{\"model_type\": \"swin\", \"mlp_ratio\": 2.5}", -EINVAL,
	  "mlp_ratio is not a whole number from 1 to 16" },
	{ "{\"model_type\": \"swin\", \"embed_dim\": 0}", -EINVAL,
	  "embed_dim is not a whole number from 1 to 1000" },
	{ "{\"model_type\": \"swin\", \"patch_size\": 300}", -EINVAL,
	  "patch_size is larger than image_size" },
	{ "{\"model_type\": \"regnet\", \"depths\": [1]}", -EINVAL,
	  "hidden_sizes has 4 stages, and depths 1" },
	{ "{\"_class_name\": \"FluxTransformer2DModel\", "
	  "\"num_layers\": -1}",
	  -EINVAL, "num_layers is not a whole number" },
	{ "{\"model_type\": \"efficientnet\"}", -ENOTSUP,
	  "the architecture 'efficientnet' is not known" },
};

static void a_wrong_config_is_told(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(wrong_kinds); i++) {
		struct error err = ERROR_INIT;
		struct model_facts facts;
		int result = sample_read_text(
			"config.json", wrong_kinds[i].text, &facts, &err);

		if (result != wrong_kinds[i].code ||
		    !strstr(err.message, wrong_kinds[i].words))
			fail_msg("%s: %d %s", wrong_kinds[i].text, result,
				 err.message);
	}
}

/* Words that are no steps. */
static const struct {
	const char *text, *words;
} wrong_steps[] = {
	{ "conv64k7s2 bottel256", "'bottel256' is none: a kind, convN" },
	{ "conv", "'conv' is none" },
	{ "conv0", "'conv0' is none" },
	{ "conv64s0", "'conv64s0' is none" },
	{ "conv64w2", "'conv64w2' is none" },
	{ "conv64k", "'conv64k' is none" },
	{ "conv999999999999999999999", "is none" },
	{ "basic64x201", "is none" },
	{ "head7", "'head7' is none" },
	{ "64", "'64' is none" },
	{ "end end end end end end end end end end end end end end end end "
	  "end end end end end end end end end",
	  "more than 24" },
};

static void wrong_steps_are_told(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(wrong_steps); i++) {
		struct error err = ERROR_INIT;
		struct model_facts facts;

		model_facts_init(&facts, MODEL_CONV);
		assert_int_equal(
			model_steps_read(&facts, wrong_steps[i].text, &err),
			-EINVAL);
		if (!strstr(err.message, wrong_steps[i].words))
			fail_msg("%s", err.message);
	}
}

static struct conv_totals totals_of(const char *steps, int64_t image)
{
	struct conv_totals totals;
	struct model_facts facts;

	model_facts_init(&facts, MODEL_CONV);
	assert_int_equal(model_steps_read(&facts, steps, NULL), 0);
	facts.image = image;
	facts.classes = 10;
	model_facts_complete(&facts);
	conv_count(&facts, &totals);
	return totals;
}

/* By hand: an image of 8 x 8 x 3, 16 channels at 4 x 4, pooled to 2 x 2. */
static void a_small_net_by_hand(void **state)
{
	struct conv_totals totals = totals_of("conv16s2 max2s2 head", 8);

	(void)state;
	/* Nine of three to sixteen, a norm, sixteen to ten. */
	assert_int_equal(totals.parameters, 3 * 9 * 16 + 2 * 16 + 17 * 10);
	/* The image; what the norm was given, and ReLU gave; pooled; averaged.
	 */
	assert_int_equal(totals.kept, 192 + 2 * 16 * 16 + 16 * 2 * 2 + 16);
	assert_int_equal(totals.kept_bytes, 8 * 16 * 2 * 2);
}

/* Convolutions: four times the pixels, four times as much. */
static void activations_follow_the_image(void **state)
{
	static const char steps[] = "conv64k7s2 max3s2 basic64x2 basic128s2x2";
	struct conv_totals small = totals_of(steps, 224);
	struct conv_totals large = totals_of(steps, 448);

	(void)state;
	assert_int_equal(large.parameters, small.parameters);
	assert_int_equal(large.kept, 4 * small.kept);
	assert_true(large.inputs < large.kept / 2);
	assert_true(large.block < large.kept);
	assert_true(large.working < large.kept);
}

/* Most of VGG's parameters are in its last layers, most of its activations in
 * the first: on the way back both are there at once. */
static void late_gradients_meet_early_activations(void **state)
{
	static const char steps[] = "plain64x2 max2s2 full4096 head";
	struct model_facts facts;
	struct conv_totals totals;
	int64_t with, without;

	(void)state;
	model_facts_init(&facts, MODEL_CONV);
	assert_int_equal(model_steps_read(&facts, steps, NULL), 0);
	facts.image = 32;
	model_facts_complete(&facts);
	conv_count(&facts, &totals);
	with = conv_working(&facts, &totals, 1, 2, 4);
	without = conv_working(&facts, &totals, 1, 2, 0);
	/* Of the matrix: 4096 x (64 x 16 x 16 + 1). */
	assert_true(with > INT64_C(4) * 4096 * 16384);
	assert_true(without < INT64_C(2) * 64 * 32 * 32 * 2);
}

static void an_image_may_be_too_small(void **state)
{
	struct error err = ERROR_INIT;
	int64_t parameters;
	struct model_facts facts;

	(void)state;
	model_facts_init(&facts, MODEL_CONV);
	assert_int_equal(
		model_steps_read(&facts, "plain64k11s4p2 max3s2p0", NULL), 0);
	facts.image = 9;
	model_facts_complete(&facts);
	assert_int_equal(model_parameters(&facts, &parameters, &err), -EINVAL);
	assert_non_null(strstr(err.message, "image 9 is too small"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_config_says_all),
		cmocka_unit_test(a_name_keeps_what_was_counted),
		cmocka_unit_test(a_wrong_config_is_told),
		cmocka_unit_test(wrong_steps_are_told),
		cmocka_unit_test(a_small_net_by_hand),
		cmocka_unit_test(activations_follow_the_image),
		cmocka_unit_test(late_gradients_meet_early_activations),
		cmocka_unit_test(an_image_may_be_too_small),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
