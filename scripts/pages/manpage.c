/* The manual pages, from prose with marks and the tables they stand for. */
/* SPDX-License-Identifier: MIT */
#include "scripts/pages/manpage.h"

#include "base/alloc.h"
#include "base/trial.h"
#include "configs/presets/preset.h"
#include "configs/records/record_fields.h"
#include "launcher/options/options_rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* As text of a paragraph: a dash is one to copy, no mark begins a request. */
static void add_text(struct strbuf *out, const char *text)
{
	if (*text == '.' || *text == '\'')
		strbuf_adds(out, "\\&");
	for (; *text; text++) {
		if (*text == '\\')
			strbuf_adds(out, "\\e");
		else if (*text == '-')
			strbuf_adds(out, "\\-");
		else
			strbuf_addch(out, *text);
	}
}

static void add_in(struct strbuf *out, const char *font, const char *text)
{
	strbuf_addf(out, "\\f%s", font);
	add_text(out, text);
	strbuf_adds(out, "\\fR");
}

static int add_subcommands(struct strbuf *out, struct error *err)
{
	(void)err;
	for (const struct subcommand_row *row = subcommand_rows; row->word;
	     row++) {
		if (row->is_hidden)
			continue;
		strbuf_adds(out, ".TP\n");
		add_in(out, "B", row->word);
		if (row->arguments) {
			strbuf_addch(out, ' ');
			add_in(out, "I", row->arguments);
		}
		strbuf_addch(out, '\n');
		add_text(out, row->doc);
		strbuf_addch(out, '\n');
	}
	return 0;
}

static void add_option(struct strbuf *out, const struct option_row *row)
{
	strbuf_adds(out, ".TP\n");
	if (row->letter)
		strbuf_addf(out, "\\fB\\-%c\\fR, ", row->letter);
	strbuf_adds(out, "\\fB\\-\\-");
	add_text(out, row->name);
	strbuf_adds(out, "\\fR");
	if (row->argument) {
		strbuf_addch(out, ' ');
		add_in(out, "I", row->argument);
	}
	strbuf_addch(out, '\n');
	add_text(out, row->doc);
	if (row->initial) {
		strbuf_adds(out, " [");
		add_text(out, row->initial);
		strbuf_addch(out, ']');
	}
	if (row->one_call && !row->print)
		strbuf_adds(out, "; in no file");
	if (row->runs_or_writes)
		strbuf_adds(out, "; in no file of another user");
	strbuf_addch(out, '\n');
}

static int add_options(struct strbuf *out, struct error *err)
{
	(void)err;
	for (size_t group = 0; group < GROUP_COUNT; group++) {
		strbuf_adds(out, ".SS ");
		add_text(out, option_group_titles[group]);
		strbuf_addch(out, '\n');
		for (const struct option_row *row = option_rows; row->name;
		     row++)
			if (row->group == group)
				add_option(out, row);
	}
	return 0;
}

static int add_exits(struct strbuf *out, struct error *err)
{
	(void)err;
	for (const struct exit_row *row = exit_rows; row->doc; row++) {
		strbuf_addf(out, ".TP\n\\fB%d\\fR\n", row->code);
		add_text(out, row->doc);
		strbuf_addch(out, '\n');
	}
	return 0;
}

static void add_verdicts(struct strbuf *out)
{
	for (int i = VERDICT_NONE; i <= VERDICT_DISTURBED; i++)
		strbuf_addf(out, " %s", verdict_name((enum verdict)i));
}

static void add_phases(struct strbuf *out)
{
	for (int i = PHASE_START; i <= PHASE_SAVE; i++)
		strbuf_addf(out, " %s", phase_name((enum phase)i));
}

static void add_coverages(struct strbuf *out)
{
	for (int i = COVERAGE_NONE; i <= COVERAGE_EXACT; i++)
		strbuf_addf(out, " %s", coverage_name((enum coverage)i));
}

static void add_steps_sources(struct strbuf *out)
{
	for (int i = STEPS_NONE; i <= STEPS_TIME; i++)
		strbuf_addf(out, " %s",
			    steps_source_name((enum steps_source)i));
}

struct kind_text {
	const char *text;
	void (*add_words)(struct strbuf *out); /* the words it may be */
};

static const struct kind_text kind_texts[] = {
	[FIELD_INTEGER] = { "whole number", NULL },
	[FIELD_INT] = { "whole number", NULL },
	[FIELD_BYTES] = { "bytes", NULL },
	[FIELD_SECONDS] = { "seconds, with nine decimals", NULL },
	[FIELD_BOOL] = { "yes or no", NULL },
	[FIELD_VERDICT] = { "one of", add_verdicts },
	[FIELD_PHASE] = { "one of", add_phases },
	[FIELD_COVERAGE] = { "one of", add_coverages },
	[FIELD_STEPS_SOURCE] = { "one of", add_steps_sources },
	[FIELD_TEXT] = { "text", NULL },
	[FIELD_CHARS] = { "text", NULL },
	[FIELD_LIST] = { "texts", NULL },
};

