/* Whose batch an option counts, in programs that no preset knows. Pure. */
/* SPDX-License-Identifier: MIT */
#include "launcher/command/knobs/knob_scope.h"

#include "base/match.h"
#include "launcher/command/files/source_shares.h"
#include "launcher/command/knobs/by_class.h"
#include "launcher/command/modules/module_files.h"
#include "launcher/command/text/names.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

/* Names that may be copies of another; more are not asked for. */
#define COPIES_MAX 16

/* More modules are not looked into for their own. */
#define USERS_MAX 16

/* The modules of the script, of which each has its own. */
struct module_list {
	struct named_file *items[USERS_MAX];
	size_t count;
};

/* One name, in its spelling of a variable, and how it is shared. */
struct shared_name {
	const char *name;
	const char *text;  /* that is looked into: of the script, or a module */
	const char *accum; /* the variable of the accumulation; NULL: none */
	unsigned copies;   /* looked for so far */
	enum source_share share;
	bool divides_by_accum, times_accum;
	struct module_list users;
};

/* bs = config.data.batch_size, and bs is what is shared. */
static bool is_its_copy(struct shared_name *wanted, const char *name,
			size_t length, enum source_share share)
{
	return (share == SHARE_OF_ALL || share == SHARE_OF_NODE) &&
	       wanted->text && wanted->copies++ < COPIES_MAX &&
	       option_class_of(name, length) != OPTION_DECOY &&
	       source_is_copy(wanted->text, name, length, wanted->name);
}

/* part = exact_div(args.batch, parts), and part is what is divided by the
 * accumulation. */
static bool is_its_part(struct shared_name *wanted, const char *name,
			size_t length, enum source_accum accum)
{
	enum option_class class = option_class_of(name, length);

	return accum == ACCUM_DIVIDES && wanted->text &&
	       (class == OPTION_MICRO || class == OPTION_BATCH ||
		class == OPTION_BATCH_LIKE) &&
	       source_is_made_of(wanted->text, name, length, wanted->name);
}

static void note_share(void *context, const char *name, size_t length,
		       enum source_share share, enum source_accum accum)
{
	struct shared_name *wanted = context;

	if (*name != *SHARE_ROWS &&
	    !name_equal(name, length, wanted->name, strlen(wanted->name)) &&
	    !is_its_copy(wanted, name, length, share) &&
	    !is_its_part(wanted, name, length, accum))
		return;
	wanted->divides_by_accum |= accum == ACCUM_DIVIDES;
	wanted->times_accum |= accum == ACCUM_TIMES;
	if (share > wanted->share)
		wanted->share = share;
}

static void note_accum(void *context, const char *name, size_t length,
		       enum source_share share, enum source_accum accum)
{
	bool *found = context;

	(void)accum;
	*found |= share == SHARE_OF_ALL &&
		  option_class_of(name, length) == OPTION_ACCUM;
}

/* Does it divide the steps of an accumulation among all ranks? */
static bool divides_accum(const struct recognition *r)
{
	bool found = false;

	if (r->text)
		source_shares_visit(r->text, note_accum, &found);
	return found;
}

/* Words of help and what they say; the first in the text counts: "per GPU (the
 * effective batch is ...)", and before all "per GPU" in what comes first:
 * "effective batch size per GPU". */
struct scope_words {
	const char *words;
	enum knob_scope scope;
};

/* Up to a mark, or the word "is", behind which the text goes on to explain. */
static size_t first_clause(const char *help)
{
	size_t length = strcspn(help, "(),.;:=*");
	const char *is = strcasestr(help, " is ");

	return is && (size_t)(is - help) < length ? (size_t)(is - help)
						  : length;
}

static bool help_says(const char *help, enum knob_scope *scope)
{
	static const struct scope_words rows[] = {
		{ "total", SCOPE_GLOBAL },      { "effective", SCOPE_GLOBAL },
		{ "global", SCOPE_GLOBAL },     { "overall", SCOPE_GLOBAL },
		{ "across all", SCOPE_GLOBAL }, { "across gpu", SCOPE_GLOBAL },
		{ "all gpu", SCOPE_GLOBAL },    { "all the gpu", SCOPE_GLOBAL },
		{ "all device", SCOPE_GLOBAL }, { "all process", SCOPE_GLOBAL },
		{ "all rank", SCOPE_GLOBAL },   { "all worker", SCOPE_GLOBAL },
		{ "per gpu", SCOPE_RANK },      { "per-gpu", SCOPE_RANK },
		{ "per device", SCOPE_RANK },   { "per-device", SCOPE_RANK },
		{ "per rank", SCOPE_RANK },     { "per process", SCOPE_RANK },
		{ "per card", SCOPE_RANK },     { "each gpu", SCOPE_RANK },
		{ "each device", SCOPE_RANK },  { "each process", SCOPE_RANK },
		{ "single gpu", SCOPE_RANK },   { "one gpu", SCOPE_RANK },
		{ "per node", SCOPE_NODE },     { "each node", SCOPE_NODE },
		{ "current node", SCOPE_NODE },
	};
	const char *first = NULL, *clause = help + first_clause(help);

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const char *at = strcasestr(help, rows[i].words);

		if (at && at < clause && rows[i].scope == SCOPE_RANK) {
			*scope = SCOPE_RANK;
			return true;
		}
		if (!at || (first && at >= first))
			continue;
		first = at;
		*scope = rows[i].scope;
	}
	if (first && *scope == SCOPE_GLOBAL &&
	    (strcasestr(help, "current node") || strcasestr(help, "per node")))
		*scope = SCOPE_NODE;
	return first != NULL;
}

