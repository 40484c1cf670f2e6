/* Reads model and run from a training command. */
/* SPDX-License-Identifier: MIT */
#include "launcher/estimate/estimate_command.h"

#include "base/units.h"
#include "configs/settings/settings.h"
#include "launcher/command/files/named_files.h"

#include <fnmatch.h>
#include <string.h>
#include <strings.h>

int estimate_command_fields(const struct command *command,
			    struct model_facts *facts, struct error *err)
{
	static const enum preset_model_field fields[] = {
		MODEL_LAYERS,   MODEL_HIDDEN, MODEL_HEADS,
		MODEL_KV_HEADS, MODEL_FFN,    MODEL_VOCAB,
	};

	for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++) {
		const char *text = command->model[fields[i]];
		const char *name = preset_model_field_name(fields[i]);
		int64_t value = 0;
		int result;

		if (!text)
			continue;
		result = integer_parse(text, &value, err);
		if (result == 0)
			result = model_facts_set(facts, name, value, err);
		if (result < 0)
			return error_prefix(err, "%s of the command", name);
	}
	return 0;
}

/* What words of frameworks mean here: globs in lower case, first match. */
struct word_row {
	const char *glob;
	int meaning;
};

static bool word_find(const struct word_row *rows, const char *word,
		      int *meaning)
{
	for (; rows->glob; rows++) {
		if (fnmatch(rows->glob, word, FNM_CASEFOLD) != 0)
			continue;
		*meaning = rows->meaning;
		return true;
	}
	return false;
}

static bool is_off(const char *word)
{
	static const struct word_row offs[] = {
		{ "false", 0 }, { "no", 0 },   { "off", 0 }, { "0", 0 },
		{ "none", 0 },  { "null", 0 }, { "", 0 },    { NULL, 0 },
	};
	int meaning;

	return word_find(offs, word, &meaning);
}

static void note_word(struct strlist *notes, const char *what, const char *word)
{
	strlist_addf(notes, "%s %.64s of the command is not known here", what,
		     word);
}

static const struct word_row precisions[] = {
	{ "*mixed*", REGIME_AMP },     { "amp*", REGIME_AMP },
	{ "*autocast*", REGIME_AMP },  { "*fp8*", REGIME_FP8 },
	{ "*float8*", REGIME_FP8 },    { "*bf16*", REGIME_BF16 },
	{ "*bfloat16*", REGIME_BF16 }, { "*fp16*", REGIME_BF16 },
	{ "*float16*", REGIME_BF16 },  { "16*", REGIME_BF16 },
	{ "half", REGIME_BF16 },       { "*fp32*", REGIME_FP32 },
	{ "*float32*", REGIME_FP32 },  { "32*", REGIME_FP32 },
	{ "float", REGIME_FP32 },      { "O1", REGIME_AMP },
	{ "O2", REGIME_MASTER },       { NULL, 0 },
};

/* Autocast casts fp32 weights; weights that are 16-bit stay so. */
static void set_precision(const struct command *command,
			  struct estimate_request *request,
			  struct strlist *notes)
{
	const char *weights = command->model[MODEL_PRECISION];
	const char *autocast = command->model[MODEL_AUTOCAST];
	int regime = REGIME_FP32;

	if (request->has_regime || (!weights && !autocast))
		return;
	if (weights && strcasecmp(weights, "auto") == 0)
		weights = NULL;
	if (weights && !word_find(precisions, weights, &regime)) {
		note_word(notes, "the data type", weights);
		return;
	}
	if (autocast && regime == REGIME_FP32 && !is_off(autocast) &&
	    (!word_find(precisions, autocast, &regime) ||
	     regime != REGIME_FP32))
		regime = REGIME_AMP;
	request->run.regime = (enum regime)regime;
	request->has_regime = true;
}

/* "adamw_torch_fused" is adamw, whose step is fused. */
static const struct word_row fused_optimizers[] = {
	{ "*_fused", 1 },
	{ "fused*", 1 },
	{ "apex*", 1 },
	{ NULL, 0 },
};

static const struct {
	const char *glob, *name;
} optimizer_words[] = {
	{ "*paged*adamw*8*", "paged_adamw_8bit" },
	{ "*adam*8*bit*", "adamw_8bit" },
	{ "*adam*bnb*8*", "adamw_8bit" },
	{ "*adam*4*bit*", "adamw_4bit" },
	{ "*lion*8*", "lion_8bit" },
	{ "*lion*", "lion" },
	{ "*adam-mini*", "adam_mini" },
	{ "*adam*", "adamw" },
	{ "*adafactor*", "adafactor" },
	{ "*came*", "came" },
	{ "*galore*", "galore" },
	{ "*lomo*", "lomo" },
	{ "*rmsprop*", "rmsprop" },
	{ "*adagrad*", "adagrad" },
	{ "*muon*", "muon" },
	{ "*lamb*", "lamb" },
	{ "*lars*", "lars" },
	{ "*sophia*", "sophia" },
	{ "*shampoo*", "shampoo" },
	{ "*soap*", "soap" },
	{ "*momentum*", "sgd_momentum" },
	{ "*sgd*", "sgd" },
};

