/* Rows of tests/data/measurements: published figures and their workloads. */
/* SPDX-License-Identifier: MIT */
#ifndef AUTOFIT_TESTS_MEASUREMENTS_H
#define AUTOFIT_TESTS_MEASUREMENTS_H

#include "configs/models/models.h"
#include "estimator/estimator.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MEASUREMENTS_MAX 768
#define MEASUREMENTS_FOLDER TEST_SOURCE_DIR "/tests/data/measurements/"

/*
 * A row is "group,row,series,model,tier,unit,measured,workload[,why not]". Its
 * workload is words "name=value":
 *   b= s= c= accum=  micro-batch, sequence, completion, accumulation
 *   task= regime= weights= opt= peft= attn= ckpt= loss= shard=  one of words[]
 *   rank= targets= (letters of qkvogud, or all)
 *   d= t= p=         GPUs: data, tensor, pipeline parallel
 *   ctx= cc=         context in MiB, compute capability
 *   a16= drop= res32= assumed= repkv= fusedqkv= lit4= inputs= compile=
 * fused= inbackward= keeps=           1 dropout=
 */
struct measurement {
	char group[32], row[16], series[32], model[32];
	char tier; /* A, R, P; ?: not said */
	double bytes;
	char why_not[128]; /* "": usable */
	struct workload work;
};

struct measurements {
	struct model_table models;
	struct measurement *items;
	size_t count;
};

static const struct {
	const char *name, *value;
	int number;
} measurement_words[] = {
	{ "task", "inference", TASK_INFERENCE },
	{ "regime", "fp32", REGIME_FP32 },
	{ "regime", "amp", REGIME_AMP },
	{ "regime", "bf16", REGIME_BF16 },
	{ "regime", "master", REGIME_MASTER },
	{ "weights", "nf4", WEIGHTS_NF4 },
	{ "weights", "nf4dq", WEIGHTS_NF4_DOUBLE },
	{ "weights", "int8", WEIGHTS_INT8 },
	{ "weights", "fp8", WEIGHTS_FP8 },
	{ "weights", "gptq4", WEIGHTS_GPTQ4 },
	{ "peft", "lora", PEFT_LORA },
	{ "peft", "dora", PEFT_DORA },
	{ "peft", "ia3", PEFT_IA3 },
	{ "peft", "prompt", PEFT_PROMPT },
	{ "attn", "eager", ATTENTION_EAGER },
	{ "ckpt", "full", CHECKPOINT_FULL },
	{ "ckpt", "selective", CHECKPOINT_SELECTIVE },
	{ "ckpt", "offloaded", CHECKPOINT_OFFLOADED },
	{ "loss", "upcast", LOSS_UPCAST },
	{ "loss", "chunked", LOSS_CHUNKED },
	{ "loss", "in-place", LOSS_IN_PLACE },
	{ "shard", "fsdp", SHARD_FSDP },
	{ "shard", "megatron", SHARD_MEGATRON },
};

#define MEASUREMENT_CHOICE(word, member)                                       \
	{                                                                      \
		(word), offsetof(struct workload, member), 'e'                 \
	}
#define MEASUREMENT_COUNT(word, member)                                        \
	{                                                                      \
		(word), offsetof(struct workload, member), 'n'                 \
	}
#define MEASUREMENT_FLAG(word, member)                                         \
	{                                                                      \
		(word), offsetof(struct workload, member), 'b'                 \
	}

static const struct {
	const char *name;
	size_t offset;
	char kind;
} measurement_fields[] = {
	MEASUREMENT_CHOICE("task", task),
	MEASUREMENT_CHOICE("regime", regime),
	MEASUREMENT_CHOICE("weights", weights),
	MEASUREMENT_CHOICE("peft", peft),
	MEASUREMENT_CHOICE("attn", attention),
	MEASUREMENT_CHOICE("ckpt", checkpointing),
	MEASUREMENT_CHOICE("loss", loss),
	MEASUREMENT_CHOICE("shard", sharding),
	MEASUREMENT_COUNT("b", micro_batch),
	MEASUREMENT_COUNT("s", sequence),
	MEASUREMENT_COUNT("c", completion),
	MEASUREMENT_COUNT("accum", grad_accum),
	MEASUREMENT_COUNT("rank", rank),
	MEASUREMENT_COUNT("d", data_parallel),
	MEASUREMENT_COUNT("t", tensor_parallel),
	MEASUREMENT_COUNT("p", pipeline_parallel),
	MEASUREMENT_FLAG("a16", adapters_16_bit),
	MEASUREMENT_FLAG("drop", has_dropout),
	MEASUREMENT_FLAG("res32", residual_fp32),
	MEASUREMENT_FLAG("assumed", residual_is_assumed),
	MEASUREMENT_FLAG("repkv", repeats_kv),
	MEASUREMENT_FLAG("fusedqkv", fused_qkv),
	MEASUREMENT_FLAG("lit4", lightning_quantizer),
	MEASUREMENT_FLAG("inputs", keeps_frozen_inputs),
	MEASUREMENT_FLAG("compile", is_compiled),
	MEASUREMENT_FLAG("fused", fused_step),
	MEASUREMENT_FLAG("inbackward", optimizer_in_backward),
	MEASUREMENT_FLAG("keeps", keeps_gradients),
	{ "dropout", offsetof(struct workload, dropout), 'd' },
};

static inline void measurement_bad(const char *what, const char *word)
{
	(void)fprintf(stderr, "measurements: %s: %s\n", what, word);
	abort();
}

