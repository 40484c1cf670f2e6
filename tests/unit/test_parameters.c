/* Parameters of every family, to the last digit, and what follows of them. */
/* SPDX-License-Identifier: MIT */
/* USES estimator configs */
#include "estimator/parameters.h"

#include "configs/models/models.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(rows) (sizeof(rows) / sizeof(*(rows)))

/* The totals that Hugging Face shows for the checkpoints. */
static const struct {
	const char *name;
	int64_t parameters;
} published[] = {
	{ "gpt2", INT64_C(124439808) },
	{ "gpt2-medium", INT64_C(354823168) },
	{ "gpt2-large", INT64_C(774030080) },
	{ "gpt2-xl", INT64_C(1557611200) },
	{ "Llama-2-7B", INT64_C(6738415616) },
	{ "Llama-2-13B", INT64_C(13015864320) },
	{ "Llama-2-70B", INT64_C(68976648192) },
	{ "Llama-3.1-8B", INT64_C(8030261248) },
	{ "Llama-3.1-70B", INT64_C(70553706496) },
	{ "Llama-3.2-1B", INT64_C(1235814400) },
	{ "Llama-3.2-3B", INT64_C(3212749824) },
	{ "Mistral-7B", INT64_C(7241732096) },
	{ "Qwen2.5-0.5B", INT64_C(494032768) },
	{ "Qwen2.5-1.5B", INT64_C(1543714304) },
	{ "Qwen2.5-7B", INT64_C(7615616512) },
	{ "Qwen2.5-14B", INT64_C(14770033664) },
	{ "Qwen2.5-32B", INT64_C(32763876352) },
	{ "Qwen2.5-72B", INT64_C(72706203648) },
	{ "Qwen3-0.6B", INT64_C(596049920) },
	{ "Qwen3-8B", INT64_C(8190735360) },
	{ "gemma-2b", INT64_C(2506172416) },
	{ "gemma-7b", INT64_C(8537680896) },
	{ "gemma-2-2b", INT64_C(2614341888) },
	{ "gemma-2-9b", INT64_C(9241705984) },
	{ "phi-1.5", INT64_C(1418270720) },
	{ "phi-2", INT64_C(2779683840) },
	{ "Phi-3-mini", INT64_C(3821079552) },
	{ "pythia-160m", INT64_C(162322944) },
	{ "pythia-6.9b", INT64_C(6857302016) },
	{ "gpt-neox-20b", INT64_C(20554567680) },
	{ "opt-125m", INT64_C(125239296) },
	{ "opt-350m", INT64_C(331196416) },
	{ "opt-1.3b", INT64_C(1315758080) },
	{ "opt-6.7b", INT64_C(6658473984) },
	{ "opt-13b", INT64_C(12853473280) },
	{ "bert-base", INT64_C(109482240) },
	{ "bert-large", INT64_C(335141888) },
	{ "roberta-base", INT64_C(124645632) },
	{ "roberta-large", INT64_C(355359744) },
	{ "t5-small", INT64_C(60506624) },
	{ "t5-base", INT64_C(222903552) },
	{ "t5-large", INT64_C(737668096) },
	{ "t5-3b", INT64_C(2851598336) },
	{ "flan-t5-base", INT64_C(247577856) },
	{ "ViT-B/16", INT64_C(86567656) },
	{ "ViT-L/16", INT64_C(304326632) },
	{ "ViT-H/14", INT64_C(632045800) },
	{ "mixtral-8x7b", INT64_C(46702792704) },
	{ "mixtral-8x22b", INT64_C(140630071296) },
	{ "Qwen1.5-MoE-A2.7B", INT64_C(14315784192) },
	{ "Qwen3-30B-A3B", INT64_C(30532122624) },
	{ "DeepSeek-V2-Lite", INT64_C(15706484224) },
	{ "DeepSeek-V3", INT64_C(671026404352) },
	{ "TinyLlama", INT64_C(1100048384) },
	{ "SmolLM2-1.7B", INT64_C(1711376384) },
	/* Those of the classes of transformers 5.24 and diffusers 0.42, built
	 * on torch's meta device with the numbers of the hub's config.json. */
	{ "falcon-7b", INT64_C(6921720704) },
	{ "falcon-40b", INT64_C(41303293952) },
	{ "bloom-560m", INT64_C(559214592) },
	{ "bloom-7b1", INT64_C(7069016064) },
	{ "gpt-j-6b", INT64_C(6050882784) },
	{ "distilbert", INT64_C(66362880) },
	{ "distilgpt2", INT64_C(81912576) },
	{ "deberta-v3-base", INT64_C(183831552) },
	{ "deberta-v3-large", INT64_C(434012160) },
	{ "whisper-tiny", INT64_C(37760640) },
	{ "whisper-small", INT64_C(241734912) },
	{ "whisper-large-v3", INT64_C(1543490560) },
	{ "clip-vit-large-patch14", INT64_C(427616513) },
	{ "clip", INT64_C(151277313) },
	{ "siglip", INT64_C(203155970) },
	{ "siglip-so400m", INT64_C(877960498) },
	{ "mamba-130m", INT64_C(129135360) },
	{ "mamba-2.8b", INT64_C(2768345600) },
	{ "gpt-oss-20b", INT64_C(20914757184) },
	{ "gpt-oss-120b", INT64_C(116829156672) },
	{ "olmo2-1b", INT64_C(1484916736) },
	{ "olmo2-7b", INT64_C(7298617344) },
	{ "olmo2-13b", INT64_C(13716198400) },
	{ "olmo2-32b", INT64_C(32234279936) },
	{ "qwen3-1.7b", INT64_C(1720574976) },
	{ "qwen3-4b", INT64_C(4022468096) },
	{ "qwen3-14b", INT64_C(14768307200) },
	{ "qwen3-32b", INT64_C(32762123264) },
	{ "qwen3-235b", INT64_C(235093634560) },
	{ "gemma3-1b", INT64_C(999885952) },
	{ "gemma3-4b", INT64_C(4300079472) },
	{ "gemma3-12b", INT64_C(12187325040) },
	{ "gemma3-27b", INT64_C(27432406640) },
	{ "gemma-2-27b", INT64_C(27227128320) },
	{ "phi-4", INT64_C(14659507200) },
	{ "phi-4-mini", INT64_C(3836021760) },
	{ "mistral-7b-v0.3", INT64_C(7248023552) },
	{ "mistral-nemo", INT64_C(12247782400) },
	{ "mistral-small-24b", INT64_C(23572403200) },
	{ "llama-4-scout", INT64_C(107769861120) },
	{ "llama-4-maverick", INT64_C(400711848960) },
	/* num_params of torchvision's weights (pytorch/vision:torchvision/
	 * models, each NAME.py). */
	{ "resnet18", 11689512 },
	{ "resnet34", 21797672 },
	{ "resnet50", 25557032 },
	{ "resnet101", 44549160 },
	{ "resnet152", 60192808 },
	{ "resnext50_32x4d", 25028904 },
	{ "resnext101_32x8d", 88791336 },
	{ "resnext101_64x4d", 83455272 },
	{ "wide_resnet50_2", 68883240 },
	{ "wide_resnet101_2", 126886696 },
	{ "vgg11", 132863336 },
	{ "vgg11_bn", 132868840 },
	{ "vgg13", 133047848 },
	{ "vgg13_bn", 133053736 },
	{ "vgg16", 138357544 },
	{ "vgg16_bn", 138365992 },
	{ "vgg19", 143667240 },
	{ "vgg19_bn", 143678248 },
	{ "alexnet", 61100840 },
	{ "densenet121", 7978856 },
	{ "densenet161", 28681000 },
	{ "densenet169", 14149480 },
	{ "densenet201", 20013928 },
	{ "mobilenet_v2", 3504872 },
	{ "mobilenet_v3_large", INT64_C(5483032) },
	{ "mobilenet_v3_small", INT64_C(2542856) },
	{ "regnet_x_16gf", INT64_C(54278536) },
	{ "regnet_x_1_6gf", INT64_C(9190136) },
	{ "regnet_x_32gf", INT64_C(107811560) },
	{ "regnet_x_3_2gf", INT64_C(15296552) },
	{ "regnet_x_400mf", INT64_C(5495976) },
	{ "regnet_x_800mf", INT64_C(7259656) },
	{ "regnet_x_8gf", INT64_C(39572648) },
	{ "regnet_y_128gf", INT64_C(644812894) },
	{ "regnet_y_16gf", INT64_C(83590140) },
	{ "regnet_y_1_6gf", INT64_C(11202430) },
	{ "regnet_y_32gf", INT64_C(145046770) },
	{ "regnet_y_3_2gf", INT64_C(19436338) },
	{ "regnet_y_400mf", INT64_C(4344144) },
	{ "regnet_y_800mf", INT64_C(6432512) },
	{ "regnet_y_8gf", INT64_C(39381472) },
	{ "swin", INT64_C(28288354) },
	{ "swin-s", INT64_C(49606258) },
	{ "swin-b", INT64_C(87768224) },
	{ "swin-l", INT64_C(196532476) },
	{ "swin-base-patch4-window12-384", INT64_C(87903584) },
	{ "sd3", INT64_C(2028328000) },
	{ "sd3.5-medium", INT64_C(2243171520) },
	{ "sd3.5-large", INT64_C(8056627520) },
	{ "pixart", INT64_C(611349152) },
	{ "pixart-sigma", INT64_C(610856096) },
	{ "gpt-neo-125m", INT64_C(125198592) },
	{ "gpt-neo-1.3b", INT64_C(1315575808) },
	{ "gpt-neo-2.7b", INT64_C(2651307520) },
	{ "bart-base", INT64_C(139420416) },
	{ "bart-large", INT64_C(406291456) },
	{ "bart-large-cnn", INT64_C(406290432) },
	{ "dinov2-small", INT64_C(22056576) },
	{ "dinov2-base", INT64_C(86580480) },
	{ "dinov2-large", INT64_C(304368640) },
	{ "dinov2-giant", INT64_C(1136480768) },
	{ "efficientnet_b0", 5288548 },
	{ "efficientnet_b1", 7794184 },
	{ "efficientnet_b2", 9109994 },
	{ "efficientnet_b3", 12233232 },
	{ "efficientnet_b4", 19341616 },
	{ "efficientnet_b5", 30389784 },
	{ "efficientnet_b6", 43040704 },
	{ "efficientnet_b7", 66347960 },
	{ "efficientnet_v2_s", 21458488 },
	{ "efficientnet_v2_m", 54139356 },
	{ "efficientnet_v2_l", 118515272 },
	{ "convnext_tiny", 28589128 },
	{ "convnext_small", 50223688 },
	{ "convnext_base", 88591464 },
	{ "convnext_large", 197767336 },
	{ "smollm2-360m", INT64_C(361821120) },
	{ "codellama-34b", INT64_C(33743970304) },
	{ "yi-34b", INT64_C(34388917248) },
	{ "sd1.5", INT64_C(859520964) },
	{ "sdxl", INT64_C(2567463684) },
	{ "flux", INT64_C(11901408320) },
	{ "dit-xl-2", INT64_C(749826464) },
	{ "bloom", INT64_C(176247271424) },
	{ "falcon-180b", INT64_C(178557088768) },
	{ "flan-t5-small", INT64_C(76961152) },
	{ "flan-t5-large", INT64_C(783150080) },
	{ "flan-t5-xl", INT64_C(2849757184) },
	{ "flan-t5-xxl", INT64_C(11135332352) },
	{ "t5-11b", INT64_C(11307321344) },
	{ "pythia-70m", INT64_C(70426624) },
	{ "pythia-410m", INT64_C(405334016) },
	{ "pythia-1b", INT64_C(1011781632) },
	{ "pythia-1.4b", INT64_C(1414647808) },
	{ "pythia-2.8b", INT64_C(2775208960) },
	{ "pythia-12b", INT64_C(11846072320) },
	{ "opt-2.7b", INT64_C(2651596800) },
	{ "opt-30b", INT64_C(29974540288) },
	{ "opt-66b", INT64_C(65719701504) },
	{ "bert-base-cased", INT64_C(108310272) },
	{ "xlm-roberta-base", INT64_C(278043648) },
	{ "xlm-roberta-large", INT64_C(559890432) },
	{ "whisper-large-v2", INT64_C(1543304960) },
	{ "codellama-7b", INT64_C(6738546688) },
	{ "codellama-13b", INT64_C(13016028160) },
	{ "smollm2-135m", INT64_C(134515008) },
	{ "yi-6b", INT64_C(6061035520) },
	{ "deepseek-r1-distill-qwen-1.5b", INT64_C(1777088000) },
	{ "qwen2.5-3b", INT64_C(3085938688) },
	{ "mistral-7b-v0.2", INT64_C(7241732096) },
	{ "vit_tiny_patch16_224", INT64_C(5717416) },
	{ "vit_small_patch16_224", INT64_C(22050664) },
	{ "sd2.1", INT64_C(865910724) },
	{ "clip-vit-base-patch16", INT64_C(149620737) },
};