/* "Effective batch size will be batch_size * accum": it is a factor of that. */
static bool is_factor_in(const char *help, const char *variable)
{
	size_t length = strlen(variable);

	for (const char *at = help; length && (at = strcasestr(at, variable));
	     at += length) {
		const char *behind = at + length, *before = at;

		behind += strspn(behind, " ");
		while (before > help && before[-1] == ' ')
			before--;
		if (*behind == '*' || (before > help && before[-1] == '*'))
			return true;
	}
	return false;
}

/* "--train.batch-size" is batch_size in the script. */
static const char *variable_of(char name[NAME_MAX_BYTES], const char *option)
{
	const char *dot = strrchr(option, '.');

	option = dot ? dot + 1 : option + strspn(option, "-+~");
	(void)snprintf(name, NAME_MAX_BYTES, "%s", option);
	return name;
}

const char *knob_scope_variable(const struct recognition *r, const char *name,
				char variable[NAME_MAX_BYTES])
{
	const struct source_option *option =
		source_resolve(r->source, name, strlen(name));

	(void)variable_of(variable, name);
	if (option && option->dest)
		(void)variable_of(variable, option->dest);
	else if (option)
		for (size_t i = 0; i < option->names.count; i++)
			if (option->names.items[i][1] == '-' || i == 0)
				(void)variable_of(variable,
						  option->names.items[i]);
	for (char *c = variable; *c; c++)
		if (*c == '-')
			*c = '_';
	return variable;
}

static void list_module(void *context, struct named_file *file,
			const struct source_import *import)
{
	struct module_list *list = context;

	(void)import;
	for (size_t i = 0; i < list->count; i++)
		if (list->items[i] == file)
			return;
	if (list->count < USERS_MAX)
		list->items[list->count++] = file;
}

static void shares_in(struct shared_name *shared, const char *text)
{
	shared->text = text;
	shared->copies = 0;
	source_shares_visit_by(text, shared->accum, note_share, shared);
}

static void shares_of_module(void *context, struct named_file *file,
			     const struct source_import *import)
{
	struct shared_name *shared = context;

	list_module(&shared->users, file, import);
	shares_in(shared, strbuf_text(&file->text));
}

/* A script that only starts things has its loader in a module's module. */
static void shares_of_inner(const struct recognition *r,
			    struct shared_name *shared)
{
	const struct module_list *users = &shared->users;
	struct module_list inner = { .count = 0 };

	for (size_t i = 0; i < users->count; i++) {
		const struct module_user user = {
			.r = r,
			.text = strbuf_text(&users->items[i]->text),
			.path = users->items[i]->path,
		};

		module_files_visit_of(&user, list_module, &inner);
	}
	for (size_t i = 0; i < inner.count; i++)
		shares_in(shared, strbuf_text(&inner.items[i]->text));
}

/* "-f exp.py": a Python file that the command names makes the loader. */
static void shares_of_named(const struct recognition *r,
			    struct shared_name *shared)
{
	const struct strlist *argv = command_argv(r->command);

	for (size_t i = r->command->view.args; i < argv->count; i++) {
		const char *word = argv->items[i];
		const char *value = *word == '-' ? strchr(word, '=') : NULL;
		struct named_file *file;

		if (!text_ends_with(word, ".py"))
			continue;
		file = file_seen(r, value ? value + 1 : word);
		if (file && !file->error)
			shares_in(shared, strbuf_text(&file->text));
	}
}

/* Of one rank and one pass nothing is shared, nor what the script shares. */
static bool may_be_shared(const struct recognition *r, enum source_share share)
{
	if (r->command->knobs[KNOB_ACCUM].form != KNOB_ABSENT)
		return true;
	return share == SHARE_NONE && r->command->batch.world_size > 1;
}

