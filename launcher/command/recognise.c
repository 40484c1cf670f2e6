/* Reads a training command: its framework, its knobs, its batch. Pure. */
/* SPDX-License-Identifier: MIT */
/*
 * "torchrun --nproc_per_node 2 train.py --bs 8 --ga 4" is read from the outside
 * in. wrappers/ takes off what stands before the program (env, python,
 * torchrun, a shell and its script), so that the words are one flat argv, and
 * counts the ranks. The program, the text of its script, and the config files
 * that its arguments name decide which preset speaks for it. knobs/ then looks
 * for the micro-batch, the accumulation and the rest: where the user marked
 * them, among the arguments, in config files, in the script's own defaults.
 * What is found amounts to micro x accumulation x world = effective batch. Each
 * step of this is a row of steps[] below; what one finds the next ones see in
 * struct recognition.
 *
 * Files are read through command_sources.texts, whose owner gives in how, so
 * that nothing here touches the disk. rewrite/ writes other sizes into the
 * command, and readback.c reads the result by these very steps.
 */

#include "launcher/command/recognise.h"

#include "base/alloc.h"
#include "launcher/command/command_files.h"
#include "launcher/command/command_numbers.h"
#include "launcher/command/config_bases.h"
#include "launcher/command/constraints.h"
#include "launcher/command/effective_batch.h"
#include "launcher/command/framework.h"
#include "launcher/command/hydra_files.h"
#include "launcher/command/knobs/knobs.h"
#include "launcher/command/knobs/placeholders.h"
#include "launcher/command/modules/module_options.h"
#include "launcher/command/parts/setting_options.h"
#include "launcher/command/parts/subcommand.h"
#include "launcher/command/purpose.h"
#include "launcher/command/script_files.h"
#include "launcher/command/text/argument.h"
#include "launcher/command/wrappers/launchers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void name_source(const struct command *command, char name[BRIEF_MAX])
{
	const struct command_view *view = &command->view;
	const char *path = command_argv(command)->items[view->program];

	if (view->code != NO_INDEX)
		path = "the code of python -c";
	else if (view->script != NO_INDEX)
		path = command_argv(command)->items[view->script];
	else if (view->module != NO_INDEX)
		path = command_argv(command)->items[view->module];
	(void)argument_brief(name, path);
}

/* A module as one of the places where it may stand says. */
static struct named_file *module_file_seen(const struct recognition *r,
					   const char *folder,
					   const char *module, const char *end)
{
	char *path = xasprintf("%s%s%s", folder, module, end);
	size_t dots = strlen(path) - strlen(end);
	struct named_file *file;

	for (size_t i = 0; i < dots; i++)
		if (path[i] == '.')
			path[i] = '/';
	file = file_seen(r, path);
	free(path);
	return file && !file->error && file->text.length ? file : NULL;
}

static enum command_outcome unreadable(const struct recognition *r,
				       const struct named_file *file)
{
	(void)error_set_errno(r->err, -file->error, "cannot read %s",
			      file->path);
	return COMMAND_UNREADABLE;
}

/* "pkg.train" of the project's own train = "pkg.train:main"; the caller frees.
 * NULL: the program is none of these. */
static char *module_of_program(const struct recognition *r)
{
	const struct command_view *view = &r->command->view;
	struct named_file *file = file_seen(r, "pyproject.toml");
	const char *program = command_argv(r->command)->items[view->program];
	const struct setting *found = NULL;
	char *key;

	if (!file || file->error)
		return NULL;
	key = xasprintf("project.scripts.%s", program);
	(void)settings_find_all(named_file_settings(file, SETTINGS_TOML), key,
				&found, 1);
	free(key);
	return found ? xstrndup(found->value, strcspn(found->value, ":"))
		     : NULL;
}

/* Of a folder Python runs its __main__.py, which it may lack. */
static struct named_file *script_of_path(const struct recognition *r,
					 const char *path)
{
	struct named_file *file = file_seen(r, path), *within = NULL;

	if (file && file->error == EINVAL) {
		char *main_path = xasprintf("%s/__main__.py", path);

		within = file_seen(r, main_path);
		free(main_path);
	}
	return within && within->error != ENOTDIR ? within : file;
}

/* The script, or the module, or the package that is started as one, or by a
 * program of the project: of the working folder, or of the src/ that is
 * installed from there. */
static struct named_file *script_file(const struct recognition *r)
{
	static const char *const places[][2] = { { "", ".py" },
						 { "", "/__main__.py" },
						 { "src/", ".py" },
						 { "src/", "/__main__.py" } };
	const struct command_view *view = &r->command->view;
	const struct strlist *argv = command_argv(r->command);
	struct named_file *file = NULL;
	char *module;

