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
	assert_int_equal(COUNT(published), 55);
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
		assert_int_equal(facts->parameters, 0);
	}
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
		assert_int_equal(model_parameters(&facts, &parameters, &err),
				 -ERANGE);
		assert_non_null(strstr(err.message, "more than 10^15"));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_count_is_exact),
		cmocka_unit_test(parts_add_up),
		cmocka_unit_test(parts_are_those_of_the_matrices),
		cmocka_unit_test(adapters_are_counted),
		cmocka_unit_test(parameters_that_are_given_win),
		cmocka_unit_test(a_wrong_number_is_named),
		cmocka_unit_test(nothing_overflows),
	};

	return cmocka_run_group_tests(tests, load, release);
}