static inline int measurement_word(const char *name, const char *value)
{
	for (size_t i = 0;
	     i < sizeof(measurement_words) / sizeof(*measurement_words); i++)
		if (strcmp(measurement_words[i].name, name) == 0 &&
		    strcmp(measurement_words[i].value, value) == 0)
			return measurement_words[i].number;
	measurement_bad("no such value", value);
	return 0;
}

static inline unsigned measurement_targets(const char *letters)
{
	static const char order[] = "qkvogud";
	unsigned targets = 0;

	if (strcmp(letters, "all") == 0)
		return TARGETS_ALL;
	for (; *letters; letters++) {
		const char *place = strchr(order, *letters);

		if (!place)
			measurement_bad("no such target", letters);
		else
			targets |= 1u << (place - order);
	}
	return targets;
}

/* The words that are not a plain number or choice. */
static inline bool measurement_special(struct workload *work, const char *name,
				       const char *value)
{
	if (strcmp(name, "targets") == 0)
		work->targets = measurement_targets(value);
	else if (strcmp(name, "opt") == 0)
		work->optimizer = optimizer_find(value);
	else if (strcmp(name, "ctx") == 0)
		work->context_bytes = (int64_t)(strtod(value, NULL) * 0x1p20);
	else if (strcmp(name, "cc") == 0)
		work->compute_major = (int)strtol(value, NULL, 10);
	else
		return false;
	return true;
}

static inline void measurement_set(struct workload *work, const char *name,
				   const char *value)
{
	if (measurement_special(work, name, value))
		return;
	for (size_t i = 0;
	     i < sizeof(measurement_fields) / sizeof(*measurement_fields);
	     i++) {
		char *place = (char *)work + measurement_fields[i].offset;

		if (strcmp(measurement_fields[i].name, name) != 0)
			continue;
		switch (measurement_fields[i].kind) {
		case 'e':
			*(int *)place = measurement_word(name, value);
			return;
		case 'n':
			*(int64_t *)place = strtoll(value, NULL, 10);
			return;
		case 'b':
			*(bool *)place = *value == '1';
			return;
		default:
			*(double *)place = strtod(value, NULL);
			return;
		}
	}
	measurement_bad("no such word", name);
}

static inline void measurement_words_read(struct workload *work, char *words)
{
	char *rest = NULL;

	for (char *word = strtok_r(words, " ", &rest); word;
	     word = strtok_r(NULL, " ", &rest)) {
		char *value = strchr(word, '=');

		if (!value)
			measurement_bad("no value", word);
		else
			*value++ = '\0';
		measurement_set(work, word, value);
	}
}

static inline double measurement_unit(const char *unit)
{
	return strcmp(unit, "GiB") == 0   ? 0x1p30
	       : strcmp(unit, "MiB") == 0 ? 0x1p20
					  : 1e9;
}

#define MEASUREMENT_CELLS 9

static inline void measurement_read(struct measurements *all, char *line)
{
	struct measurement *row = &all->items[all->count];
	char *cells[MEASUREMENT_CELLS] = { NULL };
	size_t count = 0;

	line[strcspn(line, "\n")] = '\0';
	while (line && count < MEASUREMENT_CELLS)
		cells[count++] = strsep(&line, ",");
	if (count < MEASUREMENT_CELLS - 1 || all->count == MEASUREMENTS_MAX)
		measurement_bad("cells", cells[0]);
	all->count++;
	(void)snprintf(row->group, sizeof(row->group), "%s", cells[0]);
	(void)snprintf(row->row, sizeof(row->row), "%s", cells[1]);
	(void)snprintf(row->series, sizeof(row->series), "%s", cells[2]);
	(void)snprintf(row->model, sizeof(row->model), "%s", cells[3]);
	row->tier = *cells[4];
	row->bytes = strtod(cells[6], NULL) * measurement_unit(cells[5]);
	(void)snprintf(row->why_not, sizeof(row->why_not), "%s",
		       cells[8] ? cells[8] : "");
	measurement_words_read(&row->work, cells[7]);
	row->work.model = model_table_find(&all->models, cells[3], NULL);
	if (!row->work.model)
		measurement_bad("no such model", cells[3]);
}

static inline void measurements_read(struct measurements *all, const char *name)
{
	char path[512], *line = NULL;
	size_t size = 0;
	FILE *file;

	(void)snprintf(path, sizeof(path), "%s%s", MEASUREMENTS_FOLDER, name);
	file = fopen(path, "re");
	if (!file) {
		measurement_bad("cannot read", path);
		return;
	}
	while (getline(&line, &size, file) >= 0)
		if (*line != '#')
			measurement_read(all, line);
	free(line);
	(void)fclose(file);
}

/* All of them; the caller releases. */
static inline void measurements_load(struct measurements *all)
{
	struct strlist warnings = STRLIST_INIT;

	memset(all, 0, sizeof(*all));
	model_table_load(&all->models, MEASUREMENTS_FOLDER "models.csv",
			 &warnings);
	if (warnings.count)
		measurement_bad("models", warnings.items[0]);
	strlist_release(&warnings);
	all->items = calloc(MEASUREMENTS_MAX, sizeof(*all->items));
	if (!all->items)
		abort();
	measurements_read(all, "published.csv");
	measurements_read(all, "t4.csv");
	measurements_read(all, "fms.csv");
	measurements_read(all, "qwen.csv");
	measurements_read(all, "litgpt.csv");
}

static inline void measurements_release(struct measurements *all)
{
	model_table_release(&all->models);
	free(all->items);
}

/* A tier that is not said is compared with what was allocated. */
static inline enum tier measurement_tier(const struct measurement *row)
{
	return row->tier == 'P'   ? TIER_PROCESS
	       : row->tier == 'R' ? TIER_RESERVED
				  : TIER_ALLOCATED;
}

#endif