static const struct optimizer *optimizer_of(const char *word)
{
	const size_t count = sizeof(optimizer_words) / sizeof(*optimizer_words);
	const struct optimizer *found = optimizer_find(word);

	for (size_t i = 0; !found && i < count; i++)
		if (fnmatch(optimizer_words[i].glob, word, FNM_CASEFOLD) == 0)
			found = optimizer_find(optimizer_words[i].name);
	return found;
}

static void set_optimizer(const struct command *command,
			  struct estimate_request *request,
			  struct strlist *notes)
{
	const char *word = command->model[MODEL_OPTIMIZER];
	int is_fused = 0;

	if (!word || request->run.optimizer)
		return;
	request->run.optimizer = optimizer_of(word);
	if (!request->run.optimizer)
		note_word(notes, "the optimizer", word);
	if (word_find(fused_optimizers, word, &is_fused))
		request->run.fused_step = true;
}

static const struct word_row checkpointings[] = {
	{ "selective", CHECKPOINT_SELECTIVE },
	{ "unsloth", CHECKPOINT_OFFLOADED },
	{ "offload*", CHECKPOINT_OFFLOADED },
	{ "*", CHECKPOINT_FULL },
	{ NULL, 0 },
};

static void set_checkpointing(const struct command *command,
			      struct estimate_request *request)
{
	const char *word = command->model[MODEL_CHECKPOINTING];
	int meaning = CHECKPOINT_NONE;

	if (!word || request->has_checkpointing)
		return;
	if (!is_off(word))
		(void)word_find(checkpointings, word, &meaning);
	request->run.checkpointing = (enum checkpointing)meaning;
	request->has_checkpointing = true;
}

/* Of options that say which way: "bnb.nf4-dq" of LitGPT, "8" of LLaMA-Factory.
 * Any other word is a yes. */
static const struct word_row quantisations[] = {
	{ "bnb.int8*", WEIGHTS_INT8 },
	{ "bnb.*-dq", WEIGHTS_NF4_DOUBLE },
	{ "8", WEIGHTS_INT8 },
	{ "*", WEIGHTS_NF4 },
	{ NULL, 0 },
};

static void set_quantisation(const char *word, struct workload *run)
{
	int meaning = WEIGHTS_NF4;

	(void)word_find(quantisations, word, &meaning);
	run->weights = (enum weights)meaning;
	run->lightning_quantizer = strncmp(word, "bnb.", 4) == 0;
}

static void set_adapters(const struct command *command,
			 struct estimate_request *request)
{
	const char *rank = command->model[MODEL_LORA_RANK];
	const char *four = command->model[MODEL_FOUR_BIT];
	const char *eight = command->model[MODEL_EIGHT_BIT];
	const char *builder = command->model[MODEL_BUILDER];
	struct workload *run = &request->run;
	int64_t number = 0;

	if (rank && !run->rank && integer_parse(rank, &number, NULL) == 0 &&
	    number > 0) {
		run->rank = number;
		if (run->peft == PEFT_NONE)
			run->peft = PEFT_LORA;
	}
	if (request->has_weights)
		return;
	if (four && !is_off(four))
		set_quantisation(four, run);
	else if (builder && strstr(builder, ".qlora_"))
		run->weights = WEIGHTS_NF4;
	else if (eight && !is_off(eight))
		run->weights = WEIGHTS_INT8;
}

/* Of `autofit estimate`, stages of DeepSpeed's zero_optimization, and --fsdp of
 * transformers: "full_shard auto_wrap". */
static const struct word_row shardings[] = {
	{ "0", SHARD_DDP },
	{ "ddp", SHARD_DDP },
	{ "1", SHARD_ZERO1 },
	{ "zero1", SHARD_ZERO1 },
	{ "2", SHARD_ZERO2 },
	{ "zero2", SHARD_ZERO2 },
	{ "3", SHARD_ZERO3 },
	{ "zero3", SHARD_ZERO3 },
	{ "*grad[-_]op*", SHARD_FSDP_GRAD_OP },
	{ "*hybrid_shard_zero2*", SHARD_FSDP_GRAD_OP },
	{ "*no_shard*", SHARD_DDP },
	{ "*full_shard*", SHARD_FSDP },
	{ "*hybrid_shard*", SHARD_FSDP },
	{ "fsdp", SHARD_FSDP },
	{ "true", SHARD_FSDP },
	{ NULL, 0 },
};

