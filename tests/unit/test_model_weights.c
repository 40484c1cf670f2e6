/* Weights on disk: counted in their headers, exactly or not at all. */
/* SPDX-License-Identifier: MIT */
/* USES estimator configs */
#include "configs/models/model.h"

#include "base/alloc.h"
#include "base/strbuf.h"
#include "configs/models/model_safetensors.h"
#include "tests/unit/model_sample.h"
#include "tests/unit/scratch.h"

#include <errno.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/wait.h>

#define COUNT(rows) (sizeof(rows) / sizeof(*(rows)))
#define MIB_BYTES ((uint64_t)1 << 20)

/* A file under way: a header, and where its data ends. */
struct file {
	struct strbuf header;
	uint64_t data_bytes;
};

static void tensor_add(struct file *file, const char *name, const char *dtype,
		       const char *shape, uint64_t bytes)
{
	uint64_t end = file->data_bytes + bytes;

	strbuf_addf(&file->header,
		    "%s\"%s\":{\"dtype\":\"%s\",\"shape\":[%s],"
		    "\"data_offsets\":[%llu,%llu]}",
		    file->header.length ? ","
					: "{\"__metadata__\":"
					  "{\"format\":\"pt\"},",
		    name, dtype, shape, (unsigned long long)file->data_bytes,
		    (unsigned long long)end);
	file->data_bytes = end;
}

/* What follows the header is a hole. */
static void write_raw(const char *path, uint64_t claim, const char *header,
		      uint64_t rest)
{
	unsigned char length[8];
	struct strbuf out = STRBUF_INIT;

	for (int i = 0; i < 8; i++)
		length[i] = (unsigned char)(claim >> (8 * i));
	strbuf_add(&out, length, sizeof(length));
	strbuf_adds(&out, header);
	assert_int_equal(scratch_write(path, out.data, out.length), 0);
	assert_int_equal(truncate(path, (off_t)(out.length + rest)), 0);
	strbuf_release(&out);
}

static void file_write(struct file *file, const char *folder, const char *name)
{
	char path[SCRATCH_PATH_MAX];

	strbuf_adds(&file->header, "}");
	write_raw(scratch_path(path, folder, name), file->header.length,
		  strbuf_text(&file->header), file->data_bytes);
	strbuf_release(&file->header);
	memset(file, 0, sizeof(*file));
}

static int read_path(const char *folder, const char *name,
		     struct model_facts *facts, struct error *err)
{
	static const struct model_sources sources;
	char path[SCRATCH_PATH_MAX];

	return model_read(facts, scratch_path(path, folder, name), &sources,
			  err);
}

static void write_text(const char *folder, const char *name, const char *text)
{
	char path[SCRATCH_PATH_MAX];

	assert_int_equal(scratch_write(scratch_path(path, folder, name), text,
				       strlen(text)),
			 0);
}

/* What counts of one tensor beside a plain one of 100 parameters. */
static const struct {
	const char *name, *dtype, *shape;
	uint64_t bytes;
	int64_t parameters;
} tensor_rows[] = {
	{ "a.weight", "BF16", "30,7", 420, 210 },
	{ "a.weight", "F8_E4M3", "8,8", 64, 64 },
	{ "a.weight", "F64", "", 8, 1 },
	{ "a.weight", "F32", "0,5", 0, 0 },
	{ "a.weight", "I8", "8,8", 64, 64 },
	/* bitsandbytes: two weights in a byte, and what belongs to them. */
	{ "q_proj.weight", "U8", "32,1", 32, 64 },
	{ "q_proj.weight.absmax", "U8", "9", 9, 0 },
	{ "q_proj.weight.quant_map", "F32", "16", 64, 0 },
	{ "q_proj.weight.quant_state.bitsandbytes__nf4", "U8", "81", 81, 0 },
	{ "q_proj.SCB", "F32", "8", 32, 0 },
	/* GPTQ and AWQ: eight in 32 bits. */
	{ "q_proj.qweight", "I32", "8,4", 128, 256 },
	{ "q_proj.qzeros", "I32", "2,4", 32, 0 },
	{ "q_proj.scales", "F16", "2,8", 32, 0 },
	{ "q_proj.g_idx", "I32", "8", 32, 0 },
	{ "mlp.experts.down_proj_blocks", "U8", "4,8", 32, 64 },
	{ "mlp.experts.down_proj_scales", "U8", "4,2", 8, 0 },
	{ "a.weight_scale_inv", "F32", "2,2", 16, 0 },
	/* Buffers. */
	{ "h.0.attn.bias", "F32", "1,1,8,8", 256, 0 },
	{ "h.0.attn.c_attn.bias", "F32", "24", 96, 24 },
	{ "x.attention.bias", "F32", "8", 32, 8 },
	{ "h.0.attn.masked_bias", "F32", "", 4, 0 },
	{ "embeddings.position_ids", "I64", "1,8", 64, 0 },
	{ "rotary_emb.inv_freq", "F32", "8", 32, 0 },
	{ "attention.bias", "BOOL", "1,1,8,8", 64, 0 },
	/* Adapters are not the model's. */
	{ "q_proj.lora_A.default.weight", "F32", "8,4", 128, 0 },
	{ "q_proj.lora_magnitude_vector", "F32", "8", 32, 0 },
	{ "lm_head.weight", "F32", "8,4", 128, 32 },
	{ "encoder.embed_tokens.weight", "F32", "8,4", 128, 0 },
	{ "model.encoder.embed_tokens.weight", "F32", "8,4", 128, 32 },
};

