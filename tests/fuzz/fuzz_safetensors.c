/* Headers and indexes of weights: counted within the file, or refused. */
/* SPDX-License-Identifier: MIT */
/* USES estimator configs */
#include "configs/models/model_safetensors.h"

#include "configs/models/model.h"
#include "estimator/estimator.h"
#include "tests/fuzz/fuzz.h"
#include "tests/unit/scratch.h"

/* By the first byte: a file, an index, or a header with so much data behind. */
static const uint64_t data_bytes[] = { 0, 100, 1 << 20, INT64_MAX };

static void read_index(const char *text, size_t length)
{
	struct weights_index index;
	struct strlist *shards = &index.shards;
	struct error err = ERROR_INIT;

	if (weights_index_read(&index, "index", text, length, &err) < 0)
		fuzz_check(err.code < 0 && *err.message, "refused with words");
	else
		fuzz_check(shards->count > 0, "it names files");
	fuzz_check(index.total_bytes >= 0, "bytes are not negative");
	for (size_t i = 0; i < shards->count; i++) {
		fuzz_check(*shards->items[i] != '\0' &&
				   *shards->items[i] != '.' &&
				   !strchr(shards->items[i], '/'),
			   "a file lies beside the index");
	}
	for (size_t i = 1; !err.code && i < shards->count; i++)
		fuzz_check(strcmp(shards->items[i - 1], shards->items[i]) < 0,
			   "each file is there once");
	strlist_release(shards);
}

static void read_header(const char *text, size_t length, unsigned mode)
{
	struct stored_weights weights = { .is_tied = mode & 8,
					  .layers = mode & 16 ? 2 : 0,
					  .packed_bits = mode & 32 ? 8 : 0 };
	uint64_t behind = data_bytes[mode % 4];
	const struct weights_header header = { "header", text, length, behind };
	struct error err = ERROR_INIT;
	int64_t bytes = 0;

	if (weights_add_header(&weights, &header, &err) < 0) {
		fuzz_check(err.code < 0 && *err.message, "refused with words");
		return;
	}
	fuzz_check(weights.bytes >= 0 && (uint64_t)weights.bytes <= behind,
		   "tensors lie in the file");
	for (size_t i = 0; i < WEIGHTS_DTYPES; i++)
		bytes += weights.dtype_bytes[i];
	fuzz_check(bytes == weights.bytes, "each byte has a dtype");
	/* Four bits are the least that a weight takes; one, packed so. */
	fuzz_check(weights.parameters >= 0 && weights.adapters >= 0 &&
			   weights.parameters / 2 <= weights.bytes &&
			   weights.adapters / 2 <= weights.bytes,
		   "no more weights than bytes hold");
	fuzz_check(weights_dtype(&weights) != NULL, "it has a dtype");
}

/* In memory where there is such a place; gone when the program ends. */
static void *folder;

static void folder_remove(void)
{
	(void)scratch_remove(&folder);
}

static const char config[] =
	"{\"model_type\": \"llama\", \"hidden_size\": 8, "
	"\"intermediate_size\": 16, \"num_hidden_layers\": 2, "
	"\"num_attention_heads\": 2, \"vocab_size\": 100}";

static void folder_make(void)
{
	char path[SCRATCH_PATH_MAX];

	if (folder)
		return;
	if (scratch_make(&folder) < 0 || atexit(folder_remove) != 0 ||
	    scratch_write(scratch_path(path, folder, "config.json"), config,
			  sizeof(config) - 1) < 0)
		abort();
}

/* The bytes as a whole file, its length in front, beside a config. */
static void read_file(const char *text, size_t length)
{
	static const struct model_sources sources;
	char path[SCRATCH_PATH_MAX];
	struct error err = ERROR_INIT;
	struct model_facts facts;
	int64_t parameters;

	folder_make();
	scratch_path(path, folder, "a.safetensors");
	if (scratch_write(path, text, length) < 0)
		abort();
	if (model_read(&facts, path, &sources, &err) < 0) {
		fuzz_check(err.code < 0 && *err.message, "refused with words");
		return;
	}
	fuzz_check(facts.stored_bytes >= 0 &&
			   (uint64_t)facts.stored_bytes <= length,
		   "tensors lie in the file");
	if (model_parameters(&facts, &parameters, &err) == 0)
		fuzz_check(parameters > 0, "it has parameters");
	else
		fuzz_check(*err.message != '\0', "refused with words");
}

void fuzz_one(const char *data, size_t size)
{
	struct fuzz_input input = { data, size };
	unsigned mode = fuzz_byte(&input);
	char *text = fuzz_copy(input, false);

	if (mode & 64)
		read_file(text, input.size);
	else if (mode & 4)
		read_index(text, input.size);
	else
		read_header(text, input.size, mode);
	free(text);
}
