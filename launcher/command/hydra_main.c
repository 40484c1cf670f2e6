/* What @hydra.main() of a script says, and the options that say it anew. Pure.
 */
/* SPDX-License-Identifier: MIT */
#include "launcher/command/hydra_main.h"

#include "base/alloc.h"
#include "base/strbuf.h"
#include "launcher/command/files/pytext.h"
#include "launcher/command/parts/token.h"

#include <stdlib.h>
#include <string.h>

static const char decorator[] = "@hydra.main(";
/* Further up no config stands. */
#define PARENTS_MAX 4

/* The one decorator; NULL: none, or several. */
static const char *main_find(const char *text)
{
	const char *found = text ? strstr(text, decorator) : NULL;

	return found && !strstr(found + 1, decorator) ? found : NULL;
}

/* So often does the text stand there. */
static size_t times_in(const char *at, const char *end, const char *text)
{
	size_t count = 0;

	while ((at = memmem(at, (size_t)(end - at), text, strlen(text)))) {
		at += strlen(text);
		count++;
	}
	return count;
}

/*
 * str(Path(__file__).parent.joinpath("a", "b")), or os.path.join with dirname:
 * "a/b", and "../" before it for each further parent. NULL: another value. The
 * caller frees.
 */
static char *main_path_of_file(struct pytext cursor)
{
	struct pytext end = cursor;
	struct strbuf path = STRBUF_INIT;
	const char *text;
	size_t ups, length;

	pytext_skip_argument(&end);
	ups = times_in(cursor.at, end.at, ".parent") +
	      times_in(cursor.at, end.at, "dirname(");
	if (!times_in(cursor.at, end.at, "__file__") || ups == 0 ||
	    ups > PARENTS_MAX || times_in(cursor.at, end.at, ".parents"))
		return NULL;
	for (; ups > 1; ups--)
		strbuf_adds(&path, "../");
	cursor.end = end.at;
	while (cursor.at < cursor.end) {
		if (!pytext_is_quote(*cursor.at)) {
			pytext_step(&cursor);
			continue;
		}
		pytext_string(&cursor, &text, &length);
		strbuf_add(&path, text, length);
		strbuf_addch(&path, '/');
	}
	return strbuf_detach(&path);
}

/* One argument of it; false: another than a keyword. */
static bool main_read_argument(struct pytext *cursor, struct hydra_main *main)
{
	const char *key;
	size_t length;
	bool is_path, is_name;
	char *text;

	if (!pytext_is_word_start(*cursor->at))
		return false;
	pytext_word(cursor, &key, &length);
	is_path = pytext_word_is(key, length, "config_path");
	is_name = pytext_word_is(key, length, "config_name");
	main->self_is_last |= pytext_word_is(key, length, "version_base");
	pytext_skip_blanks(cursor, true);
	if (cursor->at >= cursor->end || *cursor->at != '=')
		return false;
	pytext_step(cursor);
	pytext_skip_blanks(cursor, true);
	if (!is_path && !is_name) {
		pytext_skip_argument(cursor);
		return true;
	}
	text = pytext_string_alone(*cursor);
	if (is_path) {
		main->path_is_other =
			!text && strncmp(cursor->at, "None", 4) != 0;
		main->path = text ? text : main_path_of_file(*cursor);
	} else {
		main->name = text;
	}
	pytext_skip_argument(cursor);
	return true;
}

static bool main_read(struct hydra_main *main, const char *text)
{
	const char *found = main_find(text);
	struct pytext cursor = { .at = found, .line_start = found };

	if (!found)
		return false;
	cursor.at += strlen(decorator);
	cursor.end = text + strnlen(text, SOURCE_BYTES_MAX);
	while (cursor.at < cursor.end) {
		pytext_skip_blanks(&cursor, true);
		if (cursor.at >= cursor.end || *cursor.at == ')')
			break;
		if (*cursor.at == ',')
			pytext_step(&cursor);
		else if (!main_read_argument(&cursor, main))
			return false;
	}
	return true;
}

/* The value of one of Hydra's own options, the last that is given. */
static const char *hydra_option(const struct command *command,
				const char *const names[2])
{
	const char *value = NULL;
	struct token token;

	for (int i = 0; i < 2; i++)
		if (token_find(command, names[i], &token) &&
		    token.form != KNOB_ABSENT && !token.bare)
			value = token_value(&token, command_argv(command));
	return value;
}

static char *folder_from(const char *script, const char *path)
{
	char *folder = path_beside(script, path);
	size_t length = strlen(folder);
	char *closed =
		xasprintf("%s%s", folder,
			  length > 0 && folder[length - 1] != '/' ? "/" : "");

	free(folder);
	return closed;
}

bool hydra_main_read(struct hydra_main *main, const struct recognition *r)
{
	static const char *const names[] = { "--config-name", "-cn" };
	static const char *const paths[] = { "--config-path", "-cp" };
	static const char *const folders[] = { "--config-dir", "-cd" };
	const struct command *command = r->command;
	const char *name = hydra_option(command, names);
	const char *path = hydra_option(command, paths);
	const char *folder = hydra_option(command, folders);
	char *here = NULL;
	bool is_known;

	*main = (struct hydra_main){ 0 };
	is_known = r->script && main_read(main, r->text);
	if (name) {
		free(main->name);
		main->name = xstrdup(name);
	}
	if (path) {
		free(main->path);
		main->path = xstrdup(path);
		main->path_is_other = false;
	}
	/* Where both are, each may have any part of it; that of the script
	 * itself is the one that its files in another folder are not in. */
	if (!is_known || !main->name ||
	    (main->path && folder && !main->path_is_other))
		return false;
	if (folder && (here = path_seen(r, "")))
		main->folder = folder_from(here, folder);
	else if (main->path)
		main->folder = folder_from(r->script->path, main->path);
	free(here);
	return main->folder != NULL;
}

void hydra_main_release(struct hydra_main *main)
{
	free(main->name);
	free(main->path);
	free(main->folder);
}
