/* Models from files of our own, the hub's cache and names. */
/* SPDX-License-Identifier: MIT */
/* USES estimator configs */
#include "configs/models/model.h"

#include "base/alloc.h"
#include "base/textfile.h"
#include "tests/unit/model_sample.h"
#include "tests/unit/scratch.h"

#include <errno.h>
#include <stdbool.h>

#define COUNT(rows) (sizeof(rows) / sizeof(*(rows)))

#define OWN_TOML                                                               \
	"[model] # mine\nname = \"mine\"\nlayers = 32\nhidden = 4_096\n"       \
	"heads = 32\nffn = 11008\nvocab = 32000\nfamily = \"llama\"\n"

static const struct {
	const char *name, *text;
	int64_t parameters;
	bool is_tied;
} own_rows[] = {
	{ "m.toml", OWN_TOML, 6738415616, false },
	{ "m.toml", OWN_TOML "tied = true\n", 6607343616, true },
	{ "m.yaml",
	  "model:\n  family: gpt2\n  layers: 12\n  hidden: 768\n  heads: 12\n"
	  "  vocab: 50257\n  positions: 1024\n",
	  124439808, true },
	{ "m.yml", "params: 1.3B\n", 1300000000, false },
	{ "m.json", "{\"params\": \"350M\", \"layers\": 24}", 350000000,
	  false },
	{ "m.ini",
	  "family = moe\nlayers = 32\nhidden = 4096\nheads = 32\n"
	  "kv_heads = 8\nvocab = 32000\nexperts = 8\nexperts_per_token = 2\n"
	  "expert_ffn = 14336\n",
	  46702792704, false },
	{ "m.cfg", "[model]\nparameters = 6738415616\n", 6738415616, false },
};

static void files_of_our_own(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(own_rows); i++) {
		struct error err = ERROR_INIT;
		struct model_facts facts;

		if (sample_read_text(own_rows[i].name, own_rows[i].text, &facts,
				     &err) < 0)
			fail_msg("%s: %s", own_rows[i].text, err.message);
		assert_int_equal(sample_parameters(&facts),
				 own_rows[i].parameters);
		assert_int_equal(facts.is_tied, own_rows[i].is_tied);
	}
}

static void write_text(const char *folder, const char *name, const char *text)
{
	char path[SCRATCH_PATH_MAX];
	char *slash;

	scratch_path(path, folder, name);
	slash = strrchr(path, '/');
	*slash = '\0';
	assert_int_equal(folder_make(path, 0700, NULL), 0);
	*slash = '/';
	assert_int_equal(scratch_write(path, text, strlen(text)), 0);
}

#define TINY                                                                   \
	"{\"model_type\": \"llama\", \"hidden_size\": 4096, "                  \
	"\"intermediate_size\": 11008, \"num_hidden_layers\": 32, "            \
	"\"num_attention_heads\": 32, \"vocab_size\": 32000}"
#define REPOSITORY "models--org--tiny"

/* Which variable says where, below the scratch folder. */
static const struct {
	const char *variable, *value, *cache;
} hub_rows[] = {
	{ "HF_HUB_CACHE", "a", "a" },
	{ "HUGGINGFACE_HUB_CACHE", "b", "b" },
	{ "HF_HOME", "c", "c/hub" },
	{ "XDG_CACHE_HOME", "d", "d/huggingface/hub" },
	{ "HOME", "e", "e/.cache/huggingface/hub" },
};

static void the_hub_cache_is_searched(void **state)
{
	struct strlist environment = STRLIST_INIT;
	const struct model_sources sources = { &environment, NULL };

	/* From the last on: each goes before those that are set already. */
	for (size_t i = COUNT(hub_rows); i-- > 0;) {
		char *value =
			xasprintf("%s/%s", (char *)*state, hub_rows[i].value);
		char *place = xasprintf("%s/%s/" REPOSITORY, (char *)*state,
					hub_rows[i].cache);
		struct error err = ERROR_INIT;
		struct model_facts facts;

		strlist_env_set(&environment, hub_rows[i].variable, value);
		assert_int_equal(model_read(&facts, "org/tiny", &sources, &err),
				 -ENOENT);
		assert_non_null(strstr(err.message, hub_rows[i].cache));
		write_text(place, "refs/main", "abc123\n");
		write_text(place, "snapshots/abc123/config.json", TINY);
		write_text(place, "snapshots/old/config.json", "{}");
		if (model_read(&facts, "org/tiny", &sources, &err) < 0)
			fail_msg("%s", err.message);
		assert_int_equal(sample_parameters(&facts), 6738415616);
		assert_string_equal(facts.name, "org/tiny");
		free(value);
		free(place);
	}
	strlist_release(&environment);
}

