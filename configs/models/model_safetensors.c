/* Reads counts and types of weights from the headers of safetensors files. */
/* SPDX-License-Identifier: MIT */
/*
 * A file is 8 bytes, little-endian: the length N of the header; N bytes of
 * JSON {"name": {"dtype", "shape", "data_offsets": [from, to]}}; the tensors.
 * huggingface/safetensors README.md.
 */
#include "configs/models/model_safetensors.h"

#include "base/alloc.h"
#include "configs/files/json_bounded.h"
#include "configs/models/model_tensors.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LENGTH_BYTES 8

/* A header under way. */
struct safetensors_reading {
	struct stored_weights *weights;
	const char *name;
	uint64_t data_bytes;
	uint64_t seen_bytes;
	struct error *err;
};

static int safetensors_fail(const struct safetensors_reading *reading,
			    const char *tensor, const char *problem)
{
	return error_set(reading->err, -EINVAL, "%s: tensor '%.96s' %s",
			 reading->name, tensor, problem);
}

/* The product of the shape, and its rank. */
static int read_shape(const struct safetensors_reading *reading,
		      const char *key, const json_t *shape,
		      struct tensor *tensor)
{
	if (!json_is_array(shape))
		return safetensors_fail(reading, key, "has no shape");
	tensor->rank = json_array_size(shape);
	tensor->elements = 1;
	for (size_t i = 0; i < tensor->rank; i++) {
		int64_t side;

		if (!json_whole(json_array_get(shape, i), &side) || side < 0)
			return safetensors_fail(
				reading, key,
				"has a shape that is not of numbers from "
				"0");
		if (__builtin_mul_overflow(tensor->elements, side,
					   &tensor->elements))
			return safetensors_fail(
				reading, key,
				"has more elements than 63 bits count");
	}
	return 0;
}

/* The bytes between two offsets, which the file has. */
static int read_offsets(const struct safetensors_reading *reading,
			const char *key, const json_t *offsets,
			struct tensor *tensor)
{
	int64_t from, to;

	if (!json_is_array(offsets) || json_array_size(offsets) != 2 ||
	    !json_whole(json_array_get(offsets, 0), &from) ||
	    !json_whole(json_array_get(offsets, 1), &to) || from < 0 ||
	    to < from)
		return safetensors_fail(reading, key,
					"has no data_offsets [from, to]");
	if ((uint64_t)to > reading->data_bytes)
		return error_set(reading->err, -EINVAL,
				 "%s: truncated: tensor '%.96s' ends at byte "
				 "%lld of the data, and the file has %llu",
				 reading->name, key, (long long)to,
				 (unsigned long long)reading->data_bytes);
	tensor->bytes = to - from;
	return 0;
}

static int safetensors_read_dtype(const struct safetensors_reading *reading,
				  const char *key, const json_t *dtype,
				  struct tensor *tensor)
{
	const char *name = json_string_value(dtype);
	int64_t bits;

	if (!name)
		return safetensors_fail(reading, key, "has no dtype");
	tensor->dtype = dtype_find(name);
	if (!tensor->dtype)
		return error_set(reading->err, -EINVAL,
				 "%s: tensor '%.96s' has the dtype '%.16s', "
				 "which is not known",
				 reading->name, key, name);
	if (__builtin_mul_overflow(tensor->elements, tensor->dtype->bits,
				   &bits) ||
	    tensor->bytes != bits / 8 + (bits % 8 != 0))
		return safetensors_fail(
			reading, key,
			"has another number of bytes than its shape says");
	return 0;
}

static int read_tensor(struct safetensors_reading *reading, const char *key,
		       const json_t *json)
{
	struct tensor tensor = { .name = key };
	int result;

	if (!json_is_object(json))
		return safetensors_fail(reading, key, "is no object");
	result = read_shape(reading, key, json_object_get(json, "shape"),
			    &tensor);
	if (result == 0)
		result = read_offsets(reading, key,
				      json_object_get(json, "data_offsets"),
				      &tensor);
	if (result == 0)
		result = safetensors_read_dtype(
			reading, key, json_object_get(json, "dtype"), &tensor);
	if (result < 0)
		return result;
	assert(tensor.bytes >= 0 && tensor.elements >= 0);
	reading->seen_bytes += (uint64_t)tensor.bytes;
	if (reading->seen_bytes > reading->data_bytes)
		return safetensors_fail(reading, key, "lies over another one");
	if (tensor_count(reading->weights, &tensor) < 0)
		return safetensors_fail(
			reading, key,
			"makes more parameters than 63 bits count");
	return 0;
}

int weights_add_header(struct stored_weights *weights,
		       const struct weights_header *header, struct error *err)
{
	struct safetensors_reading reading = { .weights = weights,
					       .name = header->name,
					       .data_bytes = header->data_bytes,
					       .err = err };
	json_t *root = json_bounded(header->name, header->text, header->length,
				    true, err);
	const char *key;
	json_t *value;
	int result = 0;

	if (!root)
		return err ? err->code : -EINVAL;
	json_object_foreach(root, key, value)
	{
		if (result == 0 && strcmp(key, "__metadata__") != 0)
			result = read_tensor(&reading, key, value);
	}
	json_decref(root);
	return result;
}

