/* How long it takes to read what is known of a model of 405B parameters. */
/* SPDX-License-Identifier: MIT */
/*
 * Build it with -O2 and without sanitizers. Usage:
 *   build/release/bench/model [ROUNDS]
 *
 * It writes what lies on a disk of Llama-3.1-405B: an index of 1138 tensors,
 * 191 files with headers (their data is a hole) and config.json, and reads
 * them by wall clock, from the page cache. Exits with 1 where the median is
 * above 30 ms, or the count is not that of the model.
 */
/* USES estimator configs */
#include "configs/models/model.h"

#include "base/alloc.h"
#include "base/strbuf.h"
#include "estimator/estimator.h"
#include "tests/bench/times.h"
#include "tests/unit/scratch.h"

#define ROUNDS 21
#define ROUNDS_MAX 1001
#define LIMIT_MS 30.0
#define SHARDS 191
#define LAYERS 126
#define TENSORS_MAX 1200
#define HIDDEN 16384
#define FFN 53248
#define KV 1024
#define VOCAB 128256
#define PARAMETERS INT64_C(405853388800)

struct tensor {
	char *name;
	int64_t rows, columns; /* 0: a vector */
};

struct model {
	struct tensor tensors[TENSORS_MAX];
	int count;
};

static const struct {
	const char *name;
	int64_t rows, columns;
} layer_tensors[] = {
	{ "self_attn.q_proj", HIDDEN, HIDDEN },
	{ "self_attn.k_proj", KV, HIDDEN },
	{ "self_attn.v_proj", KV, HIDDEN },
	{ "self_attn.o_proj", HIDDEN, HIDDEN },
	{ "mlp.gate_proj", FFN, HIDDEN },
	{ "mlp.up_proj", FFN, HIDDEN },
	{ "mlp.down_proj", HIDDEN, FFN },
	{ "input_layernorm", HIDDEN, 0 },
	{ "post_attention_layernorm", HIDDEN, 0 },
};

static const char config[] =
	"{\"model_type\": \"llama\", \"hidden_size\": 16384, "
	"\"intermediate_size\": 53248, \"num_attention_heads\": 128, "
	"\"num_hidden_layers\": 126, \"num_key_value_heads\": 8, "
	"\"vocab_size\": 128256, \"torch_dtype\": \"bfloat16\"}";

static void tensor_add(struct model *model, char *name, int64_t rows,
		       int64_t columns)
{
	model->tensors[model->count++] = (struct tensor){ name, rows, columns };
}

static void model_make(struct model *model)
{
	tensor_add(model, xstrdup("model.embed_tokens.weight"), VOCAB, HIDDEN);
	for (int layer = 0; layer < LAYERS; layer++)
		for (size_t i = 0;
		     i < sizeof(layer_tensors) / sizeof(*layer_tensors); i++)
			tensor_add(model,
				   xasprintf("model.layers.%d.%s.weight", layer,
					     layer_tensors[i].name),
				   layer_tensors[i].rows,
				   layer_tensors[i].columns);
	tensor_add(model, xstrdup("model.norm.weight"), HIDDEN, 0);
	tensor_add(model, xstrdup("lm_head.weight"), VOCAB, HIDDEN);
}

static int shard_of(const struct model *model, int tensor)
{
	return tensor * SHARDS / model->count;
}

static int write_file(const char *folder, const char *name,
		      const struct strbuf *text, uint64_t hole)
{
	char path[SCRATCH_PATH_MAX];

	scratch_path(path, folder, name);
	if (scratch_write(path, text->data, text->length) < 0)
		return -1;
	return truncate(path, (off_t)(text->length + hole));
}

static int write_shard(const struct model *model, const char *folder, int shard)
{
	struct strbuf header = STRBUF_INIT, file = STRBUF_INIT;
	char name[64];
	uint64_t at = 0;
	int result;

	strbuf_adds(&header, "{\"__metadata__\":{\"format\":\"pt\"}");
	for (int i = 0; i < model->count; i++) {
		const struct tensor *tensor = &model->tensors[i];
		int64_t columns = tensor->columns ? tensor->columns : 1;
		uint64_t end = at + (uint64_t)(tensor->rows * columns * 2);

		if (shard_of(model, i) != shard)
			continue;
		strbuf_addf(&header,
			    ",\"%s\":{\"dtype\":\"BF16\",\"shape\":[%lld",
			    tensor->name, (long long)tensor->rows);
		if (tensor->columns)
			strbuf_addf(&header, ",%lld",
				    (long long)tensor->columns);
		strbuf_addf(&header, "],\"data_offsets\":[%llu,%llu]}",
			    (unsigned long long)at, (unsigned long long)end);
		at = end;
	}
	strbuf_adds(&header, "}");
	for (int i = 0; i < 8; i++)
		strbuf_addch(&file, (char)(header.length >> (8 * i)));
	strbuf_add(&file, header.data, header.length);
	(void)snprintf(name, sizeof(name), "model-%05d-of-%05d.safetensors",
		       shard + 1, SHARDS);
	result = write_file(folder, name, &file, at);
	strbuf_release(&header);
	strbuf_release(&file);
	return result;
}