static void a_home_may_be_a_tilde(void **state)
{
	struct strlist environment = STRLIST_INIT;
	const struct model_sources sources = { &environment, NULL };
	struct model_facts facts;

	strlist_env_set(&environment, "HOME", *state);
	strlist_env_set(&environment, "HF_HOME", "~/hf");
	/* No ref: there is only one. */
	write_text(*state, "hf/hub/models--gpt2/snapshots/x/config.json", TINY);
	assert_int_equal(model_read(&facts, "gpt2", &sources, NULL), 0);
	assert_int_equal(sample_parameters(&facts), 6738415616);
	strlist_release(&environment);
}

/* What is not a name of the hub never becomes a path. */
static void names_that_climb_are_none(void **state)
{
	static const char *const names[] = {
		"../x",   "a/../../x", "/etc/nothing", "a/b/c", "..", ".",
		"a/.hid", "",          "a b",          "a/",    "/a", "a\nb",
		"~/x",    "$HOME",
	};
	struct strlist environment = STRLIST_INIT;

	strlist_env_set(&environment, "HOME", *state);
	for (size_t i = 0; i < COUNT(names); i++) {
		struct error err = ERROR_INIT;

		assert_null(model_hub_folder(names[i], &environment, &err));
		assert_non_null(strstr(err.message, "no name of a model"));
	}
	/* Nor does a ref that is none. */
	write_text(*state, ".cache/huggingface/hub/" REPOSITORY "/refs/main",
		   "../../../..");
	assert_null(model_hub_folder("org/tiny", &environment, NULL));
	strlist_release(&environment);
}

static const struct {
	const char *typed, *name;
} name_rows[] = {
	{ "llama-2-7b", "meta-llama/Llama-2-7b-hf" },
	{ "Llama-2-7b-chat-hf", "meta-llama/Llama-2-7b-hf" },
	{ "meta-llama/Llama-2-7b-hf", "meta-llama/Llama-2-7b-hf" },
	{ "NousResearch/Llama-2-7b-hf", "meta-llama/Llama-2-7b-hf" },
	{ "LLAMA2_7B", "meta-llama/Llama-2-7b-hf" },
	{ "gpt2", "openai-community/gpt2" },
	{ "GPT2-XL", "openai-community/gpt2-xl" },
	{ "Qwen2.5-7B", "Qwen/Qwen2.5-7B" },
	{ "Qwen/Qwen2.5-7B-Instruct", "Qwen/Qwen2.5-7B" },
	{ "gemma-2-9b-it", "google/gemma-2-9b" },
	{ "Meta-Llama-3-8B-Instruct", "meta-llama/Llama-3.1-8B" },
	{ "vit-b/16", "google/vit-base-patch16-224" },
	{ "regnet_y_1_6gf", "torchvision/regnet_y_1_6gf" },
	{ "torchtune.models.llama3_1.qlora_llama3_1_8b",
	  "meta-llama/Llama-3.1-8B" },
	{ "torchtune.models.llama3_1.llama3_1_70b",
	  "meta-llama/Llama-3.1-70B" },
	{ "torchtune.models.llama3_2.lora_llama3_2_1b",
	  "meta-llama/Llama-3.2-1B" },
	{ "torchtune.models.llama2.llama2_7b", "meta-llama/Llama-2-7b-hf" },
	{ "torchtune.models.code_llama2.lora_code_llama2_7b",
	  "codellama/CodeLlama-7b-hf" },
	{ "torchtune.models.qwen2_5.lora_qwen2_5_1_5b_instruct",
	  "Qwen/Qwen2.5-1.5B" },
	{ "torchtune.models.qwen2_5.qwen2_5_0_5b", "Qwen/Qwen2.5-0.5B" },
	{ "torchtune.models.qwen2_5.qwen2_5_7b_base", "Qwen/Qwen2.5-7B" },
	{ "torchtune.models.gemma2.lora_gemma2_9b", "google/gemma-2-9b" },
	{ "torchtune.models.mistral.mistral_7b", "mistralai/Mistral-7B-v0.1" },
	{ "torchtune.models.phi3.phi3_mini",
	  "microsoft/Phi-3-mini-4k-instruct" },
	{ "torchtune.models.phi4.phi4_14b", "microsoft/phi-4" },
	{ "torchtune.models.clip.clip_vision_encoder", NULL },
	{ "torchtune.models.", NULL },
	{ "regnet_y_16gf", "torchvision/regnet_y_16gf" },
	{ "torchvision/regnet_y_1_6gf", "torchvision/regnet_y_1_6gf" },
	/* Another size, another vocabulary, another model: not guessed. */
	{ "Qwen2-57B", NULL },
	{ "mistral-7b-v0.3", "mistralai/Mistral-7B-v0.3" },
	{ "mistral-7b-v0.9", NULL },
	{ "bert-base-klingon", NULL },
	{ "llama", NULL },
	{ "", NULL },
	{ "-", NULL },
};