static void add_field(struct strbuf *out, const struct field *field,
		      const char *text)
{
	const struct kind_text *kind = &kind_texts[field->kind];
	struct strbuf words = STRBUF_INIT;

	strbuf_adds(out, ".TP\n");
	add_in(out, "B", field->name);
	strbuf_addf(out, "\n(%s", kind->text);
	if (kind->add_words)
		kind->add_words(&words);
	add_text(out, strbuf_text(&words));
	strbuf_adds(out, field->optional ? ", may be missing)\n" : ")\n");
	add_text(out, text);
	strbuf_addch(out, '\n');
	strbuf_release(&words);
}

static int add_fields(struct strbuf *out, const struct field *fields,
		      const char *(*text_of)(const char *name),
		      struct error *err)
{
	for (; fields->name; fields++) {
		const char *text = text_of(fields->name);

		if (!text)
			return error_set(err, -EINVAL,
					 "no text for the field %s",
					 fields->name);
		add_field(out, fields, text);
	}
	return 0;
}

static int add_record_fields(struct strbuf *out, struct error *err)
{
	return add_fields(out, record_fields, manpage_record_field, err);
}

static int add_device_fields(struct strbuf *out, struct error *err)
{
	return add_fields(out, device_fields, manpage_device_field, err);
}

static int add_probe_fields(struct strbuf *out, struct error *err)
{
	return add_fields(out, probe_fields, manpage_probe_field, err);
}

static int add_setting_fields(struct strbuf *out, struct error *err)
{
	return add_fields(out, setting_fields, manpage_setting_field, err);
}

static const char *const key_kinds[] = {
	[INI_LIST] = "texts",       [INI_TEXT] = "text",
	[INI_LINES] = "lines",      [INI_COUNT] = "whole number",
	[INI_SWITCH] = "yes or no", [INI_WORDS] = "words",
};

/* The same key of a section before this one's; NULL: it is the first. */
static const struct ini_key *first_like(const struct ini_key *key)
{
	for (const struct ini_key *first = preset_keys;
	     first < key && strcmp(first->section, key->section) != 0; first++)
		if (strcmp(first->name, key->name) == 0 &&
		    strcmp(first->doc, key->doc) == 0)
			return first;
	return NULL;
}

static int add_key(struct strbuf *out, const struct ini_key *key,
		   struct error *err)
{
	if (!key->doc)
		return error_set(err, -EINVAL, "no text for the key %s of [%s]",
				 key->name, key->section);
	strbuf_adds(out, ".TP\n");
	add_in(out, "B", key->name);
	strbuf_adds(out, "\n(");
	if (key->words)
		ini_key_list_words(out, key);
	else
		strbuf_adds(out, key_kinds[key->kind]);
	strbuf_adds(out, ")\n");
	add_text(out, key->doc);
	strbuf_adds(out, ".\n");
	return 0;
}

static int add_preset_keys(struct strbuf *out, struct error *err)
{
	const char *section = "";
	int result = 0;

	for (const struct ini_key *key = preset_keys; key->name && result == 0;
	     key++) {
		const struct ini_key *first = first_like(key);

		if (strcmp(section, key->section) != 0) {
			section = key->section;
			strbuf_addf(out, ".SS [%s]\n", section);
			if (first)
				strbuf_addf(out, "The keys of [%s].\n",
					    first->section);
		}
		if (!first)
			result = add_key(out, key, err);
	}
	return result;
}

static int add_example_keys(struct strbuf *out, struct error *err)
{
	int result = 0;

	for (const struct ini_key *key = preset_example_keys;
	     key->name && result == 0; key++)
		result = add_key(out, key, err);
	return result;
}

static int add_version(struct strbuf *out, struct error *err)
{
	(void)err;
	strbuf_adds(out, AUTOFIT_VERSION);
	return 0;
}

static int add_schema(struct strbuf *out, struct error *err)
{
	(void)err;
	strbuf_adds(out, RECORD_SCHEMA);
	return 0;
}

static const struct mark {
	const char *name;
	int (*add)(struct strbuf *out, struct error *err);
} marks[] = {
	{ "@SUBCOMMANDS@\n", add_subcommands },
	{ "@OPTIONS@\n", add_options },
	{ "@EXITS@\n", add_exits },
	{ "@RECORD_FIELDS@\n", add_record_fields },
	{ "@DEVICE_FIELDS@\n", add_device_fields },
	{ "@PROBE_FIELDS@\n", add_probe_fields },
	{ "@SETTING_FIELDS@\n", add_setting_fields },
	{ "@PRESET_KEYS@\n", add_preset_keys },
	{ "@EXAMPLE_KEYS@\n", add_example_keys },
	{ "@VERSION@", add_version },
	{ "@SCHEMA@", add_schema },
};

static const struct mark *mark_at(const char *prose)
{
	for (size_t i = 0; i < sizeof(marks) / sizeof(*marks); i++)
		if (strncmp(marks[i].name, prose, strlen(marks[i].name)) == 0)
			return &marks[i];
	return NULL;
}

int manpage_expand(struct strbuf *out, const char *prose, struct error *err)
{
	int result = 0;

	while (*prose && result == 0) {
		size_t length = strcspn(prose, "@");
		const struct mark *mark = mark_at(prose + length);

		strbuf_add(out, prose, length);
		prose += length;
		if (mark) {
			result = mark->add(out, err);
			prose += strlen(mark->name);
		} else if (*prose) {
			result = error_set(err, -EINVAL,
					   "no table is called %.*s",
					   (int)strcspn(prose, "\n"), prose);
		}
	}
	return result;
}
