/* Reads counts and types of weights from the headers of safetensors files. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_CONFIGS_MODELS_MODEL_SAFETENSORS_H
#define AUTOFIT_CONFIGS_MODELS_MODEL_SAFETENSORS_H

#include "base/error.h"
#include "base/strlist.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of a header, and of an index. Larger ones are refused before they are read;
 * that of a model with 100000 tensors is under 16 MiB. */
#define WEIGHTS_HEADER_MAX ((uint64_t)64 * 1024 * 1024)
#define WEIGHTS_SHARDS_MAX ((size_t)10000)

#define WEIGHTS_DTYPES 24

/*
 * Counted over one file or all shards. Set by the caller before the first of
 * them, the rest zero: is_tied, layers, packed_bits.
 *
 * Not counted as parameters: buffers (GPT-2's attn.bias of rank 4, inv_freq,
 * whatever is BOOL or I64), scales and tables of quantised tensors, adapters
 * (in adapters), a head that is_tied, layers behind the last one (MTP).
 * Packed tensors count what they unfold to: U8 of bitsandbytes and MXFP4 two
 * for each element, qweight of GPTQ and AWQ 32 / packed_bits.
 */
struct stored_weights {
	bool is_tied;        /* a head in the file is the embedding again */
	int64_t layers;      /* of model.layers.N, those below; 0: all */
	int64_t packed_bits; /* of GPTQ and AWQ; 0: 4 */

	int64_t parameters;
	int64_t adapters; /* LoRA's */
	int64_t bytes;    /* of all tensors */
	int64_t dtype_bytes[WEIGHTS_DTYPES];
	int64_t unclear_bytes; /* of integers whose packing is not known */
	bool has_head, has_embedding, is_packed;
};

/*
 * The JSON of a header of length bytes, and the size of what follows it.
 * -EINVAL: it is none, a shape does not fit its bytes, or the file ends before
 * a tensor does; the message begins with name.
 */
struct weights_header {
	const char *name;
	const char *text;
	size_t length;
	uint64_t data_bytes;
};

int weights_add_header(struct stored_weights *weights,
		       const struct weights_header *header, struct error *err);
/* The header of a file; the tensors are not read. */
int weights_add_file(struct stored_weights *weights, const char *path,
		     struct error *err);

/*
 * The files that an index (model.safetensors.index.json) names, each once, and
 * its total_size, 0 where it has none. A name with a folder in it is refused.
 */
struct weights_index {
	struct strlist shards;
	int64_t total_bytes;
};

/* The caller releases the shards, whatever the result. */
int weights_index_read(struct weights_index *index, const char *name,
		       const char *text, size_t length, struct error *err);

/* "bfloat16": what most of the bytes are; "" without tensors. */
const char *weights_dtype(const struct stored_weights *weights);

#endif
