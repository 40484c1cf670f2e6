/* Reads a rewritten command as if it had been typed. Pure. */
/* SPDX-License-Identifier: MIT */

#include "launcher/command/readback.h"

#include "base/alloc.h"
#include "configs/secrets/secrets.h"
#include "launcher/command/text/argument.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Who has more of them knows by these. */
#define FOLLOWERS_MAX 8

/* A size that is a placeholder is no more once it is written. */
static bool leaves_no_trace(const struct command *command,
			    const struct command_hints *hints)
{
	bool is_named = hints->env_templates && hints->env_templates->count;

	for (int kind = 0; kind <= KNOB_GLOBAL; kind++) {
		enum knob_form form = command->knobs[kind].form;

		if (form == KNOB_PLACEHOLDER ||
		    (form == KNOB_ENVIRONMENT && is_named))
			return true;
	}
	return false;
}

/* The settings in a copy are known since it was checked. */
static void add_copy(struct named_files *files, const struct file_copy *copy)
{
	struct strbuf text = STRBUF_INIT;
	struct named_file *file;

	strbuf_add(&text, copy->text, copy->length);
	file = named_files_add(
		files, copy->covers ? copy->original : copy->path, &text, 0);
	if (file && copy->settings.count) {
		file->settings = copy->settings;
		file->has_settings = file->borrows_settings = true;
	}
	strbuf_release(&text);
}

/*
 * The files as they will lie there: what was read, and the copies beside it. A
 * file that was not read before is none that says a size.
 */
static struct named_files files_with_copies(const struct named_files *read,
					    const struct rewrite *rewrite)
{
	struct named_files files = { .beneath = read };

	for (size_t i = 0; i < rewrite->copy_count; i++)
		add_copy(&files, &rewrite->copies[i]);
	return files;
}

static struct strlist environment_of(const struct command_hints *hints,
				     const struct rewrite *rewrite)
{
	const struct strlist *given = hints->environment;
	struct strlist environment = STRLIST_INIT;

	if (given)
		strlist_add_all(&environment, (const char *const *)given->items,
				given->count);
	strlist_env_change(&environment, &rewrite->environment);
	return environment;
}

/* By the same preset, and shell text as such or not. */
static bool is_read_alike(const struct command *command,
			  const struct command *after)
{
	return after->preset == command->preset &&
	       after->batch.world_size == command->batch.world_size &&
	       !after->view.expansion.argv.count ==
		       !command->view.expansion.argv.count;
}

static int check_values(const struct command *command,
			const struct command_values *values,
			const struct command *after, struct error *err)
{
	int64_t micro = values->micro_batch ? values->micro_batch
					    : command->batch.micro_batch;
	int64_t accum = values->grad_accum ? values->grad_accum
					   : command->batch.grad_accum;

	if (after->batch.micro_batch == micro &&
	    after->batch.grad_accum == accum && is_read_alike(command, after))
		return 0;
	return error_set(
		err, -EINVAL,
		"with micro-batch %lld and accumulation %lld written "
		"into it the command would be read as %s, %lld x %lld on "
		"%lld ranks (%s): write {micro} and {accum} where "
		"these values belong",
		(long long)micro, (long long)accum, after->preset->name,
		(long long)after->batch.micro_batch,
		(long long)after->batch.grad_accum,
		(long long)after->batch.world_size, after->assumption);
}

static bool readback_is_knob(const struct command *command, size_t index)
{
	for (int kind = 0; kind < KNOB_KINDS; kind++) {
		enum knob_form form = command->knobs[kind].form;

		if (form != KNOB_ABSENT && form != KNOB_DEFAULT &&
		    command->knobs[kind].index == index)
			return true;
	}
	return false;
}

/* Does the shell make it of other words? Then it is never written anew. */
static bool is_of_the_shell(const struct command *command, size_t index)
{
	const struct word *word = &command->view.expansion.words[index];
	const char *text;

	if (readback_is_knob(command, index))
		return false;
	if (word->origin != WORD_SHELL_TEXT)
		return word->origin == WORD_SCRIPT;
	text = command->given->items[word->argument] + word->start;
	return memchr(text, '$', word->end - word->start);
}

/* Flat words before and after, for people: without secrets. */
struct shown {
	struct strlist before, after;
};

