/* The options of `autofit estimate`: how their values are read. */
/* SPDX-License-Identifier: MIT */
#include "launcher/options/options_estimate.h"

#include "base/alloc.h"
#include "base/units.h"
#include "launcher/options/options_kinds.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define QUANTITY_MOST 1e15
/* A GPU, from a phone's to a rack's. */
#define GPU_LEAST (64 * MIB)
#define GPU_MOST (UINT64_C(1024) * 1024 * GIB)
#define WORD_MAX 64
/* A number below it was meant to be so many billions, or millions. */
#define PARAMETERS_LEAST 1000

const char *const task_words[] = { "train", "dpo",       "grpo",
				   "ppo",   "inference", NULL };
const char *const regime_words[] = { "fp32",   "amp", "bf16",
				     "master", "fp8", NULL };
const char *const weights_words[] = { "none",       "int8",  "fp8",   "nf4",
				      "nf4-double", "gptq4", "mxfp4", NULL };
const char *const peft_words[] = { "none", "lora",     "dora",   "prompt",
				   "ia3",  "adapters", "freeze", NULL };
const char *const attention_words[] = { "flash", "eager", NULL };
const char *const checkpointing_words[] = { "none", "full", "selective",
					    "offloaded", NULL };
const char *const loss_words[] = { "default", "upcast", "chunked", "in-place",
				   "fused",   "none",   NULL };
const char *const sharding_words[] = { "none",         "ddp",      "zero1",
				       "zero2",        "zero3",    "fsdp",
				       "fsdp-grad-op", "megatron", NULL };
const char *const offload_words[] = { "none", "optimizer", "all", NULL };

/* Enums are unsigned int here, as every compiler in use has them. */
_Static_assert(sizeof(enum regime) == sizeof(unsigned), "an enum's size");

static int set_choice(const struct option_row *row, struct options *options,
		      const char *value, struct error *err)
{
	/* Without a word the second one is meant: the first is "none". */
	int index = row->value_optional && strcmp(value, "1") == 0
			    ? 1
			    : option_word(value, row->words, err);
	unsigned choice = (unsigned)index;

	if (index < 0)
		return index;
	memcpy(option_field(row, options), &choice, sizeof(choice));
	return 0;
}

static int options_estimate_put_field(struct estimate_request *request,
				      const char *name, int64_t value,
				      struct error *err)
{
	struct model_facts unused = { .family = MODEL_UNKNOWN };
	const struct model_field *known = model_fields;
	size_t i = 0;
	int result = model_facts_set(&unused, name, value, err);

	if (result < 0)
		return result;
	while (strcmp(known->name, name) != 0)
		known++;
	while (i < request->field_count &&
	       strcmp(request->fields[i].name, name) != 0)
		i++;
	if (i == ESTIMATE_FIELDS_MAX)
		return error_set(err, -E2BIG, "too many fields");
	request->fields[i] = (struct estimate_field){ known->name, value };
	if (i == request->field_count)
		request->field_count++;
	return 0;
}

/* The field that an option is called after: --kv-heads is kv_heads. */
static void field_name(char name[WORD_MAX], const char *option)
{
	if (strcmp(option, "params") == 0)
		option = "parameters";
	(void)snprintf(name, WORD_MAX, "%s", option);
	for (char *c = strchr(name, '-'); c; c = strchr(c, '-'))
		*c = '_';
}

/* Parameters are written as 7b, all other counts in full. */
static int options_estimate_read_count(const char *name, const char *value,
				       int64_t *number, struct error *err)
{
	return strcmp(name, "parameters") == 0
		       ? parameters_parse(value, number, err)
		       : integer_parse(value, number, err);
}

static int set_model(const struct option_row *row, struct options *options,
		     const char *value, struct error *err)
{
	char name[WORD_MAX];
	int64_t number;

	field_name(name, row->name);
	if (options_estimate_read_count(name, value, &number, err) < 0)
		return -EINVAL;
	if (number == 0)
		return error_set(err, -EINVAL, "0 is none: leave it out");
	if (strcmp(name, "parameters") == 0 && number < PARAMETERS_LEAST)
		return error_set(err, -ERANGE,
				 "'%.64s' is fewer parameters than any model "
				 "has: %.64sb, %.64sM?",
				 value, value, value);
	return options_estimate_put_field(&options->estimate, name, number,
					  err);
}

static int set_model_flag(const struct option_row *row, struct options *options,
			  const char *value, struct error *err)
{
	bool truth = false;

	if (option_truth(value, &truth, err) < 0)
		return -EINVAL;
	return options_estimate_put_field(&options->estimate, row->name, truth,
					  err);
}