static int write_index(const struct model *model, const char *folder)
{
	struct strbuf text = STRBUF_INIT;
	int result;

	strbuf_addf(&text,
		    "{\n  \"metadata\": {\"total_size\": %lld},\n"
		    "  \"weight_map\": {\n",
		    (long long)PARAMETERS * 2);
	for (int i = 0; i < model->count; i++)
		strbuf_addf(
			&text,
			"    \"%s\": \"model-%05d-of-%05d.safetensors\"%s\n",
			model->tensors[i].name, shard_of(model, i) + 1, SHARDS,
			i + 1 < model->count ? "," : "");
	strbuf_adds(&text, "  }\n}\n");
	result = write_file(folder, "model.safetensors.index.json", &text, 0);
	strbuf_release(&text);
	return result;
}

static int write_all(const char *folder)
{
	struct strbuf text = STRBUF_INIT;
	struct model model = { .count = 0 };
	int result;

	model_make(&model);
	strbuf_adds(&text, config);
	result = write_file(folder, "config.json", &text, 0);
	result |= write_index(&model, folder);
	for (int shard = 0; shard < SHARDS; shard++)
		result |= write_shard(&model, folder, shard);
	for (int i = 0; i < model.count; i++)
		free(model.tensors[i].name);
	strbuf_release(&text);
	return result;
}

static double now_ms(void)
{
	return times_ns(CLOCK_MONOTONIC) / 1e6;
}

/* Milliseconds; -1: it was not read, or not rightly. */
static double read_once(const char *folder)
{
	static const struct model_sources sources;
	struct error err = ERROR_INIT;
	struct model_facts facts;
	double start = now_ms(), spent;
	int result = model_read(&facts, folder, &sources, &err);
	int64_t parameters = 0;

	spent = now_ms() - start;
	if (result == 0 && facts.parameters == PARAMETERS) {
		/* The config says the same. */
		facts.parameters = 0;
		result = model_parameters(&facts, &parameters, &err);
		if (parameters == PARAMETERS)
			return spent;
	}
	(void)fprintf(stderr, "%d parameters %lld: %s\n", result,
		      (long long)parameters, err.message);
	return -1;
}

static double known_ms(void)
{
	struct strlist warnings = STRLIST_INIT;
	struct model_table table;
	double start = now_ms();

	model_table_load(&table, NULL, &warnings);
	(void)model_table_find(&table, "smollm2-1.7b", NULL);
	model_table_release(&table);
	strlist_release(&warnings);
	return now_ms() - start;
}

static int measure(const char *folder, size_t rounds)
{
	double times[ROUNDS_MAX], known[ROUNDS_MAX];
	double median, known_median;

	for (size_t i = 0; i < rounds; i++) {
		times[i] = read_once(folder);
		if (times[i] < 0)
			return 1;
		known[i] = known_ms();
	}
	median = times_median(times, rounds);
	known_median = times_median(known, rounds);
	(void)printf("%10s %10s\n", "median ms", "worst ms");
	(void)printf("%10.2f %10.2f  405B: config, index, %d headers\n", median,
		     times[rounds - 1], SHARDS);
	(void)printf("%10.2f %10.2f  a name in the table of known models\n",
		     known_median, known[rounds - 1]);
	return median > LIMIT_MS;
}

int main(int argc, char **argv)
{
	size_t rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : ROUNDS;
	void *folder = NULL;
	int result = 2;

	if (rounds < 1 || rounds > ROUNDS_MAX) {
		(void)fprintf(stderr, "rounds: 1 to %d\n", ROUNDS_MAX);
		return 2;
	}
	if (scratch_make(&folder) < 0) {
		free(folder);
		return 2;
	}
	if (write_all(folder) == 0)
		result = measure(folder, rounds);
	else
		(void)fprintf(stderr, "cannot write to %s\n", (char *)folder);
	(void)scratch_remove(&folder);
	return result;
}