static void set_sharding(const struct command *command,
			 struct estimate_request *request,
			 struct strlist *notes)
{
	const char *word = command->model[MODEL_SHARDING];
	const char *weights = command->model[MODEL_OFFLOAD_WEIGHTS];
	const char *states = command->model[MODEL_OFFLOAD_OPTIMIZER];
	struct workload *run = &request->run;
	int meaning = SHARD_NONE;

	if (word && !request->has_sharding) {
		if (word_find(shardings, word, &meaning))
			run->sharding = (enum sharding)meaning;
		else if (!is_off(word))
			note_word(notes, "the sharding", word);
	}
	if (request->has_offload)
		return;
	if ((weights && !is_off(weights)) ||
	    (word && fnmatch("*offload*", word, FNM_CASEFOLD) == 0))
		run->offload = OFFLOAD_ALL;
	else if (states && !is_off(states))
		run->offload = OFFLOAD_OPTIMIZER;
}

static void set_sizes(const struct command *command,
		      struct estimate_request *request, struct strlist *notes)
{
	const struct {
		const char *text, *what;
		int64_t *place;
	} rows[] = {
		{ command->model[MODEL_SEQUENCE], "the sequence length",
		  &request->run.sequence },
		{ command->model[MODEL_COMPLETION], "the completion length",
		  &request->run.completion },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		int64_t value = 0;

		if (!rows[i].text || *rows[i].place)
			continue;
		if (integer_parse(rows[i].text, &value, NULL) == 0 && value > 0)
			*rows[i].place = value;
		else
			note_word(notes, rows[i].what, rows[i].text);
	}
	if (!request->run.micro_batch)
		request->run.micro_batch = command->batch.micro_batch;
	if (!request->run.grad_accum)
		request->run.grad_accum = command->batch.grad_accum;
	if (!request->gpus && command->batch.world_size > 1)
		request->gpus = command->batch.world_size;
}

static const struct word_row tasks[] = {
	{ "*grpo*", TASK_GRPO }, { "*rloo*", TASK_GRPO },
	{ "*gspo*", TASK_GRPO }, { "*dpo*", TASK_DPO },
	{ "*ppo*", TASK_PPO },   { NULL, 0 },
};

static const char *argument_at(const struct command *command, size_t index)
{
	return index < command_argv(command)->count
		       ? command_argv(command)->items[index]
		       : "";
}

/* By the preset, else by what the script is called, or by "trl dpo". */
static void set_task(const struct command *command,
		     struct estimate_request *request)
{
	const char *script = argument_at(command, command->view.script);
	int task;

	if (request->has_task)
		return;
	if (!word_find(tasks, command->preset->name, &task) &&
	    !word_find(tasks, basename(script), &task) &&
	    !word_find(tasks, argument_at(command, command->view.args), &task))
		return;
	request->run.task = (enum task)task;
	request->has_task = true;
}

static bool was_read(const struct command *command, const char *path)
{
	for (size_t i = 0; i < command->file_count; i++)
		if (strcmp(command->files[i].read->path, path) == 0)
			return true;
	return false;
}

/* How options are called that name a file of settings. */
static const struct word_row settings_options[] = { { "-*deepspeed*", 0 },
						    { "-*config*", 0 },
						    { NULL, 0 } };

/*
 * DeepSpeed's file and others say how ranks share the model. One that is not
 * there, or cannot be read, leaves the defaults, which is worth a line.
 */
static void note_unread_files(const struct command *command,
			      struct strlist *notes)
{
	const struct strlist *argv = command_argv(command);
	enum settings_format format;

	for (size_t i = 0; i < argv->count; i++) {
		const char *word = argv->items[i];
		const char *equals = strchr(word, '=');
		const char *path =
			equals ? equals + 1 : argument_at(command, i + 1);
		int unused;

		if (word_find(settings_options, word, &unused) &&
		    settings_format_of(path, &format) &&
		    format != SETTINGS_PYTHON && !was_read(command, path))
			strlist_addf(
				notes,
				"%.64s, which the command names: it could "
				"not be read, so what it says on sharding, "
				"offload and precision is not counted",
				path);
	}
}

void estimate_command_run(const struct command *command,
			  struct estimate_request *request,
			  struct strlist *notes)
{
	static const struct word_row eager[] = { { "eager", 0 },
						 { "disabled", 0 },
						 { NULL, 0 } };
	const char *attention = command->model[MODEL_ATTENTION];
	int meaning;

	set_sizes(command, request, notes);
	set_precision(command, request, notes);
	set_optimizer(command, request, notes);
	set_checkpointing(command, request);
	set_adapters(command, request);
	set_sharding(command, request, notes);
	set_task(command, request);
	note_unread_files(command, notes);
	if (attention && !request->has_attention &&
	    word_find(eager, attention, &meaning))
		request->run.attention = ATTENTION_EAGER;
}