/* What the script does with the option, else what its modules do. */
static struct shared_name shares_of(const struct recognition *r,
				    const char *name,
				    char variable[NAME_MAX_BYTES])
{
	const char *accum_name = r->command->knobs[KNOB_ACCUM].name;
	char accum[NAME_MAX_BYTES];
	struct shared_name shared = {
		.name = knob_scope_variable(r, name, variable),
		.accum = accum_name ? knob_scope_variable(r, accum_name, accum)
				    : NULL,
	};

	if (r->text)
		shares_in(&shared, r->text);
	if (!shared.divides_by_accum && may_be_shared(r, shared.share))
		module_files_visit(r, shares_of_module, &shared);
	if (shared.share == SHARE_NONE)
		shares_of_inner(r, &shared);
	if (shared.share == SHARE_NONE)
		shares_of_named(r, &shared);
	shared.accum = NULL;
	return shared;
}

bool knob_scope_holds_accum(const struct recognition *r, const char *name)
{
	char variable[NAME_MAX_BYTES];
	struct shared_name shared = shares_of(r, name, variable);

	/* What a function divides again may be the product, by this name. */
	return shared.divides_by_accum && !shared.times_accum;
}

bool knob_scope_is_read(const struct recognition *r, const char *name)
{
	char variable[NAME_MAX_BYTES];

	(void)knob_scope_variable(r, name, variable);
	return r->text && source_reads(r->text, variable);
}

bool knob_scope_said(const struct recognition *r, const char *name,
		     enum knob_scope *scope)
{
	const struct source_option *option =
		source_resolve(r->source, name, strlen(name));
	char variable[NAME_MAX_BYTES];
	struct shared_name shared = shares_of(r, name, variable);

	if (shared.share == SHARE_OF_ALL || shared.share == SHARE_OF_NODE) {
		*scope = shared.share == SHARE_OF_ALL ? SCOPE_GLOBAL
						      : SCOPE_NODE;
		return true;
	}
	if (option && option->help && help_says(option->help, scope) &&
	    (*scope == SCOPE_RANK || !is_factor_in(option->help, variable)))
		return true;
	*scope = SCOPE_RANK;
	return shared.share == SHARE_TIMES;
}

enum command_outcome knob_scope_of_larger(struct recognition *r,
					  const char *micro, const char *larger,
					  const char *value)
{
	enum knob_scope *scope = &r->command->knobs[KNOB_GLOBAL].scope;
	char name[BRIEF_MAX], micro_name[BRIEF_MAX], shown[BRIEF_MAX];

	if (r->command->batch.world_size == 1 || r->hints->global_scope ||
	    divides_accum(r) ||
	    (knob_scope_said(r, larger, scope) && *scope != SCOPE_NODE))
		return COMMAND_OK;
	*scope = SCOPE_GLOBAL;
	(void)argument_brief(name, larger);
	(void)argument_brief(micro_name, micro);
	return not_recognised(r,
			      "is %s %s the batch of all %lld ranks, or of "
			      "each? Of all: add --micro-flag %s --global-flag "
			      "%s; of each: --micro-flag %s --global-flag %s "
			      "--global-scope rank",
			      name, argument_brief(shown, value),
			      (long long)r->command->batch.world_size,
			      micro_name, name, micro_name, name);
}

bool knob_scope_is_part(const char *global, const char *batch)
{
	int64_t part, whole;

	return count_parse(global, &part) && count_parse(batch, &whole) &&
	       part < whole;
}

enum command_outcome knob_overwritten_check(const struct recognition *r,
					    const char *name)
{
	char variable[NAME_MAX_BYTES], shown[BRIEF_MAX];
	bool is_number;
	unsigned line;

	if (!by_class_applies(r) || !r->text || !name)
		return COMMAND_OK;
	(void)knob_scope_variable(r, name, variable);
	line = source_overwrites(r->text, variable, &is_number);
	if (!line)
		return COMMAND_OK;
	if (is_number)
		return not_recognised(
			r,
			"%s:%u sets %s to a number, whatever %s says: take "
			"that line out, and say the number by %s",
			r->source_name, line, variable,
			argument_brief(shown, name), shown);
	return not_recognised(r,
			      "%s:%u computes %s, whatever %s says: write "
			      "{micro} in place of an option that it is "
			      "computed from, where that alone sets it",
			      r->source_name, line, variable,
			      argument_brief(shown, name));
}

void knob_scope_read(struct recognition *r)
{
	struct knob *micro = &r->command->knobs[KNOB_MICRO];
	enum option_class class;

	if (!by_class_applies(r) || r->hints->micro_scope || !micro->name ||
	    micro->scope != SCOPE_RANK)
		return;
	class = option_class_of(micro->name, strlen(micro->name));
	if (class == OPTION_GLOBAL)
		micro->scope = SCOPE_GLOBAL;
	else if (class == OPTION_MICRO_NODE)
		micro->scope = SCOPE_NODE;
	else if (class != OPTION_MICRO &&
		 r->command->knobs[KNOB_GLOBAL].form == KNOB_ABSENT)
		(void)knob_scope_said(r, micro->name, &micro->scope);
}