static int options_estimate_set_field(const struct option_row *row,
				      struct options *options,
				      const char *value, struct error *err)
{
	size_t length = strcspn(value, "=");
	char option[WORD_MAX], name[WORD_MAX];
	int64_t number;

	(void)row;
	if (!value[length] || length >= sizeof(option))
		return error_set(err, -EINVAL, "'%.64s' is not NAME=N", value);
	memcpy(option, value, length);
	option[length] = '\0';
	field_name(name, option);
	if (options_estimate_read_count(name, value + length + 1, &number,
					err) < 0)
		return -EINVAL;
	return options_estimate_put_field(&options->estimate, name, number,
					  err);
}

/* Every character of a number without a unit. */
static bool options_estimate_is_bare(const char *text)
{
	return *text && text[strspn(text, "0123456789.")] == '\0';
}

static int size_parse(const char *text, const char *unit, uint64_t *bytes,
		      struct error *err)
{
	char whole[WORD_MAX];

	if (strlen(text) + strlen(unit) >= sizeof(whole))
		return error_set(err, -EINVAL, "'%.64s' is no size", text);
	(void)snprintf(whole, sizeof(whole), "%s%s", text,
		       options_estimate_is_bare(text) ? unit : "");
	return bytes_parse(whole, bytes, err);
}

int gpu_memory_parse(const char *text, uint64_t *bytes, struct error *err)
{
	if (size_parse(text, "GiB", bytes, err) < 0)
		return -EINVAL;
	if (*bytes < GPU_LEAST || *bytes > GPU_MOST)
		return error_set(err, -ERANGE,
				 "'%.64s' is not from 64 MiB to 1024 TiB",
				 text);
	return 0;
}

static int set_gpu_memory(const struct option_row *row, struct options *options,
			  const char *value, struct error *err)
{
	return gpu_memory_parse(value, option_field(row, options), err);
}

/* "7b" are parameters, "14GB" and "14" what their 16-bit weights take. */
static int set_weights_size(const struct option_row *row,
			    struct options *options, const char *value,
			    struct error *err)
{
	uint64_t bytes = 0;
	int64_t number = 0;

	(void)row;
	if (!options_estimate_is_bare(value) &&
	    parameters_parse(value, &number, NULL) == 0)
		return options_estimate_put_field(&options->estimate,
						  "parameters", number, err);
	if (size_parse(value, "GB", &bytes, err) < 0)
		return -EINVAL;
	if (bytes < 2 || bytes > (uint64_t)QUANTITY_MOST)
		return error_set(err, -ERANGE, "'%.64s' is no model's size",
				 value);
	options->estimate.model_bytes = bytes;
	return options_estimate_put_field(&options->estimate, "parameters",
					  (int64_t)(bytes / 2), err);
}

static int options_estimate_set_optimizer(const struct option_row *row,
					  struct options *options,
					  const char *value, struct error *err)
{
	const struct optimizer *found = optimizer_find(value);
	struct strbuf names = STRBUF_INIT;

	(void)row;
	if (found) {
		options->estimate.run.optimizer = found;
		return 0;
	}
	for (size_t i = 0; optimizer_rows[i].name; i++)
		strbuf_addf(&names, "%s%s", i ? ", " : "",
			    optimizer_rows[i].name);
	(void)error_set(err, -EINVAL, "'%.32s' is none of %s", value,
			strbuf_text(&names));
	strbuf_release(&names);
	return -EINVAL;
}

static int set_lora(const struct option_row *row, struct options *options,
		    const char *value, struct error *err)
{
	int result = kind_integer.set(row, options, value, err);

	if (result == 0 && options->estimate.run.peft != PEFT_DORA)
		options->estimate.run.peft = PEFT_LORA;
	/* A model, most likely. */
	if (result < 0 && isalpha((unsigned char)*value))
		return error_set(err, -EINVAL,
				 "'%.64s' is not a whole number: the rank of "
				 "the adapters comes first: --lora 16 %.64s",
				 value, value);
	return result;
}

/* Words between marks, one after the other; false: there is none left. */
static bool options_estimate_next_word(const char **at, const char *marks,
				       char word[WORD_MAX])
{
	size_t length = strcspn(*at, marks);

	if (!**at)
		return false;
	if (length >= WORD_MAX)
		length = WORD_MAX - 1;
	memcpy(word, *at, length);
	word[length] = '\0';
	*at += strcspn(*at, marks);
	*at += **at != '\0';
	return true;
}