static void what_counts_as_a_parameter(void **state)
{
	for (size_t i = 0; i < COUNT(tensor_rows); i++) {
		struct file file = { .data_bytes = 0 };
		struct stored_weights weights = { .parameters = 0 };
		char path[SCRATCH_PATH_MAX];
		struct error err = ERROR_INIT;

		tensor_add(&file, "plain", "F32", "10,10", 400);
		tensor_add(&file, tensor_rows[i].name, tensor_rows[i].dtype,
			   tensor_rows[i].shape, tensor_rows[i].bytes);
		file_write(&file, *state, "a.safetensors");
		scratch_path(path, *state, "a.safetensors");
		if (weights_add_file(&weights, path, &err) < 0)
			fail_msg("%s: %s", tensor_rows[i].name, err.message);
		if (weights.parameters != 100 + tensor_rows[i].parameters)
			fail_msg("%s: %lld", tensor_rows[i].name,
				 (long long)weights.parameters);
		assert_int_equal(weights.bytes, 400 + tensor_rows[i].bytes);
	}
}

#define CONFIG_OF(tied, more)                                                  \
	"{\"model_type\": \"llama\", \"hidden_size\": 8, "                     \
	"\"intermediate_size\": 16, \"num_hidden_layers\": 2, "                \
	"\"num_attention_heads\": 2, \"vocab_size\": 100, "                    \
	"\"tie_word_embeddings\": " tied more "}"

/* Two layers of h = 8, f = 16, v = 100; a head, or none. */
static void llama_write(const char *folder, const char *name, bool has_head)
{
	static const char *const names[] = {
		"self_attn.q_proj",        "self_attn.k_proj",
		"self_attn.v_proj",        "self_attn.o_proj",
		"mlp.gate_proj",           "mlp.up_proj",
		"mlp.down_proj",           "input_layernorm",
		"post_attention_layernorm"
	};
	static const int64_t sizes[] = { 64, 64, 64, 64, 128, 128, 128, 8, 8 };
	struct file file = { .data_bytes = 0 };

	tensor_add(&file, "model.embed_tokens.weight", "BF16", "100,8", 1600);
	for (int layer = 0; layer < 2; layer++) {
		for (size_t i = 0; i < COUNT(names); i++) {
			char *tensor = xasprintf("model.layers.%d.%s.weight",
						 layer, names[i]);
			char *shape = xasprintf("%d", (int)sizes[i]);

			tensor_add(&file, tensor, "BF16", shape,
				   (uint64_t)sizes[i] * 2);
			free(tensor);
			free(shape);
		}
	}
	tensor_add(&file, "model.norm.weight", "BF16", "8", 16);
	if (has_head)
		tensor_add(&file, "lm_head.weight", "BF16", "100,8", 1600);
	file_write(&file, folder, name);
}

#define LAYERS_OF_LLAMA (2 * (4 * 64 + 3 * 128 + 2 * 8) + 8)

