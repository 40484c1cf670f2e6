/* Finds the facts about a model in its files, or by its name. */
/* SPDX-License-Identifier: MIT */
#include "configs/models/model.h"

#include "base/alloc.h"
#include "base/match.h"
#include "base/strbuf.h"
#include "base/textfile.h"
#include "configs/models/config/model_hf.h"
#include "configs/models/model_safetensors.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CONFIG "config.json"
#define WEIGHTS "model.safetensors"
#define INDEX "model.safetensors.index.json"
#define ADAPTER "adapter_config.json"

/* A folder under way. */
struct folder {
	const char *path;
	struct hf_config config;
	bool has_config, has_weights;
	int config_result; /* -ENOTSUP: the family is not known */
	struct error config_err;
	struct stored_weights weights;
};

static bool model_is_there(const char *folder, const char *name)
{
	char *path = xasprintf("%s/%s", folder, name);
	bool result = access(path, F_OK) == 0;

	free(path);
	return result;
}

static int read_whole(const char *path, size_t max_bytes, struct strbuf *text,
		      struct error *err)
{
	int result = textfile_read(path, max_bytes, text, err);

	if (result > 0)
		return error_set(err, -E2BIG, "%s: more than %zu KiB", path,
				 max_bytes / 1024);
	return result;
}

static int read_config(struct folder *folder, struct error *err)
{
	char *path = xasprintf("%s/" CONFIG, folder->path);
	struct strbuf text = STRBUF_INIT;
	int result = read_whole(path, HF_CONFIG_BYTES_MAX, &text, err);

	if (result == 0) {
		folder->has_config = true;
		result = hf_config_read(&folder->config, path,
					strbuf_text(&text), text.length,
					&folder->config_err);
		folder->config_result = result;
		if (result < 0 && result != -ENOTSUP)
			(void)error_set(err, result, "%s",
					folder->config_err.message);
	}
	strbuf_release(&text);
	free(path);
	return result == -ENOTSUP ? 0 : result;
}

/* What the counting has to know of the model. */
static void model_prepare(struct folder *folder)
{
	const struct model_facts *facts = &folder->config.facts;

	folder->weights = (struct stored_weights){
		.is_tied = facts->is_tied,
		.packed_bits = folder->config.packed_bits,
	};
	/* Their layer for several tokens at once is not loaded in training. */
	if (facts->family == MODEL_DEEPSEEK)
		folder->weights.layers = facts->layers;
}

static int model_add_file(struct folder *folder, const char *name,
			  struct error *err)
{
	char *path = xasprintf("%s/%s", folder->path, name);
	int result = weights_add_file(&folder->weights, path, err);

	free(path);
	return result;
}

/* All of them, or none where one has not been loaded from the hub. */
static int add_shards(struct folder *folder, const struct strlist *shards,
		      struct error *err)
{
	int result = 0;

	for (size_t i = 0; i < shards->count; i++)
		if (folder->has_config &&
		    !model_is_there(folder->path, shards->items[i]))
			return 0;
	for (size_t i = 0; result == 0 && i < shards->count; i++)
		result = model_add_file(folder, shards->items[i], err);
	folder->has_weights = result == 0;
	return result;
}

static int read_index(struct folder *folder, const char *name,
		      struct error *err)
{
	char *path = xasprintf("%s/%s", folder->path, name);
	struct weights_index index = { .total_bytes = 0 };
	struct strbuf text = STRBUF_INIT;
	int result = read_whole(path, WEIGHTS_HEADER_MAX, &text, err);

	if (result == 0)
		result = weights_index_read(&index, path, strbuf_text(&text),
					    text.length, err);
	if (result == 0)
		result = add_shards(folder, &index.shards, err);
	if (result == 0 && !folder->has_weights)
		folder->config.facts.stored_bytes = index.total_bytes;
	strlist_release(&index.shards);
	strbuf_release(&text);
	free(path);
	return result;
}

static int fail_adapters(const char *path, struct error *err)
{
	return error_set(err, -EINVAL,
			 "%s: only adapters: name the model that they are for "
			 "(base_model_name_or_path in " ADAPTER ")",
			 path);
}

/* What was counted, into what is known. */
static int take_weights(struct folder *folder, struct error *err)
{
	struct model_facts *facts = &folder->config.facts;
	const struct stored_weights *weights = &folder->weights;
	bool is_clear = weights->unclear_bytes <= weights->bytes / 16;

	if (!folder->has_weights)
		return 0;
	if (!weights->parameters && weights->adapters)
		return fail_adapters(folder->path, err);
	if (is_clear)
		facts->parameters = weights->parameters;
	facts->stored_bytes = weights->bytes;
	(void)snprintf(facts->dtype, sizeof(facts->dtype), "%s",
		       weights_dtype(weights));
	if (weights->has_embedding && !weights->has_head &&
	    model_family_has_words(facts->family))
		facts->is_tied = true;
	if (!is_clear && facts->family == MODEL_UNKNOWN)
		return error_set(err, -EINVAL,
				 "%s: its weights are packed in a way that is "
				 "not known: give parameters",
				 folder->path);
	return 0;
}