/* Names as people write them. */
static const struct {
	const char *word, *name;
} common_names[] = {
	{ "llama3", "meta-llama/Llama-3.1-8B" },
	{ "llama-3", "meta-llama/Llama-3.1-8B" },
	{ "llama3.1", "meta-llama/Llama-3.1-8B" },
	{ "llama-8b", "meta-llama/Llama-3.1-8B" },
	{ "llama-7b", "meta-llama/Llama-2-7b-hf" },
	{ "llama2", "meta-llama/Llama-2-7b-hf" },
	{ "llama-13b", "meta-llama/Llama-2-13b-hf" },
	{ "llama-70b", "meta-llama/Llama-3.3-70B-Instruct" },
	{ "Llama-3.3-70B-Instruct", "meta-llama/Llama-3.3-70B-Instruct" },
	{ "llama3.2-1b", "meta-llama/Llama-3.2-1B" },
	{ "llama4", "meta-llama/Llama-4-Scout-17B-16E" },
	{ "mistral", "mistralai/Mistral-7B-v0.1" },
	{ "Mistral-7B-Instruct-v0.3", "mistralai/Mistral-7B-v0.3" },
	{ "gemma3", "google/gemma-3-4b-it" },
	{ "phi4", "microsoft/phi-4" },
	{ "falcon-7b-instruct", "tiiuae/falcon-7b" },
	{ "whisper-large", "openai/whisper-large-v3" },
	{ "resnet50", "microsoft/resnet-50" },
	{ "stable-diffusion", "stable-diffusion-v1-5/stable-diffusion-v1-5" },
	{ "SDXL", "stabilityai/stable-diffusion-xl-base-1.0" },
	{ "deepseek-r1", "deepseek-ai/DeepSeek-V3" },
	{ "bloom", "bigscience/bloom" },
	{ "Qwen/Qwen2.5-Coder-7B-Instruct", "Qwen/Qwen2.5-7B" },
	{ "DeepSeek-R1-Distill-Llama-8B", "meta-llama/Llama-3.1-8B" },
	{ "Mistral-7B-Instruct-v0.2", "mistralai/Mistral-7B-v0.2" },
	{ "deit_base_patch16_224", "google/vit-base-patch16-224" },
	{ "timm/resnet50.a1_in1k", "microsoft/resnet-50" },
	{ "vit_base_patch16_224.augreg2_in21k_ft_in1k",
	  "google/vit-base-patch16-224" },
};