/* "--lr 4 becomes --lr 8 with micro-batch 8" */
static char *follower_words(const struct shown *shown, size_t index, size_t now,
			    int64_t micro)
{
	const char *const *words = (const char *const *)shown->before.items;
	const char *option = index > 0 ? words[index - 1] : "";
	bool is_value =
		*option == '-' && !strchr(option, '=') && *words[index] != '-';
	char name[BRIEF_MAX], old[BRIEF_MAX], new[BRIEF_MAX];
	const char *blank = is_value ? " " : "";

	(void)argument_brief(name, is_value ? option : "");
	return xasprintf("%s%s%s becomes %s%s%s with micro-batch %lld", name,
			 blank, argument_brief(old, words[index]), name, blank,
			 argument_brief(new, shown->after.items[now]),
			 (long long)micro);
}

/* Words may have been added where the shell takes some; all others stand as
 * they stood. */
static void note_followers(const struct command *command,
			   const struct command *after,
			   struct strlist *followers)
{
	const struct strlist *argv = command_argv(command);
	size_t added = command_argv(after)->count - argv->count;
	size_t append_at = command->view.expansion.append_at;
	struct shown shown = { .before = STRLIST_INIT, .after = STRLIST_INIT };

	if (!command->view.expansion.argv.count ||
	    command_argv(after)->count < argv->count)
		return;
	secrets_mask_argv(&shown.before, argv);
	secrets_mask_argv(&shown.after, command_argv(after));
	for (size_t i = 0; i < argv->count && followers->count < FOLLOWERS_MAX;
	     i++) {
		size_t now = i < append_at ? i : i + added;

		if (is_of_the_shell(command, i) &&
		    strcmp(argv->items[i], command_argv(after)->items[now]) !=
			    0)
			strlist_take(followers,
				     follower_words(&shown, i, now,
						    after->batch.micro_batch));
	}
	strlist_release(&shown.before);
	strlist_release(&shown.after);
}

static bool has_opaque(const struct shell_expansion *expansion)
{
	for (size_t i = 0; i < expansion->argv.count; i++)
		if (expansion->words[i].is_opaque)
			return true;
	return false;
}

/* The same with what is inside of $(( )) and $( ). */
static enum command_outcome look_inside(struct command *command,
					const struct strlist *argv,
					const struct command_sources *sources)
{
	struct command_hints hints = *sources->hints;
	struct command_sources inside = *sources;

	inside.hints = &hints;
	hints.looks_inside = true;
	return command_recognise(command, argv, &inside, NULL);
}

/* What is computed shows only inside. */
static void note_all_followers(const struct command *command,
			       const struct command_sources *sources,
			       const struct command *after,
			       const struct command_sources *after_sources,
			       struct rewrite *rewrite)
{
	struct strlist *followers = &rewrite->followers;
	struct command old, new;

	if (!has_opaque(&command->view.expansion)) {
		note_followers(command, after, followers);
		return;
	}
	if (look_inside(&old, command->given, sources) == COMMAND_OK) {
		if (look_inside(&new, &rewrite->argv, after_sources) ==
		    COMMAND_OK)
			note_followers(&old, &new, followers);
		command_release(&new);
	}
	command_release(&old);
}

int command_read_back(const struct command *command,
		      const struct command_values *values,
		      struct rewrite *rewrite,
		      const struct command_sources *sources, struct error *err)
{
	struct command_hints hints = *sources->hints;
	struct named_files files = files_with_copies(sources->texts, rewrite);
	const struct command_sources now = { .presets = sources->presets,
					     .launchers = sources->launchers,
					     .hints = &hints,
					     .texts = &files };
	struct strlist environment = environment_of(&hints, rewrite);
	struct command after;
	int result = 0;

	if (leaves_no_trace(command, &hints))
		goto out;
	hints.environment = &environment;
	/* Names that are written make no other framework of the command. */
	if (strcmp(command->preset->name, PRESET_GENERIC) == 0)
		hints.preset = command->preset->name;
	if (command_recognise(&after, &rewrite->argv, &now, err) == COMMAND_OK)
		result = check_values(command, values, &after, err);
	else
		result = -EINVAL;
	if (result == 0)
		note_all_followers(command, sources, &after, &now, rewrite);
	command_release(&after);
out:
	strlist_release(&environment);
	named_files_release(&files);
	return result;
}