static int set_targets(const struct option_row *row, struct options *options,
		       const char *value, struct error *err)
{
	static const struct {
		const char *name;
		unsigned bits;
	} names[] = {
		{ "q", TARGET_Q },
		{ "k", TARGET_K },
		{ "v", TARGET_V },
		{ "o", TARGET_O },
		{ "gate", TARGET_GATE },
		{ "up", TARGET_UP },
		{ "down", TARGET_DOWN },
		{ "attention", TARGETS_ATTENTION },
		{ "mlp", TARGETS_MLP },
		{ "all", TARGETS_ALL },
		{ "q_proj", TARGET_Q },
		{ "k_proj", TARGET_K },
		{ "v_proj", TARGET_V },
		{ "o_proj", TARGET_O },
		{ "gate_proj", TARGET_GATE },
		{ "up_proj", TARGET_UP },
		{ "down_proj", TARGET_DOWN },
		{ "all-linear", TARGETS_ALL },
	};
	const size_t count = sizeof(names) / sizeof(*names);
	char word[WORD_MAX];
	unsigned targets = 0;

	while (options_estimate_next_word(&value, ",", word)) {
		size_t i = 0;

		while (i < count && strcmp(names[i].name, word) != 0)
			i++;
		if (i == count)
			return error_set(err, -EINVAL,
					 "'%.64s' is none of q, k, v, o, gate, "
					 "up, down, attention, mlp and all",
					 word);
		targets |= names[i].bits;
	}
	*(unsigned *)option_field(row, options) = targets;
	return targets ? 0 : error_set(err, -EINVAL, "needs a value");
}

static int resident_word(struct resident *resident, const char *word,
			 struct error *err)
{
	int index = option_word(word, weights_words, NULL);

	if (index > 0) {
		resident->weights = (enum weights)index;
		return 0;
	}
	if (strcmp(word, "process") == 0) {
		resident->is_other_process = true;
		return 0;
	}
	if (strcmp(word, "fp32") != 0 && strcmp(word, "bf16") != 0 &&
	    strcmp(word, "fp16") != 0)
		return error_set(err, -EINVAL,
				 "'%.64s' is none of fp32, bf16, int8, fp8, "
				 "nf4, nf4-double, gptq4, mxfp4 and process",
				 word);
	resident->regime =
		strcmp(word, "fp32") == 0 ? REGIME_FP32 : REGIME_BF16;
	return 0;
}

static int set_resident(const struct option_row *row, struct options *options,
			const char *value, struct error *err)
{
	struct workload *run = &options->estimate.run;
	struct resident resident = { .regime = REGIME_BF16,
				     .follows_step = true };
	const char *at = value;
	char word[WORD_MAX];

	(void)row;
	if (!options_estimate_next_word(&at, ":", word) ||
	    parameters_parse(word, &resident.parameters, err) < 0)
		return error_set(err, -EINVAL,
				 "'%.64s' is not PARAMS[:WORD...], such as "
				 "14b:int8",
				 value);
	while (options_estimate_next_word(&at, ":", word))
		if (resident_word(&resident, word, err) < 0)
			return -EINVAL;
	if (run->resident_count == RESIDENTS_MAX)
		return error_set(err, -E2BIG, "more than %d are given",
				 RESIDENTS_MAX);
	run->residents[run->resident_count++] = resident;
	return 0;
}

/* vLLM writes 0.9, which is no percentage. */
static int set_share(const struct option_row *row, struct options *options,
		     const char *value, struct error *err)
{
	char text[WORD_MAX];
	char *end;
	double share = strtod(value, &end);

	if (end == value || *end || share <= 0 || share > 1)
		return kind_percent.set(row, options, value, err);
	(void)snprintf(text, sizeof(text), "%.4f", share * 100);
	return kind_percent.set(row, options, text, err);
}

#define KIND(name, ...) const struct option_kind kind_##name = { __VA_ARGS__ }

KIND(choice, .set = set_choice);
KIND(model, .set = set_model);
KIND(model_flag, .set = set_model_flag, .is_flag = true);
KIND(field, .set = options_estimate_set_field, .grows = true);
KIND(gpu_memory, .set = set_gpu_memory);
KIND(weights_size, .set = set_weights_size);
KIND(optimizer, .set = options_estimate_set_optimizer);
KIND(lora, .set = set_lora);
KIND(targets, .set = set_targets);
KIND(resident, .set = set_resident, .grows = true);
KIND(share, .set = set_share);
