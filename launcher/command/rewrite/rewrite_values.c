/* Works out the value that each knob gets in a run. Pure. */
/* SPDX-License-Identifier: MIT */
#include "launcher/command/parts/knob.h"
#include "launcher/command/rewrite/rewrite_internal.h"
#include "launcher/command/text/knob_kind.h"

#include "base/alloc.h"

#include <string.h>

static int64_t product(int64_t a, int64_t b)
{
	int64_t result;

	return __builtin_mul_overflow(a, b, &result) ? INT64_MAX : result;
}

/* Steps that are counted as forward/backward passes go with accumulation. */
static int64_t steps_written(const struct command *command,
			     const struct command_values *values)
{
	const struct knob *knob = &command->knobs[KNOB_STEPS];
	int64_t accum = values->grad_accum > 0 ? values->grad_accum
					       : command->batch.grad_accum;
	int64_t value = knob->value;
	int64_t wished = values->steps;

	if (knob->unit == UNIT_MICRO_STEPS) {
		value = scaled_written(command, values, value);
		wished = product(wished, accum);
	}
	return wished > value ? wished : value;
}

int64_t scaled_written(const struct command *command,
		       const struct command_values *values, int64_t value)
{
	int64_t own =
		command->batch.grad_accum > 0 ? command->batch.grad_accum : 1;
	int64_t whole;

	if (values->grad_accum <= 0 || values->grad_accum == own)
		return value;
	whole = product(value, values->grad_accum);
	/* Exact for a split; a probe's shorter accumulation may round up. */
	return whole / own + (whole % own != 0);
}

int64_t knob_written(const struct command *command, enum knob_kind kind,
		     const struct command_values *values)
{
	const struct knob *knob = &command->knobs[kind];
	int64_t micro = values->micro_batch, accum = values->grad_accum;
	int64_t ranks =
		knob->scope == SCOPE_RANK ? 1 : command->batch.world_size;
	int64_t unit = knob->unit == UNIT_TOKENS ? command->sample_tokens : 1;
	int64_t group = knob->unit == UNIT_GROUPS ? command->group_samples : 1;

	if (kind == KNOB_MICRO && micro > 0)
		return product(product(micro, ranks), unit);
	if (kind == KNOB_ACCUM && accum > 0)
		return product(accum, ranks);
	if (kind == KNOB_GLOBAL && micro > 0 && accum > 0)
		return product(product(product(micro, accum), ranks), unit) /
		       group;
	if (kind == KNOB_STEPS)
		return steps_written(command, values);
	return knob->value;
}

/* A program that writes one file gets it inside the fresh folder. */
static char *output_path(const char *folder, const char *old)
{
	static const char *const suffixes[] = { ".pt",  ".pth",         ".ckpt",
						".bin", ".safetensors", ".json",
						".csv", ".txt",         ".log",
						".h5",  ".jsonl",       ".npz",
						".pkl", ".onnx",        NULL };
	const char *base = old ? basename(old) : NULL;
	const char *dot = base ? strrchr(base, '.') : NULL;

	for (size_t i = 0; dot && dot != base && suffixes[i]; i++)
		if (strcmp(suffixes[i], dot) == 0)
			return xasprintf("%s/%s", folder, base);
	return xstrdup(folder);
}

/* Nothing is to change: not even what would come to the same. */
static bool is_own(const struct command *command,
		   const struct command_values *values)
{
	return (values->micro_batch == 0 ||
		values->micro_batch == command->batch.micro_batch) &&
	       (values->grad_accum == 0 ||
		values->grad_accum == command->batch.grad_accum);
}

char *knob_new_value(const struct command *command, enum knob_kind kind,
		     const struct command_values *values)
{
	const struct knob *knob = &command->knobs[kind];
	int64_t number;

	if (kind == KNOB_OUTPUT)
		return values->output ? output_path(values->output, knob->text)
				      : NULL;
	number = knob_written(command, kind, values);
	if ((number == knob->value && !knob->follows) ||
	    (kind <= KNOB_GLOBAL && is_own(command, values)))
		return NULL;
	return xasprintf("%lld", (long long)number);
}
