/* Reads a training command: its framework, its knobs, its batch. Pure. */
/* SPDX-License-Identifier: MIT */
#include "launcher/command.h"

#include "base/alloc.h"
#include "base/strbuf.h"
#include "launcher/command_internal.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

/* An argument that is no option, nor likely the value of one. */
static bool stands_alone(const struct command *command, size_t index)
{
	struct token before;

	if (command->argv.items[index][0] == '-')
		return false;
	return index == command->view.args ||
	       !token_read(&before, &command->argv, &command->view,
			   index - 1) ||
	       before.form != KNOB_SEPARATE;
}

static bool is_config(const struct command *command, size_t index)
{
	const struct strlist *known = &command->preset->config_tokens;
	const char *text = command->argv.items[index];
	struct token token;
	bool is_token =
		token_read(&token, &command->argv, &command->view, index);

	for (size_t i = 0; i < known->count; i++) {
		const char *entry = known->items[i];

		if (*entry == '-' && is_token &&
		    name_matches(entry, token.name, token.name_length,
				 token.bare))
			return true;
		if (*entry != '-' && fnmatch(entry, text, 0) == 0 &&
		    stands_alone(command, index))
			return true;
	}
	return false;
}

/* The last argument that names a config file; the value of --config. */
static size_t config_find(const struct command *command)
{
	size_t found = NO_INDEX;
	struct token token;

	for (size_t i = command->view.args; i < command->view.end; i++) {
		if (!is_config(command, i))
			continue;
		found = i;
		if (token_read(&token, &command->argv, &command->view, i) &&
		    token.form == KNOB_SEPARATE)
			found = token.value_index;
	}
	return found;
}

static bool scope_parse(const char *text, enum knob_scope *scope)
{
	static const struct {
		const char *name;
		enum knob_scope scope;
	} names[] = { { "rank", SCOPE_RANK },
		      { "node", SCOPE_NODE },
		      { "global", SCOPE_GLOBAL },
		      { "total", SCOPE_TOTAL } };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (strcmp(names[i].name, text) != 0)
			continue;
		*scope = names[i].scope;
		return true;
	}
	return false;
}

static enum command_outcome scopes_set(const struct recognition *r)
{
	struct knob *micro = &r->command->knobs[KNOB_MICRO];
	struct knob *accum = &r->command->knobs[KNOB_ACCUM];
	const struct preset *preset = r->command->preset;
	const char *micro_scope = r->hints->micro_scope;
	const char *accum_scope = r->hints->accum_scope;
	char shown[BRIEF_MAX];

	if (preset->micro.scope)
		(void)scope_parse(preset->micro.scope, &micro->scope);
	if (preset->accum.scope)
		(void)scope_parse(preset->accum.scope, &accum->scope);
	if (micro_scope && (!scope_parse(micro_scope, &micro->scope) ||
			    micro->scope == SCOPE_TOTAL)) {
		(void)error_set(r->err, -EINVAL,
				"--micro-scope %s: write rank, node or global",
				brief(shown, micro_scope));
		return COMMAND_USAGE;
	}
	if (accum_scope &&
	    (!scope_parse(accum_scope, &accum->scope) ||
	     (accum->scope != SCOPE_RANK && accum->scope != SCOPE_TOTAL))) {
		(void)error_set(r->err, -EINVAL,
				"--accum-scope %s: write rank or total",
				brief(shown, accum_scope));
		return COMMAND_USAGE;
	}
	return COMMAND_OK;
}

/* What one rank has of a knob's value; its ranks must share it evenly. */
static enum command_outcome per_rank(const struct recognition *r,
				     enum knob_kind kind, int64_t *value)
{
	const struct knob *knob = &r->command->knobs[kind];
	int64_t world = r->command->world_size;

	*value = knob->value;
	if (knob->scope == SCOPE_RANK)
		return COMMAND_OK;
	if (knob->value % world != 0)
		return not_recognised(r,
				      "%s %lld counts over all ranks, but %lld "
				      "ranks cannot share it evenly: write a "
				      "multiple of %lld",
				      knob->name, (long long)knob->value,
				      (long long)world, (long long)world);
	*value = knob->value / world;
	return COMMAND_OK;
}

/* Accumulation that the framework derives from the effective batch. */
static enum command_outcome derive_global(const struct recognition *r)
{
	struct command *command = r->command;
	const struct knob *global = &command->knobs[KNOB_GLOBAL];
	bool has_accum = command->knobs[KNOB_ACCUM].form != KNOB_ABSENT;
	int64_t step;

	if (global->value == 0 || command->micro_batch == 0)
		return COMMAND_OK;
	if (__builtin_mul_overflow(command->micro_batch, command->world_size,
				   &step) ||
	    global->value % step != 0 ||
	    (has_accum && global->value / step != command->grad_accum))
		return not_recognised(
			r,
			"%s %lld is not %lld x a whole number x %lld ranks%s: "
			"write sizes that agree",
			global->name, (long long)global->value,
			(long long)command->micro_batch,
			(long long)command->world_size,
			has_accum ? ", nor what the accumulation gives" : "");
	command->grad_accum = global->value / step;
	return COMMAND_OK;
}

static enum command_outcome derive(const struct recognition *r)
{
	struct command *command = r->command;
	const struct knob *accum = &command->knobs[KNOB_ACCUM];
	enum command_outcome outcome;
	bool is_known;

