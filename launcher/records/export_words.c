/* A record as words and variables for a shell. Pure. */
/* SPDX-License-Identifier: MIT */
#include "launcher/records/export_formats.h"

#include "base/alloc.h"
#include "base/log.h"
#include "configs/secrets/secrets.h"
#include "launcher/command/text/shellquote.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static bool is_argument(const struct record_setting *setting)
{
	return setting->name && setting->value && setting->where &&
	       strncmp(setting->where, "argument", 8) == 0;
}

void export_add_line(struct strbuf *out, const struct strlist *environment,
		     const struct strlist *argv)
{
	struct strlist words = STRLIST_INIT;
	char *line;

	if (environment->count)
		strlist_add(&words, "env");
	for (size_t i = 0; i < environment->count; i++)
		if (!strchr(environment->items[i], '=')) {
			strlist_add(&words, "-u");
			strlist_add(&words, environment->items[i]);
		}
	for (size_t i = 0; i < environment->count; i++)
		if (strchr(environment->items[i], '='))
			strlist_add(&words, environment->items[i]);
	strlist_add_all(&words, (const char *const *)argv->items, argv->count);
	line = shell_quote_all(&words);
	strbuf_addf(out, "%s\n", line);
	free(line);
	strlist_release(&words);
}

static bool has_mask(const struct strlist *list)
{
	for (size_t i = 0; i < list->count; i++)
		if (strstr(list->items[i], SECRET_MASK))
			return true;
	return false;
}

int export_cmd(const struct result *result, struct strbuf *out,
	       struct error *err)
{
	const struct record *record = &result->record;

	if (!record->recommended_argv.count)
		return error_set(err, -ENODATA,
				 "the record holds the sizes only (it is of an "
				 "earlier version, or was lowered); give the "
				 "command: autofit export command -- "
				 "command...");
	if (has_mask(&record->recommended_argv) ||
	    has_mask(&record->recommended_env))
		log_warning("a secret stands as %s in it: fill it in",
			    SECRET_MASK);
	export_add_line(out, &record->recommended_env,
			&record->recommended_argv);
	return 0;
}

int export_add_options(struct strbuf *out,
		       const struct record_settings *settings,
		       struct error *err)
{
	struct strlist words = STRLIST_INIT;
	char *text;

	for (size_t i = 0; i < settings->count; i++) {
		const struct record_setting *setting = &settings->items[i];

		if (!is_argument(setting))
			continue;
		if (*setting->name == '-') {
			strlist_add(&words, setting->name);
			strlist_add(&words, setting->value);
		} else {
			strlist_addf(&words, "%s=%s", setting->name,
				     setting->value);
		}
	}
	if (!words.count)
		return error_set(err, -ENODATA,
				 "no option of the command says a size; "
				 "autofit export json tells where they stand");
	text = shell_quote_all(&words);
	strbuf_addf(out, "%s\n", text);
	free(text);
	strlist_release(&words);
	return 0;
}

/* The sizes under names of autofit's own, then the command's variables. */
static void variables_of(const struct result *result, struct strlist *out)
{
	const struct record *record = &result->record;

	strlist_addf(out, "AUTOFIT_MICRO=%" PRId64, record->batch.micro_batch);
	strlist_addf(out, "AUTOFIT_ACCUM=%" PRId64, record->batch.grad_accum);
	strlist_addf(out, "AUTOFIT_WORLD=%" PRId64, record->batch.world_size);
	strlist_addf(out, "AUTOFIT_EFFECTIVE=%" PRId64,
		     record->batch.effective_batch);
	for (size_t i = 0; i < record->settings.count; i++) {
		const struct record_setting *setting =
			&record->settings.items[i];

		if (setting->where && setting->name && setting->value &&
		    strcmp(setting->where, "environment") == 0)
			strlist_env_set(out, setting->name, setting->value);
	}
	for (size_t i = 0; i < record->recommended_env.count; i++)
		if (strchr(record->recommended_env.items[i], '='))
			strlist_env_change(
				out, &(struct strlist){
					     .items = &record->recommended_env
							       .items[i],
					     .count = 1 });
}

