/* What `explain` says of a command, as JSON for programs. */
/* SPDX-License-Identifier: MIT */
#include "launcher/explain_plan.h"

#include "configs/secrets/secrets.h"
#include "launcher/command/parts/knob.h"
#include "launcher/command/rewrite/rewrite.h"
#include "launcher/command/text/knob_kind.h"
#include "launcher/report/json.h"
#include "launcher/tuning/setup/probe_setup.h"

#include <stdlib.h>
#include <string.h>

static const struct {
	const char *title, *name;
} knob_names[KNOB_KINDS] = {
	[KNOB_MICRO] = { "micro-batch", "micro" },
	[KNOB_ACCUM] = { "accumulation", "accum" },
	[KNOB_GLOBAL] = { "effective batch", "effective" },
	[KNOB_STEPS] = { "step limit", "steps" },
	[KNOB_OUTPUT] = { "output folder", "output" },
};

const char *knob_title(enum knob_kind kind)
{
	return knob_names[kind].title;
}

struct command_values explain_probe_values(const struct explained *explained)
{
	struct command_values values = probe_setup_values(
		explained->request->options, &explained->first);

	values.output = "<scratch>/out";
	values.copies = "<scratch>";
	return values;
}

struct command_values explain_final_values(const struct explained *explained)
{
	return (struct command_values){
		.micro_batch = explained->micro_batch,
		.grad_accum = explained->grad_accum,
		.copies = explained->request->paths.copies,
	};
}

static json_t *masked_json(const struct strlist *list)
{
	struct strlist masked = STRLIST_INIT;
	json_t *array;

	secrets_mask_argv(&masked, list);
	array = json_texts(&masked);
	strlist_release(&masked);
	return array;
}

static json_t *plan_number_or_null(int64_t number)
{
	return number ? json_integer(number) : json_null();
}

static json_t *knob_json(const struct command *command, enum knob_kind kind)
{
	static const char *const forms[] = {
		[KNOB_ABSENT] = "absent",
		[KNOB_SEPARATE] = "separate",
		[KNOB_JOINED] = "joined",
		[KNOB_DEFAULT] = "default",
		[KNOB_PLACEHOLDER] = "placeholder",
		[KNOB_ENVIRONMENT] = "environment",
		[KNOB_FILE] = "file",
		[KNOB_SOURCE] = "source",
	};
	static const char *const scopes[] = { "rank", "node", "global",
					      "total" };
	const struct knob *knob = &command->knobs[kind];
	json_t *object = json_checked(json_object());

	json_put(object, "kind", json_string(knob_names[kind].name));
	json_put(object, "name", json_text(knob->name));
	json_put(object, "form", json_string(forms[knob->form]));
	json_put(object, "value", plan_number_or_null(knob->value));
	json_put(object, "scope",
		 kind <= KNOB_GLOBAL ? json_string(scopes[knob->scope])
				     : json_null());
	json_put(object, "unit", json_text(preset_unit_names[knob->unit]));
	json_put(object, "evidence", json_text(knob->evidence));
	return object;
}

static json_t *knobs_json(const struct command *command)
{
	json_t *array = json_checked(json_array());

	for (int kind = 0; kind < KNOB_KINDS; kind++)
		if (command->knobs[kind].form != KNOB_ABSENT)
			json_append(array,
				    knob_json(command, (enum knob_kind)kind));
	return array;
}

static json_t *line_json(const char *line, size_t length)
{
	char *text = strndup(line, length);
	json_t *value = json_text(text);

	free(text);
	return value;
}

/* Lines of the copy that differ; both texts have the same number of lines. */
static json_t *changes_json(const char *before, const char *after)
{
	json_t *array = json_checked(json_array());
	json_int_t line = 1;

	for (; *before && *after; line++) {
		size_t b = strcspn(before, "\n"), a = strcspn(after, "\n");

		if (b != a || memcmp(before, after, a) != 0) {
			json_t *change = json_checked(json_object());

			json_put(change, "line", json_integer(line));
			json_put(change, "before", line_json(before, b));
			json_put(change, "after", line_json(after, a));
			json_append(array, change);
		}
		before += b + (before[b] == '\n');
		after += a + (after[a] == '\n');
	}
	return array;
}

static json_t *copies_json(const struct command *command,
			   const struct rewrite *run)
{
	json_t *array = json_checked(json_array());

	for (size_t i = 0; i < run->copy_count; i++) {
		const struct file_copy *copy = &run->copies[i];
		json_t *object = json_checked(json_object());

		json_put(object, "original", json_text(copy->original));
		json_put(object, "path", json_text(copy->path));
		json_put(
			object, "changes",
			changes_json(copy_original(command, copy), copy->text));
		json_append(array, object);
	}
	return array;
}

static json_t *plan_run_json(const struct request *request,
			     const struct command_values *values)
{
	struct error err = ERROR_INIT;
	struct rewrite run;
	json_t *object;

	if (request_rewrite(request, &request->command, values, &run, &err) <
	    0) {
		rewrite_release(&run);
		return json_null();
	}
	object = json_checked(json_object());
	json_put(object, "micro_batch", json_integer(values->micro_batch));
	json_put(object, "grad_accum", json_integer(values->grad_accum));
	json_put(object, "argv", masked_json(&run.argv));
	json_put(object, "env", masked_json(&run.environment));
	json_put(object, "copies", copies_json(&request->command, &run));
	rewrite_release(&run);
	return object;
}

static json_t *plan_model_json(const struct command *command)
{
	json_t *object = json_checked(json_object());

	for (int field = 0; field < MODEL_FIELDS; field++)
		if (command->model[field])
			json_put(object,
				 preset_model_field_name(
					 (enum preset_model_field)field),
				 json_text(command->model[field]));
	return object;
}

char *explain_plan(const struct explained *explained)
{
	const struct request *request = explained->request;
	const struct command *command = &request->command;
	struct command_values probe = explain_probe_values(explained);
	struct command_values final = explain_final_values(explained);
	json_t *root = json_checked(json_object());
	char *text;

	json_put(root, "preset", json_text(command->preset->name));
	json_put(root, "preset_evidence", json_text(command->preset_evidence));
	json_put(root, "preset_is_certain",
		 json_boolean(command->preset_is_certain));
	json_put(root, "script", json_text(request->script));
	json_put(root, "launcher", json_text(command->view.launcher));
	json_put(root, "world_size",
		 plan_number_or_null(
			 command->open_ranks ? 0 : command->batch.world_size));
	json_put(root, "effective_batch",
		 plan_number_or_null(command->open_ranks
					     ? 0
					     : command->batch.effective_batch));
	json_put(root, "assumption", json_text(command->assumption));
	json_put(root, "knobs", knobs_json(command));
	json_put(root, "constraints", json_text(command->constraints.words));
	json_put(root, "caveats", json_texts(&command->caveats));
	json_put(root, "model", plan_model_json(command));
	json_put(root, "first_probe",
		 explained->first.action == PLAN_PROBE
			 ? plan_run_json(request, &probe)
			 : json_null());
	json_put(root, "final",
		 command_rows_are_open(command)
			 ? json_null()
			 : plan_run_json(request, &final));
	text = json_dumps(root, JSON_COMPACT);
	json_decref(root);
	if (!text)
		(void)json_checked(NULL);
	return text;
}