static void names_are_known(void **state)
{
	struct strlist warnings = STRLIST_INIT;
	struct model_table table;

	(void)state;
	model_table_load(&table, NULL, &warnings);
	assert_int_equal(warnings.count, 0);
	assert_true(table.count >= 55);
	for (size_t i = 0; i < COUNT(name_rows); i++) {
		struct error err = ERROR_INIT;
		const struct model_facts *facts =
			model_table_find(&table, name_rows[i].typed, &err);

		print_message("%s\n", name_rows[i].typed);
		assert_int_equal(facts != NULL, name_rows[i].name != NULL);
		if (facts)
			assert_string_equal(facts->name, name_rows[i].name);
		else
			assert_non_null(strstr(err.message, "is no model"));
	}
	/* Each name finds its own line. */
	for (size_t i = 0; i < table.count; i++)
		assert_ptr_equal(model_table_find(&table,
						  table.items[i].facts.name,
						  NULL),
				 &table.items[i].facts);
	model_table_release(&table);
}

static void a_user_adds_models(void **state)
{
	static const char text[] =
		"name,family,layers,hidden,heads,ffn,vocab\n"
		"me/mine,llama,2,8,2,16,100\n"
		"openai-community/gpt2,llama,1,8,2,16,100\n"
		"bad,llama,2,,2,16,100\nbad,none,2,8,2,16,100\n"
		"bad,llama,2,8,x,16,100\n";
	struct strlist warnings = STRLIST_INIT;
	struct model_table table;
	char path[SCRATCH_PATH_MAX];

	scratch_path(path, *state, "models.csv");
	assert_int_equal(scratch_write(path, text, sizeof(text) - 1), 0);
	model_table_load(&table, path, &warnings);
	assert_int_equal(warnings.count, 3);
	assert_non_null(strstr(warnings.items[0], "models.csv:4: hidden is"));
	assert_non_null(strstr(warnings.items[1], ":5: the family is none of"));
	assert_non_null(strstr(warnings.items[2], ":6: heads: 'x' is not"));
	assert_int_equal(model_table_find(&table, "mine", NULL)->hidden, 8);
	assert_int_equal(model_table_find(&table, "gpt2", NULL)->layers, 1);
	model_table_release(&table);
	strlist_release(&warnings);
}

static void what_is_nowhere_is_told(void **state)
{
	struct strlist environment = STRLIST_INIT, warnings = STRLIST_INIT;
	struct model_table table;
	const struct model_sources sources = { &environment, &table };
	struct error err = ERROR_INIT;
	struct model_facts facts;

	strlist_env_set(&environment, "HOME", *state);
	model_table_load(&table, NULL, &warnings);
	assert_int_equal(model_read(&facts, "Qwen/Qwen9-7B", &sources, &err),
			 -ENOENT);
	assert_non_null(strstr(err.message, "is no file or folder"));
	assert_non_null(strstr(err.message, ".cache/huggingface/hub"));
	assert_non_null(strstr(err.message, "near it: Qwen/Qwen2.5-0.5B"));
	assert_int_equal(model_read(&facts, "gpt2", &sources, &err), 0);
	assert_int_equal(sample_parameters(&facts), 124439808);
	assert_int_equal(model_read(&facts, *state, &sources, &err), -ENOENT);
	assert_non_null(strstr(err.message, "neither config.json nor"));
	model_table_release(&table);
	strlist_release(&environment);
}

#define TEST(function)                                                         \
	cmocka_unit_test_setup_teardown(function, scratch_make, scratch_remove)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(files_of_our_own),        TEST(the_hub_cache_is_searched),
		TEST(a_home_may_be_a_tilde),   TEST(names_that_climb_are_none),
		TEST(names_are_known),         TEST(a_user_adds_models),
		TEST(what_is_nowhere_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