static int read_at(int fd, void *data, size_t length, off_t at)
{
	char *to = data;

	assert(at >= 0);
	while (length > 0) {
		ssize_t got = pread(fd, to, length, at);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return got < 0 ? -errno : -EIO;
		to += got;
		at += got;
		length -= (size_t)got;
	}
	return 0;
}

/* The length of the header, which the file has. */
static int read_length(int fd, const char *path, uint64_t file_bytes,
		       uint64_t *length, struct error *err)
{
	unsigned char bytes[LENGTH_BYTES];
	int result;

	if (file_bytes < LENGTH_BYTES)
		return error_set(err, -EINVAL,
				 "%s: truncated: it has %llu bytes", path,
				 (unsigned long long)file_bytes);
	result = read_at(fd, bytes, sizeof(bytes), 0);
	if (result < 0)
		return error_set_errno(err, result, "cannot read %s", path);
	*length = 0;
	for (int i = LENGTH_BYTES - 1; i >= 0; i--)
		*length = *length << 8 | bytes[i];
	if (*length > file_bytes - LENGTH_BYTES)
		return error_set(err, -EINVAL,
				 "%s: truncated, or no safetensors file: its "
				 "header would have %llu bytes, the file has "
				 "%llu",
				 path, (unsigned long long)*length,
				 (unsigned long long)file_bytes);
	if (*length > WEIGHTS_HEADER_MAX)
		return error_set(err, -E2BIG,
				 "%s: its header has %llu bytes: more than "
				 "%llu are not read",
				 path, (unsigned long long)*length,
				 (unsigned long long)WEIGHTS_HEADER_MAX);
	return 0;
}

static int add_open(struct stored_weights *weights, int fd, const char *path,
		    struct error *err)
{
	struct weights_header header = { .name = path };
	uint64_t length = 0;
	struct stat info;
	char *text;
	int result;

	if (fstat(fd, &info) < 0 || !S_ISREG(info.st_mode))
		return error_set(err, -EINVAL,
				 "cannot read %s: not a regular file", path);
	result = read_length(fd, path, (uint64_t)info.st_size, &length, err);
	if (result < 0)
		return result;
	assert(length <= WEIGHTS_HEADER_MAX);
	text = xmalloc(length + 1);
	header.text = text;
	header.length = length;
	header.data_bytes = (uint64_t)info.st_size - LENGTH_BYTES - length;
	result = read_at(fd, text, length, LENGTH_BYTES);
	if (result < 0)
		(void)error_set_errno(err, result, "cannot read %s", path);
	else
		result = weights_add_header(weights, &header, err);
	free(text);
	return result;
}

int weights_add_file(struct stored_weights *weights, const char *path,
		     struct error *err)
{
	/* O_NONBLOCK: opening a FIFO must not wait for a writer. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	int result;

	if (fd < 0)
		return error_set_errno(err, -errno, "cannot read %s", path);
	result = add_open(weights, fd, path, err);
	(void)close(fd);
	return result;
}

static int add_shard(const char *name, const char *tensor, const json_t *shard,
		     struct strlist *shards, struct error *err)
{
	const char *file = json_string_value(shard);

	if (!file || !*file || strchr(file, '/') || *file == '.')
		return error_set(err, -EINVAL,
				 "%s: the file of tensor '%.96s' is no name of "
				 "one beside the index",
				 name, tensor);
	/* An index names the file of each tensor, mostly that before. */
	if (shards->count &&
	    strcmp(shards->items[shards->count - 1], file) == 0)
		return 0;
	strlist_add(shards, file);
	return 0;
}

/* Each name once. */
static void sort_once(struct strlist *shards)
{
	size_t kept = 0;

	if (!shards->count)
		return;
	strlist_sort(shards);
	for (size_t i = 1; i < shards->count; i++) {
		if (strcmp(shards->items[i], shards->items[kept]) == 0)
			free(shards->items[i]);
		else
			shards->items[++kept] = shards->items[i];
	}
	assert(kept < shards->count);
	shards->count = kept + 1;
	shards->items[shards->count] = NULL;
}

static int read_map(const char *name, const json_t *root,
		    struct strlist *shards, struct error *err)
{
	json_t *map = json_object_get(root, "weight_map");
	const char *tensor;
	json_t *shard;
	int result = 0;

	if (!json_is_object(map))
		return error_set(err, -EINVAL, "%s: it has no weight_map",
				 name);
	json_object_foreach(map, tensor, shard)
	{
		if (result == 0)
			result = add_shard(name, tensor, shard, shards, err);
	}
	if (result < 0)
		return result;
	sort_once(shards);
	if (shards->count == 0 || shards->count > WEIGHTS_SHARDS_MAX)
		return error_set(err, -EINVAL,
				 "%s: it names %zu files, which is not from 1 "
				 "to %zu",
				 name, shards->count, WEIGHTS_SHARDS_MAX);
	return 0;
}

int weights_index_read(struct weights_index *index, const char *name,
		       const char *text, size_t length, struct error *err)
{
	json_t *root = json_bounded(name, text, length, false, err);
	const json_t *total;
	int result;

	memset(index, 0, sizeof(*index));
	if (!root)
		return err ? err->code : -EINVAL;
	result = read_map(name, root, &index->shards, err);
	total = json_object_get(json_object_get(root, "metadata"),
				"total_size");
	if (!json_whole(total, &index->total_bytes) || index->total_bytes < 0)
		index->total_bytes = 0;
	json_decref(root);
	return result;
}