	if (view->script != NO_INDEX)
		return script_of_path(r, argv->items[view->script]);
	module = view->module == NO_INDEX ? module_of_program(r)
					  : xstrdup(argv->items[view->module]);
	for (size_t i = 0;
	     module && !file && i < sizeof(places) / sizeof(*places); i++)
		file = module_file_seen(r, places[i][0], module, places[i][1]);
	free(module);
	return file;
}

/* Sets r->text and r->source; an empty script tells nothing. */
static enum command_outcome read_script(struct recognition *r)
{
	struct command *command = r->command;
	const struct command_view *view = &command->view;
	struct named_file *file;

	r->source = &command->source;
	if (view->code != NO_INDEX) {
		r->text = command_argv(command)->items[view->code];
		source_read(&command->source, r->text);
		subcommand_source(r, &command->source, r->text);
	}
	file = script_file(r);
	if (!file)
		return COMMAND_OK;
	if (file->error)
		return view->script != NO_INDEX ? unreadable(r, file)
						: COMMAND_OK;
	command->script_file = file;
	if (file->text.length) {
		r->text = strbuf_text(&file->text);
		r->script = file;
		subcommand_source(r, named_file_source(file), r->text);
	}
	return COMMAND_OK;
}

/* cfg.merge_from_list(args.opts) of yacs: KEY VALUE behind the options. */
static bool takes_pairs(const struct recognition *r)
{
	return !r->command->preset_is_certain && r->text &&
	       (strstr(r->text, "merge_from_list(") ||
		strstr(r->text, "REMAINDER"));
}

/* The preset is known: how the arguments are read, and which files count. */
static enum command_outcome preset_apply(struct recognition *r)
{
	struct command *command = r->command;

	command->view.group = command->preset->words.group;
	command->view.pairs = command->preset->words.pairs || takes_pairs(r);
	command->view.dropped = &command->preset->probe.drop;
	files_judge(r);
	return COMMAND_OK;
}

/* Autofit itself may be one of several ranks; what was seen is no guess. */
static enum command_outcome ranks_find(struct recognition *r)
{
	enum command_outcome outcome = world_size_find(r);
	struct command *command = r->command;

	if (r->hints->ranks_around > 1) {
		command->batch.world_size *= r->hints->ranks_around;
	} else if (r->hints->ranks_seen) {
		command->batch.world_size = r->hints->ranks_seen;
		free(command->open_ranks);
		command->open_ranks = NULL;
	}
	return outcome;
}

/* Probes have seen what options are that nobody gave. */
static enum command_outcome seen_defaults_take(struct recognition *r)
{
	const int64_t seen[] = { [KNOB_MICRO] = r->hints->micro_default,
				 [KNOB_ACCUM] = r->hints->accum_default };
	const enum knob_kind kinds[] = { KNOB_MICRO, KNOB_ACCUM };

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		struct knob *knob = &r->command->knobs[kinds[i]];

		if (!seen[kinds[i]] || knob->form != KNOB_DEFAULT)
			continue;
		knob->as_read = knob->value;
		if (knob->value == seen[kinds[i]])
			continue;
		knob->value = seen[kinds[i]];
		free(knob->evidence);
		knob->evidence = xstrdup("as a probe saw it");
	}
	return COMMAND_OK;
}

static enum command_outcome config_index_find(struct recognition *r)
{
	r->config_index = config_find(r->command);
	return COMMAND_OK;
}

/* One after the other; the first that does not end well ends it. */
static enum command_outcome (*const steps[])(struct recognition *r) = {
	read_script, /* the script's text, its options and constants */
	submission_check,
	module_options_find, /* a script's parser may stand in a module of it */
	files_find,          /* config files that the arguments name */
	framework_find,      /* the preset that speaks for the command */
	preset_apply,
	hydra_files_find,     /* what Hydra puts together */
	script_files_find,    /* config files that the script names itself */
	setting_options_find, /* --options KEY=VALUE ... */
	file_beside_find,     /* train.args beside train.py */
	deepspeed_check,
	sweep_check,       /* one training, not many */
	placeholders_find, /* knobs that the user marked with {micro} */
	evaluation_check,
	own_search_check,
	config_index_find,
	config_bases_find,    /* the files that it is built on */
	ranks_find,           /* world size */
	knob_scopes_set,      /* does a knob count per rank, or over all? */
	refusals_find,        /* what the preset cannot have in a command */
	knobs_find,           /* all other knobs */
	command_numbers_find, /* and what may be one */
	seen_defaults_take,
	effective_batch_derive,
	constraints_find, /* what the framework asks of every split */
	effective_batch_describe,
};

static enum command_outcome recognise_recognise(struct recognition *r)
{
	enum command_outcome outcome = COMMAND_OK;