/* Everything is of this table, which has no parameters of its own. */
static int load(void **state)
{
	static struct model_table table;
	struct strlist warnings = STRLIST_INIT;

	model_table_load(&table, NULL, &warnings);
	*state = &table;
	return warnings.count ? -1 : 0;
}

static int release(void **state)
{
	model_table_release(*state);
	return 0;
}

static const struct model_facts *known(void **state, const char *name)
{
	struct error err = ERROR_INIT;
	const struct model_facts *facts = model_table_find(*state, name, &err);

	if (!facts)
		fail_msg("%s", err.message);
	return facts;
}

static void every_count_is_exact(void **state)
{
	for (size_t i = 0; i < COUNT(published); i++) {
		const struct model_facts *facts =
			known(state, published[i].name);
		struct error err = ERROR_INIT;
		int64_t parameters = 0;

		if (model_parameters(facts, &parameters, &err) < 0)
			fail_msg("%s: %s", published[i].name, err.message);
		if (parameters != published[i].parameters)
			fail_msg("%s: %lld, not %lld", published[i].name,
				 (long long)parameters,
				 (long long)published[i].parameters);
		/* It follows from the numbers, where it is not one of them. */
		if (facts->family != MODEL_COUNTED)
			assert_int_equal(facts->parameters, 0);
	}
	assert_true(COUNT(published) >= 80);
}

