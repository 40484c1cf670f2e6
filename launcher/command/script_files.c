/* The config files that a script names itself. Pure. */
/* SPDX-License-Identifier: MIT */
#include "launcher/command/script_files.h"

#include "base/alloc.h"
#include "launcher/command/command_files.h"
#include "launcher/command/files/pytext.h"
#include "launcher/command/files/source_options.h"
#include "launcher/command/knobs/by_class.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* A script that names more has a purpose of its own for each. */
#define SCRIPT_FILES_MAX 4

struct script_files {
	struct recognition *r;
	unsigned looked_at;
	bool takes_words;
};

/* Python files are modules; others say how they are written. */
static bool is_config_name(const char *path)
{
	enum settings_format format;

	return settings_format_of(path, &format) &&
	       (format == SETTINGS_YAML || format == SETTINGS_TOML ||
		format == SETTINGS_JSON);
}

static void script_files_offer(struct script_files *files, const char *path,
			       const char *option)
{
	struct command_file *file;

	if (!is_config_name(path) || files->looked_at == SCRIPT_FILES_MAX ||
	    file_is_read(files->r, path))
		return;
	files->looked_at++;
	file = file_add_unnamed(files->r, file_seen(files->r, path));
	if (!file)
		return;
	file->option = option;
	file->takes_words = !option && files->takes_words;
}

/* The long name of an option, "-c" only where it has no other. */
static const char *option_name(const struct source_option *option)
{
	for (size_t i = 0; i < option->names.count; i++)
		if (option->names.items[i][1] == '-')
			return option->names.items[i];
	return option->names.items[0];
}

static void offer_defaults(struct script_files *files)
{
	const struct source *source = files->r->source;

	for (size_t i = 0; i < source->option_count; i++) {
		const struct source_option *option = &source->options[i];

		if (option->text && !option->is_switch &&
		    !by_class_is_typed(files->r, option))
			script_files_offer(files, option->text,
					   option_name(option));
	}
}

/* open("x.yaml"), OmegaConf.load("x.yaml"), read_config(Path("x.yaml")) */
static bool reads_a_file(const char *word, size_t length)
{
	static const char *const parts[] = { "open", "load", "read", "parse",
					     "Path" };
	char *name = xstrndup(word, length);
	bool found = false;

	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		found |= strstr(name, parts[i]) != NULL;
	free(name);
	return found;
}

/* Behind the name of a file: is it to be written? */
static bool is_for_writing(struct pytext cursor)
{
	const char *mode;
	size_t length;

	pytext_skip_blanks(&cursor, true);
	if (cursor.at >= cursor.end || *cursor.at != ',')
		return false;
	pytext_step(&cursor);
	pytext_skip_blanks(&cursor, true);
	if (cursor.at >= cursor.end || !pytext_is_quote(*cursor.at))
		return false;
	pytext_string(&cursor, &mode, &length);
	return memchr(mode, 'w', length) || memchr(mode, 'a', length) ||
	       memchr(mode, 'x', length);
}

static void offer_literal(struct script_files *files, struct pytext *cursor)
{
	const char *text;
	size_t length;
	char *path;

	pytext_string(cursor, &text, &length);
	if (is_for_writing(*cursor))
		return;
	path = xstrndup(text, length);
	script_files_offer(files, path, NULL);
	free(path);
}

/* config_file = "x.yaml" at the beginning of a line, and open(config_file):
 * its first line counts, and must be the only one. */
static void offer_variable(struct script_files *files, const char *name,
			   size_t length)
{
	char *line = xasprintf("\n%.*s = ", (int)length, name);
	const char *text = files->r->text;
	const char *at = strstr(text, line);
	struct pytext cursor = { .end = text + strlen(text) };

	if (at && !strstr(at + 1, line)) {
		cursor.at = at + strlen(line);
		if (pytext_is_quote(*cursor.at))
			offer_literal(files, &cursor);
	}
	free(line);
}

static void offer_literals(struct script_files *files)
{
	const char *text = files->r->text;
	struct pytext cursor = { .at = text, .line_start = text, .line = 1 };
	bool reads = false, is_argument = false;
	const char *word;
	size_t length;

	cursor.end = text + strnlen(text, SOURCE_BYTES_MAX);
	while (cursor.at < cursor.end) {
		char c = *cursor.at;

		if (c == '#') {
			pytext_skip_comment(&cursor);
		} else if (pytext_is_word_start(c)) {
			pytext_word(&cursor, &word, &length);
			if (is_argument)
				offer_variable(files, word, length);
			reads = reads_a_file(word, length);
			is_argument = false;
		} else if (pytext_is_quote(c) && is_argument) {
			offer_literal(files, &cursor);
			reads = is_argument = false;
		} else if (pytext_is_quote(c)) {
			pytext_string(&cursor, &word, &length);
			reads = false;
		} else {
			is_argument = c == '(' && reads;
			reads = false;
			pytext_step(&cursor);
		}
	}
}

/* Which of two says a size, the code between them decides. */
static bool says_sizes_twice(const struct command *command)
{
	size_t batches = 0, accums = 0;

	for (size_t i = 0; i < command->file_count; i++) {
		const struct settings *settings = command->files[i].settings;
		bool has_batch = false, has_accum = false;

		for (size_t k = 0; k < settings->count; k++) {
			enum option_class class = by_class_of_key(settings, k);

			has_accum |= class == OPTION_ACCUM;
			has_batch |= (CLASS_BIT(class) &
				      by_class_of_knob(KNOB_MICRO)) != 0;
		}
		batches += has_batch;
		accums += has_accum;
	}
	return batches > 1 || accums > 1;
}

/* Options beside such a file would be none, nor win over it. */
static enum command_outcome default_file_check(struct recognition *r)
{
	struct command *command = r->command;

	for (size_t i = 0; i < r->source->option_count; i++) {
		const struct source_option *option = &r->source->options[i];
		const struct command_file *file;
		bool is_alone;

		if (!option->text || option->is_switch ||
		    by_class_is_typed(r, option) ||
		    !is_config_name(option->text))
			continue;
		file = file_add_unnamed(r, file_seen(r, option->text));
		if (!file)
			continue;
		is_alone = file_is_parsed_alone(r, file);
		command->file_count--;
		if (is_alone)
			return not_recognised(
				r,
				"%s reads its sizes from %s, the default of "
				"%s: name that file in the command, too",
				r->source_name, option->text,
				option_name(option));
	}
	return COMMAND_OK;
}

enum command_outcome script_files_find(struct recognition *r)
{
	struct command *command = r->command;
	struct script_files files = { .r = r };

	if (r->hints->config_file) {
		script_files_offer(&files, r->hints->config_file, NULL);
		return COMMAND_OK;
	}
	if (command->preset_is_certain && !command->takes_no_options)
		return default_file_check(r);
	if (command->preset_is_certain || command->file_count || r->is_open ||
	    !r->text || command->view.has_shell ||
	    source_options_name_batch(r->source))
		return COMMAND_OK;
	files.takes_words = strstr(r->text, "from_cli(") ||
			    strstr(r->text, "from_dotlist(");
	offer_defaults(&files);
	offer_literals(&files);
	if (says_sizes_twice(command))
		command->file_count = 0;
	return COMMAND_OK;
}
