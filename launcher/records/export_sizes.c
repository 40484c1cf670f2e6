/* A record's sizes under the names of one framework's own files. Pure. */
/* SPDX-License-Identifier: MIT */
#include "launcher/records/export_formats.h"

#include "launcher/report/json.h"

#include <inttypes.h>
#include <string.h>

/* A key of a framework and what it means. */
struct size_key {
	const char *name; /* NULL ends a list */
	size_t offset;    /* in struct batch */
};

#define IN_BATCH(member) offsetof(struct batch, member)

static int64_t export_sizes_value(const struct result *result,
				  const struct size_key *key)
{
	int64_t value;

	memcpy(&value, (const char *)&result->record.batch + key->offset,
	       sizeof(value));
	return value;
}

static void add_json(const struct result *result, const struct size_key *keys,
		     struct strbuf *out)
{
	json_t *object = json_checked(json_object());

	for (; keys->name; keys++)
		json_put(object, keys->name,
			 json_integer(export_sizes_value(result, keys)));
	json_write(out, object, JSON_INDENT(2));
}

static void add_pairs(const struct result *result, const struct size_key *keys,
		      const char *between, struct strbuf *out)
{
	for (; keys->name; keys++)
		strbuf_addf(out, "%s%s%" PRId64 "\n", keys->name, between,
			    export_sizes_value(result, keys));
}

int export_hf(const struct result *result, struct strbuf *out,
	      struct error *err)
{
	static const struct size_key keys[] = {
		{ "per_device_train_batch_size", IN_BATCH(micro_batch) },
		{ "gradient_accumulation_steps", IN_BATCH(grad_accum) },
		{ NULL, 0 },
	};

	(void)err;
	add_json(result, keys, out);
	return 0;
}

/* The three keys that DeepSpeed wants consistent. */
int export_deepspeed(const struct result *result, struct strbuf *out,
		     struct error *err)
{
	static const struct size_key keys[] = {
		{ "train_batch_size", IN_BATCH(effective_batch) },
		{ "train_micro_batch_size_per_gpu", IN_BATCH(micro_batch) },
		{ "gradient_accumulation_steps", IN_BATCH(grad_accum) },
		{ NULL, 0 },
	};

	(void)err;
	add_json(result, keys, out);
	return 0;
}

/*
 * Its config has no micro-batch, and the accumulation only for DeepSpeed; to
 * a script the variable of the comment says it.
 */
int export_accelerate(const struct result *result, struct strbuf *out,
		      struct error *err)
{
	const struct batch *batch = &result->record.batch;
	bool on_host = strcmp(result->record.device_kind, "host") == 0;

	(void)err;
	strbuf_addf(out,
		    "# micro-batch %" PRId64 ": an option of the script, not "
		    "of accelerate\n"
		    "# without DeepSpeed: "
		    "ACCELERATE_GRADIENT_ACCUMULATION_STEPS=%" PRId64 "\n"
		    "compute_environment: LOCAL_MACHINE\n"
		    "distributed_type: '%s'\n"
		    "use_cpu: %s\n"
		    "num_machines: 1\n"
		    "num_processes: %" PRId64 "\n"
		    "deepspeed_config:\n"
		    "  gradient_accumulation_steps: %" PRId64 "\n",
		    batch->micro_batch, batch->grad_accum,
		    batch->world_size == 1 ? "NO"
		    : on_host              ? "MULTI_CPU"
					   : "MULTI_GPU",
		    on_host ? "true" : "false", batch->world_size,
		    batch->grad_accum);
	return 0;
}

/* Overrides for the end of its command line, which are keys of its YAML. */
int export_torchtune(const struct result *result, struct strbuf *out,
		     struct error *err)
{
	static const struct size_key keys[] = {
		{ "batch_size", IN_BATCH(micro_batch) },
		{ "gradient_accumulation_steps", IN_BATCH(grad_accum) },
		{ NULL, 0 },
	};

	(void)err;
	add_pairs(result, keys, "=", out);
	return 0;
}

int export_axolotl(const struct result *result, struct strbuf *out,
		   struct error *err)
{
	static const struct size_key keys[] = {
		{ "micro_batch_size", IN_BATCH(micro_batch) },
		{ "gradient_accumulation_steps", IN_BATCH(grad_accum) },
		{ NULL, 0 },
	};

	(void)err;
	add_pairs(result, keys, ": ", out);
	return 0;
}