static void common_names_are_known(void **state)
{
	for (size_t i = 0; i < COUNT(common_names); i++)
		assert_string_equal(known(state, common_names[i].word)->name,
				    common_names[i].name);
}

static void parts_add_up(void **state)
{
	const struct model_table *table = *state;

	for (size_t i = 0; i < table->count; i++) {
		struct model_shape shape;
		struct model_parts parts;

		assert_int_equal(
			model_shape(&table->items[i].facts, &shape, NULL), 0);
		model_parts(&shape, &parts);
		assert_int_equal(parts.layers + shape.embedding + shape.head +
					 shape.other,
				 shape.total);
		/* Counted as a whole: nothing is said of matrices. */
		if (table->items[i].facts.family == MODEL_COUNTED ||
		    table->items[i].facts.family == MODEL_CONV)
			continue;
		assert_in_range(parts.linear, parts.layers / 100 * 98,
				parts.layers);
		assert_in_range(parts.active, 1, parts.linear);
		assert_in_range(parts.matrix, 1, parts.layer);
		assert_true(parts.experts < parts.linear);
	}
}

/* By hand, from the config.json of each. */
static const struct {
	const char *name;
	struct model_parts parts;
	int64_t embedding, head;
} parts_rows[] = {
	/* A layer: 4 x 4096 x 4096, 3 x 4096 x 11008; and two norms. */
	{ "Llama-2-7B",
	  { .layers = INT64_C(32) * 202383360,
	    .layer = 202383360,
	    .linear = INT64_C(32) * 202375168,
	    .active = INT64_C(32) * 202375168,
	    .matrix = 45088768 },
	  131072000,
	  131072000 },
	/* 12 x 768 x 768; two norms and biases of 13 x 768. */
	{ "gpt2",
	  { .layers = INT64_C(12) * 7087872,
	    .layer = 7087872,
	    .linear = INT64_C(12) * 7077888,
	    .active = INT64_C(12) * 7077888,
	    .matrix = 2359296 },
	  39383808,
	  0 },
	/* 3 x 4096 x 14336 for an expert: a token goes to two of eight. */
	{ "mixtral-8x7b",
	  { .layers = INT64_C(32) * 1451270144,
	    .layer = 1451270144,
	    .linear = INT64_C(32) * 1451261952,
	    .experts = INT64_C(32) * 8 * 176160768,
	    .active = INT64_C(32) * 394297344,
	    .matrix = 58720256 },
	  131072000,
	  131072000 },
};