	for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
		outcome = steps[i](r);
		if (outcome != COMMAND_OK)
			break;
	}
	return outcome;
}

/* Sets all of r but its error. */
static enum command_outcome recognise_so(struct recognition *r,
					 const struct strlist *argv,
					 const struct command_sources *sources)
{
	const struct strlist *templates = sources->hints->env_templates;
	struct command *command = r->command;
	enum command_outcome outcome;

	r->presets = sources->presets;
	r->hints = sources->hints;
	r->texts = sources->texts;
	r->config_index = NO_INDEX;
	r->subcommand = NO_INDEX;
	*command = (struct command){ .given = argv,
				     .batch.world_size = 1,
				     .batch.grad_accum = 1 };
	if (templates)
		strlist_add_all(&command->env_templates,
				(const char *const *)templates->items,
				templates->count);
	outcome = command_unwrap(&command->view, argv, sources, r->err);
	if (outcome != COMMAND_OK)
		return outcome;
	name_source(command, r->source_name);
	return recognise_recognise(r);
}

/* The text that the shell at an argument runs, or NULL. */
static const char *text_of_shell(const struct strlist *argv, size_t at,
				 struct named_files *texts, const char **name)
{
	for (; at < argv->count; at++) {
		const char *word = argv->items[at];
		const struct named_file *file;

		*name = word;
		if (argument_is_option(word))
			continue;
		if (strchr(word, ' ')) {
			*name = "the shell's text";
			return word;
		}
		file = named_files_get(texts, word);
		if (file && !file->error &&
		    !memchr(strbuf_text(&file->text), 0, file->text.length))
			return strbuf_text(&file->text);
	}
	return NULL;
}

/*
 * Ranks that its text starts, and passes that it adds up, may not be among its
 * arguments: then they do not say the sizes.
 */
static enum command_outcome check_shell(const struct command *command,
					const struct command_sources *sources,
					struct error *err)
{
	const char *name, *more;
	const char *text = text_of_shell(command->given, command->view.program,
					 sources->texts, &name);
	char shown[BRIEF_MAX];

	if (!text)
		return COMMAND_OK;
	more = launchers_named_in(sources->launchers, text);
	if (!more && command->knobs[KNOB_ACCUM].form == KNOB_ABSENT &&
	    strcasestr(text, "accum"))
		more = "an accumulation";
	if (!more)
		return COMMAND_OK;
	(void)error_set(err, -EINVAL,
			"%s names %s, and what it hands on to it is not "
			"known before it runs: put autofit in front of the "
			"training command inside of it",
			argument_brief(shown, name), more);
	return COMMAND_NOT_RECOGNISED;
}

/*
 * What a shell does with its arguments may be beyond reading, and still they
 * may say the sizes: then it is taken as a program like any other.
 */
static enum command_outcome recognise_again(struct command *command,
					    const struct strlist *argv,
					    const struct command_sources *given,
					    struct error *err)
{
	struct command_hints hints = *given->hints;
	struct command_sources sources = *given;
	struct error ignored = ERROR_INIT;
	struct command second;
	struct recognition r = { .command = &second, .err = &ignored };

	sources.hints = &hints;
	hints.shells_are_programs = true;
	if (recognise_so(&r, argv, &sources) != COMMAND_OK ||
	    check_shell(&second, given, err) != COMMAND_OK) {
		command_release(&second);
		return COMMAND_NOT_RECOGNISED;
	}
	command_release(command);
	*command = second;
	return COMMAND_OK;
}

enum command_outcome command_recognise(struct command *command,
				       const struct strlist *argv,
				       const struct command_sources *sources,
				       struct error *err)
{
	struct error ignored = ERROR_INIT;
	struct recognition r = { .command = command,
				 .err = err ? err : &ignored };
	enum command_outcome outcome = recognise_so(&r, argv, sources);

	if (outcome == COMMAND_NOT_RECOGNISED && command->view.has_shell)
		outcome = recognise_again(command, argv, sources, r.err);
	return outcome;
}

void command_release(struct command *command)
{
	strlist_release(&command->env_templates);
	strlist_release(&command->caveats);
	command_view_release(&command->view);
	free(command->files);
	if (command->composed)
		settings_release(command->composed);
	free(command->composed);
	free(command->sites);
	free(command->scaled);
	free(command->preset_evidence);
	free(command->assumption);
	free(command->open_words);
	free(command->open_ranks);
	command_numbers_release(command);
	free(command->constraints.words);
	source_release(&command->source);
	for (size_t i = 0; i < MODEL_FIELDS; i++)
		free(command->model[i]);
	for (size_t i = 0; i < KNOB_KINDS; i++) {
		free(command->knobs[i].text);
		free(command->knobs[i].name);
		free(command->knobs[i].evidence);
	}
	*command = (struct command){ 0 };
}