static int model_finish(struct folder *folder, struct model_facts *facts,
			struct error *err)
{
	int result = take_weights(folder, err);

	if (result < 0)
		return result;
	/* The numbers of the config and those of the weights say enough. */
	if (folder->config_result < 0 && !folder->config.facts.parameters)
		return error_set(err, folder->config_result, "%s",
				 folder->config_err.message);
	*facts = folder->config.facts;
	model_facts_complete(facts);
	if (model_facts_check(facts, err) < 0)
		return error_prefix(err, "%s", folder->path);
	return 0;
}

/* index or weights: names in the folder, NULL where there is none. */
static int read_parts(struct folder *folder, const char *index,
		      const char *weights, struct error *err)
{
	int result = 0;

	if (model_is_there(folder->path, CONFIG))
		result = read_config(folder, err);
	if (result < 0)
		return result;
	model_prepare(folder);
	if (index)
		return read_index(folder, index, err);
	if (!weights)
		return 0;
	result = model_add_file(folder, weights, err);
	folder->has_weights = result == 0;
	return result;
}

static int model_read_folder(struct model_facts *facts, const char *path,
			     struct error *err)
{
	struct folder folder = { .path = path };
	const char *index = model_is_there(path, INDEX) ? INDEX : NULL;
	const char *weights = model_is_there(path, WEIGHTS) ? WEIGHTS : NULL;
	int result;

	if (!index && !weights && !model_is_there(path, CONFIG)) {
		if (model_is_there(path, ADAPTER))
			return fail_adapters(path, err);
		return error_set(err, -ENOENT,
				 "%s: neither " CONFIG " nor " WEIGHTS
				 " is in this folder",
				 path);
	}
	result = read_parts(&folder, index, weights, err);
	return result < 0 ? result : model_finish(&folder, facts, err);
}

/* With the config.json that lies beside it. */
static int read_weights(struct model_facts *facts, const char *path,
			bool is_index, struct error *err)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	char *parent =
		slash ? xstrndup(path, (size_t)(slash - path)) : xstrdup(".");
	struct folder folder = { .path = *parent ? parent : "/" };
	int result = read_parts(&folder, is_index ? name : NULL,
				is_index ? NULL : name, err);

	if (result == 0)
		result = model_finish(&folder, facts, err);
	free(parent);
	return result;
}

static int model_read_file(struct model_facts *facts, const char *path,
			   struct error *err)
{
	struct strbuf text = STRBUF_INIT;
	struct model_text file = { .name = path };
	int result;

	if (text_ends_with(path, ".safetensors"))
		return read_weights(facts, path, false, err);
	if (text_ends_with(path, ".safetensors.index.json"))
		return read_weights(facts, path, true, err);
	result = read_whole(path, HF_CONFIG_BYTES_MAX, &text, err);
	if (result == 0) {
		file.text = strbuf_text(&text);
		file.length = text.length;
		result = model_read_text(facts, &file, err);
	}
	strbuf_release(&text);
	return result;
}

static int model_read_name(struct model_facts *facts, const char *name,
			   const struct model_sources *sources,
			   struct error *err)
{
	const struct model_facts *known;
	struct error hub_err = { .message = "" }, table_err = ERROR_INIT;
	char *folder = NULL;
	int result;

	if (sources->environment)
		folder = model_hub_folder(name, sources->environment, &hub_err);
	if (folder) {
		result = model_read_folder(facts, folder, err);
		free(folder);
		return result;
	}
	known = sources->known
			? model_table_find(sources->known, name, &table_err)
			: NULL;
	if (known) {
		*facts = *known;
		return 0;
	}
	return error_set(err, -ENOENT,
			 "%s; it is no file or folder%s%s; give --params 7b or "
			 "the model's numbers instead",
			 *table_err.message ? table_err.message
					    : "no names are known",
			 *hub_err.message ? ", and " : "", hub_err.message);
}

int model_read(struct model_facts *facts, const char *what,
	       const struct model_sources *sources, struct error *err)
{
	struct stat info;
	int result;

	model_facts_init(facts, MODEL_UNKNOWN);
	if (stat(what, &info) < 0)
		result = model_read_name(facts, what, sources, err);
	else if (S_ISDIR(info.st_mode))
		result = model_read_folder(facts, what, err);
	else
		result = model_read_file(facts, what, err);
	if (result == 0 && !*facts->name)
		(void)snprintf(facts->name, sizeof(facts->name), "%s", what);
	return result;
}