static void parts_are_those_of_the_matrices(void **state)
{
	for (size_t i = 0; i < COUNT(parts_rows); i++) {
		struct model_shape shape;
		struct model_parts parts;

		print_message("%s\n", parts_rows[i].name);
		assert_int_equal(model_shape(known(state, parts_rows[i].name),
					     &shape, NULL),
				 0);
		model_parts(&shape, &parts);
		assert_int_equal(parts.layers, parts_rows[i].parts.layers);
		assert_int_equal(parts.layer, parts_rows[i].parts.layer);
		assert_int_equal(parts.linear, parts_rows[i].parts.linear);
		assert_int_equal(parts.experts, parts_rows[i].parts.experts);
		assert_int_equal(parts.active, parts_rows[i].parts.active);
		assert_int_equal(parts.matrix, parts_rows[i].parts.matrix);
		assert_int_equal(shape.embedding, parts_rows[i].embedding);
		assert_int_equal(shape.head, parts_rows[i].head);
	}
}

/* What peft prints as trainable params. */
static const struct {
	const char *name;
	int64_t rank;
	unsigned targets;
	int64_t parameters, outputs;
} lora_rows[] = {
	{ "Llama-2-7B", 8, 0, 4194304, 262144 },
	{ "Llama-2-7B", 16, TARGETS_ALL, 39976960, 1359872 },
	{ "Llama-3.1-8B", 16, TARGETS_ALL, 41943040, 1376256 },
	{ "Mistral-7B", 8, TARGET_Q | TARGET_V, 3407872, 163840 },
	{ "gpt2", 8, 0, 294912, 27648 },
	/* One matrix for three targets counts once. */
	{ "gpt2", 8, TARGET_Q | TARGET_K | TARGET_V, 294912, 27648 },
	{ "gpt2", 8, TARGET_GATE, 0, 0 },
	{ "opt-6.7b", 16, 0, 8388608, 262144 },
	/* The decoder attends to itself and to the encoder. */
	{ "t5-base", 8, 0, 884736, 55296 },
	{ "mixtral-8x7b", 8, TARGET_GATE, 37748736, 3670016 },
};