	outcome = per_rank(r, KNOB_MICRO, &command->micro_batch);
	if (outcome == COMMAND_OK)
		outcome = per_rank(r, KNOB_ACCUM, &command->grad_accum);
	if (outcome != COMMAND_OK)
		return outcome;
	is_known = command->micro_batch > 0 &&
		   (accum->form == KNOB_ABSENT || accum->value > 0);
	if (command->grad_accum == 0)
		command->grad_accum = 1;
	outcome = derive_global(r);
	if (outcome != COMMAND_OK || !is_known)
		return outcome;
	if (__builtin_mul_overflow(command->micro_batch, command->grad_accum,
				   &command->effective_batch) ||
	    __builtin_mul_overflow(command->effective_batch,
				   command->world_size,
				   &command->effective_batch))
		return not_recognised(r,
				      "the effective batch %lld x %lld x %lld "
				      "is too large to be meant",
				      (long long)command->micro_batch,
				      (long long)command->grad_accum,
				      (long long)command->world_size);
	return COMMAND_OK;
}

static void assume_knob(struct strbuf *out, const struct knob *knob,
			const char *glue)
{
	static const char *const scopes[] = { "per rank", "per node",
					      "over all ranks",
					      "over all ranks" };

	if (knob->form == KNOB_ABSENT)
		return;
	strbuf_addf(out, "%s%s ", glue, knob->name);
	if (knob->form == KNOB_DEFAULT)
		strbuf_addf(out, "not given, %s, ", knob->evidence);
	strbuf_addf(out, "taken as %s", scopes[knob->scope]);
}

/* Accumulation is spoken of where it is not simply written per rank. */
static void assume(struct command *command)
{
	const struct knob *accum = &command->knobs[KNOB_ACCUM];
	struct strbuf out = STRBUF_INIT;

	if (command->effective_batch > 0)
		strbuf_addf(&out, "effective batch %lld = %lld x %lld x %lld (",
			    (long long)command->effective_batch,
			    (long long)command->micro_batch,
			    (long long)command->grad_accum,
			    (long long)command->world_size);
	else
		strbuf_adds(&out, "effective batch not known (");
	assume_knob(&out, &command->knobs[KNOB_MICRO], "");
	if (accum->form == KNOB_DEFAULT || accum->scope != SCOPE_RANK)
		assume_knob(&out, accum, "; ");
	strbuf_addch(&out, ')');
	command->assumption = strbuf_detach(&out);
}

static void name_source(const struct command *command, char name[BRIEF_MAX])
{
	const struct command_view *view = &command->view;
	const char *path = command->argv.items[view->program];

	if (view->code != NO_INDEX)
		path = "the code of python -c";
	else if (view->script != NO_INDEX)
		path = command->argv.items[view->script];
	else if (view->module != NO_INDEX)
		path = command->argv.items[view->module];
	(void)brief(name, path);
}

static enum command_outcome recognise(struct recognition *r,
				      const struct presets *presets,
				      const char *text)
{
	enum command_outcome outcome = framework_find(r, presets, text);

	if (outcome == COMMAND_OK)
		outcome = placeholders_find(r);
	if (outcome != COMMAND_OK)
		return outcome;
	r->config_index = config_find(r->command);
	outcome = world_find(r);
	if (r->hints->ranks_around > 1)
		r->command->world_size *= r->hints->ranks_around;
	if (outcome == COMMAND_OK)
		outcome = scopes_set(r);
	if (outcome == COMMAND_OK)
		outcome = knobs_find(r);
	if (outcome == COMMAND_OK)
		outcome = derive(r);
	if (outcome == COMMAND_OK)
		assume(r->command);
	return outcome;
}

/* Six, since each is another kind of fact. NOLINTNEXTLINE(readability-*) */
enum command_outcome command_recognise(struct command *command,
				       const struct strlist *argv,
				       const struct presets *presets,
				       const struct command_hints *hints,
				       const char *source, struct error *err)
{
	struct error ignored = ERROR_INIT;
	struct source facts;
	char source_name[BRIEF_MAX];
	struct recognition recognition = { .command = command,
					   .hints = hints,
					   .source = &facts,
					   .source_name = source_name,
					   .config_index = NO_INDEX,
					   .err = err ? err : &ignored };
	enum command_outcome outcome;

	*command = (struct command){ .world_size = 1, .grad_accum = 1 };
	strlist_add_all(&command->argv, (const char *const *)argv->items,
			argv->count);
	if (hints->env_templates)
		strlist_add_all(
			&command->env_templates,
			(const char *const *)hints->env_templates->items,
			hints->env_templates->count);
	outcome = command_unwrap(&command->view, &command->argv,
				 hints->visible_devices, err);
	if (outcome != COMMAND_OK)
		return outcome;
	if (!source && command->view.code != NO_INDEX)
		source = command->argv.items[command->view.code];
	name_source(command, source_name);
	source_read(&facts, source);
	outcome = recognise(&recognition, presets, source);
	source_release(&facts);
	return outcome;
}

void command_release(struct command *command)
{
	strlist_release(&command->argv);
	strlist_release(&command->env_templates);
	command_view_release(&command->view);
	free(command->preset_evidence);
	free(command->assumption);
	for (size_t i = 0; i < KNOB_KINDS; i++) {
		free(command->knobs[i].text);
		free(command->knobs[i].name);
		free(command->knobs[i].evidence);
	}
	*command = (struct command){ 0 };
}
