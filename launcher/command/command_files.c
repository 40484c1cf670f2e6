/* The config files that the arguments of a program name. Pure. */
/* SPDX-License-Identifier: MIT */

#include "launcher/command/command_files.h"

#include "base/alloc.h"
#include "launcher/command/knobs/knob_in_file.h"
#include "launcher/command/parts/token.h"
#include "launcher/command/text/names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A command that names more is looked at no further. */
#define FILES_MAX 8

/* An argument that is no option, nor likely the value of one. */
static bool stands_alone(const struct command *command, size_t index)
{
	struct token before;

	if (command_argv(command)->items[index][0] == '-')
		return false;
	return index == command->view.args ||
	       !token_read(&before, command_argv(command), &command->view,
			   index - 1) ||
	       before.form != KNOB_SEPARATE;
}

/* Entries of a preset: "--config" is an option, "*.py" a lone argument. */
static bool command_files_is_listed(const struct command *command,
				    const struct strlist *entries,
				    const struct token *token, size_t index)
{
	for (size_t i = 0; i < entries->count; i++) {
		const char *entry = entries->items[i];

		if (*entry != '*' && *entry != '?' && *entry != '[') {
			if (token &&
			    name_matches(entry, token->name, token->name_length,
					 token->bare))
				return true;
		} else if (glob_matches(entry,
					command_argv(command)->items[index]) &&
			   stands_alone(command, index)) {
			return true;
		}
	}
	return false;
}

/* -opt x.yaml, --base y.toml: what else should they be? */
static bool names_config(const struct command *command,
			 const struct token *token)
{
	enum settings_format format;

	return settings_format_of(token_value(token, command_argv(command)),
				  &format) &&
	       (format == SETTINGS_YAML || format == SETTINGS_TOML);
}

/* --opt x.json may as well be data: an object that is understood is none. */
static bool holds_config(struct recognition *r, const struct token *token)
{
	const char *path = token_value(token, command_argv(r->command));
	const struct settings *settings;
	enum settings_format format;
	struct named_file *read;

	if (!settings_format_of(path, &format) || format != SETTINGS_JSON)
		return false;
	read = file_seen(r, path);
	if (!read || read->error)
		return false;
	settings = named_file_settings(read, format);
	return settings->count && settings->items[0].key[0] != '[';
}

static bool is_named(struct recognition *r, const struct token *token,
		     size_t index)
{
	const struct presets *presets = r->presets;
	struct command *command = r->command;

	if (!token)
		return stands_alone(command, index);
	if (option_sounds_like_config(token->name, token->name_length) ||
	    names_config(command, token) || holds_config(r, token))
		return true;
	presets_read_all(presets);
	for (size_t i = 0; i < presets->count; i++)
		if (command_files_is_listed(
			    command, &presets->items[i].files.config_tokens,
			    token, index) ||
		    command_files_is_listed(
			    command, &presets->items[i].files.config_only,
			    token, index))
			return true;
	return false;
}

/* Of a file with placeholders. */
static const struct settings no_settings = { .count = 0 };

static struct command_file *file_add(struct command *command,
				     const struct named_file *read,
				     size_t index, size_t offset)
{
	command->files = xrealloc(command->files, command->file_count + 1,
				  sizeof(*command->files));
	command->files[command->file_count] =
		(struct command_file){ .read = read,
				       .settings = &no_settings,
				       .index = index,
				       .offset = offset };
	return &command->files[command->file_count++];
}

struct command_file *file_add_unnamed(struct recognition *r,
				      struct named_file *read)
{
	const struct settings *settings;
	enum settings_format format;
	struct command_file *file;

	if (!read || read->error || !settings_format_of(read->path, &format) ||
	    r->command->file_count == FILES_MAX)
		return NULL;
	settings = named_file_settings(read, format);
	if (settings->count && settings->items[0].key[0] == '[')
		return NULL;
	file = file_add(r->command, read, NO_INDEX, 0);
	file->settings = settings;
	return file;
}

static bool is_template(const struct recognition *r, const char *path)
{
	const struct strlist *templates = r->hints->templates;

	return templates && strlist_find(templates, path) < templates->count;
}