static void adapters_are_counted(void **state)
{
	for (size_t i = 0; i < COUNT(lora_rows); i++) {
		struct model_shape shape;

		print_message("%s rank %d\n", lora_rows[i].name,
			      (int)lora_rows[i].rank);
		assert_int_equal(model_shape(known(state, lora_rows[i].name),
					     &shape, NULL),
				 0);
		assert_int_equal(lora_parameters(&shape, lora_rows[i].rank,
						 lora_rows[i].targets),
				 lora_rows[i].parameters);
		assert_int_equal(lora_outputs(&shape, lora_rows[i].targets),
				 lora_rows[i].outputs);
	}
}

static void parameters_that_are_given_win(void **state)
{
	struct model_facts facts = *known(state, "Llama-2-7B");
	struct model_facts unknown = { .parameters = 7000000000 };
	struct error err = ERROR_INIT;
	struct model_shape shape;
	struct model_parts parts;
	int64_t parameters;

	facts.parameters = 6800000000;
	assert_int_equal(model_parameters(&facts, &parameters, NULL), 0);
	assert_int_equal(parameters, 6800000000);
	facts.parameters = 1000;
	assert_int_equal(model_parameters(&facts, &parameters, &err), -EINVAL);
	assert_non_null(strstr(err.message, "parameters 1000 is less than"));

	assert_int_equal(model_shape(&unknown, &shape, NULL), 0);
	model_parts(&shape, &parts);
	assert_int_equal(shape.total, 7000000000);
	assert_int_equal(parts.linear, 7000000000);
	unknown.vocab = 32000;
	unknown.hidden = 4096;
	assert_int_equal(model_shape(&unknown, &shape, NULL), 0);
	model_parts(&shape, &parts);
	assert_int_equal(shape.embedding, 131072000);
	assert_int_equal(shape.head, 131072000);
	assert_int_equal(parts.linear, 7000000000 - 2 * INT64_C(131072000));
	unknown.parameters = 1000;
	assert_int_equal(model_shape(&unknown, &shape, NULL), 0);
	assert_int_equal(shape.other, 1000);
}