/* A record can be edited: what is no name of a variable is left out. */
static bool export_is_variable(const char *item)
{
	size_t length = strcspn(item, "=");

	return length > 0 && item[length] == '=' &&
	       !strchr("0123456789", *item) &&
	       strspn(item, "abcdefghijklmnopqrstuvwxyz"
			    "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == length;
}

/* A line for each variable: before, NAME=, its value as add_value writes it. */
static int add_variables(const struct result *result, const char *before,
			 void (*add_value)(struct strbuf *, const char *),
			 struct strbuf *out)
{
	struct strlist variables = STRLIST_INIT;

	variables_of(result, &variables);
	for (size_t i = 0; i < variables.count; i++) {
		const char *item = variables.items[i];
		size_t length = strcspn(item, "=");

		if (!export_is_variable(item))
			continue;
		strbuf_addf(out, "%s%.*s=", before, (int)length, item);
		add_value(out, item + length + 1);
		strbuf_addch(out, '\n');
	}
	strlist_release(&variables);
	return 0;
}

static void shell_add_value(struct strbuf *out, const char *value)
{
	char *quoted = shell_quote(value);

	strbuf_adds(out, quoted);
	free(quoted);
}

int export_env(const struct result *result, struct strbuf *out,
	       struct error *err)
{
	(void)err;
	return add_variables(result, "export ", shell_add_value, out);
}

/* Between single quotes only the quote and the backslash are escaped. */
static void dotenv_add_value(struct strbuf *out, const char *value)
{
	if (value[strspn(value, "abcdefghijklmnopqrstuvwxyz"
				"ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.,:/@+-"
				"")] == '\0') {
		strbuf_adds(out, value);
		return;
	}
	strbuf_addch(out, '\'');
	for (; *value; value++) {
		if (*value == '\'' || *value == '\\')
			strbuf_addch(out, '\\');
		strbuf_addch(out, *value);
	}
	strbuf_addch(out, '\'');
}

int export_dotenv(const struct result *result, struct strbuf *out,
		  struct error *err)
{
	(void)err;
	return add_variables(result, "", dotenv_add_value, out);
}

/* "--train.batch-size" as train.batch_size, "a[0].b" as a.0.b. */
static void hydra_add_key(struct strbuf *out, const char *name)
{
	bool is_option = *name == '-';

	name += strspn(name, "-+");
	for (; *name; name++) {
		if (*name == '[')
			strbuf_addch(out, '.');
		else if (is_option && *name == '-')
			strbuf_addch(out, '_');
		else if (*name != ']')
			strbuf_addch(out, *name);
	}
}

int export_hydra(const struct result *result, struct strbuf *out,
		 struct error *err)
{
	const struct record_settings *settings = &result->record.settings;
	struct strlist lines = STRLIST_INIT;

	for (size_t i = 0; i < settings->count; i++) {
		const struct record_setting *setting = &settings->items[i];
		struct strbuf line = STRBUF_INIT;

		if (!setting->name || !setting->value || !setting->where ||
		    strcmp(setting->where, "environment") == 0)
			continue;
		hydra_add_key(&line, setting->name);
		strbuf_addf(&line, "=%s", setting->value);
		if (strlist_find(&lines, strbuf_text(&line)) == lines.count)
			strlist_add(&lines, strbuf_text(&line));
		strbuf_release(&line);
	}
	if (!lines.count)
		return error_set(err, -ENODATA,
				 "the record names no option or key for the "
				 "sizes; run the command once: it is noted "
				 "then");
	for (size_t i = 0; i < lines.count; i++)
		strbuf_addf(out, "%s\n", lines.items[i]);
	strlist_release(&lines);
	return 0;
}