static enum command_outcome file_read(struct recognition *r, const char *path,
				      size_t index, size_t offset)
{
	struct command *command = r->command;
	enum settings_format format;
	struct named_file *read;

	if (!settings_format_of(path, &format) || is_template(r, path) ||
	    command->file_count == FILES_MAX)
		return COMMAND_OK;
	read = file_seen(r, path);
	if (!read || (read->error && read->error != EFBIG))
		return COMMAND_OK;
	file_add(command, read, index, offset)->settings =
		named_file_settings(read, format);
	return COMMAND_OK;
}

/* The argument, or the value in one, that is this path. */
static bool path_find(const struct command *command, const char *path,
		      size_t *index, size_t *offset)
{
	struct token token;

	for (size_t i = command->view.args; i < command_argv(command)->count;
	     i++) {
		*index = i;
		*offset = 0;
		if (strcmp(command_argv(command)->items[i], path) == 0)
			return true;
		if (i < command->view.end &&
		    token_read(&token, command_argv(command), &command->view,
			       i) &&
		    token.form == KNOB_JOINED &&
		    strcmp(token_value(&token, command_argv(command)), path) ==
			    0) {
			*offset = token.value_offset;
			return true;
		}
	}
	return false;
}

static enum command_outcome template_read(struct recognition *r,
					  const char *path)
{
	struct command *command = r->command;
	const struct named_file *read;
	char shown[BRIEF_MAX];
	size_t index, offset;

	if (!path_find(command, path, &index, &offset)) {
		(void)error_set(r->err, -EINVAL,
				"--template %s: the command does not name this "
				"file, so it would not read the copy: write "
				"the same path in both",
				argument_brief(shown, path));
		return COMMAND_USAGE;
	}
	read = named_files_get(r->texts, path);
	if (!read)
		return COMMAND_OK;
	if (read->error) {
		(void)error_set_errno(r->err, -read->error,
				      "--template: cannot read %s",
				      argument_brief(shown, path));
		return COMMAND_USAGE;
	}
	file_add(command, read, index, offset)->is_template = true;
	return COMMAND_OK;
}

/*
 * argparse reads more words from FILE at "@FILE", where the script lets it.
 * Some scripts put the "@" there themselves before the one word that they take.
 */
static bool names_words(const struct recognition *r, size_t index,
			size_t *offset)
{
	const struct command *command = r->command;
	const char *word = command_argv(command)->items[index];

	if (!r->text || !strstr(r->text, "fromfile_prefix_chars"))
		return false;
	*offset = *word == '@' ? 1 : 0;
	return *offset == 1 ||
	       (index == command->view.args && index + 1 == command->view.end &&
		!argument_is_option(word) &&
		(strstr(r->text, "'@' +") || strstr(r->text, "\"@\" +")));
}

/* "@configs/a.toml" of pydantic_config: what else should the "@" say? */
static bool names_file_by_sign(const char *word)
{
	enum settings_format format;

	return *word == '@' && settings_format_of(word + 1, &format) &&
	       format != SETTINGS_PYTHON && format != SETTINGS_ARGS;
}

static void words_read(struct recognition *r, size_t index, size_t offset)
{
	struct command *command = r->command;
	struct named_file *read;

	if (command->file_count == FILES_MAX)
		return;
	read = file_seen(r, command_argv(command)->items[index] + offset);
	if (!read || read->error)
		return;
	file_add(command, read, index, offset)->settings =
		named_file_settings(read, SETTINGS_ARGS);
	command->takes_no_options |= offset == 0;
}

enum command_outcome files_find(struct recognition *r)
{
	const struct strlist *templates = r->hints->templates;
	struct command *command = r->command;
	enum command_outcome outcome = COMMAND_OK;
	enum settings_format format;
	struct token token;