/* Of Llama-2-7B, one number changed. */
static const struct {
	const char *field;
	int64_t value;
	int code;
	const char *words;
} wrong_rows[] = {
	{ "layers", 0, -EINVAL, "layers is not known" },
	{ "hidden", 0, -EINVAL, "hidden is not known" },
	{ "heads", 0, -EINVAL, "heads is not known" },
	{ "ffn", 0, -EINVAL, "ffn is not known" },
	{ "vocab", 0, -EINVAL, "vocab is not known" },
	{ "layers", -1, -ERANGE, "layers is -1" },
	{ "hidden", INT64_MIN, -ERANGE, "hidden is -9223372036854775808" },
	{ "vocab", INT64_MAX, -ERANGE, "vocab is 9223372036854775807" },
	{ "kv_heads", 3, -EINVAL, "heads 32 is no multiple of kv_heads 3" },
	{ "layers", 100000, 0, "" },
	{ "head_dim", 1000000, 0, "" },
};

static void place(struct model_facts *facts, const char *name, int64_t value)
{
	for (const struct model_field *field = model_fields; field->name;
	     field++)
		if (strcmp(field->name, name) == 0)
			memcpy((char *)facts + field->offset, &value,
			       sizeof(value));
}

static void a_wrong_number_is_named(void **state)
{
	for (size_t i = 0; i < COUNT(wrong_rows); i++) {
		struct model_facts facts = *known(state, "Llama-2-7B");
		struct error err = ERROR_INIT;
		int64_t parameters;

		print_message("%s\n", wrong_rows[i].field);
		place(&facts, wrong_rows[i].field, wrong_rows[i].value);
		assert_int_equal(model_parameters(&facts, &parameters, &err),
				 wrong_rows[i].code);
		if (!strstr(err.message, wrong_rows[i].words))
			fail_msg("%s", err.message);
	}
}

/* The largest of every field at once: refused, not wrapped around. */
static void nothing_overflows(void **state)
{
	(void)state;
	for (int family = 1; family < MODEL_FAMILIES; family++) {
		struct model_facts facts;
		struct error err = ERROR_INIT;
		int64_t parameters;

		model_facts_init(&facts, (enum model_family)family);
		for (const struct model_field *field = model_fields;
		     field->name; field++)
			assert_int_equal(model_facts_set(&facts, field->name,
							 field->most, NULL),
					 0);
		facts.patch = 1;
		facts.steps[0] = (struct conv_step){ .kind = CONV_NORMED,
						     .size = 100000,
						     .repeat = 200,
						     .kernel = 100000,
						     .stride = 1,
						     .groups = 1 };
		facts.step_count = 1;
		assert_int_equal(model_parameters(&facts, &parameters, &err),
				 -ERANGE);
		assert_non_null(strstr(err.message, "more than 10^15"));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_count_is_exact),
		cmocka_unit_test(common_names_are_known),
		cmocka_unit_test(parts_add_up),
		cmocka_unit_test(parts_are_those_of_the_matrices),
		cmocka_unit_test(adapters_are_counted),
		cmocka_unit_test(parameters_that_are_given_win),
		cmocka_unit_test(a_wrong_number_is_named),
		cmocka_unit_test(nothing_overflows),
	};

	return cmocka_run_group_tests(tests, load, release);
}