/* The weights say the same as the config, whether or not there is a head. */
static void a_folder_is_exact(void **state)
{
	static const struct {
		const char *config;
		bool has_head, is_tied;
		int64_t parameters;
	} rows[] = {
		{ CONFIG_OF("false", ""), true, false, LAYERS_OF_LLAMA + 1600 },
		{ CONFIG_OF("true", ""), false, true, LAYERS_OF_LLAMA + 800 },
		/* The embedding a second time. */
		{ CONFIG_OF("true", ""), true, true, LAYERS_OF_LLAMA + 800 },
		/* The config says nothing of it: the file does. */
		{ CONFIG_OF("false", ""), false, true, LAYERS_OF_LLAMA + 800 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct error err = ERROR_INIT;
		struct model_facts facts;

		llama_write(*state, "model.safetensors", rows[i].has_head);
		write_text(*state, "config.json", rows[i].config);
		if (read_path(*state, "", &facts, &err) < 0)
			fail_msg("%s", err.message);
		assert_int_equal(facts.parameters, rows[i].parameters);
		assert_int_equal(facts.is_tied, rows[i].is_tied);
		assert_int_equal(facts.layers, 2);
		assert_string_equal(facts.dtype, "bfloat16");
		assert_int_equal(facts.stored_bytes,
				 2 * (LAYERS_OF_LLAMA +
				      (rows[i].has_head ? 1600 : 800)));
		facts.parameters = 0;
		assert_int_equal(sample_parameters(&facts), rows[i].parameters);
	}
}

/* A file is read with the config beside it, and without one. */
static void a_file_alone(void **state)
{
	struct model_facts facts;

	llama_write(*state, "other.safetensors", true);
	assert_int_equal(read_path(*state, "other.safetensors", &facts, NULL),
			 0);
	assert_int_equal(facts.family, MODEL_UNKNOWN);
	assert_int_equal(sample_parameters(&facts), LAYERS_OF_LLAMA + 1600);
	write_text(*state, "config.json",
		   "{\"model_type\": \"rwkv\", "
		   "\"hidden_size\": 8}");
	assert_int_equal(read_path(*state, "other.safetensors", &facts, NULL),
			 0);
	assert_int_equal(facts.family, MODEL_UNKNOWN);
	assert_int_equal(facts.hidden, 8);
	write_text(*state, "config.json", CONFIG_OF("false", ""));
	assert_int_equal(read_path(*state, "other.safetensors", &facts, NULL),
			 0);
	assert_int_equal(facts.family, MODEL_LLAMA);
	assert_int_equal(facts.parameters, LAYERS_OF_LLAMA + 1600);
}

static void index_write(const char *folder, int shards)
{
	struct strbuf text = STRBUF_INIT;

	strbuf_adds(&text, "{\"metadata\": {\"total_size\": 4000}, "
			   "\"weight_map\": {");
	for (int i = 0; i < 2 * shards; i++)
		strbuf_addf(&text, "%s\"t%d\": \"model-%05d-of-%05d.st\"",
			    i ? ", " : "", i, i % shards + 1, shards);
	strbuf_adds(&text, "}}");
	write_text(folder, "model.safetensors.index.json", strbuf_text(&text));
	strbuf_release(&text);
}

static void shards_write(const char *folder, int shards)
{
	for (int i = 0; i < shards; i++) {
		struct file file = { .data_bytes = 0 };
		char *first = xasprintf("t%d", i);
		char *second = xasprintf("t%d", i + shards);
		char *name = xasprintf("model-%05d-of-%05d.st", i + 1, shards);
		char *shape = xasprintf("%d,3", i + 1);

		tensor_add(&file, first, "F16", "10", 20);
		tensor_add(&file, second, "F16", shape, 6 * (uint64_t)(i + 1));
		file_write(&file, folder, name);
		free(first);
		free(second);
		free(name);
		free(shape);
	}
}

static void a_hundred_shards(void **state)
{
	char path[SCRATCH_PATH_MAX];
	struct error err = ERROR_INIT;
	struct model_facts facts;

	index_write(*state, 100);
	shards_write(*state, 100);
	if (read_path(*state, "", &facts, &err) < 0)
		fail_msg("%s", err.message);
	assert_int_equal(facts.parameters, 100 * 10 + 3 * 5050);
	assert_int_equal(facts.stored_bytes, 2 * facts.parameters);
	/* One is missing: that is said, or the config says enough. */
	scratch_path(path, *state, "model-00077-of-00100.st");
	assert_int_equal(unlink(path), 0);
	assert_int_equal(read_path(*state, "", &facts, &err), -ENOENT);
	assert_non_null(strstr(err.message, "model-00077-of-00100.st"));
	write_text(*state, "config.json", CONFIG_OF("false", ""));
	assert_int_equal(
		read_path(*state, "model.safetensors.index.json", &facts, &err),
		0);
	assert_int_equal(facts.parameters, 0);
	assert_int_equal(facts.stored_bytes, 4000);
	assert_int_equal(sample_parameters(&facts), LAYERS_OF_LLAMA + 1600);
}

/* MTP of DeepSeek: layer 61 of 61; of others a layer is a layer. */
static void layers_behind_the_last_do_not_count(void **state)
{
	struct file file = { .data_bytes = 0 };
	struct stored_weights weights = { .layers = 61 };
	char path[SCRATCH_PATH_MAX];

	tensor_add(&file, "model.layers.60.a.weight", "F32", "10", 40);
	tensor_add(&file, "model.layers.61.a.weight", "F32", "10", 40);
	tensor_add(&file, "model.layers.610.a.weight", "F32", "10", 40);
	tensor_add(&file, "vision.layers.70.a.weight", "F32", "10", 40);
	file_write(&file, *state, "a.safetensors");
	scratch_path(path, *state, "a.safetensors");
	assert_int_equal(weights_add_file(&weights, path, NULL), 0);
	assert_int_equal(weights.parameters, 20);
	weights = (struct stored_weights){ .layers = 0 };
	assert_int_equal(weights_add_file(&weights, path, NULL), 0);
	assert_int_equal(weights.parameters, 40);
}

/* Of a folder, the config says how many layers there are. */
static void a_folder_of_deepseek(void **state)
{
	struct file file = { .data_bytes = 0 };
	struct error err = ERROR_INIT;
	struct model_facts facts;

	write_text(*state, "config.json",
		   "{\"model_type\": \"deepseek_v3\", \"hidden_size\": 64, "
		   "\"kv_lora_rank\": 8, \"moe_intermediate_size\": 16, "
		   "\"n_routed_experts\": 4, \"num_attention_heads\": 4, "
		   "\"num_experts_per_tok\": 2, \"num_hidden_layers\": 3, "
		   "\"qk_nope_head_dim\": 8, \"qk_rope_head_dim\": 4, "
		   "\"v_head_dim\": 8, \"vocab_size\": 100}");
	tensor_add(&file, "model.layers.2.a.weight", "F8_E4M3", "1000", 1000);
	tensor_add(&file, "model.layers.2.a.weight_scale_inv", "F32", "4", 16);
	tensor_add(&file, "model.layers.3.a.weight", "F8_E4M3", "10", 10);
	file_write(&file, *state, "model.safetensors");
	if (read_path(*state, "", &facts, &err) < 0)
		fail_msg("%s", err.message);
	assert_int_equal(facts.parameters, 1000);
	assert_string_equal(facts.dtype, "float8_e4m3fn");
}

static void what_is_packed_otherwise_is_left_to_the_config(void **state)
{
	struct file file = { .data_bytes = 0 };
	struct error err = ERROR_INIT;
	struct model_facts facts;

	tensor_add(&file, "a.strange", "I32", "1000", 4000);
	tensor_add(&file, "b.weight", "F32", "10", 40);
	file_write(&file, *state, "model.safetensors");
	assert_int_equal(read_path(*state, "", &facts, &err), -EINVAL);
	assert_non_null(strstr(err.message, "packed in a way that is not"));
	write_text(*state, "config.json", CONFIG_OF("false", ""));
	assert_int_equal(read_path(*state, "", &facts, NULL), 0);
	assert_int_equal(facts.parameters, 0);
	assert_int_equal(sample_parameters(&facts), LAYERS_OF_LLAMA + 1600);
}

static void eight_bits_of_gptq(void **state)
{
	struct file file = { .data_bytes = 0 };
	struct model_facts facts;

	write_text(*state, "config.json",
		   CONFIG_OF("false", ", \"quantization_config\": "
				      "{\"bits\": 8}"));
	tensor_add(&file, "a.qweight", "I32", "1000", 4000);
	file_write(&file, *state, "model.safetensors");
	assert_int_equal(read_path(*state, "", &facts, NULL), 0);
	assert_int_equal(facts.parameters, 4000);
}

static void adapters_alone_are_no_model(void **state)
{
	struct file file = { .data_bytes = 0 };
	struct error err = ERROR_INIT;
	struct model_facts facts;

	write_text(*state, "adapter_config.json", "{}");
	assert_int_equal(read_path(*state, "", &facts, &err), -EINVAL);
	assert_non_null(strstr(err.message, "only adapters"));
	tensor_add(&file, "a.lora_A.weight", "F32", "10", 40);
	file_write(&file, *state, "adapter_model.safetensors");
	assert_int_equal(
		read_path(*state, "adapter_model.safetensors", &facts, &err),
		-EINVAL);
	assert_non_null(strstr(err.message, "base_model_name_or_path"));
}

static const struct {
	const char *index;
	const char *words;
} index_rows[] = {
	{ "{}", "it has no weight_map" },
	{ "{\"weight_map\": {}}", "it names 0 files" },
	{ "{\"weight_map\": {\"a\": 3}}", "no name of one beside" },
	{ "{\"weight_map\": {\"a\": \"../x\"}}", "no name of one beside" },
	{ "{\"weight_map\": {\"a\": \"/etc/passwd\"}}", "no name of one" },
	{ "{\"weight_map\": {\"a\": \"..\"}}", "no name of one beside" },
	{ "{\"weight_map\": {\"a\": \"\"}}", "no name of one beside" },
	{ "{\"weight_map\": [", "not JSON" },
	{ "{\"weight_map\": {\"a\": \"none.st\"}}", "none.st: No such" },
};

static void a_wrong_index_is_refused(void **state)
{
	for (size_t i = 0; i < COUNT(index_rows); i++) {
		struct error err = ERROR_INIT;
		struct model_facts facts;

		write_text(*state, "model.safetensors.index.json",
			   index_rows[i].index);
		assert_true(read_path(*state, "", &facts, &err) < 0);
		if (!strstr(err.message, index_rows[i].words))
			fail_msg("%s", err.message);
	}
}

#define ONE(dtype, shape, offsets)                                             \
	"{\"a\":{\"dtype\":\"" dtype "\",\"shape\":[" shape                    \
	"],\"data_offsets\":[" offsets "]}}"

/* Headers that lie: 100 bytes of data follow each. */
static const struct {
	const char *header;
	uint64_t claim; /* 0: as long as it is */
	const char *words;
} hostile_rows[] = {
	{ "", 200 * MIB_BYTES, "header would have 209715200 bytes, the file" },
	{ "", UINT64_MAX, "header would have 18446744073709551615 bytes" },
	{ "", (uint64_t)1 << 63, "header would have 9223372036854775808" },
	{ "{}", 103, "header would have 103 bytes, the file has 110" },
	{ "", 0, "not JSON" },
	{ "[]", 0, "it is no object" },
	{ "{\"a\":1}", 0, "tensor 'a' is no object" },
	{ "{\"a\":{}}", 0, "tensor 'a' has no shape" },
	{ ONE("F32", "2,2", "0,15"), 0, "another number of bytes than its" },
	{ ONE("F32", "26", "0,104"), 0, "truncated: tensor 'a' ends at byte" },
	{ ONE("F32", "1", "4,0"), 0, "has no data_offsets" },
	{ ONE("F32", "1", "-4,0"), 0, "has no data_offsets" },
	{ ONE("F32", "1", "0,4,8"), 0, "has no data_offsets" },
	{ ONE("F32", "-1", "0,4"), 0, "not of numbers from 0" },
	{ ONE("F32", "1.5", "0,4"), 0, "not of numbers from 0" },
	{ ONE("F99", "1", "0,4"), 0, "has the dtype 'F99', which is not" },
	{ ONE("F32", "4294967296,4294967296", "0,4"), 0,
	  "more elements than 63 bits" },
	{ ONE("F32", "4611686018427387904", "0,4"), 0, "another number of" },
	{ ONE("F32", "99999999999999999999999", "0,4"), 0, "not of numbers" },
	{ "{\"a\":{\"dtype\":\"U8\",\"shape\":[60],\"data_offsets\":[0,60]},"
	  "\"b\":{\"dtype\":\"U8\",\"shape\":[60],\"data_offsets\":[0,60]}}",
	  0, "tensor 'b' lies over another one" },
	{ "{\"a\":{},\"a\":{}}", 0, "not JSON: duplicate" },
	{ "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[",
	  0, "it nests too deep" },
};

static void hostile_headers_are_refused(void **state)
{
	char path[SCRATCH_PATH_MAX];

	scratch_path(path, *state, "a.safetensors");
	for (size_t i = 0; i < COUNT(hostile_rows); i++) {
		const char *header = hostile_rows[i].header;
		uint64_t claim = hostile_rows[i].claim;
		struct error err = ERROR_INIT;
		struct model_facts facts;

		write_raw(path, claim ? claim : strlen(header), header, 100);
		assert_true(read_path(*state, "a.safetensors", &facts, &err) <
			    0);
		if (!strstr(err.message, hostile_rows[i].words))
			fail_msg("row %zu: %s", i, err.message);
	}
}

/* No more memory than now and 16 MiB; sanitizers need terabytes. */
static void limit_memory(void)
{
#ifndef __SANITIZE_ADDRESS__
	FILE *file = fopen("/proc/self/statm", "re");
	struct rlimit limit = { .rlim_cur = 0 };
	char line[64] = "";

	if (!file || !fgets(line, sizeof(line), file))
		_exit(2);
	limit.rlim_cur = strtoul(line, NULL, 10) * (rlim_t)getpagesize() +
			 16 * MIB_BYTES;
	limit.rlim_max = limit.rlim_cur;
	if (setrlimit(RLIMIT_AS, &limit) < 0)
		_exit(2);
#endif
}

/* A file that does have the 200 MB of header: they are never asked for. */
static void a_huge_header_is_not_read(void **state)
{
	char path[SCRATCH_PATH_MAX];
	int status = -1;
	pid_t child;

	scratch_path(path, *state, "a.safetensors");
	write_raw(path, 200 * MIB_BYTES, "{", 300 * MIB_BYTES);
	child = fork();
	if (child == 0) {
		struct error err = ERROR_INIT;
		struct model_facts facts;

		limit_memory();
		_exit(read_path(*state, "a.safetensors", &facts, &err) !=
			      -E2BIG ||
		      !strstr(err.message, "more than 67108864 are not read"));
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

/* A whole file, cut at every length. */
static void a_truncated_file_is_told(void **state)
{
	char path[SCRATCH_PATH_MAX];
	struct stat info;
	off_t whole;

	llama_write(*state, "a.safetensors", true);
	scratch_path(path, *state, "a.safetensors");
	assert_int_equal(stat(path, &info), 0);
	whole = info.st_size;
	for (off_t length = whole - 1; length >= 0; length -= 7) {
		struct error err = ERROR_INIT;
		struct model_facts facts;

		assert_int_equal(truncate(path, length), 0);
		assert_int_equal(
			read_path(*state, "a.safetensors", &facts, &err),
			-EINVAL);
		assert_non_null(strstr(err.message, "truncated"));
	}
}

static void what_is_no_file_is_told(void **state)
{
	struct stored_weights weights = { .parameters = 0 };
	char path[SCRATCH_PATH_MAX];
	struct error err = ERROR_INIT;

	assert_int_equal(weights_add_file(&weights, *state, &err), -EINVAL);
	assert_non_null(strstr(err.message, "not a regular file"));
	scratch_path(path, *state, "fifo.safetensors");
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(weights_add_file(&weights, path, &err), -EINVAL);
	scratch_path(path, *state, "none.safetensors");
	assert_int_equal(weights_add_file(&weights, path, &err), -ENOENT);
}

#define TEST(function)                                                         \
	cmocka_unit_test_setup_teardown(function, scratch_make, scratch_remove)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_counts_as_a_parameter),
		TEST(a_folder_is_exact),
		TEST(a_file_alone),
		TEST(a_hundred_shards),
		TEST(layers_behind_the_last_do_not_count),
		TEST(a_folder_of_deepseek),
		TEST(what_is_packed_otherwise_is_left_to_the_config),
		TEST(eight_bits_of_gptq),
		TEST(adapters_alone_are_no_model),
		TEST(a_wrong_index_is_refused),
		TEST(hostile_headers_are_refused),
		TEST(a_huge_header_is_not_read),
		TEST(a_truncated_file_is_told),
		TEST(what_is_no_file_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