	for (size_t i = 0;
	     outcome == COMMAND_OK && templates && i < templates->count; i++)
		outcome = template_read(r, templates->items[i]);
	for (size_t i = command->view.args;
	     outcome == COMMAND_OK && i < command->view.end; i++) {
		const char *path = command_argv(command)->items[i];
		size_t index = i, offset = 0;
		bool is_token = token_read(&token, command_argv(command),
					   &command->view, i);

		if (names_words(r, i, &offset)) {
			words_read(r, i, offset);
			continue;
		}
		if (names_file_by_sign(path)) {
			outcome = file_read(r, path + 1, i, 1);
			continue;
		}
		if (is_token && token.form == KNOB_ABSENT)
			continue;
		if (is_token) {
			path = token_value(&token, command_argv(command));
			index = token.value_index;
			offset = token.value_offset;
		}
		/* The presets are asked only of what could be read. */
		if (settings_format_of(path, &format) &&
		    is_named(r, is_token ? &token : NULL, i))
			outcome = file_read(r, path, index, offset);
	}
	return outcome;
}

/* parse_args_into_dataclasses() of transformers: options win over it. */
enum command_outcome file_beside_find(struct recognition *r)
{
	struct command *command = r->command;
	size_t at = command->view.script;
	const char *script =
		at == NO_INDEX ? "" : command_argv(command)->items[at];
	size_t length = strlen(script);
	struct named_file *read;
	char *path;

	if (!command->preset->files.args_beside || length < 4 ||
	    strcmp(script + length - 3, ".py") != 0 ||
	    (r->text && strstr(r->text, "look_for_args_file=False")))
		return COMMAND_OK;
	path = xasprintf("%.*s.args", (int)(length - 3), script);
	read = file_seen(r, path);
	if (read && !read->error)
		file_add(command, read, NO_INDEX, 0)->settings =
			named_file_settings(read, SETTINGS_ARGS);
	free(path);
	return COMMAND_OK;
}

/* The token whose value names the file, if it is one. */
static const struct token *naming_token(const struct command *command,
					const struct command_file *file,
					struct token *token)
{
	for (size_t i = command->view.args; token_next(token, command, &i); i++)
		if (token->form != KNOB_ABSENT &&
		    token->value_index == file->index)
			return token;
	return NULL;
}

static bool is_of(const struct command *command,
		  const struct command_file *file,
		  const struct strlist *entries)
{
	struct token token;

	return command_files_is_listed(command, entries,
				       naming_token(command, file, &token),
				       file->index);
}

bool file_is_parsed_alone(const struct recognition *r,
			  const struct command_file *file)
{
	const struct strlist *calls = &r->command->preset->files.config_calls;

	for (size_t i = 0; r->text && i < calls->count; i++)
		if (strstr(r->text, calls->items[i]))
			return knob_in_file_is_set(r, KNOB_MICRO, file);
	return false;
}

void files_judge(const struct recognition *r)
{
	struct command *command = r->command;
	const struct preset *preset = command->preset;
	struct token token;
	size_t kept = 0;

	for (size_t i = 0; i < command->file_count; i++) {
		struct command_file *file = &command->files[i];
		bool is_alone = file_is_parsed_alone(r, file);

		file->wins = is_alone ||
			     is_of(command, file, &preset->files.config_only);
		command->takes_no_options |=
			file->wins && command->preset_is_certain &&
			(is_alone || !naming_token(command, file, &token));
		if (!command->preset_is_certain || file->wins ||
		    file->is_template ||
		    is_of(command, file, &preset->files.config_tokens))
			command->files[kept++] = *file;
	}
	command->file_count = kept;
}

/* The last argument that names a config file; the value of --config. */
size_t config_find(const struct command *command)
{
	const struct preset *preset = command->preset;
	size_t found = NO_INDEX;
	struct token token;

	for (size_t i = command->view.args; i < command->view.end; i++) {
		bool is_token = token_read(&token, command_argv(command),
					   &command->view, i);

		if (!command_files_is_listed(command,
					     &preset->files.config_tokens,
					     is_token ? &token : NULL, i) &&
		    !command_files_is_listed(command,
					     &preset->files.config_only,
					     is_token ? &token : NULL, i))
			continue;
		found = is_token && token.form == KNOB_SEPARATE
				? token.value_index
				: i;
	}
	return found;
}
